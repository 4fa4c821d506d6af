"""The exercises about audits."""

from collections.abc import Mapping
from typing import Any

from rankwork.exercises.base import A_NUMBER, Exercise, same_number
from rankwork.measures.auditing import audit
from rankwork.measures.means import Mean


def _mean_of_one_pair_among_four() -> Mean:
    """Four queries with one relevant document each, which ties with one other in the first of them."""
    run = {query: {"a": 2.0, "b": 2.0 if query == "1" else 1.0} for query in "1234"}
    return audit(run, {query: {"a": 1} for query in run}, "R@1").result("R@1").mean


def _ends_of_one_pair_among_four(answer: tuple[Any, Any]) -> bool:
    least, most = answer
    mean = _mean_of_one_pair_among_four()
    return same_number(least, mean.min) and same_number(most, mean.max)


def _deviation_of_one_pair_among_four(answer: Any) -> bool:
    return same_number(answer, _mean_of_one_pair_among_four().std)


def _opposite_by_descending_ids(answer: tuple[Any, Any]) -> bool:
    run, judgements = answer
    found = {order: audit(run, judgements, "R@1", order=order).result("R@1").mean for order in ("id_asc", "id_desc")}
    return len(run) == 1 and found["id_asc"].contract == 1 and found["id_desc"].contract == 0


EXERCISES: Mapping[str, Exercise] = {
    "05.1": Exercise(
        "a pair, such as (0.25, 0.5)",
        _ends_of_one_pair_among_four,
        hints=(
            "The ends of the mean are the means of the ends.",
            "Three queries give 1 each. What can the fourth give?",
        ),
    ),
    "05.2": Exercise(
        A_NUMBER,
        _deviation_of_one_pair_among_four,
        hints=(
            "The fourth query is 0 or 1, each as likely. What is its variance?",
            "A mean of four divides each value by four, and so its standard deviation.",
        ),
    ),
    "05.3": Exercise(
        "(run, judgements), such as ({'q': {'a': 1.0}}, {'q': {'a': 1}})",
        _opposite_by_descending_ids,
        hints=(
            "Two documents that tie are enough.",
            "Which of the two IDs must be the relevant one?",
        ),
    ),
}
