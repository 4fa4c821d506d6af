"""Faithful, right, relevant, complete: each example separates scores that are often taken for one."""

import json
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankwork.diagnosis.claims import atoms, label_of
from rankwork.diagnosis.generation import SCORES, AnswerScores, Rules, answer_scores, answers_report
from rankwork.errors import ContractError, InputError
from rankwork.inputs.answers import answers, passages
from rankwork.statistics import bootstrap_mean
from rankwork.trace import Case, Claim, Label, Trace

LABELS: tuple[Label, ...] = ("supported", "contradicted", "not_enough_information")
BOUND = Rules(unlabelled="bound")
CASES, TRACES = answers()
CASE = Case(id="q", query="?", points=("a", "b"))


def scores_of(*claims: Claim, rules: Rules = BOUND, case: Case = CASE) -> AnswerScores:
    return answer_scores(case, Trace(case=case.id, claims=claims), rules=rules)


def example(name: str) -> AnswerScores:
    place = [case.id for case in CASES].index(name)
    return answer_scores(CASES[place], TRACES[place], rules=BOUND)


def test_faithful_and_wrong() -> None:
    """The source is wrong, the answer copies it: all of it is supported, half of it is true."""
    found = example("faithful-but-wrong")
    assert (found.faithfulness.value, found.correctness.value) == (1, 0.5)


def test_beside_the_question() -> None:
    """Supported and true, and no answer."""
    found = example("beside-the-question")
    assert (found.faithfulness.value, found.correctness.value, found.relevance.value) == (1, 1, 0)
    assert found.missing == ("setting queue.limit", "restart not needed")


def test_incomplete() -> None:
    """Supported, true, to the point, and two of three points are missing."""
    found = example("incomplete")
    assert (found.faithfulness.value, found.correctness.value, found.relevance.value) == (1, 1, 1)
    assert found.completeness.value == pytest.approx(1 / 3)


def test_right_without_support() -> None:
    """True, and nothing in the context says so."""
    found = example("right-without-support")
    assert (found.faithfulness.value, found.not_enough_information.value, found.correctness.value) == (0, 1, 1)


def test_contradicted_is_told_from_not_enough_information() -> None:
    found = example("contradicted")
    assert (found.contradicted.value, found.not_enough_information.value) == (1, 0)


def test_half_of_the_labels_are_missing() -> None:
    """CASES 25: the share lies between .5 and 1 with coverage .5."""
    found = example("half-of-the-labels").faithfulness
    assert (found.min, found.max, found.coverage, found.value) == (0.5, 1, 0.5, None)


def test_an_answer_without_claims_is_undefined_with_its_reason() -> None:
    assert example("refused-rightly").faithfulness.reason == "the answer is a refusal"
    assert scores_of().faithfulness.reason == "the answer has no claims"
    never = answer_scores(CASE, Trace(case="q"))
    assert never.faithfulness.reason == "no claims were taken from the answer"
    assert (never.completeness.min, never.completeness.max) == (0, 1)


def test_a_compound_claim_counts_in_part_or_as_a_whole() -> None:
    parts = (Claim(id="1.a", label="supported"), Claim(id="1.b", label="not_enough_information"))
    whole = Claim(id="1", parts=parts)
    assert scores_of(whole).faithfulness.value == 0.5
    strict = scores_of(whole, rules=Rules(compound="whole"))
    assert (strict.faithfulness.value, strict.not_enough_information.value) == (0, 1)


def test_weights_are_those_declared_or_all_equal() -> None:
    claims = (Claim(id="1", label="supported", weight=3), Claim(id="2", label="contradicted", weight=1))
    assert scores_of(*claims).faithfulness.value == 0.75
    assert scores_of(*claims, rules=Rules(weights="equal")).faithfulness.value == 0.5


def test_common_knowledge_counts_unless_it_is_declared_exempt() -> None:
    claims = (Claim(id="1", label="supported"), Claim(id="2", label="not_enough_information", needs_evidence=False))
    assert scores_of(*claims).faithfulness.value == 0.5
    assert scores_of(*claims, rules=Rules(common_knowledge="exempt")).faithfulness.value == 1
    bare = Claim(id="2", needs_evidence=False)
    assert scores_of(claims[0], bare, rules=Rules(common_knowledge="exempt")).faithfulness.value == 1


@st.composite
def trees(draw: st.DrawFn, depth: int = 2) -> Claim:
    name = str(draw(st.integers(0, 10**9)))
    if depth and draw(st.booleans()):
        parts = draw(st.lists(trees(depth=depth - 1), min_size=1, max_size=2, unique_by=lambda claim: claim.id))
        return Claim(id=name, parts=tuple(parts), weight=draw(st.sampled_from([1.0, 2.0])))
    return Claim(id=name, label=draw(st.sampled_from([*LABELS, None])), weight=draw(st.sampled_from([1.0, 2.0])))


def labelled(claim: Claim, labels: list[Label]) -> Claim:
    """The claim with its missing labels filled in, in order."""
    if claim.parts:
        return claim.model_copy(update={"parts": tuple(labelled(part, labels) for part in claim.parts)})
    return claim if claim.label else claim.model_copy(update={"label": labels.pop(0)})


@given(st.lists(trees(), min_size=1, max_size=2), st.sampled_from(["parts", "whole"]))
def test_every_way_of_labelling_the_rest_lies_between_the_bounds(claims: list[Claim], compound: str) -> None:
    """And the three shares of a fully labelled answer add up to one."""
    missing = sum(atom.claim.label is None for claim in claims for atom in atoms(claim))
    ids = [atom.claim.id for claim in claims for atom in atoms(claim)] + [claim.id for claim in claims]
    if missing > 3 or len(set(ids)) < len({id(claim) for claim in claims}):
        return
    rules = Rules(unlabelled="bound", compound=compound)  # type: ignore[arg-type]
    try:
        open_ = scores_of(*claims, rules=rules)
    except InputError:
        return  # two claims drew one ID
    for way in product(LABELS, repeat=missing):
        labels = list(way)
        full = scores_of(*(labelled(claim, labels) for claim in claims), rules=rules)
        values = {name: getattr(full, name).value for name in SCORES[:3]}
        assert sum(values.values()) == pytest.approx(1)
        for name, value in values.items():
            share = getattr(open_, name)
            assert share.min - 1e-9 <= value <= share.max + 1e-9


def test_a_part_that_is_contradicted_makes_the_whole_contradicted() -> None:
    parts = (Claim(id="a", label="contradicted"), Claim(id="b"))
    assert label_of(Claim(id="c", parts=parts)) == "contradicted"


def test_a_claim_without_a_label_is_refused_by_name_unless_bounds_are_asked_for() -> None:
    with pytest.raises(InputError, match=r"case 'q': claim '2' has no label, expected one of supported, contradicted"):
        scores_of(Claim(id="1", label="supported"), Claim(id="2"), rules=Rules())


def test_what_contradicts_itself_is_refused_by_name() -> None:
    twice = (Claim(id="1", label="supported"), Claim(id="1", label="supported"))
    with pytest.raises(InputError, match="case 'q': two claims have the ID '1'"):
        scores_of(*twice)
    denied = Claim(id="1", label="supported", parts=(Claim(id="1.a", label="contradicted"),))
    with pytest.raises(InputError, match="claim '1' is labelled 'supported', and its parts make it 'contradicted'"):
        scores_of(denied)
    weightless = Claim(id="1", parts=(Claim(id="1.a", label="supported", weight=0),))
    with pytest.raises(InputError, match="the parts of claim '1' have weights that add up to 0"):
        scores_of(weightless)
    with pytest.raises(InputError, match="claim '1' makes the point 'c'; the case expects a, b"):
        scores_of(Claim(id="1", label="supported", point="c"))
    with pytest.raises(InputError, match="case 'q' expects a point twice"):
        scores_of(case=Case(id="q", query="?", points=("a", "a")))
    with pytest.raises(InputError, match="the trace is of case 'r', the case is 'q'"):
        answer_scores(CASE, Trace(case="r"))


def test_unknown_rules_are_refused() -> None:
    with pytest.raises(ContractError, match="unlabelled must be one of refuse, bound, got 'drop'"):
        Rules(unlabelled="drop")  # type: ignore[arg-type]
    with pytest.raises(ContractError, match="compound must be one of parts, whole, got 'half'"):
        Rules(compound="half")  # type: ignore[arg-type]


def test_a_report_counts_the_answers_without_a_score() -> None:
    report = answers_report(CASES, TRACES, rules=BOUND)
    mean = report.mean("faithfulness")
    assert mean.undefined == {"the answer is a refusal": 2}
    assert mean.answers == len(TRACES) - 2
    assert mean.value is None
    assert report.mean("relevance").value == pytest.approx(10 / 11)
    table = report.to_pandas().set_index("case")
    assert table.to_dict("index")["half-of-the-labels"]["coverage"] == 0.5
    found = report.to_json()
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert set(found["means"]) == set(SCORES)
    assert "completeness: " in str(report)
    with pytest.raises(ContractError, match="there is no 'quality'"):
        report.mean("quality")


def test_scores_that_lie_apart_name_their_answers() -> None:
    report = answers_report(CASES, TRACES, rules=BOUND)
    assert report.apart("faithfulness", "correctness", by=0.4) == ("faithful-but-wrong", "right-without-support")
    assert report.apart("correctness", "faithfulness", by=0.5) == ("right-without-support",)
    assert report.apart("faithfulness", "relevance")[0] == "beside-the-question"
    for names in (("quality", "relevance"), ("relevance", "quality")):
        with pytest.raises(ContractError, match="there is no 'quality'"):
            report.apart(*names)


def test_means_by_group_are_the_means_of_each_group_alone() -> None:
    report = answers_report(CASES, TRACES, rules=BOUND)
    groups = {case.id: case.expected if case.id != "half-of-the-labels" else "half" for case in CASES}
    table = report.means_by(groups)
    assert table.index.tolist() == ["answer", "half", "refuse"]
    assert table["answers"].sum() == len(CASES)
    for name, row in table.iterrows():
        kept = [(case, trace) for case, trace in zip(CASES, TRACES, strict=True) if groups[case.id] == name]
        alone = answers_report([case for case, _ in kept], [trace for _, trace in kept], rules=BOUND)
        means = [alone.mean(score).value for score in SCORES]
        assert [None if np.isnan(row[score]) else row[score] for score in SCORES] == means
    with pytest.raises(InputError, match=r"case 'good' has no group \(13 such cases\)"):
        report.means_by({})


def test_no_answers_have_no_groups() -> None:
    assert list(answers_report(CASES, []).means_by({}).columns) == ["answers", *SCORES]


def test_a_mean_has_an_interval_over_clusters_unless_labels_leave_it_open() -> None:
    report = answers_report(CASES, TRACES, rules=BOUND)
    assert report.interval("faithfulness") is None
    found = report.interval("relevance", seed=3)
    assert found is not None
    answered = [case.id for case in CASES if case.id not in ("refused-rightly", "false-refusal")]
    values = [float(name != "beside-the-question") for name in answered]
    assert found == bootstrap_mean(values, clusters=answered, seed=3)
    twins = [case.model_copy(update={"cluster": "one"}) for case in CASES]
    together = answers_report(twins, TRACES, rules=BOUND).interval("relevance")
    assert together is not None
    assert together.clusters == 1


def test_cases_and_traces_that_do_not_belong_together_are_refused() -> None:
    with pytest.raises(InputError, match="case 'q' is there twice"):
        answers_report([CASE, CASE], [])
    with pytest.raises(InputError, match="a trace is of case 'r', which is not among the 1 cases"):
        answers_report([CASE], [Trace(case="r")])
    with pytest.raises(InputError, match="case 'q' has two traces of run ''"):
        answers_report([CASE], [Trace(case="q"), Trace(case="q")])


def test_every_shipped_label_of_a_source_can_be_read_up() -> None:
    """Whatever an example shows, cites or requires stands in the manual at that revision, but for the invented ID."""
    manual = passages()
    for case, trace in zip(CASES, TRACES, strict=True):
        assert case.id == trace.case
        used = {item.id: item.revision for stage in trace.stages for item in stage.items}
        used |= {name: evidence.revision for name, evidence in case.gold.items()}
        used |= {citation.id: citation.revision for citation in trace.citations or ()}
        for name, revision in used.items():
            assert name == "velmo-tenants#99" or manual[name].revision == revision
