"""Eleven checks of a ranker on six documents, and for each of them a broken ranker that fails it and no other.

A check that was never seen failing may look at nothing. So each stands beside a fault that real systems have: run on
the broken copy it must fail, and as the ten others hold there, none of the eleven says again what another one says.
Passing all of them proves little: the specification is `rankwork.rank`, and these are its landmarks.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from inspect import getdoc
from itertools import permutations
from typing import Any, Protocol, TypeAlias

from rankwork.contract.reference import Id, rank

Rows: TypeAlias = Sequence[tuple[Any, Any]]

SIX: Rows = (("A", 9.0), ("B", 8.0), ("C", 8.0), ("D", 8.0), ("E", 7.0), ("F", 6.0))
SIX_RELEVANT = frozenset({"A", "B", "D"})
REFUSED = "refused"


class Ranker(Protocol):
    """What can be checked: called as `rankwork.rank` is, with the policies `by_id`, `input` and `inclusive`."""

    def __call__(self, rows: Rows, k: int, *, policy: str = ...) -> Sequence[Id]:
        """The IDs of the `k` best rows, best first."""


@dataclass(frozen=True)
class Check:
    """One claim about a ranker: what `look` finds must equal `expected`; the ranker `broken` fails it."""

    look: Callable[[Ranker], Any]
    expected: Any
    broken: Ranker

    @property
    def name(self) -> str:
        """The name of the function that looks."""
        return self.look.__name__

    @property
    def claim(self) -> str:
        """What must be true, in a sentence."""
        return getdoc(self.look) or ""

    @property
    def fault(self) -> str:
        """What is wrong with the broken ranker, in a sentence."""
        return getdoc(self.broken) or ""

    def run(self, ranker: Ranker) -> "Result":
        """The result for a ranker; one that raises where it should not has failed, and nothing is raised here."""
        try:
            found = self.look(ranker)
        except Exception as error:
            found = f"{type(error).__name__}: {error}"
        return Result(self.name, found == self.expected, found)


@dataclass(frozen=True)
class Result:
    """Whether a check holds for a ranker, and what it found there."""

    name: str
    holds: bool
    found: Any


def run_checks(ranker: Ranker) -> tuple[Result, ...]:
    """The results of all eleven checks, eight of answers and three of refusals, in the order of `CHECKS`.

    `ranker(rows, k, policy=...)` returns IDs, best first, and refuses bad input with a ValueError.

    >>> all(result.holds for result in run_checks(rank))
    True
    >>> [result.name for result in run_checks(clips_k) if not result.holds]
    ['k_above_n_is_refused']
    """
    return tuple(check.run(ranker) for check in CHECKS)


def over_arrivals(rows: Rows, select: Callable[[Rows], Iterable[Id]]) -> Counter[tuple[Id, ...]]:
    """Each list of IDs that `select` returns over all orders in which the rows can arrive, and in how many of them.

    >>> over_arrivals((("A", 2), ("B", 1), ("C", 1)), lambda rows: rank(rows, 2, policy="input"))
    Counter({('A', 'B'): 3, ('A', 'C'): 3})
    """
    return Counter(tuple(select(arrival)) for arrival in permutations(rows))


def by_scores(select: Callable[[list[Any]], Iterable[int]]) -> Callable[[Rows], tuple[Id, ...]]:
    """A ranker that shows `select` the scores alone, as most engines see them, and names what it answers by position.

    >>> by_scores(lambda scores: [scores.index(max(scores))])(SIX)
    ('A',)
    """
    return lambda rows: tuple(rows[place][0] for place in select([score for _, score in rows]))


def member_sets(selections: Iterable[Iterable[Id]]) -> tuple[tuple[Id, ...], ...]:
    """The different sets of IDs among selections, each in ascending order, and in ascending order themselves.

    >>> member_sets([("A", "C"), ("A", "B"), ("C", "A")])
    (('A', 'B'), ('A', 'C'))
    """
    return tuple(sorted({tuple(sorted(selection)) for selection in selections}))


def recall(selected: Iterable[Id], relevant: Collection[Id] = SIX_RELEVANT) -> Fraction:
    """The share of the relevant IDs that were selected, exactly; ZeroDivisionError where there are none.

    >>> recall(["A", "B", "C"])
    Fraction(2, 3)
    """
    return Fraction(len(set(selected) & set(relevant)), len(set(relevant)))


def refusal(call: Callable[[], Any]) -> str | None:
    """The message of the ValueError with which a call refuses its input, None where it accepts it.

    >>> refusal(lambda: rank(SIX, 7))
    'k must be between 0 and 6, got 7'
    """
    try:
        call()
    except ValueError as error:
        return str(error)
    return None


def seen_failing() -> list[dict[str, Any]]:
    """Each check with its result for the reference, and for the broken ranker that it must notice.

    `checks that fail` counts how many of the eleven notice that ranker: one, or another check says the same.

    >>> seen_failing()[0]["reference"], seen_failing()[0]["checks that fail"]
    ('holds', 1)
    """
    table = []
    for place, (check, on_reference) in enumerate(zip(CHECKS, run_checks(rank), strict=True)):
        on_broken = run_checks(check.broken)
        table.append(
            {
                "check": check.claim,
                "reference": "holds" if on_reference.holds else "fails",
                "fault of the broken copy": check.fault,
                "found there": str(on_broken[place].found),
                "checks that fail": sum(not result.holds for result in on_broken),
            }
        )
    return table


# What the checks look at


def the_top_three(ranker: Ranker) -> Any:
    """The top 3 are A, B and C, in this order."""
    return tuple(ranker(SIX, 3))


def answers_over_720_arrivals(ranker: Ranker) -> Any:
    """All 720 arrivals give one and the same answer."""
    return len(over_arrivals(SIX, lambda rows: ranker(rows, 3)))


def member_sets_over_arrivals(ranker: Ranker) -> Any:
    """Left to the order of arrival, the top 3 have 3 member sets."""
    return len(_left_to_arrival(ranker))


def least_recall_over_arrivals(ranker: Ranker) -> Any:
    """The least recall of these member sets is 2/3."""
    return min(map(recall, _left_to_arrival(ranker)))


def greatest_recall_over_arrivals(ranker: Ranker) -> Any:
    """The greatest recall of these member sets is 1."""
    return max(map(recall, _left_to_arrival(ranker)))


def inclusive_takes_the_whole_tie(ranker: Ranker) -> Any:
    """The inclusive policy returns 4 documents at k = 3, with recall 1."""
    found = tuple(ranker(SIX, 3, policy="inclusive"))
    return found, recall(found)


def k_of_zero(ranker: Ranker) -> Any:
    """A k of 0 selects nothing."""
    return tuple(ranker(SIX, 0))


def k_of_all(ranker: Ranker) -> Any:
    """A k of 6 selects all six, in order."""
    return tuple(ranker(SIX, len(SIX)))


def k_above_n_is_refused(ranker: Ranker) -> Any:
    """A k of 7 is refused."""
    return _answer(ranker, SIX, len(SIX) + 1)


def a_duplicate_is_refused(ranker: Ranker) -> Any:
    """An ID that comes twice is refused."""
    return _answer(ranker, (("A", 9.0), ("A", 8.0)), 1)


def nan_is_refused(ranker: Ranker) -> Any:
    """A score that is NaN is refused."""
    return _answer(ranker, (("A", float("nan")), ("B", 8.0)), 1)


def _left_to_arrival(ranker: Ranker) -> tuple[tuple[Id, ...], ...]:
    return member_sets(over_arrivals(SIX, lambda rows: ranker(rows, 3, policy="input")))


def _answer(ranker: Ranker, rows: Rows, k: int) -> Any:
    try:
        return tuple(ranker(rows, k))
    except ValueError:
        return REFUSED


# The broken copies: the reference with one fault each


def sorts_after_the_cut(rows: Rows, k: int, *, policy: str = "by_id") -> tuple[Id, ...]:
    """The cut takes the highest tied IDs; only what is left is then sorted by ascending ID."""
    if policy != "by_id":
        return rank(rows, k, policy=policy)
    kept = rank(rows, k, policy="id_desc")
    return rank([row for row in rows if row[0] in kept], k)


def leaves_ties_as_they_arrive(rows: Rows, k: int, *, policy: str = "by_id") -> tuple[Id, ...]:
    """Ties have no second key: they stay in the order in which they arrived."""
    return rank(rows, k, policy="input" if policy == "by_id" else policy)


def hears_one_shard_first(rows: Rows, k: int, *, policy: str = "by_id") -> tuple[Id, ...]:
    """However the documents arrive, the one with B is heard first."""
    return rank(sorted(rows, key=lambda row: row[0] != "B"), k, policy=policy)


def drops_d_as_twin_of_c(rows: Rows, k: int, *, policy: str = "by_id") -> tuple[Id, ...]:
    """In the order of arrival, D is dropped after the cut as a near-duplicate of C."""
    return _without_twin(rank(rows, k, policy=policy), "C" if policy == "input" else None)


def drops_d_as_twin_of_b(rows: Rows, k: int, *, policy: str = "by_id") -> tuple[Id, ...]:
    """In the order of arrival, D is dropped after the cut as a near-duplicate of B."""
    return _without_twin(rank(rows, k, policy=policy), "B" if policy == "input" else None)


def _without_twin(selected: tuple[Id, ...], twin: Id | None) -> tuple[Id, ...]:
    return tuple(item for item in selected if item != "D" or twin not in selected)


def cuts_the_inclusive_list(rows: Rows, k: int, *, policy: str = "by_id") -> tuple[Id, ...]:
    """The inclusive policy is cut at k like any other."""
    return rank(rows, k, policy="by_id" if policy == "inclusive" else policy)


def takes_zero_for_no_limit(rows: Rows, k: int, *, policy: str = "by_id") -> tuple[Id, ...]:
    """A k of 0 counts as not given, so everything is returned."""
    return rank(rows, k or len(rows), policy=policy)


def loses_the_last_row(rows: Rows, k: int, *, policy: str = "by_id") -> tuple[Id, ...]:
    """A loop ends one row early: the last of all documents is never returned."""
    return rank(rows, k, policy=policy)[: len(rows) - 1]


def clips_k(rows: Rows, k: int, *, policy: str = "by_id") -> tuple[Id, ...]:
    """A k above the number of documents is silently made smaller."""
    return rank(rows, min(k, len(rows)), policy=policy)


def lets_the_last_duplicate_win(rows: Rows, k: int, *, policy: str = "by_id") -> tuple[Id, ...]:
    """Rows go through a dictionary, so the last row of an ID silently wins."""
    return rank(dict(rows), k, policy=policy)


def leaves_nan_out(rows: Rows, k: int, *, policy: str = "by_id") -> tuple[Id, ...]:
    """Documents whose score is NaN are silently left out."""
    return rank([row for row in rows if row[1] == row[1]], k, policy=policy)


CHECKS = (
    Check(the_top_three, ("A", "B", "C"), sorts_after_the_cut),
    Check(answers_over_720_arrivals, 1, leaves_ties_as_they_arrive),
    Check(member_sets_over_arrivals, 3, hears_one_shard_first),
    Check(least_recall_over_arrivals, Fraction(2, 3), drops_d_as_twin_of_c),
    Check(greatest_recall_over_arrivals, Fraction(1), drops_d_as_twin_of_b),
    Check(inclusive_takes_the_whole_tie, (("A", "B", "C", "D"), Fraction(1)), cuts_the_inclusive_list),
    Check(k_of_zero, (), takes_zero_for_no_limit),
    Check(k_of_all, ("A", "B", "C", "D", "E", "F"), loses_the_last_row),
    Check(k_above_n_is_refused, REFUSED, clips_k),
    Check(a_duplicate_is_refused, REFUSED, lets_the_last_duplicate_win),
    Check(nan_is_refused, REFUSED, leaves_nan_out),
)
