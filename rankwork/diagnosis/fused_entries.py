"""The documents of a reciprocal rank fusion: what each got from its routes, and at least and at most could have got.

A tied document could have had any rank of its group. The last group of a cut list goes on out of sight: its documents
can have got nothing, and documents that no list shows as much as its first place gives.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankwork.diagnosis.candidates import Candidates
from rankwork.diagnosis.trace_columns import Bools, Floats, Ints
from rankwork.diagnosis.tracking import StageColumns

_RECORDED = 1e-6  # of a score: what a record in float32 may be off


class FusionRule:
    """The constant, the weights and the depth of each trace's fusion, from its parameters."""

    def __init__(self, fused: StageColumns) -> None:
        parameters = [json.loads(text) for text in fused.stages.parameters.words] + [{}]
        codes = fused.stages.parameters.codes
        self.parameters, self.codes = parameters, codes
        method = fused.route.lower()
        is_rrf = [rule_name(held, method) == "rrf" and _is_number(held.get("c")) for held in parameters]
        self.known = np.array(is_rrf)[codes]
        self.c = np.array([float(held["c"]) if _is_number(held.get("c")) else 60.0 for held in parameters])[codes]
        depths = [held["depth"] if isinstance(held.get("depth"), int) else 2**30 for held in parameters]
        self.depth = np.array(depths, np.int64)[codes]

    def weights(self, route: str) -> Floats:
        """What a route counts for, float64[n]."""
        held = [_weight(parameters.get("weights"), route) for parameters in self.parameters]
        return np.array(held, np.float64)[self.codes]


def rule_name(parameters: Mapping[str, Any], otherwise: str) -> str:
    """The name of a fusion's rule, as its parameters have it (`rule` or `method`)."""
    return str(parameters.get("rule") or parameters.get("method") or otherwise).lower()


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _weight(weights: Any, route: str) -> float:
    if not isinstance(weights, Mapping):
        return 1.0
    return float(weights[route]) if _is_number(weights.get(route)) else 1.0


@dataclass(frozen=True, eq=False)
class Entries:
    """Documents of a fusion, sorted by `key` (trace and ID): their fused score as it was, at least and at most.

    `unseen` [n] is the most that a document in no route's list could have had, `unseen_slots` how many could. `kept`
    are the items that the fusion kept, `at` the entry of each, -1 for none.
    """

    key: Ints
    owner: Ints
    score: Floats
    low: Floats
    high: Floats
    unseen: Floats
    unseen_slots: Ints
    agrees: Bools
    kept: Ints
    at: Ints


def entries_of(
    fused: StageColumns, routes: Sequence[tuple[StageColumns, Candidates]], rule: FusionRule, width: int
) -> Entries:
    """The documents of all routes of each fusion; `width` is the number of IDs in the batch."""
    traces = len(fused.stages.trace)
    unseen, slots = np.zeros(traces), np.zeros(traces, np.int64)
    unscored = np.zeros(traces, bool)
    keys, scores, lows, highs = [], [], [], []
    for stage, found in routes:
        row = fused.number[stage.stages.trace]
        part = _contributions(stage, found, rule, row, fused)
        unseen += part.bonus
        slots += part.slots
        unscored |= part.unscored
        keys.append(part.owner * width + part.id)
        scores.append(part.score)
        lows.append(part.low)
        highs.append(part.high - part.bonus[part.owner])
    key, place = np.unique(np.concatenate(keys), return_inverse=True)
    owner = key // width
    sums = (np.bincount(place, np.concatenate(part), len(key)) for part in (scores, lows, highs))
    score, low, high = (np.asarray(part, np.float64) for part in sums)
    high = high + unseen[owner]
    kept, at = _kept_entries(fused, key, width)
    agrees = ~unscored & _agrees(fused, kept, at, score)
    return Entries(key, owner, score, low, high, unseen, slots, agrees, kept, at)


@dataclass(frozen=True, eq=False)
class _Part:
    owner: Ints
    id: Ints
    score: Floats
    low: Floats
    high: Floats
    bonus: Floats
    slots: Ints
    unscored: Bools


def _contributions(stage: StageColumns, found: Candidates, rule: FusionRule, row: Ints, fused: StageColumns) -> _Part:
    """What one route gives: to each of its kept items, and at most to a document that its cut list hides."""
    run, traces = found.joined.run, len(fused.stages.trace)
    of_item = run.query_of_row
    sizes = np.diff(run.group_starts)
    first = run.offsets[of_item]
    start, end = np.repeat(run.group_starts[:-1], sizes) - first, np.repeat(run.group_starts[1:], sizes) - first
    place = np.arange(len(run)) - first
    taking_part = (place < found.returned[of_item]) & (row[of_item] >= 0)
    owner = row[of_item]
    weight, c = rule.weights(stage.route), rule.c
    read = np.minimum(rule.depth[row], found.returned)
    cut = found.joined.boundaries(found.returned)
    whole = cut.above + cut.tied == found.joined.retrieved
    hidden = (found.joined.retrieved == found.depth) & whole & (found.returned > 0)
    open_end = (cut.slots > 0) & (hidden | (cut.slots < cut.tied)) & (row >= 0) & (cut.above < read)
    top = weight[row] / (c[row] + cut.above + 1)
    bonus, slots, unscored = np.zeros(traces), np.zeros(traces, np.int64), np.zeros(traces, bool)
    bonus[row[open_end]] = top[open_end]
    slots[row[open_end]] = cut.slots[open_end]
    unscored[row[(row >= 0) & ~found.scored & (found.returned > 0)]] = True
    w, shift, last = weight[owner], c[owner], read[of_item]
    in_open = open_end[of_item] & (start == cut.above[of_item])
    score = np.where(place < last, w / (shift + place + 1), 0.0)
    high = np.where(start < last, w / (shift + start + 1), 0.0)
    low = np.where((end <= last) & ~in_open, w / (shift + end), 0.0)
    kept = np.flatnonzero(taking_part)
    return _Part(owner[kept], run.codes[kept], score[kept], low[kept], high[kept], bonus, slots, unscored)


def _kept_entries(fused: StageColumns, key: Ints, width: int) -> tuple[Ints, Ints]:
    items = fused.items
    kept = np.flatnonzero(items.kept)
    named = np.where(items.previous[kept] >= 0, items.previous[kept], items.id[kept])
    wanted = items.of[kept] * width + named
    if not len(key):
        return kept, np.full(len(kept), -1)
    at = np.minimum(np.searchsorted(key, wanted), len(key) - 1)
    return kept, np.where(key[at] == wanted, at, -1)


def _agrees(fused: StageColumns, kept: Ints, at: Ints, score: Floats) -> Bools:
    """Whether each trace's fused scores on record are those of the rule."""
    computed = np.append(score, np.nan)[at]
    same = np.abs(computed - fused.items.score[kept]) <= _RECORDED * computed
    agrees = np.ones(len(fused.stages.trace), bool)
    agrees[fused.items.of[kept][~same]] = False
    return agrees
