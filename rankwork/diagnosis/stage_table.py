"""The means of a stage's measures over all traces and over each slice: observed, own tie range, inherited range.

Sums are kept, not the traces. A mean over ties is known only where each trace's number is; else it is None, with the
number of traces that hide it and outer bounds beside it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwork.diagnosis.inherited import Inherited
from rankwork.diagnosis.stage_measures import NAMES, StageValues
from rankwork.diagnosis.trace_columns import Bools, Floats

if TYPE_CHECKING:
    import pandas as pd

_SUMMED = ("observed", "min", "expected", "max", "variance", "outer_min", "outer_max", "inherited_min", "inherited_max")
_KNOWN = ("min", "expected", "max", "variance", "inherited_min", "inherited_max")


@dataclass(frozen=True)
class StageMean:
    """The mean of one measure of one stage over `traces`; `undefined` more have no value.

    `own_*` is the range of all orders that the stage's own scores allow, `inherited_*` that of what ties in the stages
    before could have handed to it. None: unknown, in `own_unknown` or `inherited_unknown` traces; the `outer` bounds
    hold all the same.
    """

    stage: str
    measure: str
    traces: int
    undefined: int
    observed: float | None
    own_min: float | None
    own_expected: float | None
    own_max: float | None
    own_std: float | None
    own_outer_min: float | None
    own_outer_max: float | None
    own_unknown: int
    inherited_min: float | None
    inherited_max: float | None
    inherited_unknown: int


class StageTable:
    """Sums by stage, measure and slice, to which batches are added."""

    def __init__(self, slices: Sequence[str]) -> None:
        self.slices = ("all", *slices)
        self._sums: dict[tuple[str, str], Floats] = {}

    def add(self, stage: str, measure: str, own: StageValues, inherited: Inherited, members: Floats) -> None:
        """Add a batch: `members` float64[slices, n] says which of the n traces belong to which slice."""
        columns = {name: getattr(own, name) for name in _SUMMED if not name.startswith("inherited")}
        columns |= {"inherited_min": inherited.min, "inherited_max": inherited.max}
        table = np.stack([_row(own.defined, columns[name]) for name in _SUMMED], axis=1)
        hidden = np.stack([(np.isnan(columns[name]) & own.defined).astype(np.float64) for name in _KNOWN], axis=1)
        counts = np.stack([own.defined, ~own.defined], axis=1).astype(np.float64)
        sums = members @ np.concatenate([counts, table, hidden], axis=1)
        before = self._sums.get((stage, measure))
        self._sums[stage, measure] = sums if before is None else before + sums

    @property
    def stages(self) -> tuple[str, ...]:
        """The stages in the order in which they run."""
        order = ("retrieve", "fuse", "rerank", "context")
        names = dict.fromkeys(stage for stage, _ in self._sums)
        return tuple(sorted(names, key=lambda name: order.index(name.partition(":")[0])))

    def mean(self, stage: str, measure: str, *, among: str = "all") -> StageMean:
        """The mean of a measure of a stage, over all traces or those of a slice."""
        row = self._sums[stage, measure][self.slices.index(among)]
        defined, undefined = round(row[0]), round(row[1])
        sums = dict(zip(_SUMMED, row[2 : 2 + len(_SUMMED)], strict=True))
        hidden = dict(zip(_KNOWN, row[2 + len(_SUMMED) :], strict=True))
        found = {name: _mean(sums[name], defined, hidden.get(name, 0)) for name in _SUMMED}
        variance = found["variance"]
        return StageMean(
            stage,
            measure,
            defined,
            undefined,
            found["observed"],
            found["min"],
            found["expected"],
            found["max"],
            None if variance is None else sqrt(variance / defined),
            found["outer_min"],
            found["outer_max"],
            round(max(hidden["min"], hidden["max"])),
            found["inherited_min"],
            found["inherited_max"],
            round(max(hidden["inherited_min"], hidden["inherited_max"])),
        )

    def means(self, *, among: str = "all") -> list[StageMean]:
        """All means, stage by stage."""
        return [self.mean(stage, name, among=among) for stage in self.stages for name in NAMES]

    def to_pandas(self, *, among: str = "all") -> "pd.DataFrame":
        """One row a stage and measure."""
        import pandas as pd

        return pd.DataFrame([vars(mean) for mean in self.means(among=among)])


def members_of(names: Sequence[str], slices: Mapping[str, Sequence[str]], cases: Sequence[str]) -> Floats:
    """Which cases belong to which of the named slices, float64[slices, n]; "all" holds every case."""
    number = {name: place for place, name in enumerate(names)}
    members = np.zeros((len(names), len(cases)))
    members[number["all"]] = 1
    for place, case in enumerate(cases):
        for name in slices[case]:
            members[number[name], place] = 1
    return members


def _row(defined: Bools, values: Floats) -> Floats:
    return np.where(defined & ~np.isnan(values), values, 0.0)


def _mean(total: Any, count: int, hidden: Any) -> float | None:
    return float(total) / count if count and not hidden else None
