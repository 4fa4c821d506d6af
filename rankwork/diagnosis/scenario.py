"""A release to decide on: two systems over the knowledge base of fifty tenants, the one in use and its successor.

They differ in chunker, dense route and reranker. The baseline cuts long chunks, has a small embedding and no reranker;
the candidate cuts shorter chunks that overlap, has a larger embedding and a reranker trained on the dev split. Both see
the same documents, questions, identities and times, and both have the same context to fill.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from rankwork.diagnosis.anchoring import Anchored, anchored
from rankwork.inputs.documents import Collection
from rankwork.inputs.knowledge_base import knowledge_base
from rankwork.inputs.knowledge_base.answers import System as Name
from rankwork.inputs.knowledge_base.answers import answered
from rankwork.retrieval.chunking import chunked
from rankwork.retrieval.pipeline import Pipeline
from rankwork.retrieval.settings import Settings
from rankwork.trace import Case, Trace

DEPTH, FUSED, WINDOW, BUDGET = 10, 20, 20, 300


@dataclass(frozen=True)
class System:
    """One of the two: chunks of `size` characters of which `overlap` are those of the chunk before, and its settings.

    >>> baseline().size, candidate().size, baseline().settings.reranker, candidate().settings.reranker
    (500, 240, None, 'learned')
    """

    name: Name
    size: int
    overlap: int
    settings: Settings

    def chunks(self, whole: Collection | None = None) -> Collection:
        """Its chunks of the knowledge base (or of another collection), with the cases whose evidence they hold."""
        return self.anchored(whole)[0]

    def anchored(self, whole: Collection | None = None) -> tuple[Collection, Anchored]:
        """The same, and how the evidence was found on the chunks; stale cases are not in the collection."""
        whole = knowledge_base() if whole is None else whole
        cut = chunked(whole, size=self.size, overlap=self.overlap, unit="characters")
        found = anchored(whole.cases, cut.documents)
        return replace(cut, cases=found.cases), found

    def run(self, cases: Sequence[Case] | None = None, *, chunks: Collection | None = None) -> list[Trace]:
        """The traces of cases that are anchored on its chunks (None: all), each with its labelled answer.

        The answers are written from templates, by declared shares of behaviours (`knowledge_base_answers`): no model is
        called, and the snapshot says so.
        """
        chunks = self.chunks() if chunks is None else chunks
        traces = Pipeline(chunks, self.settings).traces(chunks.cases if cases is None else cases)
        return [self._named(trace) for trace in answered(traces, chunks, self.name)]

    def _named(self, trace: Trace) -> Trace:
        written = {"prompt": "none", "generator": f"templates, shares of the {self.name}", "judge": "labels as written"}
        return trace.model_copy(update={"snapshot": {**trace.snapshot, **written}})


def baseline() -> System:
    """The system in use."""
    return System("baseline", 500, 0, _settings("baseline", dimensions=48, reranker=None))


def candidate() -> System:
    """The system that is to take its place."""
    return System("candidate", 240, 60, _settings("candidate", dimensions=200, reranker="learned", cut=8))


def _settings(run: Name, *, dimensions: int, reranker: str | None, cut: int = FUSED) -> Settings:
    return Settings(
        run=run,
        depth=DEPTH,
        dimensions=dimensions,
        fused=FUSED,
        reranker=reranker,
        window=WINDOW,
        cut=cut,
        budget=BUDGET,
    )
