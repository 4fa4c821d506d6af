"""From a case to its trace: routes, fusion, reranking, context, each stage with what it kept, dropped and took.

Latencies are measured (`time.perf_counter`, one case at a time, as a service would answer), and so is the time to build
the indexes. `digest_of` leaves both out: everything else in a trace is the same on every run.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from rankwork.digest import digest
from rankwork.errors import ContractError
from rankwork.inputs.documents import Collection
from rankwork.retrieval import building, stages
from rankwork.retrieval.collection import drawn
from rankwork.retrieval.context import Assembler, Limits, count_tokens
from rankwork.retrieval.deadlines import Answer, Status, timed
from rankwork.retrieval.eligibility import Eligibility, Gate
from rankwork.retrieval.fusion import rrf
from rankwork.retrieval.ranked import Ranked
from rankwork.retrieval.rerank import Candidates, Cross, Floats, Learned, Reranker
from rankwork.retrieval.searching import Found, Positions, Scorer, search
from rankwork.retrieval.settings import LEARNED, Settings
from rankwork.trace import Case, DropReason, Events, Item, Prompt, Stage, Trace

_MEASURED = ("latency_ms", "index_build_s")


def run(collection: Collection, settings: Settings, cases: Sequence[Case] | None = None) -> list[Trace]:
    """The trace of each case (None: all of the collection's), in their order.

    A trace takes about as much memory as it has items; for more than some thousands of cases take them one at a time
    from `Pipeline.traces`. ContractError for settings that the collection cannot serve, such as a reranker to be
    learned from no cases.

    >>> from rankwork.inputs.documents import Document
    >>> notes = Collection("notes", "1", (Document("a", "the cat sat"), Document("b", "a dog ran")))
    >>> bm25 = Settings(routes=("bm25",), reranker=None)
    >>> [stage.name for stage in run(notes, bm25, [Case(id="q", query="dog")])[0].stages]
    ['retrieve:bm25', 'fuse', 'context']
    """
    pipeline = Pipeline(collection, settings)
    return list(pipeline.traces(collection.cases if cases is None else cases))


def digest_of(traces: Iterable[Trace]) -> str:
    """SHA-256 over the traces without what was measured of time: two runs of one recipe agree in it."""
    return digest([digest(_without_latency(trace.model_dump(mode="json"))) for trace in traces])


_BUILT = ("routes", "model", "dimensions", "dtype", "k1", "b", "reranker", "training", "seed")


class Pipeline:
    """A collection, indexed and ready to answer; `trace` answers one case.

    `routes`, `reranker` and `count` take the place of what the settings would build: any scorer of the documents in
    order of ID, any reranker, any counter of tokens. A route or reranker that raises TimeoutError, or takes longer than
    its limit, did not answer in time; one that raises another OSError (a service that cannot be reached) has failed.
    Then the others go on alone, and the stage says so.
    """

    def __init__(
        self,
        collection: Collection,
        settings: Settings,
        *,
        routes: Sequence[Scorer] | None = None,
        reranker: Reranker | None = None,
        count: Callable[[str], int] = count_tokens,
    ) -> None:
        self.settings = settings
        self.collection = collection
        self.register = stages.Register(collection)
        self.gate = Gate(self.register.documents)
        began = perf_counter()
        self.routes = tuple(building.routes(collection, settings) if routes is None else routes)
        self.events = Events(
            index_build_s=None if routes else perf_counter() - began, index_bytes=building.nbytes(self.routes)
        )
        self._count = count
        self._weights = building.weights(self.routes, settings)
        parents = {document.id: document for document in collection.parents} if settings.parents else {}
        self.assembler = Assembler(Limits(settings.budget, settings.quota, settings.near), parents, count)
        self.reranker = self._reranker() if reranker is None else reranker
        self.snapshot = building.snapshot(collection, settings, self.routes, self.reranker, count)

    def changed(self, **settings: Any) -> "Pipeline":
        """The same pipeline under other settings of fusion, window, context or limits: nothing is built or trained.

        ContractError for a setting that the routes or the reranker were made by: that takes a new pipeline.
        """
        built = next((name for name in settings if name in _BUILT), None)
        if built:
            raise ContractError(f"{built} is what routes and reranker were made by: make a new pipeline")
        chosen = Settings(**self.settings.model_dump() | settings)
        return Pipeline(self.collection, chosen, routes=self.routes, reranker=self.reranker, count=self._count)

    def traces(self, cases: Iterable[Case]) -> Iterator[Trace]:
        """The trace of each case, one at a time."""
        return map(self.trace, cases)

    def trace(self, case: Case) -> Trace:
        """What the pipeline does for one case, stage by stage."""
        began = perf_counter()
        searched = self._searched(case)
        fused, fuse = self._fuse(searched)
        reranked, rerank = self._rerank(case, searched, fused)
        context, prompt = self._context(reranked)
        after = [fuse, *([rerank] if rerank else []), context]
        return Trace(
            case=case.id,
            run=self.settings.run,
            query=case.query,
            time=case.time,
            identity=case.identity,
            unit=self.collection.unit,
            snapshot=self.snapshot,
            stages=(*(one.stage for one in searched), *after),
            prompt=prompt,
            events=self.events,
            latency_ms=(perf_counter() - began) * 1000,
        )

    def candidates(self, case: Case) -> Candidates:
        """What a reranker would look at for a case."""
        searched = self._searched(case)
        return self._candidates(case, searched, self._fused(searched).within(self.settings.window))

    # ------------------------------------------------------------------------ retrieve

    def _searched(self, case: Case) -> "list[_Searched]":
        eligibility = self.gate.of(case)
        return [self._search(route, case, eligibility) for route in self.routes]

    def _search(self, route: Scorer, case: Case, eligibility: Eligibility) -> "_Searched":
        answer = timed(
            lambda: search(route, case.query, eligibility, self.settings.depth), self.settings.route_timeout_ms
        )
        found = answer.value if answer.status == "ok" else None
        items = self._items(case, eligibility, answer)
        stage = Stage(
            kind="retrieve",
            route=route.name,
            requested=self.settings.depth,
            returned=0 if found is None else len(found.positions),
            complete=found is not None and found.complete,
            dtype=route.dtype,
            order="id_asc",
            latency_ms=answer.milliseconds,
            status=answer.status,
            parameters=_counts(eligibility, answer),
            items=items,
        )
        return _Searched(route.name, found, stage)

    def _items(self, case: Case, eligibility: Eligibility, answer: Answer[Found]) -> tuple[Item, ...]:
        if answer.value is None:
            return stages.unanswered(self.register, case, eligibility, answer.status)
        items = stages.retrieved(self.register, case, eligibility, answer.value, self.settings.depth)
        return items if answer.status == "ok" else stages.too_late(items)

    # ---------------------------------------------------------------------------- fuse

    def _fuse(self, searched: "Sequence[_Searched]") -> tuple[Ranked, Stage]:
        began = perf_counter()
        ranked = self._fused(searched)
        answered = [one for one in searched if one.found is not None]
        items = stages.cut_at(self.register, ranked.names, ranked.scores, self.settings.fused, "fusion_cut")
        stage = Stage(
            kind="fuse",
            requested=self.settings.fused,
            returned=min(len(ranked.names), self.settings.fused),
            complete=bool(answered) and len(ranked.names) <= self.settings.fused,
            dtype="exact",
            order="id_asc",
            latency_ms=(perf_counter() - began) * 1000,
            status="ok" if len(answered) == len(searched) else "degraded" if answered else "error",
            parameters={
                "rule": "rrf",
                "c": self.settings.c,
                "weights": self._weights,
                "routes": [a.name for a in answered],
            },
            items=items,
        )
        return ranked.within(self.settings.fused), stage

    def _fused(self, searched: "Sequence[_Searched]") -> Ranked:
        lists = {one.name: self._names(one.found.positions) for one in searched if one.found is not None}
        if not lists:
            return Ranked([], [])
        weights = {name: self._weights[name] for name in lists}
        fused = rrf(lists, c=self.settings.c, weights=weights, allow_disjoint=True)  # all name the same documents
        return Ranked(list(map(str, fused.ids)), list(fused.scores))

    def _names(self, positions: Positions) -> list[str]:
        return [self.register.documents[position].id for position in positions.tolist()]

    # -------------------------------------------------------------------------- rerank

    def _rerank(self, case: Case, searched: "Sequence[_Searched]", fused: Ranked) -> tuple[Ranked, Stage | None]:
        if self.reranker is None:
            return fused, None
        window = fused.within(self.settings.window)
        candidates, reranker = self._candidates(case, searched, window), self.reranker
        answer = timed(lambda: reranker.scores(candidates), self.settings.rerank_timeout_ms, skip=not window.names)
        ranked = window if answer.value is None or answer.status != "ok" else window.scored(answer.value)
        items = self._reranked_items(ranked, answer.status) + self._beyond(fused)
        stage = Stage(
            kind="rerank",
            requested=self.settings.cut,
            returned=min(len(ranked.names), self.settings.cut),
            complete=answer.status in ("ok", "skipped") and len(fused.names) <= self.settings.cut,
            window=self.settings.window,
            dtype="float64",
            order="id_asc",
            latency_ms=answer.milliseconds,
            status=answer.status,
            parameters={"looked_at": len(window.names), "scores": "reranker" if answer.status == "ok" else "fusion"},
            items=items,
        )
        return ranked.within(self.settings.cut), stage

    def _reranked_items(self, ranked: Ranked, status: Status) -> tuple[Item, ...]:
        """The cut of what was looked at; where the reranker did not answer, of the order before it."""
        reason: DropReason = "rerank_timeout" if status == "timeout" else "rerank_cut"
        return stages.cut_at(self.register, ranked.names, ranked.scores, self.settings.cut, reason)

    def _beyond(self, fused: Ranked) -> tuple[Item, ...]:
        pairs = zip(fused.names[self.settings.window :], fused.scores[self.settings.window :], strict=True)
        return tuple(self.register.dropped(name, "rerank_window", score) for name, score in pairs)

    def _candidates(self, case: Case, searched: "Sequence[_Searched]", window: Ranked) -> Candidates:
        positions = np.array([self.register.place[name] for name in window.names], np.int64)
        signals = {one.name: one.signal(positions) for one in searched}
        return Candidates(case.query, positions, {**signals, "fused": np.array(window.scores, np.float64)})

    def _reranker(self) -> Reranker | None:
        """What the settings ask for; `learned` is trained on the dev cases, at most `training` of them."""
        name = self.settings.reranker
        if name is None:
            return None
        if name != LEARNED:
            return Cross(name, self.register.documents)
        dev = [case for case in self.collection.cases if case.split == "dev" and case.requires]
        chosen = drawn(dev, min(self.settings.training, len(dev)), self.settings.seed)
        return Learned(self.register.documents).fit(map(self._example, chosen))

    def _example(self, case: Case) -> tuple[Candidates, "np.ndarray[Any, np.dtype[np.bool_]]"]:
        candidates = self.candidates(case)
        return candidates, np.array([name in case.gold for name in self._names(candidates.positions)], np.bool_)

    # ------------------------------------------------------------------------- context

    def _context(self, ranked: Ranked) -> tuple[Stage, Prompt]:
        began = perf_counter()
        placed = self.assembler.assemble([self.register.documents[self.register.place[name]] for name in ranked.names])
        shown = [place.document for place in placed if place.reason is None]
        tokens = sum(map(self.assembler.tokens, shown))
        stage = Stage(
            kind="context",
            returned=len(shown),
            complete=len(shown) == len(placed),
            order="id_asc",
            latency_ms=(perf_counter() - began) * 1000,
            status="ok" if placed else "skipped",
            parameters={
                "tokens": tokens,
                "stand_in": {place.candidate.id: place.stand_in for place in placed if place.stand_in},
            },
            items=stages.assembled(self.register, placed, dict(zip(ranked.names, ranked.scores, strict=True))),
        )
        return stage, Prompt(ids=tuple(document.id for document in shown), tokens=tokens)


@dataclass(frozen=True, eq=False)
class _Searched:
    """A route's answer for one case, None where there was none, and its stage."""

    name: str
    found: Found | None
    stage: Stage

    def signal(self, positions: Positions) -> Floats:
        """The route's scores at these positions; 0 where it does not answer."""
        if self.found is None or not len(self.found.everything):
            return np.zeros(len(positions))
        scores = self.found.everything[positions].astype(np.float64)
        return np.where(self.found.answered[positions], scores, 0.0)


def _counts(eligibility: Eligibility, answer: Answer[Found]) -> dict[str, Any]:
    """How many documents were candidates and why others were not; what the route could return; who tied at the cut."""
    found, failure = answer.value, {"error": answer.error} if answer.error else {}
    known = {} if found is None else {"answering": found.answering, "tied_at_cut": len(found.tied)}
    return {**eligibility.counts(), **known, **failure}


def _without_latency(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_latency(inner) for key, inner in value.items() if key not in _MEASURED}
    return [_without_latency(inner) for inner in value] if isinstance(value, list) else value
