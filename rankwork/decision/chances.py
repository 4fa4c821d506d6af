"""How often a look says that a budget is kept, where the true quantile stands exactly at its limit: all but broken."""

from dataclasses import dataclass
from math import ceil

import numpy as np

from rankwork.decision.quantiles import exact, minimum
from rankwork.decision.shares import CONFIDENCE, Share, share
from rankwork.errors import ContractError
from rankwork.statistics import minimum_values


@dataclass(frozen=True)
class Chances:
    """Shares of windows of `n` values: with the quantile `observed` within the limit, and `shown` to be within.

    `allowed` is how many of the n may lie above the limit where it is shown; None where n values cannot show it.
    """

    n: int
    allowed: int | None
    observed: float
    shown: float


def chances(n: int, level: float, *, confidence: float = CONFIDENCE) -> Chances:
    """The two chances, exact, for values without ties. ContractError for fewer values than tell the quantile.

    With 100 values the observed P99 is their 99th; it stands under the true P99 in three windows of four:

    >>> found = chances(100, 0.99)
    >>> round(found.observed, 4), found.shown
    (0.7358, 0.0)
    >>> round(chances(299, 0.99).shown, 4)
    0.0495
    """
    from scipy.stats import binom

    if n < minimum(level):
        raise ContractError(f"it takes {minimum(level)} values to tell this quantile, got {n}")
    part = float(exact(level))
    observed = float(binom.sf(ceil(n * exact(level)) - 1, n, part))
    above = -1
    while minimum_values(level, above=above + 1, level=confidence) <= n:
        above += 1
    if above < 0:
        return Chances(n, None, observed, 0.0)
    return Chances(n, above, observed, float(binom.cdf(above, n, 1 - part)))


def with_few_values(level: float, *, most: int = 2, confidence: float = CONFIDENCE) -> tuple[Chances, ...]:
    """The chances of as few values as tell the quantile, then of as few as show it with 0, 1, ... `most` too slow.

    >>> [(found.n, found.allowed) for found in with_few_values(0.99)]
    [(100, None), (299, 0), (473, 1), (628, 2)]
    """
    needed = [minimum_values(level, above=above, level=confidence) for above in range(most + 1)]
    sizes = sorted({minimum(level), *(n for n in needed if n >= minimum(level))})
    return tuple(chances(n, level, confidence=confidence) for n in sizes)


def looked(n: int, level: float, *, looks: int, seed: int, confidence: float = CONFIDENCE) -> Share:
    """Of so many drawn windows of `n` values, the share with the observed quantile within the true one.

    It estimates what `chances` says exactly. The windows are uniform in 0..1, where the true quantile is the level
    itself. ContractError for fewer values than tell the quantile, and for no look.

    >>> found = looked(100, 0.99, looks=400, seed=1, confidence=0.999)
    >>> found.low < chances(100, 0.99).observed < found.high
    True
    """
    if looks < 1:
        raise ContractError(f"looks must be at least 1, got {looks}")
    if n < minimum(level):
        raise ContractError(f"it takes {minimum(level)} values to tell this quantile, got {n}")
    windows = np.sort(np.random.default_rng(seed).random((looks, n)), axis=1)
    within = windows[:, ceil(n * exact(level)) - 1] <= level
    return share(int(within.sum()), looks, confidence=confidence)
