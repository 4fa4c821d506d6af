"""A sweep leaves one record for each combination of its grid, runs none twice, and one record over them all."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from rankwork.errors import ParameterError
from rankwork.evidence import manifest, parameters, runner, sweeping
from rankwork.evidence.runner import Finished, Request
from rankwork.evidence.store import Store, read_manifest
from rankwork.evidence.verifying import verify
from tests.workbooks import rankwork, workbook

SQUARE = (
    "from rankwork import record\nrecord('square', k * k)\nrecord('name', name)\nrecord('took', 0.5, measured=True)"
)


@pytest.fixture
def book(tmp_path: Path) -> Path:
    """A workbook whose notebook squares its parameter."""
    return workbook(tmp_path, SQUARE)


def grid_file(folder: Path, text: str) -> Path:
    path = folder / "grid.yaml"
    path.write_text(text)
    return path


class Nowhere:
    """A place that executes nothing and notes what it was asked for."""

    def __init__(self) -> None:
        self.asked: list[Request] = []

    def surroundings(self) -> dict[str, Any]:
        return manifest.surroundings()

    def execute(self, requests: Sequence[Request], stored: Any) -> list[Finished]:
        self.asked = list(requests)
        return [Finished("x", "0", Path(), "complete", None) for _ in requests]


def test_a_grid_is_all_combinations_with_the_values_that_stay(tmp_path: Path) -> None:
    grid = sweeping.load_grid(grid_file(tmp_path, "name: x\ngrid:\n  k: [1, 2]\n  b: [true, no]\n"))
    assert grid.fixed == {"name": "x"}
    assert [(c["k"], c["b"], c["name"]) for c in grid.combinations] == [
        (1, True, "x"), (1, "no", "x"), (2, True, "x"), (2, "no", "x"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("k: 3\n", r"grid\.yaml: 'grid:' with a list of values for each of its names was expected"),
        ("grid: [1]\n", "'grid:' with a list"),
        ("grid: {}\n", "'grid:' with a list"),
        ("grid:\n  k: 3\n", "grid: k must be a list of values, got 3"),
        ("grid:\n  k: []\n", r"grid: k must be a list of values, got \[\]"),
        ("k: 1\ngrid:\n  k: [1, 2]\n", "k stands in the grid and beside it"),
        ("grid:\n  k: [1, 2, 1]\n", "grid: k names 1 twice"),
        (f"grid:\n  k: {list(range(101))}\n  j: {list(range(100))}\n", "10100 combinations, at most 10000"),
    ],
)
def test_a_file_that_is_no_grid_of_lists_is_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        sweeping.load_grid(grid_file(tmp_path, text))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("grid:\n  k: [1, 10]\n", "k: must be at most 9, got 10"),
        ("grid:\n  k: [1, one]\n", "k: must be of type integer, got 'one'"),
        ("grid:\n  other: [1]\n", "unknown parameter 'other'"),
        ("grid:\n  api_token: [a]\n", "looks like a secret"),
    ],
)
def test_every_combination_is_checked_before_anything_runs(book: Path, text: str, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        sweeping.prepare(book, grid_file(book.parent, text))


def test_a_value_on_the_command_line_holds_for_all_and_cannot_stand_in_the_grid(book: Path) -> None:
    path = grid_file(book.parent, "grid:\n  k: [1, 2]\n")
    sweep = sweeping.prepare(book, path, ("name=x",))
    assert [request.values for request in sweep.requests] == [{"k": 1, "name": "x"}, {"k": 2, "name": "x"}]
    with pytest.raises(ParameterError, match=r"-p k: k stands in the grid of grid\.yaml"):
        sweeping.prepare(book, path, ("k=3",))


def test_two_values_that_become_the_same_are_refused(tmp_path: Path) -> None:
    schema = {"type": "object", "properties": {"x": {"type": "number"}}}
    path = workbook(tmp_path, "print(x)", schema=schema, parameters="x = 0.5")
    with pytest.raises(ParameterError, match="two combinations of the grid are the same values"):
        sweeping.prepare(path, grid_file(tmp_path, "grid:\n  x: [1, 1.0]\n"))


def test_a_grid_given_as_parameters_is_refused(book: Path) -> None:
    path = grid_file(book.parent, "grid:\n  k: [1, 2]\n")
    with pytest.raises(ParameterError, match=r"grid\.yaml holds a grid: run it with --sweep"):
        runner.prepare(book, chosen=str(path))


def test_a_sweep_is_a_record_for_each_combination_and_one_over_them_and_is_not_run_twice(book: Path) -> None:
    folder = book.parents[1]
    grid_file(folder, "name: n\ngrid:\n  k: [1, 2, 3]\n")
    done = rankwork("run", "00", "--sweep", "grid.yaml", "--jobs", "2", "--json", folder=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == "", "progress is for terminals"
    *each, over = json.loads(done.stdout)
    assert [read_manifest(Path(item["path"]))["recipe"]["parameters"]["k"] for item in each] == [1, 2, 3]
    assert over["notebook"] == "sweep"
    assert all(item["verified"] for item in (*each, over))
    table = json.loads((Path(over["path"]) / "results.json").read_text())["sweep"]["value"]
    assert table["columns"] == ["k", "status", "square", "recipe", "result"]
    assert table["data"]["square"] == [1, 4, 9]
    assert "image/png" in (Path(over["path"]) / "notebook.ipynb").read_text()
    again = rankwork("run", "00", "--sweep", "grid.yaml", "--json", folder=folder)
    assert json.loads(again.stdout) == json.loads(done.stdout)
    assert len(Store(folder / "evidence").records()) == 4


def test_what_is_stored_complete_and_intact_is_not_asked_for_again(book: Path) -> None:
    store = Store(book.parents[1] / "evidence")
    sweep = sweeping.prepare(book, grid_file(book.parent, "grid:\n  k: [1, 2]\n"))
    stored = runner.run([sweep.requests[1]], store)[0]
    nowhere, seen = Nowhere(), []
    found = sweeping.run(sweep, store, nowhere, lambda done, total: seen.append((done, total)))
    assert nowhere.asked == [sweep.requests[0]]
    assert found[1] == stored
    assert seen == [(1, 2)]
    (stored.path / "results.json").write_text("{}")
    assert not verify(stored.path)
    sweeping.run(sweep, store, nowhere)
    assert nowhere.asked == list(sweep.requests), "a damaged record is no answer"


def test_a_combination_that_failed_is_run_again_and_the_rest_is_kept(tmp_path: Path) -> None:
    path = workbook(tmp_path, "from rankwork import record\nrecord('half', 1 / k)")
    grid_file(tmp_path, "grid:\n  k: [0, 2]\n")
    done = rankwork("run", "00", "--sweep", "grid.yaml", folder=tmp_path)
    assert done.returncode == 1
    assert "failed       k=0" in done.stdout
    assert "complete     k=2" in done.stdout
    assert "sweep: complete" in done.stdout, "the table over a sweep says which executions failed"
    nowhere = Nowhere()
    sweep = sweeping.prepare(path, tmp_path / "grid.yaml")
    sweeping.run(sweep, Store(tmp_path / "evidence"), nowhere)
    assert nowhere.asked == [sweep.requests[0]]


def test_an_interrupted_sweep_goes_on_where_it_was(tmp_path: Path) -> None:
    slow = "import time\nfrom rankwork import record\ntime.sleep(60 * (name == 'slow') * (k == 2))\nrecord('k', k)"
    path = workbook(tmp_path, slow)
    grid_file(tmp_path, "grid:\n  k: [1, 2]\n")
    command = [sys.executable, "-m", "rankwork.cli", "run", "00", "--sweep", "grid.yaml", "-p", "name=slow"]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    store = Store(tmp_path / "evidence")
    limit = time.monotonic() + 60
    while not any(entry.record_id for entry in store.entries()) or not any(
        entry.status == "running" and entry.parameters for entry in store.entries()
    ):
        assert time.monotonic() < limit
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=60)[1].decode().split() == ["interrupted"]
    assert process.returncode == 130
    assert sorted(entry.status for entry in store.entries()) == ["complete", "killed"]
    nowhere = Nowhere()
    sweep = sweeping.prepare(path, tmp_path / "grid.yaml", ("name=slow",))
    sweeping.run(sweep, store, nowhere)
    assert nowhere.asked == [sweep.requests[1]]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--scheduler", "tcp://127.0.0.1:9"), "--scheduler runs a sweep: say --sweep FILE"),
        (("--sweep", "grid.yaml", "--params", "smoke"), "--sweep and --params exclude each other"),
        (("--sweep", "nowhere.yaml"), "no parameters file nowhere.yaml"),
    ],
)
def test_options_that_make_no_sweep_are_refused(book: Path, arguments: tuple[str, ...], message: str) -> None:
    folder = book.parents[1]
    grid_file(folder, "grid:\n  k: [1]\n")
    done = rankwork("run", "00", *arguments, folder=folder)
    assert done.returncode == 2
    assert message in done.stderr
    assert not (folder / "evidence").exists()


def test_a_sweep_takes_one_notebook(book: Path) -> None:
    folder = book.parents[1]
    workbook(folder, "print(1)", name="01_other")
    grid_file(folder, "grid:\n  k: [1]\n")
    done = rankwork("run", "all", "--sweep", "grid.yaml", folder=folder)
    assert done.returncode == 2
    assert "--sweep takes one notebook, got 2" in done.stderr


def test_progress_is_shown_where_somebody_is_looking(book: Path) -> None:
    """On a terminal: how many are done, on one line."""
    folder = book.parents[1]
    grid_file(folder, "grid:\n  k: [1]\n")
    ours, theirs = os.openpty()
    command = [sys.executable, "-m", "rankwork.cli", "run", "00", "--sweep", "grid.yaml"]
    done = subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=theirs, timeout=120)
    os.close(theirs)
    shown = os.read(ours, 4096).decode()
    os.close(ours)
    assert done.returncode == 0
    assert "00_small: 0 of 1" in shown
    assert "00_small: 1 of 1" in shown


def test_the_notebook_over_a_sweep_is_clean_and_its_schema_agrees() -> None:
    notebook = json.loads(sweeping.NOTEBOOK.read_text())
    schema = parameters.load_schema(sweeping.NOTEBOOK.with_name("sweep.schema.json"))
    assert parameters.defaults(notebook, "sweep").keys() == schema["properties"].keys()
    assert [cell for cell in notebook["cells"] if cell.get("outputs") or cell.get("execution_count")] == []
