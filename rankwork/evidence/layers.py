"""One recorded list against another in the three layers: score sequence, member set, full order.

The layers are those of `rankwork.contract.comparison`; here the scores are also held against each other bit for bit,
and recorded lists are read as they are, also where somebody has changed them.
"""

from collections import Counter
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rankwork.contract.comparison import OTHER_SCORES
from rankwork.evidence.agreement import Demand, array_tolerance
from rankwork.evidence.recorded import RecordedList

Sequence = Literal["bits", "equal", "near", "other"]
"""Two score sequences: the same bits; equal numbers (another dtype, or the sign of a zero); within the tolerance of
their dtype; or none of these."""


@dataclass(frozen=True)
class Layers:
    """How two lists relate; true where nothing differs.

    `first` is the first position (from 0) that differs, None where none does. `at_cut`: members differ, and each that
    does has the lowest score of its list. `moved` is the largest difference between scores at the same position.
    """

    scores: Sequence
    members_same: bool
    order_same: bool
    at_cut: bool
    first: int | None
    moved: float

    def __bool__(self) -> bool:
        return self.scores == "bits" and self.order_same

    def __str__(self) -> str:
        if self.scores == "other":
            return OTHER_SCORES
        if not self.members_same:
            where = "inside the tie group at the cut" if self.at_cut else "not only at the cut"
            return f"{_WORDS[self.scores]}, other members {where}"
        return f"{_WORDS[self.scores]}, same members{' and order' if self.order_same else ', other order'}"

    def agree(self, demand: Demand) -> bool:
        """Whether the rule for rankings holds: all the bits, or the members and nearly the scores."""
        return bool(self) or (demand == "members" and self.members_same and self.scores != "other")


_WORDS = {"bits": "same scores", "equal": "equal scores in other bits", "near": "scores within tolerance"}


def compare_lists(a: RecordedList, b: RecordedList) -> Layers:
    """The three layers of two recorded lists.

    >>> one = RecordedList(("A", "B", "C"), np.array([9.0, 8.0, 8.0]), "float64")
    >>> two = RecordedList(("A", "B", "D"), np.array([9.0, 8.0, 8.0]), "float64")
    >>> compare_lists(one, two)
    Layers(scores='bits', members_same=False, order_same=False, at_cut=True, first=2, moved=0.0)
    """
    only_in_a, only_in_b = Counter(a.ids) - Counter(b.ids), Counter(b.ids) - Counter(a.ids)
    members_same = not only_in_a and not only_in_b
    return Layers(
        scores=_sequence(a, b),
        members_same=members_same,
        order_same=a.ids == b.ids,
        at_cut=not members_same and _at_cut(a, only_in_a) and _at_cut(b, only_in_b),
        first=_first(a, b),
        moved=_moved(a.scores, b.scores),
    )


def _sequence(a: RecordedList, b: RecordedList) -> Sequence:
    if a.dtype == b.dtype and a.scores.tobytes() == b.scores.tobytes():
        return "bits"
    if len(a.scores) != len(b.scores):
        return "other"
    if np.array_equal(a.scores, b.scores):
        return "equal"
    return "near" if _near(a, b) else "other"


def _near(a: RecordedList, b: RecordedList) -> bool:
    largest = float(np.abs(np.concatenate([a.scores, b.scores]).astype(np.float64)).max())
    if a.dtype != b.dtype or not np.isfinite(largest):
        return False
    return _moved(a.scores, b.scores) <= array_tolerance(a.dtype, largest)


def _moved(a: NDArray[Any], b: NDArray[Any]) -> float:
    shared = min(len(a), len(b))
    moved = np.abs(a[:shared].astype(np.float64) - b[:shared].astype(np.float64))
    return float(moved.max()) if shared else 0.0


def _at_cut(ranking: RecordedList, members: Counter[Any]) -> bool:
    lowest = ranking.scores.min() if len(ranking.scores) else None
    return all(score == lowest for item, score in zip(ranking.ids, ranking.scores, strict=True) if item in members)


def _first(a: RecordedList, b: RecordedList) -> int | None:
    pairs = zip(a.ids, b.ids, a.scores, b.scores, strict=False)
    for position, (one, two, x, y) in enumerate(pairs):
        if one != two or x.tobytes() != y.tobytes():
            return position
    return None if len(a.ids) == len(b.ids) else min(len(a.ids), len(b.ids))
