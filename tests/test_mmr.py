"""MMR by its definition, its ties by ascending ID, and every list that its ties allow."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankwork.errors import ContractError
from rankwork.retrieval.fusion import rrf
from rankwork.retrieval.mmr import diversify, mmr, mmr_outcomes

grid = st.sampled_from([0.0, 0.25, 0.5, 1.0])


@st.composite
def tasks(draw: Any) -> tuple[list[tuple[str, float]], list[list[float]], int, float]:
    size = draw(st.integers(1, 5))
    rows = [(name, draw(grid)) for name in draw(st.permutations("abcde"))[:size]]
    matrix = [[draw(grid) for _ in range(size)] for _ in range(size)]
    return rows, matrix, draw(st.integers(0, 6)), draw(st.sampled_from([0.0, 0.1, 0.3, 0.5, 1.0]))


def values(rows: Any, matrix: Any, chosen: list[int], balance: float) -> dict[int, Fraction]:
    share = Fraction(str(balance))
    return {
        number: share * Fraction(score)
        - (1 - share) * max((Fraction(matrix[number][other]) for other in chosen), default=Fraction(0))
        for number, (_, score) in enumerate(rows)
        if number not in chosen
    }


def all_lists(rows: Any, matrix: Any, k: int, balance: float, chosen: list[int]) -> set[tuple[str, ...]]:
    left = values(rows, matrix, chosen, balance)
    if len(chosen) == k or not left:
        return {tuple(rows[number][0] for number in chosen)}
    best = [number for number, value in left.items() if value == max(left.values())]
    return set().union(*(all_lists(rows, matrix, k, balance, [*chosen, number]) for number in best))


@given(tasks())
def test_each_pick_has_the_greatest_marginal_relevance_and_ties_fall_to_the_lowest_id(task: Any) -> None:
    rows, matrix, k, balance = task
    found = mmr(rows, matrix, k, balance=balance)
    chosen: list[int] = []
    for pick in found.picks:
        left = values(rows, matrix, chosen, balance)
        best = sorted(rows[number][0] for number, value in left.items() if value == max(left.values()))
        assert (pick.tied, pick.id, pick.value) == (tuple(best), best[0], max(left.values()))
        chosen.append([name for name, _ in rows].index(pick.id))
    assert len(found) == min(k, len(rows))
    assert found.tied_picks == tuple(place for place, pick in enumerate(found.picks, 1) if len(pick.tied) > 1)


@given(tasks())
def test_the_outcomes_are_all_lists_that_the_ties_allow(task: Any) -> None:
    rows, matrix, k, balance = task
    found = mmr_outcomes(rows, matrix, k, balance=balance)
    truth = all_lists(rows, matrix, k, balance, [])
    assert found.complete
    assert (set(found.lists), len(found.lists)) == (truth, len(truth))
    assert found.lists[0] == mmr(rows, matrix, k, balance=balance).ids
    assert found.certain == frozenset(set.intersection(*map(set, truth)))
    assert found.possible == frozenset(set.union(*map(set, truth)))


def test_a_tie_at_the_start_decides_the_end() -> None:
    """Copies a and b tie for the first pick; c is like a and d like b, so the second pick hangs on the first."""
    alike = np.eye(4)
    for one, other, value in ((0, 1, 1.0), (0, 2, 0.75), (1, 3, 0.75)):
        alike[one, other] = alike[other, one] = value
    rows = [("a", 1.0), ("b", 1.0), ("c", 0.5), ("d", 0.5)]
    assert mmr_outcomes(rows, alike, 2).lists == (("a", "d"), ("b", "c"))
    assert mmr(rows, alike, 2).tied_picks == (1,)


def test_balance_1_is_the_ranking_and_0_ignores_relevance() -> None:
    rows, alike = {"a": 1.0, "b": 3.0, "c": 2.0}, np.ones((3, 3))
    assert mmr(rows, alike, 3, balance=1).ids == ("b", "c", "a")
    assert mmr(rows, alike, 3, balance=0).ids == ("a", "b", "c")


def test_too_many_branches_are_said_and_nothing_is_called_certain() -> None:
    rows = {f"d{number}": 1.0 for number in range(8)}
    found = mmr_outcomes(rows, np.ones((8, 8)), 4, branches=10)
    assert (found.complete, found.certain, len(found.lists)) == (False, None, 10)


def test_a_fused_list_is_diversified_by_the_cosines_of_its_vectors() -> None:
    """Copies are fully alike, whatever their length; a vector of zeros is like nothing."""
    fused = rrf([["a", "b", "c", "z"], ["b", "a", "c", "z"]])
    vectors = {"a": [0.1, 0.3], "b": [0.1, 0.3], "c": [-0.3, 0.1], "z": [0.0, 0.0]}
    found = diversify(fused, vectors, 4, balance=0.5)
    assert found.ids[:2] == ("a", "c")
    assert found.picks[0].tied == ("a", "b")
    assert found.picks[0].relevance == 1
    assert [float(pick.redundancy) for pick in found.picks if pick.id == "z"] == [0.0]
    assert math.isclose(found.picks[-1].redundancy, 1)
    assert diversify(fused, vectors, 2, window=2).ids == ("a", "b")
    with pytest.raises(ContractError, match="no vector for document 'z'"):
        diversify(fused, {name: vectors[name] for name in "abc"}, 2)
    with pytest.raises(ContractError, match=r"vectors must have one length, got \[\(1,\), \(2,\)\]"):
        diversify(fused, vectors | {"z": [1.0]}, 2)


def test_picks_as_a_table() -> None:
    table = mmr({"a": 1.0, "b": 1.0}, np.eye(2), 2).to_pandas()
    assert list(table["id"]) == ["a", "b"]
    assert list(table["tied"]) == [["a", "b"], ["b"]]
    assert repr(mmr({"a": 1.0, "b": 1.0}, np.eye(2), 2)) == "Diversified(a, b; 1 tied picks)"
    assert mmr({}, [], 3).ids == ()


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (({"a": 1.0}, [[1.0, 0.0]], 1), {}, "a matrix of 1 rows and columns, got shape"),
        (
            ({"a": 1.0, "b": 1.0}, [[1.0, math.nan], [0.0, 1.0]], 1),
            {},
            "similarity of 'a' and 'b' must be finite, got nan",
        ),
        (({"a": 1.0}, [[1.0]], 1), {"balance": 1.5}, "balance must be between 0 and 1, got 1.5"),
        (({"a": 1.0}, [[1.0]], 1), {"balance": -0.5}, "balance must be finite and not negative, got -0.5"),
        (({"a": 1.0}, [[1.0]], -1), {}, "k must be between 0 and 0, got -1"),
        (({"a": math.nan}, [[1.0]], 1), {}, "a score must be a finite number, got nan"),
    ],
)
def test_what_cannot_be_diversified_is_refused(arguments: Any, options: Any, message: str) -> None:
    with pytest.raises(ContractError, match=message):
        mmr(*arguments, **options)
