"""How many of a case's requirements a stage meets, and whether all of them, with the range over the stage's own ties.

Where no tie and no cut stands between what is met and what is not, the number is a count. Where a tie goes through the
cut, the exact range is that of `rankwork.measures.evidence_coverage`. Where the cut hides a part, outer bounds remain.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from rankwork.diagnosis.candidates import Candidates
from rankwork.diagnosis.gold import Gold
from rankwork.diagnosis.stage_measures import COMPLETE, COVERAGE, StageValues, reciprocal
from rankwork.diagnosis.trace_columns import Bools, Floats, Ints
from rankwork.measures.evidence_coverage import evidence_coverage
from rankwork.measures.joining import Boundaries


def coverage_values(found: Candidates, gold: Gold, traces: Ints) -> Iterator[tuple[str, StageValues]]:
    """Both coverages of the stage's `traces`, int64[n]; a case without requirements, or with an empty one, has none."""
    needs = _Needs(found, gold, traces)
    share = needs.values(lambda met: met * reciprocal(needs.needed))
    yield COVERAGE, needs.exact(share, COVERAGE).where_scored(found.scored)
    every = needs.values(lambda met: (met >= needs.needed).astype(np.float64))
    yield COMPLETE, needs.exact(every, COMPLETE).where_scored(found.scored)


class _Needs:
    """The requirements of the stage's traces, and how many are met for certain, as observed and at most."""

    def __init__(self, found: Candidates, gold: Gold, traces: Ints) -> None:
        self.found, self.gold = found, gold
        row_of = np.full(int(max(gold.need_trace.max(initial=-1), traces.max(initial=-1))) + 1, -1, np.int64)
        row_of[traces] = np.arange(len(traces))
        self.row = row_of[gold.need_trace]
        self.needed = self._count(np.ones(len(self.row), bool))
        self.defined = (self.needed > 0) & (self._count(gold.empty_need) == 0)
        self.cut = found.joined.boundaries(found.k)
        self._meet(self.cut)

    def _meet(self, cut: Boundaries) -> None:
        found, gold = self.found, self.gold
        ran, at = found.row >= 0, np.maximum(found.row, 0)
        listed = ran & (found.place >= 0)
        above = listed & (found.above < cut.above[at])
        at_cut = listed & (found.above == cut.above[at]) & (cut.slots[at] > 0)
        self.hidden = (found.joined.retrieved == found.depth) & (cut.above + cut.tied == found.joined.retrieved)
        self.hidden &= cut.slots > 0
        out_of_sight = ran & ~listed & found.reachable & self.hidden[at]
        sure = self._any(above)
        open_needs = self._any(at_cut | out_of_sight) & ~sure
        splits = (cut.slots < cut.tied) | self.hidden
        self.met_observed = self._count(self._any(listed & (found.place < cut.k[at])))
        self.met_above = self._count(sure)
        self.open = np.where(splits, self._count(open_needs), 0)
        overlap = self._count(gold.overlapping) > 0
        self.most = np.where(overlap, self.open, np.minimum(self.open, cut.slots))
        self.tied = (self.open > 0) & ~self.hidden

    def _any(self, gold_rows: Bools) -> Bools:
        marks = np.zeros(len(self.row), bool)
        marks[self.gold.need[gold_rows[self.gold.need_row]]] = True
        return marks

    def _count(self, needs: Bools) -> Ints:
        own = needs & (self.row >= 0)
        return np.bincount(self.row[own], minlength=len(self.found.k))

    def values(self, of: Any) -> StageValues:
        """The numbers that counts of met requirements give; ranges left open where a cut hides what decides."""
        observed, low, high = of(self.met_observed), of(self.met_above), of(self.met_above + self.most)
        settled = self.open == 0
        low, high = np.where(settled, observed, low), np.where(settled, observed, high)
        known = low == high
        numbers = {name: np.where(known, observed, np.nan) for name in ("min", "expected", "max")}
        variance = np.where(known, 0.0, np.nan)
        low, high = np.where(self.defined, low, 0.0), np.where(self.defined, high, 0.0)
        return StageValues(
            self.defined, np.where(self.defined, observed, np.nan), **numbers, variance=variance,
            outer_min=low, outer_max=high,
        )  # fmt: skip

    def exact(self, values: StageValues, name: str) -> StageValues:
        """The same with the exact range of the traces in which a visible tie goes through the cut."""
        for row in np.flatnonzero(self.tied & self.defined):
            self._fill(values, int(row), name)
        return values

    def _fill(self, values: StageValues, row: int, name: str) -> None:
        found = self.found
        mine = np.flatnonzero(found.row == row)
        offsets = found.joined.run.offsets
        scores = found.joined.run.scores[offsets[row] : offsets[row + 1]]
        ids = {int(piece): f"item {found.place[piece]}" for piece in mine if found.place[piece] >= 0}
        run = {"q": {f"item {place}": float(score) for place, score in enumerate(scores)}}
        needs = [
            [ids.get(int(piece), f"absent {piece}") for piece in self.gold.need_row[self.gold.need == need]]
            for need in np.flatnonzero(self.row == row)
        ]
        k = int(found.k[row])
        result = evidence_coverage(run, {"q": needs}, k, order="input").result(f"{name}@{k}").values
        for field in ("min", "expected", "max", "variance", "outer_min", "outer_max"):
            _set(getattr(values, field), row, getattr(result, field))


def _set(column: Floats, row: int, value: Floats) -> None:
    column[row] = value[0]
