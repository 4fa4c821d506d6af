"""What the stages of a pipeline did, over many traces: how long they took, how they ended, how much they returned."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from rankwork.decision.quantiles import LEVELS, Quantile, quantiles
from rankwork.decision.shares import CONFIDENCE, Share, share
from rankwork.trace import Stage, Trace

TOTAL = "total"
_ENDS = ("timeout", "error", "degraded", "skipped")


@dataclass
class Timings:
    """The latencies of one stage, float[n] in milliseconds: of the calls that ended, and how many were stopped.

    A call that timed out was stopped, whatever latency stands beside it: how long it would have taken nobody knows. A
    call that was skipped has no latency, and `unknown` counts the others that have none.
    """

    ended: list[float] = field(default_factory=list)
    stopped: int = 0
    unknown: int = 0

    def add(self, latency_ms: float | None, status: str) -> None:
        """One more call."""
        if status == "timeout":
            self.stopped += 1
        elif latency_ms is not None:
            self.ended.append(latency_ms)
        elif status != "skipped":
            self.unknown += 1


@dataclass
class Tally:
    """What is counted of one stage while traces go by."""

    timings: Timings = field(default_factory=Timings)
    statuses: dict[str, int] = field(default_factory=dict)
    returned: list[int] = field(default_factory=list)
    short: int = 0
    asked: int = 0

    def add(self, stage: Stage) -> None:
        """One more call of this stage."""
        self.timings.add(stage.latency_ms, stage.status)
        self.statuses[stage.status] = self.statuses.get(stage.status, 0) + 1
        if stage.status == "skipped":
            return
        self.returned.append(stage.returned)
        self.asked += stage.requested is not None
        self.short += stage.requested is not None and stage.returned < stage.requested


@dataclass(frozen=True)
class StageFigures:
    """One stage, or the whole request (`total`).

    `latency` has the quantiles in milliseconds, time-outs counted as longer than all that ended. The shares are of all
    calls; `empty` and `short` are of the calls that ran: no item returned, and fewer than were asked for.
    """

    stage: str
    calls: int
    latency: tuple[Quantile, ...]
    latency_unknown: int
    timeout: Share
    error: Share
    degraded: Share
    skipped: Share
    candidates: tuple[Quantile, ...]
    empty: Share
    short: Share

    def quantile(self, level: float) -> Quantile | None:
        """The latency's quantile at a level that was asked for."""
        return next((found for found in self.latency if found.level == level), None)


def tallies(traces: Iterable[Trace]) -> dict[str, Tally]:
    """The tally of each stage in the order in which stages ran, then of the whole request.

    A whole request counts as stopped where a stage of it timed out and no latency of the whole is known.

    >>> ran = Stage(kind="fuse", returned=0, latency_ms=7.0)
    >>> found = tallies([Trace(case="q", stages=(ran,), latency_ms=9.0)])
    >>> {name: tally.timings.ended for name, tally in found.items()}
    {'fuse': [7.0], 'total': [9.0]}
    """
    found: dict[str, Tally] = {}
    total = Tally()
    for trace in traces:
        for stage in trace.stages:
            found.setdefault(stage.name, Tally()).add(stage)
        status = outcome(trace)
        stopped = status == "timeout" and trace.latency_ms is None
        total.timings.add(trace.latency_ms, "timeout" if stopped else "ok")
        total.statuses[status] = total.statuses.get(status, 0) + 1
        if trace.stages:
            total.returned.append(trace.stages[-1].returned)
    return dict(sorted(found.items(), key=lambda entry: _place(entry[0]))) | {TOTAL: total}


def _place(name: str) -> int:
    """Where a stage stands in a pipeline."""
    return ("retrieve", "fuse", "rerank", "context").index(name.partition(":")[0])


def outcome(trace: Trace) -> str:
    """The worst that happened to a stage of a trace: timeout, error, degraded, or ok.

    >>> outcome(Trace(case="q", stages=(Stage(kind="retrieve", returned=0, status="timeout"),)))
    'timeout'
    """
    statuses = {stage.status for stage in trace.stages}
    return next((status for status in ("timeout", "error", "degraded") if status in statuses), "ok")


def figures(
    stage: str, tally: Tally, *, levels: Iterable[float] = LEVELS, confidence: float = CONFIDENCE
) -> StageFigures:
    """What was counted of one stage, with its limits; latency in milliseconds. ContractError as for `quantile`.

    >>> ran = Stage(kind="retrieve", returned=0, latency_ms=7.0)
    >>> found = figures("retrieve", tallies([Trace(case=str(n), stages=(ran,)) for n in range(4)])["retrieve"])
    >>> found.calls, found.empty.value
    (4, 1.0)
    """
    calls, ran = sum(tally.statuses.values()), len(tally.returned)
    ends = {end: share(tally.statuses.get(end, 0), calls, confidence=confidence) for end in _ENDS}
    asked = list(levels)
    timings = tally.timings
    return StageFigures(
        stage=stage,
        calls=calls,
        latency=quantiles(timings.ended, asked, stopped=timings.stopped, confidence=confidence),
        latency_unknown=timings.unknown,
        candidates=quantiles(tally.returned, (0.05, 0.5, 0.95), confidence=confidence),
        empty=share(tally.returned.count(0), ran, confidence=confidence),
        short=share(tally.short, tally.asked, unknown=ran - tally.asked, confidence=confidence),
        **ends,
    )
