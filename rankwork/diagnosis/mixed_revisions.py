"""Sources that one trace shows in more than one revision: an index that kept the old one beside the new."""

from dataclasses import dataclass

import numpy as np

from rankwork.diagnosis.trace_columns import TraceColumns

MOST_NAMED = 5


@dataclass(frozen=True)
class MixedRevision:
    """One source of one trace, and its revisions there."""

    case: str
    source: str
    revisions: tuple[str, ...]

    def __str__(self) -> str:
        return f"case {self.case}: {self.source} as {' and '.join(self.revisions)}"


def mixed_revisions(columns: TraceColumns) -> list[MixedRevision]:
    """The sources of which a trace kept items in more than one revision; items that do not say are left out."""
    items = columns.items
    told = np.flatnonzero(items.kept & (items.source.codes >= 0) & (items.revision.codes >= 0))
    if not len(told):
        return []
    sources, revisions = len(items.source.words), len(items.revision.words)
    of_source = columns.stages.trace[items.of[told]] * sources + items.source.codes[told]
    pairs = np.unique(of_source * revisions + items.revision.codes[told])
    held, counts = np.unique(pairs // revisions, return_counts=True)
    return [
        MixedRevision(
            columns.cases[key // sources],
            items.source.words[key % sources],
            tuple(sorted(items.revision.words[pair % revisions] for pair in pairs[pairs // revisions == key])),
        )
        for key in held[counts > 1].tolist()
    ]


def note_on(found: list[MixedRevision]) -> tuple[str, ...]:
    """A sentence on them, for a reader; nothing where there are none."""
    if not found:
        return ()
    named = "; ".join(map(str, found[:MOST_NAMED]))
    return (f"sources that a trace shows in several revisions: {len(found)} ({named})",)
