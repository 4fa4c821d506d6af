"""The exercises about the order."""

from collections.abc import Iterable, Mapping
from math import factorial, perm
from typing import Any

from rankwork.contract.checks import SIX, Ranker, Rows, run_checks
from rankwork.contract.reference import rank
from rankwork.contract.ties import boundary
from rankwork.exercises.base import Exercise, same_number


def _open_cuts(answer: Iterable[int]) -> bool:
    return set(answer) == {k for k in range(1, len(SIX) + 1) if boundary(SIX, k).crosses}


def _arrivals_with_the_right_members(answer: Any) -> bool:
    """Every ordered choice of tied documents comes from equally many arrivals, and `slots!` of them hold one set."""
    cut = boundary(SIX, 3)
    return same_number(answer, factorial(len(SIX)) * factorial(cut.slots) // perm(cut.tied, cut.slots))


def _passes_all_and_is_wrong(answer: tuple[Ranker, Rows, int]) -> bool:
    ranker, rows, k = answer
    return all(result.holds for result in run_checks(ranker)) and _outcome(ranker, rows, k) != _outcome(rank, rows, k)


def _outcome(ranker: Ranker, rows: Rows, k: int) -> tuple[Any, ...] | None:
    try:
        return tuple(ranker(rows, k))
    except ValueError:
        return None


EXERCISES: Mapping[str, Exercise] = {
    "01.1": Exercise(
        "a set of numbers, such as {1, 6}",
        _open_cuts,
        hints=(
            "At which ranks do the tied documents stand?",
            "A cut is open when it has tied documents on both sides.",
        ),
    ),
    "01.2": Exercise(
        "a number of arrivals",
        _arrivals_with_the_right_members,
        hints=(
            "How many different sets of members are there?",
            "Each set comes from equally many arrivals.",
        ),
    ),
    "01.3": Exercise(
        "(ranker, rows, k): a function called as rank is, and its input",
        _passes_all_and_is_wrong,
        hints=(
            (
                "What do the rows of all eleven checks have in common? Look at their IDs, and at the size of "
                "their scores."
            ),
            "Take `rank`, and change what it does only with rows that no check contains.",
            "Longer IDs will do, or a score that must be refused and that no check has.",
        ),
    ),
}
