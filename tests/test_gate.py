"""One decision with every reason: no mean outweighs a hard rule, and no number is had from what is not comparable."""

import json
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankwork import audit
from rankwork.decision.gate import Gate, gate
from rankwork.decision.limits import TwoByTwo
from rankwork.decision.outcomes import Column, Outcomes, of_traces
from rankwork.decision.page import page_of, told
from rankwork.decision.telling import json_of, side_by_side, text_of
from rankwork.decision.trace_columns import column, is_stale
from rankwork.decision.verdicts import verdict
from rankwork.errors import ContractError, InputError
from rankwork.trace import Case, Claim, Evidence, Requirement, Trace
from tests.gates import (
    RULE,
    CacheHit,
    Citation,
    Events,
    Identity,
    Item,
    Prompt,
    Stage,
    ToolCall,
    Usage,
    case,
    cases,
    policy,
    stage,
    system,
    trace,
)

N = 120
WORSE, SAME, BETTER = [1] * N, [2] * N, [2] * N  # RR@10 of 1 and of a half


def decided(folder: Path, text: str, baseline: list[Trace], candidate: list[Trace], **more: Any) -> Gate:
    return gate(policy(folder, text), baseline, candidate, cases=more.pop("cases", cases(len(baseline))), **more)


def table(values: list[float], measure: str = "mine", *, spread: float = 0.0) -> Outcomes:
    numbers = np.array(values, float)
    found = Column(numbers, numbers - spread, numbers + spread)
    return Outcomes("table", tuple(f"q{n}" for n in range(len(values))), {measure: found})


MINE = "rules: [{measure: mine, better: higher, margin: 0.05, largest_drop: 1.0}]"


# ------------------------------------------------------------- the decision


def test_a_candidate_that_is_better_is_released(tmp_path: Path) -> None:
    found = decided(tmp_path, f"rules: [{RULE}]", system([2] * N), system([1] * N))
    assert (found.decision, bool(found), found.reasons) == ("release", True, ())
    assert found.comparisons[0].verdict.word == "better"
    assert (found.comparisons[0].baseline, found.comparisons[0].candidate) == (0.5, 1.0)


def test_a_candidate_that_is_worse_is_rejected_and_its_losses_are_listed(tmp_path: Path) -> None:
    found = decided(tmp_path, f"rules: [{RULE}]", system([1] * N), system([1] * 90 + [3] * 30))
    assert found.decision == "reject"
    assert "RR@10 of rerank in all: worse" in found.reasons[0].sentence
    assert [each.query for each in found.regressions] == sorted(f"c{n}" for n in range(90, 120))
    assert {each.whatever_ties_do for each in found.regressions} == {True}


def test_a_candidate_of_which_too_little_is_known_is_held(tmp_path: Path) -> None:
    """Nothing changed in 20 queries: that shows nothing, whatever the mean says."""
    found = decided(tmp_path, f"rules: [{RULE}]", system([1] * 20), system([1] * 20))
    assert found.decision == "hold"
    assert "fewer than 10" in found.reasons[0].sentence


def test_the_gravest_reason_decides_and_every_reason_is_told(tmp_path: Path) -> None:
    """All means are better; one item that the asker may not see rejects."""
    clean = [_checked(each) for each in system([1] * N)]
    secret = stage({"gold": 2.0, "secret": 1.0}, "retrieve", route="bm25"), stage({"gold": 2.0, "secret": 1.0})
    leaking = [*clean[:7], _checked(trace(7, 1, stages=secret)), *clean[8:]]
    text = f"events: [unauthorised]\nrules: [{RULE}]\nlatency: [{{quantile: 0.99, at_most_ms: 500}}]"
    found = decided(tmp_path, text, system([2] * N), leaking)
    assert [each.word for each in found.reasons] == ["reject", "hold"]
    assert "hard event unauthorised: 1 of 120" in found.reasons[0].sentence
    assert "secret in rerank (case 'c7')" in found.reasons[0].sentence
    assert "a P99 latency needs 299 values, there are 120" in found.reasons[1].sentence


def _checked(one: Trace) -> Trace:
    """The same trace with the permission of every item: nobody may see the secret."""
    stages = [
        part.model_copy(update={"items": tuple(item.model_copy(update={"acl": _acl(item)}) for item in part.items)})
        for part in one.stages
    ]
    return one.model_copy(update={"stages": tuple(stages)})


def _acl(item: Item) -> str:
    return "denied" if item.id == "secret" else "allowed"


def test_a_rule_that_is_not_required_is_reported_and_decides_nothing(tmp_path: Path) -> None:
    text = "rules: [{measure: RR@10, stage: rerank, margin: 0.05, required: false}]"
    found = decided(tmp_path, text, system([1] * N), system([3] * N))
    assert (found.decision, found.comparisons[0].verdict.word) == ("release", "worse")
    assert "(reported only)" in text_of(found)


def test_a_policy_that_requires_nothing_says_that_it_cannot_stop_a_release(tmp_path: Path) -> None:
    idle = "Nothing that the policy requires can stop a release."
    text = "rules: [{measure: RR@10, stage: rerank, required: false}]"
    assert idle in decided(tmp_path, text, system([1] * N), system([3] * N)).notes
    for more in ("events: [unauthorised]", "latency: [{quantile: 0.9, at_most_ms: 999}]"):
        assert idle not in decided(tmp_path, f"{text}\n{more}", system([1] * N), system([3] * N)).notes


def test_a_query_that_loses_twice_is_one_query_and_two_losses(tmp_path: Path) -> None:
    text = "rules: [{measure: RR@10, stage: rerank}, {measure: P@1, stage: rerank}]"
    found = decided(tmp_path, text, system([1] * N), system([1] * 100 + [3] * 20))
    told = "To review: 20 queries lost by a rule, 40 losses in all"
    assert f"{told}, 40 of the losses whatever ties do." in text_of(found)
    assert told in page_of(found)


def test_several_gates_stand_side_by_side(tmp_path: Path) -> None:
    one = decided(tmp_path, f"rules: [{RULE}]", system([1] * N), system([3] * N))
    rules = "[{measure: RR@10, stage: rerank}, {measure: RR@10, stage: 'retrieve:bm25'}, {measure: P@1, stage: rerank}]"
    two = decided(tmp_path, f"rules: {rules}", system([2] * N), system([1] * N))
    table = side_by_side({"worse": one, "better": two})
    assert table["worse"].dropna().to_dict() == {"decision": "reject", "RR@10 all": "worse"}
    names = ["decision", "RR@10 of rerank in all", "RR@10 of retrieve:bm25 in all", "P@1 all"]
    assert list(table["better"].dropna().index) == names


def test_the_rules_are_a_table_with_a_row_for_each_slice(tmp_path: Path) -> None:
    text = "rules: [{measure: RR@10, stage: rerank, margin: 0.05, slices: [all, long tail]}]"
    found = decided(tmp_path, text, system([2] * N), system([1] * N)).to_pandas()
    assert found[["slice", "verdict"]].values.tolist() == [["all", "better"], ["long tail", "better"]]
    row = found.iloc[0]
    assert (row["baseline"], row["candidate"], row["gain"], row["margin"]) == (0.5, 1.0, 0.5, 0.05)
    assert row["low95"] <= row["gain"] <= row["high95"]


def test_a_mean_that_is_better_does_not_outweigh_a_slice_that_is_worse(tmp_path: Path) -> None:
    places = [3 if number % 3 == 0 else 1 for number in range(N)]
    text = "rules: [{measure: RR@10, stage: rerank, margin: 0.05, slices: [all, long tail]}]"
    found = decided(tmp_path, text, system([2] * N), system(places))
    assert [each.verdict.word for each in found.comparisons] == ["better", "worse"]
    assert found.decision == "reject"
    assert found.regressions[0].slices == ("all", "long tail")


def test_a_rule_without_a_margin_cannot_be_shown_to_be_non_inferior(tmp_path: Path) -> None:
    found = decided(tmp_path, "rules: [{measure: RR@10, stage: rerank}]", system([2] * 400), system([2] * 400))
    assert found.decision == "hold"
    assert "no margin is declared" in found.reasons[0].sentence


def test_where_less_is_better_a_rise_is_a_loss(tmp_path: Path) -> None:
    text = "rules: [{measure: latency_ms, margin: 20}]"
    slow = [trace(number, 1, latency_ms=200.0 + number % 7) for number in range(N)]
    fast = [trace(number, 1, latency_ms=100.0 + number % 5) for number in range(N)]
    slower, faster = decided(tmp_path, text, fast, slow), decided(tmp_path, text, slow, fast)
    assert slower.comparisons[0].verdict.word == "worse"
    assert faster.comparisons[0].verdict.word == "better"
    assert slower.comparisons[0].verdict.estimate.mean == pytest.approx(-faster.comparisons[0].verdict.estimate.mean)
    assert slower.regressions == ()


def test_a_small_slice_says_that_it_is_small(tmp_path: Path) -> None:
    found = gate(policy(tmp_path, "rules: [{measure: RR@10, stage: rerank, margin: 0.9}]"), system([2] * 4),
                 system([1] * 4), cases=cases(4))  # fmt: skip
    assert "4 clusters, fewer than the policy's 5" in found.reasons[0].sentence
    assert found.decision == "hold"


def test_queries_of_one_text_count_once(tmp_path: Path) -> None:
    """120 queries of 12 texts: twelve clusters, whatever the number of queries."""
    same = [case(number, query=f"Text  {number % 12}") for number in range(N)]
    before = [trace(number, 2, query=f"Text  {number % 12}") for number in range(N)]
    after = [trace(number, 1, query=f"Text  {number % 12}") for number in range(N)]
    found = decided(tmp_path, f"rules: [{RULE}]", before, after, cases=same)
    assert found.comparisons[0].verdict.estimate.clusters == 12


# ------------------------------------------------------------- agreement with the parts


def test_the_gate_says_what_the_table_says(tmp_path: Path) -> None:
    draw = np.random.default_rng(5)
    before, after = draw.random(80), draw.random(80)
    found = gate(policy(tmp_path, MINE), table(before.tolist()), table(after.tolist())).comparisons[0].verdict
    alone = verdict(after - before, alpha=0.05, margin=0.05, lowest=after - before, highest=after - before,
                    resamples=1000)  # fmt: skip
    assert found == alone


def test_claims_of_better_are_adjusted_together(tmp_path: Path) -> None:
    """Holm over all rules and slices."""
    columns = {name: table([0.0] * 30).columns["mine"] for name in ("a", "b", "c")}
    before = Outcomes("x", tuple(f"q{n}" for n in range(30)), columns)
    draw = np.random.default_rng(3)
    changed = {name: Column(v, v, v) for name in "abc" for v in [draw.normal(0.4, 1, 30)]}
    after = Outcomes("y", before.queries, changed)
    rules = ", ".join(f"{{measure: {name}, better: higher}}" for name in "abc")
    together = gate(policy(tmp_path, f"rules: [{rules}]"), before, after)
    alone = [
        gate(policy(tmp_path, f"rules: [{{measure: {name}, better: higher}}]"), before, after).comparisons[0].verdict.p
        for name in "abc"
    ]
    adjusted = [each.verdict.p for each in together.comparisons]
    assert min(alone) * 3 == pytest.approx(min(adjusted))  # type: ignore[type-var,operator]


def test_a_verdict_that_ties_could_reverse_is_named(tmp_path: Path) -> None:
    before = table([0.5] * 40)
    after = table([0.7] * 20 + [0.5] * 20, spread=0.2)
    found = gate(policy(tmp_path, MINE), before, after)
    assert found.comparisons[0].verdict.tie_proof is False
    assert "The order of ties alone could reverse: mine in all." in found.notes


def test_the_ties_of_a_stage_give_its_measure_a_range(tmp_path: Path) -> None:
    """The gold document ties with another one: as returned it is first, and it could be second."""
    tied = [trace(n, 1, stages=(stage({"gold": 1.0, "b": 1.0}, "retrieve", route="bm25"),)) for n in range(3)]
    found = column(Outcomes("a", ("c0", "c1", "c2"), {}, tuple(tied)), "RR@10", "retrieve:bm25",
                   {f"c{n}": case(n) for n in range(3)})  # fmt: skip
    assert (found.value.tolist(), found.low.tolist(), found.high.tolist()) == ([1.0] * 3, [0.5] * 3, [1.0] * 3)


def test_a_list_counts_in_the_order_in_which_it_was_returned() -> None:
    """Equal scores, the gold document second, though its ID comes first."""
    tied = trace(0, 1, stages=(stage({"z": 1.0, "gold": 1.0}, "retrieve", route="bm25"),))
    plain = trace(1, 1, stages=(stage({"z": None, "gold": None}, "retrieve", route="bm25"),))
    found = column(
        Outcomes("a", ("c0", "c1"), {}, (tied, plain)), "RR@10", "retrieve:bm25", {"c0": case(0), "c1": case(1)}
    )
    assert found.value.tolist() == [0.5, 0.5]
    assert (found.low.tolist(), found.high.tolist()) == ([0.5, 0.5], [1.0, 0.5])


def test_what_a_tie_kept_out_of_a_cut_takes_part_in_the_range() -> None:
    """The gold document scores like the last that was kept: another order would have kept it."""
    kept = Item(id="a", rank=1, score=1.0), Item(id="b", rank=2, score=0.5)
    out = Item(id="gold", score=0.5, kept=False, drop_reason="tie_cut")
    cut = Stage(kind="retrieve", route="bm25", requested=2, returned=2, items=(*kept, out))
    system_ = Outcomes("a", ("c0",), {}, (trace(0, 1, stages=(cut,)),))
    found = {name: column(system_, name, "retrieve:bm25", {"c0": case(0)}) for name in ("R@2", "R@3", "AP")}
    assert [(c.value[0], c.low[0], c.high[0]) for c in found.values()] == [(0, 0, 1), (0, 0, 0), (0, 0, 0)]


def test_evidence_that_is_needed_together_is_covered_together() -> None:
    needs = (Requirement(any_of=(Evidence(id="gold"), Evidence(id="x"))), Requirement(any_of=(Evidence(id="y"),)))
    system_ = Outcomes("a", ("c0",), {}, (trace(0, 2),))
    values = {
        name: column(system_, f"{name}@3", "rerank", {"c0": case(0, requires=needs)}).value.tolist()
        for name in ("EvidenceCoverage", "EvidenceComplete")
    }
    assert values == {"EvidenceCoverage": [0.5], "EvidenceComplete": [0.0]}


def test_a_measure_follows_the_protocol_that_the_traces_name() -> None:
    """Gains are 2^g - 1 in the handbook, and the grade itself by default."""
    needs = (Requirement(any_of=(Evidence(id="gold", grade=1), Evidence(id="a", grade=3))),)
    values = {}
    for protocol in ("rankwork", "handbook"):
        one = Outcomes("a", ("c0",), {}, (trace(0, 1, protocol=protocol),))
        values[protocol] = column(one, "nDCG@2", "rerank", {"c0": case(0, requires=needs)}).value[0]
    discount = 1 / np.log2(3)
    assert values["rankwork"] == pytest.approx((1 + 3 * discount) / (3 + discount))
    assert values["handbook"] == pytest.approx((1 + 7 * discount) / (7 + discount))
    mixed = Outcomes("a", ("c0", "c1"), {}, (trace(0, 1), trace(1, 1, protocol="trec")))
    with pytest.raises(InputError, match="the traces name two protocols, 'rankwork' and 'trec'"):
        column(mixed, "RR", "rerank", {"c0": case(0), "c1": case(1)})


def test_gold_that_was_not_valid_is_no_miss(tmp_path: Path) -> None:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    old = {"time": now, "valid_until": now - timedelta(days=1)}
    asked = [case(n, **(old if n < 10 else {})) for n in range(N)]
    moments = [{"time": now} if n < 10 else {} for n in range(N)]
    before = [trace(n, 2, **moments[n]) for n in range(N)]
    after = [trace(n, 5 if n < 10 else 2, **moments[n]) for n in range(N)]
    found = decided(tmp_path, f"rules: [{RULE}]", before, after, cases=asked)
    assert (found.comparisons[0].verdict.estimate.queries, found.comparisons[0].differences.undefined) == (110, 10)
    assert found.regressions == ()
    assert any("not valid at their time" in note for note in found.notes)
    assert [is_stale(case(0, time=now, valid_from=now + timedelta(days=d))) for d in (-1, 1)] == [False, True]


def test_queries_that_only_one_system_has_a_value_for_are_counted(tmp_path: Path) -> None:
    before, after = table([0.5] * 20), table([0.5] * 19 + [float("nan")])
    found = gate(policy(tmp_path, MINE), before, after)
    assert found.comparisons[0].differences.unpaired == ("q19",)
    assert any(note.startswith("1 queries have no value of some rule in one") for note in found.notes)


# ------------------------------------------------------------- limits and events


def limits(folder: Path, text: str, candidate: list[Trace], **more: Any) -> dict[str, tuple[str, str]]:
    found = decided(folder, text, system([1] * len(candidate)), candidate, **more)
    return {each.name: (each.word, each.reason) for each in found.limits}


def refusing(places: set[int], n: int) -> list[Trace]:
    return [trace(number, 1, refused=number in places) for number in range(n)]


def test_refusals_are_limited_both_ways(tmp_path: Path) -> None:
    """60 should be refused and 60 answered; 0 of 60 shows at most 4.87 %."""
    asked = [case(n, expected="refuse" if n < 60 else "answer") for n in range(N)]
    text = "refusals: {false_answers: {at_most: 0.05}, false_refusals: {at_most: 0.05}}"
    kept = limits(tmp_path, text, refusing(set(range(60)), N), cases=asked)
    assert {word for word, _ in kept.values()} == {"kept"}
    found = decided(tmp_path, text, refusing(set(range(60)), N), refusing(set(range(20, 61)), N), cases=asked)
    words = {each.name: each.word for each in found.limits}
    assert words == {"false answers": "exceeded", "false refusals": "inconclusive"}
    assert found.decision == "reject"
    assert "McNemar p 0.0000" in found.limits[0].reason
    table = found.refusals[1]
    assert (table.answered, table.false_refusals, table.false_answers, table.refused) == (59, 1, 20, 40)


def test_a_two_by_two_is_told_in_words() -> None:
    assert (
        str(TwoByTwo("new", 5, 4, 3, 2, 0)) == "new: rightly 5 answered and 2 refused, wrongly 3 answered and 4 refused"
    )
    assert str(TwoByTwo("new", 5, 4, 3, 2, 1)).endswith("4 refused, 1 unknown")


def test_a_refusal_that_nobody_wrote_down_counts_against_the_claim(tmp_path: Path) -> None:
    asked = [case(n, expected="refuse") for n in range(100)]
    silent = [trace(n, 1, refused=None if n == 0 else True) for n in range(100)]
    text = "refusals: {false_answers: {at_most: 0.04}}"
    assert (
        limits(tmp_path, text, [trace(n, 1, refused=True) for n in range(100)], cases=asked)["false answers"][0]
        == "kept"
    )
    word, reason = limits(tmp_path, text, silent, cases=asked)["false answers"]
    assert (word, "1 unknown" in reason) == ("inconclusive", True)


@pytest.mark.parametrize(
    ("above", "unknown", "n", "word"),
    [(0, 0, 58, "inconclusive"), (0, 0, 59, "kept"), (1, 0, 92, "inconclusive"), (1, 0, 93, "kept"),
     (0, 1, 92, "inconclusive"), (0, 1, 93, "kept"), (30, 0, 100, "exceeded"), (5, 0, 100, "inconclusive")],
)  # fmt: skip
def test_a_quantile_of_latency_takes_its_number_of_values(
    above: int, unknown: int, n: int, word: str, tmp_path: Path
) -> None:
    latency = [900.0] * above + [None] * unknown + [100.0] * (n - above - unknown)
    traces = [trace(number, 1, latency_ms=each) for number, each in enumerate(latency)]
    found = limits(tmp_path, "latency: [{quantile: 0.95, at_most_ms: 500}]", traces)
    assert found["P95 latency"][0] == word


def test_the_latency_of_a_stage_has_its_own_budget(tmp_path: Path) -> None:
    slow = [trace(n, 1, stages=(stage({"gold": 1.0}, "retrieve", route="bm25", latency_ms=30.0),)) for n in range(60)]
    text = 'latency: [{quantile: 0.95, at_most_ms: 20, stage: "retrieve:bm25"}]'
    assert limits(tmp_path, text, slow)["P95 latency of retrieve:bm25"][0] == "exceeded"


def test_costs_that_are_not_known_are_not_nothing(tmp_path: Path) -> None:
    text = "cost: {at_most: 0.003, currency: EUR}"
    unknown = [trace(n, 1, usage=(Usage(model="m", cost=None if n == 3 else 0.002, currency="EUR"),)) for n in range(N)]
    dear = [trace(n, 1, usage=(Usage(model="m", cost=None if n == 3 else 0.02, currency="EUR"),)) for n in range(N)]
    name = "mean cost of a request"
    assert limits(tmp_path, text, system([1] * N))[name][0] == "kept"
    assert limits(tmp_path, text, unknown)[name] == (
        "inconclusive", "cost of 1 of 120 is not known, budget 0.003 EUR"
    )  # fmt: skip
    assert limits(tmp_path, text, dear)[name][0] == "exceeded"


def happening(event: str) -> Trace:
    """A trace in which it happens."""
    denied = stage({"gold": 2.0, "secret": 1.0}, "retrieve", route="bm25")
    dropped = Item(id="secret", kept=False, drop_reason="acl_filtered", acl="denied")
    filtered = Stage(kind="retrieve", returned=1, items=(Item(id="gold", rank=1, acl="allowed"), dropped))
    secret = tuple(item.model_copy(update={"acl": "denied"}) for item in denied.items)
    events: dict[str, dict[str, Any]] = {
        "unauthorised": {"stages": (denied.model_copy(update={"items": secret}),)},
        "unauthorised in the prompt": {"stages": (filtered,), "prompt": Prompt(ids=("gold", "secret"))},
        "unauthorised in a citation": {"stages": (filtered,), "citations": (Citation(id="secret"),)},
        "unauthorised in cache entry k": {
            "stages": (filtered,), "events": Events(cache_hits=(CacheHit(key="k", tenant="t0", ids=("secret",)),)),
        },
        "cross_tenant_cache_hit": {"events": Events(cache_hits=(CacheHit(key="k", tenant="other"),))},
        "forbidden_tool": {"events": Events(tools=(ToolCall(tool="mail", permitted=False, executed=True),))},
        "injected_tool": {
            "events": Events(tools=(ToolCall(tool="mail", permitted=True, executed=True, injected=True),))
        },
    }  # fmt: skip
    return trace(0, 1, **events[event])


@pytest.mark.parametrize(
    "event",
    ["unauthorised", "unauthorised in the prompt", "unauthorised in a citation", "unauthorised in cache entry k",
     "cross_tenant_cache_hit", "forbidden_tool", "injected_tool"],
)  # fmt: skip
def test_each_hard_event_is_found_where_it_is_planted(event: str, tmp_path: Path) -> None:
    name, _, layer = event.partition(" in ")
    found = decided(tmp_path, f"events: [{name}]", system([1]), [happening(event)])
    assert found.decision == "reject"
    assert len(found.events[0].found) >= 1
    assert layer in str(found.events[0])


def test_no_event_is_told_with_what_it_can_show(tmp_path: Path) -> None:
    found = decided(tmp_path, "events: [cross_tenant_cache_hit]", system([1] * 300), system([1] * 300))
    assert str(found.events[0]) == "cross_tenant_cache_hit: 0 of 300 (at most 0.99%, 95% bounds)"
    assert found.decision == "release"


def test_a_trace_that_does_not_say_rules_nothing_out(tmp_path: Path) -> None:
    unknown = CacheHit(key="k", tenant=None)
    for events in (Events(), Events(cache_hits=(unknown,))):
        silent = [trace(n, 1, events=events if n == 0 else Events(cache_hits=())) for n in range(20)]
        found = decided(tmp_path, "events: [cross_tenant_cache_hit]", system([1] * 20), silent)
        assert found.decision == "hold"
        assert "cannot be ruled out: 1 clusters do not say" in found.reasons[0].sentence


def test_what_was_filtered_rightly_is_no_leak(tmp_path: Path) -> None:
    filtered = happening("unauthorised in the prompt").model_copy(update={"prompt": Prompt(ids=("gold",))})
    assert decided(tmp_path, "events: [unauthorised]", system([1]), [filtered]).decision == "release"


def test_an_event_can_stand_in_a_table(tmp_path: Path) -> None:
    before, after = table([0.0] * 9, "unauthorised"), table([0.0] * 8 + [1.0], "unauthorised")
    assert gate(policy(tmp_path, "events: [unauthorised]"), before, after).decision == "reject"
    assert gate(policy(tmp_path, "events: [unauthorised]"), before, before).decision == "release"


# ------------------------------------------------------------- what is shown


FULL = f"""\
events: [cross_tenant_cache_hit]
rules: [{RULE}, {{measure: latency_ms, margin: 20, required: false}}]
refusals: {{false_refusals: {{at_most: 0.05}}}}
latency: [{{quantile: 0.95, at_most_ms: 500}}]
cost: {{at_most: 0.003, currency: EUR}}
front: {{quality: {{measure: RR@10, stage: rerank}}, latency: 0.9, cost: true}}
"""


def test_json_table_and_page_hold_the_same_decision(tmp_path: Path) -> None:
    found = decided(tmp_path, FULL, system([2] * N), system([1] * 100 + [3] * 20))
    loaded = json.loads(json.dumps(json_of(found), allow_nan=False))
    assert loaded["decision"] == found.decision
    assert [row["verdict"] for row in loaded["rules"]] == [each.verdict.word for each in found.comparisons]
    assert len(loaded["regressions"]) == 20
    assert loaded["front"]["best"]
    text, page = text_of(found), page_of(found)
    assert text.startswith(f"{found.decision.upper()} by policy 'test', 120 queries")
    assert "To review: 20 queries lost by a rule, 20 losses in all, 20 of the losses whatever ties do." in text
    for said in (found.decision.capitalize(), "RR@10 of rerank", "P95 latency", "<svg", "c119"):
        assert said in page
    assert re.search(r"(src|href|@import|url\()", page) is None, "the page needs nothing else"


def test_another_form_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ContractError, match="a gate is told as table, json or html, got 'yaml'"):
        told(decided(tmp_path, f"rules: [{RULE}]", system([1] * 9), system([1] * 9)), "yaml")


def test_a_page_shows_names_as_text(tmp_path: Path) -> None:
    before, after = table([0.5] * 20), table([0.5] * 20)
    sly = {"<script>alert(1)</script>": before.columns["mine"]}
    text = 'rules: [{measure: "<script>alert(1)</script>", better: higher, margin: 0.5}]'
    found = gate(policy(tmp_path, text), Outcomes("a", before.queries, sly), Outcomes("b", after.queries, sly))
    assert "<script" not in page_of(found)


def test_the_cases_can_stand_in_the_policy(tmp_path: Path) -> None:
    from rankwork.inputs.traces import write_cases

    write_cases(tmp_path / "cases.jsonl", cases(N))
    found = gate(policy(tmp_path, f"cases: cases.jsonl\nrules: [{RULE}]"), system([2] * N), system([1] * N))
    assert found.decision == "release"


def test_what_changed_is_told_by_the_snapshots(tmp_path: Path) -> None:
    before = system([2] * N, snapshot={"data": "d1", "reranker": "r1"})
    after = system([1] * N, snapshot={"data": "d1", "reranker": "r2"})
    assert "Changed: reranker, from 'r1' to 'r2'." in decided(tmp_path, f"rules: [{RULE}]", before, after).notes
    after[5] = after[5].model_copy(update={"snapshot": {"data": "d1", "reranker": "r3"}})
    notes = decided(tmp_path, f"rules: [{RULE}]", before, after).notes
    assert any("The candidate's traces mix versions: case 'c5'" in note for note in notes)


# ------------------------------------------------------------- what is refused


def other(**change: Any) -> Callable[[list[Trace]], list[Trace]]:
    return lambda traces: [*traces[:-1], traces[-1].model_copy(update=change)]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (other(query="another"), "case 'c19': query differs, 'question 19' and 'another': not comparable"),
        (other(identity=Identity(tenant="x")), "case 'c19': identity differs"),
        (other(time=datetime(2026, 1, 1, tzinfo=UTC)), "case 'c19': time differs"),
        (other(protocol="trec"), "case 'c19': protocol differs, 'rankwork' and 'trec'"),
        (other(unit="document"), "case 'c19': unit differs"),
        (other(snapshot={"data": "d2"}), "case 'c19': version of data differs, None and 'd2'"),
        (other(snapshot={"judge": "j2"}), "case 'c19': version of judge differs, None and 'j2'"),
        (other(case="c77"), "candidate lacks c19: both systems must have answered the same queries"),
        (lambda traces: traces[:-1], "candidate lacks c19"),
        (lambda traces: [*traces, trace(20, 1)], "candidate has also c20"),
    ],
)
def test_systems_that_were_not_asked_the_same_are_refused(
    change: Callable[[list[Trace]], list[Trace]], message: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        decided(tmp_path, f"rules: [{RULE}]", system([1] * 20), change(system([1] * 20)))


def in_two_currencies() -> list[Trace]:
    return [trace(n, 1, usage=(Usage(model="m", cost=1.0, currency="USD" if n == 4 else "EUR"),)) for n in range(20)]


@pytest.mark.parametrize(
    ("text", "candidate", "message"),
    [
        ("cost: {at_most: 1, currency: EUR}", in_two_currencies(),
         "policy.yaml line 5 (cost): candidate: costs in two currencies, EUR (case 'c0') and USD ('c4')"),
        ("cost: {at_most: 1, currency: USD}", None,
         "policy.yaml line 5 (cost.currency): costs are in EUR in candidate, the budget is in USD"),
        ("cost: {at_most: 1, currency: EUR}", [trace(n, 1, usage=(Usage(model="m", cost=1.0),)) for n in range(20)],
         "case 'c0': the cost 1.0 has no currency"),
        ("rules: [{measure: RR@10, stage: fuse}]", None,
         "line 5 (rules.0.stage): no trace of baseline has a stage 'fuse'; there are retrieve:bm25, rerank"),
        ("latency: [{quantile: 0.9, at_most_ms: 1, stage: fuse}]", None,
         "line 5 (latency.0.stage): no trace of baseline has a stage 'fuse'"),
        ("rules: [{measure: RR@10}]", None, "'RR@10' is measured on a list: the rule needs a stage"),
        ("rules: [{measure: RR@10, stage: rerank, slices: [all, rare]}]", None,
         "policy.yaml line 5 (rules.0.slices.1): slice 'rare' matches no query; the cases have frequent, long tail"),
        ("rules: [{measure: RR@10, stage: rerank, slices: [tenant=t9]}]", None, "slice 'tenant=t9' matches no query"),
        ('rules: [{measure: RR@10, stage: rerank, slices: ["role=*"]}]', None, "slice 'role=*' matches no query"),
        ("refusals: {false_answers: {at_most: 0.1}}", None,
         "(refusals.false_answers.slices): slice 'all' holds no case that should be refused"),
        ("latency: [{quantile: 0.9, at_most_ms: 1, slices: [x]}]", None, "(latency.0.slices.0): slice 'x' matches no"),
        ("rules: [{measure: mine, better: higher}]", None, "'mine' is measured on a list"),
    ],
)  # fmt: skip
def test_what_a_policy_asks_for_and_the_traces_lack_is_named(
    text: str, candidate: list[Trace] | None, message: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        decided(tmp_path, text, system([1] * 20), candidate or system([1] * 20))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("rules: [{measure: theirs, better: higher}]", "(rules.0.measure): table has no 'theirs'; it has mine"),
        ("rules: [{measure: mine, better: higher, slices: [a]}]", "without cases there is only the slice 'all'"),
        ("rules: [{measure: mine, better: higher, largest_drop: 0.1}]", "(rules.0): a query lost 1.0, more than"),
        ("refusals: {false_answers: {at_most: 0.1}}", "table has no 'refused'"),
        ("events: [unauthorised]", "(events.0): table has no 'unauthorised'"),
    ],
)
def test_what_a_policy_asks_for_and_a_table_lacks_is_named(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        gate(policy(tmp_path, text), table([1.0] * 20), table([0.0] * 20))


def test_a_table_is_found_by_another_name_of_the_measure(tmp_path: Path) -> None:
    text = "rules: [{measure: R@10, margin: 0.1}]"
    found = gate(policy(tmp_path, text), table([0.0] * 40, "recall_10"), table([1.0] * 40, "Recall@10"))
    assert found.comparisons[0].verdict.word == "better"


def test_traces_whose_cases_are_not_given_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="baseline: no case is given for c19"):
        decided(tmp_path, f"rules: [{RULE}]", system([1] * 20), system([1] * 20), cases=cases(19))
    with pytest.raises(InputError, match="case 'c0' stands twice"):
        decided(tmp_path, f"rules: [{RULE}]", system([1]), system([1]), cases=[case(0), case(0)])
    with pytest.raises(InputError, match="no case has gold evidence"):
        decided(tmp_path, f"rules: [{RULE}]", system([1]), system([1]), cases=[case(0, requires=())])


def test_a_rule_for_which_nothing_has_a_value_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no query of slice 'all' has a value in both systems"):
        gate(policy(tmp_path, MINE), table([float("nan")] * 3), table([1.0] * 3))
    with pytest.raises(InputError, match=r"no cases were given, are they needed \(cases, --cases\)\?"):
        decided(tmp_path, "rules: [{measure: answers_as_expected}]", system([1] * 3), system([1] * 3), cases=())


def test_scores_of_answers_are_those_of_their_labels(tmp_path: Path) -> None:
    """Where one is undefined, it has no value; a claim without a label is refused with the rule's place."""
    claims = (Claim(id="1", label="supported"), Claim(id="2", label="contradicted"))
    cited = (Citation(id="gold", claim="1", supports="full"),)
    told = [trace(n, 1, claims=claims, citations=cited) for n in range(19)]
    silent = trace(19, 1, claims=(), citations=())
    names = ("faithfulness", "contradicted", "citation_precision", "citation_recall")
    values = {
        name: column(of_traces("a", [told[0], silent]), name, None, {"c0": case(0), "c19": case(19)}).value.tolist()
        for name in names
    }
    assert {name: row[0] for name, row in values.items()} == {
        "faithfulness": 0.5, "contradicted": 0.5, "citation_precision": 1.0, "citation_recall": 0.5,
    }  # fmt: skip
    assert all(np.isnan(row[1]) for row in values.values())
    unlabelled = [*told[:-1], trace(18, 1, claims=(Claim(id="1"),))]
    with pytest.raises(InputError, match=r"policy.yaml line 5 \(rules.0.measure\): .*'1'"):
        decided(tmp_path, "rules: [{measure: faithfulness, margin: 0.1}]", unlabelled, unlabelled)


def test_a_rechunked_candidate_has_gold_of_its_own(tmp_path: Path) -> None:
    """The same cases, with the gold as its chunks hold it."""
    renamed = [case(n, requires=(Requirement(any_of=(Evidence(id="a"),)),)) for n in range(N)]
    text = "rules: [{measure: EvidenceComplete@1, stage: rerank, margin: 0.05}]"
    alike = decided(tmp_path, text, system([1] * N), system([2] * N), candidate_cases=renamed)
    assert (alike.comparisons[0].baseline, alike.comparisons[0].candidate) == (1.0, 1.0)


def test_gold_of_other_chunks_is_no_miss(tmp_path: Path) -> None:
    """Chunked in another way and judged by the old IDs, any candidate would look bad: that is refused."""
    before, after = system([1] * 20, snapshot={"chunker": "500"}), system([1] * 20, snapshot={"chunker": "240"})
    with pytest.raises(InputError, match=r"line 5 \(rules.0.measure\): the chunker changed from '500' to '240'"):
        decided(tmp_path, f"rules: [{RULE}]", before, after)
    assert decided(tmp_path, f"rules: [{RULE}]", before, after, candidate_cases=cases(20)).decision == "hold"
    assert decided(tmp_path, "rules: [{measure: latency_ms}]", before, after).decision == "hold"


@pytest.mark.parametrize(
    ("candidates", "message"),
    [
        (cases(19), "only one of the two sets of cases has c19"),
        (
            [*cases(19), case(19, expected="refuse")],
            "case 'c19' differs between the two sets of cases in more than its gold",
        ),
    ],
)
def test_cases_that_ask_something_else_are_refused(candidates: list[Case], message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message):
        decided(tmp_path, f"rules: [{RULE}]", system([1] * 20), system([1] * 20), candidate_cases=candidates)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 3), min_size=1, max_size=9), st.integers(1, 9), st.sets(st.integers(0, 8)))
def test_a_stage_is_looked_at_no_deeper_than_the_measure_and_nothing_is_lost(
    levels: list[int], k: int, gold: set[int]
) -> None:
    """The same numbers as an audit of the whole list."""
    scores = {f"d{place}": float(level) for place, level in enumerate(sorted(levels, reverse=True))}
    needs = (Requirement(any_of=tuple(Evidence(id=f"d{place}") for place in gold | {0})),)
    one = Outcomes("a", ("c0",), {}, (trace(0, 1, stages=(stage(dict(scores), "retrieve", route="bm25"),)),))
    for name in (f"R@{k}", f"nDCG@{k}", f"RR@{k}", "AP"):
        found = column(one, name, "retrieve:bm25", {"c0": case(0, requires=needs)})
        whole = audit({"c0": scores}, {"c0": {f"d{place}": 1 for place in gold | {0}}}, name, order="input")
        values = whole.result(name).values
        assert (found.value[0], found.low[0], found.high[0]) == pytest.approx(
            (values.contract[0], values.min[0], values.max[0])
        )
