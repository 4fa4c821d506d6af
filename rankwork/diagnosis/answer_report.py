"""All that labels tell of a run's answers: their claims, their citations, their refusals."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from rankwork.diagnosis import citations, generation
from rankwork.diagnosis.citations import CitationRules, CitationsReport, citations_report
from rankwork.diagnosis.generation import AnswersReport, Rules, answers_report
from rankwork.diagnosis.refusals import Refusals, refusals
from rankwork.trace import Case, Trace


@dataclass(frozen=True, repr=False)
class AnswerReport:
    """The three reports on the same answers; each says how many of them it leaves undefined."""

    answers: AnswersReport
    citations: CitationsReport
    refusals: Refusals

    def to_json(self) -> dict[str, Any]:
        """What JSON holds of it."""
        reports = {"answers": self.answers.to_json(), "citations": self.citations.to_json()}
        return {**reports, "refusals": self.refusals.to_json()}

    def __str__(self) -> str:
        return f"{self.answers}\n\n{self.citations}\n\n{self.refusals}"


def answer_report(
    cases: Iterable[Case],
    traces: Iterable[Trace],
    *,
    rules: Rules = generation.DEFAULT,
    citation_rules: CitationRules = citations.DEFAULT,
) -> AnswerReport:
    """The reports on every trace, each joined with its case; traces of several runs are taken as one.

    Errors as `answers_report` and `citations_report`.
    """
    known, given = list(cases), list(traces)
    return AnswerReport(
        answers_report(known, given, rules=rules),
        citations_report(known, given, rules=citation_rules),
        refusals(known, given),
    )


def reports_by_run(
    cases: Iterable[Case],
    traces: Iterable[Trace],
    *,
    rules: Rules = generation.DEFAULT,
    citation_rules: CitationRules = citations.DEFAULT,
) -> dict[str, AnswerReport]:
    """The report on each run, in the order in which the runs appear. Errors as `answer_report`."""
    known, by_run = list(cases), dict[str, list[Trace]]()
    for trace in traces:
        by_run.setdefault(trace.run, []).append(trace)
    return {
        run: answer_report(known, given, rules=rules, citation_rules=citation_rules) for run, given in by_run.items()
    }
