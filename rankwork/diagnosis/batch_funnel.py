"""One batch of traces through the funnel: its stages one after the other, each with its gold, measures and ranges."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rankwork.diagnosis.candidates import WHOLE, Candidates, candidates
from rankwork.diagnosis.comparability import Frame
from rankwork.diagnosis.corpus import Corpus
from rankwork.diagnosis.facts import AnswerFacts
from rankwork.diagnosis.followed import Followed, FollowedStage
from rankwork.diagnosis.fused_ranks import FusedRanks, fused_ranks
from rankwork.diagnosis.gold import Gold
from rankwork.diagnosis.inherited import Inherited, bounds
from rankwork.diagnosis.stage_coverage import coverage_values
from rankwork.diagnosis.stage_measures import StageValues, stage_values
from rankwork.diagnosis.trace_columns import Bools, Floats, Ints, TraceColumns
from rankwork.diagnosis.tracking import StageColumns, Track, stages_of, track
from rankwork.diagnosis.upstream import Upstream, after
from rankwork.protocol import Protocol
from rankwork.trace import Identity

Measured = tuple[str, StageValues, Inherited]


@dataclass(frozen=True, eq=False)
class BatchStage:
    """A stage with the track of the gold in it, and its measures."""

    columns: StageColumns
    track: Track
    measures: Sequence[Measured]


@dataclass(frozen=True, eq=False)
class BatchFunnel:
    """The stages of a batch; `arrived` says which gold is in the last stage, and in the prompt where there is one."""

    columns: TraceColumns
    gold: Gold
    stages: tuple[BatchStage, ...]
    arrived: Bools
    in_prompt: tuple[bool | None, ...]

    @classmethod
    def of(
        cls, columns: TraceColumns, gold: Gold, k: int | None, protocol: Protocol, *, independent: bool = False
    ) -> "BatchFunnel":
        """Follow the gold through all stages; `independent` says that the reranker reads no score of the fusion."""
        walk = _Walk(columns, gold, k, protocol, independent)
        for stage in walk.stages:
            walk.enter(stage)
        walk.finish()
        in_prompt = _in_prompt(columns, gold, walk.codes)
        shown = np.array([there is not False for there in in_prompt] or np.ones(len(gold)), bool)
        return cls(columns, gold, tuple(walk.done), walk.reachable & walk.ran & shown, in_prompt)

    def followed(self, corpus: Corpus | None, answers: tuple[AnswerFacts, ...], frames: Sequence[Frame]) -> Followed:
        """What is kept of the batch for its diagnosis."""
        gold = self.gold
        stages = (FollowedStage.of(stage.columns, stage.track, gold, self.columns.ids, corpus) for stage in self.stages)
        places: tuple[Any, ...] = ()
        if corpus:
            asked = [(Identity(tenant=frame.identity[0], role=frame.identity[1]), frame.time) for frame in frames]
            traces = gold.trace.tolist()
            places = tuple(corpus.place(piece, *asked[t]) for piece, t in zip(gold.evidence, traces, strict=True))
        return Followed(self.columns.cases, gold.trace, gold.evidence, tuple(stages), self.in_prompt, answers, places)


class _Walk:
    """The gold on its way: the IDs that it goes by, what still holds it, and what ties have left open so far."""

    def __init__(self, columns: TraceColumns, gold: Gold, k: int | None, protocol: Protocol, independent: bool) -> None:
        self.independent = independent
        self.columns, self.gold, self.k, self.protocol = columns, gold, k, protocol
        self.stages = stages_of(columns)
        self.codes = gold.code
        self.reachable = np.ones(len(gold), bool)
        self.ran = np.zeros(len(gold), bool)
        self.upstream = Upstream.nothing(len(columns))
        self.routes_of_fusion: list[tuple[StageColumns, Track, Candidates]] = []
        self.routes: list[tuple[StageColumns, Track, Candidates]] = []
        self.done: list[BatchStage] = []
        exponential = protocol.gain == "exponential"
        grade = gold.grade.astype(np.float64)
        self.gains: Floats = 2.0**grade - 1 if exponential else grade

    def enter(self, stage: StageColumns) -> None:
        """Measure a stage and go on behind it."""
        if stage.kind != "retrieve" and self.routes:
            self._leave_routes()
        parents = self._stand_ins(stage) if stage.kind == "context" else None
        found = track(stage, self.gold, self.codes, len(self.columns.ids), parents)
        cut = candidates(stage, self.gold, found, self.reachable, self.k, self._given(stage))
        fused = self._fused(stage) if stage.kind == "fuse" else None
        if fused is not None:  # its routes show all that it could have kept
            cut = replace(cut, depth=np.where(fused.clear, -1, cut.depth))
        measures = [(name, own, self._inherited(stage, name, own, cut, fused)) for name, own in self._own(stage, cut)]
        self.done.append(BatchStage(stage, found, measures))
        self.ran |= found.ran
        if stage.kind == "retrieve":
            self.routes.append((stage, found, cut))
            return
        self._leave(stage, found, cut, fused)

    def _stand_ins(self, stage: StageColumns) -> Ints | None:
        """The ID that stands for each piece of gold in the context, by the stage's parameters; -1 for none."""
        texts = stage.stages.parameters
        maps = [json.loads(text).get("stand_in") or {} if "stand_in" in text else {} for text in texts.words] + [{}]
        if not any(maps):
            return None
        of_trace = dict(zip(stage.stages.trace.tolist(), texts.codes.tolist(), strict=True))
        names = [self.columns.ids[code].as_py() if code >= 0 else "" for code in self.codes.tolist()]
        held = zip(self.gold.trace.tolist(), names, strict=True)
        return self.columns.codes_of([maps[of_trace.get(trace, -1)].get(name, "") for trace, name in held])

    def _given(self, stage: StageColumns) -> Ints | None:
        """How many items the stage before handed on; None for a route, and for a fusion of several."""
        if stage.kind in ("retrieve", "fuse"):
            return None
        given = np.zeros(len(self.columns), np.int64)
        for before in self.done:
            if before.columns.kind != "retrieve" or len(self.routes_of_fusion) == 1:
                given[before.columns.stages.trace] = before.columns.stages.returned
            else:
                given[before.columns.stages.trace] = WHOLE
        return given[stage.stages.trace]

    def _own(self, stage: StageColumns, cut: Candidates) -> list[tuple[str, StageValues]]:
        values = list(stage_values(cut, self.protocol))
        return [*values, *coverage_values(cut, self.gold, stage.stages.trace)]

    def _fused(self, stage: StageColumns) -> FusedRanks:
        routes = [(route, self._whole(route, found, cut)) for route, found, cut in self.routes_of_fusion]
        return fused_ranks(stage, routes, self.gold, self.codes, len(self.columns.ids), self._window(stage))

    def _whole(self, stage: StageColumns, found: Track, cut: Candidates) -> Candidates:
        everything = np.ones(len(self.gold), bool)
        if self.k is None:
            return cut
        return candidates(stage, self.gold, found, everything, None, self._given(stage))

    def _inherited(
        self, stage: StageColumns, name: str, own: StageValues, cut: Candidates, fused: FusedRanks | None
    ) -> Inherited:
        traces = stage.stages.trace
        if stage.kind == "retrieve":
            return Inherited.point(own, np.ones(len(traces), bool))
        if fused is not None:
            return bounds(name, own, cut, self.gold, fused, traces, gains=self.gains)
        settled = self.upstream.in_order if stage.kind == "context" else self.upstream.settled
        return Inherited.point(own, settled[traces])

    def finish(self) -> None:
        """Where routes are all that there is, what they kept has arrived."""
        if self.routes:
            self._leave_routes()

    def _leave_routes(self) -> None:
        """Gold is reachable if any route kept it. Behind one route its own ties are open, behind several a fusion's."""
        self.routes_of_fusion, self.routes = self.routes, []
        count = np.zeros(len(self.columns), np.int64)
        kept = np.zeros(len(self.gold), bool)
        for stage, found, _ in self.routes_of_fusion:
            count[stage.stages.trace] += 1
            kept |= found.rank > 0
            self.codes = np.where(found.rank > 0, found.code, self.codes)
        self.reachable = kept
        alone = count == 1
        behind = Upstream.nothing(len(self.columns))
        for stage, found, cut in self.routes_of_fusion:
            behind = after(stage, self._whole(stage, found, cut), behind, self._window(stage))
        self.upstream = Upstream(behind.settled & alone, behind.in_order & alone)

    def _leave(self, stage: StageColumns, found: Track, cut: Candidates, fused: FusedRanks | None) -> None:
        window, before = self._window(stage), self.upstream
        whole_list = self._whole(stage, found, cut)
        if fused is not None:
            before = _behind_fusion(stage, before, fused, independent=self.independent)
            whole_list = replace(whole_list, depth=np.where(fused.clear, -1, whole_list.depth))
        self.upstream = after(stage, whole_list, before, window)
        self.codes = np.where(found.rank > 0, found.code, self.codes)
        self.reachable = np.where(found.ran, found.rank > 0, self.reachable)

    def _window(self, stage: StageColumns) -> Ints:
        """How many of each trace's items the next stage looks at: the reranker's window, else all."""
        window = np.full(len(self.columns), WHOLE)
        for other in self.stages:
            if other.kind == "rerank" and stage.kind in ("retrieve", "fuse"):
                window[other.stages.trace] = np.where(other.stages.window > 0, other.stages.window, WHOLE)
        return window[stage.stages.trace]


def _behind_fusion(stage: StageColumns, before: Upstream, fused: FusedRanks, *, independent: bool) -> Upstream:
    """What routes leave open of what a fusion hands on: its whole list, or a window of it."""
    traces, settled, in_order = stage.stages.trace, before.settled.copy(), before.in_order.copy()
    settled[traces] = fused.members if independent else fused.scores
    in_order[traces] = fused.point
    return Upstream(settled, in_order)


def _in_prompt(columns: TraceColumns, gold: Gold, codes: Ints) -> tuple[bool | None, ...]:
    """Whether each piece of gold is in its trace's prompt, under the ID that it last had; None without a prompt."""
    if columns.batch.column("prompt").null_count == len(columns):
        return ()
    prompts = [None if held is None else set(held["ids"] or ()) for held in columns.texts("prompt")]
    names = [columns.ids[code].as_py() if code >= 0 else piece.id
             for code, piece in zip(codes.tolist(), gold.evidence, strict=True)]  # fmt: skip
    shown = (prompts[trace] for trace in gold.trace.tolist())
    return tuple(None if ids is None else name in ids for name, ids in zip(names, shown, strict=True))
