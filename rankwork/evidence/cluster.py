"""A sweep on a Dask cluster: each combination is executed by one of its workers, and its record comes back.

A worker needs rankwork with the same libraries, and nothing else of this machine: the source, the values and the
content of the input files travel to it; the finished record travels back, is verified here and stored in one rename.
What a worker was at when it was lost is done again by another. Start workers with as many threads (`--nthreads`) as
notebooks are to run at a time on their machine.
"""

import logging
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rankwork import environment
from rankwork.digest import digest_bytes
from rankwork.errors import EvidenceError, InputError
from rankwork.evidence import manifest, runner
from rankwork.evidence.runner import Finished, Request
from rankwork.evidence.store import Store, read_manifest
from rankwork.evidence.verifying import verify

_PATIENCE = 20  # seconds until a scheduler must have answered, and a first worker must be there


@dataclass(frozen=True)
class Cluster:
    """A cluster by the address of its scheduler, and the store that its records come to."""

    address: str
    store: Store
    timeout: float | None = None

    def surroundings(self) -> dict[str, Any]:
        """The library, versions and device of the cluster's workers, as one of them tells."""
        with _client(self.address) as client:
            return dict(client.submit(manifest.surroundings, pure=False).result())

    def execute(self, requests: Sequence[Request], stored: Callable[[Finished], None]) -> list[Finished]:
        """Execute requests on the workers and store their records; `stored` is called with each.

        EvidenceError, after all others have been stored, where an execution did not come back as a record.
        """
        finished: dict[int, Finished] = {}
        lost: list[str] = []
        with _client(self.address) as client:
            tasks = {client.submit(execute, pack(r), self.timeout, pure=False): n for n, r in enumerate(requests)}
            for task in _as_completed(client, tasks):
                try:
                    finished[tasks[task]] = receive(task.result(), requests[tasks[task]], self.store)
                except Exception as error:  # whatever it was, the other executions are kept
                    lost.append(f"{type(error).__name__}: {error}")
                else:
                    stored(finished[tasks[task]])
                task.release()
        if lost:
            raise EvidenceError(f"{len(lost)} of {len(requests)} executions did not come back: {lost[0]}")
        return [finished[number] for number in range(len(requests))]


def _as_completed(client: Any, tasks: Mapping[Any, int]) -> Iterator[Any]:
    from distributed import as_completed

    yield from as_completed(list(tasks), loop=client.loop)


@contextmanager
def _client(address: str) -> Iterator[Any]:
    """A connection to a scheduler that has a worker; InputError where there is none."""
    try:
        from distributed import Client
    except ImportError:
        raise InputError("--scheduler needs Dask: pip install 'rankwork[scale]'") from None
    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # a lost worker is no news here: its work is done again
    try:
        client = Client(address, timeout=_PATIENCE, set_as_default=False)
    except (OSError, ValueError):  # OSError: also of time
        raise InputError(f"no Dask scheduler answers at {address}") from None
    with client:
        try:
            client.wait_for_workers(1, timeout=_PATIENCE)
        except OSError:
            raise InputError(f"the Dask scheduler at {address} has no workers") from None
        yield client


def pack(request: Request) -> dict[str, Any]:
    """All that an execution elsewhere needs; a file that several parameters name travels once."""
    files = sorted(set(request.inputs.values()))
    return {
        "name": request.name,
        "source": request.source,
        "values": request.values,
        "files": [(path.name, path.read_bytes()) for path in files],
        "inputs": {parameter: files.index(path) for parameter, path in request.inputs.items()},
        "commit": request.commit or environment.commit(request.folder),
        "key": request.key,
    }


def execute(packed: Mapping[str, Any], timeout: float | None) -> dict[str, bytes]:
    """What a worker does: execute a packed request in a folder of its own; the files of the record."""
    with tempfile.TemporaryDirectory(prefix="rankwork-") as name:
        folder = Path(name)
        request = _unpack(packed, folder)
        finished = runner.run([request], Store(folder / "evidence"), timeout=timeout)[0]
        return {path.name: path.read_bytes() for path in finished.path.iterdir()}


def _unpack(packed: Mapping[str, Any], folder: Path) -> Request:
    paths = []
    for number, (name, content) in enumerate(packed["files"]):
        path = folder / "files" / str(number) / Path(name).name
        path.parent.mkdir(parents=True)
        path.write_bytes(content)
        paths.append(path.resolve())
    inputs = {parameter: paths[number] for parameter, number in packed["inputs"].items()}
    values, commit = dict(packed["values"]), packed["commit"]
    return Request(packed["name"], packed["source"], values, inputs, folder, commit, packed["key"])


def receive(files: Mapping[str, bytes], request: Request, store: Store) -> Finished:
    """Store a record that came back. EvidenceError when it is not intact, or of something else than was asked."""
    record_id = digest_bytes(files.get("manifest.json", b""))
    with store.scratch(request.name) as scratch:
        folder = scratch / record_id
        folder.mkdir()
        for name, content in files.items():
            (folder / Path(name).name).write_bytes(content)
        verdict = verify(folder)
        if not verdict.intact:
            raise EvidenceError(f"a worker returned a record that is not intact: {verdict.sentence}")
        kept, asked = read_manifest(folder), runner.asked(request)[1]
        if odd := [part for part in ("source", "parameters", "inputs") if kept["recipe"][part] != asked[part]]:
            raise EvidenceError(f"a worker returned a record of another {odd[0]} than was asked")
        path = store.commit(folder, record_id)
    return Finished(kept["notebook"], record_id, path, kept["status"], kept["reason"])
