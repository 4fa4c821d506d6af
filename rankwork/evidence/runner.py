"""Executing notebooks: checked before anything starts, each in its own process and scratch folder, kept as a record.

Every check of every notebook comes before the first kernel. What happens afterwards, from a cell that raises to a
killed process, ends as a record that says so.
"""

import json
import os
import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rankwork import environment
from rankwork.digest import digest, digest_bytes, digest_file
from rankwork.errors import EvidenceError, InputError, ParameterError
from rankwork.evidence import manifest, parameters, tokens
from rankwork.evidence.assembly import assemble, with_seal
from rankwork.evidence.privacy import places_of
from rankwork.evidence.store import Store, read_manifest
from rankwork.evidence.supervising import Progress, Workers, killed

GRID, PRIVACY = "grid", "privacy"
"""What a parameters file can hold besides parameters: a sweep's lists of values, and how texts are kept."""

_FORMS = {".csv", ".gz", ".json", ".jsonl", ".parquet", ".qrels", ".run", ".trec", ".tsv", ".txt", ".yaml"}


@dataclass(frozen=True)
class Request:
    """One notebook with its checked parameters: all that an execution needs."""

    name: str
    source: bytes
    values: dict[str, Any]
    inputs: dict[str, Path]
    folder: Path
    commit: Mapping[str, Any] | None = None
    """The commit of the workbook where it is known; None: the folder is asked."""

    key: str | None = None
    """The name of the key under which texts are kept as keyed digests; None: they are kept as they are."""

    @property
    def notebook(self) -> dict[str, Any]:
        """The source as JSON."""
        return dict(json.loads(self.source))


@dataclass(frozen=True)
class Finished:
    """One execution that has become a record."""

    notebook: str
    record_id: str
    path: Path
    status: str
    reason: Mapping[str, Any] | None


def workbook(start: Path) -> Path:
    """The folder that holds `notebooks` and `params`: the nearest above `start`, else the one that rankwork is in."""
    for folder in (start, *start.parents, Path(__file__).parents[2]):
        if (folder / "notebooks").is_dir() and (folder / "params").is_dir():
            return folder
    raise InputError(f"no folder with notebooks/ and params/ in {start.name or start} or above it")


def find_notebooks(names: Iterable[str], folder: Path) -> list[Path]:
    """The notebooks meant by `all`, by a path, or by a name or the beginning of one such as `05`."""
    known = sorted((folder / "notebooks").glob("[0-9][0-9]_*.ipynb"))
    found: list[Path] = []
    for name in names:
        found += known if name == "all" else [_find_notebook(name, known)]
    return list(dict.fromkeys(found))


def _find_notebook(name: str, known: Sequence[Path]) -> Path:
    if Path(name).suffix == ".ipynb":
        if Path(name).is_file():
            return Path(name).resolve()
        raise InputError(f"no notebook {name}")
    exact = [path for path in known if path.stem == name] or [path for path in known if path.stem.startswith(name)]
    if len(exact) != 1:
        raise InputError(f"{name!r} names {len(exact)} notebooks of: {', '.join(path.stem for path in known)}")
    return exact[0]


@dataclass(frozen=True)
class Notebook:
    """A notebook as it was read: its source, the defaults and the schema of its parameters, and its workbook."""

    name: str
    source: bytes
    default: Mapping[str, Any]
    schema: Mapping[str, Any]
    folder: Path

    def request(
        self, given: Mapping[str, Any], base: Path, typed: Mapping[str, Any], privacy: str | None = None
    ) -> Request:
        """What an execution with these values needs; `typed` wins over `given`, and its files are looked for here.

        `privacy` is `plain` or `digest`; None: what `given` says under that name, else plain.
        """
        asked = privacy or given.get(PRIVACY, "plain")
        if asked not in ("plain", "digest"):
            raise ParameterError(f"{self.name}: privacy must be plain or digest, got {asked!r}")
        given = {name: value for name, value in given.items() if name != PRIVACY}
        values = parameters.resolve({**given, **typed}, self.default, self.schema, self.name)
        files = parameters.input_files(values, self.schema)
        inputs = {key: _input_file(key, value, Path.cwd() if key in typed else base) for key, value in files.items()}
        key = tokens.from_environment().name if asked == "digest" else None
        return Request(self.name, self.source, values, inputs, self.folder, key=key)


def read_notebook(path: Path, schema: Path | None = None) -> Notebook:
    """A notebook and its schema: the one given, else the workbook's."""
    source = _read(path)
    folder = path.resolve().parent.parent
    default = parameters.defaults(_as_notebook(source, path.name), path.stem)
    if reserved := sorted({GRID, PRIVACY} & set(default)):
        raise ParameterError(f"{path.stem}: {reserved[0]!r} has a meaning in parameters files; give it another name")
    declared = parameters.load_schema(schema or folder / "params" / f"{path.stem}.schema.json")
    return Notebook(path.stem, source, default, declared, folder)


def prepare(
    path: Path, *, chosen: str | None = None, assignments: tuple[str, ...] = (), privacy: str | None = None
) -> Request:
    """Read a notebook and check its parameters; nothing is executed or written.

    `chosen` is `smoke`, `full` or a YAML file of values; `assignments` are `name=value` texts that win over it. Files
    are looked for from the folder of the parameters file, or from the current one. With `privacy` `digest`, or that
    word in the file, texts and IDs are recorded as keyed digests.
    """
    notebook = read_notebook(path)
    given, base = _chosen_set(chosen, notebook.folder, notebook.name)
    if GRID in given:
        raise ParameterError(f"{Path(str(chosen)).name} holds a grid: run it with --sweep")
    return notebook.request(given, base, parameters.from_text(assignments, notebook.schema), privacy)


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{path.name}: {error.strerror}") from None


def _as_notebook(source: bytes, name: str) -> dict[str, Any]:
    try:
        notebook = json.loads(source)
    except ValueError as error:
        raise InputError(f"{name} is not a notebook: {error}") from None
    if not isinstance(notebook, dict) or not isinstance(notebook.get("cells"), list) or notebook.get("nbformat") != 4:
        raise InputError(f"{name} is not a notebook of format 4")
    return notebook


def _chosen_set(chosen: str | None, folder: Path, name: str) -> tuple[dict[str, Any], Path]:
    if chosen is None:
        return {}, Path.cwd()
    path = Path(chosen) if chosen.endswith((".yaml", ".yml")) else folder / "params" / f"{name}.{chosen}.yaml"
    return parameters.load_set(path), path.resolve().parent


def _input_file(parameter: str, text: str, base: Path) -> Path:
    path = base / Path(text).expanduser()
    if not path.is_file():
        raise ParameterError(f"{parameter}: no file {text}")
    if not os.access(path, os.R_OK):
        raise ParameterError(f"{parameter}: {text} cannot be read")
    return path.resolve()


def run(
    requests: Sequence[Request],
    store: Store,
    *,
    jobs: int = 1,
    timeout: float | None = None,
    progress: Progress | None = None,
    stored: Callable[[Finished], None] | None = None,
) -> list[Finished]:
    """Execute notebooks, `jobs` at a time, and store a record of each, whatever became of it.

    `stored` is called with each record as it is stored, one call at a time. EvidenceError where a record cannot be
    written, after the others have ended. KeyboardInterrupt is raised after the interrupted executions have been stored
    as killed; those that had not begun leave nothing.
    """
    workers = Workers()
    with ThreadPoolExecutor(max_workers=jobs) as pool:
        begun = {
            place: pool.submit(_run_one, requests[place], store, timeout, progress, workers)
            for place in (longest_first(requests, store) if jobs > 1 else range(len(requests)))
        }
        futures = [begun[place] for place in range(len(requests))]
        try:
            for future in as_completed(futures):
                if stored and future.exception() is None and (item := future.result()):
                    stored(item)
            finished = [future.result() for future in futures]
        except KeyboardInterrupt:
            workers.interrupt()
            for future in futures:
                future.cancel()
            raise
    return [item for item in finished if item is not None]


def longest_first(requests: Sequence[Request], store: Store) -> list[int]:
    """The places of requests in the order in which several at a time are soonest done.

    What took longest when it was last complete comes first; before it what the store does not know, from the last: a
    workbook's later notebooks do more. Requests for one notebook keep their order.
    """
    places = range(len(requests))
    if len({request.name for request in requests}) < 2:
        return list(places)
    last = {entry.notebook: entry.seconds or 0.0 for entry in store.entries() if entry.status == "complete"}
    unknown = [place for place in reversed(places) if requests[place].name not in last]
    known = [place for place in places if requests[place].name in last]
    return unknown + sorted(known, key=lambda place: -last[requests[place].name])


def _run_one(
    request: Request, store: Store, timeout: float | None, progress: Progress | None, workers: Workers
) -> Finished | None:
    if workers.interrupted:
        return None
    with store.scratch(request.name) as scratch:
        try:
            job = _lay_out(scratch, request, timeout, store.root)
            ended = workers.supervise(scratch, job, progress)
            if not _is_whole(scratch / "record"):
                assemble(scratch, job, ended or killed("the worker ended without a record"))
            return _store(scratch / "record", store)
        except OSError as error:
            raise EvidenceError(f"{request.name}: no record could be written: {error.strerror}") from None


def _is_whole(record: Path) -> bool:
    """Whether the worker had finished the record before it ended: the manifest is written last, and names each file."""
    kept = read_manifest(record, missing_ok=True)
    files = {path.name: manifest.file_entry(path) for path in record.glob("*") if path.name != "manifest.json"}
    return bool(kept) and kept["files"] == files


def _store(record: Path, store: Store) -> Finished:
    kept = read_manifest(record)
    record_id = digest_bytes((record / "manifest.json").read_bytes())
    path = store.commit(record, record_id)
    return Finished(kept["notebook"], record_id, path, kept["status"], kept["reason"])


def asked(request: Request, machine: Mapping[str, Any] | None = None) -> tuple[dict[str, Any], dict[str, Any]]:
    """The values that a notebook runs with, its inputs under the names that it sees, and the recipe.

    `machine` are the surroundings of the machine that is to execute it (`manifest.surroundings`); None: this one.
    """
    names = _link_names(request)
    values = request.values | names
    contents = {names[parameter]: digest_file(path) for parameter, path in request.inputs.items()}
    recipe = manifest.recipe(request.notebook, values, contents, machine)
    return values, recipe | ({"privacy": {"kind": "digest", "key": request.key}} if request.key else {})


def _lay_out(scratch: Path, request: Request, timeout: float | None, evidence: Path) -> dict[str, Any]:
    """Fill a scratch folder: the source, the notebook to execute, links to the inputs, and the job."""
    if request.key and request.key != tokens.from_environment().name:
        raise EvidenceError(f"{request.name}: the key in {tokens.KEY} is another than the one it was asked with")
    values, recipe = asked(request)
    _link_inputs(scratch / "work", request)
    nonce = secrets.token_hex(16)
    job = {
        "notebook": request.name,
        "parameters": values,
        "recipe": recipe,
        "recipe_digest": digest(recipe),
        "nonce": nonce,
        "timeout": timeout,
        "of": len(request.notebook["cells"]) + 2,  # papermill adds the injected values, we the seal
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": request.commit or environment.commit(request.folder),
        "places": _places(scratch, request, evidence),
    }
    (scratch / "source.ipynb").write_bytes(request.source)
    (scratch / "input.ipynb").write_text(json.dumps(with_seal(request.notebook, nonce)), encoding="utf-8")
    (scratch / "job.json").write_text(json.dumps(job), encoding="utf-8")
    return job


def _places(scratch: Path, request: Request, evidence: Path) -> dict[str, str]:
    """The texts that would tell where on this machine an execution took place, for outputs to be scrubbed of."""
    inputs = {f"inputs {parameter}": path.parent for parameter, path in request.inputs.items()}
    folders = {"folder": Path.cwd(), "workbook": request.folder, "evidence": evidence.resolve()}
    return places_of({**inputs, **folders, "scratch": scratch})


def _link_names(request: Request) -> dict[str, str]:
    """Parameter -> `inputs/NAME`; two files of one name are kept apart by their parameters.

    Where texts are kept as keyed digests the file's own name is one of them: it is called after its parameter.
    """
    taken: dict[str, Path] = {}
    names = {}
    for parameter, path in request.inputs.items():
        name = parameter + _form(path) if request.key else path.name
        while taken.get(name, path) != path:
            name = f"{parameter}.{name}"
        taken[name] = path
        names[parameter] = f"inputs/{name}"
    return names


def _form(path: Path) -> str:
    """The endings of a file's name that tell how to read it."""
    return "".join(ending for ending in path.suffixes[-2:] if ending in _FORMS)


def _link_inputs(folder: Path, request: Request) -> None:
    (folder / "inputs").mkdir(parents=True)
    for name, path in {name: request.inputs[parameter] for parameter, name in _link_names(request).items()}.items():
        (folder / name).symlink_to(path)


def check_writable(store: Store) -> None:
    """EvidenceError when the evidence folder cannot be written."""
    try:
        with store.scratch("check"):
            pass
    except OSError as error:
        raise EvidenceError(f"{store.root}: the evidence folder cannot be written: {error.strerror}") from None
