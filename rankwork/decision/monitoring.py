"""What to watch of a service that answers: stages, refusals, caches, spending, versions, hard events, proxies.

Everything is counted from traces; what a trace does not say is counted as unknown. Shares carry exact limits, and a
quantile is told only of as many values as it takes.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from rankwork.decision.hard_events import HardEventCount, HardEvents
from rankwork.decision.proxies import Proxy, proxies
from rankwork.decision.quantiles import LEVELS, Budget, budget
from rankwork.decision.shares import CONFIDENCE, Share, share
from rankwork.decision.spending import Spending, Sum, spending, summed, total_cost
from rankwork.decision.stage_figures import TOTAL, StageFigures, Tally, figures, outcome, tallies
from rankwork.errors import ContractError, InputError
from rankwork.trace import Trace

if TYPE_CHECKING:
    import pandas as pd


_ALWAYS = ("disturbed", "refused", "cache hits")  # told also where nothing happened


@dataclass(frozen=True, eq=False, repr=False)
class Monitored:
    """What a window of traces shows.

    `disturbed` is the share of requests of which a stage timed out, failed or ran degraded. `cache_hits` is the share
    of lookups that hit, over traces that record both. `versions` counts, for each component of the snapshots, the
    traces of each version; "unknown" where a trace does not name one. `forbidden_attempts` is the share of tool calls
    that the identity was not permitted, executed or not.
    """

    traces: int
    first: datetime | None
    last: datetime | None
    stages: tuple[StageFigures, ...]
    disturbed: Share
    refused: Share
    cache_hits: Share
    injection_flagged: Share
    forbidden_attempts: Share
    prompt_tokens: Sum
    spending: tuple[Spending, ...]
    cost: Sum
    currency: str | None
    versions: Mapping[str, Mapping[str, int]]
    hard: HardEvents
    proxies: tuple[Proxy, ...]
    confidence: float
    tallies: Mapping[str, Tally]

    def stage(self, name: str) -> StageFigures:
        """The figures of a stage, such as `retrieve:bm25` or `total`. ContractError for one that did not run."""
        found = next((stage for stage in self.stages if stage.stage == name), None)
        if found is None:
            raise ContractError(f"no stage {name!r}; there are {', '.join(stage.stage for stage in self.stages)}")
        return found

    def budget(self, name: str, level: float, limit_ms: float) -> Budget:
        """Whether a stage's quantile keeps to a limit in milliseconds, with the number of values that it takes."""
        self.stage(name)
        timings = self.tallies[name].timings
        return budget(timings.ended, level, limit_ms, stopped=timings.stopped, confidence=self.confidence)

    @property
    def mixed(self) -> tuple[str, ...]:
        """Components of which more than one version ran: figures of this window are of a mixture."""
        return tuple(name for name, counts in self.versions.items() if len(counts) > 1)

    def shares(self) -> dict[str, Share]:
        """Every share by a name of its own: those of the whole, of the stages, and the proxies, named so."""
        named = {
            "disturbed": self.disturbed,
            "refused": self.refused,
            "cache hits": self.cache_hits,
            "injection flagged": self.injection_flagged,
            "tool calls not permitted": self.forbidden_attempts,
        }
        ends = ("timeout", "error", "degraded", "empty", "short")
        stages = [stage for stage in self.stages if stage.stage != TOTAL]
        named |= {f"{stage.stage} {end}": getattr(stage, end) for stage in stages for end in ends}
        return named | {f"proxy {proxy.kind}": proxy.traces for proxy in self.proxies}

    def to_pandas(self) -> "pd.DataFrame":
        """One row a stage: calls, time-outs, and each quantile of its latency in ms with limits (None: unknown)."""
        import pandas as pd

        rows = []
        for stage in self.stages:
            row: dict[str, Any] = {"stage": stage.stage, "calls": stage.calls, "timeouts": stage.timeout.count}
            for found in stage.latency:
                row |= {found.name: found.value, f"{found.name} low": found.low, f"{found.name} high": found.high}
            rows.append(row)
        return pd.DataFrame(rows).set_index("stage")

    def to_json(self) -> dict[str, Any]:
        """What JSON holds of it."""
        kept = {name: value for name, value in vars(self).items() if name not in ("tallies", "first", "last", "hard")}
        plain: dict[str, Any] = {name: _plain(value) for name, value in kept.items()}
        plain["window"] = {
            name: when and when.isoformat() for name, when in (("first", self.first), ("last", self.last))
        }
        plain["hard_events"] = [asdict(event) for event in self.hard.events]
        plain["hard_event_shares"] = {kind: asdict(found) for kind, found in self.hard.shares.items()}
        plain["mixed_versions"] = list(self.mixed)
        return plain

    def __str__(self) -> str:
        return "\n".join([*_head(self), *_stage_lines(self), *_rest(self)])

    def __repr__(self) -> str:
        return str(self)


def monitor(traces: Iterable[Trace], *, levels: Iterable[float] = LEVELS, confidence: float = CONFIDENCE) -> Monitored:
    """What a window of traces shows. `levels` are the quantiles of latency; `confidence` is that of every limit.

    InputError for no trace, and for costs in two currencies.

    >>> from rankwork.trace import Stage
    >>> slow = Stage(kind="retrieve", route="bm25", returned=0, latency_ms=12.0)
    >>> found = monitor([Trace(case=str(number), stages=(slow,)) for number in range(20)])
    >>> print(found.stage("retrieve:bm25").quantile(0.95))
    P95 12 [12, -]
    >>> print(found.refused)
    unknown, 20 unknown
    """
    hard, listed = HardEventCount(), []
    for trace in traces:
        hard.add(trace)
        listed.append(_without_items(trace))
    if not listed:
        raise InputError("no trace to look at")
    asked, counted = list(levels), tallies(listed)
    used = spending(listed)
    cost, currency = total_cost(used)
    times = [trace.time for trace in listed if trace.time is not None]
    return Monitored(
        traces=len(listed),
        first=min(times, default=None),
        last=max(times, default=None),
        stages=tuple(figures(name, tally, levels=asked, confidence=confidence) for name, tally in counted.items()),
        disturbed=share(sum(outcome(trace) != "ok" for trace in listed), len(listed), confidence=confidence),
        refused=_told([trace.refused for trace in listed], confidence),
        cache_hits=_cache_hits(listed, confidence),
        injection_flagged=_told([trace.events.injection_flagged for trace in listed], confidence),
        forbidden_attempts=_forbidden_attempts(listed, confidence),
        prompt_tokens=summed(trace.prompt.tokens if trace.prompt else None for trace in listed),
        spending=used,
        cost=cost,
        currency=currency,
        versions=_versions(listed),
        hard=hard.told(confidence),
        proxies=proxies(listed, confidence=confidence),
        confidence=confidence,
        tallies=counted,
    )


def _without_items(trace: Trace) -> Trace:
    """What is left of a trace once its items were looked at: a hundred thousand of them fit into memory."""
    stages = tuple(stage.model_copy(update={"items": ()}) for stage in trace.stages)
    return trace.model_copy(update={"stages": stages, "claims": None, "citations": None, "answer": None})


def _told(flags: list[bool | None], confidence: float) -> Share:
    known = [flag for flag in flags if flag is not None]
    return share(sum(known), len(known), unknown=len(flags) - len(known), confidence=confidence)


def _cache_hits(traces: list[Trace], confidence: float) -> Share:
    hits = lookups = unknown = 0
    for trace in traces:
        found, asked = trace.events.cache_hits, trace.events.cache_lookups
        if found is None or asked is None:
            unknown += 1
            continue
        if len(found) > asked:
            raise InputError(f"case {trace.case!r}: {len(found)} cache hits of {asked} lookups")
        hits, lookups = hits + len(found), lookups + asked
    return share(hits, lookups, unknown=unknown, confidence=confidence)


def _forbidden_attempts(traces: list[Trace], confidence: float) -> Share:
    calls = [call for trace in traces for call in trace.events.tools or ()]
    unknown = sum(trace.events.tools is None for trace in traces)
    return share(sum(not call.permitted for call in calls), len(calls), unknown=unknown, confidence=confidence)


def _versions(traces: list[Trace]) -> dict[str, dict[str, int]]:
    """How many traces each version of each component served, the most frequent first."""
    components = sorted({name for trace in traces for name in trace.snapshot})
    counts = {name: Counter(trace.snapshot.get(name, "unknown") for trace in traces) for name in components}
    return {name: dict(sorted(found.items(), key=lambda e: (-e[1], e[0]))) for name, found in counts.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if isinstance(value, Sum):
        return {**asdict(value), "total": value.total, "mean": value.mean}
    if isinstance(value, Spending):
        return {name: _plain(item) for name, item in vars(value).items()}
    return asdict(value) if hasattr(value, "__dataclass_fields__") else value


def _head(found: Monitored) -> list[str]:
    window = f", {found.first.isoformat()} to {found.last.isoformat()}" if found.first and found.last else ""
    lines = [f"{found.traces} traces{window}; limits at {found.confidence:.0%}"]
    lines += [f"HARD EVENT {event}" for event in found.hard.events]
    mixed = [f"{name} ({', '.join(f'{v}: {n}' for v, n in found.versions[name].items())})" for name in found.mixed]
    return lines + ([f"more than one version: {'; '.join(mixed)}"] if mixed else [])


def _stage_lines(found: Monitored) -> list[str]:
    lines = ["latency in ms, time-outs counted as longer than all that ended; candidates returned"]
    for stage in found.stages:
        timed = stage.latency and stage.latency[0].n > stage.latency[0].stopped
        told = "; ".join(map(str, stage.latency)) if timed else "not measured"
        counts = [f"{each.name} {each.value:g}" for each in stage.candidates if each.value is not None]
        returned = f"; candidates {', '.join(counts)}" if counts else ""
        lines.append(f"  {stage.stage} ({stage.calls} calls): {told}{returned}")
    return lines


def _rest(found: Monitored) -> list[str]:
    shares = {name: told for name, told in found.shares().items() if told.of}
    lines = [f"{name}: {told}" for name, told in shares.items() if told.count or name in _ALWAYS]
    money = f"cost: {found.cost}" + (f" {found.currency}" if found.currency else "")
    quiet = {kind: told for kind, told in found.hard.shares.items() if not told.count}
    seen = [f"no {kind} seen: {told}" if told.of else f"{kind}: no trace can show it" for kind, told in quiet.items()]
    return [*lines, f"prompt tokens: {found.prompt_tokens}", money, *seen]
