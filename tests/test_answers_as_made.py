"""Answers of which it is known how they were made: each way leaves its trace in the scores that are about it."""

from collections.abc import Callable

import pytest

from rankwork.diagnosis.answer_report import answer_report
from rankwork.diagnosis.citations import CitationRules, CitationScores
from rankwork.diagnosis.generation import AnswerScores
from rankwork.inputs.knowledge_base import knowledge_base, labelled_answers
from rankwork.trace import Trace

BASE = knowledge_base()
RULES = CitationRules(known={document.id for document in BASE.documents})

Signature = Callable[[AnswerScores, CitationScores], bool]


def below(score: str) -> Signature:
    """Not all of it: the score is defined and less than 1."""
    return lambda scores, _: (getattr(scores, score).value or 0) < 1 and getattr(scores, score).total > 0


def faulty(fault: str) -> Signature:
    return lambda _, cited: fault in cited.faults


def flawless(scores: AnswerScores, cited: CitationScores) -> bool:
    names = ("faithfulness", "correctness", "relevance", "completeness")
    return all(getattr(scores, name).value == 1 for name in names) and not cited.faults and cited.recall.value == 1


def faithful_and_wrong(scores: AnswerScores, cited: CitationScores) -> bool:
    return scores.faithfulness.value == 1 and (scores.correctness.value or 0) < 1


SIGNATURES: dict[str, Signature] = {
    "right": flawless,
    "piled": faulty("ambiguous"),
    "compound": faulty("partial"),
    "incomplete": below("completeness"),
    "unsupported": below("faithfulness"),
    "invented": below("faithfulness"),
    "from_memory": below("faithfulness"),
    "contradicted": lambda scores, _: bool(scores.contradicted.value),
    "obeys_injection": lambda scores, _: bool(scores.contradicted.value),
    "outdated": faulty("outdated"),
    "stale_notes": faithful_and_wrong,
    "makers_default": faithful_and_wrong,
    "beside": below("relevance"),
    "wrong_citation": faulty("does_not_support"),
    "fabricated": faulty("fabricated"),
    "refused": lambda scores, _: not scores.claims,
    "false_refusal": lambda scores, _: not scores.claims and scores.completeness.value == 0,
}


@pytest.mark.parametrize("system", ["baseline", "candidate"])
def test_every_way_of_answering_leaves_its_trace(system: str) -> None:
    """And only a right answer, or one that rightly refuses, leaves none."""
    parts = labelled_answers(system)  # type: ignore[arg-type]
    report = answer_report(
        BASE.cases, [part.merged(Trace(case=name)) for name, part in parts.items()], citation_rules=RULES
    )
    for scores, cited in zip(report.answers.scores, report.citations.scores, strict=True):
        behaviour = parts[scores.case].behaviour
        assert SIGNATURES[behaviour](scores, cited), (behaviour, scores.case)
        assert flawless(scores, cited) == (behaviour == "right"), (behaviour, scores.case)
    made = [part.behaviour for part in parts.values()]
    assert len(report.refusals.false_refusals) == made.count("false_refusal")
    assert report.refusals.refused == made.count("refused")
