"""The evidence folder lists what it holds and never changes a record."""

import json
import threading
from pathlib import Path

import pytest
from filelock import FileLock

from rankwork.errors import EvidenceError
from rankwork.evidence.store import Store


def fill(root: Path, *names: str) -> None:
    for number, name in enumerate(names):
        (root / name).mkdir(parents=True)
        manifest = {"notebook": "00_x", "status": "complete", "time": {"started": f"2026-01-0{number + 1}"}}
        (root / name / "manifest.json").write_text(json.dumps(manifest))


IDS = ("ab" + "0" * 62, "ab" + "1" * 62, "cd" + "0" * 62)


def test_records_are_listed_oldest_first_with_what_identifies_them(tmp_path: Path) -> None:
    fill(tmp_path, *reversed(IDS))
    (tmp_path / "reference").mkdir()
    entries = Store(tmp_path).entries()
    assert [entry.record_id for entry in entries] == list(reversed(IDS))
    assert {entry.status for entry in entries} == {"complete"}


def test_a_folder_that_is_not_there_is_empty_and_is_not_made_by_looking(tmp_path: Path) -> None:
    assert Store(tmp_path / "none").entries() == []
    assert not (tmp_path / "none").exists()


def test_a_beginning_of_an_id_will_do(tmp_path: Path) -> None:
    fill(tmp_path, *IDS)
    assert Store(tmp_path).find("cd").name == IDS[2]


@pytest.mark.parametrize(("prefix", "message"), [("ef", "no record 'ef'"), ("", "no record ''")])
def test_a_beginning_that_no_record_has_is_refused(tmp_path: Path, prefix: str, message: str) -> None:
    fill(tmp_path, *IDS)
    with pytest.raises(EvidenceError, match=message):
        Store(tmp_path).find(prefix)


def test_a_beginning_that_several_records_have_lists_them(tmp_path: Path) -> None:
    fill(tmp_path, *IDS)
    with pytest.raises(EvidenceError, match="'ab' begins 2 record IDs: ab00000000, ab11111111"):
        Store(tmp_path).find("ab")


def test_a_record_whose_manifest_cannot_be_read_is_listed_as_damaged(tmp_path: Path) -> None:
    fill(tmp_path, IDS[0])
    (tmp_path / IDS[0] / "manifest.json").write_text("{")
    assert [entry.status for entry in Store(tmp_path).entries()] == ["damaged"]


def test_an_execution_is_running_while_its_lock_is_held_and_killed_when_it_is_free(tmp_path: Path) -> None:
    store = Store(tmp_path)
    with store.scratch("00_x") as folder:
        entry = store.entries()[0]
        assert (entry.record_id, entry.notebook, entry.status) == (None, "00_x", "running")
        assert Path(entry.path) == folder
    assert store.entries() == []
    left = tmp_path / ".scratch" / "00_x-left"
    left.mkdir(parents=True)
    with FileLock(left / "lock"):
        assert [entry.status for entry in store.entries()] == ["running"]
    assert [entry.status for entry in store.entries()] == ["killed"]


def test_a_look_at_a_folder_makes_nothing_in_it(tmp_path: Path) -> None:
    left = tmp_path / ".scratch" / "00_x-left"
    left.mkdir(parents=True)
    assert [entry.status for entry in Store(tmp_path).entries()] == ["killed"]
    assert list(left.iterdir()) == []


def test_folders_that_others_look_at_are_removed_all_the_same(tmp_path: Path) -> None:
    store, done = Store(tmp_path), threading.Event()

    def look() -> None:
        while not done.is_set():
            Store(tmp_path).entries()

    watchers = [threading.Thread(target=look) for _ in range(4)]
    for watcher in watchers:
        watcher.start()
    for _ in range(300):
        with store.scratch("00_x") as folder:
            (folder / "work").mkdir()
    done.set()
    for watcher in watchers:
        watcher.join()
    assert list((tmp_path / ".scratch").glob("*-*")) == []


def test_a_finished_folder_becomes_a_record_and_is_never_overwritten(tmp_path: Path) -> None:
    store = Store(tmp_path / "evidence")
    for attempt in ("first", "second"):
        with store.scratch("00_x") as folder:
            (folder / "record").mkdir()
            (folder / "record" / "manifest.json").write_text(attempt)
            if attempt == "first":
                store.commit(folder / "record", IDS[0])
            else:
                with pytest.raises(EvidenceError, match="cannot be stored"):
                    store.commit(folder / "record", IDS[0])
    assert (tmp_path / "evidence" / IDS[0] / "manifest.json").read_text() == "first"
