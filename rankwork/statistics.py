"""What another draw of queries could have given: intervals by resampling, seeded, so that a number can be had again.

This is the uncertainty of sampling queries. It has nothing to do with ties: the two are reported apart, never added.

`paired` compares two systems by the clusters of their queries: limits of the mean difference from one set of resamples,
and a sign-flip p-value. Shares of events and quantiles get exact bounds, which need no resampling: `share`,
`quantile_interval`, `quantile_ranks`, `minimum_values`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankwork.errors import ContractError

_ROUNDING = 1e-12  # of binomial probabilities, which are exact to about 1e-15
_DRAWS_AT_ONCE = 2**17  # what fits into a processor's cache; the draws do not depend on it
FEWEST_TO_FLIP = 6  # with 5 clusters that differ, no two-sided p is below 2/32
_NOISE = 100 * float(np.finfo(np.float64).eps)
_SIGNS = 1.0 - 2.0 * np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1)  # of 8 clusters, by byte


@dataclass(frozen=True)
class Interval:
    """The limits between which `level` of the resampled means lie, and how they were drawn."""

    low: float
    high: float
    level: float
    resamples: int
    clusters: int
    seed: int


def bootstrap_mean(
    values: ArrayLike,
    *,
    clusters: ArrayLike | None = None,
    level: float = 0.95,
    resamples: int = 10_000,
    seed: int = 0,
) -> Interval:
    """The percentile interval of a mean, queries drawn with replacement; differences of pairs make it a paired one.

    `values` float64[n], one a query; `clusters` [n] names what belongs together, such as queries of one text: whole
    clusters are drawn, and the mean is the sum of their sums over the sum of their sizes. ContractError for no values,
    one that is not finite, columns of different length, a level outside 0..1, fewer than 100 resamples.

    >>> found = bootstrap_mean([0.0, 0.0, 1.0, 1.0], seed=1)
    >>> found.low, found.high, found.clusters
    (0.0, 1.0, 4)
    """
    numbers = _checked(values, level, resamples)
    sums, sizes = _by_cluster(numbers, clusters)
    means = resampled_means(sums, sizes, resamples, seed)
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(low), float(high), level, resamples, len(sums), seed)


def resampled_means(
    sums: NDArray[np.float64], sizes: NDArray[np.float64], resamples: int, seed: int
) -> NDArray[np.float64]:
    """The mean of each resample of clusters with these sums and sizes, float64[resamples]."""
    (means,) = _resampled([sums], sizes, resamples, seed)
    return means


def _resampled(
    columns: Sequence[NDArray[np.float64]], sizes: NDArray[np.float64], resamples: int, seed: int
) -> list[NDArray[np.float64]]:
    """The same for several columns of sums, which share the draws: those cost more than all the rest."""
    generator = np.random.default_rng(seed)
    step = max(_DRAWS_AT_ONCE // len(sizes), 1)
    alike = sizes.min() == sizes.max()
    means = np.empty((len(columns), resamples))
    for start in range(0, resamples, step):
        drawn = generator.integers(0, len(sizes), (min(step, resamples - start), len(sizes)))
        count = sizes[0] * len(sizes) if alike else sizes.take(drawn).sum(axis=1)
        for mean, sums in zip(means, columns, strict=True):
            mean[start : start + step] = sums.take(drawn).sum(axis=1) / count
    return list(means)


@dataclass(frozen=True)
class Estimate:
    """The mean of paired differences, with its percentile limits over redrawn clusters.

    `low95` to `high90` come from one set of resamples. `p` is that of the two-sided sign-flip test by cluster; None
    where fewer than `FEWEST_TO_FLIP` clusters differ. `differ` counts the clusters whose sum is not 0, `degraded` those
    where it is negative; `lowest` is the most negative difference of a query, 0 where there is none.
    """

    mean: float
    low95: float
    high95: float
    low90: float
    high90: float
    p: float | None
    queries: int
    clusters: int
    differ: int
    degraded: int
    lowest: float
    resamples: int
    seed: int


def paired(
    differences: ArrayLike, *, clusters: ArrayLike | None = None, resamples: int = 10_000, seed: int = 0
) -> Estimate:
    """The mean of differences, candidate minus baseline, float64[n], one a query; more is better.

    `clusters` [n] names what belongs together, such as queries of one text: it is drawn and flipped as a whole. A
    cluster whose differences cancel out does not differ. ContractError as for `bootstrap_mean`.

    >>> found = paired([0.5, 0.5, 0.5, -0.5, 0.0, 0.0], clusters=["a", "a", "b", "c", "d", "e"])
    >>> round(found.mean, 4), found.clusters, found.differ, found.degraded, found.lowest, found.p
    (0.1667, 5, 3, 1, -0.5, None)
    """
    (found,) = paired_columns([differences], clusters=clusters, resamples=resamples, seed=seed)
    return found


def paired_columns(
    columns: Sequence[ArrayLike], *, clusters: ArrayLike | None = None, resamples: int = 10_000, seed: int = 0
) -> list[Estimate]:
    """`paired` for several columns of differences of the same queries, such as a difference and both its limits.

    The same as one call for each, and faster: they share their draws. ContractError as for `paired`.
    """
    checked = [_checked(column, 0.95, resamples) for column in columns]
    if len({len(numbers) for numbers in checked}) > 1:
        raise ContractError(f"columns of {', '.join(str(len(numbers)) for numbers in checked)} values: as many each")
    grouped = [_by_cluster(numbers, clusters) for numbers in checked]
    scales = [_by_cluster(np.abs(numbers), clusters)[0] for numbers in checked]
    sums = [_without_noise(one, scale) for (one, _), scale in zip(grouped, scales, strict=True)]
    sizes = grouped[0][1] if grouped else np.ones(1)
    means = _resampled(sums, sizes, resamples, seed)
    return [_estimate(*parts, sizes, resamples, seed) for parts in zip(checked, sums, means, strict=True)]


def _estimate(
    numbers: NDArray[np.float64],
    sums: NDArray[np.float64],
    means: NDArray[np.float64],
    sizes: NDArray[np.float64],
    resamples: int,
    seed: int,
) -> Estimate:
    low95, low90, high90, high95 = np.quantile(means, [0.025, 0.05, 0.95, 0.975]).tolist()
    return Estimate(
        mean=float(sums.sum() / sizes.sum()),
        low95=low95,
        high95=high95,
        low90=low90,
        high90=high90,
        p=sign_flip(sums, resamples=resamples, seed=seed),
        queries=len(numbers),
        clusters=len(sums),
        differ=int((sums != 0).sum()),
        degraded=int((sums < 0).sum()),
        lowest=min(float(numbers.min()), 0.0),
        resamples=resamples,
        seed=seed,
    )


def _without_noise(sums: NDArray[np.float64], sizes: NDArray[np.float64]) -> NDArray[np.float64]:
    """The sums of clusters, 0 where what is left of their parts is the rounding of floats."""
    return np.where(np.abs(sums) <= _NOISE * sizes, 0.0, sums)


def sign_flip(sums: ArrayLike, *, resamples: int = 10_000, seed: int = 0) -> float | None:
    """The two-sided p of a mean difference: how often random signs of the clusters' sums give one as large.

    `sums` float64[n], one a cluster. p = (b + 1) / (B + 1), where b of B random flips reach the observed mean; equal
    ones count, with a tolerance of 100 eps times the mean absolute difference. None where fewer than `FEWEST_TO_FLIP`
    sums differ from 0. Phipson & Smyth 2010, "Permutation p-values should never be zero". ContractError as for
    `bootstrap_mean`.

    >>> sign_flip([1.0] * 5) is None
    True
    >>> 0.02 < sign_flip([1.0] * 6) < 0.04  # 2 of the 64 flips reach it: 0.03125
    True
    """
    moved = _checked(sums, 0.95, resamples)
    moved = moved[moved != 0]
    if len(moved) < FEWEST_TO_FLIP:
        return None
    reach = abs(float(moved.sum())) - _NOISE * float(np.abs(moved).sum())
    reached = int((np.abs(_flipped(moved, resamples, seed)) >= reach).sum())
    return (reached + 1) / (resamples + 1)


def _flipped(sums: NDArray[np.float64], resamples: int, seed: int) -> NDArray[np.float64]:
    """The total under random signs, float64[resamples]: a random byte chooses the signs of eight sums at once."""
    padded = np.zeros(-(-len(sums) // 8) * 8)
    padded[: len(sums)] = sums
    totals_of_eight = (_SIGNS * padded.reshape(-1, 1, 8)).sum(axis=2)
    signs = np.random.default_rng(seed).integers(0, 256, (len(totals_of_eight), resamples), dtype=np.uint8)
    total = np.zeros(resamples)
    for table, chosen in zip(totals_of_eight, signs, strict=True):
        total += table[chosen]
    return total


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """The p-values adjusted for all claims together, by Holm 1979; None, where no test was made, is no claim.

    ContractError for a p-value outside 0..1.

    >>> holm([0.01, None, 0.04])
    [0.02, None, 0.04]
    """
    known = np.array([p for p in p_values if p is not None], np.float64)
    outside = known[~((known >= 0) & (known <= 1))]
    if len(outside):
        raise ContractError(f"p-values lie between 0 and 1, got {outside[0].item()!r}")
    # Not statsmodels' multipletests, which collects all garbage at every call: a quarter of a second for ten numbers.
    order = np.argsort(known, kind="stable")
    adjusted = np.empty(len(known))
    adjusted[order] = np.minimum(np.maximum.accumulate(np.arange(len(known), 0, -1) * known[order]), 1)
    rest = iter(adjusted.tolist())
    return [None if p is None else next(rest) for p in p_values]


@dataclass(frozen=True)
class Share:
    """A share of events, with two exact one-sided bounds, each at `level`; `share` is None for no units."""

    events: int
    units: int
    share: float | None
    low: float
    high: float
    level: float

    def __str__(self) -> str:
        limits = f"{self.low:.2%} to {self.high:.2%}" if self.events else f"at most {self.high:.2%}"
        return f"{self.events} of {self.units} ({limits}, {self.level:.0%} bounds)"


def share(events: int, units: int, *, level: float = 0.95) -> Share:
    """A share with its Clopper-Pearson bounds: each holds with confidence `level`, so both hold with 2 level - 1.

    Of no event in n units, the upper bound is what n can show and no more. Clopper & Pearson 1934. ContractError for
    counts that are negative or not integers, more events than units, a level outside 0..1.

    >>> print(share(0, 300))
    0 of 300 (at most 0.99%, 95% bounds)
    """
    for name, count in (("events", events), ("units", units)):
        if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < 0:
            raise ContractError(f"{name} must be a count, got {count!r}")
    if events > units:
        raise ContractError(f"there are {events} events in {units} units: a unit counts once")
    _check_level(level)
    from scipy.special import betaincinv

    low = float(betaincinv(events, units - events + 1, 1 - level)) if events else 0.0
    high = float(betaincinv(events + 1, units - events, level)) if events < units else 1.0
    return Share(int(events), int(units), events / units if units else None, low, high, level)


def minimum_values(quantile: float, *, above: int = 0, level: float = 0.95) -> int:
    """How many values it takes to show that a quantile lies within a budget, where `above` of them exceed it.

    The fewest n for which the exact upper bound of the share above the budget is at most 1 - quantile. ContractError
    for a quantile or level outside 0..1, and for a count that is negative.

    >>> [minimum_values(0.99, above=above) for above in (0, 1, 2)]
    [299, 473, 628]
    """
    if not 0 < quantile < 1:
        raise ContractError(f"a quantile lies between 0 and 1, got {quantile!r}")
    if isinstance(above, bool) or not isinstance(above, int) or above < 0:
        raise ContractError(f"above must be a count, got {above!r}")
    _check_level(level)
    from scipy.special import bdtr

    few, enough = above, above + 1
    while bdtr(above, enough, 1 - quantile) > 1 - level:
        few, enough = enough, 2 * enough
    while enough - few > 1:
        middle = (few + enough) // 2
        few, enough = (middle, enough) if bdtr(above, middle, 1 - quantile) > 1 - level else (few, middle)
    return enough


def quantile_interval(values: ArrayLike, quantile: float, *, level: float = 0.9) -> tuple[float | None, float | None]:
    """Limits of a quantile that hold for every distribution: two of the values, chosen by the binomial distribution.

    `values` float64[n], independent. Each limit holds with confidence (1 + level) / 2; None where so few values have no
    such limit. Conover 1999, "Practical nonparametric statistics", 3.2. ContractError as for `bootstrap_mean`.

    >>> quantile_interval(range(1, 11), 0.5, level=0.9)
    (2.0, 9.0)
    >>> quantile_interval(range(100), 0.99)
    (96.0, None)
    """
    numbers = np.sort(_checked(values, level, 100))
    if not 0 < quantile < 1:
        raise ContractError(f"a quantile lies between 0 and 1, got {quantile!r}")
    low, high = quantile_ranks(len(numbers), quantile, level=level)
    return (None if low is None else float(numbers[low - 1]), None if high is None else float(numbers[high - 1]))


def quantile_ranks(n: int, quantile: float, *, level: float) -> tuple[int | None, int | None]:
    """The ranks, from 1, of the n ordered values that limit a quantile; None where n has no such value.

    Each side errs with a probability of at most (1 - level) / 2. A probability that equals it but for the rounding of
    floats is allowed, as it is exactly: a single value lies above the true P95 with probability .05.

    >>> quantile_ranks(10, 0.5, level=0.9), quantile_ranks(1, 0.95, level=0.9)
    ((2, 9), (1, None))
    """
    from scipy.special import bdtr

    tail = (1 - level) / 2
    at_most = bdtr(np.arange(n, dtype=float), n, quantile)  # the chance that so many values lie below the quantile
    low, high = int((at_most <= tail + _ROUNDING).sum()), int((at_most < 1 - tail - _ROUNDING).sum()) + 1
    return low or None, high if high <= n else None


def mcnemar(gained: int, lost: int) -> float | None:
    """The exact two-sided p that as many units are gained as lost, of those that two systems decide differently.

    None where they decide all alike. McNemar 1947. ContractError for counts that are negative or not integers.

    >>> mcnemar(0, 6), mcnemar(0, 0)
    (0.03125, None)
    """
    for name, count in (("gained", gained), ("lost", lost)):
        if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < 0:
            raise ContractError(f"{name} must be a count, got {count!r}")
    if gained + lost == 0:
        return None
    from statsmodels.stats.contingency_tables import mcnemar as test

    return float(test([[0, int(gained)], [int(lost), 0]], exact=True).pvalue)


def _checked(values: ArrayLike, level: float, resamples: int) -> NDArray[np.float64]:
    numbers = np.asarray(values, np.float64)
    if numbers.ndim != 1 or not len(numbers):
        raise ContractError(f"values must be one number a query, at least one, got shape {numbers.shape}")
    if not np.isfinite(numbers).all():
        place = int(np.argmin(np.isfinite(numbers)))
        raise ContractError(f"value {numbers[place].item()!r} at position {place} is not finite")
    _check_level(level)
    if isinstance(resamples, bool) or not isinstance(resamples, int) or resamples < 100:
        raise ContractError(f"resamples must be an integer of at least 100, got {resamples!r}")
    return numbers


def _check_level(level: float) -> None:
    if not 0 < level < 1:
        raise ContractError(f"level must be between 0 and 1, got {level!r}")


def _by_cluster(
    numbers: NDArray[np.float64], clusters: ArrayLike | None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The sum and the size of each cluster; without clusters every query is one."""
    if clusters is None:
        return numbers, np.ones(len(numbers))
    labels: NDArray[Any] = np.asarray(clusters)
    if labels.shape != numbers.shape:
        raise ContractError(f"there are {len(numbers)} values and clusters of shape {labels.shape}: one each")
    _, members = np.unique(labels, return_inverse=True)
    sums: NDArray[np.float64] = np.bincount(members, numbers).astype(np.float64)
    return sums, np.bincount(members).astype(np.float64)
