"""Traces from OpenInference spans, and from retrieval spans by OpenTelemetry's conventions for generative AI.

What spans carry: for each retriever its documents, for each reranker what it was given and what it returned, calls and
tokens of models, the answer, times. What they do not carry stays None: tie rules, score types, permissions, reasons,
what entered the prompt. IDs of sessions and users are not taken over.

Where a retriever has retrievers below it, their lists are routes and its own is their fusion. A reranker's input is its
window: what it was given and did not return was cut, if it returned as many as asked for.
"""

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from pydantic import ValidationError

from rankwork.errors import InputError
from rankwork.inputs.imported import Imported, content_id, counted
from rankwork.inputs.refusals import refusal
from rankwork.inputs.span_lines import Span, read_spans
from rankwork.trace import Item, Stage, Trace, Usage

_DOCUMENT = r"\.(\d+)\.(?:document\.)?(id|score|content)"
_OTEL = "gen_ai.retrieval.documents"


def traces_of_spans(path: str | os.PathLike[str], *, run: str = "", case: str = "") -> Imported:
    """The traces of a file of spans, JSON lines as exported, in the order in which their first span stands.

    `case` is the attribute whose value names the case (on any span of the trace), such as `metadata.case`; without it
    the trace ID does. Documents without an ID get one from their content, and a note says so. InputError, with the
    line, for what is no span; with the trace, for spans that make no trace: no retriever, two rerankers, a reranker
    that was given what no retriever returned.
    """
    grouped: dict[str, list[Span]] = {}
    for span in read_spans(path):
        grouped.setdefault(span.trace, []).append(span)
    if not grouped:
        raise InputError(f"{os.path.basename(path)} is empty")
    made = [_Spans(trace, spans, run, case) for trace, spans in grouped.items()]
    traces = tuple(one.trace() for one in made)
    return Imported(traces, notes=counted(note for one in made for note in one.notes))


@dataclass
class _Spans:
    """The spans of one trace, and what there is to say about them."""

    name: str
    spans: list[Span]
    run: str
    case: str
    notes: list[str] = field(default_factory=list)

    def trace(self) -> Trace:
        try:
            return Trace(
                case=self._case(),
                run=self.run,
                query=self._query(),
                time=self._root.start,
                stages=tuple(self._stages()),
                answer=self._answer(),
                usage=self._usage(),
                latency_ms=self._root.latency_ms,
            )
        except ValidationError as error:
            raise InputError(f"trace {self.name}: {refusal(error)}") from error

    @property
    def _root(self) -> Span:
        return next((span for span in self.spans if span.parent is None), self.spans[0])

    def _case(self) -> str:
        if not self.case:
            return self.name
        found = [span.attributes[self.case] for span in self.spans if self.case in span.attributes]
        if not found:
            raise InputError(f"trace {self.name}: no span has the attribute {self.case!r} that is to name its case")
        return str(found[0])

    def _query(self) -> str:
        names = ("input.value", "gen_ai.retrieval.query.text", "reranker.query")
        return next((text for span in (*self._retrievers, self._root) if (text := span.text(*names))), "")

    def _answer(self) -> str | None:
        return self._root.text("output.value") if self._root.kind in ("CHAIN", "AGENT", "LLM") else None

    def _usage(self) -> tuple[Usage, ...] | None:
        found = tuple(_usage(span) for span in self.spans if span.kind == "LLM" and span.text("llm.model_name"))
        return found or None

    @property
    def _retrievers(self) -> list[Span]:
        found = [span for span in self.spans if span.kind == "RETRIEVER" or _lists_documents(span)]
        return sorted(found, key=lambda span: (span.start is None, span.start))

    @property
    def _rerankers(self) -> list[Span]:
        return [span for span in self.spans if span.kind == "RERANKER"]

    def _stages(self) -> Iterator[Stage]:
        rerankers, retrievers = self._rerankers, self._retrievers
        if not retrievers:
            raise InputError(f"trace {self.name}: it has no span of kind RETRIEVER with documents")
        if len(rerankers) > 1:
            raise InputError(f"trace {self.name}: it has {len(rerankers)} rerankers, and a trace holds one such stage")
        outer = [span for span in retrievers if self._below(span, retrievers)]
        leaves = [span for span in retrievers if span not in outer]
        for span, route in zip(leaves, _distinct([span.name for span in leaves]), strict=True):
            yield self._stage(span, "retrieve", self._items(span, "retrieval.documents"), route=route)
        if len(outer) > 1:
            self.notes.append("a retriever between the outermost and the innermost was left out")
        for span in outer[:1]:
            yield self._stage(span, "fuse", self._items(span, "retrieval.documents"))
        for span in rerankers:
            yield self._reranked(span)

    def _below(self, span: Span, retrievers: list[Span]) -> bool:
        """Whether a retriever has another one below it."""
        parents = {other.id: other.parent for other in self.spans}
        for other in retrievers:
            above, steps = other.parent, len(parents)
            while above and steps:
                if above == span.id and other is not span:
                    return True
                above, steps = parents.get(above), steps - 1
        return False

    def _stage(self, span: Span, kind: Any, items: tuple[Item, ...], **fields: Any) -> Stage:
        kept = sum(item.kept for item in items)
        fields |= {"status": "error" if span.failed else "ok", "latency_ms": span.latency_ms}
        return Stage(kind=kind, returned=kept, items=items, **fields)

    def _reranked(self, span: Span) -> Stage:
        given, kept = self._items(span, "reranker.input_documents"), self._items(span, "reranker.output_documents")
        asked, returned = span.number("reranker.top_k"), sum(item.kept for item in kept)
        out = {item.id for item in kept if item.kept}
        reason: Any = "rerank_cut" if asked == returned else None
        gone = tuple(
            Item(id=item.id, kept=False, drop_reason=reason) for item in given if item.kept and item.id not in out
        )
        model = span.text("reranker.model_name")
        window = sum(item.kept for item in given) or None
        parameters = {"model": model} if model else {}
        return self._stage(span, "rerank", (*kept, *gone), requested=asked, window=window, parameters=parameters)

    def _items(self, span: Span, prefix: str) -> tuple[Item, ...]:
        documents = _documents(span, prefix)
        ids = [self._id(span, place, document) for place, document in enumerate(documents)]
        kept = [place for place, name in enumerate(ids) if name not in ids[:place]]
        scores = self._scores([documents[place].get("score") for place in kept])
        ranked = [Item(id=ids[place], rank=rank, score=scores[rank - 1]) for rank, place in enumerate(kept, 1)]
        again = [name for place, name in enumerate(ids) if place not in kept]
        if again:
            self.notes.append("a document stood in one list more than once: its first place was kept")
        return (*ranked, *(Item(id=name, kept=False, drop_reason="duplicate_id") for name in again))

    def _id(self, span: Span, place: int, document: Mapping[str, Any]) -> str:
        if document.get("id") not in (None, ""):
            return str(document["id"])
        if not document.get("content"):
            raise InputError(f"trace {self.name}: document {place} of span {span.name!r} has neither ID nor content")
        self.notes.append("a document had no ID: a digest of its content serves")
        return content_id(str(document["content"]))

    def _scores(self, scores: list[Any]) -> list[Any]:
        known = [score for score in scores if isinstance(score, int | float)]
        if any(later > earlier for earlier, later in pairwise(known)):
            self.notes.append("scores rise with the rank, as distances do: they were left out")
            return [None] * len(scores)
        return scores


def _lists_documents(span: Span) -> bool:
    return any(name.startswith(_OTEL) for name in span.attributes)


def _documents(span: Span, prefix: str) -> list[dict[str, Any]]:
    """The documents of a list, each with what it has of id, score and content, in their order."""
    found: dict[int, dict[str, Any]] = {}
    for source in (prefix, _OTEL) if prefix.startswith("retrieval") else (prefix,):
        for name, value in _with_parsed(span, source).items():
            match = re.fullmatch(re.escape(source) + _DOCUMENT, name)
            if match and value is not None:
                found.setdefault(int(match[1]), {})[match[2]] = value
    return [found[place] for place in sorted(found)]


def _with_parsed(span: Span, source: str) -> Mapping[str, Any]:
    """The attributes; a list that was exported as JSON text is read."""
    text = span.attributes.get(source)
    if not isinstance(text, str):
        return span.attributes
    try:
        rows = json.loads(text)
        return {f"{source}.{place}.{key}": held for place, row in enumerate(rows) for key, held in row.items()}
    except (ValueError, AttributeError, TypeError) as error:
        raise InputError(f"trace {span.trace}: {source} of span {span.name!r} is no JSON list of documents") from error


def _usage(span: Span) -> Usage:
    tokens = "llm.token_count."
    cost = span.number("llm.cost.total")
    return Usage(
        model=span.text("llm.model_name") or "",
        calls=1,
        input_tokens=span.number(f"{tokens}prompt"),
        output_tokens=span.number(f"{tokens}completion"),
        cost=cost,
        currency=None if cost is None else "USD",
    )


def _distinct(names: Iterable[str]) -> list[str]:
    """Route names; one that stands twice is numbered."""
    made: list[str] = []
    for name in names:
        number, tried = 1, name
        while tried in made:
            number += 1
            tried = f"{name}#{number}"
        made.append(tried)
    return made
