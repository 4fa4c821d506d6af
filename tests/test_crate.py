"""An exported record is one file that others can read, and nothing gets in that is not exactly such a record."""

import json
import stat
import struct
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from rocrate.rocrate import ROCrate

from rankwork.digest import digest_bytes
from rankwork.errors import EvidenceError, InputError, RankworkError
from rankwork.evidence import archive, crate
from rankwork.evidence.store import Store
from rankwork.evidence.verifying import verify
from tests.rewriting import load, sealed

Copy = Callable[[], Path]
Files = dict[str, bytes]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """An empty store; after a refusal nothing may have been left in it."""
    store = Store(tmp_path / "evidence")
    yield store
    assert [path for path in store.root.glob(".scratch/*") if path.is_dir()] == []


@pytest.fixture
def files(complete_record: Path, tmp_path: Path) -> Files:
    """The content of an exported record."""
    crate.export(complete_record, tmp_path / "sound.zip")
    with zipfile.ZipFile(tmp_path / "sound.zip") as sound:
        return {name: sound.read(name) for name in sound.namelist()}


def packed(path: Path, files: Files, *extra: tuple[zipfile.ZipInfo | str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as target:
        for entry, data in (*files.items(), *extra):
            target.writestr(entry, data)
    return path


def described(files: Files) -> Files:
    """The files with a crate that describes them as they are: what a forger would write."""
    own = {name: data for name, data in files.items() if name != crate.METADATA}
    return {crate.METADATA: crate.metadata(own), **own}


def refused(file: Path, store: Store, message: str, error: type[RankworkError] = InputError) -> None:
    with pytest.raises(error, match=message):
        crate.import_record(file, store)
    assert store.records() == []


def test_a_record_comes_back_as_it_was(complete_record: Path, tmp_path: Path, store: Store) -> None:
    crate.export(complete_record, tmp_path / "a.zip")
    folder, new = crate.import_record(tmp_path / "a.zip", store)
    assert (folder.name, new) == (complete_record.name, True)
    assert {p.name: p.read_bytes() for p in folder.iterdir()} == {
        p.name: p.read_bytes() for p in complete_record.iterdir()
    }
    assert verify(folder)
    assert crate.import_record(tmp_path / "a.zip", store) == (folder, False), "the second time it is there already"


def test_a_record_of_a_failed_execution_travels_too(record_copy: Copy, tmp_path: Path, store: Store) -> None:
    failed = sealed(record_copy(), status="failed", reason={"type": "E", "message": "m", "cell": 1})
    crate.export(failed, tmp_path / "a.zip")
    folder, _ = crate.import_record(tmp_path / "a.zip", store)
    assert verify(folder).intact


def test_exporting_twice_gives_equal_bytes(complete_record: Path, record_copy: Copy, tmp_path: Path) -> None:
    crate.export(complete_record, tmp_path / "a.zip")
    crate.export(record_copy(), tmp_path / "b.zip")
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()


def test_another_program_finds_the_execution_in_the_crate(complete_record: Path, files: Files, tmp_path: Path) -> None:
    """The rocrate library alone: the profile, the execution with its instrument, parameters and results."""
    found = ROCrate(tmp_path / "sound.zip")
    kept = load(complete_record / "manifest.json")
    root = found.root_dataset
    assert root["conformsTo"].id == crate.PROFILE
    assert (root["identifier"], str(root["datePublished"])[:19]) == (
        complete_record.name,
        kept["time"]["ended"][:19],
    )
    action = root["mentions"]
    assert (action.type, action["instrument"].id) == ("CreateAction", "source.ipynb")
    assert action["actionStatus"] == "http://schema.org/CompletedActionStatus"
    assert {each["name"]: each["value"] for each in action["object"]} == {"k": 3, "name": ""}
    assert {each.id for each in action["result"]} == set(files) - {"source.ipynb", crate.METADATA}
    for entity in found.data_entities:
        assert entity["sha256"] == digest_bytes(files[entity.id])
        assert int(entity["contentSize"]) == len(files[entity.id])


def test_a_damaged_record_is_not_exported(record_copy: Copy, tmp_path: Path) -> None:
    damaged = record_copy()
    (damaged / "results.json").write_text("{}")
    with pytest.raises(EvidenceError, match="not verified"):
        crate.export(damaged, tmp_path / "a.zip")
    assert not (tmp_path / "a.zip").exists()


def test_no_file_is_overwritten_and_no_half_of_one_is_left(complete_record: Path, tmp_path: Path) -> None:
    (tmp_path / "a.zip").write_text("mine")
    with pytest.raises(InputError, match="is there already"):
        crate.export(complete_record, tmp_path / "a.zip")
    assert (tmp_path / "a.zip").read_text() == "mine"
    with pytest.raises(InputError, match="cannot be written"):
        crate.export(complete_record, tmp_path / "nowhere" / "b.zip")
    (tmp_path / "folder.zip").mkdir()
    with pytest.raises(InputError, match="cannot be written"):
        crate.export(complete_record, tmp_path / "folder.zip", overwrite=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.zip", "folder.zip"]


@pytest.mark.parametrize(
    "name",
    ["../up.txt", "/etc/absolute", "a/b.txt", "a\\b.txt", "C:x", "..", ".hidden", "folder/", "con", "LPT1.txt",
     "line\nbreak", "é.txt", "x" * 101, "-o"],
)  # fmt: skip
def test_a_name_that_is_not_a_plain_one_is_refused(tmp_path: Path, files: Files, store: Store, name: str) -> None:
    refused(packed(tmp_path / "a.zip", files, (name, b"x")), store, "is not the plain name of a file")
    assert not (tmp_path / "up.txt").exists()


def test_a_name_that_hides_behind_a_zero_byte_is_refused(tmp_path: Path, files: Files, store: Store) -> None:
    path = packed(tmp_path / "a.zip", files, ("moreX.txt", b"x"))
    path.write_bytes(path.read_bytes().replace(b"moreX.txt", b"more\x00.txt"))
    refused(path, store, "is not the plain name of a file")


@pytest.mark.parametrize(
    ("mode", "kind"), [(stat.S_IFLNK, "link"), (stat.S_IFDIR, "folder"), (stat.S_IFIFO, "special")]
)
def test_whatever_is_no_plain_file_is_refused(tmp_path: Path, files: Files, store: Store, mode: int, kind: str) -> None:
    entry = zipfile.ZipInfo("more.txt")
    entry.create_system, entry.external_attr = 3, (mode | 0o777) << 16
    refused(packed(tmp_path / "a.zip", files, (entry, b"/etc/passwd")), store, f"is a {kind}")


@pytest.mark.parametrize("name", ["results.json", "Results.JSON"])
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_name_that_is_there_twice_is_refused(tmp_path: Path, files: Files, store: Store, name: str) -> None:
    refused(packed(tmp_path / "a.zip", files, (name, b"{}")), store, "is there twice")


def test_more_files_than_a_record_has_are_refused(tmp_path: Path, files: Files, store: Store) -> None:
    more = [(f"{number}.txt", b"") for number in range(archive.MOST_FILES)]
    refused(packed(tmp_path / "a.zip", files, *more), store, "a record has 32 at most")


def test_a_bomb_is_refused_by_its_ratio_and_by_its_size(tmp_path: Path, files: Files, store: Store) -> None:
    refused(packed(tmp_path / "a.zip", files, ("zeros.txt", bytes(1 << 27))), store, "more than 200 times as many")
    entry = zipfile.ZipInfo("large.txt")
    entry.file_size = entry.compress_size = archive.MOST_BYTES + 1
    with pytest.raises(InputError, match="1,073,741,825 bytes unpacked"):
        archive.check([entry], tmp_path / "a.zip")


def test_files_that_share_their_bytes_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.zip").write_bytes(bytes(100))
    entries = [zipfile.ZipInfo(name) for name in ("a.txt", "b.txt")]
    for entry in entries:
        entry.file_size = entry.compress_size = 60
    with pytest.raises(InputError, match="overlap"):
        archive.check(entries, tmp_path / "a.zip")


@pytest.mark.parametrize("claimed", [1, 100_000])
def test_a_file_of_another_size_than_it_says_is_refused(
    tmp_path: Path, files: Files, store: Store, claimed: int
) -> None:
    """The size in the directory of the archive is changed; the content is not."""
    path = packed(tmp_path / "a.zip", files, ("more.txt", b"x" * 1000))
    data = bytearray(path.read_bytes())
    place = data.rindex(b"more.txt") - 46 + 24
    data[place : place + 4] = struct.pack("<I", claimed)
    path.write_bytes(data)
    refused(path, store, "can be read|than it says")


def test_encryption_and_other_packings_are_refused(tmp_path: Path, files: Files, store: Store) -> None:
    entry = zipfile.ZipInfo("more.txt")
    entry.compress_type = zipfile.ZIP_LZMA
    with zipfile.ZipFile(packed(tmp_path / "a.zip", files), "a") as target:
        target.writestr(entry, b"x", zipfile.ZIP_LZMA)
    refused(tmp_path / "a.zip", store, "encrypted or packed in another way")
    path = packed(tmp_path / "b.zip", files, ("more.txt", b"x"))
    data = bytearray(path.read_bytes())
    for start in (data.index(b"more.txt") - 30 + 6, data.rindex(b"more.txt") - 46 + 8):
        data[start] |= 1
    path.write_bytes(data)
    refused(path, store, "encrypted or packed in another way")


@pytest.mark.parametrize("keep", [0, 10, 0.5, 0.999])
def test_a_file_that_was_cut_is_refused(tmp_path: Path, files: Files, store: Store, keep: float) -> None:
    path = packed(tmp_path / "a.zip", files)
    data = path.read_bytes()
    path.write_bytes(data[: int(keep * len(data)) if keep < 1 else int(keep)])
    refused(path, store, "not a zip that can be read")


def test_one_flipped_bit_anywhere_in_the_packed_content_is_refused_or_harmless(tmp_path: Path, files: Files) -> None:
    """Some bits, such as those of a date, are no part of the content: then what is stored is the record."""
    data = packed(tmp_path / "a.zip", files).read_bytes()
    refusals = 0
    for place in range(0, len(data), len(data) // 40):
        flipped = bytearray(data)
        flipped[place] ^= 1
        (tmp_path / "b.zip").write_bytes(flipped)
        store = Store(tmp_path / str(place))
        try:
            folder, _ = crate.import_record(tmp_path / "b.zip", store)
        except (InputError, EvidenceError):
            refusals += 1
            assert store.records() == []
        else:
            assert verify(folder)
    assert refusals > 30


@pytest.mark.parametrize("name", ["manifest.json", "notebook.ipynb", "results.json", "report.html", "source.ipynb"])
@pytest.mark.parametrize("forged", [False, True], ids=["crate as it was", "crate made to fit"])
def test_a_changed_missing_or_added_file_is_refused(
    tmp_path: Path, files: Files, store: Store, name: str, forged: bool
) -> None:
    """Whether or not the crate is rewritten so that it describes the change."""
    changed = files | {name: files[name].replace(b"3", b"4")}
    added = files | {"more.txt": b"x"}
    missing = {key: data for key, data in files.items() if key != name}
    for number, content in enumerate([changed, added] if forged else [changed, added, missing]):
        path = packed(tmp_path / f"{number}.zip", described(content) if forged else content)
        with pytest.raises((EvidenceError, InputError)):
            crate.import_record(path, store)
        assert store.records() == []


def test_a_missing_report_is_refused_by_the_store(complete_record: Path, tmp_path: Path, store: Store) -> None:
    """A reference is compared without its report; a record that is stored has all its files."""
    crate.export(complete_record, tmp_path / "a.zip", report=False)
    refused(tmp_path / "a.zip", store, "missing or not listed: report.html", EvidenceError)


@pytest.mark.parametrize(
    ("change", "message", "error"),
    [
        (lambda graph: graph[0].update(identifier="0" * 64), "speaks of another record", EvidenceError),
        (lambda graph: _entity(graph, "results.json").update(sha256="0" * 64), "another results.json", EvidenceError),
        (lambda graph: graph.remove(_entity(graph, "results.json")), "another results.json", EvidenceError),
        (lambda graph: _entity(graph, "results.json").pop("sha256"), "cannot be read", InputError),
        (lambda graph: graph.clear(), "cannot be read", InputError),
    ],
)
def test_a_crate_that_speaks_of_something_else_is_refused(
    tmp_path: Path, files: Files, store: Store, change: Any, message: str, error: type[RankworkError]
) -> None:
    said = json.loads(files[crate.METADATA])
    change(said["@graph"])
    refused(packed(tmp_path / "a.zip", files | {crate.METADATA: json.dumps(said).encode()}), store, message, error)


def _entity(graph: list[dict[str, Any]], name: str) -> dict[str, Any]:
    return next(entity for entity in graph if entity["@id"] == name)


@pytest.mark.parametrize("content", [b"", b"[]", b"{}", b"3", b'{"@graph": 3}', b'{"@graph": [3]}', b"[" * 100_000])
def test_a_crate_that_cannot_be_read_is_refused(tmp_path: Path, files: Files, store: Store, content: bytes) -> None:
    refused(packed(tmp_path / "a.zip", files | {crate.METADATA: content}), store, "cannot be read")


@pytest.mark.parametrize("missing", ["manifest.json", crate.METADATA])
def test_a_zip_that_is_no_exported_record_is_refused(tmp_path: Path, files: Files, store: Store, missing: str) -> None:
    del files[missing]
    refused(packed(tmp_path / "a.zip", files), store, f"it has no {missing}")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("time", "now"),
        ("time", {"started": "2026", "ended": "\x1b[2J", "seconds": 1}),
        ("notebook", "\x1b[2J"),
        ("notebook", "../../x"),
        ("notebook", 3),
        ("status", "fine"),
        ("reason", 3),
        ("format", "rankwork-record/9"),
        ("rankwork", ["0.1.0"]),
    ],
)
def test_a_manifest_of_another_form_is_refused(
    record_copy: Copy, tmp_path: Path, store: Store, field: str, value: Any
) -> None:
    """Every digest fits, and still it could not be listed or shown."""
    forged = sealed(record_copy(), **{field: value})
    files = {path.name: path.read_bytes() for path in forged.iterdir()}
    said = {"@graph": [{"@id": "./", "identifier": forged.name}]}
    said["@graph"] += [{"@id": n, "@type": "File", "sha256": digest_bytes(data)} for n, data in files.items()]
    path = packed(tmp_path / "a.zip", {**files, crate.METADATA: json.dumps(said).encode()})
    refused(path, store, "not the form of a record", EvidenceError)


@pytest.mark.parametrize("before", ["<script>1</script>", "<img src=x onerror=1>", "<!-- -->"])
def test_a_report_that_could_run_something_is_refused(
    record_copy: Copy, tmp_path: Path, store: Store, before: str
) -> None:
    """The policy must come first: what stands before it would run."""
    forged = record_copy()
    page = (forged / "report.html").read_text()
    (forged / "report.html").write_text(page.replace("<head>", f"<head>{before}", 1))
    crate.export(sealed(forged), tmp_path / "a.zip")
    refused(tmp_path / "a.zip", store, "the policy that forbids it to run", EvidenceError)


def test_a_record_is_opened_by_id_folder_and_file(complete_record: Path, tmp_path: Path) -> None:
    crate.export(complete_record, tmp_path / "a.zip")
    store = Store(complete_record.parent)
    for text in (complete_record.name[:10], str(complete_record), str(tmp_path / "a.zip")):
        with crate.opened(text, store) as folder:
            assert (folder.name, bool(verify(folder))) == (complete_record.name, True)
    for text in ("nowhere.zip", str(tmp_path), ""):
        with pytest.raises(EvidenceError), crate.opened(text, store):
            pass
