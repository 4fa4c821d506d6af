"""Monitoring: what is counted of traces, what stays unknown, and what moved between two windows."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankwork.decision.drift import by_version, drift
from rankwork.decision.hard_events import hard_events
from rankwork.decision.monitoring import monitor
from rankwork.decision.proxies import approval, divergence, judged_right, proxies
from rankwork.decision.quantities import EVENTS
from rankwork.decision.spending import spending, summed, total_cost
from rankwork.errors import ContractError, InputError
from rankwork.trace import (
    CacheHit,
    Claim,
    Events,
    Identity,
    Item,
    Prompt,
    Signal,
    Stage,
    ToolCall,
    Trace,
    Usage,
)
from tests.traces import TRACES


def stage(kind: Any = "retrieve", **fields: Any) -> Stage:
    count = fields.pop("returned", 1)
    items = tuple(Item(id=f"d{rank}", rank=rank) for rank in range(1, count + 1))
    return Stage(kind=kind, returned=count, items=items, **fields)


def window(*many: tuple[int, Trace]) -> list[Trace]:
    """So many traces of each kind, each of a case of its own."""
    listed = [trace for count, trace in many for _ in range(count)]
    return [trace.model_copy(update={"case": str(number)}) for number, trace in enumerate(listed)]


def test_time_outs_count_as_longer_than_all_that_ended() -> None:
    """Left out, the slowest would make the service look faster."""
    fast, stopped = stage(latency_ms=10.0), stage(latency_ms=50.0, status="timeout")
    found = monitor(window((90, Trace(case="x", stages=(fast,))), (10, Trace(case="x", stages=(stopped,)))))
    figures = found.stage("retrieve")
    p50, p95 = figures.quantile(0.5), figures.quantile(0.95)
    assert p50 is not None
    assert p95 is not None
    assert (p50.value, p95.value, p95.reason) == (10.0, None, "it lies among the 10 that were stopped")
    assert (figures.timeout.count, figures.timeout.of, found.disturbed.count) == (10, 100, 10)
    assert found.budget("retrieve", 0.95, 100.0).verdict == "exceeded"


def test_a_latency_that_was_not_measured_is_unknown_and_not_fast() -> None:
    found = monitor(
        window((50, Trace(case="x", stages=(stage(latency_ms=8.0),))), (50, Trace(case="x", stages=(stage(),))))
    )
    figures = found.stage("retrieve")
    assert (figures.latency[0].n, figures.latency_unknown) == (50, 50)
    assert figures.latency[2].reason == "it takes 100 values, and there are 50"


def test_skipped_stages_have_no_latency_and_no_candidates() -> None:
    traces = window((10, Trace(case="x", stages=(stage(), stage("rerank", latency_ms=4.0)))),
                    (10, Trace(case="x", stages=(stage(), stage("rerank", status="skipped")))))  # fmt: skip
    figures = monitor(traces).stage("rerank")
    assert (figures.skipped.count, figures.latency[0].n, figures.latency_unknown, figures.candidates[0].n) == (
        10, 10, 0, 10
    )  # fmt: skip


def test_empty_and_short_lists_are_counted_apart() -> None:
    traces = window(
        (5, Trace(case="x", stages=(stage(returned=0, requested=3),))),
        (5, Trace(case="x", stages=(stage(returned=2, requested=3),))),
        (5, Trace(case="x", stages=(stage(returned=3, requested=3),))),
        (5, Trace(case="x", stages=(stage(returned=3),))),
    )
    figures = monitor(traces).stage("retrieve")
    assert (figures.empty.count, figures.empty.of) == (5, 20)
    assert (figures.short.count, figures.short.of, figures.short.unknown) == (10, 15, 5)
    assert figures.candidates[1].value == 2


def test_stages_stand_in_the_order_of_the_pipeline_whatever_trace_came_first() -> None:
    first = Trace(case="a", stages=(stage(route="bm25"), stage("context")))
    second = Trace(case="b", stages=(stage(route="bm25"), stage("fuse"), stage("context")))
    names = [found.stage for found in monitor([first, second]).stages]
    assert names == ["retrieve:bm25", "fuse", "context", "total"]


def test_an_unknown_cost_is_not_nothing() -> None:
    usage = Usage(model="m", cost=0.5, currency="EUR"), Usage(model="m")
    found = monitor([Trace(case="a", usage=(usage[0],)), Trace(case="b", usage=(usage[1],)), Trace(case="c")])
    assert (found.cost.total, found.cost.known, found.cost.of, found.cost.unknown) == (None, 0.5, 1, 1)
    assert str(found.cost) == "at least 0.5 (1 unknown)"
    assert found.currency == "EUR"
    assert summed([]).total is None


def test_costs_in_two_currencies_are_refused_by_name() -> None:
    one, other = (Usage(model="m", cost=0.5, currency=currency) for currency in ("EUR", "USD"))
    with pytest.raises(
        InputError, match=r"two currencies: EUR \(case 'a', model 'm'\) and USD \(case 'b', model 'm'\)"
    ):
        spending([Trace(case="a", usage=(one,)), Trace(case="b", usage=(other,))])
    with pytest.raises(InputError, match=r"case 'a', model 'm': a cost of 0\.5 without a currency"):
        spending([Trace(case="a", usage=(Usage(model="m", cost=0.5),))])


def test_spending_is_told_by_model_and_added_up() -> None:
    used = (Usage(model="b", calls=2, input_tokens=10, cost=1.0, currency="EUR"), Usage(model="a", calls=1))
    found = spending([Trace(case="q", usage=used)])
    assert [(spent.model, spent.calls.total, spent.input_tokens.total) for spent in found] == [
        ("a", 1, None), ("b", 2, 10)
    ]  # fmt: skip
    assert total_cost(found)[0].unknown == 1


def test_cache_hits_are_a_share_of_lookups() -> None:
    hit = Events(cache_hits=(CacheHit(key="k"),), cache_lookups=2)
    miss = Events(cache_hits=(), cache_lookups=2)
    traces = window((3, Trace(case="x", events=hit)), (1, Trace(case="x", events=miss)), (1, Trace(case="x")))
    found = monitor(traces).cache_hits
    assert (found.count, found.of, found.unknown) == (3, 8, 1)
    with pytest.raises(InputError, match="case 'q': 1 cache hits of 0 lookups"):
        monitor([Trace(case="q", events=Events(cache_hits=(CacheHit(key="k"),), cache_lookups=0))])


def test_versions_are_counted_and_a_mixture_is_named() -> None:
    traces = window((3, Trace(case="x", snapshot={"index": "1"})), (1, Trace(case="x", snapshot={"index": "2"})),
                    (1, Trace(case="x")))  # fmt: skip
    found = monitor(traces)
    assert found.versions == {"index": {"1": 3, "2": 1, "unknown": 1}}
    assert found.mixed == ("index",)
    assert "more than one version: index (1: 3, 2: 1, unknown: 1)" in str(found)


DENIED = Stage(kind="retrieve", returned=1, items=(Item(id="d", rank=1, acl="denied"),))
SEEN: dict[str, Trace] = {
    "cross_tenant_cache_hit": Trace(
        case="q", identity=Identity(tenant="a"), events=Events(cache_hits=(CacheHit(key="k", tenant="b"),))
    ),
    "unauthorised": Trace(case="q", stages=(DENIED,)),
    "forbidden_tool": Trace(case="q", events=Events(tools=(ToolCall(tool="pay", permitted=False, executed=True),))),
    "injected_tool": Trace(
        case="q", events=Events(tools=(ToolCall(tool="pay", permitted=True, executed=True, injected=True),))
    ),
}


@pytest.mark.parametrize("kind", EVENTS)
def test_each_hard_event_that_a_policy_can_name_is_found(kind: str) -> None:
    found = monitor([SEEN[kind]])
    assert [event.kind for event in found.hard.events] == [kind]
    assert found.hard.shares[kind].count == 1
    assert f"HARD EVENT {kind}" in str(found)


def test_what_is_allowed_is_no_event() -> None:
    own = Item(id="d", rank=1, acl="allowed", tenant="a")
    refused = ToolCall(tool="pay", permitted=False, executed=False)
    events = Events(cache_hits=(CacheHit(key="k", tenant="a"),), cache_lookups=1, tools=(refused,))
    stages = (Stage(kind="retrieve", returned=1, items=(own, Item(id="e", kept=False, acl="denied"))),)
    trace = Trace(case="q", identity=Identity(tenant="a"), stages=stages, events=events)
    assert hard_events([trace]).events == ()
    assert [share.of for share in hard_events([trace]).shares.values()] == [1, 1, 1, 1]
    assert monitor([trace]).forbidden_attempts.count == 1


def test_another_tenants_document_is_an_event_whatever_the_decision_says() -> None:
    stages = (Stage(kind="retrieve", returned=1, items=(Item(id="d", rank=1, acl="allowed", tenant="b"),)),)
    found = hard_events([Trace(case="q", identity=Identity(tenant="a"), stages=stages)]).events
    assert [event.kind for event in found] == ["unauthorised"]


def test_a_trace_that_cannot_tell_is_unknown_and_not_clean() -> None:
    found = hard_events([Trace(case="q", stages=(stage(),), events=Events(cache_hits=(CacheHit(key="k"),)))])
    assert [(share.of, share.unknown) for share in found.shares.values()] == [(0, 1)] * 4


def test_proxies_are_named_so_and_count_a_trace_once() -> None:
    twice = Events(signals=(Signal(kind="follow_up"), Signal(kind="follow_up")))
    found = {proxy.kind: proxy.traces for proxy in proxies([Trace(case="a", events=twice), Trace(case="b")])}
    assert (found["follow_up"].count, found["follow_up"].of, found["follow_up"].unknown) == (1, 1, 1)
    assert "proxy follow_up" in monitor([Trace(case="a", events=twice)]).shares()


def test_votes_and_judgements_are_two_things() -> None:
    voted = Events(signals=(Signal(kind="thumbs_up"),))
    unsure = (Claim(id="1", correct=True), Claim(id="2"))
    wrong = (Claim(id="1", correct=False), Claim(id="2"))
    traces = [Trace(case="a", events=voted, claims=wrong), Trace(case="b", claims=unsure), Trace(case="c")]
    assert [(found.count, found.of, found.unknown) for found in (approval(traces), judged_right(traces))] == [
        (1, 1, 2), (0, 1, 2)
    ]  # fmt: skip


@given(traces=st.lists(TRACES, min_size=1, max_size=4))
def test_whatever_traces_say_the_counts_add_up_and_are_json(traces: list[Trace]) -> None:
    try:
        found = monitor(traces)
    except InputError as error:
        assert "currenc" in str(error) or "cache hits" in str(error)  # noqa: PT017
        return
    json.dumps(found.to_json(), allow_nan=False)
    assert str(found)
    assert found.stage("total").calls == len(traces)
    for share in (*found.shares().values(), *found.hard.shares.values()):
        assert 0 <= share.count <= share.of
        if share.value is not None:
            assert share.low is not None
            assert share.high is not None
            assert share.low <= share.value <= share.high
    assert {sum(counts.values()) for counts in found.versions.values()} <= {len(traces)}


def test_no_trace_and_an_unknown_stage_are_refused() -> None:
    with pytest.raises(InputError, match="no trace to look at"):
        monitor([])
    with pytest.raises(ContractError, match="no stage 'dense'; there are total"):
        monitor([Trace(case="q")]).stage("dense")


def test_the_window_is_told() -> None:
    times = [datetime(2026, 3, day, tzinfo=UTC) for day in (2, 1)]
    found = monitor([Trace(case=str(time), time=time) for time in times])
    assert (found.first, found.last) == (times[1], times[0])


def measured(count: int, latency: float, returned: int, refused: int, version: str) -> list[Trace]:
    return [
        Trace(
            case=str(number),
            snapshot={"index": version},
            stages=(stage(route="bm25", latency_ms=latency + number % 7, returned=returned),),
            refused=number < refused,
            prompt=Prompt(tokens=10),
        )
        for number in range(count)
    ]


def test_drift_finds_what_moved_and_nothing_else() -> None:
    found = drift(monitor(measured(400, 10, 5, 8, "1")), monitor(measured(400, 30, 4, 80, "2")))
    assert {moved.figure for moved in found.clear} == {
        "refused", "retrieve:bm25 latency P50", "retrieve:bm25 latency P95", "retrieve:bm25 candidates P50",
        "total candidates P50",
    }  # fmt: skip
    assert found.versions == ("index",)
    assert len(found.to_pandas()) == len(found.figures)


def test_equal_windows_do_not_drift() -> None:
    one = monitor(measured(200, 10, 5, 8, "1"))
    found = drift(one, one)
    assert found.clear == ()
    assert found.versions == ()


def test_limits_of_drift_hold_together() -> None:
    """With fifty figures at 95 % each, some two would seem to have moved."""
    one = monitor(measured(200, 10, 5, 8, "1"))
    found = drift(one, one, confidence=0.95)
    assert found.each == pytest.approx(1 - 0.05 / len(found.figures))


def test_windows_without_a_common_stage_are_refused() -> None:
    one, other = monitor([Trace(case="a", stages=(stage(route="a"),))]), monitor([Trace(case="b")])
    with pytest.raises(ContractError, match="no stage in common"):
        drift(one, other)


def test_traces_are_parted_by_the_version_of_a_component() -> None:
    traces = [Trace(case=str(number), snapshot={"index": version}) for number, version in enumerate("78878")]
    found = by_version(traces, "index")
    assert {version: [trace.case for trace in part] for version, part in found.items()} == {
        "7": ["0", "3"], "8": ["1", "2", "4"],
    }  # fmt: skip
    with pytest.raises(InputError, match="case '9' does not say which version of index answered"):
        by_version([*traces, Trace(case="9")], "index")


def test_a_proxy_and_what_it_stands_for_are_told_apart() -> None:
    def window(right: int, up: int) -> list[Trace]:
        return [
            Trace(
                case=str(number),
                claims=(Claim(id="1", correct=number < right),),
                events=Events(signals=(Signal(kind="thumbs_up" if number < up else "thumbs_down"),)),
            )
            for number in range(50)
        ]

    first, second = window(40, 20), window(30, 45)
    found = divergence(first, second)
    assert found.right == (judged_right(first), judged_right(second))
    assert found.liked == (approval(first), approval(second))
    assert found.less_right.value == pytest.approx(-0.2)
    assert found.less_liked.value == pytest.approx(0.5)
    assert found.to_pandas()["difference"].str.split(" [", regex=False).str[0].tolist() == ["-20.00%", "+50.00%"]
    nobody = divergence(first, [Trace(case="silent")])
    assert nobody.to_pandas()["difference"].tolist() == ["unknown: a share is unknown"] * 2
