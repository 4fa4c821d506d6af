"""What may be called a tie: declared redefinitions work, and the habits that look like one are caught."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rankwork.contract.reference import rank
from rankwork.contract.tolerance import (
    bucketed,
    close_pairs,
    contract_of_truncated,
    displayed,
    hidden_differences,
    intransitive,
    inversions,
    nudged,
    rounded,
    written,
)
from rankwork.errors import ContractError

FLOATS = st.floats(-1000, 1000)
SCORED = st.dictionaries(st.integers(0, 9), st.integers(0, 3), max_size=8)
Rows = dict[int, int]


# Buckets


@pytest.mark.parametrize("tenth", range(-20, 21))
def test_each_edge_of_a_tenth_starts_its_own_bucket(tenth: int) -> None:
    """In binary, 0.3 // 0.1 is 2."""
    assert bucketed([("A", tenth / 10)], 0.1).rows == (("A", tenth),)


def test_buckets_declare_their_rule_and_keep_the_original() -> None:
    found = bucketed({"A": 0.31, "B": 0.39, "C": 0.4}, 0.1)
    assert found.rule == "scores in buckets of 0.1: the bucket number is floor(score / 0.1)"
    assert found.rows == (("A", 3), ("B", 3), ("C", 4))
    assert found.original == (("A", 0.31), ("B", 0.39), ("C", 0.4))
    assert found.merged == (("B", "A"),)


def test_a_redefinition_changes_the_ranking_and_says_which_documents_it_merged() -> None:
    rows = {"A": 0.31, "B": 0.39}
    assert rank(rows, 1) == ("B",)
    assert rank(bucketed(rows, 0.1).rows, 1) == ("A",)


@given(st.lists(FLOATS, min_size=2, max_size=6), st.sampled_from([0.1, 0.25, 0.001, 3, 7]))
def test_buckets_never_turn_a_pair_round(scores: list[float], width: float) -> None:
    found = bucketed(enumerate(scores), width)
    assert inversions(found.original, found.rows) == ()
    for (_, number), (_, score) in zip(found.rows, found.original, strict=True):
        assert number * written(width) <= written(score) < (number + 1) * written(width)


@given(st.lists(FLOATS, min_size=1, max_size=6))
def test_equality_after_a_redefinition_is_transitive(scores: list[float]) -> None:
    """Bucket numbers are equal or at least 1 apart, so no chain of close values can form."""
    assert intransitive([score for _, score in bucketed(enumerate(scores), 0.5).rows], epsilon=1) is None


@pytest.mark.parametrize("width", [0, -0.1, math.nan, math.inf, True, "0.1", None])
def test_a_width_that_is_not_positive_and_finite_is_refused(width: Any) -> None:
    with pytest.raises(ContractError, match="width must be"):
        bucketed({"A": 1}, width)


# Rounding


def test_halves_of_the_printed_decimal_go_to_the_even_neighbour() -> None:
    rows = {"A": 0.825, "B": 0.835, "C": 2.675, "D": -0.825, "E": 0.5}
    assert [score for _, score in rounded(rows, 2).rows] == [0.82, 0.84, 2.68, -0.82, 0.5]
    assert [score for _, score in rounded(rows, 0).rows] == [1.0, 1.0, 3.0, -1.0, 0.0]


def test_rounding_declares_its_rule_and_what_it_merged() -> None:
    found = rounded({"A": 0.821, "B": 0.824, "C": 0.83}, 2)
    assert found.rule == "scores rounded to 2 decimals, halves to even"
    assert found.merged == (("B", "A"),)
    assert found.original == (("A", 0.821), ("B", 0.824), ("C", 0.83))


def test_integers_stay_exact_under_rounding() -> None:
    assert rounded({"A": 2**53 + 1}, 2).rows == (("A", 2**53 + 1),)


def test_equal_scores_are_not_called_merged() -> None:
    assert rounded({"A": 0.82, "B": 0.82}, 2).merged == ()


@given(st.lists(FLOATS, min_size=2, max_size=6), st.integers(0, 17))
def test_rounding_never_turns_a_pair_round_and_moves_a_score_by_half_a_step_at_most(
    scores: list[float], digits: int
) -> None:
    found = rounded(enumerate(scores), digits)
    assert inversions(found.original, found.rows) == ()
    half_a_step = Fraction(1, 2 * 10**digits)
    for (_, new), (_, score) in zip(found.rows, found.original, strict=True):
        assert abs(written(new) - written(score)) <= half_a_step


@pytest.mark.parametrize("digits", [-1, 2.0, True, "2", None])
@pytest.mark.parametrize("function", [rounded, hidden_differences])
def test_digits_that_are_no_integer_of_at_least_0_are_refused(function: Any, digits: Any) -> None:
    with pytest.raises(ContractError, match="digits must be"):
        function({"A": 1}, digits)


# An epsilon added to scores


def test_an_epsilon_orders_exact_ties_by_id() -> None:
    rows = {"C": 0.5, "A": 0.5, "B": 0.5}
    assert rank(nudged(rows, 1e-9), 3, policy="input") == ("A", "B", "C")


def test_an_id_sized_epsilon_inverts_a_real_difference() -> None:
    """B is better than A by a millionth, and loses by nine."""
    rows = {"A": 1.0, "B": 1.000001}
    assert rank(rows, 1) == ("B",)
    assert rank(nudged(rows, 1e-5), 1) == ("A",)
    assert inversions(rows, nudged(rows, 1e-5)) == (("B", "A"),)


def test_an_epsilon_below_every_difference_inverts_nothing() -> None:
    rows = {"A": 1.0, "B": 1.000001}
    assert inversions(rows, nudged(rows, 1e-9)) == ()


def test_a_tie_that_is_broken_is_no_inversion() -> None:
    rows = {"A": 1.0, "B": 1.0}
    assert inversions(rows, [("A", 0.5), ("B", 0.75)]) == ()


@given(SCORED, st.permutations(range(4)))
def test_inversions_are_exactly_the_strict_pairs_that_turned_round(rows: Rows, new: list[int]) -> None:
    after = {identifier: new[score] for identifier, score in rows.items()}
    found = inversions(rows, after)
    assert len(set(found)) == len(found)
    assert set(found) == {(a, b) for a in rows for b in rows if rows[a] > rows[b] and after[a] < after[b]}


def test_inversions_compare_the_same_ids() -> None:
    with pytest.raises(ContractError, match="must hold the same IDs, but 'B' is in one only"):
        inversions({"A": 1}, {"A": 1, "B": 2})


@pytest.mark.parametrize("epsilon", [0, -1e-9, math.nan, math.inf, True, "1e-9"])
def test_an_epsilon_that_is_not_positive_and_finite_is_refused(epsilon: Any) -> None:
    for call in (
        lambda: nudged({"A": 1}, epsilon),
        lambda: close_pairs([1], epsilon),
        lambda: intransitive([1], epsilon),
    ):
        with pytest.raises(ContractError, match="epsilon must be"):
            call()


def test_a_score_too_large_for_a_float_is_refused_by_the_nudge() -> None:
    with pytest.raises(ContractError, match="ID 'A': the score is too large for a float"):
        nudged({"A": 10**400}, 1e-9)


# "Closer than epsilon"


def test_closer_than_epsilon_is_not_transitive() -> None:
    assert close_pairs([1.5, 0, 0.75], 1) == ((0, 0.75), (0.75, 1.5))
    assert intransitive([1.5, 0, 0.75], 1) == (0, 0.75, 1.5)


def test_values_that_are_all_close_or_all_apart_have_no_such_triple() -> None:
    assert intransitive([0, 0.25, 0.5], 1) is None
    assert intransitive([0, 1, 2], 1) is None
    assert intransitive([], 1) is None


def test_a_distance_of_exactly_epsilon_is_not_closer() -> None:
    """In binary, 0.3 - 0.2 is below 0.1."""
    assert close_pairs([0.2, 0.3], 0.1) == ()


@given(st.lists(st.integers(0, 12), max_size=7), st.integers(1, 6))
def test_a_triple_is_found_exactly_where_one_exists(values: list[int], epsilon: int) -> None:
    triples = {
        (a, b, c)
        for a in values
        for b in values
        for c in values
        if a < b < c and b - a < epsilon and c - b < epsilon and c - a >= epsilon
    }
    found = intransitive(values, epsilon)
    assert found in triples if triples else found is None


@pytest.mark.parametrize("value", [math.nan, math.inf, True, "1", None])
def test_a_value_that_is_no_finite_number_is_refused(value: Any) -> None:
    for call in (lambda: close_pairs([value], 1), lambda: intransitive([value], 1)):
        with pytest.raises(ContractError, match="value must be a finite number"):
            call()


# What the screen shows


def test_two_scores_that_differ_show_the_same_text() -> None:
    assert displayed(0.821, 2) == displayed(0.824, 2) == "0.82"
    assert hidden_differences({"A": 0.821, "B": 0.824, "C": 0.9}, 2) == ((("B", 0.824), ("A", 0.821)),)
    assert hidden_differences({"A": 0.821, "B": 0.824, "C": 0.9}, 3) == ()


def test_scores_that_are_equal_hide_nothing() -> None:
    assert hidden_differences({"A": 0.82, "B": 0.82}, 2) == ()


def test_large_integers_are_shown_exactly() -> None:
    assert displayed(2**53 + 1, 1) == "9007199254740993.0"
    assert displayed(10**400, 0) == str(10**400)


@given(st.floats(allow_nan=False, allow_infinity=False), st.integers(0, 20))
@example(2.675, 2)
@example(-0.0, 2)
@example(0.5, 0)
def test_what_is_displayed_is_what_python_prints(score: float, digits: int) -> None:
    assert displayed(score, digits) == f"{score:.{digits}f}"


@pytest.mark.parametrize("score", [math.nan, math.inf, True, "0.82", None])
def test_only_finite_numbers_are_displayed(score: Any) -> None:
    with pytest.raises(ContractError, match="score must be a finite number"):
        displayed(score, 2)


def test_a_float32_score_is_the_float64_it_converts_to() -> None:
    assert bucketed([("A", np.float32(0.7))], 0.1).rows == (("A", 6),)
    assert bucketed([("A", 0.7)], 0.1).rows == (("A", 7),)


# A list that was already cut


def test_a_cut_list_proves_a_top_k_that_ends_above_its_last_score() -> None:
    assert contract_of_truncated([("A", 9), ("D", 8), ("C", 8), ("E", 7)], 3) == ("A", "C", "D")


def test_sorting_a_cut_list_by_id_cannot_restore_what_was_cut() -> None:
    """The engine kept D and C and dropped B: sorted by ID the list reads A, C, D, and the contract is A, B, C."""
    kept = [("A", 9), ("D", 8), ("C", 8)]
    with pytest.raises(ContractError, match=r"the top 3 cannot be proved: the list ends at the k-th score, 8"):
        contract_of_truncated(kept, 3)
    assert contract_of_truncated(kept, 1) == ("A",)
    assert contract_of_truncated(kept, 0) == ()


def test_a_list_declared_complete_proves_every_top_k() -> None:
    assert contract_of_truncated([("A", 9), ("D", 8), ("C", 8)], 3, complete=True) == ("A", "C", "D")


def test_a_k_beyond_the_list_is_refused_even_if_it_is_complete() -> None:
    for complete in (False, True):
        with pytest.raises(ContractError, match="k must be between 0 and 1, got 2"):
            contract_of_truncated([("A", 9)], 2, complete=complete)


@given(SCORED, st.data())
def test_what_is_proved_from_a_cut_list_is_the_contract_of_the_whole(rows: Rows, data: st.DataObject) -> None:
    """Cut by any engine that respects scores: ties kept in any order."""
    arrived = data.draw(st.permutations(list(rows.items())))
    depth, k = data.draw(st.integers(0, len(rows))), data.draw(st.integers(0, len(rows)))
    kept = sorted(arrived, key=lambda row: -row[1])[:depth]
    try:
        found = contract_of_truncated(data.draw(st.permutations(kept)), k)
    except ContractError:
        assert k > depth or kept[k - 1][1] == kept[-1][1]
    else:
        assert found == rank(rows, k)


@pytest.mark.parametrize("rows", [[("A", math.nan)], [("A", 1), ("A", 2)], [("A", 1, 2)], None])
def test_rows_that_rank_refuses_are_refused(rows: Any) -> None:
    calls: list[Any] = [
        lambda: bucketed(rows, 1),
        lambda: rounded(rows, 1),
        lambda: nudged(rows, 1),
        lambda: inversions(rows, {"A": 1}),
        lambda: inversions({"A": 1}, rows),
        lambda: hidden_differences(rows, 1),
        lambda: contract_of_truncated(rows, 1),
    ]
    for call in calls:
        with pytest.raises(ContractError):
            call()
