"""A rollout goes on only where it was shown that it may, and ends at the request that shows that it must."""

import re
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rankwork.decision.policy import Policy
from rankwork.decision.rollout import rollout
from rankwork.errors import ContractError, InputError
from rankwork.statistics import share
from rankwork.trace import CacheHit, Events, Trace
from tests.gates import policy, stage, system, trace

PLAN = """\
events: [cross_tenant_cache_hit]
rollout:
  shadow: {requests: 50}
  small_share: {share: 0.05, requests: 80}
  confidence: 0.99
  rollback: [{of: slow, slow_ms: 300, at_most: 0.1, window: 20}, {of: refused, at_most: 0.5, window: 20}]
"""


@pytest.fixture
def plan(tmp_path: Path) -> Policy:
    return policy(tmp_path, PLAN)


def leaking_at(place: int, n: int) -> list[Trace]:
    traces = system([1] * n)
    hit = CacheHit(key="k", tenant="other")
    traces[place] = trace(place, 1, events=Events(cache_hits=(hit,)))
    return traces


def test_a_stage_that_shows_nothing_against_it_goes_on(plan: Policy) -> None:
    found = rollout(plan, "shadow", system([1] * 50))
    assert (found.word, bool(found), found.requests) == ("proceed", True, 50)
    assert found.reason == f"no hard event: at most {share(0, 50, level=0.99).high:.2%} of requests (99% bound)"


def test_too_few_requests_wait(plan: Policy) -> None:
    assert str(rollout(plan, "shadow", system([1] * 49))) == "shadow: wait after 49 requests: 50 are needed"
    assert rollout(plan, "small_share", system([1] * 50)).word == "wait"


def test_a_hard_event_ends_a_stage_at_its_request(plan: Policy) -> None:
    found = rollout(plan, "small_share", leaking_at(11, 100))
    assert (found.word, found.requests) == ("roll back", 12)
    assert "hard event cross_tenant_cache_hit: k of other (case 'c11')" in found.reason


def test_a_trace_that_does_not_say_lets_the_stage_wait(plan: Policy) -> None:
    traces = [*system([1] * 60), trace(60, 1, events=Events())]
    found = rollout(plan, "shadow", traces)
    assert (found.word, found.reason) == ("wait", "cross_tenant_cache_hit: 1 traces do not say")


def test_a_trigger_fires_at_the_first_request_that_shows_it(plan: Policy) -> None:
    """The same rule, counted by hand over every window."""
    draw = np.random.default_rng(4)
    slow = [bool(each) for each in draw.random(200) < 0.4]
    traces = [trace(n, 1, latency_ms=400.0 if each else 100.0) for n, each in enumerate(slow)]
    windows = (slow[max(0, end - 20) : end] for end in range(1, 201))
    shown = [share(sum(window), len(window), level=0.99).low > 0.1 for window in windows]
    found = rollout(plan, "shadow", traces)
    assert (found.word, found.requests) == ("roll back", shown.index(True) + 1)
    assert "slower than 300 ms in" in found.reason


def test_what_stays_below_its_limit_does_not_fire(plan: Policy) -> None:
    traces = [trace(n, 1, latency_ms=400.0 if n % 20 == 0 else 100.0, refused=n % 3 == 0) for n in range(400)]
    assert rollout(plan, "small_share", traces).word == "proceed"


@pytest.mark.parametrize(
    ("of", "status", "fires"),
    [("timeouts", "timeout", True), ("timeouts", "degraded", False), ("degraded", "degraded", True),
     ("degraded", "error", True), ("degraded", "ok", False)],
)  # fmt: skip
def test_the_status_of_any_stage_counts(of: str, status: Any, fires: bool, tmp_path: Path) -> None:
    text = PLAN.replace("{of: refused, at_most: 0.5,", f"{{of: {of}, at_most: 0.5,")
    traces = [
        trace(n, 1, stages=(stage({"gold": 1.0}, "retrieve", route="a", status=status, complete=False),))
        for n in range(80)
    ]
    assert (rollout(policy(tmp_path, text), "shadow", traces).word == "roll back") == fires


def test_a_small_share_stays_small(plan: Policy) -> None:
    mine = system([1] * 80)
    fits = rollout(plan, "small_share", mine, others=system([1] * 1600))
    large = rollout(plan, "small_share", mine, others=system([1] * 300))
    assert (fits.word, large.word) == ("proceed", "roll back")
    assert "more than the small share of 5.00%" in large.reason
    assert large.share is not None
    assert large.share.units == 380


def test_another_version_is_not_the_candidate(plan: Policy) -> None:
    traces = system([1] * 60, snapshot={"reranker": "r2"})
    traces[3] = traces[3].model_copy(update={"snapshot": {"reranker": "r1"}})
    assert rollout(plan, "shadow", traces[:3] + traces[4:], versions={"reranker": "r2"}).word == "proceed"
    found = rollout(plan, "shadow", traces, versions={"reranker": "r2"})
    assert (found.word, found.requests) == ("roll back", 4)
    assert found.reason == "case 'c3' ran reranker 'r1', released was 'r2'"


def test_traces_are_taken_one_at_a_time_and_no_further_than_needed(plan: Policy) -> None:
    taken = list(accumulate([1] * 100))
    traces = leaking_at(5, 100)
    stream = (traces[number - 1] for number in taken)
    rollout(plan, "shadow", stream)
    assert next(stream).case == "c6"


def test_what_cannot_be_watched_is_refused(plan: Policy, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="trace of case 'c0' does not say what the rollback rule for 'slow' needs"):
        rollout(plan, "shadow", [trace(0, 1, latency_ms=None)])
    with pytest.raises(ContractError, match="a rollout's stage is 'shadow' or 'small_share', got 'all'"):
        rollout(plan, "all", [])  # type: ignore[arg-type]
    with pytest.raises(ContractError, match=re.escape("policy 'test' has no section `rollout`")):
        rollout(policy(tmp_path, "events: [unauthorised]"), "shadow", [])
