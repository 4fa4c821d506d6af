"""Events that stop a release however rare they are, each with the trace in which it was seen and what it was about.

They are those that a policy can name. A mean cannot outweigh one. Where none was seen, the number of traces that would
have shown it says what that rules out.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from rankwork.decision.quantities import EVENTS
from rankwork.decision.shares import CONFIDENCE, Share, share
from rankwork.trace import Trace


@dataclass(frozen=True)
class HardEvent:
    """One event: which kind, in whose trace, and what it was about."""

    kind: str
    case: str
    what: str

    def __str__(self) -> str:
        return f"{self.kind} in case {self.case!r}: {self.what}"


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

    A trace that does not say (no record of caches or tools, no decision on any item) counts as unknown for that kind,
    not as clean.

    >>> from rankwork.trace import CacheHit, Events, Identity
    >>> hit = Events(cache_hits=(CacheHit(key="k", tenant="north"),))
    >>> found = hard_events([Trace(case="q", identity=Identity(tenant="south"), events=hit)])
    >>> print(*found.events)
    cross_tenant_cache_hit in case 'q': k of north
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
        self.traces += 1
        for kind, look in EVENTS.items():
            found = look(trace)
            self.tellable[kind] += found is not None
            self.seen[kind] += bool(found)
            self.events += [HardEvent(kind, trace.case, what) for what in found or ()]

    def told(self, confidence: float = CONFIDENCE) -> HardEvents:
        """What was seen, and of how many traces."""
        counts = {kind: (self.seen[kind], self.tellable[kind]) for kind in EVENTS}
        shares = {
            kind: share(seen, of, unknown=self.traces - of, confidence=confidence)
            for kind, (seen, of) in counts.items()
        }
        return HardEvents(tuple(self.events), shares)
