"""How often a look says that a budget is kept, where the true quantile stands exactly at its limit: all but broken."""

from dataclasses import dataclass
from math import ceil

from rankwork.decision.quantiles import exact, minimum
from rankwork.decision.shares import CONFIDENCE
from rankwork.errors import ContractError
from rankwork.statistics import minimum_values


@dataclass(frozen=True)
class Chances:
    """Shares of windows of `n` values: with the quantile `observed` within the limit, and `shown` to be within."""

    n: int
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
    share = float(exact(level))
    observed = float(binom.sf(ceil(n * exact(level)) - 1, n, share))
    above = -1
    while minimum_values(level, above=above + 1, level=confidence) <= n:
        above += 1
    return Chances(n, observed, float(binom.cdf(above, n, 1 - share)) if above >= 0 else 0.0)
