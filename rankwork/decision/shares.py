"""A share of events with its exact limits, and the difference of two of them.

A share of 0 is not "never": with no event in n trials the upper limit says what n can rule out.
"""

from dataclasses import dataclass
from math import isfinite

from rankwork import statistics
from rankwork.errors import ContractError

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Share:
    """`count` of `of` trials; `unknown` more could not be told. `value` and its limits are None where `of` is 0.

    `low` and `high` are the two-sided limits of Clopper and Pearson (1934), exact for independent trials: their
    coverage is at least `confidence`. `upper` is the one-sided upper limit, which is told where nothing happened.
    """

    count: int
    of: int
    unknown: int
    value: float | None
    low: float | None
    high: float | None
    upper: float | None
    confidence: float

    def __str__(self) -> str:
        unknown = f", {self.unknown} unknown" if self.unknown else ""
        if self.value is None:
            return f"unknown{unknown}"
        if not self.count:
            return f"0 of {self.of}, at most {self.upper:.2%}{unknown}"
        return f"{self.value:.2%} [{self.low:.2%}, {self.high:.2%}], {self.count} of {self.of}{unknown}"


def share(count: int, of: int, *, unknown: int = 0, confidence: float = CONFIDENCE) -> Share:
    """The share of `count` events in `of` independent trials. ContractError for counts that contradict each other.

    >>> print(share(0, 300))
    0 of 300, at most 0.99%
    >>> print(share(2, 8))
    25.00% [3.19%, 65.09%], 2 of 8
    >>> print(share(0, 0, unknown=5))
    unknown, 5 unknown
    """
    checked_confidence(confidence)
    one_sided = statistics.share(count, of, level=confidence)
    two_sided = statistics.share(count, of, level=(1 + confidence) / 2)
    if not of:
        return Share(count, of, unknown, None, None, None, None, confidence)
    return Share(count, of, unknown, one_sided.share, two_sided.low, two_sided.high, one_sided.high, confidence)


@dataclass(frozen=True)
class ShareDifference:
    """Second minus first: `value` with limits; all None, with a reason, where a share is unknown."""

    value: float | None
    low: float | None
    high: float | None
    confidence: float
    reason: str | None

    @property
    def clear(self) -> bool:
        """Whether the limits leave out 0."""
        return leaves_out_zero(self.low, self.high)


def leaves_out_zero(low: float | None, high: float | None) -> bool:
    """Whether limits, of which each may be unknown, lie on one side of 0.

    >>> leaves_out_zero(0.1, None), leaves_out_zero(-0.1, 0.1), leaves_out_zero(None, None)
    (True, False, False)
    """
    return (low is not None and low > 0) or (high is not None and high < 0)


def share_difference(first: Share, second: Share, *, confidence: float = CONFIDENCE) -> ShareDifference:
    """The difference of two independent shares, with the limits of Newcombe (1998, method 10).

    They hold also where a share is 0 or 1, where those of the normal approximation collapse to a point. They are
    approximate; the limits of each share alone are exact. ContractError for a confidence that is not between 0 and 1.

    >>> found = share_difference(share(5, 500), share(25, 500))
    >>> round(found.value, 3), round(found.low, 3), round(found.high, 3), found.clear
    (0.04, 0.019, 0.063, True)
    """
    from statsmodels.stats.proportion import confint_proportions_2indep

    checked_confidence(confidence)
    if first.value is None or second.value is None:
        return ShareDifference(None, None, None, confidence, "a share is unknown")
    low, high = confint_proportions_2indep(
        second.count, second.of, first.count, first.of, method="newcomb", compare="diff", alpha=1 - confidence
    )
    return ShareDifference(second.value - first.value, float(low), float(high), confidence, None)


def checked_confidence(confidence: float) -> None:
    """ContractError for a confidence that is not between 0 and 1.

    >>> checked_confidence(0.95)
    """
    if not (isinstance(confidence, float) and isfinite(confidence) and 0 < confidence < 1):
        raise ContractError(f"confidence must be between 0 and 1, got {confidence!r}")
