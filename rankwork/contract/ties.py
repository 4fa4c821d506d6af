"""What the scores leave open: the tie groups, the boundary at rank k, and the recalls that it allows.

A selection of k takes everything above the k-th standing (`above`) and fills its remaining `slots` from the `tied`
documents that share it. Where slots < tied, several member sets are right, and each may have its own recall.

The range is no confidence interval: it says what exact ties leave open for these candidates and these judgements, and
nothing about documents that were never retrieved. The distribution of hits is the hypergeometric one: F. McSherry and
M. Najork, "Computing Information Retrieval Performance Measures Efficiently in the Presence of Tied Scores", ECIR 2008.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, groupby

from rankwork.contract.reference import (
    Candidate,
    Id,
    Number,
    Rows,
    candidates,
    checked_ids,
    checked_k,
    integer,
    kind,
    ordered,
)
from rankwork.errors import ContractError

ENUMERATION_LIMIT = 1_000_000


@dataclass(frozen=True)
class Boundary:
    """The cut at rank k: `above` documents beat the k-th, `tied` share its standing, `slots` of those are selected.

    `score` is the k-th score, None where k is 0. `relevant_above` and `relevant_tied` count relevant documents, None
    where no relevant documents were given.
    """

    above: int
    tied: int
    slots: int
    score: Number | None
    relevant_above: int | None = None
    relevant_tied: int | None = None

    @property
    def crosses(self) -> bool:
        """Whether the tie group reaches across the cut, so that several member sets are right."""
        return self.slots < self.tied

    @property
    def surplus(self) -> int:
        """How many documents more than k the policy `inclusive` returns."""
        return self.tied - self.slots


@dataclass(frozen=True)
class TieGroup:
    """Documents of equal standing: their score, how many documents come before them, their IDs in ascending order."""

    score: Number
    start: int
    ids: tuple[Id, ...]


@dataclass(frozen=True)
class Range:
    """A measure over every order that the scores allow, all equally likely: floats, or all None with the `reason`."""

    min: float | None
    expected: float | None
    max: float | None
    std: float | None
    reason: str | None = None


def boundary(rows: Rows, k: int, relevant: Iterable[Id] | None = None, *, keys: Sequence[str] = ()) -> Boundary:
    """The boundary of the `k` best of `rows` (as `rank` takes them), with its relevant documents where they are given.

    With secondary `keys`, only rows that agree in the score and in all keys are tied.
    Edges: k = 0 has nothing above, tied or selected. Raises ContractError as `rank` does, for relevant documents that
    are a bare text or a mapping, and for relevant IDs of another kind than the rows'.

    >>> six = {"A": 9, "B": 8, "C": 8, "D": 8, "E": 7, "F": 6}
    >>> boundary(six, 3, relevant="A B D".split())
    Boundary(above=1, tied=3, slots=2, score=8, relevant_above=1, relevant_tied=2)
    >>> boundary(six, 3).crosses, boundary(six, 3).surplus, boundary(six, 4).crosses
    (True, 1, False)
    """
    found = candidates(rows, keys)
    return _boundary(_Cut.of(found, checked_k(k, len(found)), keys), _relevant_in(found, relevant))


def tie_groups(rows: Rows, keys: Sequence[str] = ()) -> tuple[TieGroup, ...]:
    """All groups of equal standing, best first; a document that ties with no other is a group of one.

    >>> [group.ids for group in tie_groups({"A": 9, "C": 8, "B": 8})]
    [('A',), ('B', 'C')]
    """
    groups: list[TieGroup] = []
    start = 0
    for _, members in groupby(ordered(candidates(rows, keys), keys), key=lambda candidate: candidate.standing):
        group = list(members)
        groups.append(TieGroup(group[0].score, start, tuple(candidate.id for candidate in group)))
        start += len(group)
    return tuple(groups)


def recall_range(rows: Rows, relevant: Iterable[Id], k: int, *, keys: Sequence[str] = ()) -> Range:
    """Minimum, expected value, maximum and standard deviation of Recall@k over every order that the scores allow.

    Closed form, nothing is drawn. The denominator is the number of relevant documents, retrieved or not.
    Edges: k is at least 1, and a k beyond the rows is clipped to them; without a relevant document all four are None,
    with the reason. Raises ContractError as `boundary` does.

    >>> six = {"A": 9, "B": 8, "C": 8, "D": 8, "E": 7, "F": 6}
    >>> found = recall_range(six, ["A", "B", "D"], k=3)
    >>> [round(value, 4) for value in (found.min, found.expected, found.max, found.std)]
    [0.6667, 0.7778, 1.0, 0.1571]
    """
    cut, wanted = _cut_for_recall(rows, relevant, k, keys)
    if not wanted:
        return Range(None, None, None, None, "no relevant document")
    hits, r = _hits(cut.above, wanted), _hits(cut.tied, wanted)
    m, t, total = len(cut.tied), cut.slots, len(wanted)
    expected = Fraction(t * r, m) if m else Fraction(0)
    variance = Fraction(t * r * (m - r) * (m - t), m * m * (m - 1)) if m > 1 else Fraction(0)
    return Range(
        min=(hits + max(0, t - (m - r))) / total,
        expected=float((hits + expected) / total),
        max=(hits + min(t, r)) / total,
        std=math.sqrt(variance) / total,
    )


def recall_distribution(
    rows: Rows, relevant: Iterable[Id], k: int, *, keys: Sequence[str] = ()
) -> dict[Fraction, Fraction]:
    """Every Recall@k that the scores allow, ascending, with its exact probability when all orders are equally likely.

    Raises ContractError as `recall_range` does, and where there is no relevant document.

    >>> six = {"A": 9, "B": 8, "C": 8, "D": 8, "E": 7, "F": 6}
    >>> {str(recall): str(share) for recall, share in recall_distribution(six, ["A", "B", "D"], 3).items()}
    {'2/3': '2/3', '1': '1/3'}
    """
    cut, wanted = _cut_for_defined_recall(rows, relevant, k, keys)
    hits, r = _hits(cut.above, wanted), _hits(cut.tied, wanted)
    m, t = len(cut.tied), cut.slots
    member_sets = math.comb(m, t)
    return {
        Fraction(hits + drawn, len(wanted)): Fraction(math.comb(r, drawn) * math.comb(m - r, t - drawn), member_sets)
        for drawn in range(max(0, t - (m - r)), min(t, r) + 1)
    }


def enumerated_recalls(rows: Rows, relevant: Iterable[Id], k: int, *, keys: Sequence[str] = ()) -> dict[Fraction, int]:
    """Every Recall@k that the scores allow, ascending, with the number of member sets that give it, by trying them all.

    Raises ContractError as `recall_distribution` does, and where there are more than a million member sets.

    >>> six = {"A": 9, "B": 8, "C": 8, "D": 8, "E": 7, "F": 6}
    >>> {str(recall): count for recall, count in enumerated_recalls(six, ["A", "B", "D"], 3).items()}
    {'2/3': 2, '1': 1}
    """
    cut, wanted = _cut_for_defined_recall(rows, relevant, k, keys)
    member_sets = math.comb(len(cut.tied), cut.slots)
    if member_sets > ENUMERATION_LIMIT:
        chosen = f"{cut.slots} of {len(cut.tied)} tied documents"
        raise ContractError(
            f"choosing {chosen} gives more than {ENUMERATION_LIMIT} member sets; recall_distribution has a closed form"
        )
    counts = Counter(
        Fraction(_hits([*cut.above, *chosen], wanted), len(wanted)) for chosen in combinations(cut.tied, cut.slots)
    )
    return dict(sorted(counts.items()))


@dataclass(frozen=True)
class _Cut:
    """A full order cut at k: who is above, who is tied, how many of the tied are selected."""

    above: tuple[Id, ...]
    tied: tuple[Id, ...]
    slots: int
    score: Number | None

    @classmethod
    def of(cls, found: Sequence[Candidate], k: int, keys: Sequence[str]) -> "_Cut":
        if k == 0:
            return cls((), (), 0, None)
        order = ordered(found, keys)
        last = order[k - 1].standing
        same = [place for place, candidate in enumerate(order) if candidate.standing == last]
        ids = tuple(candidate.id for candidate in order)
        return cls(ids[: same[0]], ids[same[0] : same[-1] + 1], k - same[0], order[k - 1].score)


def _boundary(cut: _Cut, relevant: frozenset[Id] | None) -> Boundary:
    counts = (None, None) if relevant is None else (_hits(cut.above, relevant), _hits(cut.tied, relevant))
    return Boundary(len(cut.above), len(cut.tied), cut.slots, cut.score, *counts)


def _cut_for_recall(rows: Rows, relevant: Iterable[Id], k: int, keys: Sequence[str]) -> tuple[_Cut, frozenset[Id]]:
    found = candidates(rows, keys)
    if integer(k, "k") < 1:
        raise ContractError(f"k must be at least 1, got {k}")
    return _Cut.of(found, min(integer(k, "k"), len(found)), keys), relevant_ids(relevant, found)


def _cut_for_defined_recall(
    rows: Rows, relevant: Iterable[Id], k: int, keys: Sequence[str]
) -> tuple[_Cut, frozenset[Id]]:
    cut, wanted = _cut_for_recall(rows, relevant, k, keys)
    if not wanted:
        raise ContractError("recall is undefined: there is no relevant document")
    return cut, wanted


def _relevant_in(found: Sequence[Candidate], relevant: Iterable[Id] | None) -> frozenset[Id] | None:
    return None if relevant is None else relevant_ids(relevant, found)


def relevant_ids(relevant: Iterable[Id], found: Sequence[Candidate]) -> frozenset[Id]:
    """The relevant IDs as a set, of the kind that the candidates' IDs are; they need not be among them.

    Raises ContractError for a bare text, for a mapping (whose grades would be lost), and for IDs of another kind.

    >>> relevant_ids([1, 2], candidates({"1": .5}))
    Traceback (most recent call last):
        ...
    rankwork.errors.ContractError: relevant ID 1 is an integer, but the rows' ID '1' is text
    """
    if isinstance(relevant, str | bytes | Mapping) or not isinstance(relevant, Iterable):
        raise ContractError(f"relevant must be a collection of IDs, got {relevant!r}")
    wanted = checked_ids(relevant, what="relevant IDs")
    if wanted and found and kind(wanted[0]) != kind(found[0].id):
        rows_id = f"the rows' ID {found[0].id!r} is {kind(found[0].id)}"
        raise ContractError(f"relevant ID {wanted[0]!r} is {kind(wanted[0])}, but {rows_id}")
    return frozenset(wanted)


def _hits(ids: Iterable[Id], relevant: frozenset[Id]) -> int:
    return sum(identifier in relevant for identifier in ids)
