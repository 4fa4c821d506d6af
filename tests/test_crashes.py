"""Whatever ends an execution, and wherever: nothing stored is lost, and nothing looks complete that is not.

Processes are killed at eight named moments: alone, where the process that passes the moment dies, and all at once, as
when the machine goes down. Then the disk: full, unwritable; and several runners at once.
"""

import contextlib
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from rankwork.errors import EvidenceError
from rankwork.evidence.moments import MOMENTS, VARIABLE, parse
from rankwork.evidence.store import Entry, Store, read_manifest
from rankwork.evidence.verifying import verify
from tests.workbooks import rankwork, workbook

SOURCE = "from rankwork import record\nrecord('k', k)\nprint('shown')"
RUN = [sys.executable, "-m", "rankwork.cli", "run", "00"]

# What is left when the process that passes a moment is killed there: the status, and what was recorded.
ALONE = {
    "before_kernel": ("killed", []),
    "in_cell": ("kernel_died", []),
    "in_last_cell": ("kernel_died", ["k"]),
    "while_writing": ("killed", []),
    "before_digest": ("killed", ["k"]),
    "after_digest": ("complete", ["k"]),
    "before_rename": (None, []),
    "after_rename": ("complete", ["k"]),
}


@pytest.fixture
def book(tmp_path: Path, complete_record: Path) -> Path:
    """A workbook whose store holds one complete record already."""
    workbook(tmp_path, SOURCE)
    shutil.copytree(complete_record, tmp_path / "evidence" / complete_record.name)
    return tmp_path


def new(book: Path, before: Path) -> tuple[list[Entry], list[Entry]]:
    """The records and the scratch folders that a crash left; the record from before is still there and verifies."""
    assert verify(book / "evidence" / before.name)
    entries = [entry for entry in Store(book / "evidence").entries() if entry.record_id != before.name]
    for entry in entries:
        if entry.record_id:
            verdict = verify(Path(entry.path))
            assert verdict.intact, verdict.sentence
            assert bool(verdict) is (entry.status == "complete")
    return [entry for entry in entries if entry.record_id], [entry for entry in entries if not entry.record_id]


def wait_until(condition: Callable[[], Any], seconds: float = 60) -> None:
    limit = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < limit, "waited in vain"
        time.sleep(0.05)


def family(process: subprocess.Popen[Any]) -> list[psutil.Process]:
    return [psutil.Process(process.pid), *psutil.Process(process.pid).children(recursive=True)]


def alive(processes: list[psutil.Process]) -> list[psutil.Process]:
    return [p for p in processes if p.is_running() and not _is_dead(p)]


def _is_dead(process: psutil.Process) -> bool:
    try:
        return bool(process.status() == psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return True


def halted(moment: str, book: Path) -> tuple[subprocess.Popen[Any], list[psutil.Process]]:
    """A run that has come to a moment, where the process that passes it stands still; the run and its family."""
    process = subprocess.Popen(RUN, cwd=book, env=os.environ | {VARIABLE: f"{moment}:SIGSTOP"}, stdout=subprocess.PIPE)
    wait_until(lambda: any(map(stands_still, family(process))))
    return process, family(process)


def stands_still(process: psutil.Process) -> bool:
    try:
        return bool(process.status() == psutil.STATUS_STOPPED)
    except psutil.NoSuchProcess:  # one that asked git, for instance, and has ended
        return False


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_process_killed_at_a_moment_leaves_what_the_table_says(
    moment: str, book: Path, complete_record: Path
) -> None:
    done = rankwork("run", "00", folder=book, environment=os.environ | {VARIABLE: moment})
    status, names = ALONE[moment]
    records, left = new(book, complete_record)
    in_the_runner = moment in ("before_rename", "after_rename")
    assert [entry.status for entry in records] == ([status] if status else [])
    for entry in records:
        assert [result["name"] for result in read_manifest(Path(entry.path))["results"]] == names
    assert [entry.status for entry in left] == (["killed"] if in_the_runner else [])
    assert done.returncode == (-signal.SIGKILL if in_the_runner else 0 if status == "complete" else 1)


@pytest.mark.parametrize("moment", MOMENTS)
def test_all_processes_killed_at_a_moment_leave_a_record_only_after_the_rename(
    moment: str, book: Path, complete_record: Path
) -> None:
    process, members = halted(moment, book)
    for member in members:
        with contextlib.suppress(psutil.NoSuchProcess):
            member.kill()
    process.communicate()
    wait_until(lambda: not alive(members))
    records, left = new(book, complete_record)
    assert [entry.status for entry in records] == (["complete"] if moment == "after_rename" else [])
    assert [entry.status for entry in left] == ["killed"]
    assert rankwork("run", "00", folder=book).returncode == 0, "the next run is not in its way"
    assert rankwork("prune", "--scratch", "--yes", folder=book).returncode == 0
    records, left = new(book, complete_record)
    assert (len(records), left) == (1 + (moment == "after_rename"), [])


@pytest.mark.parametrize("moment", ["before_kernel", "in_cell", "in_last_cell", "before_digest"])
def test_worker_and_kernel_end_with_their_runner(moment: str, book: Path) -> None:
    process, members = halted(moment, book)
    process.kill()
    process.communicate()
    for member in members:
        if stands_still(member):
            member.send_signal(signal.SIGCONT)
    wait_until(lambda: not alive(members), 20)
    assert [entry.status for entry in Store(book / "evidence").entries() if not entry.record_id] == ["killed"]


def test_the_notebook_as_last_saved_outlives_a_worker_killed_while_it_writes(book: Path) -> None:
    """The file that papermill writes is never the one that is read."""
    stopper = "import os, time, psutil\ntime.sleep(1)\npsutil.Process().parent().kill()\ntime.sleep(60)"
    workbook(book, SOURCE, stopper, name="01_stopped")
    done = rankwork("run", "01", "--json", folder=book)
    item = json.loads(done.stdout)[0]
    assert item["status"] == "killed"
    assert "shown" in (Path(item["path"]) / "notebook.ipynb").read_text()
    assert json.loads((Path(item["path"]) / "results.json").read_text())["k"]["value"] == 3


@pytest.mark.parametrize("asked", ["somewhere", "in_cell:SIGNONE", ":SIGKILL"])
def test_a_crash_that_cannot_be_asked_for_is_refused(asked: str) -> None:
    with pytest.raises(EvidenceError, match=VARIABLE):
        parse(asked)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """An evidence folder on a disk of its own, of two megabytes."""
    folder = tmp_path / "evidence"
    folder.mkdir()
    if os.geteuid() != 0:
        pytest.skip("only root can mount a small disk")
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(folder)], capture_output=True)
    if mounted.returncode != 0:
        pytest.skip(f"no small disk can be mounted here: {mounted.stderr.decode().strip()}")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


@pytest.mark.parametrize("free", [0, 16, 64, 200])
def test_a_full_disk_ends_in_one_sentence_and_leaves_what_was_stored(
    free: int, small_disk: Path, tmp_path: Path, complete_record: Path
) -> None:
    """From a disk without a free byte to one on which only the report finds no room (kilobytes)."""
    workbook(tmp_path, SOURCE)
    shutil.copytree(complete_record, small_disk / complete_record.name)
    room = shutil.disk_usage(small_disk).free - free * 1024
    (small_disk / "filler").write_bytes(b"x" * room)
    done = rankwork("run", "00", folder=tmp_path)
    assert done.returncode == 2, done.stdout
    assert "No space left on device" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert new(tmp_path, complete_record) == ([], [])
    (small_disk / "filler").unlink()
    assert rankwork("run", "00", folder=tmp_path).returncode == 0


def test_a_file_that_may_not_grow_ends_in_one_sentence(book: Path, complete_record: Path) -> None:
    """A quota, as everybody can set one: no file above 100,000 bytes."""
    done = subprocess.run(
        RUN,
        cwd=book,
        capture_output=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000)),
        timeout=120,
    )
    assert (done.returncode, done.stderr) == (2, "error: 00_small: no record could be written: File too large\n")
    assert new(book, complete_record) == ([], [])


def test_a_read_only_store_is_read_and_refuses_the_rest(
    small_disk: Path, tmp_path: Path, complete_record: Path
) -> None:
    workbook(tmp_path, SOURCE)
    shutil.copytree(complete_record, small_disk / complete_record.name)
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    name = complete_record.name[:12]
    assert name in rankwork("list", folder=tmp_path).stdout
    assert rankwork("verify", "--all", folder=tmp_path).returncode == 0
    for arguments in (("run", "00"), ("tag", name, "x"), ("prune", "--status", "complete", "--yes")):
        done = rankwork(*arguments, folder=tmp_path)
        assert done.returncode == 2
        assert "Read-only file system" in done.stderr
        assert len(done.stderr.splitlines()) == 1
    assert new(tmp_path, complete_record) == ([], [])


@pytest.mark.parametrize("count", [2, 8])
def test_runners_on_one_recipe_at_once_store_a_record_each(count: int, book: Path, complete_record: Path) -> None:
    processes = [subprocess.Popen(RUN, cwd=book, stdout=subprocess.DEVNULL) for _ in range(count)]
    assert [process.wait(240) for process in processes] == [0] * count
    records, left = new(book, complete_record)
    assert [entry.status for entry in records] == ["complete"] * count
    assert len({entry.recipe_digest for entry in records}) == 1
    assert len({entry.result_digest for entry in records}) == 1
    assert left == []
