"""Spans of three exports become the same traces; what spans do not say stays unknown, and what stood in is noted."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from rankwork.errors import InputError
from rankwork.inputs.imported import Imported, content_id
from rankwork.inputs.spans import traces_of_spans
from rankwork.trace import Item, Usage

Documents = Iterable[dict[str, Any]]


def flat(prefix: str, documents: Documents) -> dict[str, Any]:
    return {
        f"{prefix}.{place}.document.{name}": value
        for place, document in enumerate(documents)
        for name, value in document.items()
    }


def span(
    kind: str, name: str, number: int, *, parent: int | None = 0, trace: str = "t1", **attributes: Any
) -> dict[str, Any]:
    return {
        "name": name,
        "context": {"trace_id": trace, "span_id": str(number)},
        "parent_id": None if parent is None else str(parent),
        "start_time": f"2026-03-01T10:00:0{number}Z",
        "end_time": f"2026-03-01T10:00:0{number}.250000Z",
        "status": {"status_code": "OK"},
        "attributes": {
            "openinference.span.kind": kind,
            **{key.replace("__", "."): held for key, held in attributes.items()},
        },
    }


def scored(*pairs: tuple[str, float]) -> list[dict[str, Any]]:
    return [{"id": name, "score": score, "content": f"text of {name}"} for name, score in pairs]


ROOT = span(
    "CHAIN", "ask", 0, parent=None, input__value="why?", output__value="Because.", session__id="s", user__id="u"
)
BM25 = span("RETRIEVER", "bm25", 1, input__value="why?")
BM25["attributes"] |= flat("retrieval.documents", scored(("a", 3.0), ("b", 2.0)))
DENSE = span("RETRIEVER", "dense", 2)
DENSE["attributes"] |= flat("retrieval.documents", scored(("b", 0.9), ("c", 0.8)))
RERANK = span("RERANKER", "rerank", 3, reranker__top_k=2, reranker__model_name="cross")
RERANK["attributes"] |= flat("reranker.input_documents", scored(("a", 3.0), ("b", 2.0), ("c", 0.8)))
RERANK["attributes"] |= flat("reranker.output_documents", scored(("c", 0.99), ("a", 0.5)))
LLM = span("LLM", "model", 4, llm__model_name="m", llm__token_count__prompt=90, llm__token_count__completion=7)
ALL = [ROOT, BM25, DENSE, RERANK, LLM]


def imported(folder: Path, spans: Iterable[Any], **options: Any) -> Imported:
    (folder / "spans.jsonl").write_text("\n".join(map(json.dumps, spans)))
    return traces_of_spans(folder / "spans.jsonl", **options)


def test_spans_become_a_trace(tmp_path: Path) -> None:
    (trace,) = imported(tmp_path, ALL, run="r").traces
    assert (trace.case, trace.run, trace.query, trace.answer) == ("t1", "r", "why?", "Because.")
    assert [stage.name for stage in trace.stages] == ["retrieve:bm25", "retrieve:dense", "rerank"]
    assert trace.stages[0].items == (Item(id="a", rank=1, score=3.0), Item(id="b", rank=2, score=2.0))
    assert {stage.latency_ms for stage in trace.stages} == {250.0}
    assert trace.usage == (Usage(model="m", calls=1, input_tokens=90, output_tokens=7),)
    assert trace.time is not None
    assert trace.time.isoformat() == "2026-03-01T10:00:00+00:00"


def test_a_reranker_cuts_what_it_was_given_and_did_not_return(tmp_path: Path) -> None:
    rerank = imported(tmp_path, ALL).traces[0].stage("rerank")
    assert rerank is not None
    assert (rerank.requested, rerank.window, rerank.returned) == (2, 3, 2)
    assert rerank.parameters == {"model": "cross"}
    assert rerank.items[2:] == (Item(id="b", kept=False, drop_reason="rerank_cut"),)


def test_a_reranker_that_returned_fewer_dropped_for_a_reason_nobody_knows(tmp_path: Path) -> None:
    rerank = json.loads(json.dumps(RERANK))
    rerank["attributes"]["reranker.top_k"] = 5
    found = imported(tmp_path, [BM25, DENSE, rerank]).traces[0].stage("rerank")
    assert found is not None
    assert found.items[2].drop_reason is None


def test_what_spans_do_not_say_is_unknown(tmp_path: Path) -> None:
    (trace,) = imported(tmp_path, ALL).traces
    for stage in trace.stages:
        assert (stage.dtype, stage.order, stage.complete) == (None, None, False)
        assert {item.acl for item in stage.items} == {None}
    assert [trace.prompt, trace.refused, trace.claims, trace.events.cache_hits] == [None] * 4
    assert '"u"' not in trace.model_dump_json()


def nested(value: dict[str, Any]) -> dict[str, Any]:
    """Attributes as a Phoenix table has them: lists of documents."""
    documents = [
        {f"document.{name}": value[f"retrieval.documents.{place}.document.{name}"] for name in ("id", "score")}
        for place in range(2)
    ]
    return {"attributes.retrieval.documents": documents, "attributes.input.value": "why?"}


def phoenix(exported: dict[str, Any]) -> dict[str, Any]:
    columns = {"name": exported["name"], "span_kind": "RETRIEVER", "parent_id": None, "status_code": "OK"}
    context = {f"context.{name}": held for name, held in exported["context"].items()}
    return {**columns, **context, **nested(exported["attributes"])}


def otlp_value(value: Any) -> dict[str, Any]:
    return {"doubleValue": value} if isinstance(value, float) else {"stringValue": value}


def otlp(exported: dict[str, Any]) -> dict[str, Any]:
    attributes = [{"key": name, "value": otlp_value(held)} for name, held in exported["attributes"].items()]
    ids = {
        "traceId": "t1",
        "spanId": "1",
        "startTimeUnixNano": "1772359201000000000",
        "endTimeUnixNano": "1772359201250000000",
    }
    return {"resourceSpans": [{"scopeSpans": [{"spans": [{"name": "bm25", **ids, "attributes": attributes}]}]}]}


@pytest.mark.parametrize("export", [phoenix, otlp])
def test_the_shapes_of_three_exports_are_one(tmp_path: Path, export: Any) -> None:
    expected = imported(tmp_path, [BM25]).traces[0]
    (found,) = imported(tmp_path, [export(BM25)]).traces
    assert [stage.items for stage in found.stages] == [stage.items for stage in expected.stages]
    assert (found.case, found.query, found.stages[0].name) == ("t1", "why?", "retrieve:bm25")
    if export is otlp:
        assert (found.time, found.latency_ms) == (expected.time, 250.0)


@pytest.mark.parametrize("as_text", [True, False])
def test_opentelemetrys_retrieval_documents_are_read(tmp_path: Path, as_text: bool) -> None:
    documents: Any = [{"id": "doc_1", "score": 0.95}, {"id": "doc_2", "score": 0.87}]
    held = json.dumps(documents) if as_text else documents
    one = span("", "retrieval kb", 1, gen_ai__retrieval__query__text="why?", gen_ai__retrieval__documents=held)
    (trace,) = imported(tmp_path, [one]).traces
    assert trace.query == "why?"
    assert [(item.id, item.score) for item in trace.stages[0].kept] == [("doc_1", 0.95), ("doc_2", 0.87)]


def test_a_document_without_an_id_gets_one_from_its_content_and_that_is_noted(tmp_path: Path) -> None:
    """The same digest in every stage, so that the reranker's documents are the retriever's."""
    bare = span("RETRIEVER", "r", 1)
    bare["attributes"] |= flat("retrieval.documents", [{"content": "one"}, {"content": "two"}])
    ranked = span("RERANKER", "x", 2)
    for which in ("input", "output"):
        ranked["attributes"] |= flat(f"reranker.{which}_documents", [{"content": "two"}])
    found = imported(tmp_path, [bare, ranked])
    assert found.traces[0].stages[1].kept[0].id == content_id("two")
    assert found.notes == ("a document had no ID: a digest of its content serves (4 times)",)
    assert str(found).startswith("1 traces, 0 cases\n")


def test_a_retriever_above_others_is_their_fusion(tmp_path: Path) -> None:
    outer = span("RETRIEVER", "ensemble", 5)
    outer["attributes"] |= flat("retrieval.documents", scored(("b", 0.5), ("a", 0.4)))
    below = [{**one, "parent_id": "5"} for one in (BM25, DENSE)]
    (trace,) = imported(tmp_path, [ROOT, outer, *below]).traces
    assert [stage.name for stage in trace.stages] == ["retrieve:bm25", "retrieve:dense", "fuse"]


def test_routes_of_one_name_are_numbered(tmp_path: Path) -> None:
    again = json.loads(json.dumps(BM25))
    again["context"]["span_id"] = "9"
    (trace,) = imported(tmp_path, [BM25, again]).traces
    assert [stage.route for stage in trace.stages] == ["bm25", "bm25#2"]


def test_distances_are_no_scores(tmp_path: Path) -> None:
    distances = span("RETRIEVER", "faiss", 1)
    distances["attributes"] |= flat("retrieval.documents", scored(("a", 0.1), ("b", 0.4)))
    found = imported(tmp_path, [distances])
    assert [item.score for item in found.traces[0].stages[0].kept] == [None, None]
    assert found.notes == ("scores rise with the rank, as distances do: they were left out",)


def test_a_document_twice_keeps_its_first_place(tmp_path: Path) -> None:
    twice = span("RETRIEVER", "r", 1)
    twice["attributes"] |= flat("retrieval.documents", scored(("a", 3.0), ("b", 2.0), ("a", 1.0)))
    found = imported(tmp_path, [twice])
    assert found.traces[0].stages[0].items[2] == Item(id="a", kept=False, drop_reason="duplicate_id")
    assert found.notes == ("a document stood in one list more than once: its first place was kept",)


def test_ten_documents_keep_their_order(tmp_path: Path) -> None:
    """By number, not by the text of the number."""
    many = span("RETRIEVER", "r", 1)
    many["attributes"] |= flat("retrieval.documents", [{"id": str(number)} for number in range(12)])
    (trace,) = imported(tmp_path, [many]).traces
    assert [item.id for item in trace.stages[0].kept] == [str(number) for number in range(12)]


def test_an_attribute_can_name_the_case(tmp_path: Path) -> None:
    named = {**ROOT, "attributes": {**ROOT["attributes"], "metadata": {"case": "c7"}}}
    assert imported(tmp_path, [named, BM25], case="metadata.case").traces[0].case == "c7"
    with pytest.raises(InputError, match=r"^trace t1: no span has the attribute 'metadata.case'"):
        imported(tmp_path, [ROOT, BM25], case="metadata.case")


@pytest.mark.parametrize("units", [10**3, 10**6, 10**9])
def test_times_are_milli_micro_or_nanoseconds(tmp_path: Path, units: int) -> None:
    one = {**BM25, "start_time": 1772359201 * units, "end_time": 1772359202 * units}
    (trace,) = imported(tmp_path, [one]).traces
    assert trace.time is not None
    assert (trace.time.isoformat(), trace.latency_ms) == ("2026-03-01T10:00:01+00:00", 1000.0)


def test_a_failed_retriever_is_one(tmp_path: Path) -> None:
    failed = {**BM25, "status": {"status_code": "ERROR"}}
    assert imported(tmp_path, [failed]).traces[0].stages[0].status == "error"


STRANGER = span("RERANKER", "x", 2)
STRANGER["attributes"] |= flat("reranker.output_documents", [{"id": "z"}])
BARE = span("RETRIEVER", "r", 1)
BARE["attributes"] |= flat("retrieval.documents", [{"score": 0.5}])


@pytest.mark.parametrize(
    ("spans", "message"),
    [
        ([ROOT, LLM], "trace t1: it has no span of kind RETRIEVER"),
        ([BM25, RERANK, RERANK], "trace t1: it has 2 rerankers"),
        ([BM25, STRANGER], "trace t1: trace of case 't1': stage rerank holds 'z', which no stage before returned"),
        ([BARE], "trace t1: document 0 of span 'r' has neither ID nor content"),
        ([{"name": "x"}], "spans.jsonl line 1: expected a span with a trace ID"),
        (["text"], "spans.jsonl line 1: expected a JSON object, got str"),
        (
            [{**BM25, "start_time": "noon"}],
            "spans.jsonl line 1: start time 'noon' is neither an ISO time",
        ),
        (
            [{**BM25, "attributes": ["x"]}],
            "spans.jsonl line 1: attributes, context and status of a span must be objects",
        ),
        ([{**BM25, "context": "t1"}], "spans.jsonl line 1: attributes, context and status of a span must be objects"),
        ([{"resourceSpans": [{}]}], "spans.jsonl line 1: resourceSpans must hold scopeSpans"),
        (
            [span("", "r", 1, gen_ai__retrieval__documents="[1]")],
            "trace t1: gen_ai.retrieval.documents of span 'r' is no",
        ),
        ([], "spans.jsonl is empty"),
    ],
)
def test_spans_that_make_no_trace_are_refused(tmp_path: Path, spans: list[Any], message: str) -> None:
    with pytest.raises(InputError) as raised:
        imported(tmp_path, spans)
    assert str(raised.value).startswith(message)
