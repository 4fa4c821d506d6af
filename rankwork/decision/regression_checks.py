"""Whether a trace does what its case asks for: pass, fail with reasons, or not scored, with the reason for that.

What is checked: the refusal, the evidence that reached the model, the labels of claims, the citations, hard events. A
case whose evidence is no longer gold is not scored: a stale answer key makes a right system look wrong.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from rankwork.decision.hard_events import events_of
from rankwork.errors import InputError
from rankwork.trace import Case, Item, Requirement, Stage, Trace

Verdict = Literal["pass", "fail", "not scored"]


@dataclass(frozen=True)
class Outcome:
    """What came out of one case, why, and which needs are met only by the order of equal scores."""

    case: str
    verdict: Verdict
    reasons: tuple[str, ...] = ()
    by_ties: tuple[str, ...] = ()

    def __str__(self) -> str:
        why = "; ".join((*self.reasons, *(f"by a tie alone: {tie}" for tie in self.by_ties)))
        return f"{self.verdict}: {self.case}" + (f": {why}" if why else "")


def check(case: Case, trace: Trace | None) -> Outcome:
    """The outcome of a case on its trace; without a trace it fails. InputError for the trace of another case.

    >>> from rankwork.trace import Evidence, Prompt
    >>> case = Case(id="q", query="why?", requires=(Requirement(any_of=(Evidence(id="a"),)),))
    >>> print(check(case, Trace(case="q", prompt=Prompt(ids=("b",)))))
    fail: q: 'a' was not shown to the model
    >>> print(check(case, Trace(case="q", prompt=Prompt(ids=("b", "a")), refused=False)))
    pass: q
    """
    if trace is None:
        return Outcome(case.id, "fail", ("no trace: it was not run",))
    if trace.case != case.id:
        raise InputError(f"the trace is of case {trace.case!r}, not of {case.id!r}")
    unfit = tuple(_unfit(case, trace))
    if unfit:
        return Outcome(case.id, "not scored", unfit)
    faults = tuple(_faults(case, trace))
    ties = () if faults or case.expected == "refuse" else tuple(_by_ties(case, trace))
    return Outcome(case.id, "fail" if faults else "pass", faults, ties)


def check_all(cases: Iterable[Case], traces: Iterable[Trace]) -> tuple[Outcome, ...]:
    """The outcome of every case of a regression set. InputError for a case with traces of several runs."""
    asked = list(cases)
    wanted = {case.id for case in asked}
    by_case: dict[str, Trace] = {}
    for trace in traces:
        if trace.case in by_case:
            runs = (by_case[trace.case].run, trace.run)
            raise InputError(f"case {trace.case!r} has traces of the runs {runs[0]!r} and {runs[1]!r}: choose one run")
        if trace.case in wanted:
            by_case[trace.case] = trace
    return tuple(check(case, by_case.get(case.id)) for case in asked)


def _unfit(case: Case, trace: Trace) -> Iterator[str]:
    """Why the trace cannot be scored against the case."""
    if not case.holds_at(trace.time or case.time):
        yield "its evidence was not gold at that time: review the case"
    if trace.query and trace.query != case.query:
        yield f"another question was asked: {trace.query!r}"
    if trace.identity != case.identity:
        yield f"another identity asked: {trace.identity.tenant!r}, {trace.identity.role!r}"


def _faults(case: Case, trace: Trace) -> Iterator[str]:
    yield from map(str, events_of(trace))
    if case.expected == "refuse":
        if not trace.refused:
            yield "it answered, and should have refused" if trace.refused is False else "no refusal was recorded"
        return
    if trace.refused:
        yield "it refused, and an answer was expected"
    yield from (_unmet(need, trace) for need in case.requires if not met(need, trace))
    yield from (f"claim {claim.id!r} is contradicted" for claim in trace.claims or () if claim.label == "contradicted")
    yield from _wrong_citations(trace)


def _wrong_citations(trace: Trace) -> Iterator[str]:
    for citation in trace.citations or ():
        if trace.prompt is not None and citation.id not in trace.prompt.ids:
            yield f"it cites {citation.id!r}, which was not in the prompt"
        elif citation.supports == "no":
            yield f"{citation.id!r} does not support the claim that it is cited for"


def met(need: Requirement, trace: Trace) -> list[str]:
    """The evidence of a requirement that reached the model, by ID: the prompt's, else that of the last stage."""
    shown = _shown(trace)
    return [evidence.id for evidence in need.any_of if evidence.id in shown]


def _shown(trace: Trace) -> set[str]:
    """What the model was shown; what replaced a piece, as its parent does, holds it."""
    kept: Mapping[str, Item] = {item.id: item for item in trace.stages[-1].kept} if trace.stages else {}
    shown = set(trace.prompt.ids) if trace.prompt is not None else set(kept)
    return shown | {kept[name].previous_id or name for name in shown if name in kept}


def _unmet(need: Requirement, trace: Trace) -> str:
    names = " or ".join(repr(evidence.id) for evidence in need.any_of) or "an empty requirement"
    return f"{names} was not shown to the model" + _last_seen(need, trace)


def _last_seen(need: Requirement, trace: Trace) -> str:
    """Where evidence of the need was last kept, and what dropped it."""
    wanted = {evidence.id for evidence in need.any_of}
    for place in range(len(trace.stages) - 1, -1, -1):
        stage = trace.stages[place]
        item = next((item for item in stage.kept if item.id in wanted), None)
        if item is not None:
            return f": rank {item.rank} of {stage.name}" + _dropped(item, trace.stages[place + 1 :])
    return f": in none of {', '.join(stage.name for stage in trace.stages)}" if trace.stages else ""


def _dropped(item: Item, later: tuple[Stage, ...]) -> str:
    for stage in later:
        gone = next((each for each in stage.items if item.id in (each.id, each.previous_id) and not each.kept), None)
        if gone is not None:
            return f", dropped by {stage.name} ({gone.drop_reason or 'no reason given'})"
    return ""


def _by_ties(case: Case, trace: Trace) -> Iterator[str]:
    """The needs whose every piece got in by the order of equal scores at some cut."""
    for need in case.requires:
        ties = [_tie(name, trace) for name in met(need, trace)]
        if ties and all(ties):
            yield str(ties[0])


def _tie(name: str, trace: Trace) -> str | None:
    """The cut at which a kept item has the score of one that was dropped there."""
    for stage in trace.stages:
        item = next((item for item in stage.kept if item.id == name), None)
        if item is None or item.score is None or stage.kind == "retrieve":
            continue
        rival = next((other for other in stage.items if not other.kept and other.score == item.score), None)
        if rival is not None:
            return f"{name!r} has the score of {rival.id!r}, which {stage.name} dropped"
    return None
