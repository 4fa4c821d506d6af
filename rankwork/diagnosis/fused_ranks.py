"""The best and the worst rank of gold in a fusion, over all orders that the ties of its routes allow."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rankwork.diagnosis.candidates import WHOLE, Candidates
from rankwork.diagnosis.fused_entries import Entries, FusionRule, entries_of
from rankwork.diagnosis.gold import Gold
from rankwork.diagnosis.trace_columns import Bools, Floats, Ints
from rankwork.diagnosis.tracking import StageColumns

NEVER = np.inf
_CLOSE = 1e-12  # fused scores nearer than this are taken as equal: sums of a few terms below 1/60 or so


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
    rule = FusionRule(fused)
    entries = entries_of(fused, routes, rule, width)
    traces = len(fused.stages.trace)
    known = rule.known & entries.agrees
    everything = np.full(traces, WHOLE)
    clear = _apart(entries, _first(fused, entries, everything), entries.score, entries.score, np.zeros(traces))
    first = _first(fused, entries, window)
    members = known & _apart(entries, first, entries.low, entries.high, entries.unseen)
    best, worst = _ranks(fused, entries, gold, codes, width)
    wide = np.zeros(traces, bool)
    wide[entries.owner[entries.high - entries.low > _CLOSE]] = True
    point = known & ~wide & (entries.unseen == 0)
    moving = np.zeros(traces, bool)
    moving[entries.owner[first & (entries.high - entries.low > _CLOSE)]] = True
    return FusedRanks(best, worst, known, members, members & ~moving, point, known & clear)


def _first(fused: StageColumns, entries: Entries, window: Ints) -> Bools:
    """Which entries the fusion ranked within the window [n]."""
    items, kept = fused.items, entries.kept
    inside = (items.rank[kept] <= window[items.of[kept]]) & (entries.at >= 0)
    first = np.zeros(len(entries.key), bool)
    first[entries.at[inside]] = True
    return first


def _apart(entries: Entries, first: Bools, low: Floats, high: Floats, unseen: Floats) -> Bools:
    """Whether the lowest of the first stays above the highest of all else, `unseen` [n] among it."""
    lowest = _least(np.where(first, low, np.inf), entries.owner, len(unseen))
    highest = -_least(np.where(first, np.inf, -high), entries.owner, len(unseen))
    return lowest > np.maximum(highest, np.where(unseen > 0, unseen, -np.inf)) + _CLOSE


def _least(values: Floats, owner: Ints, n: int) -> Floats:
    """The least value of each owner, who stand in ascending order; infinity for one without any."""
    least = np.full(n, np.inf)
    if len(owner):
        opens = np.flatnonzero(np.append(True, owner[1:] != owner[:-1]))
        least[owner[opens]] = np.minimum.reduceat(values, opens)
    return least


def _ranks(fused: StageColumns, entries: Entries, gold: Gold, codes: Ints, width: int) -> tuple[Floats, Floats]:
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


def _counted_above(entries: Entries, row: Ints, own: Ints, low: Floats, high: Floats) -> tuple[Ints, Ints]:
    """How many other documents of the same trace must stand above, and can, for each asked one."""
    first, last = (np.searchsorted(entries.owner, row, side=side) for side in ("left", "right"))
    lengths = last - first
    asked = np.repeat(np.arange(len(row)), lengths)
    other = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths) + first[asked]
    apart = other != own[asked]
    must = apart & (entries.low[other] > high[asked] + _CLOSE)
    can = apart & (entries.high[other] >= low[asked] - _CLOSE)
    return tuple(np.bincount(asked[mask], minlength=len(row)) for mask in (must, can))  # type: ignore[return-value]
