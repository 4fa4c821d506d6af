"""Two rankings compared in three layers: the score sequence, the member set, the full order.

A difference in one layer has other causes than a difference in the next, so the verdict names where to look first.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rankwork.contract.reference import Candidate, Id, Rows, candidates, kind
from rankwork.errors import ContractError

SAME = "same"
OTHER_MEMBERS = "same scores, other members: look at the cut"
OTHER_ORDER = "same members, other order: is the measure sensitive to order?"
OTHER_SCORES = "other scores: look at precision, and first at the candidates"


@dataclass(frozen=True)
class Verdict:
    """How two rankings relate; true where they are the same, and `str` gives one sentence.

    `first_difference` is the first position (from 0) at which ID or score differ, None where none does. `only_in_a` and
    `only_in_b` keep the order of their ranking. `at_cut`: members differ, and each that does has the score of the last
    row of its ranking, as a tie at the cut would have it.
    """

    diagnosis: str
    scores_same: bool
    members_same: bool
    order_same: bool
    first_difference: int | None
    only_in_a: tuple[Id, ...]
    only_in_b: tuple[Id, ...]
    at_cut: bool

    def __bool__(self) -> bool:
        return self.diagnosis == SAME

    def __str__(self) -> str:
        if self:
            return "same scores, members and order"
        where = f"the first difference is at position {self.first_difference}"
        return f"{self.diagnosis} ({where}; {self._members()})"

    def _members(self) -> str:
        if self.members_same:
            return "the members are the same"
        counts = f"{len(self.only_in_a)} of a and {len(self.only_in_b)} of b are not in the other"
        return f"{counts}, {'all' if self.at_cut else 'not all'} at the last selected score"


def compare(a: Rows, b: Rows) -> Verdict:
    """The verdict on two rankings, each rows of (id, score) in the order in which they were returned.

    Scores are compared exactly, with -0.0 equal to 0.0; the rows need not be sorted. Two empty rankings are the same,
    and rankings of different lengths have other scores. Raises ContractError for duplicate or mixed IDs, scores that
    are not finite, and rankings of which one has text and the other integers as IDs.

    >>> verdict = compare([("A", 9), ("B", 8), ("C", 8)], [("A", 9), ("B", 8), ("D", 8)])
    >>> verdict.diagnosis
    'same scores, other members: look at the cut'
    >>> verdict.only_in_a, verdict.only_in_b, verdict.first_difference, verdict.at_cut, bool(verdict)
    (('C',), ('D',), 2, True, False)
    """
    left, right = candidates(a), candidates(b)
    if left and right and kind(left[0].id) != kind(right[0].id):
        ids = f"{left[0].id!r} of a is {kind(left[0].id)}, {right[0].id!r} of b is {kind(right[0].id)}"
        raise ContractError(f"the two rankings must have one kind of ID: {ids}")
    only_in_a, only_in_b = _missing_from(right, left), _missing_from(left, right)
    scores_same = [row.standing for row in left] == [row.standing for row in right]
    members_same = not only_in_a and not only_in_b
    order_same = [row.id for row in left] == [row.id for row in right]
    return Verdict(
        diagnosis=_diagnosis(scores_same, members_same, order_same),
        scores_same=scores_same,
        members_same=members_same,
        order_same=order_same,
        first_difference=_first_difference(left, right),
        only_in_a=tuple(row.id for row in only_in_a),
        only_in_b=tuple(row.id for row in only_in_b),
        at_cut=not members_same and _all_at_end(only_in_a, left) and _all_at_end(only_in_b, right),
    )


def _diagnosis(scores_same: bool, members_same: bool, order_same: bool) -> str:
    if not scores_same:
        return OTHER_SCORES
    if not members_same:
        return OTHER_MEMBERS
    return SAME if order_same else OTHER_ORDER


def _missing_from(other: Iterable[Candidate], rows: Iterable[Candidate]) -> list[Candidate]:
    present = {row.id for row in other}
    return [row for row in rows if row.id not in present]


def _first_difference(left: Sequence[Candidate], right: Sequence[Candidate]) -> int | None:
    for position, (one, two) in enumerate(zip(left, right, strict=False)):
        if one != two:
            return position
    return None if len(left) == len(right) else min(len(left), len(right))


def _all_at_end(rows: Iterable[Candidate], ranking: Sequence[Candidate]) -> bool:
    return all(row.score == ranking[-1].score for row in rows)
