"""Where the same was asked and something else came out, `run` says so at once."""

import json
import os
from pathlib import Path

from rankwork.evidence import runner
from rankwork.evidence.alarm import alarm
from rankwork.evidence.store import Store, read_manifest
from tests.workbooks import rankwork, workbook

RECORD = "from rankwork import record\n"
CLOCK = RECORD + "import time\nrecord('k', k)\nrecord('now', time.time_ns())"
MEASURED_CLOCK = RECORD + "import time\nrecord('k', k)\nrecord('now', time.time_ns(), measured=True)"


def executed(folder: Path, *sources: str, assignments: tuple[str, ...] = ()) -> tuple[Path, Store]:
    store = Store(folder / "evidence")
    request = runner.prepare(workbook(folder, *sources), assignments=assignments)
    return runner.run([request], store)[0].path, store


def test_another_result_of_the_same_recipe_is_reported_with_the_first_difference(tmp_path: Path) -> None:
    workbook(tmp_path, CLOCK)
    first = rankwork("run", "00", folder=tmp_path)
    assert (first.returncode, "ALARM" in first.stdout) == (0, False)
    record = Store(tmp_path / "evidence").records()[0].name
    second = rankwork("run", "00", folder=tmp_path)
    assert second.returncode == 1
    assert f"ALARM: the same recipe gave another result in {record[:12]}: now: " in second.stdout
    assert "1 of 2 values differs, first now: " in second.stdout
    third = rankwork("run", "00", "--json", folder=tmp_path)
    raised = json.loads(third.stdout)[0]["alarm"]
    assert third.returncode == 1
    assert raised["first_difference"].startswith("now: ")
    assert raised["record_id"] != record, "the latest of the others is named"


def test_equal_results_measured_times_and_other_questions_raise_no_alarm(tmp_path: Path) -> None:
    for folder, source in ((tmp_path / "measured", MEASURED_CLOCK), (tmp_path / "equal", RECORD + "record('k', k)")):
        for _ in range(2):
            path, store = executed(folder, source)
        assert alarm(path, store) is None
    executed(tmp_path / "asked", CLOCK, assignments=("k=1",))
    path, store = executed(tmp_path / "asked", CLOCK, assignments=("k=2",))
    assert alarm(path, store) is None


def test_an_execution_that_did_not_complete_raises_no_alarm_and_is_none_to_compare_with(tmp_path: Path) -> None:
    """Complete, failed, complete, of one recipe: the failed one recorded nothing, and nobody is alarmed."""
    source = RECORD + "import os\nif os.environ.get('RANKWORK_TEST_FAILS'):\n    raise ValueError\nrecord('k', k)"
    workbook(tmp_path, source)
    environment = dict(os.environ)
    for fails, code in (("", 0), ("1", 1), ("", 0)):
        done = rankwork("run", "00", folder=tmp_path, environment=environment | {"RANKWORK_TEST_FAILS": fails})
        assert (done.returncode, "ALARM" in done.stdout) == (code, False)
    recipes = {read_manifest(folder)["recipe_digest"] for folder in Store(tmp_path / "evidence").records()}
    assert len(recipes) == 1


def test_a_sweep_reports_the_alarms_of_its_records(tmp_path: Path) -> None:
    """The stored record serves the sweep; that another of its recipe says something else is told all the same."""
    for _ in range(2):
        executed(tmp_path, CLOCK, assignments=("k=1",))
    (tmp_path / "grid.yaml").write_text("grid:\n  k: [1]\n")
    done = rankwork("run", "00", "--sweep", "grid.yaml", folder=tmp_path)
    assert done.returncode == 1, done.stderr
    assert "ALARM: the same recipe gave another result" in done.stdout
    facts = json.loads(rankwork("run", "00", "--sweep", "grid.yaml", "--json", folder=tmp_path).stdout)
    assert facts[0]["alarm"]["first_difference"].startswith("now: ")
    assert facts[-1]["alarm"] is None
