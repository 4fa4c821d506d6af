"""`rankwork gate` runs in anyone's CI: tables in, an exit code out, and a sentence for every mistake."""

import json
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from rankwork.cli import commands
from rankwork.decision.policy import shipped
from rankwork.errors import InputError
from rankwork.inputs.traces import write_cases, write_traces
from rankwork.trace import Citation, Claim, Usage
from tests.gates import HEAD, RULE, cases, system, trace

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


def refused(*arguments: str) -> str:
    """The one sentence in which the command refuses; `main` prints it and exits with 2."""
    with pytest.raises(InputError) as refusal:
        CliRunner().invoke(commands, ["gate", *arguments], standalone_mode=False, catch_exceptions=False)
    assert "\n" not in str(refusal.value)
    return str(refusal.value)


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


@pytest.mark.slow
def test_the_example_is_written_and_the_command_it_tells_decides(tmp_path: Path) -> None:
    """The way of a newcomer: one option writes everything, and what it prints can be pasted."""
    told = run("--example", str(tmp_path / "new folder"))
    assert told.exit_code == 0, told.output
    program, command, *arguments = shlex.split(told.output)
    assert (program, command) == ("rankwork", "gate")
    decided = run(*arguments)
    assert decided.return_value == 1
    assert decided.output.startswith("REJECT by policy 'new chunker, embedding and reranker'")
    assert (tmp_path / "new folder" / "policy.yaml").read_text() == shipped("example").read_text()


def test_an_example_that_cannot_be_written_is_refused(folder: Path) -> None:
    with pytest.raises(InputError, match=r"policy\.yaml/deeper cannot be written"):
        CliRunner().invoke(
            commands, ["gate", "--example", "policy.yaml/deeper"], standalone_mode=False, catch_exceptions=False
        )


BAD_TRACES: dict[str, tuple[dict[str, Any], str]] = {
    "a claim without a label": (
        {"claims": (Claim(id="1"),)},
        "all.yaml line 6 (rules.0.measure): case 'c3': claim '1' has no label, expected one of supported, contradicted",
    ),
    "a citation of an unknown claim": (
        {"citations": (Citation(id="gold", claim="9", supports="full"),)},
        "all.yaml line 7 (rules.1.measure): case 'c3': citation 'gold' stands for claim '9', which is not in",
    ),
    "costs in two currencies": (
        {"usage": (Usage(model="m", cost=1.0, currency="USD"),)},
        "all.yaml line 8 (cost): new.jsonl: costs in two currencies, EUR (case 'c0') and USD ('c3')",
    ),
    "a cost without a currency": (
        {"usage": (Usage(model="m", cost=1.0),)},
        "all.yaml line 8 (cost): new.jsonl: case 'c3': the cost 1.0 has no currency",
    ),
    "another judge": (
        {"snapshot": {"judge": "j2"}},
        "old.jsonl and new.jsonl: case 'c3': version of judge differs, None and 'j2': not comparable",
    ),
}
ALL = "rules:\n- {measure: faithfulness}\n- {measure: citation_recall}\ncost: {at_most: 1, currency: EUR}\n"


@pytest.mark.parametrize("fault", BAD_TRACES)
def test_traces_that_cannot_be_judged_are_refused_with_value_and_place(folder: Path, fault: str) -> None:
    change, message = BAD_TRACES[fault]
    Path("all.yaml").write_text(HEAD + ALL)
    told = [trace(n, 1, claims=(Claim(id="1", label="supported"),), citations=()) for n in range(12)]
    write_traces("old.jsonl", told)
    write_traces("new.jsonl", [*told[:3], told[3].model_copy(update=change), *told[4:]])
    write_cases("cases.jsonl", cases(12))
    assert refused("all.yaml", "old.jsonl", "new.jsonl", "--cases", "cases.jsonl").startswith(message)


BAD_LINES: dict[str, tuple[str, str, str]] = {
    "a label that is none": ('"supported"', '"probably"', "new.jsonl line 1: claims.0.label: input should be 'supp"),
    "a latency in words": (
        '"latency_ms":100.0',
        '"latency_ms":"fast"',
        "new.jsonl line 1: latency_ms: input should be",
    ),
    "a case that stands twice": ('"c1"', '"c0"', "new.jsonl line 2: the trace of case 'c0' in run '' stands at line 1"),
    "a score that is no number": ('"score":8.0', '"score":NaN', "new.jsonl line 1: stages.0.items.1.score: input"),
    "a case that is not there": ('"c5"', '"c99"', "new.jsonl lacks c5: both systems must have answered the same"),
}


@pytest.mark.parametrize("fault", BAD_LINES)
def test_lines_that_are_no_trace_are_refused_with_value_and_place(folder: Path, fault: str) -> None:
    old, new, message = BAD_LINES[fault]
    Path("all.yaml").write_text(HEAD + ALL)
    write_traces("old.jsonl", [trace(n, 1, claims=(Claim(id="1", label="supported"),)) for n in range(6)])
    text = Path("old.jsonl").read_text()
    assert old in text
    Path("new.jsonl").write_text(text.replace(old, new, 1))
    assert refused("all.yaml", "old.jsonl", "new.jsonl").startswith(message)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "rules: [{measure: nDGC@10}]",
            "bad.yaml line 5 (rules.0): measure 'nDGC@10' is not known; did you mean nDCG?",
        ),
        (
            "rules: [{measure: R@10, slices: [rare]}]",
            "bad.yaml line 5 (rules.0.slices.0): slice 'rare' matches no query",
        ),
        ("rules: &a [*a]", "bad.yaml: an anchor (&) stands inside itself"),
        ("cases: nowhere.jsonl\nrules: [{measure: R@10}]", "bad.yaml line 5 (cases): nowhere.jsonl cannot be read: No"),
    ],
)
def test_a_policy_that_cannot_be_followed_is_refused_with_value_and_place(
    folder: Path, text: str, message: str
) -> None:
    Path("bad.yaml").write_text(HEAD + text)
    assert refused("bad.yaml", "all.csv", "half.csv").startswith(message)


def test_cases_of_the_candidate_alone_are_refused(folder: Path) -> None:
    write_cases("cases.jsonl", cases(60))
    told = refused("policy.yaml", "all.csv", "half.csv", "--candidate-cases", "cases.jsonl")
    assert told == "the candidate's cases were given without the baseline's: give both (cases, --cases)"


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
