"""The smallest input that breaks a rule: all small ones are tried first, then a large one that breaks it is cut down.

What comes of cutting down is minimal in the sense that no single document can be left out and k cannot be lowered by
one; a smaller input of another shape may exist. Inputs that the exhaustive part finds are smallest of all.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np

from rankwork.engines.base import Scores

EXHAUSTIVE_UP_TO = 4
TWO_LEVELS_UP_TO = 5


@dataclass(frozen=True)
class Case:
    """A row of scores and a k."""

    scores: Scores
    k: int


@dataclass(frozen=True)
class Smallest:
    """What was found: the case, how many were tried, and how sure it is that nothing smaller breaks the promise."""

    case: Case
    tries: int
    how: str


Breaks = Callable[[Case], bool]


def small_cases(most: int = EXHAUSTIVE_UP_TO, two_levels: int = TWO_LEVELS_UP_TO) -> Iterator[Case]:
    """Every arrangement of ties and order of up to `most` documents, once, with every k; the smallest first.

    Beyond `most`, up to `two_levels`, only those with two distinct scores.

    >>> [(case.scores.tolist(), case.k) for case in small_cases(2, two_levels=2)]
    [([0.0], 1), ([0.0, 0.0], 1), ([0.0, 0.0], 2), ([0.0, 1.0], 1), ([0.0, 1.0], 2), ([1.0, 0.0], 1), ([1.0, 0.0], 2)]
    """
    for n in range(1, max(most, two_levels) + 1):
        for levels in product(range(n if n <= most else 2), repeat=n):
            if set(levels) == set(range(max(levels) + 1)):
                row = np.array(levels, dtype=np.float32)
                yield from (Case(row, k) for k in range(1, n + 1))


def smallest(breaks: Breaks, start: Case | None = None, *, tries: int = 400) -> Smallest | None:
    """The smallest case that `breaks`; None if no small one does and there is no `start` that does.

    >>> found = smallest(lambda case: case.k < len(case.scores) and case.scores.max() == case.scores.min())
    >>> found.case.scores.tolist(), found.case.k, found.how
    ([0.0, 0.0], 1, 'no smaller input')
    """
    for tried, case in enumerate(small_cases(), start=1):
        if breaks(case):
            return Smallest(case, tried, "no smaller input")
    if start is None:
        return None
    return shrink(breaks, start, tries=tries)


def shrink(breaks: Breaks, start: Case, *, tries: int = 400) -> Smallest | None:
    """Cut `start` down for as long as it `breaks`, asking at most `tries` times; None if it does not break at all.

    >>> row = np.array([5.0, 3.0, 3.0, 2.0, 9.0])
    >>> found = shrink(lambda case: len(set(case.scores.tolist())) < len(case.scores), Case(row, 3))
    >>> found.case.scores.tolist(), found.case.k, found.how
    ([0.0, 0.0], 1, 'no document can be left out')
    """
    if not breaks(start):
        return None
    search = _Search(breaks, start, tries - 1)
    while _drop_documents(search) | _lower_k(search) | _merge_levels(search):
        pass
    how = f"smallest of {tries} tried" if search.left <= 0 else "no document can be left out"
    return Smallest(search.case, tries - search.left, how)


class _Search:
    """The smallest case so far, and how often the question may still be asked."""

    def __init__(self, breaks: Breaks, case: Case, left: int) -> None:
        self.breaks, self.case, self.left = breaks, case, left

    def attempt(self, candidate: Case) -> bool:
        """Take the candidate if it still breaks the promise."""
        if self.left <= 0 or not 1 <= candidate.k <= len(candidate.scores):
            return False
        self.left -= 1
        if self.breaks(candidate):
            self.case = candidate
            return True
        return False


def _drop_documents(search: _Search) -> bool:
    """Leave out runs of documents: halves first, single ones last."""
    before = len(search.case.scores)
    size = before // 2
    while size and search.left > 0:
        start = 0
        while start < len(search.case.scores) and search.left > 0:
            if not search.attempt(_without(search.case, start, size)):
                start += size
        size //= 2
    return len(search.case.scores) < before


def _without(case: Case, start: int, size: int) -> Case:
    left = np.delete(case.scores, slice(start, start + size))
    return Case(left, min(case.k, len(left)))


def _lower_k(search: _Search) -> bool:
    k = search.case.k
    return any(
        search.attempt(Case(search.case.scores, lower)) for lower in dict.fromkeys((1, k // 2, k - 1)) if lower < k
    )


def _merge_levels(search: _Search) -> bool:
    """Renumber the distinct scores from 0, then make neighbouring ones equal."""
    row = search.case.scores
    levels = np.unique(row, return_inverse=True)[1].astype(row.dtype)
    renumbered = not np.array_equal(levels, row) and search.attempt(Case(levels, search.case.k))
    merged = [np.where(levels > level, levels - 1, levels) for level in range(int(levels.max()))]
    return any(search.attempt(Case(row, search.case.k)) for row in merged) or renumbered
