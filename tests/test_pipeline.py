"""Whole traces of a small collection: what each stage keeps and drops, and what happens when a part fails."""

import json
import os
import subprocess
import sys
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from pydantic import ValidationError

from rankwork.errors import ContractError
from rankwork.inputs.documents import Collection, Document
from rankwork.retrieval.chunking import chunked
from rankwork.retrieval.pipeline import Pipeline, digest_of, run
from rankwork.retrieval.searching import texts
from rankwork.retrieval.settings import Settings
from rankwork.retrieval.sparse import BM25
from rankwork.trace import Case, Evidence, Identity, Item, Requirement, Stage, Trace

PETS = (
    Document("cat", "the cat sat on the mat"),
    Document("cats", "many cats and one cat"),
    Document("dog", "a dog and a cat"),
    Document("fish", "a fish swims", tenant="aquarium"),
    Document("old", "the cat of yesterday", valid_until=datetime(2025, 1, 1, tzinfo=UTC)),
    Document("twin", "the  cat sat on the mat"),
)
PLAIN: dict[str, Any] = {"routes": ("bm25",), "reranker": None, "near": None}


def case(query: str, *gold: str, **fields: Any) -> Case:
    needs = tuple(Requirement(any_of=(Evidence(id=name),)) for name in gold)
    return Case(id=query, query=query, requires=needs, **fields)


def pets(*cases: Case) -> Collection:
    return Collection("pets", "1", PETS, cases)


def traced(asked: Case, **settings: Any) -> Trace:
    return run(pets(), Settings(**{**PLAIN, **settings}), [asked])[0]


def stage(trace: Trace, name: str) -> Stage:
    return next(stage for stage in trace.stages if stage.name == name)


def fates(stage: Stage) -> dict[str, str]:
    """Each item's rank, or why it was dropped."""
    return {item.id: str(item.rank or item.drop_reason) for item in stage.items}


def test_each_stage_hands_on_to_the_next() -> None:
    trace = traced(case("cat"))
    kept = [[item.id for item in one.kept] for one in trace.stages]
    assert kept[0] == kept[1] == ["dog", "old", "cat", "twin", "cats"]
    assert set(kept[2]) == set(kept[1]) - {"twin"}
    assert fates(stage(trace, "context"))["twin"] == "duplicate_id"
    assert trace.prompt is not None
    assert list(trace.prompt.ids) == kept[2]
    assert stage(trace, "context").parameters["stand_in"] == {"twin": "cat"}


def test_a_tie_at_the_cut_is_on_record() -> None:
    """Cat and twin have the same words: at depth 1 the lower ID stays and the tie is named."""
    first = stage(traced(case("mat", "twin"), depth=1), "retrieve:bm25")
    assert fates(first) == {"cat": "1", "twin": "tie_cut"}
    assert (first.parameters["answering"], first.parameters["tied_at_cut"], first.complete) == (2, 1, False)
    assert first.items[0].score == first.items[1].score


def test_evidence_that_a_route_cut_is_on_record_with_its_score() -> None:
    first = stage(traced(case("cat", "cat"), depth=1), "retrieve:bm25")
    item = next(item for item in first.items if item.id == "cat")
    assert item.drop_reason == "below_route_k"
    assert item.score is not None
    assert 0 < item.score < (first.items[0].score or 0)


def test_evidence_that_shares_no_word_was_not_retrieved() -> None:
    assert fates(stage(traced(case("mat", "dog")), "retrieve:bm25"))["dog"] == "not_retrieved"


def test_permissions_and_time_come_before_ranking() -> None:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    asked = case("cat fish", "fish", "old", time=now, identity=Identity(tenant="farm"))
    first = stage(traced(asked), "retrieve:bm25")
    assert fates(first)["fish"] == "acl_filtered"
    assert fates(first)["old"] == "time_filtered"
    assert {item.id: item.acl for item in first.items} == {
        "cat": "allowed", "cats": "allowed", "dog": "allowed", "twin": "allowed", "fish": "denied", "old": "allowed",
    }  # fmt: skip
    counted = {name: first.parameters[name] for name in ("candidates", "acl_filtered", "time_filtered", "excluded")}
    assert counted == {"candidates": 4, "acl_filtered": 1, "time_filtered": 1, "excluded": 0}
    for later in traced(asked).stages[1:]:
        assert not {"fish", "old"} & {item.id for item in later.items}


def test_whoever_may_read_it_finds_it() -> None:
    asked = case("fish", "fish", identity=Identity(tenant="aquarium"))
    assert fates(stage(traced(asked), "context")) == {"fish": "1"}


def test_what_a_case_excludes_is_no_candidate() -> None:
    first = stage(traced(case("mat", excludes=("cat", "gone"))), "retrieve:bm25")
    assert fates(first) == {"twin": "1"}
    assert first.parameters["excluded"] == 1


@pytest.mark.parametrize(
    ("evidence", "reason"),
    [
        (Evidence(id="gone"), "not_in_corpus"),
        (Evidence(id="cat#1", source="cat", revision="0"), "superseded_revision"),
        (Evidence(id="cat#1", source="cat", revision="1"), "id_unmapped"),
        (Evidence(id="cat#1", source="cat"), "id_unmapped"),
    ],
)
def test_evidence_that_is_not_there_is_named_for_what_it_is(evidence: Evidence, reason: str) -> None:
    asked = Case(id="q", query="cat", requires=(Requirement(any_of=(evidence,)),))
    item = next(item for item in traced(asked).stages[0].items if item.id == evidence.id)
    assert (item.drop_reason, item.kept) == (reason, False)


def test_fusion_says_what_it_cut() -> None:
    fuse = stage(traced(case("cat"), fused=2), "fuse")
    assert sorted(set(fates(fuse).values())) == ["1", "2", "fusion_cut"]
    assert (fuse.requested, fuse.returned, fuse.complete) == (2, 2, False)


def test_a_fused_tie_at_the_cut_is_named() -> None:
    """Two routes that disagree about two documents tie them exactly."""
    routes = [Fixed("one", [2.0, 1.0]), Fixed("two", [1.0, 2.0])]
    fuse = stage(piped(routes, fused=1), "fuse")
    assert fates(fuse) == {"a": "1", "b": "tie_cut"}


# ------------------------------------------------------------------------------ parts that fail


class Fixed:
    """A route over documents a and b with scores of its own, or an error."""

    version, dtype = "1", "float64"

    def __init__(self, name: str, scores: list[float] | Exception) -> None:
        self.name, self.given = name, scores

    def scores(self, query: str) -> NDArray[Any]:
        if isinstance(self.given, Exception):
            raise self.given
        return np.array(self.given)

    def answers(self, scores: NDArray[Any]) -> NDArray[np.bool_]:
        return np.asarray(scores >= 0)


class Judge:
    """A reranker that reverses the list, or fails."""

    version = "judge"

    def __init__(self, error: Exception | None = None) -> None:
        self.error = error

    def scores(self, candidates: Any) -> NDArray[np.float64]:
        if self.error:
            raise self.error
        return np.arange(len(candidates.positions), dtype=np.float64)


AB = Collection("ab", "1", (Document("a", "x"), Document("b", "y")))


def piped(routes: list[Fixed], reranker: Judge | None = None, asked: Case | None = None, **settings: Any) -> Trace:
    names = {"routes": ("bm25", "dense")[: len(routes)]}
    chosen = Settings(**{**PLAIN, **names, **settings})
    return Pipeline(AB, chosen, routes=routes, reranker=reranker).trace(asked or case("?", "a"))


@pytest.mark.parametrize(
    ("error", "status", "reason"),
    [(TimeoutError("late"), "timeout", "route_timeout"), (ConnectionError("refused"), "error", "unknown")],
)
def test_a_route_that_fails_leaves_the_others_alone(error: Exception, status: str, reason: str) -> None:
    trace = piped([Fixed("good", [1.0, 2.0]), Fixed("bad", error)])
    bad = stage(trace, "retrieve:bad")
    assert (bad.status, bad.returned, fates(bad)) == (status, 0, {"a": reason})
    assert bad.parameters["error"] == str(error)
    assert stage(trace, "fuse").status == "degraded"
    assert stage(trace, "fuse").parameters["routes"] == ["good"]
    assert [item.id for item in stage(trace, "context").kept] == ["b", "a"]
    assert trace.events.index_bytes is None


def test_an_answer_that_came_too_late_is_none() -> None:
    """With a limit that nothing can keep: what the route found is on record as lost for that."""
    trace = piped([Fixed("slow", [1.0, 2.0])], route_timeout_ms=1e-9)
    slow = stage(trace, "retrieve:slow")
    assert (slow.status, fates(slow)) == ("timeout", {"b": "route_timeout", "a": "route_timeout"})
    assert [one.status for one in trace.stages] == ["timeout", "error", "skipped"]
    assert trace.prompt is not None
    assert trace.prompt.ids == ()


def test_evidence_that_may_not_be_read_stays_so_when_the_route_fails() -> None:
    closed = Collection("ab", "1", (Document("a", "x", tenant="other"),))
    pipeline = Pipeline(closed, Settings(**PLAIN), routes=[Fixed("bad", TimeoutError())])
    assert fates(pipeline.trace(case("?", "a", "b")).stages[0]) == {"a": "acl_filtered", "b": "not_in_corpus"}


def test_a_fault_of_a_route_is_not_hidden() -> None:
    with pytest.raises(ZeroDivisionError):
        piped([Fixed("broken", ZeroDivisionError())])


def test_a_reranker_orders_anew_and_cuts() -> None:
    trace = piped([Fixed("one", [2.0, 1.0])], Judge(), cut=1)
    assert fates(stage(trace, "rerank")) == {"b": "1", "a": "rerank_cut"}


def test_what_lies_beyond_the_window_is_dropped_for_that() -> None:
    trace = piped([Fixed("one", [2.0, 1.0])], Judge(), window=1)
    rerank = stage(trace, "rerank")
    assert fates(rerank) == {"a": "1", "b": "rerank_window"}
    assert (rerank.window, rerank.parameters["looked_at"]) == (1, 1)


@pytest.mark.parametrize(("error", "status"), [(TimeoutError(), "timeout"), (OSError("gone"), "error")])
def test_without_the_reranker_the_order_before_it_stands(error: Exception, status: str) -> None:
    trace = piped([Fixed("one", [2.0, 1.0])], Judge(error), cut=1)
    rerank = stage(trace, "rerank")
    reason = "rerank_timeout" if status == "timeout" else "rerank_cut"
    assert (rerank.status, fates(rerank)) == (status, {"a": "1", "b": reason})
    assert rerank.parameters["scores"] == "fusion"


@pytest.mark.parametrize("scores", [[1.0], [1.0, float("nan")]])
def test_scores_that_are_none_are_refused(scores: list[float]) -> None:
    judge = Judge()
    judge.scores = lambda candidates: np.array(scores)  # type: ignore[method-assign]
    with pytest.raises(ContractError, match="a reranker must give one finite score for each of 2 candidates"):
        piped([Fixed("one", [2.0, 1.0])], judge)


def test_a_reranker_with_nothing_to_look_at_is_skipped() -> None:
    trace = piped([Fixed("one", [-1.0, -1.0])], Judge())
    assert [one.status for one in trace.stages] == ["ok", "ok", "skipped", "skipped"]


@given(
    first=st.lists(st.integers(-1, 3).map(float), min_size=6, max_size=6),
    second=st.lists(st.integers(-1, 3).map(float), min_size=6, max_size=6),
    depth=st.integers(1, 7),
    fused=st.integers(1, 7),
    window=st.integers(1, 7),
    cut=st.integers(1, 7),
    budget=st.integers(1, 20),
)
@hypothesis_settings(max_examples=100, deadline=None)
def test_nothing_is_lost_without_a_reason(
    first: list[float], second: list[float], depth: int, fused: int, window: int, cut: int, budget: int
) -> None:
    """After the routes, what a stage was given is what it lists: kept, or dropped for a reason that it can have."""
    routes = [Fixed("one", first), Fixed("two", second)]
    limits: dict[str, Any] = {"depth": depth, "fused": fused, "window": window, "cut": cut, "budget": budget}
    pipeline = Pipeline(pets(), Settings(**limits), routes=routes, reranker=Judge())
    trace = pipeline.trace(case("?", "cat"))
    given_to = {item.id for one in trace.routes for item in one.kept}
    reasons = {
        "fuse": {"fusion_cut", "tie_cut"},
        "rerank": {"rerank_window", "rerank_cut", "tie_cut"},
        "context": {"duplicate_id", "near_duplicate", "token_budget"},
    }
    for one in trace.stages[2:]:
        assert {item.id for item in one.items} == given_to
        assert {item.drop_reason for item in one.items if not item.kept} <= reasons[one.kind]
        given_to = {item.id for item in one.kept}
    assert trace.prompt is not None
    assert (trace.prompt.tokens or 0) <= budget


# ----------------------------------------------------------------------------------- chunks


def test_a_parent_in_the_context_names_the_chunk_that_brought_it() -> None:
    whole = Collection("notes", "1", (Document("a", "cat dog bird cat fish"), Document("b", "dog")))
    cut = chunked(whole, size=2)
    trace = run(cut, Settings(**PLAIN, parents=True), [case("cat")])[0]
    assert trace.unit == "chunk"
    context = stage(trace, "context")
    assert [(item.id, item.previous_id) for item in context.kept] == [("a", "a#1")]
    assert fates(context) == {"a": "1", "a#2": "parent_replaced"}
    assert trace.prompt is not None
    assert trace.prompt.tokens == 5


# ---------------------------------------------------------------------- the whole, and its record

CASES = tuple(
    case(query, *gold, split=split)
    for query, gold, split in [
        ("cat mat", ("cat",), "dev"), ("dog", ("dog",), "dev"), ("many cats", ("cats",), "dev"),
        ("cat", ("old",), "holdout"),
    ]
)  # fmt: skip


def test_the_default_pipeline_runs_through_and_its_traces_can_be_read_back() -> None:
    traces = run(pets(*CASES), Settings(dimensions=4))
    assert [one.name for one in traces[0].stages] == ["retrieve:bm25", "retrieve:dense", "fuse", "rerank", "context"]
    for trace in traces:
        assert Trace.model_validate_json(trace.model_dump_json()) == trace
        assert trace.latency_ms is not None
        assert trace.events.index_build_s is not None
        assert (trace.events.index_bytes or 0) > 4 * 6 * 4
        assert all(one.latency_ms is not None for one in trace.stages)
    assert "3 cases" in traces[0].snapshot["reranker"]


def test_two_runs_agree_in_all_but_their_latencies() -> None:
    first, second = (run(pets(*CASES), Settings(dimensions=4)) for _ in range(2))
    assert digest_of(first) == digest_of(second)
    assert "latency_ms" in json.loads(first[0].model_dump_json())


def test_a_digest_notices_one_changed_score() -> None:
    traces = run(pets(*CASES), Settings(**PLAIN))
    item = traces[0].stages[0].items[0]
    changed = Item(**{**item.model_dump(), "score": (item.score or 0) + 1})
    first = traces[0].stages[0].model_copy(update={"items": (changed, *traces[0].stages[0].items[1:])})
    other = traces[0].model_copy(update={"stages": (first, *traces[0].stages[1:])})
    assert digest_of(traces) != digest_of([other, *traces[1:]])


@pytest.mark.parametrize(
    ("changed", "key"),
    [
        ({"k1": 1.0}, "retriever"), ({"depth": 7}, "retriever"), ({"c": 1}, "fusion"), ({"budget": 9}, "context"),
        ({"dtype": "float16"}, "embedding"), ({"dimensions": 2}, "embedding"), ({"window": 9}, "reranker"),
    ],
)  # fmt: skip
def test_the_snapshot_changes_with_what_it_names(changed: dict[str, Any], key: str) -> None:
    base: dict[str, Any] = {"dimensions": 3}
    snapshots = [Pipeline(pets(*CASES), Settings(**{**base, **more})).snapshot for more in ({}, changed)]
    different = {name for name in snapshots[0] if snapshots[0][name] != snapshots[1][name]}
    assert key in different


def test_the_snapshot_knows_the_documents() -> None:
    other = Collection("pets", "1", (*PETS[:-1], Document("twin", "another text")))
    found = [Pipeline(one, Settings(**PLAIN)).snapshot["index"] for one in (pets(), other)]
    assert found[0] != found[1]


def test_the_routes_of_a_pipeline_can_be_made_outside() -> None:
    """A route over the texts in order of ID gives the same trace as the one that the settings build."""
    asked = case("cat")
    outside = Pipeline(pets(), Settings(**PLAIN), routes=[BM25(texts(pets()))])
    found = outside.trace(asked)
    assert digest_of([found]) == digest_of([traced(asked)])
    assert found.events.index_build_s is None


@pytest.mark.parametrize(
    "wrong", [{"depth": 0}, {"dtype": "int4"}, {"unknown": 1}, {"routes": ()}, {"depth": 2.0}, {"near": 0.0}]
)
def test_settings_are_strict(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Settings(**wrong)


def test_weights_and_routes_must_match() -> None:
    with pytest.raises(ContractError, match="there must be one weight for each of 2 routes"):
        Pipeline(pets(*CASES), Settings(weights=(1.0,), dimensions=3))
    with pytest.raises(ContractError, match="each route can be asked once, got bm25, bm25"):
        Pipeline(pets(), Settings(routes=("bm25", "bm25")))


def test_weights_count_in_the_fusion() -> None:
    """Two routes that disagree: the heavier one decides."""
    routes = [Fixed("one", [2.0, 1.0]), Fixed("two", [1.0, 2.0])]
    for weights, first in (((2.0, 1.0), "a"), ((1.0, 2.0), "b")):
        assert stage(piped(routes, weights=weights), "fuse").kept[0].id == first


def test_lists_are_taken_as_well_as_tuples() -> None:
    """As they come out of a YAML file."""
    assert Settings.model_validate({"routes": ["bm25"], "weights": [2.0]}).routes == ("bm25",)


REAL = """
from rankwork.retrieval.collection import docstrings
from rankwork.retrieval.pipeline import digest_of, run
from rankwork.retrieval.settings import Settings
print(digest_of(run(docstrings(libraries=("numpy",), queries=60), Settings(dtype="bfloat16"))))
"""


@pytest.mark.slow
def test_traces_are_the_same_for_any_number_of_threads_and_hash_seed() -> None:
    found = set()
    for threads, seed in (("1", "1"), ("4", "2")):
        names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
        own = {**os.environ, **dict.fromkeys(names, threads), "PYTHONHASHSEED": seed, "TZ": f"UTC+{threads}"}
        done = subprocess.run([sys.executable, "-c", REAL], env=own, capture_output=True, text=True, check=True)
        found.add(done.stdout)
    assert len(found) == 1


def test_a_changed_pipeline_keeps_its_routes_and_gives_what_a_new_one_would() -> None:
    first = Pipeline(pets(), Settings(routes=("bm25",), reranker=None))
    changed = first.changed(fused=1, run="one")
    assert changed.routes == first.routes
    fresh = Pipeline(pets(), Settings(routes=("bm25",), reranker=None, fused=1, run="one"), routes=first.routes)
    asked = case("cat dog", PETS[0].id)
    found = [digest_of([pipeline.trace(asked)]) for pipeline in (first, changed, fresh)]
    assert found[0] != found[1] == found[2]
    with pytest.raises(ContractError, match="dtype is what routes and reranker were made by"):
        first.changed(fused=1, dtype="float16")
