"""Verdicts back to the claims, and `rankwork answers`: failed verdicts bound what they leave open."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from rankwork.cli import main
from rankwork.diagnosis.answer_report import answer_report, reports_by_run
from rankwork.diagnosis.generation import Rules, answer_scores
from rankwork.diagnosis.labelling import LABELS, claims_to_judge, labelled
from rankwork.errors import InputError
from rankwork.inputs.answers import FOLDER, answers
from rankwork.inputs.models import write_models
from rankwork.inputs.verdicts import Verdict
from rankwork.trace import Case, Claim, Trace

CASES, TRACES = answers()
BOUND = Rules(unlabelled="bound")


def test_half_of_the_verdicts_failed_from_end_to_end() -> None:
    """CASES 25: four claims go to the judge, two verdicts come back: .5 to 1 with coverage .5."""
    trace = Trace(case="q", run="r", claims=tuple(Claim(id=str(n), text=f"claim {n}") for n in range(4)))
    asked = dict(claims_to_judge([trace]))
    assert asked == {f"q r {n}": f"claim {n}" for n in range(4)}
    back = [
        Verdict.model_validate({"item": item, "model": "m", **({"value": "supported"} if n < 2 else {"failure": "x"})})
        for n, item in enumerate(asked)
    ]
    share = answer_scores(Case(id="q", query="?"), labelled([trace], back)[0], rules=BOUND).faithfulness
    assert (share.min, share.max, share.coverage, share.value) == (0.5, 1, 0.5, None)


def test_labels_given_back_are_the_labels_that_were_there() -> None:
    """Every label of the shipped answers, taken out as a verdict and put back, gives the same report."""
    verdicts = []
    bare = []
    for trace in TRACES:
        verdicts += [v for claim in trace.claims or () for v in taken(trace, claim)]
        bare.append(trace.model_copy(update={"claims": tuple(unlabelled(claim) for claim in trace.claims or ())}))
    again = labelled(bare, verdicts)
    assert answer_report(CASES, again, rules=BOUND).to_json() == answer_report(CASES, TRACES, rules=BOUND).to_json()


def taken(trace: Trace, claim: Claim) -> list[Verdict]:
    if claim.parts:
        return [verdict for part in claim.parts for verdict in taken(trace, part)]
    how = {"value": claim.label} if claim.label else {"failure": "x"}
    return [Verdict.model_validate({"item": f"{trace.case} {trace.run} {claim.id}", "model": "m", **how})]


def unlabelled(claim: Claim) -> Claim:
    return claim.model_copy(update={"label": None, "parts": tuple(unlabelled(part) for part in claim.parts)})


def test_the_label_of_a_whole_follows_from_its_parts() -> None:
    whole = Claim(id="1", label="supported", parts=(Claim(id="1.a", label="supported"),))
    trace = Trace(case="q", claims=(whole,))
    verdict = Verdict(item="q 1.a", value="contradicted", model="m")
    claims = labelled([trace], [verdict])[0].claims or ()
    assert (claims[0].label, claims[0].parts[0].label) == (None, "contradicted")
    with pytest.raises(InputError, match="a verdict on 'q 1', which is no claim"):
        labelled([trace], [Verdict(item="q 1", value="supported", model="m")])


def test_verdicts_that_are_no_labels_are_refused_by_name() -> None:
    trace = Trace(case="q", claims=(Claim(id="1"),))
    with pytest.raises(InputError, match="item 'q 1': 'yes' of m is off the scale"):
        labelled([trace], [Verdict(item="q 1", value="yes", model="m")])
    with pytest.raises(InputError, match="a verdict on 'q 2', which is no claim of these traces"):
        labelled([trace], [Verdict(item="q 2", value="supported", model="m")])
    assert LABELS.level == "nominal"
    assert labelled([Trace(case="q"), trace], [Verdict(item="q 1", value="supported", model="m")])[0].claims is None


Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """`rankwork answers` in this process: exit code, output, errors."""

    def call(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["rankwork", "answers", *map(str, arguments)])
        with pytest.raises(SystemExit) as left:
            main()
        shown = capsys.readouterr()
        return int(str(left.value.code)), shown.out, shown.err

    return call


FILES = (FOLDER / "answers.cases.jsonl", FOLDER / "answers.traces.jsonl")


def test_the_command_prints_what_the_report_says(run: Run) -> None:
    report = answer_report(CASES, TRACES, rules=BOUND)
    assert run(*FILES, "--unlabelled", "bound") == (0, f"run example\n{report}\n", "")
    code, shown, _ = run(*FILES, "--unlabelled", "bound", "--json", "--partial", ".5")
    found = json.loads(shown)["example"]
    assert (code, found["citations"]["rules"]["partial"]) == (0, 0.5)
    assert found["refusals"]["false_answers"] == ["false-answer"]


def test_each_run_has_a_report_of_its_own() -> None:
    """Two runs in one file are never averaged into one number."""
    other = [trace.model_copy(update={"run": "other", "refused": True, "claims": ()}) for trace in TRACES]
    bare = [trace.model_copy(update={"citations": ()}) for trace in other]
    found = reports_by_run(CASES, [*TRACES, *bare], rules=BOUND)
    assert list(found) == ["example", "other"]
    assert found["example"].to_json() == answer_report(CASES, TRACES, rules=BOUND).to_json()
    assert found["other"].refusals.false_refusal_rate.value == 1


def test_the_command_takes_a_judges_labels(run: Run, tmp_path: Path) -> None:
    verdicts = [Verdict(item=f"half-of-the-labels example {n}", value="contradicted", model="m") for n in (3, 4)]
    write_models(tmp_path / "v.jsonl", verdicts)
    code, shown, _ = run(*FILES, "--verdicts", tmp_path / "v.jsonl", "--json")
    scores = {each["case"]: each for each in json.loads(shown)["example"]["answers"]["answers"]}
    assert (code, scores["half-of-the-labels"]["faithfulness"]["value"]) == (0, 0.5)


def test_a_users_mistake_is_one_sentence(run: Run, tmp_path: Path) -> None:
    code, shown, error = run(*FILES)
    assert (code, shown) == (2, "")
    assert error.startswith("error: case 'half-of-the-labels': claim '3' has no label")
    assert len(error.splitlines()) == 1
    assert "cannot be read" in run(FILES[0], tmp_path / "none.jsonl")[2]
