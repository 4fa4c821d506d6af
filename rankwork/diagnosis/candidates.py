"""The list that a stage cut: what it kept, and below it what it says it left out for its rank, with the ties that show.

Dropped items that carry a score show what tied with the last kept one: a stage lists what it looked at, so where it
lists anything below its cut, it is taken to list all that tied there. Where it lists nothing more and did not return
all there was, its last tie group may go on out of sight.
"""

import json
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankwork.diagnosis.gold import Gold
from rankwork.diagnosis.trace_columns import Bools, Ints
from rankwork.diagnosis.tracking import ABOVE, BELOW, DROPPED_BY_RANK, NO_SCORE, TIED, StageColumns, Track, sides
from rankwork.measures.joining import Boundaries, Joined
from rankwork.rankings import Judgements, Rankings

WHOLE = 2**30  # a cutoff beyond every list: the stage declared none
_BY_RANK = {*DROPPED_BY_RANK} - {"rerank_window"}  # the reranker gave no score to what lay outside its window


@dataclass(frozen=True, eq=False)
class Reachable(Joined):
    """A join in which what a cut hides can only be gold that the stage was given: `reachable` bool[judgements]."""

    reachable: Any = None

    def unretrieved(self, queries: Bools, every_judged: bool) -> Ints:
        """The judgement rows of these queries whose document was not retrieved and could have been."""
        rows = super().unretrieved(queries, every_judged)
        return np.asarray(rows[self.reachable[rows]])

    def boundaries(self, k: int | Ints) -> Boundaries:
        """As of any join; a stage can have returned nothing in all of the traces."""
        if len(self.run):
            return super().boundaries(k)
        none = np.zeros(len(self.judgements.queries), np.int64)
        return Boundaries(none, none, none, none)


@dataclass(frozen=True, eq=False)
class Candidates:
    """The candidates of one stage in n traces, joined with their gold.

    `k` int64[n] is the cutoff (`WHOLE`: none was declared), `depth` int64[n] the length of a list that was cut there,
    -1 for one that is complete. `scored`: all candidates carry a score, so that ties can be seen. For each row of the
    gold, `row` is its trace's row here (-1: not run), `place` how many candidates stand before it (-1: not one of
    them), `above` how many score higher.
    """

    joined: Reachable
    k: Ints
    returned: Ints
    depth: Ints
    scored: Bools
    row: Ints
    place: Ints
    above: Ints
    reachable: Bools


def candidates(
    stage: StageColumns, gold: Gold, found: Track, reachable: Bools, k: int | None, given: Ints | None = None
) -> Candidates:
    """What the stage cut at `k`, or at its own cutoff; `reachable` [gold] is what it was given.

    `given` [n] is how many items it was given: one that lists them all hides none.
    """
    returned, asked = stage.stages.returned, _cutoffs(stage, k)
    items, rows = stage.items, _rows_in_order(stage, asked)
    count = np.bincount(items.of[rows], minlength=len(returned))
    offsets = np.concatenate(([0], np.cumsum(count)))
    scored = np.bincount(items.of[rows], np.isnan(items.score[rows]), len(returned)) == 0
    place = np.arange(len(rows)) - offsets[items.of[rows]]
    score = np.where(scored[items.of[rows]], items.score[rows], -place.astype(np.float64))
    run = Rankings(tuple(map(str, range(len(returned)))), offsets, _NO_NAMES, items.id[rows], score)
    where = np.full(len(items.id) + 1, -1, np.int64)
    where[rows] = np.arange(len(rows))
    reachable = reachable & ~_left_out(stage, found)
    joined, hit_of_gold = _joined(run, stage, gold, found, reachable, where[found.item])
    cut = ~stage.stages.complete & ((stage.stages.requested == 0) | (returned >= stage.stages.requested))
    if given is not None:
        cut &= np.diff(stage.stages.start) < given
    cut &= ~_lists_all_tied(stage)
    at, listed = np.maximum(hit_of_gold, 0), hit_of_gold >= 0
    any_hit = len(joined.hit_row) > 0
    return Candidates(
        joined=joined,
        k=asked,
        returned=returned,
        depth=np.where(cut, count, -1),
        scored=scored,
        row=stage.number[gold.trace],
        place=np.where(listed, (joined.hit_row - joined.hit_start)[at], -1) if any_hit else hit_of_gold,
        above=np.where(listed, joined.hit_above[at], -1) if any_hit else hit_of_gold,
        reachable=reachable,
    )


_NO_NAMES = np.empty(0, object)  # nothing here sorts or prints by ID


def _cutoffs(stage: StageColumns, k: int | None) -> Ints:
    if k is not None:
        return np.full(len(stage.stages.trace), k)
    whole = (stage.stages.requested == 0) | stage.stages.order.where("inclusive")
    return np.where(whole, WHOLE, stage.stages.requested)


def _rows_in_order(stage: StageColumns, asked: Ints) -> Ints:
    """The kept items by rank, then those dropped for their rank by score descending, stage by stage."""
    items = stage.items
    reasons = np.array([word in _BY_RANK for word in items.reason.words] + [True])  # none written: it may be one
    side = sides(stage)
    beyond = ~items.kept & reasons[items.reason.codes] & (side != NO_SCORE) & (side != ABOVE)
    beyond &= (stage.stages.returned >= asked)[items.of]
    if not beyond.any():
        return np.flatnonzero(items.kept)
    rows = np.flatnonzero(items.kept | beyond)
    key = np.where(items.kept[rows], -np.inf, -items.score[rows])
    return rows[np.lexsort((items.rank[rows], key, items.of[rows]))]


def _lists_all_tied(stage: StageColumns) -> Bools:
    """Whether a stage says how many documents tied with its last one were left out (`tied_at_cut`), and lists them."""
    declared = [
        json.loads(text).get("tied_at_cut") if "tied_at_cut" in text else None for text in stage.stages.parameters.words
    ]
    said = np.array([number if isinstance(number, int) else -1 for number in [*declared, None]])
    tied = ~stage.items.kept & (sides(stage) == TIED)
    listed = np.bincount(stage.items.of[tied], minlength=len(stage.stages.trace))
    return np.asarray(said[stage.stages.parameters.codes] == listed)


def _left_out(stage: StageColumns, found: Track) -> Bools:
    """The gold that the stage lists as left out for another reason than a tie, so that no cut hides it."""
    by_rank = np.array([word in _BY_RANK for word in stage.items.reason.words] + [True])
    return np.asarray(found.dropped & (~by_rank[found.reason] | (found.side == BELOW) | (found.side == ABOVE)))


def _joined(
    run: Rankings, stage: StageColumns, gold: Gold, found: Track, reachable: Bools, at: Ints
) -> tuple[Reachable, Ints]:
    """The join with the gold of the stage's traces, and the hit of each piece of gold, -1 for none.

    Two pieces that stand in one item, as in a parent of both, count once there.
    """
    own = np.flatnonzero(found.ran)
    rows = stage.number[gold.trace[own]]
    listed = at[own] >= 0
    same = np.where(listed, at[own], -1 - np.arange(len(own)))
    best = np.lexsort((-gold.grade[own], same))
    first = np.ones(len(own), bool)
    first[1:] = same[best][1:] != same[best][:-1]
    unique = np.sort(best[first])
    unique = unique[np.argsort(rows[unique], kind="stable")]
    counts = np.bincount(rows[unique], minlength=len(run.queries))
    offsets = np.concatenate(([0], np.cumsum(counts)))
    judged = Judgements(run.queries, offsets, _NO_NAMES, np.zeros(len(unique), np.int64), gold.grade[own][unique])
    hit_judged = np.flatnonzero(listed[unique])
    hit_row = at[own][unique][hit_judged]
    by_row = np.argsort(hit_row, kind="stable")
    hit_judged, hit_row = hit_judged[by_row], hit_row[by_row]
    joined = Reachable(
        run,
        judged,
        np.arange(len(run.queries)),
        judged.query_of_row[hit_judged],
        hit_row,
        hit_judged,
        reachable[own][unique],
    )
    hits = np.full(len(gold), -1, np.int64)
    hits[own[listed]] = np.searchsorted(hit_row, at[own][listed])
    return joined, hits
