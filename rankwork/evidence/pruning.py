"""Removing records and what killed runners left: chosen first, shown, and removed only when that is asked for.

Tagged records and executions that are running are never removed.
"""

import os
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock, Timeout

from rankwork.errors import EvidenceError, InputError
from rankwork.evidence.selecting import Selection
from rankwork.evidence.store import LOCK, SCRATCH, Entry, Store
from rankwork.evidence.tags import Tags


@dataclass(frozen=True)
class Plan:
    """What a selection would remove, and what it meets but the tags protect."""

    doomed: tuple[Entry, ...]
    protected: tuple[Entry, ...]

    @property
    def size(self) -> int:
        """The bytes that would be freed; links count as links."""
        return sum(_size(Path(entry.path)) for entry in self.doomed)


def plan(store: Store, selection: Selection) -> Plan:
    """What would be removed. InputError for a selection that asks for nothing or for what is running."""
    if not selection:
        raise InputError("say what to prune: --status, --before, --notebook, -p, --tag or --scratch")
    if "running" in selection.statuses:
        raise InputError("an execution that is running is not pruned")
    met = [entry for entry in store.entries() if selection.meets(entry) and entry.status != "running"]
    return Plan(tuple(e for e in met if not e.tags), tuple(e for e in met if e.tags))


def prune(store: Store, selection: Selection) -> list[Entry]:
    """Remove what the plan says, looking again at each; those that were removed."""
    try:
        return _prune(store, selection)
    except OSError as error:
        raise EvidenceError(f"{store.root}: cannot be pruned: {error.strerror}") from None


def _prune(store: Store, selection: Selection) -> list[Entry]:
    doomed = plan(store, selection).doomed
    removed = []
    with Tags(store.root).held() as tags:
        for entry in doomed:
            if entry.record_id in tags:
                continue
            if entry.record_id is None:
                gone = _remove_scratch(store, Path(entry.path))
            else:
                gone = selection.meets(store.entry(Path(entry.path))) and _remove(store, Path(entry.path))
            removed += [entry] if gone else []
    return removed


def _remove(store: Store, folder: Path) -> bool:
    """Take a folder out of sight in one step, then remove it: no half of it is ever listed as a record."""
    (store.root / SCRATCH).mkdir(exist_ok=True)
    hidden = Path(tempfile.mkdtemp(prefix="pruned-", dir=store.root / SCRATCH))
    try:
        os.rename(folder, hidden / "record")
    except FileNotFoundError:  # somebody else was faster
        return False
    finally:
        shutil.rmtree(hidden, ignore_errors=True)
    return True


def _remove_scratch(store: Store, folder: Path) -> bool:
    with store.scratch_lock():
        if not folder.is_dir():
            return False
        try:
            with FileLock(folder / LOCK, timeout=0):
                shutil.rmtree(folder, ignore_errors=True)
        except Timeout:
            return False
        return True


def _size(folder: Path) -> int:
    return sum(path.lstat().st_size for path in folder.rglob("*"))
