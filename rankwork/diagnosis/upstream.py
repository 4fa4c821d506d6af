"""What the stages so far leave open for the next: whether another order of equal scores would give it other items."""

from dataclasses import dataclass

import numpy as np

from rankwork.diagnosis.candidates import Candidates
from rankwork.diagnosis.trace_columns import Bools, Ints
from rankwork.diagnosis.tracking import StageColumns


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
