"""Events that stop a release however rare they are, each with the trace and the layer in which it was seen.

A mean cannot outweigh one of them. Where none was seen, the number of trials says what that rules out.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from rankwork.decision.shares import CONFIDENCE, Share, share
from rankwork.trace import Trace

KINDS = ("cross_tenant_cache_hit", "denied_item_kept", "foreign_item_kept", "forbidden_tool_executed")


@dataclass(frozen=True)
class HardEvent:
    """One event: which kind, in whose trace, in which layer, and what it was about."""

    kind: str
    case: str
    layer: str
    subject: str

    def __str__(self) -> str:
        return f"{self.kind} in {self.layer} of case {self.case!r}: {self.subject}"


@dataclass(frozen=True)
class HardEvents:
    """Every event of some traces, and for each kind the share of traces in which it could be told and happened."""

    events: tuple[HardEvent, ...]
    shares: dict[str, Share]

    def of(self, kind: str) -> tuple[HardEvent, ...]:
        """The events of one kind."""
        return tuple(event for event in self.events if event.kind == kind)


def hard_events(traces: Iterable[Trace], *, confidence: float = CONFIDENCE) -> HardEvents:
    """The hard events of some traces.

    A trace that does not say (no tenant of the user, no record of caches or tools, no decision on an item) counts as
    unknown for that kind, not as clean.

    >>> from rankwork.trace import CacheHit, Events, Identity
    >>> hit = Events(cache_hits=(CacheHit(key="k", tenant="north"),))
    >>> found = hard_events([Trace(case="q", identity=Identity(tenant="south"), events=hit)])
    >>> print(found.events[0])
    cross_tenant_cache_hit in cache of case 'q': 'k', made for 'north', used for 'south'
    """
    count = HardEventCount()
    for trace in traces:
        count.add(trace)
    return count.told(confidence)


@dataclass
class HardEventCount:
    """What is counted while traces go by."""

    traces: int = 0
    events: list[HardEvent] = field(default_factory=list)
    seen: Counter[str] = field(default_factory=Counter)
    tellable: Counter[str] = field(default_factory=Counter)

    def add(self, trace: Trace) -> None:
        """One more trace."""
        found = list(events_of(trace))
        kinds = {event.kind for event in found}
        self.traces += 1
        self.events += found
        self.seen.update(kinds)
        self.tellable.update(kind for kind in KINDS if kind in kinds or _can_tell(kind, trace))

    def told(self, confidence: float = CONFIDENCE) -> HardEvents:
        """What was seen, and of how many traces."""
        counts = {kind: (self.seen[kind], self.tellable[kind]) for kind in KINDS}
        shares = {
            kind: share(seen, of, unknown=self.traces - of, confidence=confidence)
            for kind, (seen, of) in counts.items()
        }
        return HardEvents(tuple(self.events), shares)


def events_of(trace: Trace) -> Iterator[HardEvent]:
    """The hard events of one trace, in the order of its layers."""
    tenant = trace.identity.tenant
    for stage in trace.stages:
        for item in stage.kept:
            if item.acl == "denied":
                yield HardEvent("denied_item_kept", trace.case, stage.name, repr(item.id))
            if tenant and item.acl is None and item.tenant and item.tenant != tenant:
                whose = f"{item.id!r} of {item.tenant!r}, shown to {tenant!r}"
                yield HardEvent("foreign_item_kept", trace.case, stage.name, whose)
    for hit in trace.events.cache_hits or ():
        if tenant and hit.tenant and hit.tenant != tenant:
            whose = f"{hit.key!r}, made for {hit.tenant!r}, used for {tenant!r}"
            yield HardEvent("cross_tenant_cache_hit", trace.case, "cache", whose)
    for call in trace.events.tools or ():
        if call.executed and not call.permitted:
            yield HardEvent("forbidden_tool_executed", trace.case, "tools", repr(call.tool))


def _can_tell(kind: str, trace: Trace) -> bool:
    """Whether a trace holds what shows an event of this kind, if it happened."""
    items = [item for stage in trace.stages for item in stage.kept]
    if kind == "denied_item_kept":
        return bool(trace.stages) and all(item.acl is not None for item in items)
    if kind == "foreign_item_kept":
        owned = all(item.acl is not None or item.tenant is not None for item in items)
        return bool(trace.stages) and bool(trace.identity.tenant) and owned
    if kind == "cross_tenant_cache_hit":
        hits = trace.events.cache_hits
        return hits is not None and bool(trace.identity.tenant) and all(hit.tenant is not None for hit in hits)
    return trace.events.tools is not None
