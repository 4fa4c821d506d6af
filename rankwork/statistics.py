"""What another draw of queries could have given: intervals by resampling, seeded, so that a number can be had again.

This is the uncertainty of sampling queries. It has nothing to do with ties: the two are reported apart, never added.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankwork.errors import ContractError

_DRAWS_AT_ONCE = 2**22


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
    generator = np.random.default_rng(seed)
    step = max(_DRAWS_AT_ONCE // len(sums), 1)
    means = []
    for start in range(0, resamples, step):
        drawn = generator.integers(0, len(sums), (min(step, resamples - start), len(sums)))
        means.append(sums[drawn].sum(axis=1) / sizes[drawn].sum(axis=1))
    return np.concatenate(means)


def _checked(values: ArrayLike, level: float, resamples: int) -> NDArray[np.float64]:
    numbers = np.asarray(values, np.float64)
    if numbers.ndim != 1 or not len(numbers):
        raise ContractError(f"values must be one number a query, at least one, got shape {numbers.shape}")
    if not np.isfinite(numbers).all():
        place = int(np.argmin(np.isfinite(numbers)))
        raise ContractError(f"value {numbers[place].item()!r} at position {place} is not finite")
    if not 0 < level < 1:
        raise ContractError(f"level must be between 0 and 1, got {level!r}")
    if isinstance(resamples, bool) or not isinstance(resamples, int) or resamples < 100:
        raise ContractError(f"resamples must be an integer of at least 100, got {resamples!r}")
    return numbers


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
