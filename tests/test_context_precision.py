"""What goes by the name of context precision: five numbers, two of which this library computes under another name."""

from fractions import Fraction
from math import isclose

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankwork.errors import ContractError
from rankwork.measures.auditing import audit
from rankwork.measures.context_precision import forms


@given(st.lists(st.booleans(), min_size=1, max_size=8), st.integers(0, 3), st.integers(1, 9))
def test_precision_and_average_precision_are_those_of_the_library(found: list[bool], missed: int, asked: int) -> None:
    relevant = sum(found) + missed
    values = list(forms(found, relevant, asked).values())
    run = {"q": {f"p{place}": -float(place) for place in range(len(found))}}
    judged = {f"p{place}": int(hit) for place, hit in enumerate(found)} | {f"x{n}": 1 for n in range(missed)}
    names = (f"P@{len(found)}", f"P@{asked}", f"AP@{asked}")
    ours = [audit(run, {"q": judged}, name).mean(name).contract for name in names]
    for value, result in zip((values[0], values[1], values[4]), ours, strict=True):
        assert not relevant or isclose(value or 0, result or 0, abs_tol=1e-12)


def test_the_denominators_order_the_average_precisions() -> None:
    by_hits, by_smaller, by_all = list(forms([True, False, True], relevant=8, asked=5).values())[2:]
    assert (by_hits, by_smaller, by_all) == (Fraction(5, 6), Fraction(5, 15), Fraction(5, 24))


def test_nothing_returned_or_nothing_relevant_is_undefined_and_not_zero() -> None:
    assert list(forms([], relevant=2, asked=5).values()) == [None, 0, None, 0, 0]
    assert list(forms([False], relevant=0, asked=5).values()) == [0, 0, None, None, None]


def test_counts_that_cannot_be_are_refused() -> None:
    with pytest.raises(ContractError, match="2 relevant passages were returned, but there are said to be 1"):
        forms([True, True], relevant=1, asked=5)
    with pytest.raises(ContractError, match="asked must be at least 1, got 0"):
        forms([True], relevant=1, asked=0)
