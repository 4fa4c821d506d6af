"""One run a stage becomes traces; what the runs cannot say stays unknown, and what contradicts itself is refused."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankwork.errors import ContractError, InputError
from rankwork.inputs.stage_runs import traces_of_runs
from rankwork.inputs.traces import read_traces, write_traces
from rankwork.rankings import Rankings

BM25 = "q1 Q0 b 1 2.0 x\nq1 Q0 a 2 2.0 x\nq1 Q0 c 3 1.0 x\nq2 Q0 a 1 1.0 x\n"
RERANKED = "q1 Q0 c 1 0.9 x\nq1 Q0 b 2 0.1 x\n"


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    for name, text in {"bm25.trec": BM25, "rerank.trec": RERANKED}.items():
        (tmp_path / name).write_text(text)
    return {"rerank": tmp_path / "rerank.trec", "retrieve:bm25": tmp_path / "bm25.trec"}


def test_files_of_stages_become_traces(files: dict[str, Path], tmp_path: Path) -> None:
    """In the order of the stages; a query that the reranker did not see has an empty list there."""
    found = list(traces_of_runs(files, queries={"q1": "why?"}, run="r", requested={"rerank": 2}, order="rank"))
    first, second = found
    assert (first.case, first.query, first.run) == ("q1", "why?", "r")
    assert [(stage.name, [item.id for item in stage.kept]) for stage in first.stages] == [
        ("retrieve:bm25", ["b", "a", "c"]),
        ("rerank", ["c", "b"]),
    ]
    assert [stage.returned for stage in second.stages] == [1, 0]
    assert write_traces(tmp_path / "t.parquet", found) == 2
    assert list(read_traces(tmp_path / "t.parquet")) == found


def test_what_a_run_cannot_say_is_unknown(files: dict[str, Path]) -> None:
    first = next(traces_of_runs(files))
    for stage in first.stages:
        assert (stage.requested, stage.complete, stage.dtype, stage.latency_ms) == (None, False, None, None)
    assert first.prompt is None
    assert first.answer is None


@pytest.mark.parametrize(("order", "ids"), [("id_asc", "abc"), ("id_desc", "bac"), ("rank", "bac"), ("input", "bac")])
def test_ties_are_broken_as_declared(files: dict[str, Path], order: Any, ids: str) -> None:
    stage = next(traces_of_runs(files, order=order)).stages[0]
    assert "".join(item.id for item in stage.kept) == ids
    assert stage.order == order


@given(st.dictionaries(st.sampled_from("abcd"), st.integers(-2, 2), min_size=1))
def test_the_contracts_order_is_pythons(run: dict[str, int]) -> None:
    (trace,) = traces_of_runs({"retrieve:x": {"q": run}}, order="id_asc")
    assert [item.id for item in trace.stages[0].kept] == sorted(run, key=lambda name: (-run[name], name))


@pytest.mark.parametrize(
    ("runs", "options", "message"),
    [
        ({}, {}, "there must be the run of at least one stage that retrieves"),
        ({"fuse": {"q": {"a": 1}}}, {}, "there must be the run of at least one stage that retrieves"),
        ({"bm25": {"q": {"a": 1}}}, {}, "'bm25' is no stage: expected retrieve:ROUTE, fuse, rerank or context"),
        (
            {"retrieve": {"q": {"a": 1}}, "rerank": {"q": {"z": 1}}},
            {},
            "query 'q': trace of case 'q': stage rerank holds 'z', which no stage before returned",
        ),
        (
            {"retrieve": {"q": {"a": 1, "b": 1}}},
            {"requested": {"retrieve": 1}},
            "query 'q': stage retrieve: 2 items returned where 1 were asked for",
        ),
        (
            {"retrieve": {"q": {"a": 1}}},
            {"requested": {"fuse": 1}},
            "k is given for 'fuse', and the stages are retrieve",
        ),
        ({"retrieve": {"q": {"a": 2**53 + 1}}}, {}, "retrieve, query 'q': score 9007199254740993 needs more digits"),
    ],
)
def test_runs_that_make_no_trace_are_refused(runs: Any, options: Any, message: str) -> None:
    with pytest.raises(InputError) as raised:
        list(traces_of_runs(runs, **options))
    assert str(raised.value).startswith(message)


def test_ranks_that_contradict_the_scores_are_refused(tmp_path: Path) -> None:
    (tmp_path / "x.trec").write_text("q1 Q0 a 2 2.0 x\nq1 Q0 b 1 1.0 x\n")
    with pytest.raises(InputError, match=r"retrieve, query 'q1': document 'a' of rank 2 has score 2.0, more than"):
        list(traces_of_runs({"retrieve": tmp_path / "x.trec"}, order="rank"))


def test_the_order_rank_needs_ranks() -> None:
    with pytest.raises(ContractError, match="order 'rank' needs the rank column"):
        list(traces_of_runs({"retrieve": Rankings.from_dicts({"q": {"a": 1}})}, order="rank"))


def test_a_line_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "x.trec").write_text("q1 Q0 a 1 high x\n")
    with pytest.raises(InputError, match=r"x.trec line 1: score 'high'"):
        list(traces_of_runs({"retrieve": tmp_path / "x.trec"}))


def test_integer_ids_become_text() -> None:
    (trace,) = traces_of_runs({"retrieve": {"q": {7: 1.0}}})
    assert trace.stages[0].kept[0].id == "7"
