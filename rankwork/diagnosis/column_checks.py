"""What `Trace` refuses, looked for by columns: a batch is let through whole, or its first bad trace is refused by name.

The columns only find the trace; the sentence that refuses it is that of `Trace` itself.
"""

from collections.abc import Iterator
from typing import get_args

import numpy as np

from rankwork.diagnosis.trace_columns import Bools, Coded, Ints, TraceColumns
from rankwork.errors import InputError
from rankwork.trace import CUTS, DropReason, StageKind, Trace

KINDS: tuple[str, ...] = get_args(StageKind)
REASONS: tuple[str, ...] = get_args(DropReason)
_STATUSES = ("ok", "timeout", "error", "skipped", "degraded")
_ORDERS = ("id_asc", "id_desc", "rank", "input", "inclusive")


def check(columns: TraceColumns) -> None:
    """InputError for the first trace that `Trace` would refuse, with its case and what is wrong.

    Unknown words (kinds, reasons, states), ranks that are not 1 to n, scores that rise with the rank, fewer or more
    items than claimed, an ID at two ranks, an item that no stage before returned.
    """
    if not len(columns.items.id) and not len(columns.stages.trace):
        return
    for bad in _faults(columns):
        if bad.any():
            _refuse(columns, int(np.argmax(bad)))


def _faults(columns: TraceColumns) -> Iterator[Bools]:
    """For one kind of fault after the other, which traces have it."""
    stages, items = columns.stages, columns.items
    of_trace = stages.trace
    for words, known in ((stages.kind, KINDS), (stages.status, _STATUSES), (stages.order, _ORDERS)):
        yield _marked(columns, of_trace[_unknown(words, known)])
    yield _marked(columns, of_trace[stages.kind.codes < 0])
    for words, known in ((items.reason, REASONS), (items.acl, ("allowed", "denied"))):
        yield _marked(columns, of_trace[items.of[_unknown(words, known)]])
    yield _marked(columns, of_trace[items.of[(items.id < 0) | ~_item_agrees(columns)]])
    yield _marked(columns, of_trace[_bad_stages(columns)])
    yield _marked(columns, of_trace[_out_of_order(columns)])
    yield _marked(columns, of_trace[items.of[_invented(columns)]])


def _item_agrees(columns: TraceColumns) -> Bools:
    items = columns.items
    ranked = items.kept == (items.rank > 0)
    return np.asarray(ranked & ~(items.kept & (items.reason.codes >= 0)) & ~np.isinf(items.score))


def _bad_stages(columns: TraceColumns) -> Bools:
    """Stages whose kept items are not those that are claimed, or do not stand by rank and by score."""
    stages, items = columns.stages, columns.items
    kept = np.flatnonzero(items.kept)
    of, rank, score = items.of[kept], items.rank[kept], items.score[kept]
    count = np.bincount(of, minlength=len(stages.trace))
    bad = count != stages.returned
    bad |= (stages.requested > 0) & (count > stages.requested) & ~stages.order.where("inclusive")
    first = np.cumsum(count) - count
    bad[of[rank != np.arange(len(kept)) - first[of] + 1]] = True
    scored = ~np.isnan(score)
    level, owner = score[scored], of[scored]
    bad[owner[1:][(level[1:] > level[:-1]) & (owner[1:] == owner[:-1])]] = True
    bad[stages.complete & (stages.status.where("timeout") | stages.status.where("error"))] = True
    bad[items.of[_unknown(items.reason, tuple(set(items.reason.words) - set(CUTS))) & stages.complete[items.of]]] = True
    pairs = np.sort(of * max(len(columns.ids), 1) + items.id[kept])
    twice = pairs[1:][pairs[1:] == pairs[:-1]]
    bad[twice // max(len(columns.ids), 1)] = True
    return np.asarray(bad)


def _out_of_order(columns: TraceColumns) -> Bools:
    """Stages that stand after a later kind, or that stand twice in their trace."""
    stages = columns.stages
    place = np.array([KINDS.index(word) if word in KINDS else -1 for word in stages.kind.words] or [0])
    kind = place[stages.kind.codes]
    bad = np.zeros(len(kind), bool)
    bad[1:] = (kind[1:] < kind[:-1]) & (stages.trace[1:] == stages.trace[:-1])
    names = stages.trace * (len(stages.name.words) + 1) + stages.name.codes
    _, first = np.unique(names, return_index=True)
    again = np.ones(len(names), bool)
    again[first] = False
    return bad | again


def _invented(columns: TraceColumns) -> Bools:
    """Items of later stages that no stage before returned."""
    stages, items = columns.stages, columns.items
    width = max(len(columns.ids), 1)
    level = _levels(columns)
    named = np.where(items.previous >= 0, items.previous, items.id)
    depth = int(level.max(initial=0)) + 1
    trace_level = stages.trace * depth + level
    returned = np.sort((trace_level[items.of] * width + items.id)[items.kept])
    later = level[items.of] > 0
    wanted = (trace_level[items.of[later]] - 1) * width + named[later]
    bad = np.zeros(len(items.id), bool)
    in_order = np.sort(wanted)  # looked up in order, which is several times faster
    at = np.minimum(np.searchsorted(returned, in_order), max(len(returned) - 1, 0))
    if len(returned) and (returned[at] == in_order).all():
        return bad
    bad[np.flatnonzero(later)] = ~np.isin(wanted, returned)
    return bad


def _levels(columns: TraceColumns) -> Ints:
    """How many steps lie before each stage in its trace: 0 for all routes, then one more for each later stage."""
    stages = columns.stages
    later = ~stages.kind.where("retrieve")
    running = np.cumsum(later)
    first = np.searchsorted(stages.trace, stages.trace)
    before: Ints = running[first] - later[first]
    return np.asarray(running - before, np.int64)


def _unknown(words: Coded, known: tuple[str, ...]) -> Bools:
    strange = np.array([word not in known for word in words.words] + [False])
    return np.asarray(strange[words.codes])


def _marked(columns: TraceColumns, traces: Ints) -> Bools:
    marks = np.zeros(len(columns), bool)
    marks[traces] = True
    return marks


def _refuse(columns: TraceColumns, trace: int) -> None:
    from pydantic import ValidationError

    from rankwork.inputs.refusals import refusal
    from rankwork.inputs.trace_tables import objects_of

    try:
        Trace.model_validate(objects_of(columns.batch.slice(trace, 1))[0])
    except ValidationError as error:
        raise InputError(f"trace of case {columns.cases[trace]!r}: {refusal(error)}") from error
    raise InputError(f"trace of case {columns.cases[trace]!r} contradicts itself")
