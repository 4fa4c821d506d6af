"""Made traffic: the same for a seed, labelled, and with the shares that it was asked for."""

from collections import Counter

import pytest

from rankwork.decision.monitoring import monitor
from rankwork.errors import ContractError
from rankwork.inputs.made_traffic import OLD, RUN, Rates, made_traffic


def test_a_seed_gives_the_same_traffic_and_another_one_does_not() -> None:
    assert list(made_traffic(20, seed=3)) == list(made_traffic(20, seed=3)) != list(made_traffic(20, seed=4))


def test_every_trace_says_that_it_is_synthetic() -> None:
    assert {(trace.run, trace.snapshot["data"]) for trace in made_traffic(20)} == {(RUN, RUN)}


def test_the_shares_are_those_of_the_rates() -> None:
    rates = Rates(stopped=0.1, refused=0.2, cached=0.4)
    found = monitor(made_traffic(1500, seed=2, versions=(rates,), foreign_hits=0))
    for share, rate in ((found.stage("rerank").timeout, 0.1), (found.refused, 0.2), (found.cache_hits, 0.4)):
        assert share.low is not None
        assert share.high is not None
        assert share.low <= rate <= share.high
    assert found.hard.events == ()


def test_versions_take_turns_and_the_last_one_leaks_as_often_as_asked() -> None:
    traces = list(made_traffic(100, seed=5, foreign_hits=3))
    assert [trace.snapshot["index"] for trace in traces] == ["2026-02"] * 50 + ["2026-03"] * 50
    events = monitor(traces).hard.events
    kinds = Counter(event.kind for event in events)
    assert kinds == {"cross_tenant_cache_hit": 3, "unauthorised": 3}, (
        "a foreign cached answer is a leak in the cache, too"
    )
    assert {int(event.case.split()[1]) >= 50 for event in events} == {True}


def test_what_cannot_be_made_is_refused() -> None:
    with pytest.raises(ContractError, match="a request for each of the 2 versions, got 1"):
        next(made_traffic(1))
    with pytest.raises(ContractError, match="foreign_hits must be between 0 and 5, got 6"):
        next(made_traffic(5, versions=(OLD,), foreign_hits=6))
