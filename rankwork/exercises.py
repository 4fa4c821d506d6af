"""The notebooks' exercises: `check` says whether an answer is right, and does not say what would be.

The right answers are computed here by the library, so that they cannot drift from it. Solutions stand in
`tests/test_exercises.py`, where the tests run them.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import factorial, isclose, perm
from typing import Any

from rankwork.contract.checks import SIX, Ranker, Rows, run_checks
from rankwork.contract.reference import rank
from rankwork.contract.ties import boundary, recall_distribution, recall_range
from rankwork.errors import InputError
from rankwork.inputs import toy
from rankwork.measures.auditing import audit
from rankwork.measures.means import Mean

NOT_ANSWERED, RIGHT, WRONG = "not answered yet", "right", "not right yet"


@dataclass(frozen=True, repr=False)
class Mark:
    """What an answer is worth; true where it is right."""

    exercise: str
    verdict: str

    def __bool__(self) -> bool:
        return self.verdict == RIGHT

    def __repr__(self) -> str:
        return f"exercise {self.exercise}: {self.verdict}"


@dataclass(frozen=True)
class Exercise:
    """How an answer must look, and the question whether it is right; that raises where it does not look so."""

    form: str
    is_right: Callable[[Any], bool]


def check(name: str, answer: Any) -> Mark:
    """The mark of an answer to the exercise of that name, such as "00.1"; None is no answer yet.

    InputError for an exercise that does not exist.

    >>> check("00.1", None)
    exercise 00.1: not answered yet
    >>> check("00.1", "a half")
    exercise 00.1: the answer should be a number, such as 0.25 or Fraction(1, 4)
    """
    if name not in EXERCISES:
        raise InputError(f"no exercise {name!r}; there are {', '.join(EXERCISES)}")
    exercise = EXERCISES[name]
    if answer is None:
        return Mark(name, NOT_ANSWERED)
    try:
        return Mark(name, RIGHT if exercise.is_right(answer) else WRONG)
    except Exception:  # an answer can be anything, a ranker that raises among it
        return Mark(name, f"the answer should be {exercise.form}")


_THREE_TIED = {"A": 9.0, "B": 8.0, "C": 8.0, "D": 8.0}


def _lowest_recall_of_three_tied(answer: Any) -> bool:
    return _same_number(answer, recall_range(_THREE_TIED, toy.FOUR_RELEVANT, 3).min)


def _expected_recall_of_three_tied(answer: Any) -> bool:
    return _same_number(answer, recall_range(_THREE_TIED, toy.FOUR_RELEVANT, 3).expected)


def _arrival_that_selects_a_and_c(answer: Iterable[str]) -> bool:
    scores = dict(toy.FOUR)
    arrival = [(document, scores[document]) for document in answer]
    return len(arrival) == len(scores) and set(rank(arrival, 2, policy="input")) == {"A", "C"}


def _open_cuts(answer: Iterable[int]) -> bool:
    return set(answer) == {k for k in range(1, len(SIX) + 1) if boundary(SIX, k).crosses}


def _arrivals_with_the_right_members(answer: Any) -> bool:
    """Every ordered choice of tied documents comes from equally many arrivals, and `slots!` of them hold one set."""
    cut = boundary(SIX, 3)
    return _same_number(answer, factorial(len(SIX)) * factorial(cut.slots) // perm(cut.tied, cut.slots))


def _passes_all_and_is_wrong(answer: tuple[Ranker, Rows, int]) -> bool:
    ranker, rows, k = answer
    return all(result.holds for result in run_checks(ranker)) and _outcome(ranker, rows, k) != _outcome(rank, rows, k)


def _outcome(ranker: Ranker, rows: Rows, k: int) -> tuple[Any, ...] | None:
    try:
        return tuple(ranker(rows, k))
    except ValueError:
        return None


def _ends_with_one_not_retrieved(answer: tuple[Any, Any]) -> bool:
    rows = [("above", 2), *((f"tied {number}", 1) for number in range(10))]
    limits = recall_range(rows, ["above", "tied 0", "tied 1", "tied 2", "not retrieved"], 5)
    least, most = answer
    return _same_number(least, limits.min) and _same_number(most, limits.max)


def _tie_without_a_range(answer: tuple[Rows, Iterable[str]]) -> bool:
    rows, relevant = answer[0], set(answer[1])
    cut, limits = boundary(rows, 3, relevant), recall_range(rows, relevant, 3)
    return cut.crosses and bool(cut.relevant_tied) and limits.min == limits.max


def _fewest_tied_for_three_of_ten(answer: Any) -> bool:
    return _same_number(answer, next(tied for tied in range(1, 20) if _widest_of_ten_relevant(tied) >= Fraction(3, 10)))


def _widest_of_ten_relevant(tied: int) -> Fraction:
    """The widest range that so many tied documents can have, whatever the slots and the relevant ones among them."""
    rows = [(f"tied {number}", 1) for number in range(tied)]
    widths = []
    for few in range(min(tied, 10) + 1):
        relevant = [f"tied {n}" for n in range(few)] + [f"elsewhere {n}" for n in range(10 - few)]
        recalls = [recall_distribution(rows, relevant, slots) for slots in range(1, tied + 1)]
        widths += [max(possible) - min(possible) for possible in recalls]
    return max(widths)


def _mean_of_one_pair_among_four() -> Mean:
    """Four queries with one relevant document each, which ties with one other in the first of them."""
    run = {query: {"a": 2.0, "b": 2.0 if query == "1" else 1.0} for query in "1234"}
    return audit(run, {query: {"a": 1} for query in run}, "R@1").result("R@1").mean


def _ends_of_one_pair_among_four(answer: tuple[Any, Any]) -> bool:
    least, most = answer
    mean = _mean_of_one_pair_among_four()
    return _same_number(least, mean.min) and _same_number(most, mean.max)


def _deviation_of_one_pair_among_four(answer: Any) -> bool:
    return _same_number(answer, _mean_of_one_pair_among_four().std)


def _opposite_by_descending_ids(answer: tuple[Any, Any]) -> bool:
    run, judgements = answer
    found = {order: audit(run, judgements, "R@1", order=order).result("R@1").mean for order in ("id_asc", "id_desc")}
    return len(run) == 1 and found["id_asc"].contract == 1 and found["id_desc"].contract == 0


def _same_number(answer: Any, right: float | None) -> bool:
    if isinstance(answer, bool) or right is None:
        raise TypeError("no number")
    return isclose(float(answer), right)


_A_NUMBER = "a number, such as 0.25 or Fraction(1, 4)"
EXERCISES: Mapping[str, Exercise] = {
    "00.1": Exercise(_A_NUMBER, _lowest_recall_of_three_tied),
    "00.2": Exercise(_A_NUMBER, _expected_recall_of_three_tied),
    "00.3": Exercise("all four documents in a text, such as 'DABC'", _arrival_that_selects_a_and_c),
    "01.1": Exercise("a set of numbers, such as {1, 6}", _open_cuts),
    "01.2": Exercise("a number of arrivals", _arrivals_with_the_right_members),
    "01.3": Exercise("(ranker, rows, k): a function called as rank is, and its input", _passes_all_and_is_wrong),
    "03.1": Exercise("a pair, such as (0.25, 0.5)", _ends_with_one_not_retrieved),
    "03.2": Exercise("(rows, relevant): rows of (ID, score), and IDs", _tie_without_a_range),
    "03.3": Exercise("a number of documents", _fewest_tied_for_three_of_ten),
    "05.1": Exercise("a pair, such as (0.25, 0.5)", _ends_of_one_pair_among_four),
    "05.2": Exercise(_A_NUMBER, _deviation_of_one_pair_among_four),
    "05.3": Exercise("(run, judgements), such as ({'q': {'a': 1.0}}, {'q': {'a': 1}})", _opposite_by_descending_ids),
}
