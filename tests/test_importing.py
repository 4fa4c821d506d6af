"""The command that turns what other tools left into traces: one sentence for what it made, and for each mistake."""

import json
from pathlib import Path

import pytest

from rankwork.errors import InputError
from rankwork.inputs.importing import imported
from rankwork.inputs.traces import read_cases, read_traces
from tests.workbooks import rankwork


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "bm25.trec").write_text("q1 Q0 a 1 2.0 x\nq1 Q0 b 2 1.0 x\n")
    (tmp_path / "rerank.trec").write_text("q1 Q0 b 1 0.9 x\n")
    row = {"user_input": "q", "retrieved_contexts": ["one"], "reference_contexts": ["one"]}
    (tmp_path / "ragas.jsonl").write_text(json.dumps(row))
    documents = {"retrieval.documents": [{"document.id": "a"}], "openinference.span.kind": "RETRIEVER"}
    span = {"name": "bm25", "context": {"trace_id": "t", "span_id": "1"}, "attributes": documents}
    (tmp_path / "spans.jsonl").write_text(json.dumps(span))
    return tmp_path


def test_runs_become_a_file_of_traces(folder: Path) -> None:
    stages = ("retrieve:bm25=bm25.trec", "rerank=rerank.trec")
    done = rankwork("traces", "runs", *stages, "--run", "r", "--out", "t.parquet", folder=folder)
    assert (done.returncode, done.stdout) == (0, "1 traces, 0 cases\n")
    (trace,) = read_traces(folder / "t.parquet")
    assert (trace.run, [stage.name for stage in trace.stages]) == ("r", ["retrieve:bm25", "rerank"])


def test_ragas_becomes_traces_and_cases(folder: Path) -> None:
    options = ("--need", "any", "--out", "t.jsonl", "--cases", "c.jsonl")
    done = rankwork("traces", "ragas", "ragas.jsonl", *options, folder=folder)
    assert "1 traces, 1 cases\na context had no ID on both sides" in done.stdout
    (trace,), (case,) = read_traces(folder / "t.jsonl"), read_cases(folder / "c.jsonl")
    assert trace.stages[0].kept[0].id in case.gold


def test_spans_become_traces(folder: Path) -> None:
    (trace,) = imported("spans", [str(folder / "spans.jsonl")], run_name="r").traces
    assert (trace.case, trace.run, trace.stages[0].name) == ("t", "r", "retrieve:bm25")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["runs", "bm25.trec"], "a run must be given as STAGE=FILE, such as retrieve:bm25=bm25.trec, got 'bm25.trec'"),
        (["runs", "bm25=bm25.trec"], "'bm25' is no stage: expected retrieve:ROUTE, fuse, rerank or context"),
        (["spans", "a", "b"], "expected runs, spans or ragas, and one file for the last two, got spans and 2"),
        (["ragas", "ragas.jsonl"], "references of ragas need --need any or --need each"),
    ],
)
def test_a_mistake_is_one_sentence(folder: Path, arguments: list[str], message: str) -> None:
    with pytest.raises(InputError) as raised:
        imported(arguments[0], arguments[1:])
    assert str(raised.value).startswith(message)


def test_nothing_is_written_after_a_mistake(folder: Path) -> None:
    done = rankwork("traces", "spans", "missing.jsonl", "--out", "t.jsonl", folder=folder)
    assert (done.returncode, done.stderr) == (2, "error: missing.jsonl cannot be read: No such file or directory\n")
    assert not (folder / "t.jsonl").exists()
