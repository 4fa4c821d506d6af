"""Worker processes: started in a session of their own, followed to their end, and ended with all that they started."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rankwork.evidence import tokens
from rankwork.evidence.privacy import PLACES_VARIABLE, SCRATCH_VARIABLE

Progress = Callable[[str, int, int], None]
"""Called with a notebook's name, the number of the cell that starts, and how many cells there are."""

_GRACE = 10.0


@dataclass
class Workers:
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

    def supervise(self, scratch: Path, job: Mapping[str, Any], progress: Progress | None) -> dict[str, Any] | None:
        """Start the worker of a scratch folder and wait for it.

        None when it put the record together itself, else how it ended.
        """
        started = time.monotonic()
        with (scratch / "worker.log").open("wb") as log, tempfile.TemporaryDirectory(prefix="rw-") as runtime:
            process = subprocess.Popen(
                [sys.executable, "-m", "rankwork.evidence.worker", str(scratch)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                env=_variables(scratch, runtime, job),
                start_new_session=True,
            )
            self._add(process)
            try:
                code = _follow(process, job, progress)
            finally:
                self._remove(process)
        return self._ending(code, job["timeout"], time.monotonic() - started)

    def _add(self, process: subprocess.Popen[str]) -> None:
        with self.lock:
            self.alive[process.pid] = process
            if self.interrupted:
                process.send_signal(signal.SIGINT)

    def _remove(self, process: subprocess.Popen[str]) -> None:
        with self.lock:
            self.alive.pop(process.pid, None)

    def _ending(self, code: int, timeout: float | None, seconds: float) -> dict[str, Any] | None:
        if code == 0:
            return None
        if self.interrupted:
            return killed("interrupted")
        if timeout and code == -signal.SIGKILL and seconds >= timeout + _GRACE:
            return {"ended": "timeout", "reason": _reason("Timeout", f"not finished after {timeout:g} s"), "cells": []}
        return killed(f"the worker ended with code {code}")


def killed(message: str) -> dict[str, Any]:
    """How an execution ended whose worker did not live to say so."""
    return {"ended": "killed", "reason": _reason("Killed", message), "cells": []}


def _reason(kind: str, message: str) -> dict[str, Any]:
    return {"type": kind, "message": message, "cell": None}


def _follow(process: subprocess.Popen[str], job: Mapping[str, Any], progress: Progress | None) -> int:
    """Read the worker's events to their end; its exit code. What it leaves alive is ended."""
    assert process.stdout is not None  # it was opened as a pipe
    family: dict[int, Any] = {}
    limit = threading.Timer(job["timeout"] + _GRACE, process.kill) if job["timeout"] else None
    if limit:
        limit.start()
    for line in process.stdout:
        _remember_children(process.pid, family)
        if progress and (event := _event(line)):
            progress(job["notebook"], event["cell"] + 1, event["of"])
    code = process.wait()
    if limit:
        limit.cancel()
    _end(family)
    return code


def _event(line: str) -> dict[str, Any] | None:
    try:
        event = json.loads(line)
    except ValueError:
        return None
    return event if isinstance(event, dict) and {"cell", "of"} <= set(event) else None


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


def _variables(scratch: Path, runtime: str, job: Mapping[str, Any]) -> dict[str, str]:
    """The worker's environment: nobody else's kernels, a fixed hash seed and time zone, folders of its own.

    The key of keyed digests is there only where it is needed. Temporary files go where the runner removes them: a
    kernel that is ended at once cannot tidy up.
    """
    foreign = ("JUPYTER_PATH", "PYTHONSTARTUP", "MPLBACKEND", tokens.MODE, tokens.KEY, tokens.KEY_FILE)
    kept = {name: value for name, value in os.environ.items() if name not in foreign}
    private = job["recipe"].get("privacy")
    return kept | {
        "JUPYTER_PREFER_ENV_PATH": "1",
        "JUPYTER_RUNTIME_DIR": runtime,
        "PYTHONHASHSEED": "0",
        "TMPDIR": _temporary(runtime),
        "TZ": "UTC",
        SCRATCH_VARIABLE: str(scratch),
        PLACES_VARIABLE: json.dumps(job["places"]),
        **({tokens.MODE: "digest", tokens.KEY: tokens.from_environment().key} if private else {}),
    }


def _temporary(runtime: str) -> str:
    folder = os.path.join(runtime, "t")
    os.mkdir(folder, 0o700)
    return folder
