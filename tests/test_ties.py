"""The boundary, the tie groups and the recall range: three ways to the same numbers."""

import math
from collections import Counter
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankwork
from rankwork.contract.reference import candidates, rank
from rankwork.contract.ties import (
    Boundary,
    Range,
    boundary,
    enumerated_recalls,
    recall_distribution,
    recall_range,
    relevant_ids,
    tie_groups,
)
from rankwork.errors import ContractError
from tests import brute

SIX = [("A", 9), ("B", 8), ("C", 8), ("D", 8), ("E", 7), ("F", 6)]
GOOD = ("A", "B", "D")
# At most seven rows, and IDs that no row has: relevant documents that were never retrieved.
SCORED = st.dictionaries(st.integers(0, 9), st.integers(0, 2), max_size=7)
RELEVANT = st.sets(st.integers(0, 12), min_size=1, max_size=8)
Rows = dict[int, int]


# The oracle itself


def test_the_oracle_finds_the_six_orders_and_three_member_sets_of_the_six_documents() -> None:
    found = list(brute.orders(SIX))
    assert len(found) == len(set(found)) == 6
    assert {frozenset(order[:3]) for order in found} == {frozenset("ABC"), frozenset("ABD"), frozenset("ACD")}


def test_the_oracle_gives_the_known_spread_of_the_six_documents() -> None:
    found = brute.spread(SIX, brute.recall_at(GOOD, 3))
    assert found == brute.Spread(Fraction(2, 3), Fraction(7, 9), Fraction(1), Fraction(2, 81), 6)


def test_the_oracle_refuses_to_run_for_hours() -> None:
    with pytest.raises(ValueError, match="too many"):
        next(brute.orders([(number, 0) for number in range(12)]))


# Boundary


def test_the_boundary_of_the_six_documents() -> None:
    assert boundary(SIX, 3, GOOD) == Boundary(1, 3, 2, 8, 1, 2)
    assert boundary(SIX, 3) == Boundary(1, 3, 2, 8, None, None)
    assert rankwork.boundary is boundary


@pytest.mark.parametrize(
    ("k", "wanted"),
    [
        (0, Boundary(0, 0, 0, None)),
        (1, Boundary(0, 1, 1, 9)),
        (2, Boundary(1, 3, 1, 8)),
        (4, Boundary(1, 3, 3, 8)),
        (5, Boundary(4, 1, 1, 7)),
        (6, Boundary(5, 1, 1, 6)),
    ],
)
def test_the_boundary_moves_with_k(k: int, wanted: Boundary) -> None:
    assert boundary(SIX, k) == wanted


def test_only_a_group_that_reaches_across_the_cut_crosses() -> None:
    assert [boundary(SIX, k).crosses for k in range(7)] == [False, False, True, True, False, False, False]


def test_k_of_zero_has_no_relevant_documents_at_its_boundary() -> None:
    assert boundary(SIX, 0, GOOD) == Boundary(0, 0, 0, None, 0, 0)


@given(SCORED, st.data())
def test_the_boundary_agrees_with_all_orders(rows: Rows, data: st.DataObject) -> None:
    """Above: in every selection. Above and tied together: in some selection. Crossing: more than one member set."""
    k = data.draw(st.integers(0, len(rows)))
    selections = {frozenset(order[:k]) for order in brute.orders(list(rows.items()))}
    always, ever = frozenset.intersection(*selections), frozenset.union(*selections)
    found = boundary(rows, k)
    assert found.above + found.slots == k
    assert found.above + found.tied == len(ever)
    assert found.crosses == (len(selections) > 1) == (always != ever)
    assert len(selections) == math.comb(found.tied, found.slots)


@given(SCORED, st.data())
def test_the_surplus_is_what_the_inclusive_policy_returns_beyond_k(rows: Rows, data: st.DataObject) -> None:
    k = data.draw(st.integers(0, len(rows)))
    assert boundary(rows, k).surplus == len(rank(rows, k, policy="inclusive")) - k


def test_rows_that_differ_in_a_secondary_key_are_not_tied() -> None:
    rows = [("A", 8, 2), ("B", 8, 2), ("C", 8, 1)]
    assert boundary(rows, 1, ["B"], keys=["views"]) == Boundary(0, 2, 1, 8, 0, 1)
    assert boundary(rows, 1, ["B"], keys=["price asc"]) == Boundary(0, 1, 1, 8, 0, 0)


def test_negative_zero_is_in_the_group_of_zero() -> None:
    assert boundary([("A", 0.0), ("B", -0.0), ("C", 0)], 1).tied == 3


# Tie groups


def test_tie_groups_come_best_first_with_their_ids_ascending() -> None:
    found = tie_groups(reversed(SIX))
    assert [(group.score, group.start, group.ids) for group in found] == [
        (9, 0, ("A",)),
        (8, 1, ("B", "C", "D")),
        (7, 4, ("E",)),
        (6, 5, ("F",)),
    ]
    assert tie_groups([]) == ()


@given(SCORED)
def test_tie_groups_agree_with_the_oracle(rows: Rows) -> None:
    assert [list(group.ids) for group in tie_groups(rows)] == [sorted(g) for g in brute.groups(list(rows.items()))]


def test_secondary_keys_split_tie_groups() -> None:
    rows = [("A", 8, 1), ("B", 8, 2), ("C", 8, 1)]
    assert [group.ids for group in tie_groups(rows, ["price asc"])] == [("A", "C"), ("B",)]


# Recall range


def test_the_recall_range_of_the_six_documents() -> None:
    found = recall_range(SIX, GOOD, 3)
    assert (found.min, found.expected, found.max, found.reason) == (2 / 3, 7 / 9, 1.0, None)
    assert found.std == pytest.approx(math.sqrt(2 / 81), abs=1e-15)
    assert rankwork.recall_range is recall_range


def test_the_three_member_sets_of_the_six_documents_have_recalls_two_thirds_twice_and_one() -> None:
    assert enumerated_recalls(SIX, GOOD, 3) == {Fraction(2, 3): 2, Fraction(1): 1}
    assert recall_distribution(SIX, GOOD, 3) == {Fraction(2, 3): Fraction(2, 3), Fraction(1): Fraction(1, 3)}


def test_the_inclusive_result_has_four_documents_and_recall_one() -> None:
    returned = rank(SIX, 3, policy="inclusive")
    assert len(returned) == 4
    assert set(GOOD) <= set(returned)


@given(SCORED, RELEVANT, st.integers(1, 9))
def test_the_closed_form_agrees_with_all_orders(rows: Rows, relevant: set[int], k: int) -> None:
    """Also where k is beyond the rows, where rows are empty and where relevant documents were not retrieved."""
    found, oracle = recall_range(rows, relevant, k), brute.spread(list(rows.items()), brute.recall_at(relevant, k))
    wanted = (float(oracle.min), float(oracle.mean), float(oracle.max), math.sqrt(oracle.variance))
    assert (found.min, found.expected, found.max) == wanted[:3]
    assert found.std == pytest.approx(wanted[3], abs=1e-15)


@given(SCORED, RELEVANT, st.integers(1, 9))
def test_enumeration_and_distribution_agree_with_all_orders(rows: Rows, relevant: set[int], k: int) -> None:
    all_orders = Counter(map(brute.recall_at(relevant, k), brute.orders(list(rows.items()))))
    shares = {recall: Fraction(count, all_orders.total()) for recall, count in sorted(all_orders.items())}
    sets = enumerated_recalls(rows, relevant, k)
    assert recall_distribution(rows, relevant, k) == shares
    assert {recall: Fraction(count, sum(sets.values())) for recall, count in sets.items()} == shares
    assert list(sets) == sorted(sets)


@given(SCORED, RELEVANT, st.integers(1, 9))
def test_the_contract_lies_in_the_range(rows: Rows, relevant: set[int], k: int) -> None:
    recall = brute.recall_at(relevant, k)(rank(rows, len(rows)))
    found = recall_range(rows, relevant, k)
    assert found.min is not None
    assert found.max is not None
    assert found.min <= float(recall) <= found.max


def test_the_closed_form_needs_no_enumeration() -> None:
    """A constant scorer: 5,000 tied documents, one relevant, k = 10."""
    rows = dict.fromkeys(range(5000), 0.5)
    assert recall_range(rows, [4321], 10) == Range(0.0, 0.002, 1.0, pytest.approx(math.sqrt(0.002 * 0.998)))  # type: ignore[arg-type]
    assert recall_distribution(rows, [4321], 10) == {0: Fraction(499, 500), 1: Fraction(1, 500)}
    with pytest.raises(ContractError, match=r"choosing 10 of 5000 tied documents gives more than 1000000 member sets"):
        enumerated_recalls(rows, [4321], 10)


def test_without_a_relevant_document_recall_is_undefined_and_says_why() -> None:
    assert recall_range(SIX, [], 3) == Range(None, None, None, None, "no relevant document")
    for undefined in (recall_distribution, enumerated_recalls):
        with pytest.raises(ContractError, match="there is no relevant document"):
            undefined(SIX, [], 3)


def test_without_rows_recall_is_zero() -> None:
    assert recall_range([], ["A"], 3) == Range(0.0, 0.0, 0.0, 0.0)
    assert recall_distribution([], ["A"], 3) == {Fraction(0): Fraction(1)}


def test_a_relevant_document_named_twice_counts_once() -> None:
    assert recall_range(SIX, ["A", "B", "D", "D"], 3) == recall_range(SIX, GOOD, 3)


def test_a_relevant_document_that_was_not_retrieved_stays_in_the_denominator() -> None:
    assert recall_range(SIX, ["A", "Z"], 6) == Range(0.5, 0.5, 0.5, 0.0)


def test_a_secondary_key_narrows_the_range() -> None:
    rows = [("A", 8, 2), ("B", 8, 1), ("C", 8, 1)]
    assert recall_range(rows, ["A"], 1, keys=["views"]) == Range(1.0, 1.0, 1.0, 0.0)
    assert enumerated_recalls(rows, ["A"], 1, keys=["views"]) == {Fraction(1): 1}


# Refusals


def test_the_boundary_refuses_a_k_beyond_the_rows_and_measures_clip_it() -> None:
    with pytest.raises(ContractError, match="k must be between 0 and 6, got 7"):
        boundary(SIX, 7)
    assert recall_range(SIX, GOOD, 7) == recall_range(SIX, GOOD, 6)


@pytest.mark.parametrize("k", [0, -1, True, 2.0, "2", None])
@pytest.mark.parametrize("measure", [recall_range, recall_distribution, enumerated_recalls])
def test_a_measure_needs_an_integer_k_of_at_least_one(measure: Any, k: Any) -> None:
    with pytest.raises(ContractError, match="k must be"):
        measure(SIX, GOOD, k)


@pytest.mark.parametrize("relevant", ["ABD", b"ABD", {"A": 1}, 7])
def test_relevant_documents_are_a_collection_of_ids(relevant: Any) -> None:
    """A bare text would be read letter by letter, and a mapping's grades would be lost."""
    with pytest.raises(ContractError, match="relevant must be a collection of IDs"):
        boundary(SIX, 3, relevant)
    with pytest.raises(ContractError, match="relevant must be a collection of IDs"):
        recall_range(SIX, relevant, 3)


def test_relevant_ids_of_another_kind_than_the_rows_are_refused() -> None:
    with pytest.raises(ContractError, match="relevant ID 1 is an integer, but the rows' ID '1' is text"):
        recall_range({"1": 0.5}, [1], 1)
    with pytest.raises(ContractError, match="relevant ID '1' is text, but the rows' ID 1 is an integer"):
        boundary({1: 0.5}, 1, ["1"])
    assert relevant_ids(["1"], candidates([])) == {"1"}


@pytest.mark.parametrize("relevant", [["A", 1], ["A", True], [None], [1.0]])
def test_relevant_ids_are_all_text_or_all_integers(relevant: Any) -> None:
    with pytest.raises(ContractError, match="relevant IDs must be"):
        boundary(SIX, 3, relevant)


@pytest.mark.parametrize("rows", [[("A", math.nan)], [("A", 1), ("A", 2)], [("A", 1), (2, 1)]])
@pytest.mark.parametrize("function", [boundary, tie_groups, recall_range, recall_distribution, enumerated_recalls])
def test_rows_that_rank_refuses_are_refused(function: Any, rows: Any) -> None:
    arguments = {boundary: (1,), tie_groups: ()}.get(function, (["A"], 1))
    with pytest.raises(ContractError, match="ID"):
        function(rows, *arguments)


def test_results_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        boundary(SIX, 3).above = 2  # type: ignore[misc]
    with pytest.raises(AttributeError):
        recall_range(SIX, GOOD, 3).min = 0.0  # type: ignore[misc]
