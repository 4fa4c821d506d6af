"""The oracle: every full order that the scores allow, and what a function of the order does over them.

It shares no code with the library and no closed form: permutations, fractions, nothing else.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations, product
from math import factorial, prod
from typing import Any

ORDER_LIMIT = 100_000


@dataclass(frozen=True)
class Spread:
    """The exact minimum, mean, maximum and population variance over all orders, and how many orders there are."""

    min: Fraction
    mean: Fraction
    max: Fraction
    variance: Fraction
    orders: int


def groups(rows: Collection[Sequence[Any]]) -> list[list[Any]]:
    """The IDs of each tie group, best first: rows that agree in all values after the ID. More is better in each."""
    standings = sorted({tuple(row[1:]) for row in rows}, reverse=True)
    return [[row[0] for row in rows if tuple(row[1:]) == standing] for standing in standings]


def orders(rows: Collection[Sequence[Any]]) -> Iterator[tuple[Any, ...]]:
    """Every full order of (id, score, *keys) that the scores and keys allow, each once.

    >>> list(orders([("A", 9), ("B", 8), ("C", 8)]))
    [('A', 'B', 'C'), ('A', 'C', 'B')]
    """
    tied = groups(rows)
    count = prod(factorial(len(group)) for group in tied)
    if count > ORDER_LIMIT:
        raise ValueError(f"{count} orders are too many for the oracle")
    for parts in product(*(permutations(group) for group in tied)):
        yield tuple(identifier for part in parts for identifier in part)


def spread(rows: Collection[Sequence[Any]], measure: Callable[[tuple[Any, ...]], Fraction | int | float]) -> Spread:
    """The spread of a measure over every order; a float counts as the exact binary fraction that it is.

    >>> found = spread([("A", 1), ("B", 1)], lambda order: order.index("A"))
    >>> found.min, found.mean, found.max, found.variance
    (Fraction(0, 1), Fraction(1, 2), Fraction(1, 1), Fraction(1, 4))
    """
    values = [Fraction(measure(order)) for order in orders(rows)]
    mean = sum(values, Fraction(0)) / len(values)
    variance = sum(((value - mean) ** 2 for value in values), Fraction(0)) / len(values)
    return Spread(min(values), mean, max(values), variance, len(values))


def recall_at(relevant: Collection[Any], k: int) -> Callable[[tuple[Any, ...]], Fraction]:
    """Recall@k as a function of the full order."""
    return lambda order: Fraction(len(set(order[:k]) & set(relevant)), len(set(relevant)))
