"""The index saves reading thousands of manifests and never says anything that they do not."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from rankwork.evidence import catalogue
from rankwork.evidence.store import Entry, Store
from tests.stores import put

MANY = catalogue._FEW + 10


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """A store of many records that has been listed once, so that it has an index."""
    for k in range(MANY):
        put(tmp_path, parameters={"k": k})
    store = Store(tmp_path)
    store.entries()
    assert (tmp_path / catalogue.FILE).is_file()
    return store


def by_id(entries: list[Entry]) -> dict[str | None, Entry]:
    return {entry.record_id: entry for entry in entries}


def edited(store: Store, change: Any) -> None:
    path = store.root / catalogue.FILE
    kept = json.loads(path.read_bytes())
    change(kept)
    path.write_text(json.dumps(kept))


def test_a_listing_from_the_index_is_the_listing_from_the_manifests(store: Store) -> None:
    from_index = by_id(store.entries())
    (store.root / catalogue.FILE).unlink()
    assert by_id(store.entries()) == from_index
    assert sorted(entry.parameters["k"] for entry in from_index.values()) == list(range(MANY))


def test_a_listing_reads_no_manifest_that_the_index_knows(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def unexpected(folder: Path) -> dict[str, Any]:
        raise AssertionError(f"{folder.name} was read again")

    monkeypatch.setattr(catalogue, "_manifest", unexpected)
    assert len(store.entries()) == MANY


def test_new_and_removed_records_are_listed_as_they_are(store: Store) -> None:
    gone = store.records()[0]
    (gone / "manifest.json").unlink()
    gone.rmdir()
    new = put(store.root, parameters={"k": -1})
    listed = by_id(store.entries())
    assert gone.name not in listed
    assert listed[new].parameters == {"k": -1}
    assert len(listed) == MANY


@pytest.mark.parametrize("content", ["", "{", "[]", '{"format": "another", "records": {}}', "\x00\x01"])
def test_an_index_that_is_damaged_is_made_anew(store: Store, content: str) -> None:
    before = by_id(store.entries())
    (store.root / catalogue.FILE).write_text(content)
    assert by_id(store.entries()) == before
    assert json.loads((store.root / catalogue.FILE).read_bytes())["format"] == catalogue.FORMAT


@pytest.mark.parametrize("line", [None, 7, {}, {"mark": [1, 2], "facts": {}}, {"mark": None, "facts": None}])
def test_a_damaged_line_of_the_index_is_read_from_its_manifest(store: Store, line: Any) -> None:
    before = by_id(store.entries())
    edited(store, lambda kept: kept["records"].update({store.records()[3].name: line}))
    assert by_id(store.entries()) == before


def test_a_manifest_that_has_changed_since_is_read_again(store: Store) -> None:
    path = store.records()[0] / "manifest.json"
    path.write_text("{")
    assert by_id(store.entries())[path.parent.name].status == "damaged"


def test_a_manifest_of_the_same_size_and_another_time_is_read_again(store: Store) -> None:
    path = store.records()[0] / "manifest.json"
    changed = path.read_text().replace("complete", "xomplete")
    path.write_text(changed)
    os.utime(path, ns=(1, 1))
    assert by_id(store.entries())[path.parent.name].status == "xomplete"


def test_a_store_of_few_records_has_no_index(tmp_path: Path) -> None:
    put(tmp_path)
    assert len(Store(tmp_path).entries()) == 1
    assert not (tmp_path / catalogue.FILE).exists()


def test_an_index_that_cannot_be_written_does_not_hinder_a_listing(tmp_path: Path) -> None:
    for k in range(MANY):
        put(tmp_path, parameters={"k": k})
    (tmp_path / catalogue.FILE).mkdir()
    assert len(Store(tmp_path).entries()) == MANY


@pytest.mark.parametrize("said", [{"recipe": 3}, {"recipe": {"parameters": []}}, {"time": None}])
def test_a_manifest_of_another_form_is_listed_as_far_as_it_goes(tmp_path: Path, said: dict[str, Any]) -> None:
    (tmp_path / ("a" * 64)).mkdir()
    (tmp_path / ("a" * 64) / "manifest.json").write_text(json.dumps({"notebook": "00_x", "status": "complete", **said}))
    assert Store(tmp_path).entries()[0].parameters == {}
