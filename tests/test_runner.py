"""An execution ends as a record that says what became of it, and never as one that looks complete and is not."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psutil
import pytest

from rankwork.errors import EvidenceError, InputError, ParameterError
from rankwork.evidence import runner, supervising
from rankwork.evidence.store import Store, read_manifest
from rankwork.evidence.verifying import verify
from tests.stores import put
from tests.workbooks import SCHEMA, notebook, rankwork, workbook

RECORD = "from rankwork import record\n"


def run(
    path: Path, *, timeout: float | None = None, assignments: tuple[str, ...] = ()
) -> tuple[runner.Finished, dict[str, Any]]:
    """Execute one notebook; what was finished, and its manifest."""
    store = Store(path.parents[1] / "evidence")
    finished = runner.run([runner.prepare(path, assignments=assignments)], store, timeout=timeout)[0]
    return finished, read_manifest(finished.path)


def test_a_notebook_that_runs_to_its_seal_is_complete(complete_record: Path) -> None:
    kept = read_manifest(complete_record)
    assert kept["status"] == "complete"
    assert kept["reason"] is None
    assert sorted(kept["files"]) == ["notebook.ipynb", "report.html", "results.json", "source.ipynb"]
    assert kept["recipe"]["parameters"] == {"k": 3, "name": ""}
    assert kept["environment"]["determinism"] == {"PYTHONHASHSEED": "0"}
    assert kept["rankings"]["selected"]["k"] == 3
    assert kept["rankings"]["selected"]["score_dtype"] == "float64"
    assert bool(verify(complete_record))


def test_a_measured_value_is_kept_and_stays_out_of_the_result_digest(tmp_path: Path) -> None:
    clock = RECORD + "import time\nrecord('k', k)\nrecord('now', time.time_ns(), measured=True)"
    path = workbook(tmp_path, clock)
    (_, first), (_, second) = run(path), run(path)
    assert first["results"] != second["results"]
    assert first["result_digest"] == second["result_digest"]
    assert first["canonical_notebook"] == second["canonical_notebook"]


def test_a_cell_that_shows_what_was_measured_says_so_by_its_tag(tmp_path: Path) -> None:
    """Its other outputs stay out of the canonical notebook; without the tag they would differ."""
    path = workbook(tmp_path, RECORD + "import time\nprint(time.time_ns())\nrecord('k', k)")
    assert run(path)[1]["canonical_notebook"] != run(path)[1]["canonical_notebook"]
    notebook = json.loads(path.read_text())
    notebook["cells"][1]["metadata"]["tags"] = ["measured"]
    path.write_text(json.dumps(notebook))
    (first, one), (_, two) = run(path), run(path)
    assert one["canonical_notebook"] == two["canonical_notebook"]
    assert "record" in (first.path / "notebook.ipynb").read_text()
    assert verify(first.path)


def test_the_same_request_from_another_folder_and_hash_seed_gives_equal_digests(tmp_path: Path) -> None:
    source = RECORD + "record('k', k)\nrecord('order', list({'a', 'b', 'c', 'd'}))\nprint(open(name).read())"
    schema = {**SCHEMA, "properties": {**SCHEMA["properties"], "name": {"type": "string", "format": "input"}}}
    kept = []
    for folder, seed in ((tmp_path / "one", "1"), (tmp_path / "two" / "deeper", "2")):
        workbook(folder, source, schema=schema)
        (folder / "data.txt").write_text("the same content")
        environment = os.environ | {"PYTHONHASHSEED": seed, "TZ": f"UTC+{seed}"}
        done = rankwork("run", "00", "-p", "name=data.txt", "--json", folder=folder, environment=environment)
        assert done.returncode == 0, done.stderr
        kept.append(read_manifest(Path(json.loads(done.stdout)[0]["path"])))
    for field in ("recipe_digest", "result_digest", "canonical_notebook"):
        assert kept[0][field] == kept[1][field], field


@pytest.mark.parametrize(
    ("ending", "status", "message"),
    [
        ("raise ValueError('no such thing')", "failed", "no such thing"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "kernel_died", ""),
        ("import sys; sys.exit(0)", "failed", ""),
        ("import os; os._exit(0)", "kernel_died", ""),
    ],
)
@pytest.mark.parametrize("after", [(), ("print('never reached')",)], ids=["last cell", "earlier cell"])
def test_an_execution_that_stops_early_says_so(
    tmp_path: Path, ending: str, status: str, message: str, after: tuple[str, ...]
) -> None:
    finished, kept = run(workbook(tmp_path, RECORD + "record('k', k)", ending, *after))
    assert finished.status == status
    assert kept["reason"] is not None
    assert message in kept["reason"]["message"]
    assert [result["name"] for result in kept["results"]] == ["k"], "what was recorded before is kept"
    verdict = verify(finished.path)
    assert verdict.intact
    assert not verdict


def test_a_cell_that_takes_too_long_is_a_timeout(tmp_path: Path) -> None:
    finished, kept = run(workbook(tmp_path, "import time; time.sleep(60)"), timeout=4)
    assert finished.status == "timeout"
    assert kept["time"]["seconds"] < 20


def test_a_kernel_that_ignores_its_interruption_still_ends_as_a_timeout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervising, "_GRACE", 1.0)
    stubborn = "import os, signal\nos.kill(os.getppid(), signal.SIGSTOP)\nimport time; time.sleep(60)"
    finished, _ = run(workbook(tmp_path, stubborn), timeout=3)
    assert finished.status == "timeout"


def test_no_kernel_outlives_its_runner(tmp_path: Path) -> None:
    mark = f"rankwork-test-{os.getpid()}"
    child = f"import subprocess, sys\nsubprocess.Popen([sys.executable, '-c', 'import time; time.sleep(90)', '{mark}'])"
    path = workbook(tmp_path, child, "import time; time.sleep(60)")
    run(path, timeout=5)
    time.sleep(1)
    assert [p.pid for p in psutil.process_iter(["cmdline"]) if mark in (p.info["cmdline"] or [])] == []


def test_an_input_that_a_cell_changes_through_its_link_fails_the_execution(tmp_path: Path) -> None:
    schema = {**SCHEMA, "properties": {**SCHEMA["properties"], "name": {"type": "string", "format": "input"}}}
    path = workbook(tmp_path, "open(name, 'a').write('more')", schema=schema)
    (tmp_path / "data.txt").write_text("as it was")
    finished, kept = run(path, assignments=(f"name={tmp_path / 'data.txt'}",))
    assert finished.status == "failed"
    assert kept["reason"]["message"] == "inputs/data.txt changed during the execution"


def test_two_inputs_of_one_name_are_kept_apart(tmp_path: Path) -> None:
    schema = {"type": "object", "properties": {n: {"type": "string", "format": "input"} for n in ("a", "b")}}
    path = workbook(
        tmp_path,
        RECORD + "record('texts', [open(a).read(), open(b).read()])",
        schema=schema,
        parameters="a = ''\nb = ''",
    )
    for part in ("one", "two"):
        (tmp_path / part).mkdir()
        (tmp_path / part / "run.txt").write_text(part)
    finished, kept = run(path, assignments=(f"a={tmp_path / 'one/run.txt'}", f"b={tmp_path / 'two/run.txt'}"))
    assert sorted(kept["recipe"]["inputs"]) == ["inputs/b.run.txt", "inputs/run.txt"]
    assert json.loads((finished.path / "results.json").read_text())["texts"]["value"] == ["one", "two"]


def test_a_file_of_a_parameters_file_is_looked_for_beside_it(tmp_path: Path) -> None:
    schema = {**SCHEMA, "properties": {**SCHEMA["properties"], "name": {"type": "string", "format": "input"}}}
    path = workbook(tmp_path, "print(name)", schema=schema)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "data.txt").write_text("x")
    (tmp_path / "mine" / "set.yaml").write_text("name: data.txt  # beside this file\n")
    request = runner.prepare(path, chosen=str(tmp_path / "mine" / "set.yaml"))
    assert request.inputs == {"name": tmp_path / "mine" / "data.txt"}


def test_the_kernel_is_this_environments_whatever_the_notebook_names(tmp_path: Path) -> None:
    path = workbook(tmp_path, RECORD + "import sys; record('prefix', sys.prefix)", kernel="another-kernel")
    finished, _ = run(path)
    assert finished.status == "complete"
    assert json.loads((finished.path / "results.json").read_text())["prefix"]["value"] == "<environment>"


def test_no_path_of_this_machine_enters_a_record(tmp_path: Path) -> None:
    look = "import os, warnings\nprint(os.getcwd(), os.path.expanduser('~/x'))\nwarnings.warn('look')"
    finished, _ = run(workbook(tmp_path, look, "raise OSError(os.path.abspath('inputs'))"))
    for path in finished.path.iterdir():
        content = path.read_text()
        for private in (str(tmp_path), sys.prefix, str(Path.home()) + "/", "ipykernel_"):
            assert private not in content, path.name


def test_eight_runs_started_at_once_are_eight_complete_records(tmp_path: Path) -> None:
    path = workbook(tmp_path, RECORD + "record('k', k)")
    requests = [runner.prepare(path, assignments=(f"k={k}",)) for k in range(8)]
    finished = runner.run(requests, Store(tmp_path / "evidence"), jobs=8)
    assert [item.status for item in finished] == ["complete"] * 8
    assert len({item.record_id for item in finished}) == 8
    assert [read_manifest(item.path)["recipe"]["parameters"]["k"] for item in finished] == list(range(8))


def test_of_several_at_a_time_the_longest_begin_first_and_what_is_not_known_before_them(tmp_path: Path) -> None:
    paths = [workbook(tmp_path, "print(1)", name=f"0{number}_x") for number in range(5)]
    requests = [runner.prepare(path) for path in paths]
    store = Store(tmp_path / "evidence")
    assert runner.longest_first(requests, store) == [4, 3, 2, 1, 0]
    for number, seconds in ((0, 2), (1, 9), (4, 5)):
        put(store.root, notebook=f"0{number}_x", time={"started": "2026-11-01T00:00:00+00:00", "seconds": seconds})
    put(store.root, notebook="02_x", status="failed", time={"started": "2026-11-01T00:00:00+00:00", "seconds": 99})
    assert runner.longest_first(requests, store) == [3, 2, 1, 4, 0]
    assert runner.longest_first(requests[:1] * 3, store) == [0, 1, 2], "of one notebook as they were given"


def test_ctrl_c_leaves_a_record_that_says_killed_and_exits_with_130(tmp_path: Path) -> None:
    workbook(tmp_path, RECORD + "record('k', k)", "import time; time.sleep(60)")
    process = subprocess.Popen(
        [sys.executable, "-m", "rankwork.cli", "run", "00"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    _wait_until(lambda: (tmp_path / "evidence/.scratch").is_dir() and "record('k'" in _outputs(tmp_path))
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert errors.decode().split() == ["interrupted"]
    entries = Store(tmp_path / "evidence").entries()
    assert [entry.status for entry in entries] == ["killed"]
    assert entries[0].record_id is not None


def test_a_killed_runner_leaves_no_kernel_and_its_execution_is_listed_as_killed(tmp_path: Path) -> None:
    workbook(tmp_path, "import time; time.sleep(60)")
    process = subprocess.Popen([sys.executable, "-m", "rankwork.cli", "run", "00"], cwd=tmp_path)
    store = Store(tmp_path / "evidence")
    _wait_until(lambda: len(psutil.Process(process.pid).children(recursive=True)) >= 2)
    assert [entry.status for entry in store.entries()] == ["running"]
    family = psutil.Process(process.pid).children(recursive=True)
    process.kill()
    process.wait()
    _wait_until(lambda: not any(member.is_running() and member.status() != "zombie" for member in family))
    assert [(entry.status, entry.record_id) for entry in store.entries()] == [("killed", None)]


def _outputs(folder: Path) -> str:
    return "".join(path.read_text() for path in folder.glob("evidence/.scratch/*/output.ipynb"))


def _wait_until(condition: Any, seconds: float = 30) -> None:
    limit = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < limit, "waited in vain"
        time.sleep(0.1)


def test_nothing_runs_when_one_of_several_notebooks_is_refused(tmp_path: Path) -> None:
    workbook(tmp_path, "print(1)", name="00_good")
    workbook(tmp_path, "print(2)", name="01_untagged", parameters=None)
    done = rankwork("run", "all", folder=tmp_path)
    assert done.returncode == 2
    assert done.stderr == "error: 01_untagged: expected one code cell tagged 'parameters', found 0\n"
    assert not (tmp_path / "evidence").exists()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "is not a notebook"),
        ("[]", "is not a notebook of format 4"),
        ('{"cells": 3, "nbformat": 4}', "of format 4"),
    ],
)
def test_a_file_that_is_no_notebook_is_refused(tmp_path: Path, content: str, message: str) -> None:
    path = workbook(tmp_path, "print(1)")
    path.write_text(content)
    with pytest.raises(InputError, match=message):
        runner.prepare(path)


def test_an_input_that_is_not_there_is_named(tmp_path: Path) -> None:
    schema = {**SCHEMA, "properties": {**SCHEMA["properties"], "name": {"type": "string", "format": "input"}}}
    path = workbook(tmp_path, "print(1)", schema=schema)
    with pytest.raises(ParameterError, match=r"name: no file nowhere\.txt"):
        runner.prepare(path, assignments=("name=nowhere.txt",))


def test_a_notebook_is_found_by_name_beginning_or_path(tmp_path: Path) -> None:
    first = workbook(tmp_path, "print(1)", name="00_first")
    second = workbook(tmp_path, "print(1)", name="05_second")
    assert runner.find_notebooks(["05"], tmp_path) == [second]
    assert runner.find_notebooks(["all", "00_first"], tmp_path) == [first, second]
    assert runner.find_notebooks([str(first)], tmp_path) == [first]
    with pytest.raises(InputError, match="'0' names 2 notebooks of: 00_first, 05_second"):
        runner.find_notebooks(["0"], tmp_path)
    with pytest.raises(InputError, match=r"no notebook other\.ipynb"):
        runner.find_notebooks(["other.ipynb"], tmp_path)


def test_an_evidence_folder_that_cannot_be_written_is_refused_before_anything_runs(tmp_path: Path) -> None:
    workbook(tmp_path, "print(1)")
    (tmp_path / "evidence").write_text("a file in its place")
    done = rankwork("run", "00", folder=tmp_path)
    assert done.returncode == 2
    assert "the evidence folder cannot be written" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    with pytest.raises(EvidenceError, match="cannot be written"):
        runner.check_writable(Store(tmp_path / "evidence"))


def test_a_result_recorded_twice_fails_the_execution(tmp_path: Path) -> None:
    _, kept = run(workbook(tmp_path, RECORD + "record('k', 1)\nrecord('k', 2)"))
    assert kept["status"] == "failed"
    assert kept["reason"]["message"] == "result 'k' is recorded twice"


def test_the_source_is_kept_byte_for_byte(complete_record: Path) -> None:
    source = complete_record.parents[1] / "notebooks" / "00_small.ipynb"
    assert (complete_record / "source.ipynb").read_bytes() == source.read_bytes()
    assert notebook()["cells"][0]["source"] in json.loads(source.read_text())["cells"][0]["source"]


def test_temporary_files_of_a_notebook_go_with_its_execution(tmp_path: Path) -> None:
    """Its kernel is ended at once and cannot tidy up; an open temporary folder is removed all the same."""
    source = "import pathlib, tempfile\nfrom rankwork import record\nfolder = tempfile.TemporaryDirectory()\n"
    source += "pathlib.Path(folder.name, 'x').write_text('x')\nrecord('where', folder.name, measured=True)"
    finished, _ = run(workbook(tmp_path, source))
    where = json.loads((finished.path / "results.json").read_text())["where"]["value"]
    assert finished.status == "complete"
    assert where
    assert not Path(where).exists()
