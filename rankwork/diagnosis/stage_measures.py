"""What a stage is worth by its own ranking: each measure as observed, and its range over the stage's own ties.

Hit (which is called Success), recall, precision by k and by what was returned, reciprocal rank, average precision and
nDCG come from `rankwork.measures`; coverage of the requirements stands in `stage_coverage`. The observed number follows
the ranks that the stage gave. Its own range is that of all orders that the stage's scores allow; what a cut list hides
leaves it unknown, with outer bounds. A stage without scores shows no ties, and its range is unknown.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from rankwork.diagnosis.candidates import WHOLE, Candidates
from rankwork.diagnosis.trace_columns import Bools, Floats, Ints
from rankwork.measures import arranging
from rankwork.measures.evaluating import evaluated
from rankwork.measures.names import definition_of, parse
from rankwork.measures.values import Setting, by_protocol
from rankwork.protocol import Protocol

MEASURES = ("Success", "R", "P", "RR", "AP", "nDCG")
BY_RETURNED = "P(returned)"
COVERAGE, COMPLETE = "EvidenceCoverage", "EvidenceComplete"
NAMES = ("Success", "R", "P", BY_RETURNED, "RR", "AP", "nDCG", COVERAGE, COMPLETE)


@dataclass(frozen=True, eq=False)
class StageValues:
    """One measure of one stage for n traces, float64[n]; NaN is unknown, or undefined where `defined` is False.

    `outer_min` and `outer_max` always bound it: 0 and 1 where nothing is known of the ties.
    """

    defined: Bools
    observed: Floats
    min: Floats
    expected: Floats
    max: Floats
    variance: Floats
    outer_min: Floats
    outer_max: Floats

    def scaled(self, factor: Floats) -> "StageValues":
        """All numbers times a factor of each trace; undefined where that is NaN."""
        known = ~np.isnan(factor)
        numbers = {name: getattr(self, name) * factor for name in ("observed", "min", "expected", "max")}
        outer = {name: getattr(self, name) * np.where(known, factor, 0) for name in ("outer_min", "outer_max")}
        return StageValues(self.defined & known, variance=self.variance * factor**2, **numbers, **outer)

    def where_scored(self, scored: Bools) -> "StageValues":
        """The same with nothing claimed about ties where the stage gave no scores."""
        hidden = {
            name: np.where(scored, getattr(self, name), np.nan) for name in ("min", "expected", "max", "variance")
        }
        low, high = np.where(scored, self.outer_min, 0.0), np.where(scored, self.outer_max, 1.0)
        return replace(self, outer_min=low, outer_max=high, **hidden)


def stage_values(found: Candidates, protocol: Protocol) -> Iterator[tuple[str, StageValues]]:
    """Each measure but the coverages, by name."""
    for name in MEASURES:
        values = _of_measure(name, found, protocol)
        yield name, values.where_scored(found.scored)
        if name == "P":
            yield BY_RETURNED, values.scaled(_k_over_returned(found)).where_scored(found.scored)


def _k_over_returned(found: Candidates) -> Floats:
    """What turns precision by k into precision by the documents that were looked at; NaN for an empty list."""
    looked_at = np.minimum(found.k, found.returned).astype(np.float64)
    divisor = np.where(found.k == WHOLE, looked_at, found.k)
    unknown = np.full(len(looked_at), np.nan)
    return np.asarray(np.divide(divisor, looked_at, out=unknown, where=looked_at > 0))


def _of_measure(name: str, found: Candidates, protocol: Protocol) -> StageValues:
    """All traces at their cutoffs: one pass for each different cutoff."""
    parts = [(k, _at(name, int(k), found, protocol)) for k in np.unique(found.k)]
    if len(parts) == 1:
        return parts[0][1]
    columns: dict[str, Any] = {
        field: np.select([found.k == k for k, _ in parts], [getattr(part, field) for _, part in parts], np.nan)
        for field in StageValues.__dataclass_fields__
    }
    return StageValues(**{**columns, "defined": columns["defined"].astype(bool)})


def _at(name: str, k: int, found: Candidates, protocol: Protocol) -> StageValues:
    joined = found.joined
    depth = cast("Any", found.depth)  # one for each list: the audit declares one for all
    setting = Setting(joined, protocol, "input", depth)
    measure = parse(f"{name}@{k}")
    definition = definition_of(measure)
    resolved = definition.resolve(measure, setting)
    values = by_protocol(evaluated(resolved, setting), str(resolved), None, setting)
    order = arranging.in_order(joined, "input", every_judged=definition.every_judged)
    observed = definition.score(resolved, setting, order.with_k(definition.cutoffs(resolved, setting)))
    defined = ~values.undefined
    found_values = StageValues(
        defined,
        np.where(defined, observed, np.nan),
        *(getattr(values, field) for field in ("min", "expected", "max", "variance", "outer_min", "outer_max")),
    )
    whole_list_precision = name == "P" and k == WHOLE
    return found_values.scaled(WHOLE / np.maximum(found.returned, 1)) if whole_list_precision else found_values


def reciprocal(counts: Ints) -> Floats:
    """One over each count, NaN for 0."""
    return np.asarray(np.divide(1.0, counts, out=np.full(len(counts), np.nan), where=counts > 0))
