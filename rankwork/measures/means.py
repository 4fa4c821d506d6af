"""Means over queries: each alike, by traffic, or slice by slice; what is undefined is left out, and it is said.

Ties of different queries are resolved on their own: the mean's minimum and maximum are the means of theirs and are
attained, and its variance is the sum of w^2 times theirs, over (sum of w)^2.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankwork.errors import ContractError
from rankwork.measures.values import CENSORED, Bools, Floats, Values, examples

Weights = Mapping[str, float]
Slices = Mapping[str, str | Iterable[str]]
_NUMBERS = ("contract", "min", "expected", "max")


@dataclass(frozen=True)
class Mean:
    """A measure's mean over its averaged queries: numbers, None where it is unknown, with the reason.

    `queries` counts what was averaged, `undefined` what was left out for want of a value, `censored` what a cut list
    hides. `coverage` is the share of the weight that was averaged, of all that the judged queries, or the weights
    given, add up to. `if_all_0` and `if_all_1` are what the contract's mean would be if each undefined query were 0 or
    1.
    """

    queries: int
    undefined: int
    censored: int
    contract: float | None
    min: float | None
    expected: float | None
    max: float | None
    std: float | None
    outer_min: float | None
    outer_max: float | None
    reason: str | None
    coverage: float | None = None
    if_all_0: float | None = None
    if_all_1: float | None = None

    @property
    def width(self) -> float | None:
        """Maximum minus minimum, of a list that was cut those of the outer bounds; None where they are not known."""
        return None if self.outer_max is None or self.outer_min is None else self.outer_max - self.outer_min


def mean_of(values: Values, weight: Floats | None = None, among: Bools | None = None, beyond: float = 0.0) -> Mean:
    """The mean over the averaged queries `among` the judged ones, all alike or by weight.

    `beyond` is weight that no judged query carries: it lowers the coverage.
    """
    inside = np.ones(len(values.contract), bool) if among is None else among
    weights = np.ones(len(inside)) if weight is None else weight
    averaged, undefined = values.averaged & inside, _left_undefined(values) & inside
    total, missing = float(weights[averaged].sum()), float(weights[undefined].sum())
    known = {name: _weighted(getattr(values, name)[averaged], weights[averaged]) for name in _NUMBERS}
    outer = {name: _weighted(getattr(values, name)[averaged], weights[averaged]) for name in ("outer_min", "outer_max")}
    everything = float(weights[inside].sum()) + beyond
    return Mean(
        queries=int(averaged.sum()),
        undefined=int(undefined.sum()),
        censored=int((values.censored & averaged).sum()),
        **known,
        std=_std(values.variance[averaged], weights[averaged]),
        **outer,
        reason=_reason(values, averaged, total),
        coverage=total / everything if everything > 0 else None,
        if_all_0=_filled(known["contract"], 0.0, total, missing),
        if_all_1=_filled(known["contract"], 1.0, total, missing),
    )


def weights_of(queries: Sequence[str], weights: Weights) -> tuple[Floats, float]:
    """The weight of each judged query, and what the other queries carry.

    ContractError for a judged query without a weight, for a weight that is negative or not finite, and if all are 0.
    """
    for query, value in weights.items():
        if isinstance(value, bool) or not isinstance(value, int | float | np.number) or not 0 <= value < np.inf:
            raise ContractError(f"the weight of query {query!r} must be a finite number of at least 0, got {value!r}")
    absent = [query for query in queries if query not in weights]
    if absent:
        raise ContractError(f"each judged query needs a weight; there is none for {examples(absent)}")
    found = np.array([float(weights[query]) for query in queries])
    if not found.sum() > 0:
        raise ContractError("the weights of the judged queries must not all be 0")
    judged = set(queries)
    return found, float(sum(float(value) for query, value in weights.items() if query not in judged))


def slices_of(queries: Sequence[str], slices: Slices) -> dict[str, Bools]:
    """Which judged queries each slice holds: from `{query: slice}`, or from `{slice: queries}` where they may overlap.

    ContractError for a judged query without a slice in the first form, and for one that is not judged in the second.
    """
    if all(isinstance(value, str) for value in slices.values()):
        return _by_label(queries, {query: str(label) for query, label in slices.items()})
    return {label: _members(queries, label, members) for label, members in slices.items()}


def _by_label(queries: Sequence[str], labels: Mapping[str, str]) -> dict[str, Bools]:
    absent = [query for query in queries if query not in labels]
    if absent:
        raise ContractError(f"each judged query needs a slice; there is none for {examples(absent)}")
    found = np.array([labels[query] for query in queries], object)
    return {label: np.asarray(found == label) for label in sorted(set(found.tolist()))}


def _members(queries: Sequence[str], label: str, members: str | Iterable[str]) -> Bools:
    if isinstance(members, str):
        raise ContractError(f"slice {label!r} must hold several queries, got the text {members!r}")
    wanted = set(members)
    unknown = sorted(wanted - set(queries))
    if unknown:
        raise ContractError(f"slice {label!r} names queries that are not judged: {examples(unknown)}")
    return np.array([query in wanted for query in queries], bool)


def _left_undefined(values: Values) -> Bools:
    return values.undefined if values.left_out is None else values.undefined & ~values.left_out


def _weighted(column: Floats, weights: Floats) -> float | None:
    total = weights.sum()
    if not total > 0 or np.isnan(column[weights > 0]).any():
        return None
    return float(np.where(weights > 0, column, 0.0) @ weights / total) if (weights != 1).any() else float(column.mean())


def _std(variance: Floats, weights: Floats) -> float | None:
    total = weights.sum()
    used = weights > 0
    if not total > 0 or np.isnan(variance[used]).any():
        return None
    return float(np.sqrt((variance[used] * weights[used] ** 2).sum()) / total)


def _reason(values: Values, averaged: Bools, total: float) -> str | None:
    if not averaged.any():
        return "no query is defined"
    if not total > 0:
        return "no averaged query has any weight"
    reasons: list[Any] = [reason for reason in values.reason[averaged].tolist() if reason]
    return CENSORED if CENSORED in reasons else reasons[0] if reasons else None


def _filled(mean: float | None, value: float, total: float, missing: float) -> float | None:
    if total + missing <= 0 or (mean is None and total > 0):
        return None
    return ((mean or 0.0) * total + value * missing) / (total + missing)
