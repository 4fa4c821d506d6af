"""After a release: shadow traffic, then a small share, each watched request by request, with automatic rollback.

Hard events end a stage at once. A trigger of the policy ends it as soon as the exact lower bound of its share, in any
window of requests, lies above what the policy allows. Windows overlap and are looked at again and again, so a bound
fails more often than once in 1 / (1 - confidence): a rollback errs on the safe side, and a confidence near 1 keeps
false alarms rare.
"""

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from rankwork.decision.policy import Policy, RolloutPlan, Trigger
from rankwork.decision.quantities import EVENTS
from rankwork.errors import ContractError, InputError
from rankwork.measures.values import examples
from rankwork.statistics import Share, share
from rankwork.trace import Trace

StageName = Literal["shadow", "small_share"]
Word = Literal["roll back", "wait", "proceed"]


@dataclass(frozen=True)
class Watched:
    """A stage of a rollout: what to do now, why, and after how many requests that was known.

    `proceed`: enough requests and nothing against it. `wait`: too few, or traces that do not say. `share` is the part
    of all requests that the candidate had, where the others were given.
    """

    stage: StageName
    word: Word
    reason: str
    requests: int
    share: Share | None = None

    def __bool__(self) -> bool:
        return self.word == "proceed"

    def __str__(self) -> str:
        return f"{self.stage.replace('_', ' ')}: {self.word} after {self.requests} requests: {self.reason}"


def rollout(
    policy: Policy,
    stage: StageName,
    traces: Iterable[Trace],
    *,
    others: Sequence[Trace] | None = None,
    versions: Mapping[str, str] | None = None,
) -> Watched:
    """What a stage's traces, in the order in which they came, say: roll back, wait or proceed.

    `others` are the requests that the old system served meanwhile: a small share must stay small. `versions` are those
    that were released: a trace with another version is not the candidate, and ends the stage. ContractError for a
    policy without a rollout and for an unknown stage; InputError for traces that do not say what a trigger needs.

    >>> from rankwork.decision.policy import Shadow, SmallShare
    >>> from rankwork.trace import Events, ToolCall
    >>> stages = {"shadow": Shadow(requests=2), "small_share": SmallShare(share=0.05, requests=9)}
    >>> plan = RolloutPlan(**stages, confidence=0.95)
    >>> asked = Policy(name="p", alpha=0.05, minimum_clusters=1, events=("forbidden_tool",), rollout=plan)
    >>> ran = Events(tools=(ToolCall(tool="mail", permitted=False, executed=True),))
    >>> print(rollout(asked, "shadow", [Trace(case="a", events=Events(tools=())), Trace(case="b", events=ran)]))
    shadow: roll back after 2 requests: hard event forbidden_tool: mail (case 'b')
    """
    plan = policy.rollout
    if plan is None:
        raise ContractError(f"policy {policy.name!r} has no section `rollout`")
    if stage not in ("shadow", "small_share"):
        raise ContractError(f"a rollout's stage is 'shadow' or 'small_share', got {stage!r}")
    watch = _Watch(policy, plan, versions or {})
    for number, trace in enumerate(traces, 1):
        against = watch.next(trace)
        if against:
            return Watched(stage, "roll back", against, number, _share(watch.seen, others))
    return _at_the_end(policy, plan, stage, watch, _share(watch.seen, others))


def _at_the_end(policy: Policy, plan: RolloutPlan, stage: StageName, watch: "_Watch", part: Share | None) -> Watched:
    """What is said of a stage in which nothing ended it."""
    needed = plan.shadow.requests if stage == "shadow" else plan.small_share.requests
    if stage == "small_share" and part is not None and part.low > plan.small_share.share:
        said = f"the candidate had {part}, more than the small share of {plan.small_share.share:.2%}"
        return Watched(stage, "roll back", said, watch.seen, part)
    if watch.seen < needed:
        return Watched(stage, "wait", f"{needed} are needed", watch.seen, part)
    silent = [name for name in policy.events if watch.unknown[name]]
    if silent:
        said = f"{examples(silent)}: {max(watch.unknown.values())} traces do not say"
        return Watched(stage, "wait", said, watch.seen, part)
    bound = share(0, watch.seen, level=plan.confidence).high
    said = f"no hard event: at most {bound:.2%} of requests ({plan.confidence:.0%} bound)"
    return Watched(stage, "proceed", said if policy.events else "nothing against it", watch.seen, part)


def _share(seen: int, others: Sequence[Trace] | None) -> Share | None:
    return None if others is None else share(seen, seen + len(others))


class _Watch:
    """What was seen so far: the last requests of each trigger, and what no trace has said."""

    def __init__(self, policy: Policy, plan: RolloutPlan, versions: Mapping[str, str]) -> None:
        self.policy, self.plan, self.versions = policy, plan, versions
        self.seen = 0
        self.unknown = dict.fromkeys(policy.events, 0)
        self.windows: list[deque[bool]] = [deque(maxlen=trigger.window) for trigger in plan.rollback]

    def next(self, trace: Trace) -> str:
        """Take one trace; why to roll back, or an empty text."""
        self.seen += 1
        return self._other_version(trace) or self._event(trace) or self._trigger(trace)

    def _other_version(self, trace: Trace) -> str:
        for name, version in self.versions.items():
            if trace.snapshot.get(name) != version:
                return f"case {trace.case!r} ran {name} {trace.snapshot.get(name)!r}, released was {version!r}"
        return ""

    def _event(self, trace: Trace) -> str:
        for name in self.policy.events:
            found = EVENTS[name](trace)
            if found:
                return f"hard event {name}: {found[0]} (case {trace.case!r})"
            self.unknown[name] += found is None
        return ""

    def _trigger(self, trace: Trace) -> str:
        for trigger, window in zip(self.plan.rollback, self.windows, strict=True):
            window.append(_holds(trigger, trace))
            if not window[-1]:
                continue  # what does not happen makes no share grow
            found = share(sum(window), len(window), level=self.plan.confidence)
            if found.low > trigger.at_most:
                return f"{_named(trigger)} in {found} of the last requests, limit {trigger.at_most:.2%}"
        return ""


def _named(trigger: Trigger) -> str:
    return trigger.of if trigger.slow_ms is None else f"slower than {trigger.slow_ms:g} ms"


def _holds(trigger: Trigger, trace: Trace) -> bool:
    found = _TRIGGERS[trigger.of](trigger, trace)
    if found is None:
        raise InputError(f"trace of case {trace.case!r} does not say what the rollback rule for {trigger.of!r} needs")
    return found


def _refused(trigger: Trigger, trace: Trace) -> bool | None:
    return trace.refused


def _slow(trigger: Trigger, trace: Trace) -> bool | None:
    return None if trace.latency_ms is None or trigger.slow_ms is None else trace.latency_ms > trigger.slow_ms


def _with_status(*statuses: str) -> Callable[[Trigger, Trace], bool | None]:
    def holds(trigger: Trigger, trace: Trace) -> bool | None:
        return any(stage.status in statuses for stage in trace.stages) if trace.stages else None

    return holds


_TRIGGERS: Mapping[str, Callable[[Trigger, Trace], bool | None]] = {
    "refused": _refused,
    "slow": _slow,
    "timeouts": _with_status("timeout"),
    "degraded": _with_status("timeout", "error", "degraded"),
}
