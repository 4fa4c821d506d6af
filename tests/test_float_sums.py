"""Sums of floats depend on the order of the routes, where exact ones do not."""

from fractions import Fraction
from math import factorial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankwork.errors import ContractError
from rankwork.retrieval.float_sums import float_winners

ranks = st.lists(st.tuples(st.integers(1, 50), st.integers(1, 50)), min_size=1, max_size=4)


@given(ranks)
def test_every_order_of_the_routes_is_counted_and_a_clear_winner_wins_in_each(pairs: list[tuple[int, int]]) -> None:
    first, second = zip(*pairs, strict=True)
    found = float_winners(first, second)
    assert sum(found.values()) == factorial(len(pairs))
    one, other = (sum((Fraction(1, 60 + rank) for rank in each), Fraction(0)) for each in (first, second))
    if abs(one - other) > Fraction(1, 10**9):
        assert found["first" if one > other else "second"] == factorial(len(pairs))


def test_the_same_ranks_in_the_same_routes_are_never_told_apart() -> None:
    assert float_winners((1, 7, 2), (1, 7, 2)) == {"first": 0, "second": 0, "neither": 6}


@pytest.mark.parametrize(
    ("first", "second", "c", "message"),
    [
        ((1, 2), (1,), 60, "got 2 and 1 ranks"),
        ((), (), 60, "got 0 and 0 ranks"),
        ((1, 0), (1, 2), 60, "ranks count from 1, got 0"),
        ((1,), (2,), -1, "c must be finite and not negative, got -1"),
        ((1,), (2,), float("inf"), "c must be finite"),
    ],
)
def test_what_is_no_rank_or_no_constant_is_refused(
    first: tuple[int, ...], second: tuple[int, ...], c: float, message: str
) -> None:
    with pytest.raises(ContractError, match=message):
        float_winners(first, second, c=c)
