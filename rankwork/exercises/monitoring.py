"""The exercises about monitoring."""

import operator
from collections.abc import Iterable, Mapping
from typing import Any

from rankwork.decision.near_duplicates import near_duplicate
from rankwork.decision.quantiles import minimum, quantile
from rankwork.exercises.base import Exercise, same_number
from rankwork.statistics import minimum_values
from rankwork.trace import Case as Question


def _values_for_p999(answer: Any) -> bool:
    return same_number(answer, minimum_values(0.999))


def _told_only_without_the_stopped(answer: tuple[Iterable[float], int]) -> bool:
    """Whether P95 of those that ended can be told, and P95 of all lies among the stopped."""
    values, stopped = list(answer[0]), operator.index(answer[1])
    ended, every = quantile(values, 0.95), quantile(values, 0.95, stopped=stopped)
    return ended.value is not None and every.n >= minimum(0.95) and every.value is None


def _two_questions_apart(answer: tuple[str, str]) -> bool:
    """Whether one set takes both, and neither is taken where the other is held out."""
    one, other = (Question(id=name, query=text) for name, text in zip("ab", answer, strict=True))
    return near_duplicate(one, [other]) is None and near_duplicate(one, [other], numbers_count=False) is not None


EXERCISES: Mapping[str, Exercise] = {
    "10.1": Exercise(
        "a number of values",
        _values_for_p999,
        hints=(
            ("Let the true P99.9 stand at its limit. How probable is it that one value lies within it? And n of them?"),
            (
                "It must be improbable, at most .05, that all n lie within. Which n is the first for which "
                ".999 to the n is so?"
            ),
            "rankwork.statistics.minimum_values counts it; or take logarithms.",
        ),
    ),
    "10.2": Exercise(
        "(values, stopped), such as ([12.0, 30.0], 1)",
        _told_only_without_the_stopped,
        hints=(
            "Those that ended must be at least as many as P95 takes: it must leave one value beyond it.",
            "P95 of all is the value at rank .95 n, rounded up, and stopped calls stand behind all that ended.",
            (
                "How many stopped calls push that rank beyond the last that ended? With few values, one is "
                "not always enough."
            ),
        ),
    ),
    "10.3": Exercise(
        "a pair of texts, such as ('Who may sign?', 'How do I sign?')",
        _two_questions_apart,
        hints=(
            "In a set that one works with, which part of two alike questions makes them two tests?",
            "Against a held-out set, only the wording counts. What is left out of the wording?",
            "Think of two error codes, versions or dates.",
        ),
    ),
}
