"""How often the table of verdicts speaks where there is nothing to say: simulated, for clusters of your own sizes.

The rate of an honest table is near 1 - .95 = .05. It grows where queries that share a cluster are counted one by one.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rankwork.decision.verdicts import verdict
from rankwork.errors import ContractError

_ALPHA = 0.05


@dataclass(frozen=True)
class ErrorRates:
    """The share of comparisons without a true difference that were called better or worse, each from 0 to 1.

    `by_query` where each query is resampled on its own, `by_cluster` where clusters are.
    """

    by_query: float
    by_cluster: float
    simulations: int

    def __str__(self) -> str:
        said = [f"by query {self.by_query:.1%}", f"by cluster {self.by_cluster:.1%}"]
        return f"a verdict without a difference: {', '.join(said)} of {self.simulations} comparisons"


def error_rates(
    sizes: Sequence[int], *, spread: float = 0.3, simulations: int = 300, resamples: int = 500, seed: int = 0
) -> ErrorRates:
    """The error rates of comparisons over clusters of these `sizes` (queries in each), with 95 % limits.

    Nothing differs but by chance: each cluster draws a difference from a normal distribution around 0 with standard
    deviation 1, and each of its queries adds one with standard deviation `spread`. The rates are themselves estimates:
    of S simulations, a rate r has a standard error of sqrt(r (1 - r) / S). ContractError for no cluster, a size below
    1, a negative spread, and fewer than 1 simulation.

    With one query a cluster there is nothing to be grouped:

    >>> found = error_rates([1] * 40, simulations=20)
    >>> found.by_query == found.by_cluster
    True
    """
    _check(sizes, spread, simulations)
    labels, draw = np.repeat(np.arange(len(sizes)), sizes), np.random.default_rng(seed)
    drawn = [draw.normal(size=len(sizes))[labels] + spread * draw.normal(size=len(labels)) for _ in range(simulations)]
    by_query, by_cluster = (
        sum(_speaks(differences, clusters, resamples) for differences in drawn) / simulations
        for clusters in (None, labels)
    )
    return ErrorRates(by_query, by_cluster, simulations)


def _speaks(differences: np.ndarray, clusters: np.ndarray | None, resamples: int) -> bool:
    found = verdict(differences, alpha=_ALPHA, largest_drop=None, clusters=clusters, resamples=resamples)
    return found.word != "inconclusive"


def _check(sizes: Sequence[int], spread: float, simulations: int) -> None:
    if not sizes or min(sizes) < 1:
        raise ContractError(f"each cluster holds at least one query, got sizes {list(sizes)!r}")
    if not (np.isfinite(spread) and spread >= 0):
        raise ContractError(f"a spread is a number of at least 0, got {spread!r}")
    if simulations < 1:
        raise ContractError(f"simulations must be at least 1, got {simulations!r}")
