"""The exercises about engines."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from rankwork.engines import engine
from rankwork.engines.layers import agreement, contract, layers
from rankwork.engines.saved_scores import make
from rankwork.engines.settings import cast
from rankwork.engines.shrink import Case, small_cases
from rankwork.exercises.base import Exercise, same_number


def _first_tie_in_bfloat16(answer: Any) -> bool:
    pairs = ((n, cast(np.array([n, n + 1], dtype=np.float32), "bfloat16")) for n in range(1, 10_000))
    return same_number(answer, next(n for n, pair in pairs if pair[0] == pair[1]))


def _right_members_read_backwards(answer: tuple[Any, int]) -> bool:
    row, k = np.array(answer[0], dtype=np.float64), answer[1]
    found = layers(row, engine("numpy.argsort stable reversed").select(row, k))
    same = agreement(found, layers(row, contract(row, k)))
    return same["member set"] and not same["full order"]


def _selects_by_position(answer: Callable[[Any, int], Iterable[int]]) -> bool:
    """On all small arrangements of ties, on zeros of both signs, and on rows so long that sorts become unstable."""
    large = [Case(saved.scores, saved.k) for saved in make(seed=0).values()]
    return all(
        [int(position) for position in answer(case.scores.copy(), case.k)] == contract(case.scores, case.k).tolist()
        for case in (*small_cases(), *large)
    )


EXERCISES: Mapping[str, Exercise] = {
    "02.1": Exercise(
        "a number of the scores, such as 10",
        _first_tie_in_bfloat16,
        hints=(
            "bfloat16 keeps 8 significant bits. How large is a whole number that needs 9?",
            ("From which power of two on is the step larger than 1? A number half-way goes to the even neighbour."),
        ),
    ),
    "02.2": Exercise(
        "(scores, k), such as ([2.0, 1.0], 1)",
        _right_members_read_backwards,
        hints=(
            "Reading backwards turns every tie group round.",
            "Choose k so that a tie group is taken whole.",
        ),
    ),
    "02.3": Exercise(
        "a function, such as lambda scores, k: range(k)",
        _selects_by_position,
        hints=(
            "A stable sort keeps equal scores in the order of their positions.",
            "Descending, without reading backwards: what can be sorted ascending instead of the scores?",
        ),
    ),
}
