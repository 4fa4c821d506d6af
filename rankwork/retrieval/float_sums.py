"""What reciprocal rank fusion would say if its scores were added as floats: why they are added exactly here.

A float is rounded after each addition, so equal sums can differ by their last bit, and which is the greater one depends
on the order in which a program adds the routes.
"""

from collections import Counter
from collections.abc import Sequence
from itertools import permutations
from math import isfinite
from typing import Literal

from rankwork.contract.reference import integer
from rankwork.errors import ContractError

Winner = Literal["first", "second", "neither"]


def float_winners(first: Sequence[int], second: Sequence[int], *, c: float = 60) -> dict[Winner, int]:
    """Which of two documents gets more, over all orders in which a program can add the routes in float64.

    `first` and `second` hold the rank of each document in every route, from 1, the routes in one order; `c` is the
    constant of reciprocal rank fusion. The counts add up to the number of orders. ContractError for ranks below 1, for
    no route, for another number of routes and for a constant that is negative or not finite.

    The exact sums of these two are equal:

    >>> float_winners((1, 7, 2), (2, 1, 7))
    {'first': 2, 'second': 2, 'neither': 2}
    """
    _check(first, second, c)
    orders = permutations(range(len(first)))
    found = Counter(_winner(_added(first, order, c), _added(second, order, c)) for order in orders)
    return {"first": found["first"], "second": found["second"], "neither": found["neither"]}


def _check(first: Sequence[int], second: Sequence[int], c: float) -> None:
    if len(first) != len(second) or not len(first):
        raise ContractError(f"both documents need a rank in every route, got {len(first)} and {len(second)} ranks")
    wrong = next((rank for rank in (*first, *second) if integer(rank, "rank") < 1), None)
    if wrong is not None:
        raise ContractError(f"ranks count from 1, got {wrong}")
    if not isfinite(c) or c < 0:
        raise ContractError(f"c must be finite and not negative, got {c!r}")


def _added(ranks: Sequence[int], order: Sequence[int], c: float) -> float:
    total = 0.0
    for route in order:
        total += 1 / (c + ranks[route])
    return total


def _winner(one: float, other: float) -> Winner:
    if one == other:
        return "neither"
    return "first" if one > other else "second"
