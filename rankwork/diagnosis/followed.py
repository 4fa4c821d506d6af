"""Gold evidence followed through the stages of a batch of traces, without the lists themselves.

What is kept grows with the gold and with the traces, not with their items.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from rankwork.diagnosis.corpus import Corpus
from rankwork.diagnosis.facts import AnswerFacts, Facts, Place, Standing
from rankwork.diagnosis.gold import Gold
from rankwork.diagnosis.trace_columns import Bools, Coded, Ints
from rankwork.diagnosis.tracking import StageColumns, Track
from rankwork.trace import Evidence


@dataclass(frozen=True, eq=False)
class FollowedStage:
    """One stage: what it did for each of its traces, and the gold in it; `number` is a trace's row, -1 for none."""

    name: str
    kind: str
    number: Ints
    requested: Ints
    returned: Ints
    window: Ints
    listed: Ints
    status: Coded
    parameters: Coded
    rank: Ints
    dropped: Bools
    reason: Coded
    denied: Bools
    side: Ints
    source_kept: Ints
    other_ids: Mapping[int, tuple[str, ...]]

    @classmethod
    def of(cls, stage: StageColumns, found: Track, gold: Gold, ids: Any, corpus: Corpus | None) -> "FollowedStage":
        """What remains of a stage and of the gold's track in it."""
        stages = stage.stages
        in_context, is_route = stage.kind == "context", stage.kind == "retrieve"
        return cls(
            name=stage.name,
            kind=stage.kind,
            number=_narrow(stage.number),
            requested=_narrow(stages.requested),
            returned=_narrow(stages.returned),
            window=_narrow(stages.window),
            listed=_narrow(np.diff(stages.start)),
            status=_slim(stages.status),
            parameters=_slim(stages.parameters),
            rank=_narrow(found.rank),
            dropped=found.dropped,
            reason=Coded(_narrow(found.reason), stage.items.reason.words),
            denied=found.denied,
            side=_narrow(found.side),
            source_kept=_source_kept(stage, gold) if in_context else _narrow(np.full(len(gold), -1)),
            other_ids=_strangers(stage, found, gold, ids, corpus) if corpus and is_route else {},
        )

    def standings(self, pieces: Ints, traces: Ints) -> Iterator[Standing | None]:
        """The standing of some pieces of gold here, each of its trace; None where that did not run the stage."""
        rows = self.number[traces]
        columns = (self.rank, self.dropped, self.reason.codes, self.denied, self.side, self.source_kept)
        of_piece = zip(pieces.tolist(), rows.tolist(), *(column[pieces].tolist() for column in columns), strict=True)
        did = self._did
        reasons = (*self.reason.words, None)
        for piece, row, rank, dropped, reason, denied, side, kept in of_piece:
            if row < 0:
                yield None
                continue
            yield Standing(
                self.name,
                self.kind,
                rank or None,
                dropped,
                reasons[reason],
                denied,
                side,
                *(*did[row], kept if kept >= 0 else None, self.other_ids.get(piece, ())),
            )

    @cached_property
    def _did(self) -> list[tuple[Any, ...]]:
        """What the stage did for each of its traces: asked, returned, window, listed, status, parameters."""
        numbers = (self.requested.tolist(), self.returned.tolist(), self.window.tolist(), self.listed.tolist())
        states = (*self.status.words, "ok")
        parameters: list[Mapping[str, Any]] = [*map(json.loads, self.parameters.words), {}]
        words = zip(*numbers, self.status.codes.tolist(), self.parameters.codes.tolist(), strict=True)
        return [(k or None, n, w or None, listed, states[s], parameters[p]) for k, n, w, listed, s, p in words]


@dataclass(frozen=True, eq=False)
class Followed:
    """The gold of a batch in all stages; `arrived` says which pieces are in the last stage, and in the prompt."""

    cases: list[str]
    trace: Ints
    evidence: tuple[Evidence, ...]
    stages: tuple[FollowedStage, ...]
    in_prompt: tuple[bool | None, ...]
    answers: tuple[AnswerFacts, ...]
    places: tuple[Place | None, ...]

    def __len__(self) -> int:
        return len(self.trace)

    def facts(self, pieces: Ints | None = None) -> Iterator[Facts]:
        """The facts of each piece of gold, or of some."""
        chosen = np.arange(len(self)) if pieces is None else pieces
        traces = self.trace[chosen]
        columns = [stage.standings(chosen, traces) for stage in self.stages]
        rows = zip(*columns, strict=True) if columns else iter([()] * len(chosen))
        for piece, trace, standings in zip(chosen.tolist(), traces.tolist(), rows, strict=True):
            yield Facts(
                self.cases[trace],
                self.evidence[piece].id,
                tuple(standing for standing in standings if standing is not None),
                self.places[piece] if self.places else None,
                self.in_prompt[piece] if self.in_prompt else None,
                self.answers[trace] if self.answers else NO_ANSWER,
            )


NO_ANSWER = AnswerFacts()


def _narrow(values: Any) -> Any:
    return np.asarray(values).astype(np.int32)


def _slim(coded: Coded) -> Coded:
    return Coded(_narrow(coded.codes), coded.words)


def _source_kept(stage: StageColumns, gold: Gold) -> Any:
    """For each piece of gold how many items of its source the stage kept, -1 where the sources are not known."""
    items = stage.items
    code_of = {word: code for code, word in enumerate(items.source.words)}
    width = len(code_of) + 1
    named = items.kept & (items.source.codes >= 0)
    pairs, counts = np.unique(items.of[named] * width + items.source.codes[named], return_counts=True)
    source = np.array([code_of.get(piece.source, -1) for piece in gold.evidence], np.int64)
    row = stage.number[gold.trace] if len(gold) else np.zeros(0, np.int64)
    if not len(pairs):
        return _narrow(np.full(len(gold), -1))
    wanted = row * width + source
    at = np.minimum(np.searchsorted(pairs, wanted), len(pairs) - 1)
    known = (source >= 0) & (row >= 0) & (pairs[at] == wanted)
    return _narrow(np.where(known, counts[at], -1))


def _strangers(stage: StageColumns, found: Track, gold: Gold, ids: Any, corpus: Corpus) -> dict[int, tuple[str, ...]]:
    """For gold that a route lacks: IDs that it returned from the same source and that no document bears."""
    items, start = stage.items, stage.stages.start
    known: dict[int, bool] = {}
    strange: dict[int, tuple[str, ...]] = {}
    code_of = {word: code for code, word in enumerate(items.source.words)}
    for piece in np.flatnonzero(found.ran & (found.rank == 0)).tolist():
        source = code_of.get(gold.evidence[piece].source, -2)
        row = stage.number[gold.trace[piece]]
        part = slice(int(start[row]), int(start[row + 1]))
        codes = items.id[part][items.source.codes[part] == source].tolist()
        for code in codes:
            if code not in known:
                known[code] = corpus.holds(ids[code].as_py())
        names = tuple(ids[code].as_py() for code in codes if not known[code])
        if names:
            strange[piece] = names
    return strange
