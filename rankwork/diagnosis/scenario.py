"""A release to decide on: two systems over the knowledge base of fifty tenants, the one in use and its successor.

They differ in chunker, dense route and reranker. The baseline cuts long chunks, has a small embedding and no reranker;
the candidate cuts shorter chunks that overlap, has a larger embedding and a reranker trained on the dev split. Both see
the same documents, questions, identities and times, and both have the same context to fill.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rankwork.diagnosis.anchoring import Anchored, anchored
from rankwork.inputs.documents import Collection
from rankwork.inputs.knowledge_base import knowledge_base
from rankwork.inputs.knowledge_base.answers import System as Name
from rankwork.inputs.knowledge_base.answers import answered
from rankwork.inputs.traces import write_cases, write_traces
from rankwork.retrieval.chunking import chunked
from rankwork.retrieval.pipeline import Pipeline
from rankwork.retrieval.settings import Settings
from rankwork.trace import Case, Split, Trace

DEPTH, FUSED, WINDOW, BUDGET = 10, 20, 20, 300


@dataclass(frozen=True)
class Answered:
    """The cases as a system's chunks hold their evidence, and the trace of its answer to each, in the same order."""

    cases: tuple[Case, ...]
    traces: tuple[Trace, ...]


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

    def answered(self, whole: Collection | None = None, *, split: Split | None = None) -> Answered:
        """Cases and traces over the knowledge base (or another collection); of one split alone where it is named."""
        chunks = self.chunks(whole)
        cases = tuple(case for case in chunks.cases if split in (None, case.split))
        return Answered(cases, tuple(self.run(cases, chunks=chunks)))

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


def save(
    folder: str | os.PathLike[str], whole: Collection | None = None, *, split: Split | None = "holdout"
) -> tuple[Path, ...]:
    """Write what `rankwork gate` takes, and return the files: traces and cases of the baseline, then of the candidate.

    They are `baseline.jsonl`, `baseline.cases.jsonl`, `candidate.jsonl` and `candidate.cases.jsonl`. The reranker was
    trained on the dev split, so the holdout decides; None writes every split. InputError for a folder that cannot be
    written.

    `rankwork gate --example FOLDER` does it from the terminal, and adds a policy.
    """
    written = []
    for system in (baseline(), candidate()):
        found = system.answered(whole, split=split)
        files = [Path(folder) / f"{system.name}{ending}" for ending in (".jsonl", ".cases.jsonl")]
        write_traces(files[0], found.traces)
        write_cases(files[1], found.cases)
        written += files
    return tuple(written)
