"""Faults planted in a collection or a pipeline, each with the row of the diagnosis matrix that has to name it.

A fault gets a situation in which the evidence of one case reaches the context, and gives back one in which it does not.
`corpus` is what a diagnosis may look at: the collection that was indexed, but for a wrong permission, where what the
permissions should be is known.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankwork.inputs.documents import Collection, Document
from rankwork.retrieval.chunking import chunked
from rankwork.retrieval.pipeline import Pipeline
from rankwork.retrieval.rerank import Candidates
from rankwork.retrieval.settings import Settings
from rankwork.trace import CacheHit, Case, Citation, DropReason, Evidence, Item, Prompt, Trace


@dataclass(frozen=True)
class Situation:
    """A collection of chunks, the settings that search it, and the case whose evidence is followed."""

    collection: Collection
    settings: Settings
    case: Case
    corpus: Collection
    parts: dict[str, Any] = field(default_factory=dict)  # what takes the place of a pipeline's own parts

    @property
    def evidence(self) -> Evidence:
        """The first piece of evidence of the case."""
        return next(iter(self.case.gold.values()))

    @property
    def chunk(self) -> Document:
        """The chunk that holds it."""
        return self.collection.by_id[self.evidence.id]

    def with_documents(self, documents: Iterator[Document]) -> "Situation":
        """The same with other documents in the index, for the diagnosis as well."""
        changed = replace(self.collection, documents=tuple(documents))
        return replace(self, collection=changed, corpus=changed)

    def trace(self) -> Trace:
        """What the pipeline does for the case."""
        return Pipeline(self.collection, self.settings, **self.parts).trace(self.case)


@dataclass(frozen=True)
class Fault:
    """How to plant it, the drop reason that the pipeline writes, and the row and cause that a diagnosis has to find."""

    name: str
    plant: Callable[[Situation], Situation]
    reason: DropReason
    row: str
    cause: str


def broken_chunk_id(situation: Situation) -> Situation:
    """The indexer writes another form of the chunk's ID than the one that the evidence has."""
    other = replace(situation.chunk, id=situation.chunk.id.replace("#", "#chunk-"))
    return situation.with_documents(other if d is situation.chunk else d for d in situation.collection.documents)


def missing_document(situation: Situation) -> Situation:
    """No chunk of the source was indexed, in any revision."""
    source = situation.evidence.source
    return situation.with_documents(d for d in situation.collection.documents if d.source != source)


def outdated_revision(situation: Situation) -> Situation:
    """The index holds the revision before under the source's name, as if it held until today."""
    case, number = situation.evidence, int(situation.evidence.revision.removeprefix("r"))
    old = [d for d in situation.collection.documents if d.source == case.source and d.revision == f"r{number - 1}"]
    assert old, f"{case.source} has no revision before {case.revision}"
    others = [d for d in situation.collection.documents if d.source != case.source]
    return situation.with_documents(iter([*others, *(replace(d, valid_until=None) for d in old)]))


def rechunked_source(situation: Situation) -> Situation:
    """The source is cut anew, into shorter chunks under other IDs; the evidence still names the old ones."""
    own = [parent for parent in situation.collection.parents if parent.id == situation.chunk.id.rpartition("#")[0]]
    cut = chunked(replace(situation.collection, documents=tuple(own), cases=(), unit="document"), size=9)
    source = situation.evidence.source
    new = (replace(chunk, id=f"{chunk.id}-of-words", source=source) for chunk in cut.documents)
    kept = (
        d for d in situation.collection.documents if (d.source, d.revision) != (source, situation.evidence.revision)
    )
    return situation.with_documents(iter([*kept, *new]))


def wrong_permission(situation: Situation) -> Situation:
    """The access list of the source was copied from a document of another department."""
    source = situation.evidence.source
    closed = (
        replace(d, roles=frozenset({"auditor"})) if d.source == source else d for d in situation.collection.documents
    )
    return replace(situation.with_documents(closed), corpus=situation.corpus)


def timeout(situation: Situation) -> Situation:
    """No route answers in time."""
    size = len(situation.collection.documents)
    return replace(situation, parts={"routes": [SlowRoute("bm25", size), SlowRoute("dense", size)]})


def quota_too_small(situation: Situation) -> Situation:
    """One chunk of a source in the context, and another chunk of the same source comes first."""
    return replace(situation, settings=situation.settings.model_copy(update={"quota": 1, "near": None, "budget": None}))


def token_budget_too_small(situation: Situation) -> Situation:
    """The context is full before the evidence comes."""
    return replace(situation, settings=situation.settings.model_copy(update={"budget": 1}))


def truncating_reranker(situation: Situation) -> Situation:
    """The reranker reads the first words of each text, looks at three and keeps one: whatever is shortest."""
    settings = situation.settings.model_copy(update={"window": 3, "cut": 1})
    return replace(situation, settings=settings, parts={"reranker": FirstWords(len(situation.collection.documents))})


def narrow_window(situation: Situation) -> Situation:
    """The reranker looks at fewer candidates than stand before the evidence."""
    window = situation.settings.model_copy(update={"window": 1, "cut": 1})
    return replace(situation, settings=window, parts={"reranker": FirstWords(len(situation.collection.documents))})


def reranker_timeout(situation: Situation) -> Situation:
    """The reranker does not answer in time, and its cut leaves one in the order of the fusion."""
    settings = situation.settings.model_copy(update={"cut": 1})
    return replace(situation, settings=settings, parts={"reranker": SlowReranker()})


@dataclass(frozen=True)
class SlowRoute:
    """A route that does not answer in time."""

    name: str
    size: int
    dtype: str = "float32"
    version: str = "slow"

    def scores(self, query: str) -> NDArray[Any]:
        raise TimeoutError(f"{self.name} did not answer")

    def answers(self, scores: NDArray[Any]) -> NDArray[np.bool_]:
        return np.zeros(self.size, np.bool_)


@dataclass(frozen=True)
class FirstWords:
    """A reranker that truncates so hard that it sees nothing: the last candidate wins."""

    size: int
    version: str = "first words"

    def scores(self, candidates: Candidates) -> NDArray[np.float64]:
        return np.arange(len(candidates.positions), dtype=np.float64)


@dataclass(frozen=True)
class SlowReranker:
    """A reranker that does not answer in time."""

    version: str = "slow"

    def scores(self, candidates: Candidates) -> NDArray[np.float64]:
        raise TimeoutError("the reranker did not answer")


FAULTS = (
    Fault("broken_chunk_id", broken_chunk_id, "id_unmapped", "id_unmapped", "id_unmapped"),
    Fault("missing_document", missing_document, "not_in_corpus", "not_in_corpus", "not_in_corpus"),
    Fault("outdated_revision", outdated_revision, "superseded_revision", "not_in_corpus", "superseded_revision"),
    Fault("rechunked_source", rechunked_source, "id_unmapped", "id_unmapped", "id_unmapped"),
    Fault("wrong_permission", wrong_permission, "acl_filtered", "filtered_wrongly", "acl_filtered_wrongly"),
    Fault("timeout", timeout, "route_timeout", "in_no_route", "route_timeout"),
    Fault("quota_too_small", quota_too_small, "quota", "lost_in_context", "quota"),
    Fault("token_budget_too_small", token_budget_too_small, "token_budget", "lost_in_context", "token_budget"),
    Fault("truncating_reranker", truncating_reranker, "rerank_cut", "lost_in_rerank", "rerank_cut"),
    Fault("narrow_window", narrow_window, "rerank_window", "lost_in_rerank", "rerank_window"),
    Fault("reranker_timeout", reranker_timeout, "rerank_timeout", "lost_in_rerank", "rerank_timeout"),
)


# ---------------------------------------------------------------------------------------------------- leaks


def leak_into_stage(trace: Trace, kind: str, stolen: Document) -> Trace:
    """A document put at the end of a stage's list: of every route for `retrieve`, or of the one stage of that kind.

    A stage after a retrieval can only hold what the stage before it returned, so it is put there as well.
    """
    order = ("retrieve", "fuse", "rerank", "context")
    reached = order[: order.index(kind) + 1]
    stages = (_longer(stage, stolen) if stage.kind in reached else stage for stage in trace.stages)
    return trace.model_copy(update={"stages": tuple(stages)})


def _longer(stage: Any, stolen: Document) -> Any:
    item = Item(id=stolen.id, rank=stage.returned + 1, tenant=stolen.tenant, source=stolen.source)
    changed = {"items": (*stage.kept, item, *(i for i in stage.items if not i.kept)), "returned": stage.returned + 1}
    longer = None if stage.requested is None else max(stage.requested, stage.returned + 1)
    return stage.model_copy(update={**changed, "requested": longer})


def leak_into_prompt(trace: Trace, stolen: Document) -> Trace:
    """A document that is in the prompt and in no list."""
    shown = trace.prompt.ids if trace.prompt else ()
    return trace.model_copy(update={"prompt": Prompt(ids=(*shown, stolen.id))})


def leak_into_citations(trace: Trace, stolen: Document) -> Trace:
    """A document that is cited and in no list."""
    cited = Citation(id=stolen.id, source=stolen.source, revision=stolen.revision)
    return trace.model_copy(update={"citations": (*(trace.citations or ()), cited)})


def leak_into_cache(trace: Trace, stolen: Document) -> Trace:
    """A cached value that was made for another tenant and holds its document."""
    hit = CacheHit(key="answer", tenant=stolen.tenant, ids=(stolen.id,))
    return trace.model_copy(
        update={"events": trace.events.model_copy(update={"cache_hits": (hit,), "cache_lookups": 1})}
    )


def leak_into_trace(trace: Trace, stolen: Document) -> Trace:
    """A document among what a route dropped: nobody was shown it, and its ID is written in the trace."""
    first, *others = trace.stages
    item = Item(id=stolen.id, kept=False, drop_reason="below_route_k", tenant=stolen.tenant, source=stolen.source)
    return trace.model_copy(update={"stages": (first.model_copy(update={"items": (*first.items, item)}), *others)})
