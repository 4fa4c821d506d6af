"""Pruning removes what was meant and shown, and never what bears a tag or is running."""

import shutil
from pathlib import Path

import pytest

from rankwork.errors import EvidenceError, InputError
from rankwork.evidence import pruning
from rankwork.evidence.selecting import selection
from rankwork.evidence.store import SCRATCH, Store
from rankwork.evidence.tags import Tags
from tests.stores import put

FAILED = selection(statuses=("failed",))


def left(root: Path) -> set[str]:
    return {folder.name for folder in Store(root).records()}


def test_a_plan_removes_nothing_and_names_what_would_go_and_what_the_tags_protect(tmp_path: Path) -> None:
    gone, tagged, kept = put(tmp_path, status="failed"), put(tmp_path, status="failed", nonce=1), put(tmp_path)
    Tags(tmp_path).add(tagged, ("keep",))
    plan = pruning.plan(Store(tmp_path), FAILED)
    assert [entry.record_id for entry in plan.doomed] == [gone]
    assert [entry.record_id for entry in plan.protected] == [tagged]
    assert plan.size == (tmp_path / gone / "manifest.json").stat().st_size
    assert left(tmp_path) == {gone, tagged, kept}


def test_what_was_planned_is_removed_whole_and_the_rest_stays(tmp_path: Path) -> None:
    gone, tagged, kept = put(tmp_path, status="failed"), put(tmp_path, status="failed", nonce=1), put(tmp_path)
    Tags(tmp_path).add(tagged, ("keep",))
    removed = pruning.prune(Store(tmp_path), FAILED)
    assert [entry.record_id for entry in removed] == [gone]
    assert left(tmp_path) == {tagged, kept}
    assert Store(tmp_path).entries() == Store(tmp_path).entries()
    assert list((tmp_path / SCRATCH).glob("pruned-*")) == []


def test_a_record_is_meant_by_its_age(tmp_path: Path) -> None:
    old, new = (put(tmp_path, status="failed", started=f"2026-{month}-01T00:00:00+00:00") for month in ("01", "06"))
    pruning.prune(Store(tmp_path), selection(statuses=("failed",), before="2026-03-01"))
    assert left(tmp_path) == {new} != {old}


def test_a_selection_that_asks_for_nothing_or_for_what_runs_is_refused(tmp_path: Path) -> None:
    put(tmp_path)
    with pytest.raises(InputError, match="say what to prune"):
        pruning.plan(Store(tmp_path), selection())
    with pytest.raises(InputError, match="running is not pruned"):
        pruning.plan(Store(tmp_path), selection(statuses=("running",)))


def test_scratch_folders_of_killed_runners_are_removed_and_running_ones_stay(tmp_path: Path) -> None:
    store = Store(tmp_path)
    record = put(tmp_path, status="killed")
    abandoned = tmp_path / SCRATCH / "00_x-left"
    (abandoned / "work").mkdir(parents=True)
    (tmp_path / "input.txt").write_text("linked")
    (abandoned / "work" / "input.txt").symlink_to(tmp_path / "input.txt")
    with store.scratch("00_x") as running:
        removed = pruning.prune(store, selection(scratch=True))
        assert [Path(entry.path).name for entry in removed] == ["00_x-left"]
        assert running.is_dir()
        assert left(tmp_path) == {record}
        pruning.prune(store, selection(statuses=("killed",)))
        assert running.is_dir()
    assert left(tmp_path) == set()
    assert (tmp_path / "input.txt").read_text() == "linked"


def test_what_began_to_run_after_the_plan_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store(tmp_path)
    with store.scratch("00_x") as running:
        monkeypatch.setattr("rankwork.evidence.store._is_locked", lambda path: False)
        assert [entry.status for entry in pruning.plan(store, selection(scratch=True)).doomed] == ["killed"]
        assert pruning.prune(store, selection(scratch=True)) == []
        assert running.is_dir()


def test_a_record_that_the_index_describes_wrongly_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from rankwork.evidence import catalogue

    record = put(tmp_path)
    listed = catalogue.listed

    def wrong(root: Path, folders: object) -> object:
        return {folder: facts | {"status": "failed"} for folder, facts in listed(root, folders).items()}  # type: ignore[arg-type]

    monkeypatch.setattr(catalogue, "listed", wrong)
    assert [entry.record_id for entry in pruning.plan(Store(tmp_path), FAILED).doomed] == [record]
    assert pruning.prune(Store(tmp_path), FAILED) == []
    assert left(tmp_path) == {record}


def test_a_record_that_somebody_else_has_just_removed_is_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = put(tmp_path, status="failed")
    plan = pruning.plan(Store(tmp_path), FAILED)
    shutil.rmtree(tmp_path / record)
    monkeypatch.setattr(pruning, "plan", lambda store, wanted: plan)
    monkeypatch.setattr(Store, "entry", lambda self, folder: plan.doomed[0])
    assert pruning.prune(Store(tmp_path), FAILED) == []


def test_tags_that_cannot_be_read_protect_everything(tmp_path: Path) -> None:
    record = put(tmp_path, status="failed")
    (tmp_path / "tags.json").write_text("{")
    with pytest.raises(EvidenceError, match="cannot be read as tags"):
        pruning.prune(Store(tmp_path), FAILED)
    assert left(tmp_path) == {record}
