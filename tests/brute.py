"""The oracle: every full order that the scores allow, and what a function of the order does over them.

It shares no code with the library and no closed form: permutations, fractions, nothing else.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations, product
from math import factorial, log2, prod
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


Grades = Mapping[Any, Any]
OfOrder = Callable[[tuple[Any, ...]], Fraction | float]


def _relevant(grades: Grades, rel: Any) -> set[Any]:
    return {document for document, grade in grades.items() if (grade > 0 if rel == ">0" else grade >= rel)}


def precision(grades: Grades, k: int, *, rel: Any) -> OfOrder:
    """Relevant documents among the first k, over k."""
    return lambda order: Fraction(len(set(order[:k]) & _relevant(grades, rel)), k)


def recall(grades: Grades, k: int, *, rel: Any) -> OfOrder:
    """Relevant documents among the first k, over all relevant ones."""
    return recall_at(_relevant(grades, rel), k)


def success(grades: Grades, k: int, *, rel: Any) -> OfOrder:
    """Whether any of the first k is relevant."""
    return lambda order: Fraction(any(document in _relevant(grades, rel) for document in order[:k]))


def reciprocal_rank(grades: Grades, k: int | None, *, rel: Any) -> OfOrder:
    """One over the rank of the first relevant document among the first k."""

    def of_order(order: tuple[Any, ...]) -> Fraction:
        for rank, document in enumerate(order[:k], 1):
            if document in _relevant(grades, rel):
                return Fraction(1, rank)
        return Fraction(0)

    return of_order


def average_precision(grades: Grades, k: int | None, *, rel: Any) -> OfOrder:
    """The precision at the rank of every relevant document among the first k, added up, over all relevant ones."""
    relevant = _relevant(grades, rel)

    def of_order(order: tuple[Any, ...]) -> Fraction:
        ranks = [rank for rank, document in enumerate(order[:k], 1) if document in relevant]
        return sum((Fraction(found, rank) for found, rank in enumerate(ranks, 1)), Fraction(0)) / len(relevant)

    return of_order


def ndcg(grades: Grades, k: int | None, *, dcg: str) -> OfOrder:
    """The discounted gain of the order over that of the judged documents by grade."""

    def gained(values: Sequence[Any]) -> float:
        gains = [float(value if dcg == "log2" else 2**value - 1) for value in values[:k]]
        return sum((gain / log2(rank + 1) for rank, gain in enumerate(gains, 1)), 0.0)

    ideal = gained(sorted(grades.values(), reverse=True))
    return lambda order: gained([grades.get(document, 0) for document in order]) / ideal


def f_measure(grades: Grades, k: int | None, *, rel: Any, beta: int) -> OfOrder:
    """The weighted harmonic mean of precision and recall, 0 where both are."""

    def of_order(order: tuple[Any, ...]) -> Fraction:
        cutoff = len(order) if k is None else k
        found = (Fraction(of(grades, cutoff, rel=rel)(order)) for of in (precision, recall))
        p, r = found
        return (1 + beta**2) * p * r / (beta**2 * p + r) if p else Fraction(0)

    return of_order


def r_precision(grades: Grades, k: None, *, rel: Any) -> OfOrder:
    """Precision at the number of relevant documents."""
    return precision(grades, len(_relevant(grades, rel)), rel=rel)


def bpref(grades: Grades, k: None, *, rel: Any) -> OfOrder:
    """For each relevant document found: the share of judged others that it is preferred to, only R of them counting."""
    relevant = _relevant(grades, rel)
    others = set(grades) - relevant

    def of_order(order: tuple[Any, ...]) -> Fraction:
        total = Fraction(0)
        for place, document in enumerate(order):
            if document in relevant:
                above = min(len(set(order[:place]) & others), len(relevant))
                total += 1 - (Fraction(above, min(len(others), len(relevant))) if above else 0)
        return total / len(relevant)

    return of_order


def judged(grades: Grades, k: int | None) -> OfOrder:
    """Judged documents among the first k, over those that are there."""
    return lambda order: Fraction(len(set(order[:k]) & set(grades)), len(order[:k]))


def rbp(grades: Grades, k: int | None, *, rel: Any, p: float) -> OfOrder:
    """The weights p^(rank - 1) of relevant documents among the first k, times 1 - p."""
    relevant = _relevant(grades, rel)
    return lambda order: sum((1 - p) * p**place for place, document in enumerate(order[:k]) if document in relevant)


def err(grades: Grades, k: int | None, *, max_rel: Any) -> OfOrder:
    """A reader goes down the list, stops at each document with a chance that rises with its grade, and gains 1/rank."""

    def of_order(order: tuple[Any, ...]) -> float:
        still_reading, gained = 1.0, 0.0
        for rank, document in enumerate(order[:k], 1):
            stops = (2 ** grades.get(document, 0) - 1) / 2**max_rel
            gained += still_reading * stops / rank
            still_reading *= 1 - stops
        return gained

    return of_order


MEASURES: dict[str, Callable[..., OfOrder]] = {
    "P": precision, "R": recall, "Success": success, "RR": reciprocal_rank, "AP": average_precision, "nDCG": ndcg,
    "F": f_measure, "Rprec": r_precision, "Bpref": bpref, "Judged": judged, "RBP": rbp, "ERR": err,
}  # fmt: skip
