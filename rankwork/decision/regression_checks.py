"""Whether a trace does what its case asks for: pass, fail with reasons, or not scored, with the reason for that.

What is checked: the refusal, the evidence that reached the model, the labels of claims, the citations, hard events. A
case whose evidence is no longer gold is not scored: a stale answer key makes a right system look wrong.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from rankwork.decision.hard_events import hard_events
from rankwork.decision.paths import path, shown, told
from rankwork.diagnosis.looks import GUARDED
from rankwork.errors import InputError
from rankwork.trace import CUTS, Case, Requirement, Trace

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
    fail: q: not shown to the model: 'a' (no stages)
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
    """The outcome of every case of a regression set. InputError for a case with traces of several runs.

    >>> print(*check_all([Case(id="q", query="?", expected="refuse")], [Trace(case="q", refused=True)]))
    pass: q
    """
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


def lost_after(cases: Iterable[Case], traces: Iterable[Trace], stage: str) -> Iterator[tuple[Case, Trace]]:
    """Failed cases with one piece of gold evidence that a stage, such as `fuse`, kept and no later one showed.

    Each with its trace, to be packed for a review. Cases that are held out are passed over: they do not become tests.

    >>> from rankwork.trace import Evidence, Item, Prompt, Stage
    >>> case = Case(id="q", query="why?", requires=(Requirement(any_of=(Evidence(id="a"),)),))
    >>> fuse = Stage(kind="fuse", returned=1, items=(Item(id="a", rank=1),))
    >>> cut = Trace(case="q", stages=(fuse,), prompt=Prompt(ids=("b",)))
    >>> [found.id for found, _ in lost_after([case], [cut], "fuse")]
    ['q']
    """
    asked = {case.id: case for case in cases if case.split not in GUARDED and len(case.gold) == 1}
    for trace in traces:
        case = asked.get(trace.case)
        if case is None or check(case, trace).verdict != "fail":
            continue
        kept = {item.id for ran in trace.stages if ran.name == stage for item in ran.kept}
        if set(case.gold) <= kept and not any(shown(name, trace) for name in case.gold):
            yield case, trace


def _unfit(case: Case, trace: Trace) -> Iterator[str]:
    """Why the trace cannot be scored against the case."""
    if not case.holds_at(trace.time or case.time):
        yield "its evidence was not gold at that time: review the case"
    if trace.query and trace.query != case.query:
        yield f"another question was asked: {trace.query!r}"
    if trace.identity != case.identity:
        yield f"another identity asked: {trace.identity.tenant!r}, {trace.identity.role!r}"


def _faults(case: Case, trace: Trace) -> Iterator[str]:
    yield from map(str, hard_events([trace]).events)
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
    """The evidence of a requirement that reached the model, by ID; empty where none did.

    >>> from rankwork.trace import Evidence, Prompt
    >>> need = Requirement(any_of=(Evidence(id="a"), Evidence(id="b")))
    >>> met(need, Trace(case="q", prompt=Prompt(ids=("b", "c"))))
    ['b']
    """
    return [evidence.id for evidence in need.any_of if shown(evidence.id, trace)]


def _unmet(need: Requirement, trace: Trace) -> str:
    lost = [f"{evidence.id!r} ({told(path(evidence.id, trace))})" for evidence in need.any_of]
    return f"not shown to the model: {' or '.join(lost) or 'an empty requirement, which nothing meets'}"


def _by_ties(case: Case, trace: Trace) -> Iterator[str]:
    """The needs whose every piece got in by the order of equal scores at some cut."""
    for need in case.requires:
        ties = [_tie(name, trace) for name in met(need, trace)]
        if ties and all(ties):
            yield str(ties[0])


def _tie(name: str, trace: Trace) -> str | None:
    """The cut at which it was kept, with the score of something that was dropped there for its rank alone."""
    alone = len(trace.routes) == 1
    for stage, step in zip(trace.stages, path(name, trace), strict=True):
        if stage.kind == "retrieve" and not alone:
            continue  # another route can bring it
        rivals = [item for item in stage.items if item.drop_reason in CUTS and item.score == step.score]
        if step.kept and step.score is not None and rivals:
            return f"{step.id!r} has the score of {rivals[0].id!r}, which {stage.name} cut off"
    return None
