"""Recall equals an enumeration of all orders that the scores allow, and of all lists that a cut can have come from."""

import math
from fractions import Fraction
from itertools import combinations
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from rankwork.errors import ContractError, InputError
from rankwork.inputs import toy
from rankwork.measures.auditing import audit
from tests.brute import orders, recall_at, spread

FIELDS = ("contract", "min", "expected", "max", "std")
IDS = ("b", "B", "a", "10", "9", "é")
RUNS = st.dictionaries(st.sampled_from(IDS), st.sampled_from([-1.0, 0.0, 0.5]), min_size=1, max_size=6)
GRADES = st.dictionaries(st.sampled_from((*IDS, "x", "y")), st.sampled_from([0, 1, 2, 3]), max_size=8)


def values(run: Any, grades: Any, name: str, **options: Any) -> dict[str, Any]:
    """The JSON entry of the only query."""
    entry: dict[str, Any] = audit({"q": run}, {"q": grades}, [name], **options).to_json()["per_query"]["q"][name]
    return entry


def close(entry: dict[str, Any], expected: dict[str, Any]) -> bool:
    return all(math.isclose(entry[name], float(value), abs_tol=1e-12) for name, value in expected.items())


def contract_order(rows: Any, policy: str) -> tuple[Any, ...]:
    """Plain Python: by ID in the policy's direction, then stable by score."""
    arrived = list(rows) if policy == "input" else sorted(rows, reverse=policy == "id_desc")
    return tuple(document for document, _ in sorted(arrived, key=lambda row: -row[1]))


@given(RUNS, GRADES, st.integers(1, 8), st.sampled_from([1, 2, 3]), st.sampled_from(["id_asc", "id_desc", "input"]))
def test_the_closed_form_is_the_enumeration(
    run: dict[str, float], grades: dict[str, int], k: int, rel: int, order: str
) -> None:
    """Graded, unjudged, unretrieved, any threshold, k beyond the list, every order."""
    relevant = {document for document, grade in grades.items() if grade >= rel}
    assume(relevant)
    found = spread(list(run.items()), recall_at(relevant, k))
    contract = recall_at(relevant, k)(contract_order(run.items(), order))
    expected = {"contract": contract, "min": found.min, "expected": found.mean, "max": found.max}
    entry = values(run, grades, f"R(rel={rel})@{k}", order=order)
    assert entry["reason"] is None
    assert close(entry, {**expected, "std": math.sqrt(found.variance)})


@given(st.lists(st.tuples(RUNS, GRADES), min_size=2, max_size=5), st.integers(1, 4))
def test_queries_do_not_disturb_each_other(cases: list[tuple[dict[str, float], dict[str, int]]], k: int) -> None:
    """All queries at once give what each gives alone, and the mean's variance is the sum of theirs over Q squared."""
    run = {f"q{place}": inner for place, (inner, _) in enumerate(cases)}
    judged = {f"q{place}": grades for place, (_, grades) in enumerate(cases)}
    found = audit(run, judged, [f"R@{k}"]).to_json()
    alone = [values(inner, grades, f"R@{k}") for inner, grades in cases]
    assert [found["per_query"][query][f"R@{k}"] for query in run] == alone
    defined = [entry for entry in alone if entry["reason"] is None]
    assume(defined)
    means = {name: sum(entry[name] for entry in defined) / len(defined) for name in FIELDS[:4]}
    std = math.sqrt(sum(entry["std"] ** 2 for entry in defined)) / len(defined)
    assert close(found["measures"][f"R@{k}"], {**means, "std": std})


@given(RUNS, GRADES, st.integers(1, 6))
def test_inclusive_takes_every_score_at_or_above_the_kth(run: dict[str, float], grades: dict[str, int], k: int) -> None:
    """More than k documents, said in a note; the range stays that of exactly k."""
    relevant = {document for document, grade in grades.items() if grade >= 1}
    assume(relevant)
    threshold = sorted(run.values(), reverse=True)[min(k, len(run)) - 1]
    selected = {document for document, score in run.items() if score >= threshold}
    result = audit({"q": run}, {"q": grades}, [f"R@{k}"], order="inclusive")
    entry = result.to_json()["per_query"]["q"][f"R@{k}"]
    assert math.isclose(entry["contract"], len(selected & relevant) / len(relevant))
    assert entry["max"] == values(run, grades, f"R@{k}")["max"]
    assert f"at or above the k-th score, {len(selected)}.0 on average, {len(selected)} at most" in str(result)


def completions(visible: dict[str, float], unretrieved: list[str], extra: int) -> list[dict[str, float]]:
    """The lists that a cut could have come from: hidden documents share the last score; some sort first, some last."""
    last = min(visible.values())
    found = []
    for count in range(len(unretrieved) + 1):
        for hidden in combinations(unretrieved, count):
            for prefix, others in [("0", 0), *((prefix, n) for prefix in "0~" for n in range(1, extra + 1))]:
                names = [*hidden, *(f"{prefix}hidden{place}" for place in range(others))]
                found.append({**visible, **dict.fromkeys(names, last)})
    return found


def recalls(run: dict[str, float], relevant: set[str], k: int) -> list[Fraction]:
    """Recall of every member set of k documents that the scores allow; all of them are equally likely."""
    threshold = sorted(run.values(), reverse=True)[k - 1]
    above = {document for document, score in run.items() if score > threshold}
    tied = [document for document, score in run.items() if score == threshold]
    sets = [above | set(members) for members in combinations(tied, k - len(above))]
    return [Fraction(len(members & relevant), len(relevant)) for members in sets]


def deviation(found: list[Fraction]) -> float:
    mean = sum(found) / Fraction(len(found))
    return math.sqrt(sum((value - mean) ** 2 for value in found) / len(found))


CUT_RUNS = st.dictionaries(st.sampled_from(("b", "a", "c", "d")), st.sampled_from([0.0, 1.0]), min_size=1, max_size=4)
CUT_GRADES = st.dictionaries(st.sampled_from(("b", "a", "c", "d", "0x", "~y")), st.sampled_from([0, 1]), max_size=6)


@given(CUT_RUNS, CUT_GRADES, st.integers(1, 5), st.sampled_from(["id_asc", "id_desc", "inclusive"]))
def test_a_cut_list_says_what_it_knows_and_bounds_the_rest(
    run: dict[str, float], grades: dict[str, int], k: int, order: str
) -> None:
    """Against every list that could have been cut: known numbers hold in all of them, the outer bounds are attained."""
    relevant = {document for document, grade in grades.items() if grade >= 1}
    assume(relevant)
    entry = values(run, grades, f"R@{k}", depth=len(run), order=order)
    cutoff = min(k, len(run))
    whole = completions(run, sorted(relevant - run.keys()), extra=cutoff)
    found = [recalls(complete, relevant, cutoff) for complete in whole]
    truths: dict[str, list[Fraction | float]] = {
        "contract": [selected_recall(complete, relevant, cutoff, order) for complete in whole],
        "min": [min(each) for each in found],
        "expected": [sum(each) / Fraction(len(each)) for each in found],
        "max": [max(each) for each in found],
        "std": [deviation(each) for each in found],
    }
    for name in FIELDS:
        if entry[name] is not None:
            assert all(math.isclose(entry[name], truth, abs_tol=1e-12) for truth in truths[name]), name
    hidden = {name for name in FIELDS if entry[name] is None}
    assert all(len(set(truths[name])) > 1 for name in hidden - {"contract"})
    assert entry["reason"] == ("censored" if hidden else None)
    if hidden:
        assert close(entry, {"outer_min": min(truths["min"]), "outer_max": max(truths["max"])})


@given(CUT_RUNS, st.sampled_from(["~y", "a"]), st.integers(1, 4))
def test_a_cut_above_the_last_group_hides_nothing(run: dict[str, float], last: str, k: int) -> None:
    """The declared depth changes no number as long as k documents score above the last group."""
    run = {**run, last: -1.0}
    k = min(k, len(run) - 1)
    assume(k)
    grades = {"a": 1, "b": 1, "x": 1}
    assert values(run, grades, f"R@{k}", depth=len(run)) == values(run, grades, f"R@{k}")


def selected_recall(run: dict[str, float], relevant: set[str], k: int, order: str) -> Fraction:
    if order != "inclusive":
        return recall_at(relevant, k)(contract_order(run.items(), order))
    threshold = sorted(run.values(), reverse=True)[k - 1]
    chosen = {document for document, score in run.items() if score >= threshold}
    return Fraction(len(chosen & relevant), len(relevant))


def test_only_lists_of_the_declared_depth_are_cut() -> None:
    """A shorter list is complete; its numbers are known."""
    run = {"cut": {"a": 1.0, "b": 1.0}, "short": {"a": 1.0}}
    judged = {"cut": {"a": 1, "x": 1}, "short": {"a": 1, "x": 1}}
    result = audit(run, judged, ["R@1"], depth=2)
    found = result.to_json()
    assert found["per_query"]["short"]["R@1"]["reason"] is None
    cut = found["per_query"]["cut"]["R@1"]
    unknown = dict.fromkeys(("contract", "expected", "std"))
    assert cut == {**unknown, "min": 0, "max": 0.5, "reason": "censored", "outer_min": 0, "outer_max": 0.5}
    mean = found["measures"]["R@1"]
    assert (mean["contract"], mean["censored"], mean["reason"]) == (None, 1, "censored")
    assert (mean["outer_min"], mean["outer_max"]) == (0.25, 0.5)
    assert "Lists of 2 documents were taken as cut there (1), shorter ones as complete." in result.notes


def test_a_list_longer_than_the_declared_depth_is_refused() -> None:
    with pytest.raises(InputError, match="depth 1 was declared, but the list of query 'q' holds 2 documents"):
        values({"a": 1.0, "b": 0.5}, {"a": 1}, "R@1", depth=1)
    for depth in (0, True, 1.0):
        with pytest.raises(ContractError, match="depth must be an integer of at least 1"):
            values({"a": 1.0}, {"a": 1}, "R@1", depth=depth)


def test_the_six_documents() -> None:
    """Recall@3 is 2/3 under the contract, in [2/3, 1], expected 7/9 with variance 2/81; inclusive returns four."""
    six = audit(*toy.six(), ["R@3"]).to_json()["per_query"]["q"]["R@3"]
    assert close(six, {"contract": 2 / 3, "min": 2 / 3, "expected": 7 / 9, "max": 1, "std": math.sqrt(2 / 81)})
    assert {recall_at(toy.SIX_RELEVANT, 3)(order) for order in orders(toy.SIX)} == {Fraction(2, 3), Fraction(1)}
    assert audit(*toy.six(), ["R@3"], order="inclusive").to_json()["measures"]["R@3"]["contract"] == 1


def test_the_four_documents() -> None:
    """Recall@2 is 1/2 with B, which the contract selects, and 1 with C."""
    four = audit(*toy.four(), ["R@2"]).to_json()["per_query"]["q"]["R@2"]
    assert close(four, {"contract": 0.5, "min": 0.5, "expected": 0.75, "max": 1, "std": 0.25})


def test_one_group_of_twenty_thousand_is_exact() -> None:
    """10 relevant of 20,000 tied, k = 1000: the hypergeometric mean and variance."""
    run = {f"d{place:05d}": 0.0 for place in range(20_000)}
    grades = {f"d{place:05d}": 1 for place in range(10)}
    entry = values(run, grades, "R@1000")
    variance = 1000 * (1 / 2000) * (1999 / 2000) * 19_000 / 19_999 / 100
    assert close(entry, {"contract": 1, "min": 0, "expected": 0.05, "max": 1, "std": math.sqrt(variance)})


def test_a_constant_scorer_does_not_look_good() -> None:
    """One relevant of 10,000 equal scores: recall at 10 between 0 and 1, expected .001."""
    entry = values({f"d{place:04d}": 1.0 for place in range(10_000)}, {"d0000": 1}, "R@10")
    assert close(entry, {"min": 0, "expected": 0.001, "max": 1})


def test_two_relevant_one_found_is_a_recall_of_one_half() -> None:
    """Recall is not success."""
    assert values({"a": 1.0, "b": 0.5}, {"a": 1, "x": 1}, "R@2")["contract"] == 0.5


@given(RUNS, GRADES, st.integers(1, 6), st.integers(-3, 3))
def test_an_exact_shift_of_all_scores_changes_nothing(
    run: dict[str, float], grades: dict[str, int], k: int, shift: int
) -> None:
    """Negative scores rank as any others."""
    shifted = {document: score + shift for document, score in run.items()}
    assert values(shifted, grades, f"R@{k}") == values(run, grades, f"R@{k}")


def test_fractional_grades_count_from_the_declared_threshold() -> None:
    """.5 and 1.5: one is relevant from 1 on, both are above 0, both from .5."""
    run, grades = {"a": 2.0, "b": 1.0}, {"a": 0.5, "b": 1.5}
    assert values(run, grades, "R@1")["contract"] == 0
    assert values(run, grades, "R@1", protocol="handbook")["contract"] == 0.5
    assert values(run, grades, "R(rel=0.5)@1")["contract"] == 0.5
