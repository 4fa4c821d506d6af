"""The oracle of fusion: every order of every route's ties, in plain fractions; no code is shared with the library.

A list of exactly `depth` rows is one that was cut: its last group may hold documents that are not shown. Their places
are filled in every way, with IDs that stand before and after all others.
"""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import chain, groupby, permutations, product
from typing import Any

Rows = Sequence[tuple[str, float]]
Order = tuple[str, ...]


def groups(rows: Rows) -> list[list[str]]:
    """The tie groups, best first."""
    ordered = sorted(rows, key=lambda row: (-row[1], row[0]))
    return [[row[0] for row in group] for _, group in groupby(ordered, key=lambda row: row[1])]


def orders(rows: Rows, depth: int | None, everybody: Sequence[str], route: int) -> Iterator[Order]:
    """Every order of one route, as far as it is read."""
    tied = groups(rows)
    last: list[Any] = []
    if depth is not None and len(rows) == depth:
        *tied, shown = tied
        absent = [name for name in everybody if name not in dict(rows)]
        unseen = [f"{sign}{route}{number}" for number in range(len(shown)) for sign in "!~"]
        last = [permutations([*shown, *absent, *unseen], len(shown))]
    for parts in product(*(permutations(group) for group in tied), *last):
        yield tuple(chain.from_iterable(parts))[:depth]


def all_orders(routes: Sequence[Rows], depth: int | None) -> Iterator[tuple[Order, ...]]:
    """Every combination of the routes' orders."""
    everybody = sorted({name for rows in routes for name, _ in rows})
    return product(*(orders(rows, depth, everybody, place) for place, rows in enumerate(routes)))


def scores(lists: Sequence[Order], c: int, weights: Sequence[Fraction]) -> dict[str, Fraction]:
    """The fused score of each document."""
    found: dict[str, Fraction] = {}
    for names, weight in zip(lists, weights, strict=True):
        for rank, name in enumerate(names if weight else (), 1):
            found[name] = found.get(name, Fraction(0)) + weight / (c + rank)
    return found


def top(lists: Sequence[Order], k: int, c: int, weights: Sequence[Fraction]) -> tuple[str, ...]:
    """The first k by fused score descending, ID ascending."""
    found = scores(lists, c, weights)
    return tuple(sorted(found, key=lambda name: (-found[name], name))[:k])


def replayed(
    witness: Mapping[str, Sequence[Any]], k: int, c: int, weights: Sequence[Fraction]
) -> list[tuple[str, ...]]:
    """What a witness selects, with its unknown documents standing first by ID, and last."""
    named = []
    for sign in "!~":
        lists = [
            tuple(f"{sign}{place}{rank}" if name is None else name for rank, name in enumerate(order))
            for place, order in enumerate(witness.values())
        ]
        named.append(top(lists, k, c, weights))
    return named
