"""Columns that are taken from traces: measures of a stage's list against the case's gold, and quantities of a trace.

A list counts in the order in which it was returned; what other orders of its equal scores would have given is its
range. Where a trace lists what a tie kept out of a cut (`tie_cut`), that takes part in the range. What ties in earlier
stages handed on is not in it: see `rankwork.diagnosis.funnel`. Cases whose gold was not valid at their time are stale:
they have no value, and are never a miss.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rankwork.decision.outcomes import Column, Outcomes
from rankwork.decision.policy import EVIDENCE
from rankwork.decision.quantities import QUANTITIES, Quantity
from rankwork.errors import InputError
from rankwork.measures.auditing import Audit, audit
from rankwork.measures.evidence_coverage import evidence_coverage
from rankwork.measures.names import parse
from rankwork.rankings import Rankings
from rankwork.trace import Case, Item, Stage, Trace


class NoStage(InputError):
    """A stage that no trace has: the policy's `stage` is at fault, not its measure."""


def column(outcomes: Outcomes, measure: str, stage: str | None, cases: Mapping[str, Case]) -> Column:
    """The column of a measure, or of one stage's measure, for every trace.

    InputError for a stage that no trace has, for costs in two currencies, and where cases are needed and missing.

    >>> from rankwork.decision.outcomes import of_traces
    >>> traces = [Trace(case="a", latency_ms=12.0), Trace(case="b")]
    >>> found = column(of_traces("new", traces), "latency_ms", None, {})
    >>> found.value.tolist(), found.unit
    ([12.0, nan], 'ms')
    """
    if stage is not None and all(_stage(trace, stage) is None for trace in outcomes.traces):
        names = dict.fromkeys(each.name for trace in outcomes.traces for each in trace.stages)
        raise NoStage(f"no trace of {outcomes.name} has a stage {stage!r}; there are {', '.join(names) or 'none'}")
    if measure == "latency_ms" and stage is not None:
        return _plain([_latency(_stage(trace, stage)) for trace in outcomes.traces], "ms")
    if measure in QUANTITIES and stage is None:
        return _quantity(QUANTITIES[measure], outcomes, cases, _currency(outcomes) if measure == "cost" else None)
    if stage is None:
        raise InputError(f"{measure!r} is measured on a list: the rule needs a stage, such as `stage: context`")
    return _of_lists(measure, stage, outcomes.traces, cases)


def _plain(values: Sequence[float | None], unit: str) -> Column:
    numbers = np.array([np.nan if value is None else value for value in values], np.float64)
    return Column(numbers, numbers, numbers, unit)


def _quantity(quantity: Quantity, outcomes: Outcomes, cases: Mapping[str, Case], unit: str | None) -> Column:
    values = [quantity.of(trace, cases.get(trace.case)) for trace in outcomes.traces]
    return _plain(values, quantity.unit if unit is None else unit)


def _currency(outcomes: Outcomes) -> str:
    """The one currency of all costs. InputError for two, with a case of each, and for a cost without one."""
    seen: dict[str, str] = {}
    for trace in outcomes.traces:
        for usage in trace.usage or ():
            if usage.cost is not None:
                if not usage.currency:
                    raise InputError(f"{outcomes.name}: case {trace.case!r}: the cost {usage.cost} has no currency")
                seen.setdefault(usage.currency, trace.case)
    if len(seen) > 1:
        (one, first), (other, second) = list(seen.items())[:2]
        raise InputError(f"{outcomes.name}: costs in two currencies, {one} (case {first!r}) and {other} ({second!r})")
    return next(iter(seen), "")


def _stage(trace: Trace, name: str) -> Stage | None:
    return next((stage for stage in trace.stages if stage.name == name), None)


def _latency(stage: Stage | None) -> float | None:
    return None if stage is None else stage.latency_ms


def is_stale(case: Case) -> bool:
    """Whether the case's gold was not valid at the time at which it is asked; False where no time is known.

    >>> from datetime import UTC, datetime
    >>> ends = datetime(2026, 3, 1, tzinfo=UTC)
    >>> is_stale(Case(id="a", query="?", time=datetime(2026, 4, 1, tzinfo=UTC), valid_until=ends))
    True
    """
    if case.time is None:
        return False
    begins, ends = case.valid_from, case.valid_until
    return (begins is not None and case.time < begins) or (ends is not None and case.time > ends)


def _of_lists(measure: str, stage: str, traces: Sequence[Trace], cases: Mapping[str, Case]) -> Column:
    judged = [trace for trace in traces if trace.case in cases and not is_stale(cases[trace.case])]
    with_gold = [trace.case for trace in judged if cases[trace.case].gold]
    empty = np.full(len(traces), np.nan)
    if not with_gold:
        raise InputError(f"{measure} of {stage}: no case has gold evidence; are the cases those of these traces?")
    gold = {name: cases[name] for name in with_gold}
    found = _audited(measure, _rankings(judged, stage, _cutoff(measure)), gold, _protocol(traces))
    values = next(iter(found.results.values())).values if len(found.results) == 1 else found.result(measure).values
    at = {trace.case: place for place, trace in enumerate(traces)}
    places = [at[query] for query in found.queries]
    low, value, high = (empty.copy() for _ in range(3))
    low[places], value[places], high[places] = values.outer_min, values.contract, values.outer_max
    return Column(value, low, high)


def _protocol(traces: Sequence[Trace]) -> str:
    """The one protocol of all traces. InputError for two."""
    names = list(dict.fromkeys(trace.protocol for trace in traces))
    if len(names) > 1:
        raise InputError(f"the traces name two protocols, {names[0]!r} and {names[1]!r}: one scores a run")
    return names[0]


def _audited(measure: str, run: Rankings, cases: Mapping[str, Case], protocol: str) -> Audit:
    name, _, k = measure.partition("@")
    if name in EVIDENCE:
        needs = {case.id: [[each.id for each in need.any_of] for need in case.requires] for case in cases.values()}
        return evidence_coverage(run, needs, int(k), protocol=protocol, order="input")
    grades = {case.id: {each.id: each.grade for each in case.gold.values()} for case in cases.values()}
    return audit(run, grades, [measure], protocol=protocol, order="input")


def _cutoff(measure: str) -> int | None:
    return int(measure.partition("@")[2]) if measure.startswith(EVIDENCE) else parse(measure).cutoff


def _ranked(stage: Stage | None, cutoff: int | None) -> Sequence[Item]:
    """What the stage returned, no deeper than the measure looks, and what only a tie kept out of that."""
    kept = stage.kept if stage else ()
    if stage is None or cutoff is None or cutoff > len(kept):
        return kept
    tied = [item for item in stage.items if item.drop_reason == "tie_cut" and item.score is not None]
    last = kept[cutoff - 1].score
    return [*kept[:cutoff], *(item for item in (*kept[cutoff:], *tied) if item.score == last and last is not None)]


def _rankings(traces: Sequence[Trace], stage: str, cutoff: int | None) -> Rankings:
    """What the stage returned, in its order; where an item has no score, none ties."""
    rows: list[tuple[str, str, float]] = []
    for trace in traces:
        items = _ranked(_stage(trace, stage), cutoff)
        scored = all(item.score is not None for item in items)
        rows += [(trace.case, i.id, _score(i.score) if scored else -float(p)) for p, i in enumerate(items)]
    queries: Any
    documents: Any
    scores: Any
    queries, documents, scores = zip(*rows, strict=True) if rows else ((), (), ())
    return Rankings.from_columns(queries, documents, scores, all_queries=[trace.case for trace in traces])


def _score(score: float | None) -> float:
    return 0.0 if score is None else score
