"""One input under five protocols; aliases that hide a convention; faults reported elsewhere as small inputs."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankwork.errors import ContractError, InputError
from rankwork.inputs.toy import CONVENTIONS, CONVENTIONS_GRADES, JAVA, JAVA_GRADES
from rankwork.measures.auditing import Audit, audit
from rankwork.measures.conventions import outcome, outcomes, resolved_names, traced, traces, unexplained
from rankwork.protocol import NAMES, Protocol
from rankwork.rankings import Rankings


def contracts(result: Audit) -> dict[str, Any]:
    return {name: entry["contract"] for name, entry in result.to_json()["measures"].items()}


def entry(run: dict[str, Any], judged: dict[str, Any], name: str, **options: Any) -> dict[str, Any]:
    found: dict[str, Any] = audit({"q": run}, {"q": judged}, [name], **options).to_json()["per_query"]["q"][name]
    return found


@pytest.mark.parametrize("tied", [False, True])
def test_the_java_example(tied: bool) -> None:
    """Hit@3 1.000, Recall@3 .833, MRR .750, nDCG@3 .815; with equal scores the order of arrival gives the same."""
    run = {query: dict.fromkeys(rows, 1.0) for query, rows in JAVA.items()} if tied else JAVA
    found = contracts(audit(run, JAVA_GRADES, ["Hit@3", "Recall@3", "MRR@3", "nDCG@3"], protocol="java"))
    assert {name: f"{value:.3f}" for name, value in found.items()} == {
        "Hit@3": "1.000", "Recall@3": "0.833", "MRR@3": "0.750", "nDCG@3": "0.815",
    }  # fmt: skip


RUN = {"q1": {"a": 3.0, "b": 2.0, "c": 2.0, "d": 1.0}, "q2": {"a": 1.0}}
JUDGED: dict[str, dict[str, float]] = {"q1": {"b": 0.5, "c": 3, "d": 1}, "q2": {"a": 0}, "q3": {"x": 1}}


@pytest.mark.parametrize(
    ("protocol", "resolved", "queries"),
    [
        ("rankwork", ["P(rel=1)@2", "RR(rel=1)@2", "nDCG(dcg='log2')@3"], 2),
        ("handbook", ["P(rel='>0')@2", "RR(rel='>0')@2", "nDCG(dcg='exp-log2')@3"], 1),
        ("java", ["P(rel='>0')@2", "RR(rel='>0')", "nDCG(dcg='exp-log2')@3"], 3),
        ("trec", ["P(rel=1)@2", "RR(rel=1)@2", "nDCG(dcg='log2')@3"], 2),
    ],
)
def test_a_protocol_fills_what_the_name_leaves_open(protocol: str, resolved: list[str], queries: int) -> None:
    """The names asked for are the keys; what they resolve to stands beside them."""
    found = audit(RUN, JUDGED, ["P@2", "MRR@2", "nDCG@3"], protocol=protocol).to_json()["measures"]
    assert list(found) == ["P@2", "MRR@2", "nDCG@3"]
    assert [value["resolved"] for value in found.values()] == resolved
    assert {value["queries"] for value in found.values()} == {queries}


def test_the_protocols_give_different_numbers_for_one_input() -> None:
    """Order of ties, threshold, gain, the alias MRR, and what counts as 0."""
    names = ["P@2", "MRR@2", "nDCG@3"]
    found = {
        name: contracts(audit(RUN, JUDGED, names, protocol=name)) for name in ("rankwork", "handbook", "java", "trec")
    }
    q1 = {"rankwork": (0.0, 0.0), "handbook": (0.5, 0.5), "java": (0.5, 0.5), "trec": (0.5, 0.5)}
    assert {
        name: (value["P@2"] * n, value["MRR@2"] * n)
        for (name, value), n in zip(found.items(), (2, 1, 3, 2), strict=True)
    } == q1
    assert len({round(value["nDCG@3"], 6) for value in found.values()}) == 4


EVERY_KIND = [f"{name}@{k}" for name in ("P", "R", "Success", "MRR", "RR", "AP", "nDCG") for k in (1, 2, 3, 4)]


def test_an_outcome_is_the_mean_or_the_sentence_that_refuses_it() -> None:
    """The audit's own mean; the text of its error; the reason of an undefined mean."""
    for name in ("rankwork", "handbook", "java", "trec"):
        mean = audit(CONVENTIONS, CONVENTIONS_GRADES, "nDCG@2", protocol=name).mean("nDCG@2").contract
        assert outcome(CONVENTIONS, CONVENTIONS_GRADES, "nDCG@2", name) == mean
    assert "refuses a query without relevant document: empty" in str(
        outcome(CONVENTIONS, CONVENTIONS_GRADES, "nDCG@2", "article")
    )
    assert outcome({"q": {"a": 1.0}}, {"q": {"a": 0}}, "R@1", "rankwork") == "no query is defined"
    assert "is not known" in str(outcome(CONVENTIONS, CONVENTIONS_GRADES, "nDGC@2", "rankwork"))


@pytest.mark.parametrize("protocol", NAMES[1:])
def test_a_trace_changes_one_convention_at_a_time_and_explains_every_difference(protocol: str) -> None:
    """On the input that is meant to show them all; each traced value is that of the protocol with that one change."""
    theirs = Protocol.named(protocol).to_dict()
    for measure in EVERY_KIND:
        before = outcome(CONVENTIONS, CONVENTIONS_GRADES, measure, "rankwork")
        found = traced(CONVENTIONS, CONVENTIONS_GRADES, measure, protocol)
        for change, value in found.items():
            field = change.partition(" = ")[0]
            changed = Protocol().replace(**{field: theirs[field]})
            assert value == outcome(CONVENTIONS, CONVENTIONS_GRADES, measure, changed) != before
        if outcome(CONVENTIONS, CONVENTIONS_GRADES, measure, protocol) != before:
            assert found


def test_the_input_of_conventions_shows_every_convention_that_an_input_in_memory_can() -> None:
    """All but two: duplicates and negative grades are refused before anything is measured; P has one denominator."""
    seen = {
        change.partition(" = ")[0]
        for protocol in NAMES[1:]
        for measure in EVERY_KIND
        for change in traced(CONVENTIONS, CONVENTIONS_GRADES, measure, protocol)
    }
    assert seen == Protocol().to_dict().keys() - {"name", "duplicates", "negative_grade", "p_denominator"}


def test_rankworks_own_protocol_has_nothing_to_trace() -> None:
    assert traced(CONVENTIONS, CONVENTIONS_GRADES, "nDCG@2", "rankwork") == {}


def test_the_article_knows_only_sets_and_whole_lists() -> None:
    """It refuses what it does not speak of: k beyond the list, an empty gold set, a query without a result."""
    run, judged = {"q": {"a": 2.0, "b": 1.0}}, {"q": {"a": 1, "b": 2}}
    assert contracts(audit(run, judged, ["P@2", "R@1"], protocol="article")) == {"P@2": 1, "R@1": 0.5}
    for name in ("P@3", "nDCG@3", "AP@3", "RR@3"):
        with pytest.raises(InputError, match="k must be between 1 and 2 for query 'q', got 3"):
            audit(run, judged, [name], protocol="article")


def test_mrr_is_cut_or_not_and_rr_says_it() -> None:
    """A relevant document at rank 3: MRR@2 is 0 where it is cut, a third where it is not; RR@2 is never a third."""
    run, judged = {"a": 3.0, "b": 2.0, "c": 1.0}, {"c": 1}
    assert entry(run, judged, "MRR@2")["contract"] == entry(run, judged, "RR@2", protocol="java")["contract"] == 0
    assert math.isclose(entry(run, judged, "MRR@2", protocol="java")["contract"], 1 / 3)
    assert math.isclose(entry(run, judged, "MRR")["contract"], 1 / 3)


def test_precision_divides_by_k_however_short_the_list() -> None:
    for protocol in ("rankwork", "handbook", "java", "trec"):
        assert entry({"a": 1.0}, {"a": 1}, "P@4", protocol=protocol)["contract"] == 0.25


def test_reported_an_id_decides_between_two_equal_scores() -> None:
    """Judged b; a and b tied, or b and c: range and expectation do not depend on names, the ID order's value does."""
    first, second = ({"a": 1.0, "b": 1.0}, {"b": 1.0, "c": 1.0})
    ours = [entry(run, {"b": 1}, "nDCG@10") for run in (first, second)]
    for found in ours:
        numbers = [round(found[name], 4) for name in ("min", "expected", "max")]
        assert numbers == [0.6309, 0.8155, 1.0]
    assert [round(found["contract"], 4) for found in ours] == [0.6309, 1.0]


def test_reported_three_tied_one_relevant() -> None:
    """AP lies between 1/3 and 1, expected .6111."""
    found = entry({"a": 1.0, "b": 1.0, "c": 1.0}, {"b": 1}, "AP")
    assert [round(found[name], 4) for name in ("min", "expected", "max")] == [0.3333, 0.6111, 1.0]


def test_reported_scores_that_only_float32_ties() -> None:
    """1.00000001 and 1.0: strict in float64, tied in float32, and the report says which took part."""
    run = Rankings.from_dicts({"q": {"b": 1.00000001, "a": 1.0}})
    wide, narrow = (audit(scores, {"q": {"b": 1}}, ["RR"]) for scores in (run, run.cast(np.float32)))
    assert [(r.mean("RR").min, r.mean("RR").max, r.score_type) for r in (wide, narrow)] == [
        (1, 1, "float64"), (0.5, 1, "float32"),
    ]  # fmt: skip


ALL = ["P@3", "R@3", "Success@3", "RR", "AP", "nDCG@3", "F@3", "Rprec", "Bpref", "RBP", "ERR", "Judged@3"]


def test_reported_one_document_at_two_ranks() -> None:
    """Refused, or the first kept where that is declared; no measure is ever above 1."""
    rows = [("q", "a", 3.0), ("q", "a", 2.0), ("q", "b", 1.0)]
    with pytest.raises(ContractError, match="query 'q' holds document 'a' twice"):
        Rankings.from_rows(rows)
    kept = audit(Rankings.from_rows(rows, duplicates="keep_first"), {"q": {"a": 1, "b": 1}}, ALL)
    assert all(result.mean.max <= 1 for result in kept.results.values() if result.mean.max is not None)


@pytest.mark.parametrize("name", [name for name in ALL if name != "Judged@3"])
def test_reported_a_query_with_empty_judgements(name: str) -> None:
    """Undefined, 0 under java and trec; the others are unaffected."""
    run: dict[str, dict[str, float]] = {"q": {"a": 1.0}, "r": {"a": 1.0}}
    judged: dict[str, dict[str, int]] = {"q": {"a": 1}, "r": {}}
    whole = audit(run, judged, [name])
    assert whole.to_json()["per_query"]["r"][name]["reason"] == "no relevant document"
    assert whole.mean(name).contract == audit({"q": run["q"]}, {"q": judged["q"]}, [name]).mean(name).contract
    for protocol in ("java", "trec"):
        zero = audit(run, judged, [name], protocol=protocol).to_json()["per_query"]["r"][name]
        assert (zero["contract"], zero["std"], zero["reason"]) == (0, 0, None)


@pytest.mark.parametrize("name", ALL)
def test_reported_a_judged_query_missing_from_the_run(name: str) -> None:
    """Counted as declared, never silently dropped: 0, undefined, refused, or left out and counted."""
    run, judged = {"q": {"a": 1.0}}, {"q": {"a": 1}, "r": {"a": 1}}
    alone = audit(run, {"q": {"a": 1}}, [name]).mean(name).contract or 0
    found = {name_: audit(run, judged, [name], protocol=name_) for name_ in ("rankwork", "handbook", "java", "trec")}
    assert [result.mean(name).queries for result in found.values()] == [2, 1, 2, 1]
    assert math.isclose(found["rankwork"].mean(name).contract or 0, alone / 2)
    assert any("missing from the run" in note for note in found["trec"].notes)
    with pytest.raises(InputError, match=r"missing from the run: r|k must be between"):
        audit(run, judged, [name], protocol="article")


def test_reported_fractional_grades_are_gains() -> None:
    """.5 and 1.5: both gain, one of them is relevant from grade 1 on, both are above 0."""
    run, judged = {"a": 2.0, "b": 1.0}, {"a": 0.5, "b": 1.5}
    dcg = (0.5 + 1.5 / math.log2(3)) / (1.5 + 0.5 / math.log2(3))
    assert math.isclose(entry(run, judged, "nDCG@2")["contract"], dcg)
    exponential = ((2**0.5 - 1) + (2**1.5 - 1) / math.log2(3)) / ((2**1.5 - 1) + (2**0.5 - 1) / math.log2(3))
    assert math.isclose(entry(run, judged, "nDCG(dcg='exp-log2')@2")["contract"], exponential)
    assert entry(run, judged, "RR")["contract"] == 0.5
    assert entry(run, judged, "RR", protocol="handbook")["contract"] == 1
    assert entry(run, {"a": 0.5}, "P@1")["reason"] == "no relevant document"
    assert entry(run, {"a": 0.5}, "nDCG@1")["contract"] == 1


@given(st.dictionaries(st.sampled_from("abcde"), st.integers(-2, 3), min_size=1))
def test_reported_a_negative_grade_never_makes_a_negative_measure(grades: dict[str, int]) -> None:
    """Declared unjudged it gains 0, as if it were not there; otherwise it is refused."""
    run = {"q": dict.fromkeys("abc", 1.0)}
    kept = {document: grade for document, grade in grades.items() if grade >= 0}
    with_negative = audit(run, {"q": grades}, ALL, protocol="trec").to_json()
    assert with_negative == audit(run, {"q": kept}, ALL, protocol="trec").to_json()
    assert all(value["min"] >= 0 for value in with_negative["per_query"]["q"].values())
    if len(kept) < len(grades):
        with pytest.raises(ContractError, match="is negative"):
            audit(run, {"q": grades}, ["nDCG@3"])


def test_reported_a_constant_scorer_does_not_look_perfect() -> None:
    """One relevant of 10,000 equal scores: RR between 1/10000 and 1, expected .00098."""
    found = entry({f"d{place:04d}": 1.0 for place in range(10_000)}, {"d0000": 1}, "RR")
    assert (found["min"], round(found["expected"], 5), found["max"]) == (1 / 10_000, 0.00098, 1)


def test_reported_two_relevant_documents_in_the_denominator() -> None:
    """One of two found at rank 1 of 3: AP@3 is one half."""
    scores = dict(zip("01234", (0.5, 0.2, 0.3, 0.4, 0.1), strict=True))
    found = entry(scores, {"0": 1, "4": 1}, "AP@3")
    assert found["contract"] == found["min"] == found["max"] == 0.5


@given(st.dictionaries(st.sampled_from("abcdef"), st.integers(-3, 3), min_size=1), st.integers(-50, 50))
def test_reported_negative_scores_rank_as_any_others(run: dict[str, int], shift: int) -> None:
    """An exact shift changes no measure."""
    judged = {"q": {"a": 1, "c": 2, "e": 0, "x": 1}}
    moved = {document: float(score + shift) for document, score in run.items()}
    assert (
        audit({"q": moved}, judged, ALL).to_json()
        == audit({"q": {d: float(s) for d, s in run.items()}}, judged, ALL).to_json()
    )


def test_reported_a_shift_of_floats_can_create_ties() -> None:
    """.1 and .1 + 1e-9 are two scores; a million added to float32 makes them one."""
    scores = np.array([0.1, 0.1 + 1e-6], np.float32)
    runs = [Rankings.from_columns(["q"] * 2, ["a", "b"], values) for values in (scores, scores + np.float32(1e6))]
    widths = [audit(run, {"q": {"a": 1}}, ["RR"]).result("RR").widths.max() for run in runs]
    assert widths == [0, 0.5]


def test_reported_recall_and_success_are_two_names() -> None:
    """Two relevant, one found."""
    run, judged = {"a": 1.0, "b": 0.5}, {"a": 1, "x": 1}
    assert (entry(run, judged, "R@2")["contract"], entry(run, judged, "Success@2")["contract"]) == (0.5, 1)


def test_the_table_of_outcomes_holds_each_protocols_number_or_its_refusal() -> None:
    table = outcomes(CONVENTIONS, CONVENTIONS_GRADES, ["P@2", "nDCG@2"])
    assert list(table) == list(NAMES)
    for name in NAMES:
        for measure in table.index:
            assert table[name][measure] == outcome(CONVENTIONS, CONVENTIONS_GRADES, measure, name)


def test_the_table_of_traces_holds_what_each_convention_makes_alone_and_is_empty_elsewhere() -> None:
    measures = ["P@2", "MRR@2", "nDCG@2"]
    table = traces(CONVENTIONS, CONVENTIONS_GRADES, measures, NAMES[1:])
    for name in NAMES[1:]:
        for measure in measures:
            cells: dict[Any, Any] = table[measure].to_dict()
            filled = {row[1]: value for row, value in cells.items() if row[0] == name and value != ""}
            alone = traced(CONVENTIONS, CONVENTIONS_GRADES, measure, name)
            assert filled == {c: "refused" if isinstance(v, str) else v for c, v in alone.items()}


def test_a_difference_that_no_convention_makes_is_noticed() -> None:
    """A number that is changed by hand has no convention behind it."""
    run, judged = {"q": {"a": 1.0}}, {"q": {"a": 1}}
    values, changes = (made(run, judged, ["R@1"]) for made in (outcomes, traces))
    assert unexplained(values, changes) == []
    values.loc["R@1", "java"] = 0.5
    assert unexplained(values, changes) == [("R@1", "java")]


def test_resolved_names_are_those_of_an_audit_and_an_unknown_one_is_refused() -> None:
    table = resolved_names(RUN, JUDGED, ["MRR@2", "ERR"], ["rankwork", "java"])
    assert table.to_dict("list") == {
        "parsed": ["MRR@2", "ERR"], "rankwork": ["RR(rel=1)@2", "ERR(max_rel=3.0)"],
        "java": ["RR(rel='>0')", "ERR(max_rel=3.0)"],
    }  # fmt: skip
    with pytest.raises(ContractError, match="measure 'reciprocal' is not known"):
        resolved_names(RUN, JUDGED, ["reciprocal"])
