"""What ties in the stages before could have done to a stage: the range that it inherits.

A route inherits nothing. Reciprocal rank fusion inherits the ties of its routes: a tied document could have had any
rank of its group, and the last group of a cut list goes on out of sight. Each fused document so has a lowest and a
highest score, and with them a best and a worst rank; measures that can only rise as gold moves up are bounded by those.
What reranks or assembles inherits a point if no such order changes what it was given, and is unknown otherwise: nobody
knows the score of a document that it never saw. A reranker is taken to read the scores of the fusion too, unless its
scores are declared to be of the document and the query alone. Bounds are sound, and need not be attained.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankwork.diagnosis.candidates import WHOLE, Candidates
from rankwork.diagnosis.gold import Gold
from rankwork.diagnosis.stage_measures import BY_RETURNED, COMPLETE, COVERAGE, StageValues
from rankwork.diagnosis.trace_columns import Bools, Floats, Ints
from rankwork.diagnosis.tracking import StageColumns

NEVER = np.inf
_CLOSE = 1e-12  # fused scores nearer than this are taken as equal: sums of a few terms below 1/60 or so


@dataclass(frozen=True, eq=False)
class Inherited:
    """The lowest and the highest value of a measure for n traces, NaN where unknown."""

    min: Floats
    max: Floats

    @classmethod
    def point(cls, values: StageValues, settled: Bools) -> "Inherited":
        """The observed number where nothing before could have changed it."""
        number = np.where(settled, values.observed, np.nan)
        return cls(number, number)


@dataclass(frozen=True, eq=False)
class Upstream:
    """What the stages before leave open, for each trace of the batch.

    `settled`: no order of ties gives another set of items to what comes next. `in_order`: nor another order of them.
    """

    settled: Bools
    in_order: Bools

    @classmethod
    def nothing(cls, traces: int) -> "Upstream":
        """Before the first stage."""
        return cls(np.ones(traces, bool), np.ones(traces, bool))


def after(stage: StageColumns, found: Candidates, before: Upstream, window: Ints) -> Upstream:
    """What is open behind a stage whose first `window` items [n] go on: its own ties, and what it inherits."""
    run, traces = found.joined.run, stage.stages.trace
    taken = np.minimum(window, found.returned)
    cut = found.joined.boundaries(taken)
    out_of_sight = (found.joined.retrieved == found.depth) & (cut.above + cut.tied == found.joined.retrieved)
    own = found.scored & ((taken == 0) | (~out_of_sight & (cut.slots == cut.tied)))
    sizes = np.diff(run.group_starts)
    tied = np.zeros(len(taken), bool)
    owner = np.searchsorted(run.offsets, run.group_starts[:-1][sizes > 1], side="right") - 1
    first = run.group_starts[:-1][sizes > 1] - run.offsets[owner]
    tied[owner[first < taken[owner]]] = True
    settled, in_order = before.settled.copy(), before.in_order.copy()
    settled[traces] &= own
    same_order = before.in_order if stage.kind == "fuse" else before.settled  # a score of its own gives a new order
    in_order[traces] = own & ~tied & same_order[traces]
    return Upstream(settled, in_order)


@dataclass(frozen=True, eq=False)
class FusedRanks:
    """The best and the worst rank [gold] that the ties of the routes allow, `NEVER` for out of reach.

    `known` [n]: the fusion could be computed again, and gave the scores that are on record. `members` [n]: its first
    `window` items are the same, whatever the ties; `scores` [n]: and have the same scores. `point` [n]: its routes
    leave nothing open at all. `clear` [n]: nothing that it left out has the score of the last that it kept.
    """

    best: Floats
    worst: Floats
    known: Bools
    members: Bools
    scores: Bools
    point: Bools
    clear: Bools


def fused_ranks(
    fused: StageColumns,
    routes: Sequence[tuple[StageColumns, Candidates]],
    gold: Gold,
    codes: Ints,
    width: int,
    window: Ints,
) -> FusedRanks:
    """The ranks of gold in a reciprocal rank fusion, over all orders of its routes' ties.

    `codes` are the gold's IDs, `width` the number of IDs in the batch, `window` [n] how many items go on.
    """
    rule = _Rule(fused)
    entries = _entries(fused, routes, rule, width)
    traces = len(fused.stages.trace)
    known = rule.known & entries.agrees
    everything = np.full(traces, WHOLE)
    clear = _apart(entries, _first(fused, entries, width, everything), entries.score, entries.score, np.zeros(traces))
    first = _first(fused, entries, width, window)
    members = known & _apart(entries, first, entries.low, entries.high, entries.unseen)
    best, worst = _ranks(fused, entries, gold, codes, width)
    wide = np.zeros(traces, bool)
    wide[entries.owner[entries.high - entries.low > _CLOSE]] = True
    point = known & ~wide & (entries.unseen == 0)
    moving = np.zeros(traces, bool)
    moving[entries.owner[first & (entries.high - entries.low > _CLOSE)]] = True
    return FusedRanks(best, worst, known, members, members & ~moving, point, known & clear)


class _Rule:
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
class _Entries:
    """Documents of a fusion, sorted by `key` (trace and ID): their fused score as it was, at least and at most.

    `unseen` [n] is the most that a document in no route's list could have had, `unseen_slots` how many could.
    """

    key: Ints
    owner: Ints
    score: Floats
    low: Floats
    high: Floats
    unseen: Floats
    unseen_slots: Ints
    agrees: Bools


def _entries(
    fused: StageColumns, routes: Sequence[tuple[StageColumns, Candidates]], rule: _Rule, width: int
) -> _Entries:
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
    agrees = ~unscored & _agrees(fused, key, score, width)
    return _Entries(key, owner, score, low, high, unseen, slots, agrees)


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


def _contributions(stage: StageColumns, found: Candidates, rule: _Rule, row: Ints, fused: StageColumns) -> _Part:
    """What one route gives: to each of its kept items, and at most to a document that its cut list hides."""
    run, traces = found.joined.run, len(fused.stages.trace)
    of_item = run.query_of_row
    place = np.arange(len(run)) - run.offsets[of_item]
    group = np.searchsorted(run.group_starts, np.arange(len(run)), side="right") - 1
    start = run.group_starts[group] - run.offsets[of_item]
    end = run.group_starts[group + 1] - run.offsets[of_item]
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


def _agrees(fused: StageColumns, key: Ints, score: Floats, width: int) -> Bools:
    """Whether each trace's fused scores on record are those of the rule."""
    items = fused.items
    kept = np.flatnonzero(items.kept)
    wanted = items.of[kept] * width + np.where(items.previous[kept] >= 0, items.previous[kept], items.id[kept])
    at = np.minimum(np.searchsorted(key, wanted), max(len(key) - 1, 0))
    same = np.zeros(len(kept), bool)
    if len(key):
        same = (key[at] == wanted) & np.isclose(score[at], items.score[kept], rtol=1e-6, atol=0)
    agrees = np.ones(len(fused.stages.trace), bool)
    agrees[items.of[kept][~same]] = False
    return agrees


def _first(fused: StageColumns, entries: _Entries, width: int, window: Ints) -> Bools:
    """Which entries the fusion ranked within the window [n]."""
    items = fused.items
    kept = np.flatnonzero(items.kept & (items.rank <= window[items.of]))
    wanted = items.of[kept] * width + np.where(items.previous[kept] >= 0, items.previous[kept], items.id[kept])
    first = np.zeros(len(entries.key), bool)
    if len(entries.key):
        at = np.minimum(np.searchsorted(entries.key, wanted), len(entries.key) - 1)
        first[at[entries.key[at] == wanted]] = True
    return first


def _apart(entries: _Entries, first: Bools, low: Floats, high: Floats, unseen: Floats) -> Bools:
    """Whether the lowest of the first stays above the highest of all else, `unseen` [n] among it."""
    lowest, highest = np.full(len(unseen), np.inf), np.where(unseen > 0, unseen, -np.inf)
    np.minimum.at(lowest, entries.owner[first], low[first])
    np.maximum.at(highest, entries.owner[~first], high[~first])
    return lowest > highest + _CLOSE


def _ranks(fused: StageColumns, entries: _Entries, gold: Gold, codes: Ints, width: int) -> tuple[Floats, Floats]:
    """For each piece of gold one more than the documents that must, and that can, stand above it."""
    row = fused.number[gold.trace]
    best, worst = np.full(len(gold), NEVER), np.full(len(gold), NEVER)
    asked = np.flatnonzero(row >= 0)
    wanted = row[asked] * width + codes[asked]
    at = np.minimum(np.searchsorted(entries.key, wanted), max(len(entries.key) - 1, 0))
    listed = (codes[asked] >= 0) & (entries.key[at] == wanted) if len(entries.key) else np.zeros(len(asked), bool)
    low = np.where(listed, entries.low[at] if len(entries.key) else 0, 0.0)
    high = np.where(listed, entries.high[at] if len(entries.key) else 0, entries.unseen[row[asked]])
    must, can = _counted_above(entries, row[asked], np.where(listed, at, -1), low, high)
    unseen = entries.unseen[row[asked]] >= low - _CLOSE
    can = can + np.where(unseen, entries.unseen_slots[row[asked]], 0)
    possible = listed | (entries.unseen[row[asked]] > 0)
    best[asked] = np.where(possible, must + 1, NEVER)
    worst[asked] = np.where(listed & (low > 0), can + 1, NEVER)
    return best, worst


def _counted_above(entries: _Entries, row: Ints, own: Ints, low: Floats, high: Floats) -> tuple[Ints, Ints]:
    """How many other documents of the same trace must stand above, and can, for each asked one."""
    first, last = (np.searchsorted(entries.owner, row, side=side) for side in ("left", "right"))
    lengths = last - first
    asked = np.repeat(np.arange(len(row)), lengths)
    other = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths) + first[asked]
    apart = other != own[asked]
    must = apart & (entries.low[other] > high[asked] + _CLOSE)
    can = apart & (entries.high[other] >= low[asked] - _CLOSE)
    return tuple(np.bincount(asked[mask], minlength=len(row)) for mask in (must, can))  # type: ignore[return-value]


def bounds(
    name: str, values: StageValues, found: Candidates, gold: Gold, ranks: FusedRanks, traces: Ints, *, gains: Floats
) -> Inherited:
    """The lowest and highest value of a measure, from the best and worst ranks of the gold and its `gains` in nDCG."""
    numbers = [_value(name, rank, found, gold, traces, gains) for rank in (ranks.worst, ranks.best)]
    low, high = np.minimum(numbers[0], values.observed), np.maximum(numbers[1], values.observed)
    low, high = (np.where(ranks.point, values.observed, number) for number in (low, high))
    return Inherited(*(np.where(ranks.known, number, np.nan) for number in (low, high)))


def _value(name: str, rank: Floats, found: Candidates, gold: Gold, traces: Ints, gains: Floats) -> Floats:
    """A measure if each piece of gold had this rank, whether or not all can have theirs at once."""
    row, n = found.row, len(found.k)
    k = np.where(found.k < WHOLE, found.k, np.maximum(found.returned, 1)).astype(np.float64)
    own = np.flatnonzero(row >= 0)
    inside = own[rank[own] <= k[row[own]]]
    hits = np.minimum(np.bincount(row[inside], minlength=n), k)
    total = np.maximum(np.bincount(row[own], minlength=n), 1)
    if name in (COVERAGE, COMPLETE):
        return _coverage(name, rank, found, gold, traces, k)
    if name == "Success":
        return (hits > 0).astype(np.float64)
    if name == "R":
        return hits / total
    if name in ("P", BY_RETURNED):
        divisor = k if name == "P" else np.minimum(k, np.maximum(found.returned, 1))
        return np.asarray(np.minimum(hits / divisor, 1.0))
    if name == "RR":
        first = np.full(n, np.inf)
        np.minimum.at(first, row[inside], rank[inside])
        return 1.0 / first
    return _average_precision(rank, inside, row, total) if name == "AP" else _ndcg(rank, own, inside, row, gains, k)


def _average_precision(rank: Floats, inside: Ints, row: Ints, total: Ints) -> Floats:
    ordered = inside[np.lexsort((rank[inside], row[inside]))]
    counts = np.bincount(row[ordered], minlength=len(total))
    number = np.arange(len(ordered)) - np.repeat(np.cumsum(counts) - counts, counts) + 1
    precision = number / np.maximum(rank[ordered], number)
    return np.asarray(np.bincount(row[ordered], precision, len(total)) / total)


def _ndcg(rank: Floats, own: Ints, inside: Ints, row: Ints, gains: Floats, k: Floats) -> Floats:
    gained = np.bincount(row[inside], gains[inside] / np.log2(rank[inside] + 1), len(k))
    ordered = own[np.lexsort((-gains[own], row[own]))]
    counts = np.bincount(row[ordered], minlength=len(k))
    place = np.arange(len(ordered)) - np.repeat(np.cumsum(counts) - counts, counts) + 1
    within = place <= k[row[ordered]]
    ideal = np.bincount(row[ordered][within], (gains[ordered] / np.log2(place + 1))[within], len(k))
    return np.asarray(np.minimum(np.divide(gained, ideal, out=np.zeros(len(k)), where=ideal > 0), 1.0))


def _coverage(name: str, rank: Floats, found: Candidates, gold: Gold, traces: Ints, k: Floats) -> Floats:
    row_of = np.full(int(max(gold.need_trace.max(initial=-1), traces.max(initial=-1))) + 1, -1, np.int64)
    row_of[traces] = np.arange(len(traces))
    of_need = row_of[gold.need_trace]
    met = np.zeros(len(of_need), bool)
    inside = (found.row >= 0) & (rank <= k[np.maximum(found.row, 0)])
    met[gold.need[inside[gold.need_row]]] = True
    ran = of_need >= 0
    needed = np.bincount(of_need[ran], minlength=len(k))
    count = np.bincount(of_need[ran], met[ran], len(k))
    return (count == needed).astype(np.float64) if name == COMPLETE else count / np.maximum(needed, 1)
