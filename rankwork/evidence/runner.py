"""Executing notebooks: checked before anything starts, each in its own process and scratch folder, kept as a record.

Every check of every notebook comes before the first kernel. What happens afterwards, from a cell that raises to a
killed process, ends as a record that says so.
"""

import json
import os
import secrets
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rankwork import environment
from rankwork.digest import digest, digest_bytes, digest_file
from rankwork.errors import EvidenceError, InputError, ParameterError
from rankwork.evidence import manifest, parameters
from rankwork.evidence.assembly import assemble, with_seal
from rankwork.evidence.privacy import SCRATCH_VARIABLE
from rankwork.evidence.store import Store, read_manifest

Progress = Callable[[str, int, int], None]
"""Called with a notebook's name, the number of the cell that starts, and how many cells there are."""

_GRACE = 10.0


@dataclass(frozen=True)
class Request:
    """One notebook with its checked parameters: all that an execution needs."""

    name: str
    source: bytes
    values: dict[str, Any]
    inputs: dict[str, Path]
    folder: Path

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


@dataclass
class _Executions:
    """The worker processes that are alive, so that an interruption reaches each of them."""

    alive: dict[int, subprocess.Popen[str]] = field(default_factory=dict)
    interrupted: bool = False
    lock: threading.Lock = field(default_factory=threading.Lock)

    def interrupt(self) -> None:
        """Forward Ctrl-C: a worker has a session of its own and would not hear it."""
        with self.lock:
            self.interrupted = True
            for process in self.alive.values():
                process.send_signal(signal.SIGINT)


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


def prepare(path: Path, *, chosen: str | None = None, assignments: tuple[str, ...] = ()) -> Request:
    """Read a notebook and check its parameters; nothing is executed or written.

    `chosen` is `smoke`, `full` or a YAML file of values; `assignments` are `name=value` texts that win over it. Files
    are looked for from the folder of the parameters file, or from the current one.
    """
    source = _read(path)
    folder = path.resolve().parent.parent
    name = path.stem
    default = parameters.defaults(_as_notebook(source, path.name), name)
    schema = parameters.load_schema(folder / "params" / f"{name}.schema.json")
    given, base = _chosen_set(chosen, folder, name)
    typed = parameters.from_text(assignments, schema)
    values = parameters.resolve({**given, **typed}, default, schema, name)
    files = parameters.input_files(values, schema)
    inputs = {key: _input_file(key, value, Path.cwd() if key in typed else base) for key, value in files.items()}
    return Request(name, source, values, inputs, folder)


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
) -> list[Finished]:
    """Execute notebooks, `jobs` at a time, and store a record of each, whatever became of it.

    KeyboardInterrupt is raised after the interrupted executions have been stored as killed; those that had not begun
    leave nothing.
    """
    executions = _Executions()
    with ThreadPoolExecutor(max_workers=jobs) as pool:
        futures = [pool.submit(_run_one, request, store, timeout, progress, executions) for request in requests]
        try:
            finished = [future.result() for future in futures]
        except KeyboardInterrupt:
            executions.interrupt()
            for future in futures:
                future.cancel()
            raise
    return [item for item in finished if item is not None]


def _run_one(
    request: Request, store: Store, timeout: float | None, progress: Progress | None, executions: _Executions
) -> Finished | None:
    if executions.interrupted:
        return None
    with store.scratch(request.name) as scratch:
        job = _lay_out(scratch, request, timeout)
        ended = _supervise(scratch, job, progress, executions)
        if ended is not None or not (scratch / "record" / "manifest.json").exists():
            assemble(scratch, job, ended or _killed("the worker ended without a record"))
        return _store(scratch / "record", store)


def _store(record: Path, store: Store) -> Finished:
    kept = read_manifest(record)
    record_id = digest_bytes((record / "manifest.json").read_bytes())
    path = store.commit(record, record_id)
    return Finished(kept["notebook"], record_id, path, kept["status"], kept["reason"])


def _lay_out(scratch: Path, request: Request, timeout: float | None) -> dict[str, Any]:
    """Fill a scratch folder: the source, the notebook to execute, links to the inputs, and the job."""
    inputs = _link_inputs(scratch / "work" / "inputs", request.inputs)
    values = request.values | {parameter: name for parameter, (name, _) in inputs.items()}
    asked = manifest.recipe(request.notebook, values, dict(inputs.values()), environment.device_kind())
    nonce = secrets.token_hex(16)
    job = {
        "notebook": request.name,
        "parameters": values,
        "recipe": asked,
        "recipe_digest": digest(asked),
        "nonce": nonce,
        "timeout": timeout,
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": environment.commit(request.folder),
    }
    (scratch / "source.ipynb").write_bytes(request.source)
    (scratch / "input.ipynb").write_text(json.dumps(with_seal(request.notebook, nonce)), encoding="utf-8")
    (scratch / "job.json").write_text(json.dumps(job), encoding="utf-8")
    return job


def _link_inputs(folder: Path, inputs: Mapping[str, Path]) -> dict[str, tuple[str, str]]:
    """Link each input as `inputs/NAME`; parameter -> (that name, the content's digest)."""
    folder.mkdir(parents=True)
    linked: dict[str, tuple[str, str]] = {}
    for parameter, path in inputs.items():
        link = folder / path.name
        if os.path.lexists(link) and link.resolve() != path:
            link = folder / f"{parameter}.{path.name}"
        if not os.path.lexists(link):
            link.symlink_to(path)
        linked[parameter] = (f"inputs/{link.name}", digest_file(path))
    return linked


def _supervise(
    scratch: Path, job: Mapping[str, Any], progress: Progress | None, executions: _Executions
) -> dict[str, Any] | None:
    """Start the worker and wait for it; None when it put the record together itself, else how it ended."""
    cells = len(json.loads((scratch / "input.ipynb").read_bytes())["cells"])
    with (scratch / "worker.log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "rankwork.evidence.worker", str(scratch)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            env=_worker_environment(scratch),
            start_new_session=True,
        )
    with executions.lock:
        executions.alive[process.pid] = process
        if executions.interrupted:
            process.send_signal(signal.SIGINT)
    try:
        return _follow(process, job, cells, progress, executions)
    finally:
        with executions.lock:
            executions.alive.pop(process.pid, None)


def _follow(
    process: subprocess.Popen[str],
    job: Mapping[str, Any],
    cells: int,
    progress: Progress | None,
    executions: _Executions,
) -> dict[str, Any] | None:
    assert process.stdout is not None  # it was opened as a pipe
    family: dict[int, Any] = {}
    limit = threading.Timer(job["timeout"] + _GRACE, process.kill) if job["timeout"] else None
    if limit:
        limit.start()
    for line in process.stdout:
        _remember_children(process.pid, family)
        if progress and (event := _event(line)):
            progress(job["notebook"], event["cell"] + 1, cells)
    code = process.wait()
    if limit:
        limit.cancel()
    _end(family)
    if code == 0:
        return None
    if limit and limit.finished.is_set() and code == -signal.SIGKILL and not executions.interrupted:
        return {"ended": "timeout", "reason": _text("Timeout", f"not finished after {job['timeout']:g} s"), "cells": []}
    return _killed("interrupted" if executions.interrupted else f"the worker ended with code {code}")


def _killed(message: str) -> dict[str, Any]:
    return {"ended": "killed", "reason": _text("Killed", message), "cells": []}


def _text(kind: str, message: str) -> dict[str, Any]:
    return {"type": kind, "message": message, "cell": None}


def _event(line: str) -> dict[str, Any] | None:
    try:
        event = json.loads(line)
    except ValueError:
        return None
    return event if isinstance(event, dict) and isinstance(event.get("cell"), int) else None


def _remember_children(pid: int, family: dict[int, Any]) -> None:
    """Note the kernel and what it started, to end them also when the worker is gone."""
    import psutil

    try:
        family.update((child.pid, child) for child in psutil.Process(pid).children(recursive=True))
    except psutil.NoSuchProcess:
        return


def _end(family: Mapping[int, Any]) -> None:
    import psutil

    for child in family.values():
        try:
            child.kill()
        except psutil.NoSuchProcess:
            continue


def _worker_environment(scratch: Path) -> dict[str, str]:
    """The variables for a worker: nobody else's kernels, a fixed hash seed and time zone, the scratch folder."""
    kept = {
        name: value for name, value in os.environ.items() if name not in ("JUPYTER_PATH", "PYTHONSTARTUP", "MPLBACKEND")
    }
    return kept | {
        "JUPYTER_PREFER_ENV_PATH": "1",
        "PYTHONHASHSEED": "0",
        "TZ": "UTC",
        "PYDEVD_DISABLE_FILE_VALIDATION": "1",
        SCRATCH_VARIABLE: str(scratch),
    }


def check_writable(store: Store) -> None:
    """EvidenceError when the evidence folder cannot be written."""
    try:
        with store.scratch("check"):
            pass
    except OSError as error:
        raise EvidenceError(f"{store.root}: the evidence folder cannot be written: {error.strerror}") from None
