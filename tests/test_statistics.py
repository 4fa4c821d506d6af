"""The bootstrap resamples what belongs together, can be had again, and covers as it says."""

from typing import Any

import numpy as np
import pytest

from rankwork.errors import ContractError
from rankwork.statistics import bootstrap_mean


def test_the_limits_are_those_of_the_exact_distribution_of_the_resampled_mean() -> None:
    """Of n zeros and ones the resampled sum is binomial: the percentile limits are its quantiles."""
    from scipy.stats import binom

    values = [1.0] * 12 + [0.0] * 28
    found = bootstrap_mean(values, resamples=100_000, level=0.9, seed=4)
    exact = binom(40, 0.3).ppf([0.05, 0.95]) / 40
    assert np.allclose((found.low, found.high), exact, atol=1 / 40)
    assert (found.level, found.resamples, found.clusters, found.seed) == (0.9, 100_000, 40, 4)


def test_clusters_are_drawn_whole() -> None:
    """Ten copies of each value are no more evidence than one: the interval is that of the single values."""
    values = np.random.default_rng(0).normal(size=25)
    single = bootstrap_mean(values, seed=2)
    copies = bootstrap_mean(np.repeat(values, 10), clusters=np.repeat(np.arange(25), 10), seed=2)
    naive = bootstrap_mean(np.repeat(values, 10), seed=2)
    assert np.allclose((copies.low, copies.high), (single.low, single.high))
    assert copies.clusters == 25
    assert naive.high - naive.low < 0.5 * (copies.high - copies.low)


def test_clusters_of_different_size_give_the_mean_of_queries() -> None:
    """Sum of sums over sum of sizes, not the mean of cluster means."""
    found = bootstrap_mean([1.0, 1.0, 1.0, 0.0], clusters=["a", "a", "a", "b"], resamples=20_000, level=0.4)
    assert (found.low, found.high) == (0.75, 0.75)


def test_the_interval_covers_the_mean_about_as_often_as_it_says() -> None:
    draw = np.random.default_rng(9)
    found = [bootstrap_mean(draw.normal(size=60), resamples=500, seed=seed) for seed in range(200)]
    assert 0.88 <= np.mean([interval.low <= 0 <= interval.high for interval in found]) <= 0.99


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"values": []}, "at least one, got shape"),
        ({"values": [[1.0]]}, "one number a query"),
        ({"values": [1.0, float("nan")]}, "value nan at position 1 is not finite"),
        ({"values": [1.0], "clusters": [1, 2]}, "there are 1 values and clusters of shape"),
        ({"values": [1.0], "level": 1.0}, "level must be between 0 and 1, got 1.0"),
        ({"values": [1.0], "resamples": 10}, "resamples must be an integer of at least 100, got 10"),
    ],
)
def test_what_cannot_be_resampled_is_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ContractError, match=message):
        bootstrap_mean(**arguments)
