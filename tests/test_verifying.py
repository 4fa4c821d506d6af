"""`verify` finds whatever is not as the execution left it, also where somebody has made the digests fit again."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rankwork.digest import digest, digest_bytes
from rankwork.errors import EvidenceError
from rankwork.evidence import manifest, recording, runner
from rankwork.evidence.store import Store, read_manifest
from rankwork.evidence.verifying import current_source, verify
from tests.conftest import RECORDING
from tests.workbooks import workbook

Copy = Callable[[], Path]


def load(path: Path) -> Any:
    return json.loads(path.read_bytes())


def forge(folder: Path, **changed: Any) -> Path:
    """Rewrite the manifest of a damaged copy so that every digest in it fits, and rename the folder after it."""
    kept = load(folder / "manifest.json") | changed
    kept["files"] = {p.name: manifest.file_entry(p) for p in folder.iterdir() if p.name != "manifest.json"}
    executed, results = load(folder / "notebook.ipynb"), load(folder / "results.json")
    kept["canonical_notebook"] = digest(manifest.canonical_notebook(executed))
    kept["result_digest"] = recording.results_digest(results)
    kept |= manifest.summaries(results)
    kept["recipe_digest"] = digest(kept["recipe"])
    return folder.rename(folder.parent / manifest.write(folder / "manifest.json", kept))


def failing(folder: Path) -> set[str]:
    return {check.name for check in verify(folder).checks if not check.holds}


def test_an_untouched_record_verifies(complete_record: Path) -> None:
    verdict = verify(complete_record)
    assert verdict
    assert verdict.sentence == f"{complete_record.name[:12]} verified: {len(verdict.checks)} checks hold"


def test_a_forger_who_changes_nothing_is_not_noticed(record_copy: Copy) -> None:
    """The forging in these tests is sound: what they find is found because of what they changed."""
    assert failing(forge(record_copy())) == set()


@pytest.mark.parametrize("name", ["manifest.json", "notebook.ipynb", "results.json", "report.html", "source.ipynb"])
@pytest.mark.parametrize("place", [0.0, 0.5, 0.99])
def test_one_flipped_bit_in_any_file_is_found(record_copy: Copy, name: str, place: float) -> None:
    path = record_copy() / name
    data = bytearray(path.read_bytes())
    data[int(place * len(data))] ^= 1
    path.write_bytes(data)
    if name == "manifest.json" and not _is_json(data):
        with pytest.raises(EvidenceError, match=r"manifest\.json cannot be read"):
            verify(path.parent)
    else:
        assert not verify(path.parent).intact


def _is_json(data: bytearray) -> bool:
    try:
        return isinstance(json.loads(data), dict)
    except ValueError:
        return False


@pytest.mark.parametrize("name", ["notebook.ipynb", "results.json", "report.html", "source.ipynb"])
def test_a_file_that_is_missing_added_or_linked_is_found(record_copy: Copy, name: str, tmp_path: Path) -> None:
    missing, added, linked = record_copy(), record_copy(), record_copy()
    (missing / name).unlink()
    assert "files" in failing(missing)
    (added / f"{name}.bak").write_text("")
    assert "files" in failing(added)
    shutil.move(linked / name, tmp_path / name)
    (linked / name).symlink_to(tmp_path / name)
    assert name in failing(linked)


def test_a_record_under_another_name_is_found(record_copy: Copy) -> None:
    folder = record_copy()
    assert "name" in failing(folder.rename(folder.parent / ("0" * 64)))


def test_outputs_of_another_execution_are_found(record_copy: Copy, complete_record: Path, tmp_path: Path) -> None:
    """Also where notebook and results are exchanged together and all digests fit."""
    request = runner.prepare(workbook(tmp_path / "other", RECORDING), assignments=("k=2",))
    other = runner.run([request], Store(tmp_path / "evidence"))[0].path
    folder = record_copy()
    for name in ("notebook.ipynb", "results.json"):
        shutil.copyfile(other / name, folder / name)
    assert failing(folder) == {"notebook.ipynb", "results.json"}
    assert failing(forge(folder)) == {"parameters", "seal"}


def test_the_outputs_of_an_equal_execution_are_found_by_the_nonce(record_copy: Copy, tmp_path: Path) -> None:
    request = runner.prepare(workbook(tmp_path / "other", RECORDING))
    other = runner.run([request], Store(tmp_path / "evidence"))[0].path
    folder = record_copy()
    for name in ("notebook.ipynb", "results.json"):
        shutil.copyfile(other / name, folder / name)
    assert failing(forge(folder)) == {"seal"}


def test_a_changed_result_is_found(record_copy: Copy) -> None:
    folder = record_copy()
    results = load(folder / "results.json")
    results["k"]["value"] = 4
    (folder / "results.json").write_text(json.dumps(results))
    assert failing(forge(folder)) == {"seal", "results"}


def test_a_result_changed_in_the_notebook_too_is_found_by_the_seal(record_copy: Copy) -> None:
    folder = record_copy()
    for name in ("results.json", "notebook.ipynb"):
        text = (folder / name).read_text()
        (folder / name).write_text(
            text.replace('"name": "k",\n', '"name": "k", \n').replace('"value": 3', '"value": 4')
        )
    assert failing(forge(folder)) == {"seal"}


def test_an_executed_cell_that_is_not_the_sources_is_found(record_copy: Copy) -> None:
    folder = record_copy()
    executed = load(folder / "notebook.ipynb")
    executed["cells"][-2]["source"] += "\nprint('also')"
    (folder / "notebook.ipynb").write_text(json.dumps(executed))
    assert failing(forge(folder)) == {"executed source"}


def test_a_cell_left_out_is_found(record_copy: Copy) -> None:
    folder = record_copy()
    executed = load(folder / "notebook.ipynb")
    del executed["cells"][-2]
    (folder / "notebook.ipynb").write_text(json.dumps(executed))
    assert "executed source" in failing(forge(folder))


def test_a_changed_source_is_found(record_copy: Copy) -> None:
    folder = record_copy()
    source = load(folder / "source.ipynb")
    source["cells"][-1]["source"] += "\n# changed"
    (folder / "source.ipynb").write_text(json.dumps(source))
    assert failing(forge(folder)) == {"source", "executed source"}


def test_injected_values_that_are_not_the_recipes_are_found(record_copy: Copy) -> None:
    folder = record_copy()
    recipe = load(folder / "manifest.json")["recipe"]
    recipe["parameters"]["k"] = 5
    assert failing(forge(folder, recipe=recipe)) == {"parameters"}


def test_a_complete_record_whose_values_were_not_injected_is_found(record_copy: Copy) -> None:
    folder = record_copy()
    executed = load(folder / "notebook.ipynb")
    executed["cells"] = [c for c in executed["cells"] if c["metadata"].get("tags") != ["injected-parameters"]]
    (folder / "notebook.ipynb").write_text(json.dumps(executed))
    assert failing(forge(folder)) == {"parameters"}


def test_a_failed_execution_cannot_be_called_complete(tmp_path: Path) -> None:
    request = runner.prepare(workbook(tmp_path, "raise ValueError('x')"))
    folder = runner.run([request], Store(tmp_path / "evidence"))[0].path
    verdict = verify(folder)
    assert verdict.intact
    assert not verdict
    assert verdict.sentence.endswith("intact, but the execution is not complete: failed")
    assert "seal" in failing(forge(folder, status="complete", reason=None))


def test_a_field_that_is_missing_or_unknown_is_found(record_copy: Copy) -> None:
    folder = record_copy()
    kept = load(folder / "manifest.json")
    del kept["seeds"]
    data = json.dumps(kept).encode()
    (folder / "manifest.json").write_bytes(data)
    assert failing(folder.rename(folder.parent / digest_bytes(data))) == {"fields"}


def test_a_folder_without_a_manifest_is_refused(tmp_path: Path) -> None:
    with pytest.raises(EvidenceError, match=r"manifest\.json cannot be read"):
        verify(tmp_path)


def test_a_workbook_whose_notebook_has_changed_since_is_told(complete_record: Path, tmp_path: Path) -> None:
    assert current_source(complete_record, complete_record.parents[1]).holds
    workbook(tmp_path, RECORDING + "\n# changed")
    changed = current_source(complete_record, tmp_path)
    assert not changed.holds
    assert changed.found == "notebooks/00_small.ipynb has changed since"
    assert not current_source(complete_record, tmp_path / "elsewhere").holds


def test_the_manifest_states_every_declared_field(complete_record: Path) -> None:
    assert set(read_manifest(complete_record)) == {field.name for field in manifest.FIELDS}
    with pytest.raises(KeyError, match="extra"):
        manifest.write(complete_record.parent / "never", {field.name: 0 for field in manifest.FIELDS} | {"extra": 1})
