"""The reference ranker: which order is the order, and what it refuses."""

import math
from itertools import permutations, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankwork
from rankwork.contract.reference import (
    Candidate,
    candidates,
    checked_ids,
    checked_k,
    checked_keys,
    direction,
    ordered,
    rank,
)
from rankwork.errors import ContractError
from tests import brute

SIX = [("A", 9), ("B", 8), ("C", 8), ("D", 8), ("E", 7), ("F", 6)]
SCORED = st.dictionaries(st.text("ABab9é\U0001f600", max_size=2), st.integers(-2, 2) | st.just(0.5), max_size=7)


def numbered(scores: list[Any]) -> list[tuple[int, Any]]:
    """Scores with their positions as IDs."""
    return list(enumerate(scores))


# Order


def test_the_six_documents_give_one_answer_over_all_720_arrivals() -> None:
    assert {rank(arrival, 3) for arrival in permutations(SIX)} == {("A", "B", "C")}


def test_the_public_name_is_the_reference() -> None:
    assert rankwork.rank is rank


def test_k_of_zero_selects_nothing_and_k_of_n_everything() -> None:
    assert rank(SIX, 0) == ()
    assert rank(SIX, 6) == tuple("ABCDEF")
    assert rank([], 0) == ()


def test_a_mapping_from_id_to_score_is_rows() -> None:
    assert rank(dict(SIX), 3) == rank(iter(SIX), 3) == rank([list(row) for row in SIX], 3)


@given(SCORED)
def test_the_result_is_an_allowed_order_and_the_one_with_the_smallest_ids(scored: dict[str, float]) -> None:
    """Among all orders that the scores allow, the contract's is the lexicographically first."""
    assert rank(scored, len(scored)) == min(brute.orders(list(scored.items())))


@given(SCORED, st.data())
def test_the_top_k_is_a_prefix_of_the_top_k_plus_one(scored: dict[str, float], data: st.DataObject) -> None:
    k = data.draw(st.integers(0, max(0, len(scored) - 1)))
    longer = rank(scored, min(k + 1, len(scored)))
    assert rank(scored, k) == longer[:k]


@given(SCORED, st.randoms(use_true_random=False))
def test_arrival_order_does_not_matter(scored: dict[str, float], random: Any) -> None:
    rows = list(scored.items())
    random.shuffle(rows)
    assert rank(rows, len(rows)) == rank(scored, len(rows))


def test_negative_zero_ties_with_zero() -> None:
    assert rank([("B", 0.0), ("A", -0.0), ("C", -0.0)], 3) == ("A", "B", "C")


def test_text_ids_compare_by_code_point_as_utf8_bytes_do() -> None:
    ids = ["z", "Z", "é", "10", "9", "\uffff", "\U0001f600", ""]
    found = rank([(identifier, 1) for identifier in ids], len(ids))
    assert list(found) == sorted(ids) == sorted(ids, key=str.encode)


def test_text_10_sorts_before_text_9_and_integer_10_after_integer_9() -> None:
    assert rank([("9", 1), ("10", 1)], 2) == ("10", "9")
    assert rank([(10, 1), (9, 1)], 2) == (9, 10)


def test_integers_are_compared_as_integers() -> None:
    """2^53 and 2^53 + 1 are one float, and two integers; an integer is also compared exactly with a float."""
    big = 2**53
    assert rank([("A", big), ("B", big + 1)], 1) == ("B",)
    assert rank([("A", float(big)), ("B", big + 1)], 1) == ("B",)
    assert rank([("A", np.int64(2**63 - 2)), ("B", np.int64(2**63 - 1))], 1) == ("B",)
    assert rank([("A", 10**400), ("B", 10**400 + 1)], 1) == ("B",)


def test_numpy_scalars_count_as_the_values_they_hold() -> None:
    scores = [np.float16(0.1), np.array(0.1), 0.1]
    assert rank(numbered(scores), 3) == (1, 2, 0)
    assert candidates([(np.int64(3), np.float32(0.5))]) == (Candidate(3, (0.5,)),)
    assert type(candidates([(np.str_("A"), np.float64(0.5))])[0].id) is str
    assert type(candidates([(np.str_("A"), np.float64(0.5))])[0].score) is float


# Policies


def test_policies_resolve_ties_by_ascending_id_descending_id_or_arrival() -> None:
    arrived = [("C", 8), ("A", 9), ("D", 8), ("B", 8)]
    assert rank(arrived, 4, policy="id_asc") == rank(arrived, 4) == ("A", "B", "C", "D")
    assert rank(arrived, 4, policy="id_desc") == ("A", "D", "C", "B")
    assert rank(arrived, 4, policy="input") == ("A", "C", "D", "B")


def test_inclusive_returns_every_row_at_or_above_the_kth() -> None:
    assert rank(SIX, 3, policy="inclusive") == ("A", "B", "C", "D")
    assert rank(SIX, 1, policy="inclusive") == ("A",)
    assert rank(SIX, 4, policy="inclusive") == ("A", "B", "C", "D")
    assert rank(SIX, 0, policy="inclusive") == ()


@given(SCORED, st.data())
def test_inclusive_is_the_union_of_all_allowed_selections(scored: dict[str, float], data: st.DataObject) -> None:
    k = data.draw(st.integers(0, len(scored)))
    allowed = {identifier for order in brute.orders(list(scored.items())) for identifier in order[:k]}
    assert set(rank(scored, k, policy="inclusive")) == allowed


def test_inclusive_with_keys_stops_where_a_key_differs() -> None:
    rows = [("A", 9, 1), ("B", 8, 5), ("C", 8, 5), ("D", 8, 4)]
    assert rank(rows, 2, keys=["views"], policy="inclusive") == ("A", "B", "C")


@pytest.mark.parametrize("policy", ["rank", "random", ""])
def test_a_policy_that_rows_cannot_serve_is_refused(policy: str) -> None:
    with pytest.raises(ContractError, match="policy"):
        rank(SIX, 3, policy=policy)


# Secondary keys


def test_keys_decide_in_their_declared_priority_and_the_id_decides_last() -> None:
    rows = [("D", 8, 10, 3.0), ("C", 8, 10, 2.5), ("B", 8, 20, 9.0), ("A", 8, 10, 2.5), ("E", 9, 0, 99.0)]
    assert rank(rows, 5, keys=["views", "price asc"]) == ("E", "B", "A", "C", "D")
    assert rank(rows, 5, keys=["views desc", "price asc"]) == ("E", "B", "A", "C", "D")
    assert rank(rows, 5, keys=["views", "price"]) == ("E", "B", "D", "A", "C")


def test_priority_matters() -> None:
    rows = [("A", 8, 1, 2), ("B", 8, 2, 1)]
    assert rank(rows, 1, keys=["views", "likes"]) == ("B",)
    assert rank([(i, s, likes, views) for i, s, views, likes in rows], 1, keys=["likes", "views"]) == ("A",)


def test_text_keys_sort_both_ways() -> None:
    rows = [("A", 8, "b"), ("B", 8, "a"), ("C", 8, "ab")]
    assert rank(rows, 3, keys=["title asc"]) == ("B", "C", "A")
    assert rank(rows, 3, keys=["title"]) == ("A", "C", "B")


@given(st.permutations(list(product([1, 2], [1, 2], [1, 2]))))
def test_keys_agree_with_one_sort_on_the_negated_values(standings: list[tuple[int, int, int]]) -> None:
    rows = [(place, *standing) for place, standing in enumerate(standings)]
    wanted = sorted(rows, key=lambda row: (-row[1], -row[2], row[3], row[0]))
    assert rank(rows, 8, keys=["views", "price asc"]) == tuple(row[0] for row in wanted)


def test_descending_ids_do_not_turn_the_keys_round() -> None:
    rows = [("A", 8, 1), ("B", 8, 1), ("C", 8, 0)]
    assert rank(rows, 3, keys=["views"], policy="id_desc") == ("B", "A", "C")


@pytest.mark.parametrize("keys", ["views", ["views", "views asc"], ["views up"], [""], ["a b c"], [1]])
def test_keys_that_are_not_distinct_names_are_refused(keys: Any) -> None:
    with pytest.raises(ContractError, match="key"):
        rank([("A", 1, 1, 1)], 1, keys=keys)


@pytest.mark.parametrize("value", [math.nan, math.inf, True, None, b"text", np.float32("nan"), np.bool_(False)])
def test_a_key_value_that_is_no_finite_number_or_text_is_refused_with_its_place(value: object) -> None:
    with pytest.raises(ContractError, match=r"position 1 \(ID 'B'\): key 'views'"):
        rank([("A", 1, 1), ("B", 1, value)], 1, keys=["views"])


def test_a_key_column_that_mixes_numbers_and_text_is_refused() -> None:
    with pytest.raises(ContractError, match="key 'views' must be all numbers or all text, got 1 at position 0 and '2'"):
        rank([("A", 1, 1), ("B", 1, "2")], 1, keys=["views"])


@pytest.mark.parametrize("row", [("B",), ("B", 1), ("B", 1, 2, 3)])
def test_a_row_must_hold_exactly_the_declared_keys(row: tuple[Any, ...]) -> None:
    with pytest.raises(ContractError, match=r"position 1 \(ID 'B'\): a row must hold an ID, a score, views"):
        rank([("A", 1, 2), row], 1, keys=["views"])


def test_a_mapping_carries_no_keys() -> None:
    with pytest.raises(ContractError, match="a row must hold an ID, a score, views, got 2 values"):
        rank({"A": 1}, 1, keys=["views"])


# Refusals


@pytest.mark.parametrize("k", [7, -1, True, False, 2.0, "2", None, np.bool_(True), np.float64(2), np.int64(-1)])
def test_a_k_that_is_no_integer_between_0_and_n_is_refused(k: Any) -> None:
    with pytest.raises(ContractError, match="k must be"):
        rank(SIX, k)


def test_the_message_about_k_names_the_limits_and_the_value() -> None:
    with pytest.raises(ContractError, match=r"^k must be between 0 and 6, got 7$"):
        rank(SIX, 7)


@pytest.mark.parametrize("k", [np.int64(3), np.uint8(3)])
def test_numpy_integers_are_a_k(k: Any) -> None:
    assert rank(SIX, k) == ("A", "B", "C")
    assert type(checked_k(k, 6)) is int


@pytest.mark.parametrize(
    "score",
    [math.nan, math.inf, -math.inf, np.float32("nan"), True, np.bool_(True), "9", None, 1j],
)
def test_a_score_that_is_no_finite_number_is_refused_with_position_and_id(score: object) -> None:
    with pytest.raises(ContractError, match=r"^position 1 \(ID 'B'\): a score must be a finite number, got "):
        rank([("A", 1), ("B", score)], 1)


@pytest.mark.parametrize("score", [np.array([1.0]), [1.0]])
def test_an_array_of_one_is_no_score(score: object) -> None:
    with pytest.raises(ContractError, match="a score must be a finite number"):
        rank([("A", score)], 1)


def test_a_masked_score_is_not_read_as_zero() -> None:
    with pytest.raises(ContractError, match="a score must be a finite number, got masked"):
        rank(numbered(list(np.ma.masked_invalid([0.5, math.nan]))), 1)


@pytest.mark.parametrize("identifier", [True, np.bool_(True), 1.0, None, b"A", ("A",)])
def test_an_id_that_is_neither_text_nor_integer_is_refused(identifier: object) -> None:
    with pytest.raises(ContractError, match=r"^IDs must be text or integers, got .* at position 0$"):
        rank([(identifier, 1)], 1)


def test_text_and_integer_ids_are_never_mixed() -> None:
    with pytest.raises(ContractError, match="all text or all integers, got '10' at position 0 and 9 at position 2"):
        rank([("10", 1), ("11", 1), (9, 1)], 1)


def test_mixed_ids_are_refused_even_where_no_scores_tie() -> None:
    with pytest.raises(ContractError, match="all text or all integers"):
        rank([("A", 2), (1, 1)], 1)


def test_a_duplicate_id_is_refused_with_both_positions() -> None:
    with pytest.raises(ContractError, match="'A' stands at positions 0 and 2"):
        rank([("A", 3), ("B", 2), ("A", 1)], 1)
    with pytest.raises(ContractError, match="3 stands at positions 0 and 1"):
        rank([(3, 1), (np.int64(3), 1)], 1)


@pytest.mark.parametrize("rows", [None, 7, "AB", ["A"], [()], [{"A": 1}], [("A", 1), 3]])
def test_what_is_no_row_is_refused(rows: Any) -> None:
    with pytest.raises(ContractError, match=r"row"):
        rank(rows, 0)


def test_every_refusal_is_also_a_value_error() -> None:
    with pytest.raises(ValueError, match="k must be"):
        rank(SIX, 7)


# The checked forms that other modules use


def test_candidates_keep_the_order_of_arrival() -> None:
    assert [row.id for row in candidates(reversed(SIX))] == list("FEDCBA")


def test_ordered_refuses_a_policy_it_does_not_know() -> None:
    with pytest.raises(ContractError, match="policy must be one of"):
        ordered(candidates(SIX), policy="best")


def test_checked_ids_name_what_they_are() -> None:
    assert checked_ids([np.int64(1), 2]) == (1, 2)
    with pytest.raises(ContractError, match="relevant IDs must be text or integers, got None at position 1"):
        checked_ids(["A", None], what="relevant IDs")


def test_checked_keys_and_direction_read_one_syntax() -> None:
    assert checked_keys(["views", "price asc"]) == ("views", "price asc")
    assert direction(" price   asc ") == ("price", False)


# Reported faults of other engines, as small inputs


@pytest.mark.parametrize("k", [1, 2, 3, 4, 5])
def test_case_1_position_2_comes_first_and_each_top_k_is_a_prefix(k: int) -> None:
    assert rank(numbered([1, 2, 5, 4, 5]), k) == (2, 4, 3, 1, 0)[:k]


def test_case_2_the_lowest_of_the_equal_positions_are_selected() -> None:
    assert rank(numbered([3, 2, 3, 2, 1, 1]), 2) == (0, 2)


@pytest.mark.parametrize(("scores", "k"), [([-1] * 4, 1), ([0] * 4, 3), ([0.7] * 5, 3)], ids=["3", "6", "8"])
def test_cases_3_6_and_8_equal_scores_select_the_lowest_positions(scores: list[float], k: int) -> None:
    assert rank(numbered(scores), k) == tuple(range(k))


def test_case_5_nan_of_either_sign_and_infinities_are_refused_with_their_position() -> None:
    with pytest.raises(ContractError, match=r"position 2 \(ID 2\)"):
        rank(numbered([1.0, 2.0, -math.nan, math.inf]), 1)


@pytest.mark.parametrize("k", range(9))
def test_case_7_six_equal_maxima_select_the_lowest_positions(k: int) -> None:
    assert rank(numbered([1000] * 6 + [0, 1000]), k) == (0, 1, 2, 3, 4, 5, 7, 6)[:k]


def test_case_9_pages_of_one_over_100_tied_documents_show_each_exactly_once() -> None:
    rows = [(f"d{number:03}", 0.5) for number in reversed(range(100))]
    pages = [rank(rows, page)[-1] for page in range(1, 101)]
    assert pages == [f"d{number:03}" for number in range(100)]


def test_case_12_scores_that_tie_in_float32_do_not_tie_in_float64() -> None:
    rows = [("A", 1.0), ("B", 1.00000001)]
    assert rank(rows, 2) == ("B", "A")
    assert rank([(identifier, np.float32(score)) for identifier, score in rows], 2) == ("A", "B")


def test_case_13_one_document_at_two_ranks_is_refused() -> None:
    with pytest.raises(ContractError, match="unique"):
        rank([("A", 9), ("B", 8), ("A", 7)], 3)


def test_case_21_negative_scores_rank_as_any_others() -> None:
    assert rank(numbered([-3, -1, -2, -1]), 4) == (1, 3, 2, 0)
