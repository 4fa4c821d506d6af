"""The exercises about ranges."""

from collections.abc import Iterable, Mapping
from typing import Any

from rankwork.contract.checks import Rows
from rankwork.contract.ties import boundary, recall_range
from rankwork.exercises.base import Exercise, same_number
from rankwork.measures.origins import as_type, rounded
from rankwork.rankings import Rankings


def _ends_with_one_not_retrieved(answer: tuple[Any, Any]) -> bool:
    rows = [("above", 2), *((f"tied {number}", 1) for number in range(10))]
    limits = recall_range(rows, ["above", "tied 0", "tied 1", "tied 2", "not retrieved"], 5)
    least, most = answer
    return same_number(least, limits.min) and same_number(most, limits.max)


def _tie_without_a_range(answer: tuple[Rows, Iterable[str]]) -> bool:
    rows, relevant = answer[0], set(answer[1])
    cut, limits = boundary(rows, 3, relevant), recall_range(rows, relevant, 3)
    return cut.crosses and bool(cut.relevant_tied) and limits.min == limits.max


def _tied_by_float16_alone(answer: tuple[Any, Any]) -> bool:
    pair = Rankings.from_dicts({"q": {"a": float(answer[0]), "b": float(answer[1])}})
    forms = (as_type(pair, "float32"), as_type(pair, "float16"), rounded(pair, 3))
    return [len(set(form.scores.tolist())) for form in forms] == [2, 1, 2]


EXERCISES: Mapping[str, Exercise] = {
    "03.1": Exercise(
        "a pair, such as (0.25, 0.5)",
        _ends_with_one_not_retrieved,
        hints=(
            "h = 1, t = 10, r = 3, s = 4. Count the relevant documents for R with care: one was not retrieved.",
            "Fill the four slots with the seven that are not relevant, then with the three that are.",
        ),
    ),
    "03.2": Exercise(
        "(rows, relevant): rows of (ID, score), and IDs",
        _tie_without_a_range,
        hints=(
            "The formula has s - (t - r) and min(s, r). When do both give the same?",
            "What if every choice of tied documents holds equally many relevant ones?",
        ),
    ),
    "03.3": Exercise(
        "a pair of scores, such as (0.25, 0.5)",
        _tied_by_float16_alone,
        hints=(
            "float16 keeps 11 significant bits: its steps grow with the number.",
            "From which number on is the step of float16 larger than .001?",
        ),
    ),
}
