"""Where each piece of gold evidence stands in a stage: its rank, or how it was dropped.

A stage can hand evidence on under another ID, as where a parent takes the place of its chunk; the item then says by
which ID the stage before knew it. Evidence is followed through such changes.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from rankwork.diagnosis.gold import Gold
from rankwork.diagnosis.trace_columns import Bools, Coded, Ints, Items, Stages, TraceColumns

DROPPED_BY_RANK = ("below_route_k", "tie_cut", "fusion_cut", "rerank_cut", "rerank_window", "unknown")
NO_SCORE, BELOW, TIED, ABOVE = 0, 1, 2, 3


@dataclass(frozen=True, eq=False)
class StageColumns:
    """One stage of all traces of a batch that ran it: n of them. `number` [traces] is the row of a trace, -1 for none.

    `items` are the items of these stages alone, `of` counting the n rows.
    """

    name: str
    kind: str
    stages: Stages
    items: Items
    number: Ints

    @property
    def route(self) -> str:
        """The name of the route, "" where it has none."""
        return self.name.partition(":")[2]


@dataclass(frozen=True, eq=False)
class Track:
    """Where gold evidence stands in one stage, a value for each row of the gold.

    `ran`: its trace ran this stage. `rank` 0: not kept. `dropped`: listed among what was dropped, with the `reason`
    that was written, `denied` by an access decision, and `side` of the last kept score. `item` is the item's row in
    the stage, -1 where it is not listed; `code` the ID that it goes on under.
    """

    ran: Bools
    rank: Ints
    dropped: Bools
    reason: Ints
    denied: Bools
    side: Ints
    item: Ints
    code: Ints


def stages_of(columns: TraceColumns) -> list[StageColumns]:
    """The stages of a batch by name, in the order in which they run."""
    names = columns.stages.name
    order = ("retrieve", "fuse", "rerank", "context")
    ordered = sorted(range(len(names.words)), key=lambda code: (order.index(names.words[code].partition(":")[0]), code))
    return [_stage(columns, code) for code in ordered]


def _stage(columns: TraceColumns, code: int) -> StageColumns:
    stages, items = columns.stages, columns.items
    chosen = np.flatnonzero(stages.name.codes == code)
    lengths = stages.start[chosen + 1] - stages.start[chosen]
    start = np.concatenate(([0], np.cumsum(lengths)))
    rows = np.repeat(stages.start[chosen] - start[:-1], lengths) + np.arange(start[-1])
    number = np.full(len(columns), -1, np.int64)
    number[stages.trace[chosen]] = np.arange(len(chosen))
    picked = {name: getattr(stages, name) for name in Stages.__dataclass_fields__ if name != "start"}
    kept: dict[str, Any] = {name: _chosen(column, chosen) for name, column in picked.items()}
    own = items.rows(rows)
    own = Items(**{**{name: getattr(own, name) for name in Items.__dataclass_fields__}, "of": _owners(lengths)})
    name = stages.name.words[code]
    return StageColumns(name, name.partition(":")[0], Stages(start=start, **kept), own, number)


def _owners(lengths: Ints) -> Ints:
    return np.repeat(np.arange(len(lengths)), lengths)


def _chosen(column: Any, rows: Ints) -> Any:
    return column.rows(rows) if isinstance(column, Coded) else column[rows]


def track(stage: StageColumns, gold: Gold, codes: Ints, vocabulary: int, parents: Ints | None = None) -> Track:
    """Where the gold stands, known by `codes` to the stages before; `vocabulary` is the number of IDs in the batch.

    `parents` are the IDs of what stands for the gold here, -1 for nothing: a parent that is there holds its chunk.
    """
    number = stage.number[gold.trace] if len(gold) else np.zeros(0, np.int64)
    item = _listed(stage, number, codes, vocabulary)
    if parents is not None:
        item = _held_by_parents(stage, item, _listed(stage, number, parents, vocabulary))
    found = item >= 0
    at = np.where(found, item, 0)
    items = stage.items
    if not len(items.id):
        empty = np.zeros(len(gold), np.int64)
        return Track(number >= 0, empty, empty > 0, empty - 1, empty > 0, empty, item, codes)
    kept = found & items.kept[at]
    dropped = found & ~items.kept[at]
    return Track(
        ran=number >= 0,
        rank=np.where(kept, items.rank[at], 0),
        dropped=dropped,
        reason=np.where(dropped, items.reason.codes[at], -1),
        denied=found & items.acl.where("denied")[at],
        side=np.where(dropped, sides(stage)[at], NO_SCORE),
        item=item,
        code=np.where(kept, items.id[at], codes),
    )


def _held_by_parents(stage: StageColumns, item: Ints, parent: Ints) -> Ints:
    """The item of each piece: its parent's, where that took the place of another chunk and the piece was left out."""
    items = stage.items
    at = np.maximum(parent, 0)
    there = (parent >= 0) & items.kept[at] & (items.previous[at] >= 0)
    left_out = (item < 0) | ~items.kept[np.maximum(item, 0)]
    return np.where(there & left_out, parent, item)


def _listed(stage: StageColumns, number: Ints, codes: Ints, vocabulary: int) -> Ints:
    """Each piece's item: the one kept under its ID, else kept as another, else dropped; -1 for none."""
    items = stage.items
    wanted = np.where((number >= 0) & (codes >= 0), number * vocabulary + codes, -1)
    is_gold = np.zeros(vocabulary + 1, bool)
    is_gold[codes] = True
    is_gold[-1] = False
    item = np.full(len(codes), -1, np.int64)
    order = np.argsort(wanted, kind="stable")
    for names, of_kept in ((items.previous, False), (items.id, False), (items.previous, True), (items.id, True)):
        rows = np.flatnonzero(is_gold[names] & (items.kept == of_kept))
        keys = items.of[rows] * vocabulary + names[rows]
        low, high = (np.searchsorted(wanted[order], keys, side=side) for side in ("left", "right"))
        counts = high - low
        places = np.repeat(low - np.cumsum(counts) + counts, counts) + np.arange(counts.sum())
        item[order[places]] = np.repeat(rows, counts)
    return item


def sides(stage: StageColumns) -> Ints:
    """For each item whether its score lies below, at or above that of the last kept one of its stage."""
    items = stage.items
    if items.kept.all():
        return np.zeros(len(items.kept), np.int64)
    last = np.full(len(stage.stages.trace), np.nan)
    last[items.of[items.kept]] = items.score[items.kept]  # kept items stand by rank, so the last one stays
    limit = last[items.of]
    found = np.select([items.score < limit, items.score == limit, items.score > limit], [BELOW, TIED, ABOVE], NO_SCORE)
    return np.asarray(found, np.int64)
