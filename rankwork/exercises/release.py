"""The exercises about the release gate."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from rankwork.decision.verdicts import verdict
from rankwork.exercises.base import Exercise


def _fewest_unchanged(answer: Any) -> bool:
    """Whether so many queries without a change are equivalent within .02, and one fewer are not."""
    if isinstance(answer, bool) or answer != int(answer):
        raise TypeError("no number of queries")
    words = [verdict([0.0] * n, alpha=0.05, margin=0.02).word for n in (int(answer) - 1, int(answer))]
    return words == ["inconclusive", "equivalent"]


def _better_by_query_alone(answer: tuple[Any, Any]) -> bool:
    differences, clusters = answer
    by_query = verdict(differences, alpha=0.05)
    return by_query.word == "better" and verdict(differences, clusters=clusters, alpha=0.05).word != "better"


def _better_by_ties_alone(answer: tuple[Any, Any, Any]) -> bool:
    differences, lowest, highest = (np.asarray(part, float) for part in answer)
    if not ((lowest <= differences) & (differences <= highest)).all():
        raise ValueError("a difference lies outside of its minimum and maximum")
    found = verdict(differences, alpha=0.05, lowest=lowest, highest=highest)
    return found.word == "better" and found.tie_proof is False


EXERCISES: Mapping[str, Exercise] = {
    "09.1": Exercise(
        "a number of queries, such as 100",
        _fewest_unchanged,
        hints=(
            (
                "No query lost. How large can the true share of losing queries still be, by the 95 % bound of"
                " the first table row? The notebook gives the bound for n queries without a loss."
            ),
            (
                "A query can lose at most 1, so that share is also the largest mean loss. It must not be "
                "above .02: solve the inequality for n, or try one n after the other."
            ),
            (
                "`rankwork.statistics.share(0, n).high` is the bound. The answer is the first n for which it "
                "is at most .02; check that one query fewer is not enough."
            ),
        ),
    ),
    "09.2": Exercise(
        "(differences, clusters), such as ([0.5, -0.5], ['a', 'b'])",
        _better_by_query_alone,
        hints=(
            (
                "Choose differences that are better beyond doubt if each query counts: all gained, and at "
                "least ten of them."
            ),
            (
                "Now look at the table from the side of the clusters: its first row asks how many of them "
                "differ, and below six there is not even a p."
            ),
            (
                "So put many winning queries into a handful of clusters. `verdict(differences, alpha=0.05)` "
                "and `verdict(differences, alpha=0.05, clusters=clusters)` show both words."
            ),
        ),
    ),
    "09.3": Exercise(
        "(differences, lowest, highest), such as ([0.5], [0.0], [1.0])",
        _better_by_ties_alone,
        hints=(
            (
                "As measured, the differences must be better: many gains of one sign are enough. `lowest` and"
                " `highest` then say what other orders of ties would have given each query."
            ),
            (
                "Tie-proof means that the same verdict follows with all minima and with all maxima. One of "
                "the two ends must say something else."
            ),
            (
                "Keep the maxima at the measured values, and lower the minima until the gain is gone. Each "
                "minimum stays at or below its difference, each maximum at or above it."
            ),
        ),
    ),
}
