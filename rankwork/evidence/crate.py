"""A record as one file that others can read: a zip that is also an RO-Crate of the Process Run Crate profile.

The crate describes the execution in the words of schema.org: source and parameters, results, when and by which
software. Exporting adds it to the record's own files; importing checks it against them and stores the record alone.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from rankwork.digest import canonical_json, digest_bytes
from rankwork.errors import EvidenceError, InputError
from rankwork.evidence import archive, manifest
from rankwork.evidence.report import guarded
from rankwork.evidence.store import Store, read_manifest
from rankwork.evidence.verifying import verify

METADATA = "ro-crate-metadata.json"
REPORT = "report.html"
PROFILE = "https://w3id.org/ro/wfrun/process/0.5"
_TERMS = {"sha256": "https://schema.org/sha256"}
_FILES = {
    "notebook.ipynb": ("the executed notebook", "application/x-ipynb+json"),
    REPORT: ("the report, readable in any browser", "text/html"),
    "results.json": ("the recorded values with their exact bits", "application/json"),
    "source.ipynb": ("the notebook that was executed", "application/x-ipynb+json"),
    "manifest.json": ("what was asked, what came out, on what machine", "application/json"),
}


def export(folder: Path, file: Path, *, report: bool = True, overwrite: bool = False) -> str:
    """Write a verified record as a crate; returns its ID.

    EvidenceError for a record that is not what its execution left, InputError for a file that is there already.
    `report=False` leaves the report out: what remains can be verified and compared, and is a third of the size.
    """
    verdict = verify(folder)
    if not verdict.intact:
        raise EvidenceError(verdict.sentence)
    if file.exists() and not overwrite:
        raise InputError(f"{file} is there already")
    left_out = set() if report else {REPORT}
    files = {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.name not in left_out}
    archive.write(file, {METADATA: metadata(files)} | files)
    return folder.name


def metadata(files: Mapping[str, bytes]) -> bytes:
    """The `ro-crate-metadata.json` of a record's files; the same bytes for the same files."""
    from rocrate.rocrate import ROCrate

    kept = json.loads(files["manifest.json"])
    crate = ROCrate(version="1.1")
    crate.metadata.extra_terms.update(_TERMS)
    entities = {name: _file(crate, name, data) for name, data in sorted(files.items())}
    action = _action(crate, kept, entities)
    root = crate.root_dataset
    root["identifier"] = digest_bytes(files["manifest.json"])
    root["name"] = f"{kept['notebook']}, executed {kept['time']['started']}"
    root["description"] = f"An executed notebook as evidence: {kept['status']}. Begin with {_entrance(files)}."
    root["datePublished"] = kept["time"]["ended"]
    root["license"] = _context(crate, "#license", "CreativeWork", _LICENSE)
    root["conformsTo"] = _context(crate, PROFILE, "CreativeWork", {"name": "Process Run Crate", "version": "0.5"})
    root["mentions"] = action
    return (json.dumps(crate.metadata.generate(), indent=1, sort_keys=True, ensure_ascii=False) + "\n").encode()


_LICENSE = {"name": "not stated", "description": "Whoever exported this record stated no licence."}


def _entrance(files: Mapping[str, bytes]) -> str:
    return REPORT if REPORT in files else "notebook.ipynb"


def _file(crate: Any, name: str, data: bytes) -> Any:
    meaning, form = _FILES.get(name, (name, "application/octet-stream"))
    facts = {"name": meaning, "encodingFormat": form, "contentSize": str(len(data)), "sha256": digest_bytes(data)}
    kind = {"@type": ["File", "SoftwareSourceCode"]} if name == "source.ipynb" else {}
    return crate.add_file(dest_path=name, properties={**facts, **kind})


def _context(crate: Any, identifier: str, kind: str, properties: Mapping[str, Any]) -> Any:
    from rocrate.model.contextentity import ContextEntity

    return crate.add(ContextEntity(crate, identifier, properties={"@type": kind, **properties}))


def _action(crate: Any, kept: Mapping[str, Any], entities: Mapping[str, Any]) -> Any:
    """The execution: source as instrument, parameters and inputs as objects, the other files as results."""
    ended = "CompletedActionStatus" if kept["status"] == "complete" else "FailedActionStatus"
    facts = {
        "name": f"{kept['notebook']}: {kept['status']}",
        "description": f"executed by rankwork {kept['rankwork']} with papermill, device {kept['recipe']['device']}",
        "startTime": kept["time"]["started"],
        "endTime": kept["time"]["ended"],
        "actionStatus": f"http://schema.org/{ended}",
    }
    if kept["reason"]:
        facts["error"] = f"{kept['reason']['type']}: {kept['reason']['message']}"
    entities["source.ipynb"]["version"] = kept["recipe"]["source"]
    entities["source.ipynb"]["softwareRequirements"] = _software(crate, kept)
    asked = [*_parameters(crate, kept["recipe"]["parameters"]), *_inputs(crate, kept["recipe"]["inputs"])]
    came_out = [entity for name, entity in entities.items() if name != "source.ipynb"]
    return crate.add_action(entities["source.ipynb"], "#execution", object=asked, result=came_out, properties=facts)


def _software(crate: Any, kept: Mapping[str, Any]) -> list[Any]:
    """Python, the libraries that could take part, and rankwork, each with its version and its package URL."""
    pages = {"rankwork": "#rankwork", "python": "https://www.python.org/"}
    versions = {"rankwork": kept["rankwork"], **kept["recipe"]["versions"]}
    return [
        _application(crate, pages.get(name, f"pkg:pypi/{name}@{version}"), name, version)
        for name, version in sorted(versions.items())
    ]


def _application(crate: Any, identifier: str, name: str, version: str) -> Any:
    page = {} if identifier.startswith("#") else {"url": identifier}
    return _context(crate, identifier, "SoftwareApplication", {"name": name, "softwareVersion": version, **page})


def _parameters(crate: Any, parameters: Mapping[str, Any]) -> list[Any]:
    return [
        _context(crate, f"#parameter/{name}", "PropertyValue", {"name": name, "value": _plain(value)})
        for name, value in sorted(parameters.items())
    ]


def _plain(value: Any) -> Any:
    return value if isinstance(value, (str, int, float)) else canonical_json(value)


def _inputs(crate: Any, inputs: Mapping[str, str]) -> list[Any]:
    """Inputs by digest: they are not part of a record."""
    return [
        _context(crate, f"#{name}", "CreativeWork", {"name": name, "sha256": digest})
        for name, digest in sorted(inputs.items())
    ]


def import_record(file: Path, store: Store) -> tuple[Path, bool]:
    """Store the record of an exported file; its folder, and whether it is new here.

    It is verified before it appears, in one rename. InputError for a file that is no exported record, EvidenceError for
    a record that is not what its execution left.
    """
    with store.scratch("import") as scratch:
        folder = unpack(file, scratch)
        _check_complete(folder, file.name)
        target = store.root / folder.name
        if target.exists():
            return target, False
        return store.commit(folder, folder.name), True


def unpack(file: Path, into: Path) -> Path:
    """Extract an exported record below a folder and name it by its ID; what the crate says of it is checked."""
    content = into / "content"
    content.mkdir()
    archive.extract(file, content)
    for needed in (METADATA, "manifest.json"):
        if not (content / needed).is_file():
            raise InputError(f"{file.name}: not an exported record: it has no {needed}")
    record_id = digest_bytes((content / "manifest.json").read_bytes())
    crate = content / METADATA
    _check_metadata(crate.read_bytes(), content, record_id, file.name)
    crate.unlink()
    return content.rename(into / record_id)


def _check_metadata(data: bytes, folder: Path, record_id: str, name: str) -> None:
    """The crate must speak of these files and this record."""
    found = {path.name: digest_bytes(path.read_bytes()) for path in folder.iterdir() if path.name != METADATA}
    try:
        entities = {entity["@id"]: entity for entity in json.loads(data)["@graph"]}
        said = {key: entity["sha256"] for key, entity in entities.items() if "File" in entity.get("@type", ())}
        identifier = entities["./"]["identifier"]
    except (ValueError, KeyError, TypeError, RecursionError, AttributeError) as error:
        raise InputError(f"{name}: {METADATA} cannot be read: {error!r}") from None
    odd = sorted(key for key in said.keys() | found.keys() if said.get(key) != found.get(key))
    if odd or identifier != record_id:
        raise EvidenceError(f"{name}: {METADATA} speaks of another {odd[0] if odd else 'record'}")


def _check_complete(folder: Path, name: str) -> None:
    try:
        verdict = verify(folder)
        if not verdict.intact:
            raise EvidenceError(f"{name}: {verdict.sentence}")
    except (KeyError, TypeError, AttributeError, ValueError, RecursionError) as error:
        raise EvidenceError(f"{name}: not the form of a record: {error!r}") from None
    if wrong := manifest.malformed(read_manifest(folder)):
        raise EvidenceError(f"{name}: not the form of a record: {wrong}")
    if not guarded((folder / REPORT).read_text(encoding="utf-8", errors="replace")):
        raise EvidenceError(f"{name}: {REPORT} does not begin with the policy that forbids it to run anything")


@contextmanager
def opened(text: str, store: Store) -> Iterator[Path]:
    """The folder of a record that is named by its ID, its folder or an exported file."""
    path = Path(text)
    if path.is_file():
        with TemporaryDirectory(prefix="rankwork-") as scratch:
            yield unpack(path, Path(scratch))
    else:
        yield path if (path / "manifest.json").is_file() else store.find(text)
