"""The exercises about answers and judges."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from rankwork.diagnosis.alce import alce_scores
from rankwork.diagnosis.citations import CitationRules, citation_scores
from rankwork.diagnosis.generation import Rules, answer_scores
from rankwork.diagnosis.judges import kappa
from rankwork.exercises.base import Exercise, same_number
from rankwork.inputs.verdicts import Scale
from rankwork.trace import Case as Question
from rankwork.trace import Citation, Claim, Label, Trace


def _ends_with_one_verdict_failed(answer: tuple[Any, Any]) -> bool:
    labels: tuple[Label | None, ...] = ("supported", "supported", "contradicted", None)
    claims = tuple(Claim(id=str(place), label=label) for place, label in enumerate(labels))
    rules = Rules(unlabelled="bound")
    share = answer_scores(Question(id="q", query=""), Trace(case="q", claims=claims), rules=rules).faithfulness
    least, most = answer
    return same_number(least, share.min) and same_number(most, share.max)


def _agreeing_by_chance(answer: tuple[Iterable[int], Iterable[int]]) -> bool:
    first, second = (np.array([int(value) for value in row], np.int64) for row in answer)
    if len(first) != 10 or len(second) != 10 or not {*first.tolist(), *second.tolist()} <= {0, 1}:
        raise TypeError("no two lists of ten")
    found = kappa(first, second, Scale((0, 1))).value
    return int((first == second).sum()) >= 9 and found is not None and found <= 0


def _perfect_by_alce_alone(answer: tuple[Iterable[tuple[str, str, Any]], Iterable[str]]) -> bool:
    rows, known = answer
    citations = tuple(Citation(id=source, claim=claim, supports=supports) for source, claim, supports in rows)
    case, claims = Question(id="q", query=""), (Claim(id="1"), Claim(id="2"))
    trace, rules = Trace(case="q", claims=claims, citations=citations), CitationRules(known=set(known))
    ours, theirs = citation_scores(case, trace, rules=rules), alce_scores(case, trace, rules=rules)
    return theirs.precision.value == 1 and ours.precision.value is not None and ours.precision.value < 1


EXERCISES: Mapping[str, Exercise] = {
    "08.1": Exercise(
        "a pair, such as (0.25, 0.5)",
        _ends_with_one_verdict_failed,
        hints=(
            "What is divided by? A claim without a label stays a claim.",
            "Take the missing label once as not supported, and once as supported.",
        ),
    ),
    "08.2": Exercise(
        "two lists of ten, each 0 or 1",
        _agreeing_by_chance,
        hints=(
            (
                "Kappa takes away the agreement that chance gives. How much does chance give if one judge"
                " says the same ten times?"
            ),
            (
                "If the other judge says the same ten times as well, kappa is undefined. So something has"
                " to differ; how much may it?"
            ),
        ),
    ),
    "08.3": Exercise(
        "(citations, IDs), such as ([('a', '1', 'full')], ['a'])",
        _perfect_by_alce_alone,
        hints=(
            "Which citations does ALCE's program leave out of the denominator?",
            (
                "Let one claim have a citation that supports it. The other claim's citation has to count "
                "in the one share and not in the other."
            ),
            "Which of the two cited IDs should be missing from the IDs that exist?",
        ),
    ),
}
