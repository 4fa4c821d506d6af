"""The exercises about four documents."""

from collections.abc import Iterable, Mapping
from typing import Any

from rankwork.contract.reference import rank
from rankwork.contract.ties import recall_range
from rankwork.exercises.base import A_NUMBER, Exercise, same_number
from rankwork.inputs import toy

_THREE_TIED = {"A": 9.0, "B": 8.0, "C": 8.0, "D": 8.0}


def _lowest_recall_of_three_tied(answer: Any) -> bool:
    return same_number(answer, recall_range(_THREE_TIED, toy.FOUR_RELEVANT, 3).min)


def _expected_recall_of_three_tied(answer: Any) -> bool:
    return same_number(answer, recall_range(_THREE_TIED, toy.FOUR_RELEVANT, 3).expected)


def _arrival_that_selects_a_and_c(answer: Iterable[str]) -> bool:
    scores = dict(toy.FOUR)
    arrival = [(document, scores[document]) for document in answer]
    return len(arrival) == len(scores) and set(rank(arrival, 2, policy="input")) == {"A", "C"}


EXERCISES: Mapping[str, Exercise] = {
    "00.1": Exercise(
        A_NUMBER,
        _lowest_recall_of_three_tied,
        hints=(
            "A takes one place of three. How many are left for B, C and D?",
            "Two of the three get in. Choose them so that C, the relevant one, stays out.",
            "Recall divides by all relevant documents, A and C.",
        ),
    ),
    "00.2": Exercise(
        A_NUMBER,
        _expected_recall_of_three_tied,
        hints=(
            "Write down the pairs that can be chosen from B, C and D. Each is as likely as another.",
            "In how many of the pairs is C? Average the recall over the pairs.",
        ),
    ),
    "00.3": Exercise(
        "all four documents in a text, such as 'DABC'",
        _arrival_that_selects_a_and_c,
        hints=(
            "Which of B and C has to arrive first, if ties are left as they arrive?",
            "A and D tie with nobody, so it does not matter where they stand.",
        ),
    ),
}
