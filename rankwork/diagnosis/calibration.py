"""A judge beside people, slice by slice: where it may stand in for them, and how sure that is.

The intervals are over items: another draw of questions would give other numbers. Whole clusters are drawn where items
share a question, because verdicts on one question go wrong together.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rankwork.diagnosis.judges import Agreement, Coefficient, Weights, agreement_of
from rankwork.diagnosis.ratings import Paired, Ratings, paired
from rankwork.errors import ContractError
from rankwork.inputs.verdicts import KEY
from rankwork.statistics import Interval, bootstrap_mean

if TYPE_CHECKING:
    import pandas as pd

ALL = "all"
_DRAWS_AT_ONCE = 2**22
EXCEPT_RUBRIC = tuple(name for name in KEY if name != "rubric")


@dataclass(frozen=True)
class SliceCalibration:
    """A judge against people on the items of one slice.

    `bias` is the mean of the judge's verdict minus the people's, in steps of the scale: above 0 it is lenient; None for
    a scale without an order. The intervals are percentiles over resampled clusters; `undefined` counts the resamples
    in which kappa was undefined, which its interval leaves out. With fewer than the asked number of clusters nothing is
    concluded: no interval, and `reason`.
    """

    slice: str
    agreement: Agreement
    clusters: int
    agreed_interval: Interval | None
    kappa_interval: Interval | None
    undefined: int
    bias: float | None
    bias_interval: Interval | None
    reason: str | None

    def to_json(self) -> dict[str, Any]:
        """What JSON holds of it."""
        intervals = {name: getattr(self, name) for name in ("agreed_interval", "kappa_interval", "bias_interval")}
        plain = {name: getattr(self, name) for name in ("slice", "clusters", "undefined", "bias", "reason")}
        shown = {name: None if found is None else vars(found) for name, found in intervals.items()}
        return {**plain, **shown, "agreement": self.agreement.to_json()}


@dataclass(frozen=True, repr=False)
class Calibration:
    """A judge against people: all items first, then each slice. `weights` are those of the kappa with the interval."""

    slices: tuple[SliceCalibration, ...]
    weights: Weights

    def slice(self, name: str) -> SliceCalibration:
        """One of the slices, `all` for all items. ContractError for an unknown one."""
        found = {each.slice: each for each in self.slices}
        if name not in found:
            raise ContractError(f"the slices are {', '.join(found)}; there is no {name!r}")
        return found[name]

    @property
    def agreement(self) -> Agreement:
        """The agreement over all items."""
        return self.slice(ALL).agreement

    @property
    def weakest(self) -> SliceCalibration:
        """The slice with the least share of equal verdicts, the first of several; all items where no slice is named."""
        named = [each for each in self.slices if each.slice != ALL]
        return min(named or self.slices, key=lambda each: each.agreement.agreed.among_known or 0.0)

    def kappa(self, name: str) -> Coefficient:
        """The kappa of a slice, with the weights of this calibration."""
        return kappa_of(self.slice(name).agreement, self.weights)

    def to_pandas(self) -> "pd.DataFrame":
        """One row a slice: items, agreement, kappa and bias, each with its interval."""
        import pandas as pd

        rows = []
        for each in self.slices:
            row = {"slice": each.slice, "items": each.agreement.items, "clusters": each.clusters}
            row["failed"] = each.agreement.failed
            row |= _columns("agreed", each.agreement.agreed.among_known, each.agreed_interval)
            row |= _columns("kappa", kappa_of(each.agreement, self.weights).value, each.kappa_interval)
            row |= _columns("bias", each.bias, each.bias_interval)
            rows.append(row)
        return pd.DataFrame(rows)

    def to_json(self) -> dict[str, Any]:
        """What JSON holds of it."""
        return {"weights": self.weights, "slices": [each.to_json() for each in self.slices]}

    def __str__(self) -> str:
        table = self.to_pandas().to_string(index=False, float_format=lambda number: f"{number:.4f}", na_rep="-")
        return f"kappa with {self.weights or 'no'} weights; intervals over clusters of items\n{table}"


def _columns(name: str, value: float | None, interval: Interval | None) -> dict[str, Any]:
    limits = (None, None) if interval is None else (interval.low, interval.high)
    return {name: value, f"{name}_low": limits[0], f"{name}_high": limits[1]}


def kappa_of(found: Agreement, weights: Weights) -> Coefficient:
    """The kappa of an agreement with these weights. ContractError for unknown ones."""
    by_weights = {None: found.kappa, "linear": found.linear_kappa, "quadratic": found.quadratic_kappa}
    if weights not in by_weights:
        raise ContractError(f"weights must be None, 'linear' or 'quadratic', got {weights!r}")
    return by_weights[weights]


def calibration(
    judge: Ratings,
    people: Ratings,
    *,
    slices: Mapping[str, Iterable[str]] | None = None,
    across: Sequence[str] = EXCEPT_RUBRIC,
    weights: Weights = "quadratic",
    minimum: int = 10,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> Calibration:
    """A judge against people, over all items and by slice, with intervals over clusters of items.

    `slices` gives the items of each; None: the slices that the people's verdicts name. `across` is what the two keys
    may differ in, by default all but the rubric: people who follow another rubric calibrate nothing. ContractError for
    a slice without an item that both know, a slice named "all", a minimum below 2, and as `paired`.
    """
    if isinstance(minimum, bool) or not isinstance(minimum, int) or minimum < 2:
        raise ContractError(f"minimum must be an integer of at least 2, got {minimum!r}")
    pair = paired(judge, people, across=across)
    named = {name: set(items) for name, items in (_slices(people) if slices is None else slices).items()}
    if ALL in named:
        raise ContractError(f"{ALL!r} is the name of all items, not of a slice")
    parts = {ALL: pair} | {name: pair.only(items) for name, items in named.items()}
    empty = [name for name, part in parts.items() if not part.items]
    if empty:
        raise ContractError(f"slice {empty[0]!r} has no item with a verdict of both")
    options: dict[str, Any] = {"level": level, "resamples": resamples, "seed": seed}
    found = (_calibrated(name, part, weights, minimum, options) for name, part in parts.items())
    return Calibration(tuple(found), weights)


def _slices(people: Ratings) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for item, verdict in people.verdicts.items():
        for name in verdict.slices:
            found.setdefault(name, []).append(item)
    return dict(sorted(found.items()))


def _calibrated(
    name: str, pair: Paired, weights: Weights, minimum: int, options: Mapping[str, Any]
) -> SliceCalibration:
    first, second = pair.places
    clusters, ordered = len(set(pair.clusters)), pair.first.scale.level != "nominal"
    agreement = agreement_of(pair)
    steps = (first - second).astype(np.float64)
    plain: dict[str, Any] = {"slice": name, "agreement": agreement, "clusters": clusters}
    bias = float(steps.mean()) if ordered else None
    if clusters < minimum:
        few = f"{clusters} clusters of items, fewer than {minimum}: no interval"
        return SliceCalibration(**plain, agreed_interval=None, kappa_interval=None, undefined=0, bias=bias,
                                bias_interval=None, reason=few)  # fmt: skip
    interval, undefined = kappa_interval(pair, weights=weights, **options)
    return SliceCalibration(
        **plain,
        agreed_interval=bootstrap_mean((steps == 0).astype(np.float64), clusters=pair.clusters, **options),
        kappa_interval=interval,
        undefined=undefined,
        bias=bias,
        bias_interval=bootstrap_mean(steps, clusters=pair.clusters, **options) if ordered else None,
        reason=kappa_of(agreement, weights).reason,
    )


def kappa_interval(
    pair: Paired, *, weights: Weights = None, level: float = 0.95, resamples: int = 2000, seed: int = 0
) -> tuple[Interval | None, int]:
    """The percentile interval of kappa, clusters drawn with replacement, and how many resamples had no kappa.

    None where no resample has one.
    """
    labels, members = np.unique(np.asarray(pair.clusters), return_inverse=True)
    size = len(pair.first.scale.values)
    if weights and pair.first.scale.level == "nominal":
        return None, resamples
    tables = np.zeros((len(labels), size, size))
    np.add.at(tables, (members, pair.places[1], pair.places[0]), 1)
    found = kappas(_resampled(tables.reshape(len(labels), -1), resamples, seed).reshape(-1, size, size), weights)
    known = found[~np.isnan(found)]
    if not len(known):
        return None, resamples
    low, high = np.quantile(known, [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(low), float(high), level, resamples, len(labels), seed), resamples - len(known)


def _resampled(rows: NDArray[np.float64], resamples: int, seed: int) -> NDArray[np.float64]:
    """The sum of rows drawn with replacement, one a resample: float64[resamples, columns]."""
    generator, even = np.random.default_rng(seed), np.full(len(rows), 1 / len(rows))
    step = max(_DRAWS_AT_ONCE // len(rows), 1)
    counts = [min(step, resamples - start) for start in range(0, resamples, step)]
    return np.concatenate([generator.multinomial(len(rows), even, count) @ rows for count in counts])


def kappas(tables: NDArray[np.float64], weights: Weights) -> NDArray[np.float64]:
    """Cohen's kappa of each confusion matrix float64[N, size, size]; NaN where all verdicts have one value.

    >>> kappas(np.array([[[2.0, 0.0], [1.0, 1.0]], [[4.0, 0.0], [0.0, 0.0]]]), None).tolist()
    [0.5, nan]
    """
    cost = _cost(tables.shape[1], weights)
    total = tables.sum(axis=(1, 2))
    expected = tables.sum(axis=2)[:, :, None] * tables.sum(axis=1)[:, None, :] / total[:, None, None]
    seen, chance = (tables * cost).sum(axis=(1, 2)), (expected * cost).sum(axis=(1, 2))
    return np.where(chance > 0, 1 - seen / np.where(chance > 0, chance, 1), np.nan)


def _cost(size: int, weights: Weights) -> NDArray[np.float64]:
    steps = np.abs(np.subtract.outer(np.arange(size), np.arange(size))).astype(np.float64)
    return steps**2 if weights == "quadratic" else steps if weights == "linear" else (steps > 0).astype(np.float64)
