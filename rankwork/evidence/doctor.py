"""Is everything here that the workbook needs? Each finding is one sentence."""

import platform
import sys
from collections.abc import Callable
from pathlib import Path

from rankwork import environment
from rankwork.errors import EvidenceError
from rankwork.evidence.runner import check_writable
from rankwork.evidence.store import Store
from rankwork.evidence.verifying import Check

_OLDEST, _NEWEST = (3, 11), (3, 13)


def examine(store: Store) -> list[Check]:
    """All findings, in the order in which a newcomer would mend them."""
    findings: tuple[Callable[[], Check], ...] = (
        _python,
        _packages,
        _kernel,
        _device,
        lambda: _evidence(store),
        lambda: _left_over(store),
    )
    return [finding() for finding in findings]


def _python() -> Check:
    fits = _OLDEST <= sys.version_info[:2] <= _NEWEST
    return Check("Python", fits, f"{platform.python_version()}{'' if fits else '; 3.11 to 3.13 was expected'}")


def _packages() -> Check:
    needed = environment.LIBRARIES + environment.TOOLS
    found = environment.versions(needed)
    missing = [name for name in needed if name not in found]
    listed = ", ".join(f"{name} {found[name]}" for name in ("numpy", "torch", "papermill") if name in found)
    return Check(
        "packages", not missing, f"missing: {', '.join(missing)}" if missing else f"{listed} and {len(found) - 4} more"
    )


def _kernel() -> Check:
    """The kernel that notebooks run in is this environment's own."""
    folder = Path(sys.prefix) / "share" / "jupyter" / "kernels" / "python3" / "kernel.json"
    found = (
        "this environment's python3" if folder.is_file() else "no python3 kernel in this environment; install ipykernel"
    )
    return Check("kernel", folder.is_file(), found)


def _device() -> Check:
    kind = environment.device_kind()
    return Check("device", True, "cuda" if kind == "cuda" else "cpu; what needs a GPU is recorded as not run here")


def _evidence(store: Store) -> Check:
    try:
        check_writable(store)
    except EvidenceError as error:
        return Check("evidence", False, str(error))
    return Check("evidence", True, f"{store.root.name}/ can be written and holds {len(store.records())} records")


def _left_over(store: Store) -> Check:
    killed = [entry.path for entry in store.entries() if entry.status == "killed" and entry.record_id is None]
    found = (
        f"left by killed runners: {', '.join(Path(path).name for path in killed)}"
        if killed
        else "no scratch folder was left behind"
    )
    return Check("scratch", not killed, found)
