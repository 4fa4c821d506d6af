"""Gold evidence followed through the stages of a batch of traces, without the lists themselves.

What is kept grows with the gold and with the traces, not with their items.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
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
        return cls(
            stage.name,
            stage.kind,
            _narrow(stage.number),
            *map(_narrow, (stages.requested, stages.returned, stages.window, np.diff(stages.start))),
            _slim(stages.status),
            _slim(stages.parameters),
            _narrow(found.rank),
            found.dropped,
            Coded(found.reason.astype(np.int8), stage.items.reason.words),  # type: ignore[arg-type]
            found.denied,
            found.side.astype(np.int8),  # type: ignore[arg-type]
            _source_kept(stage, gold) if stage.kind == "context" else _narrow(np.full(len(gold), -1)),
            _strangers(stage, found, gold, ids, corpus) if corpus and stage.kind == "retrieve" else {},
        )

    def standing(self, piece: int, trace: int) -> Standing | None:
        """The standing of a piece of gold here; None where its trace did not run the stage."""
        row = int(self.number[trace])
        if row < 0:
            return None
        kept = int(self.source_kept[piece])
        return Standing(
            self.name,
            self.kind,
            int(self.rank[piece]) or None,
            bool(self.dropped[piece]),
            self.reason.text(piece),
            bool(self.denied[piece]),
            int(self.side[piece]),
            int(self.requested[row]) or None,
            int(self.returned[row]),
            int(self.window[row]) or None,
            int(self.listed[row]),
            self.status.text(row) or "ok",
            _parameters(self.parameters.text(row)),
            None if kept < 0 else kept,
            self.other_ids.get(piece, ()),
        )


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

    def facts(self) -> Iterator[Facts]:
        """The facts of each piece of gold."""
        for piece in range(len(self)):
            yield self.facts_of(piece)

    def facts_of(self, piece: int) -> Facts:
        """The facts of one piece of gold."""
        trace = int(self.trace[piece])
        standings = (stage.standing(piece, trace) for stage in self.stages)
        return Facts(
            self.cases[trace],
            self.evidence[piece].id,
            tuple(standing for standing in standings if standing is not None),
            self.places[piece] if self.places else None,
            self.in_prompt[piece] if self.in_prompt else None,
            self.answers[trace] if self.answers else NO_ANSWER,
        )


NO_ANSWER = AnswerFacts()


@cache
def _parameters(text: str | None) -> Mapping[str, Any]:
    found: Mapping[str, Any] = json.loads(text) if text else {}
    return found


def _narrow(values: Any) -> Ints:
    narrow: Ints = np.asarray(values).astype(np.int32)  # type: ignore[assignment]
    return narrow


def _slim(coded: Coded) -> Coded:
    return Coded(_narrow(coded.codes), coded.words)


def _source_kept(stage: StageColumns, gold: Gold) -> Ints:
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


def _strangers(
    stage: StageColumns, found: Track, gold: Gold, ids: Any, corpus: Corpus
) -> dict[int, tuple[str, ...]]:
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
