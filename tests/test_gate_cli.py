"""`rankwork gate` runs in anyone's CI: tables in, an exit code out, and a sentence for every mistake."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from rankwork.cli import commands
from rankwork.inputs.traces import write_cases, write_traces
from tests.gates import HEAD, RULE, cases, system

POLICY = HEAD + "rules: [{measure: R@10, margin: 0.04}]\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Tables of 60 queries: one found nothing of a half of them, the other found all."""
    monkeypatch.chdir(tmp_path)
    Path("policy.yaml").write_text(POLICY)
    for name, values in (("half.csv", [0, 1] * 30), ("all.csv", [1] * 60)):
        rows = "".join(f"q{number},R@10,{value}\n" for number, value in enumerate(values))
        Path(name).write_text(f"query,measure,value\n{rows}")
    return tmp_path


def run(*arguments: str) -> Result:
    return CliRunner().invoke(commands, ["gate", *arguments], standalone_mode=False)


def test_the_exit_code_is_the_decision(folder: Path) -> None:
    codes = {
        pair: run("policy.yaml", *pair).return_value
        for pair in (("half.csv", "all.csv"), ("all.csv", "half.csv"), ("all.csv", "all.csv"))
    }
    assert codes == {("half.csv", "all.csv"): 0, ("all.csv", "half.csv"): 1, ("all.csv", "all.csv"): 1}


def test_json_is_json_by_either_name(folder: Path) -> None:
    one, two = (run("policy.yaml", "half.csv", "all.csv", *form).output for form in (["--json"], ["--format", "json"]))
    assert one == two
    assert json.loads(one)["decision"] == "release"


def test_a_file_takes_the_report_and_the_screen_the_decision(folder: Path) -> None:
    result = run("policy.yaml", "all.csv", "half.csv", "--format", "html", "--out", "gate.html")
    assert result.output == "REJECT by policy 'test', 60 queries\n"
    page = Path("gate.html").read_text()
    assert page.startswith("<!doctype html>")
    assert len(page) < 20_000


def test_traces_and_cases_come_from_files(folder: Path) -> None:
    Path("traces.yaml").write_text(HEAD + f"rules: [{RULE}]\n")
    write_traces("old.jsonl", system([2] * 60))
    write_traces("new.parquet", system([1] * 60))
    write_cases("cases.jsonl", cases(60))
    assert run("traces.yaml", "old.jsonl", "new.parquet", "--cases", "cases.jsonl").return_value == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["missing.yaml", "all.csv", "half.csv"],
            "error: policy missing.yaml cannot be read: No such file or directory",
        ),
        (["policy.yaml", "missing.csv", "half.csv"], "error: missing.csv cannot be read: No such file or directory"),
        (["policy.yaml", "all.csv", "half.csv", "--out", "no/such/folder"], "error: no/such/folder cannot be written"),
        (["policy.yaml", "all.csv", "half.csv", "--cases", "policy.yaml"], "error: policy.yaml"),
        (["policy.yaml", "all.csv"], "Missing argument 'CANDIDATE'"),
    ],
)
def test_a_mistake_is_one_sentence_and_exit_code_2(folder: Path, arguments: list[str], message: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "rankwork.cli", "gate", *arguments], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
