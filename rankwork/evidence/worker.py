"""One execution in a process of its own: papermill runs the notebook, then the record is put together beside it.

The runner starts `python -m rankwork.evidence.worker SCRATCH` and reads the events that it prints, a JSON text a line.
"""

import json
import os
import sys
import threading
import time
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rankwork.evidence import report, saving
from rankwork.evidence.assembly import finish, gather
from rankwork.evidence.moments import moment
from rankwork.evidence.parameters import ADDRESSES, without

_POLL = 0.5
_LONGEST_RUNTIME_DIR = 50  # a socket's path is limited to about a hundred bytes, and a kernel's name takes the rest


def main(scratch: Path) -> None:
    """Execute the job of a scratch folder and assemble its record there."""
    _end_with_parent()
    os.chdir(scratch)
    job = json.loads(Path("job.json").read_text(encoding="utf-8"))
    outcome = execute(job)
    Path("outcome.json").write_text(json.dumps(outcome), encoding="utf-8")
    gathered = gather(scratch, job, outcome)
    moment("before_digest")
    finish(gathered)
    moment("after_digest")


def execute(job: Mapping[str, Any]) -> dict[str, Any]:
    """Run the notebook of a job in the current folder; tells how it ended and how long each cell took."""
    started = time.monotonic()
    seconds: list[float] = []
    try:
        _papermill(job, started, seconds)
    except BaseException as error:  # whatever ended it becomes part of the record
        return {"ended": _ending(error), "reason": _reason(error), "cells": seconds}
    return {"ended": "returned", "reason": None, "cells": seconds}


def _papermill(job: Mapping[str, Any], started: float, seconds: list[float]) -> None:
    warnings.filterwarnings("ignore")  # of the tools' own imports; the kernel has its own filters
    with without(ADDRESSES, "pyarrow"):  # which papermill loads for a file system that nobody uses here
        import papermill
    from traitlets.config import Config

    saving.install()
    threading.Thread(target=report.prepare, daemon=True).start()  # while the kernel starts
    moment("before_kernel")
    begun: list[float] = []

    def cell_starts(cell: Any, cell_index: int) -> None:
        begun.append(time.monotonic())
        print(json.dumps({"cell": cell_index, "of": job["of"]}), flush=True)

    def cell_ends(cell: Any, cell_index: int, **_: Any) -> None:
        if len(begun) > len(seconds):
            seconds.append(round(time.monotonic() - begun[-1], 3))

    papermill.execute_notebook(
        "input.ipynb",
        f"{saving.SCHEME}output.ipynb",
        engine_name=saving.ENGINE,
        parameters=job["parameters"],
        kernel_name="python3",
        language="python",
        cwd="work",
        progress_bar=False,
        coalesce_streams=True,
        record_timing=False,
        store_widget_state=False,
        on_cell_execute=cell_starts,
        on_cell_executed=cell_ends,
        timeout_func=lambda cell: (
            max(1, round(job["timeout"] - (time.monotonic() - started))) if job["timeout"] else None
        ),
        config=Config(
            {
                "KernelManager": {"transport_encryption": "auto", "transport": _transport()},
                "NotebookClient": {"shutdown_kernel": "immediate"},  # large libraries take a second or two to leave
            }
        ),
    )


def _transport() -> str:
    """Sockets in the file system where their names fit: two kernels that start at once can choose the same TCP port."""
    return "ipc" if len(os.environ["JUPYTER_RUNTIME_DIR"]) <= _LONGEST_RUNTIME_DIR else "tcp"


def _ending(error: BaseException) -> str:
    names = {kind.__name__ for kind in type(error).__mro__}
    for name, ending in (
        ("DeadKernelError", "kernel_died"),
        ("CellTimeoutError", "timeout"),
        ("KeyboardInterrupt", "killed"),
    ):
        if name in names:
            return ending
    return "failed"


def _reason(error: BaseException) -> dict[str, Any]:
    """What stopped the notebook: for a cell that raised, its own error and its place."""
    return {
        "type": getattr(error, "ename", type(error).__name__),
        "message": getattr(error, "evalue", str(error)).partition("\n")[0],
        "cell": getattr(error, "cell_index", None),
    }


def _end_with_parent() -> None:
    """Watch the runner from a thread: without it, the kernel and this process end."""
    parent = os.getppid()

    def watch() -> None:
        import psutil

        while os.getppid() == parent:
            time.sleep(_POLL)
        for child in psutil.Process().children(recursive=True):
            child.kill()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
