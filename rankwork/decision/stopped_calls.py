"""Three ways to count calls that were stopped, two of which mislead: what each makes of a quantile.

A stopped call has no latency, only a lower limit for one. `rankwork.decision.quantiles` counts it as longer than all
that ended; the other two are what dashboards do.
"""

from rankwork.decision.quantiles import Quantile, quantile
from rankwork.decision.shares import CONFIDENCE
from rankwork.decision.stage_figures import Timings


def ways_to_count(
    timings: Timings, level: float, limit_ms: float, *, confidence: float = CONFIDENCE
) -> dict[str, Quantile]:
    r"""The quantile with stopped calls left out, with the limit in their place, and as longer than all that ended.

    >>> found = ways_to_count(Timings(ended=[float(n) for n in range(1, 91)], stopped=10), 0.95, limit_ms=200.0)
    >>> print(*(f"{way}: {each}" for way, each in found.items()), sep="\n")
    left out: P95 86 [81, 90]
    as the limit: P95 200 [90, 200]
    as longer than all: P95 unknown: it lies among the 10 that were stopped
    """
    at_the_limit = [*timings.ended, *[limit_ms] * timings.stopped]
    return {
        "left out": quantile(timings.ended, level, confidence=confidence),
        "as the limit": quantile(at_the_limit, level, confidence=confidence),
        "as longer than all": quantile(timings.ended, level, stopped=timings.stopped, confidence=confidence),
    }
