"""Two rankings in three layers: each difference is noticed in its own layer and gets its own diagnosis."""

import math
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankwork
from rankwork.contract.comparison import compare
from rankwork.errors import ContractError

TOP = [("A", 9), ("B", 8), ("C", 8)]
RANKING = st.dictionaries(st.sampled_from("ABCDE"), st.integers(0, 2), max_size=5)


def test_equal_rankings_are_the_same_in_every_layer() -> None:
    found = compare(TOP, list(TOP))
    assert found
    assert found.diagnosis == "same"
    assert (found.scores_same, found.members_same, found.order_same) == (True, True, True)
    assert (found.first_difference, found.only_in_a, found.only_in_b, found.at_cut) == (None, (), (), False)
    assert rankwork.compare is compare


def test_other_members_at_the_cut_are_named_with_where_they_stand() -> None:
    found = compare(TOP, [("A", 9), ("B", 8), ("D", 8)])
    assert not found
    assert found.diagnosis == "same scores, other members: look at the cut"
    assert (found.scores_same, found.members_same, found.order_same) == (True, False, False)
    assert (found.first_difference, found.only_in_a, found.only_in_b, found.at_cut) == (2, ("C",), ("D",), True)


def test_other_members_above_the_cut_are_not_at_the_cut() -> None:
    found = compare(TOP, [("Z", 9), ("B", 8), ("C", 8)])
    assert found.diagnosis == "same scores, other members: look at the cut"
    assert (found.first_difference, found.only_in_a, found.only_in_b, found.at_cut) == (0, ("A",), ("Z",), False)


def test_one_member_at_the_cut_and_one_above_it_is_not_all_at_the_cut() -> None:
    assert not compare(TOP, [("Z", 9), ("B", 8), ("D", 8)]).at_cut


def test_another_order_of_the_same_members_asks_about_the_measure() -> None:
    found = compare(TOP, [("A", 9), ("C", 8), ("B", 8)])
    assert found.diagnosis == "same members, other order: is the measure sensitive to order?"
    assert (found.scores_same, found.members_same, found.order_same) == (True, True, False)
    assert (found.first_difference, found.at_cut) == (1, False)


def test_other_scores_ask_about_precision_and_candidates() -> None:
    found = compare(TOP, [("A", 9), ("B", 8), ("C", 8.000001)])
    assert found.diagnosis == "other scores: look at precision, and first at the candidates"
    assert (found.scores_same, found.members_same, found.order_same) == (False, True, True)
    assert found.first_difference == 2


def test_a_shorter_ranking_has_other_scores_and_differs_where_it_ends() -> None:
    found = compare(TOP, TOP[:2])
    assert found.diagnosis == "other scores: look at precision, and first at the candidates"
    assert (found.first_difference, found.only_in_a, found.only_in_b, found.at_cut) == (2, ("C",), (), True)


def test_empty_rankings_are_the_same_and_an_empty_one_differs_from_any_other() -> None:
    assert compare([], [])
    assert not compare([], TOP)
    assert compare([], TOP).only_in_b == ("A", "B", "C")


def test_numbers_are_compared_exactly_whatever_their_type() -> None:
    assert compare([("A", 8), ("B", 0.0)], [("A", 8.0), ("B", -0.0)])
    assert not compare([("A", 2**53 + 1)], [("A", float(2**53))])


def test_the_six_documents_have_three_member_sets_and_one_score_list() -> None:
    six = [("A", 9), ("B", 8), ("C", 8), ("D", 8), ("E", 7), ("F", 6)]
    arrivals = (sorted(arrival, key=lambda row: -row[1])[:3] for arrival in permutations(six))
    verdicts = [compare(TOP, arrival) for arrival in arrivals]
    assert all(verdict.scores_same for verdict in verdicts)
    assert {frozenset(verdict.only_in_b) for verdict in verdicts} == {frozenset(), frozenset("D")}
    assert all(verdict.at_cut for verdict in verdicts if not verdict.members_same)


@given(RANKING, RANKING)
def test_the_layers_mean_what_they_say(a: dict[str, int], b: dict[str, int]) -> None:
    found = compare(a, b)
    assert found.scores_same == (list(a.values()) == list(b.values()))
    assert found.members_same == (set(a) == set(b))
    assert found.order_same == (list(a) == list(b))
    assert bool(found) == (list(a.items()) == list(b.items()))


@given(RANKING, RANKING)
def test_comparing_the_other_way_round_swaps_the_sides_only(a: dict[str, int], b: dict[str, int]) -> None:
    one, two = compare(a, b), compare(b, a)
    assert (one.only_in_a, one.only_in_b) == (two.only_in_b, two.only_in_a)
    assert (one.diagnosis, one.first_difference, one.at_cut) == (two.diagnosis, two.first_difference, two.at_cut)


@given(RANKING.filter(bool), st.data())
def test_one_corrupted_element_is_noticed_at_its_position(ranking: dict[str, int], data: st.DataObject) -> None:
    rows = list(ranking.items())
    place = data.draw(st.integers(0, len(rows) - 1))
    identifier, score = rows[place]
    for corrupted in (("Z", score), (identifier, score + 1)):
        found = compare(rows, [*rows[:place], corrupted, *rows[place + 1 :]])
        assert not found
        assert found.first_difference == place


@pytest.mark.parametrize(
    ("b", "sentence"),
    [
        (TOP, "same scores, members and order"),
        (
            [("A", 9), ("B", 8), ("D", 8)],
            "same scores, other members: look at the cut (the first difference is at position 2; "
            "1 of a and 1 of b are not in the other, all at the last selected score)",
        ),
        (
            [("A", 9), ("C", 8), ("B", 8)],
            "same members, other order: is the measure sensitive to order? "
            "(the first difference is at position 1; the members are the same)",
        ),
        (
            [("Z", 9), ("B", 8)],
            "other scores: look at precision, and first at the candidates (the first difference is at position 0; "
            "2 of a and 1 of b are not in the other, not all at the last selected score)",
        ),
    ],
)
def test_a_verdict_says_itself_in_one_sentence(b: Any, sentence: str) -> None:
    assert str(compare(TOP, b)) == sentence


@pytest.mark.parametrize("bad", [[("A", 9), ("A", 8)], [("A", math.nan)], [("A", 1), (2, 1)], [("A",)], None])
def test_a_ranking_that_rank_refuses_is_refused_on_either_side(bad: Any) -> None:
    for a, b in ((bad, TOP), (TOP, bad)):
        with pytest.raises(ContractError):
            compare(a, b)


def test_text_and_integer_ids_are_not_compared() -> None:
    with pytest.raises(ContractError, match="one kind of ID: '1' of a is text, 1 of b is an integer"):
        compare([("1", 9)], [(1, 9)])
