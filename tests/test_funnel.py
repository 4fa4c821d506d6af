"""The funnel's numbers equal an enumeration; files and objects give one funnel; what contradicts itself is refused."""

import json
import math
import random
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rankwork.diagnosis.batch_funnel import BatchFunnel
from rankwork.diagnosis.funnel import Funnel, funnel
from rankwork.diagnosis.gold import Gold
from rankwork.diagnosis.stage_measures import COMPLETE, COVERAGE, StageValues
from rankwork.diagnosis.trace_columns import TraceColumns, batches_of
from rankwork.errors import ContractError, InputError
from rankwork.inputs.traces import write_cases, write_traces
from rankwork.protocol import Protocol
from rankwork.retrieval.fused_ranges import fused_ranges
from rankwork.retrieval.fusion import rrf
from rankwork.trace import Case, Evidence, Identity, Item, Requirement, Stage, Trace
from tests import brute
from tests.staged import drawn

CASES, TRACES = drawn(120, seed=4)
WHOLE = 100
BY_RANK = {"below_route_k", "tie_cut", "fusion_cut", "rerank_cut", "unknown", None}


def gold_of(case: Case) -> dict[str, int]:
    return {name: evidence.grade for name, evidence in case.gold.items() if evidence.grade}


def listed(
    stage: Stage, grades: dict[str, int], k: int | None = None
) -> tuple[dict[str, int], list[tuple[str, float]], bool]:
    """The gold under the IDs that it has here, the candidates, and whether the cut hides how they go on."""
    names = {item.previous_id or item.id: item.id for item in stage.kept}
    here = {names.get(name, name): grade for name, grade in grades.items()}
    kept = [(item.id, item.score) for item in stage.kept]
    last = kept[-1][1] if kept else None
    below = [
        (item.id, item.score)
        for item in stage.items
        if not item.kept and item.drop_reason in BY_RANK and item.score is not None and last is not None
    ]
    full = stage.requested is not None and stage.returned >= stage.requested
    at_cut = full and stage.returned >= (k or 0)
    rows = [*kept, *(row for row in below if row[1] <= last)] if at_cut else kept  # type: ignore[operator]
    return here, rows, not stage.complete and (full or stage.requested is None)  # type: ignore[return-value]


def measure(name: str, grades: dict[str, int], k: int, returned: int) -> Any:
    """A measure as a function of an order, from the oracle."""
    k = max(returned, 1) if k == WHOLE and name.startswith("P") else k  # none was declared
    if name == "P(returned)":
        return lambda order: brute.precision(grades, k, rel=1)(order) * k / min(k, returned)
    if name == "nDCG":
        return brute.ndcg(grades, k, dcg="log2")
    return brute.MEASURES[name](grades, k, rel=1)


def coverage(name: str, case: Case, names: dict[str, str], k: int) -> Any:
    needs = [{names.get(e.id, e.id) for e in need.any_of} for need in case.requires]

    def met(order: tuple[str, ...]) -> float:
        count = sum(bool(need & set(order[:k])) for need in needs)
        return float(count == len(needs)) if name == COMPLETE else count / len(needs)

    return met


def stages_of(cases: list[Case], traces: list[Trace], k: int | None) -> Iterator[tuple[Case, Stage, str, Any, int]]:
    """Case, stage, measure, its values, and the row of the trace in them."""
    known = {case.id: case for case in cases}
    place = {trace.case: trace for trace in traces}
    for batch in batches_of(traces):
        columns = TraceColumns.of(batch)
        found = BatchFunnel.of(columns, Gold.of(columns, known), k, Protocol.named("rankwork"), independent=True)
        for part in found.stages:
            for name, own, inherited in part.measures:
                for row, trace in enumerate(part.columns.stages.trace.tolist()):
                    case = columns.cases[trace]
                    stage = next(s for s in place[case].stages if s.name == part.columns.name)
                    yield known[case], stage, name, (own, inherited), row


@pytest.mark.parametrize("k", [None, 2, 5])
def test_observed_numbers_and_own_ranges_are_those_of_an_enumeration(k: int | None) -> None:
    """Every stage of every trace, every measure; what a cut hides is unknown unless the outer bounds meet."""
    seen, known = 0, 0
    for case, stage, name, (own, _), row in stages_of(CASES, TRACES, k):
        here, rows, cut = listed(stage, gold_of(case), k)
        cutoff = k or stage.requested or WHOLE
        if stage.kind == "fuse":
            continue  # its routes show more than its own list does
        if not defined(name, case, stage, here):
            assert not own.defined[row], (case.id, stage.name, name)
            continue
        oracle = of(name, case, stage, here, cutoff)
        order = tuple(item.id for item in stage.kept)
        assert own.observed[row] == pytest.approx(float(oracle(order)), abs=1e-9), (case.id, stage.name, name)
        seen += 1
        scored = all(score is not None for _, score in rows)
        if not scored and rows:
            assert math.isnan(own.min[row])
            assert (own.outer_min[row], own.outer_max[row]) == (0, 1)
        elif math.prod(math.factorial(len(group)) for group in brute.groups(rows)) <= 2_000:
            known += compared(own, row, brute.spread(rows, oracle), cut=cut)
    assert seen > 1_800
    assert known > 900


def defined(name: str, case: Case, stage: Stage, here: dict[str, int]) -> bool:
    if name in (COVERAGE, COMPLETE):
        return bool(case.requires) and all(need.any_of for need in case.requires)
    return bool(here) and (name != "P(returned)" or stage.returned > 0)


def of(name: str, case: Case, stage: Stage, here: dict[str, int], cutoff: int) -> Any:
    if name in (COVERAGE, COMPLETE):
        return coverage(name, case, {item.previous_id or item.id: item.id for item in stage.kept}, cutoff)
    return measure(name, here, cutoff, stage.returned)


def compared(own: StageValues, row: int, spread: brute.Spread, *, cut: bool) -> bool:
    """A known range is the enumeration's; an unknown one is only a cut list's, and lies outside of it."""
    if math.isnan(own.min[row]) or math.isnan(own.max[row]):
        assert cut
        assert own.outer_min[row] <= float(spread.min) + 1e-9
        assert own.outer_max[row] >= float(spread.max) - 1e-9
        return False
    assert own.min[row] == pytest.approx(float(spread.min), abs=1e-9)
    assert own.max[row] == pytest.approx(float(spread.max), abs=1e-9)
    if math.isnan(own.expected[row]):  # how large the hidden rest of the last group is, nobody knows
        assert cut
        return True
    assert own.expected[row] == pytest.approx(float(spread.mean), abs=1e-9)
    assert own.variance[row] == pytest.approx(float(spread.variance), abs=1e-9)
    return True


def test_what_a_cut_list_may_hide_lies_within_the_outer_bounds() -> None:
    """A route that returns two of a group of four: any two could have been returned."""
    scores = {"a": 2.0, "b": 1.0, "c": 1.0, "d": 1.0}
    case = Case(id="c", query="?", requires=(Requirement(any_of=(Evidence(id="c"), Evidence(id="d"))),))
    items = tuple(Item(id=d, rank=rank, score=s) for rank, (d, s) in enumerate(list(scores.items())[:2], 1))
    found = funnel([case], [Trace(case="c", stages=(Stage(kind="retrieve", requested=2, returned=2, items=items),))])
    mean = found.table.mean("retrieve", "R")
    assert (mean.observed, mean.own_min, mean.own_max, mean.own_outer_max) == (0, 0, None, 0.5)
    assert mean.own_unknown == 1


def test_ties_that_a_stage_lists_below_its_cut_are_its_own_range() -> None:
    """The dropped item with the last kept score could have been kept: the range is exact."""
    case = Case(id="c", query="?", requires=(Requirement(any_of=(Evidence(id="b"),)),))
    items = (
        Item(id="a", rank=1, score=1.0),
        Item(id="b", score=1.0, kept=False, drop_reason="tie_cut"),
        Item(id="c", score=0.5, kept=False, drop_reason="below_route_k"),
    )
    stage = Stage(kind="retrieve", requested=1, returned=1, items=items)
    mean = funnel([case], [Trace(case="c", stages=(stage,))]).table.mean("retrieve", "R")
    assert (mean.observed, mean.own_min, mean.own_expected, mean.own_max) == (0, 0, 0.5, 1)


def route_orders(route: Stage) -> list[tuple[str, ...]]:
    return list(brute.orders([(item.id, item.score) for item in route.kept])) or [()]


def complete_pair(draw: random.Random) -> tuple[Case, Trace]:
    """Two complete routes with ties, fused by RRF, ties by ID, and reranked in a window."""
    ids = [f"d{n}" for n in range(6)]
    routes = []
    for name in ("bm25", "dense"):
        scores = {d: float(draw.randint(1, 3)) for d in draw.sample(ids, draw.randint(1, 5))}
        kept = sorted(scores, key=lambda d: (-scores[d], d))
        items = tuple(Item(id=d, rank=r, score=scores[d]) for r, d in enumerate(kept, 1))
        routes.append(Stage(kind="retrieve", route=name, requested=10, returned=len(kept), complete=True, items=items))
    k = draw.randint(1, 5)
    sums = fused([tuple(item.id for item in route.kept) for route in routes])
    top = sorted(sums, key=lambda d: (-sums[d], d))[:k]
    items = tuple(Item(id=d, rank=r, score=sums[d]) for r, d in enumerate(top, 1))
    rrf = {"method": "rrf", "c": 60}
    stage = Stage(kind="fuse", requested=k, returned=len(top), items=items, parameters=rrf)
    window = draw.randint(1, 5)
    seen = tuple(Item(id=d, rank=r, score=float(-r)) for r, d in enumerate(top[:window], 1))
    rerank = Stage(kind="rerank", requested=k, returned=len(seen), complete=True, window=window, items=seen)
    gold = draw.sample(ids, draw.randint(1, 3))
    needs = tuple(Requirement(any_of=(Evidence(id=d, grade=draw.randint(1, 3)),)) for d in gold)
    return Case(id="c", query="?", requires=needs), Trace(case="c", stages=(*routes, stage, rerank))


def fused(lists: list[tuple[str, ...]]) -> dict[str, float]:
    sums: dict[str, float] = {}
    for ranked in lists:
        for rank, document in enumerate(ranked, 1):
            sums[document] = sums.get(document, 0) + 1 / (60 + rank)
    return sums


@pytest.mark.parametrize("seed", range(60))
def test_inherited_ranges_hold_for_every_order_of_the_routes_ties(seed: int) -> None:
    """And where what comes next is called settled, it is given the same items by all of them."""
    case, trace = complete_pair(random.Random(seed))
    stages = {stage.kind: stage for stage in trace.stages}
    k, window = stages["fuse"].requested or 0, stages["rerank"].window or 0
    lists = []
    for orders in product(*(route_orders(route) for route in trace.routes)):
        sums = {d: round(score, 12) for d, score in fused(list(orders)).items()}
        lists.append(tuple(sorted(sums, key=lambda d: (-sums[d], d)))[:k])
    grades = gold_of(case)
    for _, stage, name, (own, inherited), row in stages_of([case], [trace], None):
        if stage.kind == "rerank" and not math.isnan(inherited.min[row]):
            assert len({frozenset(order[:window]) for order in lists}) == 1
        if stage.kind != "fuse":
            continue
        oracle = of(name, case, stage, grades, k)
        values = [float(oracle(order)) for order in lists]
        assert inherited.min[row] <= min(values) + 1e-9, name
        assert inherited.max[row] >= max(values) - 1e-9, name
        assert inherited.min[row] <= own.observed[row] <= inherited.max[row]
        if max(map(len, map(route_orders, trace.routes))) == 1:
            assert inherited.min[row] == inherited.max[row]


@pytest.mark.parametrize("seed", range(40))
def test_inherited_recall_holds_what_the_intervals_of_the_fusion_attain(seed: int) -> None:
    """Cut routes as well, whose last group goes on out of sight: bounds of the columns contain the exact ones."""
    draw = random.Random(seed)
    case, trace = complete_pair(draw)
    cut = draw.random() < 0.5
    depth = draw.randint(1, 4) if cut else 10
    lists = {route.route: [(i.id, i.score or 0.0) for i in route.kept][:depth] for route in trace.routes}
    routes = [
        Stage(kind="retrieve", route=name, requested=depth, returned=len(rows), complete=len(rows) < depth,
              items=tuple(Item(id=d, rank=r, score=s) for r, (d, s) in enumerate(rows, 1)))
        for name, rows in lists.items()
    ]  # fmt: skip
    k = draw.randint(1, 4)
    exact = fused_ranges(lists, gold_of(case), k, depth=depth if cut else None, allow_disjoint=True)
    scores = rrf(lists, allow_disjoint=True)
    items = tuple(
        Item(id=str(d), rank=r, score=s) for r, (d, s) in enumerate(zip(scores.ids, scores.scores, strict=True), 1)
    )[:k]
    rule = {"rule": "rrf", "c": 60}
    stage = Stage(kind="fuse", requested=k, returned=len(items), items=items, parameters=rule)
    mean = funnel([case], [trace.model_copy(update={"stages": (*routes, stage)})]).table.mean("fuse", "R")
    assert exact.contract is not None
    assert mean.observed == pytest.approx(exact.contract)
    low, high = exact.inherited.attained_low, exact.inherited.attained_high
    assert mean.inherited_unknown == 0
    assert mean.inherited_min is not None
    assert mean.inherited_max is not None
    assert low is None or mean.inherited_min <= low + 1e-9
    assert high is None or mean.inherited_max >= high - 1e-9


def test_a_fusion_whose_rule_is_not_on_record_inherits_the_unknown() -> None:
    """Without the constant, or with scores that the rule does not give, nothing is claimed."""
    case, trace = complete_pair(random.Random(3))
    for change in ({"parameters": {"method": "rrf"}}, {"parameters": {"method": "rrf", "c": 10}}):
        stages = [s.model_copy(update=change) if s.kind == "fuse" else s for s in trace.stages]
        mean = funnel([case], [trace.model_copy(update={"stages": tuple(stages)})]).table.mean("fuse", "R")
        assert (mean.inherited_min, mean.inherited_unknown) == (None, 1)


def test_a_file_of_either_kind_and_objects_give_one_funnel(tmp_path: Path) -> None:
    whole = funnel(CASES, TRACES).to_json()
    write_cases(tmp_path / "cases.jsonl", CASES)
    for name in ("traces.jsonl", "traces.parquet", "traces.jsonl.gz"):
        write_traces(tmp_path / name, TRACES)
        assert funnel(tmp_path / "cases.jsonl", tmp_path / name).to_json() == whole
    assert json.loads(json.dumps(whole, allow_nan=False)) == whole


def test_the_size_of_a_batch_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = funnel(CASES, TRACES[:40])
    monkeypatch.setattr("rankwork.diagnosis.trace_columns.TRACES_AT_ONCE", 7)
    parts = funnel(CASES, TRACES[:40])
    assert parts.losses == whole.losses
    for one, other in zip(parts.table.means(), whole.table.means(), strict=True):
        assert vars(one) == pytest.approx(vars(other))


def test_slices_are_means_of_their_own_cases() -> None:
    found = funnel(CASES, TRACES)
    inside = [case for case in CASES if "multi-hop" in case.slices]
    names = {case.id for case in inside}
    alone = funnel(inside, [trace for trace in TRACES if trace.case in names])
    for mean in found.table.means(among="multi-hop"):
        assert vars(mean) == pytest.approx(vars(alone.table.mean(mean.stage, mean.measure)))
    lost = {key[1:]: n for key, n in found.losses.lost.items() if key[0] == "multi-hop"}
    assert lost == {key[1:]: n for key, n in alone.losses.lost.items() if key[0] == "all"}


def test_what_enters_a_step_is_what_the_step_before_handed_on() -> None:
    losses = funnel(CASES, TRACES).losses
    for before, after in (("retrieve", "fuse"), ("fuse", "rerank"), ("rerank", "context")):
        assert losses.survived(before) == losses.entered["all", after]
    assert losses.survived("context") == losses.rows["all", "reached"]
    assert sum(losses.rows[key] for key in losses.rows if key[0] == "all") == losses.entered["all", "retrieve"]


def test_an_empty_requirement_is_undefined_and_counted() -> None:
    """LongMemEval#7: neither 1 nor 0."""
    cases = [Case(id="e", query="?", requires=(Requirement(any_of=()),)), Case(id="n", query="?")]
    stage = Stage(kind="retrieve", requested=1, returned=1, items=(Item(id="a", rank=1, score=1.0),))
    found = funnel(cases, [Trace(case=name, stages=(stage,)) for name in ("e", "n")])
    for name in (COVERAGE, COMPLETE, "R", "nDCG"):
        mean = found.table.mean("retrieve", name)
        assert (mean.traces, mean.undefined, mean.observed) == (0, 2, None)


def test_gold_that_does_not_hold_is_not_scored_and_a_case_without_a_trace_is_named() -> None:
    import datetime

    early = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)
    late = datetime.datetime(2026, 6, 1, tzinfo=datetime.UTC)
    needs = (Requirement(any_of=(Evidence(id="a"),)),)
    stale = Case(id="s", query="?", requires=needs, time=late, valid_until=early)
    fine, absent = (Case(id=name, query="?", requires=needs) for name in ("f", "x"))
    stage = Stage(kind="retrieve", requested=1, returned=1, items=(Item(id="a", rank=1, score=1.0),))
    found = funnel([stale, fine, absent], [Trace(case=name, stages=(stage,)) for name in ("s", "f")])
    assert (found.stale, found.missing) == (("s",), ("x",))
    assert found.table.mean("retrieve", "R").traces == 1
    assert "cases whose gold does not hold, not scored: 1 (s)" in str(found)


def stage_with(**fields: Any) -> dict[str, Any]:
    items = [{"id": "a", "rank": 1, "score": 2.0}, {"id": "b", "rank": 2, "score": 1.0}]
    return {"kind": "retrieve", "requested": 2, "returned": 2, "items": items} | fields


BAD = [
    ([stage_with(), stage_with(kind="fuse", items=[{"id": "z", "rank": 1}], returned=1)], "no stage before returned"),
    ([stage_with(items=[{"id": "a", "rank": 1, "score": 1.0}, {"id": "b", "rank": 2, "score": 2.0}])], "has score 2.0"),
    ([stage_with(returned=3, requested=3)], "3 items claimed, 2 kept items listed"),
    ([stage_with(requested=1)], "2 items returned where 1 were asked for"),
    ([stage_with(items=[{"id": "a", "rank": 1}, {"id": "a", "rank": 2}])], "stands at two ranks"),
    ([stage_with(items=[{"id": "a", "rank": 1}, {"id": "b", "rank": 3}])], "at place 2 has rank 3"),
    ([stage_with(items=[{"id": "a", "rank": 1}, {"id": "b", "rank": 2}, {"id": "c", "kept": False,
                 "drop_reason": "bad_luck"}])], "bad_luck"),
    ([stage_with(kind="context"), stage_with()], "out of their order|no stage before"),
    ([stage_with(), stage_with()], "stands twice"),
    ([stage_with(complete=True, status="timeout")], "said to be complete"),
    ([stage_with(status="asleep")], "asleep"),
    ([stage_with(items=[{"id": "a", "rank": 1}, {"id": "b", "rank": 2, "drop_reason": "quota"}])], "yet has the drop"),
    ([stage_with(complete=True, items=[{"id": "a", "rank": 1}, {"id": "b", "rank": 2}, {"id": "c", "kept": False,
                 "drop_reason": "tie_cut"}])], "was cut off"),
]  # fmt: skip


@pytest.mark.parametrize(("stages", "message"), BAD)
def test_a_trace_that_contradicts_itself_is_refused_by_name(
    stages: list[dict[str, Any]], message: str, tmp_path: Path
) -> None:
    """In a file of lines by line; in columns, which no object was made of, by its case."""
    import pyarrow as pa
    from pyarrow import parquet

    from rankwork.inputs.trace_tables import trace_schema

    case = Case(id="q", query="?", requires=(Requirement(any_of=(Evidence(id="a"),)),))
    good = {"case": "first", "stages": [stage_with()]}
    rows = [good, {"case": "q", "stages": stages}]
    (tmp_path / "t.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    first = case.model_copy(update={"id": "first"})
    with pytest.raises(InputError, match=message) as caught:
        funnel([first, case], tmp_path / "t.jsonl")
    assert "line 2" in str(caught.value)
    parquet.write_table(pa.Table.from_pylist(rows, schema=trace_schema()), tmp_path / "t.parquet")
    with pytest.raises(InputError, match=message) as caught:
        funnel([first, case], tmp_path / "t.parquet")
    assert "trace of case 'q'" in str(caught.value)


STAGE = Stage(kind="retrieve", requested=1, returned=1, items=(Item(id="a", rank=1, score=1.0),))
NEEDS = (Requirement(any_of=(Evidence(id="a"),)),)


@pytest.mark.parametrize(
    ("traces", "message"),
    [
        ([{"case": "z"}], "trace of case 'z': there is no such case among the 2"),
        ([{"case": "q"}, {"case": "q"}], "case 'q' has two traces"),
        ([{"case": "q", "run": "1"}, {"case": "r", "run": "2"}], "the traces are of two runs, '1' and '2'"),
        ([{"case": "q", "protocol": "trec"}, {"case": "r"}], "two protocols, 'trec' and 'rankwork'"),
        ([{"case": "q", "query": "another"}], "its query is 'another', the case has 'what'"),
        ([{"case": "q", "identity": Identity(tenant="b")}], "its identity is \\(tenant 'b'"),
        (
            [{"case": "q", "snapshot": {"data": "1"}}, {"case": "r", "snapshot": {"data": "2"}}],
            "the run mixes snapshots: data is '1' for case 'q' and '2' for case 'r'",
        ),
        ([], "there are no traces"),
        ([{"case": "q", "protocol": "nope"}], "trace of case 'q': protocol must be one of .*, got 'nope'"),
    ],
)
def test_traces_that_do_not_belong_together_are_refused(traces: list[dict[str, Any]], message: str) -> None:
    who = Identity(tenant="a", role="dev")
    cases = [Case(id=name, query="what", requires=NEEDS, identity=who) for name in ("q", "r")]
    same: dict[str, Any] = {"identity": who, "stages": (STAGE,)}
    given = [Trace(**same | fields) for fields in traces]
    with pytest.raises(InputError, match=message):
        funnel(cases, given)


def test_arguments_are_refused() -> None:
    case = Case(id="q", query="?", requires=NEEDS)
    for k in (0, -1, True, 2.0):
        with pytest.raises(ContractError, match="k must be an integer of at least 1"):
            funnel([case], [Trace(case="q", stages=(STAGE,))], k=k)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="case 'q' stands twice"):
        funnel([case, case], [])
    with pytest.raises(InputError, match="there are no cases"):
        funnel([], [])
    with pytest.raises(ContractError, match="no gold evidence 'z'"):
        funnel([case], [Trace(case="q", stages=(STAGE,))]).diagnosis("q", "z")


def test_evidence_is_followed_through_a_change_of_its_id() -> None:
    """A chunk that its parent took the place of is in the context, and in the measures under the parent's ID."""
    case = Case(id="q", query="?", requires=NEEDS)
    parent = Item(id="doc", previous_id="a", rank=1)
    context = Stage(kind="context", returned=1, items=(parent,))
    found: Funnel = funnel([case], [Trace(case="q", stages=(STAGE, context))])
    assert found.diagnosis("q", "a").row == "reached"
    assert found.table.mean("context", "R").observed == 1
    assert list(found.evidence.loc[0, ["retrieve", "context"]]) == [1, 1]
    assert np.isnan(found.table.mean("context", "R").own_min or np.nan)


def test_a_parent_holds_all_of_its_chunks() -> None:
    """The second chunk was left out because its parent is there already: it is there, too."""
    needs = tuple(Requirement(any_of=(Evidence(id=d),)) for d in ("a", "b"))
    items = (Item(id="a", rank=1, score=2.0), Item(id="b", rank=2, score=1.0), Item(id="c", rank=3, score=0.5))
    route = Stage(kind="retrieve", requested=3, returned=3, items=items)
    kept = (Item(id="doc", previous_id="a", rank=1), Item(id="c", rank=2))
    for reason, stand_in, arrives in (
        ("parent_replaced", "doc", True),
        (None, "doc", True),
        ("near_duplicate", "c", False),
    ):
        left_out = Item(id="b", kept=False, drop_reason=reason)  # type: ignore[arg-type]
        parameters = {"stand_in": {"b": stand_in}}
        context = Stage(kind="context", returned=2, items=(*kept, left_out), parameters=parameters)
        found = funnel([Case(id="q", query="?", requires=needs)], [Trace(case="q", stages=(route, context))])
        assert (found.diagnosis("q", "b").row == "reached") is arrives
        assert found.table.mean("context", COVERAGE).observed == (1 if arrives else 0.5)
        assert found.table.mean("context", "R").observed == (1 if arrives else 0.5)


def test_a_trace_without_any_stage_is_unknown() -> None:
    found = funnel([Case(id="q", query="?", requires=NEEDS)], [Trace(case="q")])
    assert [each.sentence for each in found.diagnoses()] == ["gold a: the trace holds no stage"]


def test_a_source_in_two_revisions_is_reported() -> None:
    """An old revision was left in the index: both were kept for one question."""
    items = (
        Item(id="a", rank=1, score=2.0, source="guide", revision="r1"),
        Item(id="b", rank=2, score=1.0, source="guide", revision="r2"),
        Item(id="c", rank=3, score=0.5, source="other", revision="r2"),
    )
    stage = Stage(kind="retrieve", requested=3, returned=3, items=items)
    found = funnel([Case(id="q", query="?", requires=NEEDS)], [Trace(case="q", stages=(stage,))])
    note = "sources that a trace shows in several revisions: 1 (case q: guide as r1 and r2)"
    assert found.notes == (note,)
    assert note in str(found)


def test_a_reranker_that_scores_by_itself_inherits_nothing_from_the_same_documents() -> None:
    """The routes' tie changes the fused scores, and not who is in the window."""
    needs = (Requirement(any_of=(Evidence(id="a"),)),)
    tied = (Item(id="a", rank=1, score=1.0), Item(id="b", rank=2, score=1.0))
    route = Stage(kind="retrieve", route="bm25", requested=5, returned=2, complete=True, items=tied)
    other = route.model_copy(update={"route": "dense"})
    items = tuple(Item(id=d, rank=r, score=2 / (60 + r)) for r, d in enumerate("ab", 1))
    rrf = {"rule": "rrf", "c": 60}
    fused = Stage(kind="fuse", requested=5, returned=2, complete=True, items=items, parameters=rrf)
    rerank = Stage(kind="rerank", requested=5, returned=2, window=2, complete=True, items=tied)
    trace = Trace(case="q", stages=(route, other, fused, rerank))
    case = Case(id="q", query="?", requires=needs)
    reading = funnel([case], [trace]).table.mean("rerank", "R")
    assert (reading.inherited_min, reading.inherited_unknown) == (None, 1)
    alone = funnel([case], [trace], independent=True).table.mean("rerank", "R")
    assert (alone.inherited_min, alone.inherited_max, alone.inherited_unknown) == (1, 1, 0)


def test_a_stage_that_says_how_many_tied_and_lists_them_hides_nothing() -> None:
    """`tied_at_cut` of the route's parameters: none tied, so the last place is known to be its own."""
    stage = Stage(kind="retrieve", requested=1, returned=1, items=(Item(id="a", rank=1, score=1.0),))
    case = Case(id="q", query="?", requires=NEEDS)
    for parameters, unknown in (({}, 1), ({"tied_at_cut": 0}, 0), ({"tied_at_cut": 2}, 1)):
        trace = Trace(case="q", stages=(stage.model_copy(update={"parameters": parameters}),))
        assert funnel([case], [trace]).table.mean("retrieve", "R").own_unknown == unknown
