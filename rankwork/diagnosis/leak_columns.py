"""Leaks looked for by columns: only the traces that may hold one are made into objects, and judged there."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np

from rankwork.diagnosis.corpus import Corpus
from rankwork.diagnosis.leaks import LAYERS, Leak, Rule, leaks_of
from rankwork.diagnosis.trace_columns import Bools, Ints, TraceColumns
from rankwork.trace import Identity, Trace


def leaks_in(columns: TraceColumns, identities: list[Identity], corpus: Corpus | None) -> list[Leak]:
    """The leaks of a batch, trace by trace, as `find_leaks` finds them; `identities` asks for each trace."""
    suspects = np.flatnonzero(_suspected(columns, identities, corpus)).tolist()
    return [leak for place in suspects for leak in leaks_of(_trace(columns, place), Rule.of(identities[place], corpus))]


def looked_at(columns: TraceColumns) -> Counter[str]:
    """In how many traces each layer was recorded."""
    stages, n = columns.stages, len(columns)
    kinds = {"list": ("retrieve", "fuse"), "rerank_input": ("rerank",), "context": ("context",)}
    found = Counter(dict.fromkeys(LAYERS, 0))
    for layer, names in kinds.items():
        ran = np.any([stages.kind.where(name) for name in names], axis=0)
        found[layer] = len(np.unique(stages.trace[ran]))
    for layer, column in (("prompt", "prompt"), ("citation", "citations")):
        found[layer] = n - columns.batch.column(column).null_count
    hits, lookups = _event(columns, "cache_hits"), _event(columns, "cache_lookups")
    if hits is not None:
        no_lookup = lookups.fill_null(-1).to_numpy(zero_copy_only=False) == 0
        found["cache"] = int((hits.is_valid().to_numpy(zero_copy_only=False) | no_lookup).sum())
    found["trace"] = n
    return found


def _suspected(columns: TraceColumns, identities: list[Identity], corpus: Corpus | None) -> Bools:
    stages, items = columns.stages, columns.items
    of_trace = stages.trace[items.of] if len(items.of) else items.of
    marks = np.zeros(len(columns), bool)
    marks[of_trace[items.acl.where("denied")]] = True
    tenants = [identity.tenant for identity in identities]
    code_of = {word: code for code, word in enumerate(items.tenant.words) if word}
    own = np.array([code_of.get(tenant, -2) for tenant in tenants], np.int64)
    foreign = np.isin(items.tenant.codes, list(code_of.values())) & (items.tenant.codes != own[of_trace])
    marks[of_trace[foreign]] = True
    hits = _event(columns, "cache_hits")
    if hits is not None:
        marks |= hits.is_valid().to_numpy(zero_copy_only=False)
    return marks if corpus is None else marks | _closed(columns, identities, corpus, of_trace)


def _closed(columns: TraceColumns, identities: list[Identity], corpus: Corpus, of_trace: Ints) -> Bools:
    """The traces that name a document that is closed to who asks, and those that name any document elsewhere."""
    marks = np.zeros(len(columns), bool)
    groups = {identity: place for place, identity in enumerate(dict.fromkeys(identities))}
    group = np.array([groups[identity] for identity in identities])
    for identity, number in groups.items():
        closed = columns.codes_of(sorted(corpus.closed_to(identity)))
        table = np.zeros(len(columns.ids) + 1, bool)
        table[closed[closed >= 0]] = True
        marks[of_trace[table[columns.items.id] & (group[of_trace] == number)]] = True
    for name in ("prompt", "citations", "answer", "claims"):
        marks |= columns.batch.column(name).is_valid().to_numpy(zero_copy_only=False)
    for name in ("injected_ids", "signals"):
        column = _event(columns, name)
        if column is not None:
            marks |= column.is_valid().to_numpy(zero_copy_only=False)
    return marks


def _event(columns: TraceColumns, name: str) -> Any:
    events = columns.batch.column("events")
    if events.null_count == len(columns):
        return None
    fields = dict(zip((field.name for field in events.type), events.flatten(), strict=True))
    return fields[name]


def _trace(columns: TraceColumns, place: int) -> Trace:
    from rankwork.inputs.trace_tables import objects_of

    return Trace.model_validate(objects_of(columns.batch.slice(place, 1))[0])


def named(leaks: Iterable[Leak]) -> set[str]:
    """The cases of some leaks."""
    return {leak.case for leak in leaks}
