"""The exercises about fusion."""

from collections.abc import Mapping
from typing import Any

from rankwork.exercises.base import A_NUMBER, Exercise, same_number
from rankwork.retrieval.fusion import rrf
from rankwork.retrieval.fusion_intervals import fused_intervals
from rankwork.retrieval.routes import Several


def _expected_of_four_tied(answer: Any) -> bool:
    route = {"A": 3.0, "B": 2.0, **dict.fromkeys("CDEF", 1.0)}
    return same_number(answer, fused_intervals([route], 3, depth=5)["C"].expected)


def _tie_that_the_fused_list_hides(answer: Several) -> bool:
    """Of at least two routes; the fused list has no tie at all, and no document is first in every order."""
    return rrf(answer).ties == () and fused_intervals(answer, 1).certain == () and len(answer) > 1


def _ranks_that_float_sums_tell_apart(answer: tuple[Any, Any]) -> bool:
    first, second = answer
    possible = len(first) == len(second) == 3 and all(a != b for a, b in zip(first, second, strict=True))
    sums = [sum(1 / (60 + rank) for rank in ranks) for ranks in answer]
    return possible and sorted(first) == sorted(second) and sums[0] != sums[1]


EXERCISES: Mapping[str, Exercise] = {
    "06.1": Exercise(
        A_NUMBER,
        _expected_of_four_tied,
        hints=(
            "At which ranks do the four stand? The fusion reads ranks 1 to 5 of this route.",
            "Three of the four get a rank that is read, and one gets none: it gets 0 from this route.",
            "Each is as likely at any of the four places. Average what the places give: 1 / (60 + rank), and 0.",
        ),
    ),
    "06.2": Exercise(
        "routes, such as {'bm25': {'a': 2.0}, 'dense': ['a']}",
        _tie_that_the_fused_list_hides,
        hints=(
            (
                "One route needs two documents of equal score, given as a mapping from ID to score. The other"
                " has no tie."
            ),
            ("The tied two must be the rivals for first place, and their fused scores must differ in either order."),
            (
                "Let the second route rank them with a third document between or before them, so that no two "
                "sums are equal."
            ),
        ),
    ),
    "06.3": Exercise(
        "two triples of ranks, such as ((1, 2, 3), (3, 1, 2))",
        _ranks_that_float_sums_tell_apart,
        hints=(
            (
                "The exact sums are equal because both add the same three fractions. In how many orders can "
                "three be added?"
            ),
            "Take one triple and a second one that moves every rank to another place: a rotation does that.",
            ("Try small ranks in a loop, with sum(1 / (60 + rank) for rank in ranks), until the two floats differ."),
        ),
    ),
}
