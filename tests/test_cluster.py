"""A sweep on a Dask cluster brings every record home, also when a worker is lost in the middle."""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rankwork.errors import EvidenceError, InputError
from rankwork.evidence import cluster, runner
from rankwork.evidence.store import Store, read_manifest
from rankwork.evidence.verifying import verify
from tests.workbooks import SCHEMA, rankwork, workbook

distributed = pytest.importorskip("distributed", reason="the scale extra is not installed")

STEP = """\
import time
from pathlib import Path
from rankwork import record
time.sleep(1)
record("k", k)
record("text", Path(name).read_text())"""
WITH_FILE = {**SCHEMA, "properties": {**SCHEMA["properties"], "name": {"type": "string", "format": "input"}}}


def _start(*arguments: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "distributed.cli." + arguments[0], *arguments[1:]]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


@pytest.fixture
def scheduler(tmp_path: Path) -> Iterator[str]:
    """The address of a real scheduler, in a process of its own."""
    about = tmp_path / "scheduler.json"
    process = _start(
        "dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(about)
    )
    try:
        _wait_until(lambda: about.is_file() and about.stat().st_size > 0)
        yield json.loads(about.read_text())["address"]
    finally:
        process.kill()
        process.wait()


@pytest.fixture
def workers(scheduler: str, tmp_path: Path) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Two real workers without a nanny: one that is killed does not come back."""
    options = ("--no-nanny", "--no-dashboard", "--nthreads", "1", "--local-directory", str(tmp_path / "dask"))
    started = [_start("dask_worker", scheduler, "--host", "127.0.0.1", *options) for _ in range(2)]
    try:
        with distributed.Client(scheduler, set_as_default=False) as client:
            client.wait_for_workers(2, timeout=60)
        yield started
    finally:
        for process in started:
            process.kill()
            process.wait()


def _wait_until(condition: Any, seconds: float = 60) -> None:
    limit = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < limit, "waited in vain"
        time.sleep(0.1)


def test_every_record_comes_home_though_a_worker_is_killed_in_the_middle(
    scheduler: str, workers: list[subprocess.Popen[bytes]], tmp_path: Path
) -> None:
    workbook(tmp_path / "book", STEP, schema=WITH_FILE)
    (tmp_path / "book" / "data.txt").write_text("the same for all")
    (tmp_path / "book" / "grid.yaml").write_text("name: data.txt\ngrid:\n  k: [1, 2, 3, 4, 5, 6]\n")
    command = [sys.executable, "-m", "rankwork.cli", "run", "00", "--sweep", "grid.yaml", "--scheduler", scheduler]
    run = subprocess.Popen([*command, "--json"], cwd=tmp_path / "book", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    store = Store(tmp_path / "book" / "evidence")
    _wait_until(lambda: len(store.records()) >= 2, 120)
    workers[0].kill()
    assert len(store.records()) < 6, "it was killed in the middle"
    out, errors = run.communicate(timeout=240)
    assert run.returncode == 0, errors.decode()
    *each, over = json.loads(out)
    assert [read_manifest(Path(item["path"]))["recipe"]["parameters"]["k"] for item in each] == [1, 2, 3, 4, 5, 6]
    assert all(verify(Path(item["path"])) for item in (*each, over))
    assert json.loads((Path(each[0]["path"]) / "results.json").read_text())["text"]["value"] == "the same for all"
    assert len(store.records()) == 7
    again = rankwork(*command[3:], "--json", folder=tmp_path / "book")
    assert json.loads(again.stdout) == [*each, over], "what is stored is not run again"


def test_a_packed_request_is_the_same_request_elsewhere(tmp_path: Path) -> None:
    """Also where two parameters name one file, and two files have one name."""
    schema = {"type": "object", "properties": {n: {"type": "string", "format": "input"} for n in "abc"}}
    path = workbook(tmp_path, "print(a)", schema=schema, parameters="a = ''\nb = ''\nc = ''")
    for part in ("one", "two"):
        (tmp_path / part).mkdir()
        (tmp_path / part / "x.txt").write_text(part)
    named = tuple(f"{name}={tmp_path / part / 'x.txt'}" for name, part in (("a", "one"), ("b", "two"), ("c", "one")))
    request = runner.prepare(path, assignments=named)
    elsewhere = cluster._unpack(cluster.pack(request), tmp_path / "elsewhere")
    assert runner.asked(elsewhere) == runner.asked(request)
    assert elsewhere.inputs["a"] == elsewhere.inputs["c"] != elsewhere.inputs["b"]


@pytest.fixture
def answer(complete_record: Path) -> tuple[dict[str, bytes], runner.Request]:
    """What a worker would return, and the request that it answers."""
    request = runner.prepare(complete_record.parents[1] / "notebooks" / "00_small.ipynb")
    return {path.name: path.read_bytes() for path in complete_record.iterdir()}, request


def test_a_record_that_came_back_is_stored_as_it_was(
    answer: tuple[dict[str, bytes], runner.Request], complete_record: Path, tmp_path: Path
) -> None:
    finished = cluster.receive(*answer, Store(tmp_path))
    assert finished.record_id == complete_record.name
    assert verify(finished.path)


@pytest.mark.parametrize("name", ["manifest.json", "results.json", "notebook.ipynb", "report.html", "source.ipynb"])
def test_a_record_that_was_changed_on_its_way_is_refused(
    answer: tuple[dict[str, bytes], runner.Request], name: str, tmp_path: Path
) -> None:
    files, request = answer
    damaged = {**files, name: files[name].replace(b"complete", b"comp1ete", 1) + b" "}
    if name == "manifest.json":
        damaged = {**damaged, "../../outside": b"x"}
    with pytest.raises(EvidenceError, match="not intact"):
        cluster.receive(damaged, request, Store(tmp_path / "evidence"))
    assert Store(tmp_path / "evidence").entries() == []
    assert not (tmp_path / "outside").exists()


def test_a_record_without_a_manifest_is_refused(
    answer: tuple[dict[str, bytes], runner.Request], tmp_path: Path
) -> None:
    with pytest.raises(EvidenceError, match=r"manifest\.json cannot be read"):
        cluster.receive({}, answer[1], Store(tmp_path))


def test_a_record_of_something_else_is_refused(answer: tuple[dict[str, bytes], runner.Request], tmp_path: Path) -> None:
    files, request = answer
    with pytest.raises(EvidenceError, match="a record of another parameters than was asked"):
        cluster.receive(files, replace(request, values={"k": 4, "name": ""}), Store(tmp_path))
    assert Store(tmp_path).entries() == []


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:9", "nonsense://x", "127.0.0.1"])
def test_an_address_where_no_scheduler_answers_is_refused(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster, "_PATIENCE", 1)
    with pytest.raises(InputError, match=f"no Dask scheduler answers at {address}"):
        cluster.Cluster(address, Store(tmp_path)).surroundings()


def test_a_scheduler_without_workers_is_refused(
    scheduler: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster, "_PATIENCE", 3)
    with pytest.raises(InputError, match="has no workers"):
        cluster.Cluster(scheduler, Store(tmp_path)).surroundings()


def test_a_missing_dask_is_named_with_the_way_to_install_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(InputError, match=r"--scheduler needs Dask: pip install 'rankwork\[scale\]'"):
        cluster.Cluster("tcp://127.0.0.1:9", Store(tmp_path)).surroundings()


def test_an_execution_that_cannot_be_done_there_is_named_and_the_others_are_kept(
    scheduler: str, workers: list[subprocess.Popen[bytes]], tmp_path: Path
) -> None:
    path = workbook(tmp_path / "book", "print(k)")
    good, bad = (runner.prepare(path, assignments=(f"k={k}",)) for k in (1, 2))
    store = Store(tmp_path / "evidence")
    seen: list[runner.Finished] = []
    with pytest.raises(EvidenceError, match="1 of 2 executions did not come back: "):
        cluster.Cluster(scheduler, store).execute([good, replace(bad, source=b"{")], seen.append)
    assert [item.record_id for item in seen] == [folder.name for folder in store.records()]
    assert len(seen) == 1
