"""A list on its way through the pipeline: IDs, best first, with the scores that ordered them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Ranked:
    """IDs by (score descending, ID ascending), with their scores."""

    names: list[str]
    scores: list[float]

    def within(self, number: int) -> "Ranked":
        """The first of them."""
        return Ranked(self.names[:number], self.scores[:number])

    def scored(self, scores: NDArray[np.float64]) -> "Ranked":
        """The same IDs by other scores, one for each in its place.

        >>> Ranked(["b", "a"], [2.0, 1.0]).scored(np.array([3.0, 3.0])).names
        ['a', 'b']
        """
        rows = sorted(zip(scores.tolist(), self.names, strict=True), key=lambda row: (-row[0], row[1]))
        return Ranked([name for _, name in rows], [score for score, _ in rows])


def rrf_of(lists: Mapping[str, Sequence[str]], c: int, weights: Mapping[str, float]) -> Ranked:
    """The reciprocal rank fusion of the routes' lists; equal scores are found in exact arithmetic.

    >>> rrf_of({"dense": ["X", "Y"], "bm25": ["b", "Y"]}, 60, {"dense": 1.0, "bm25": 1.0}).names
    ['Y', 'X', 'b']
    """
    totals: dict[str, Fraction] = {}
    for route, names in lists.items():
        for rank, name in enumerate(names, 1):
            totals[name] = totals.get(name, Fraction(0)) + Fraction(weights[route]) / (c + rank)
    names = sorted(totals, key=lambda name: (-totals[name], name))
    return Ranked(names, [float(totals[name]) for name in names])
