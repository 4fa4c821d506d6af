"""A report is read back from what the command line prints or from a record, and nothing else passes for one."""

import json
from pathlib import Path
from typing import Any

import pytest

from rankwork.engines import read_report
from rankwork.errors import InputError

REPORT: dict[str, Any] = {"format": "rankwork-engines/1", "seed": 0, "environment": {}, "scores": {}, "engines": {}}


def written(folder: Path, value: Any) -> Path:
    path = folder / "report.json"
    path.write_text(json.dumps(value))
    return path


def test_a_report_is_read_as_it_was_printed(tmp_path: Path) -> None:
    assert read_report(written(tmp_path, REPORT)) == REPORT


def test_the_results_of_a_record_hold_their_report(tmp_path: Path) -> None:
    results = {"scores": {"value": 1}, "report": {"name": "report", "measured": True, "value": REPORT}}
    assert read_report(written(tmp_path, results)) == REPORT


@pytest.mark.parametrize(
    ("value", "got"),
    [
        ({"format": "rankwork-engines/2"}, "'rankwork-engines/2'"),
        ({}, "None"),
        ([1], "list"),
        ({"report": {"value": {}}}, "None"),
        ({"report": 3}, "None"),
    ],
)
def test_another_file_is_refused_with_what_it_says_it_is(tmp_path: Path, value: Any, got: str) -> None:
    message = f"report.json is no report of engines: expected format rankwork-engines/1, got {got}"
    with pytest.raises(InputError) as refusal:
        read_report(written(tmp_path, value))
    assert str(refusal.value) == message


def test_a_file_that_is_missing_or_no_json_is_refused_by_its_name(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"^report.json: No such file or directory$"):
        read_report(tmp_path / "report.json")
    (tmp_path / "report.json").write_text("{")
    with pytest.raises(InputError, match=r"^report.json is not JSON: "):
        read_report(tmp_path / "report.json")
