"""The evidence folder: records under their IDs, executions in progress in a scratch folder beside them.

A record appears in one rename and is never changed. A scratch folder is held by a file lock while its runner lives; one
whose lock is free was left by a runner that was killed.
"""

import fcntl
import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from filelock import FileLock

from rankwork.errors import EvidenceError
from rankwork.evidence import catalogue
from rankwork.evidence.moments import moment
from rankwork.evidence.tags import Tags

SCRATCH = ".scratch"
LOCK = "lock"
_ID_LENGTH = 64


@dataclass(frozen=True)
class Entry:
    """One line of a listing: a record, or an execution that has none (yet)."""

    record_id: str | None
    notebook: str
    status: str
    recipe_digest: str | None
    result_digest: str | None
    started: str
    path: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    tags: tuple[str, ...] = ()
    seconds: float | None = None


class Store:
    """The records below one folder.

    Reading needs no permission to write and makes no folder; `scratch` and `commit` refuse, with the reason, a folder
    that cannot be written.
    """

    def __init__(self, root: Path) -> None:
        self.root = root

    def entries(self) -> list[Entry]:
        """All records and executions in progress, oldest first."""
        return sorted([*self._stored(), *self._in_progress()], key=lambda entry: (entry.started, entry.path))

    def entry(self, folder: Path) -> Entry:
        """A record as its own manifest tells it, whatever the index says."""
        facts = catalogue.facts(read_manifest(folder, missing_ok=True))
        return Entry(record_id=folder.name, path=str(folder), **facts)

    def find(self, prefix: str) -> Path:
        """The folder of the record whose ID begins with `prefix`; EvidenceError for none or several."""
        matches = sorted(folder for folder in self._folders() if folder.name.startswith(prefix))
        if not prefix or not matches:
            raise EvidenceError(f"no record {prefix!r} in {self.root.name}/")
        if len(matches) > 1:
            listed = ", ".join(folder.name[: len(prefix) + 8] for folder in matches[:5])
            raise EvidenceError(f"{prefix!r} begins {len(matches)} record IDs: {listed}{', ...' * (len(matches) > 5)}")
        return matches[0]

    def records(self) -> list[Path]:
        """The folders of all records, in the order of their IDs."""
        return sorted(self._folders())

    @contextmanager
    def scratch(self, notebook: str) -> Iterator[Path]:
        """A new folder for one execution, locked while it is in use and removed afterwards."""
        folder, lock = self._new_scratch(notebook)
        try:
            yield folder
        finally:
            _remove(folder)
            lock.release()

    def _new_scratch(self, notebook: str) -> tuple[Path, FileLock]:
        try:
            (self.root / SCRATCH).mkdir(parents=True, exist_ok=True)
            with self.scratch_lock():  # until its own lock is held, it looks like one that was left behind
                folder = Path(tempfile.mkdtemp(prefix=f"{notebook}-", dir=self.root / SCRATCH)).resolve()
                lock = FileLock(folder / LOCK)
                lock.acquire()
        except OSError as error:
            raise EvidenceError(f"{self.root}: the evidence folder cannot be written: {error.strerror}") from None
        return folder, lock

    def scratch_lock(self) -> FileLock:
        """Held while a scratch folder is made, and while one that was left behind is removed."""
        return FileLock(self.root / SCRATCH / LOCK)

    def commit(self, folder: Path, record_id: str) -> Path:
        """Make a finished folder a record, in one rename, after its bytes have reached the disk."""
        for path in folder.iterdir():
            _flush(path)
        _flush(folder)
        target = self.root / record_id
        try:
            moment("before_rename")
            os.rename(folder, target)
        except OSError as error:
            raise EvidenceError(f"record {record_id[:12]} cannot be stored: {error.strerror}") from None
        moment("after_rename")
        _flush(self.root)
        return target

    def _folders(self) -> Iterator[Path]:
        if self.root.is_dir():
            for entry in os.scandir(self.root):
                if len(entry.name) == _ID_LENGTH and entry.is_dir():
                    yield Path(entry.path)

    def _stored(self) -> Iterator[Entry]:
        tags = Tags(self.root).read()
        for folder, facts in catalogue.listed(self.root, self._folders()).items():
            yield Entry(record_id=folder.name, path=str(folder), tags=tags.get(folder.name, ()), **facts)

    def _in_progress(self) -> Iterator[Entry]:
        for folder in sorted((self.root / SCRATCH).glob("*-*")):
            locked, job = _is_locked(folder / LOCK), _read_json(folder / "job.json")
            if not folder.exists():  # it has just been removed
                continue
            yield Entry(
                record_id=None,
                notebook=folder.name.rpartition("-")[0],
                status="running" if locked else "killed",
                recipe_digest=job.get("recipe_digest"),
                result_digest=None,
                started=job.get("started") or _last_change(folder),
                path=str(folder),
                parameters=job.get("parameters", {}),
            )


def read_manifest(folder: Path, *, missing_ok: bool = False) -> dict[str, Any]:
    """The manifest of a record; EvidenceError when it cannot be read, unless `missing_ok`: then an empty one."""
    manifest = _read_json(folder / "manifest.json")
    if not manifest and not missing_ok:
        raise EvidenceError(f"record {folder.name[:12]}: manifest.json cannot be read")
    return manifest


def _read_json(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


def _last_change(folder: Path) -> str:
    try:
        changed = folder.stat().st_mtime
    except OSError:  # it has just been removed
        return ""
    return datetime.fromtimestamp(changed, UTC).isoformat(timespec="seconds")


def _is_locked(path: Path) -> bool:
    """Whether somebody holds the lock. A look makes nothing: FileLock would make a file in a folder being removed."""
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError as error:
        return not isinstance(error, FileNotFoundError)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False


def _remove(folder: Path) -> None:
    """Remove a scratch folder, its lock last: until then it is seen to be in use."""
    with suppress(OSError):
        for path in folder.iterdir():
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path, ignore_errors=True)
            elif path.name != LOCK:
                path.unlink(missing_ok=True)
    shutil.rmtree(folder, ignore_errors=True)


def _flush(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
