"""Quantiles of what was measured: which of them n values can tell, with limits that assume no distribution.

A quantile here is a value that was observed: the smallest that at least a share `level` of all values do not exceed.
Its limits are other observed values, chosen by the binomial distribution of how many values lie below the true
quantile (David and Nagaraja, Order Statistics, 2003, section 7.1), so that their coverage is at least the confidence
for any distribution, also one with equal values. Values are taken as independent: a burst of slow requests is less
than it counts.

A request that was stopped has no latency, only a lower limit for one. It is counted as longer than all that ended:
leaving it out would make a service look faster the more often it times out.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, isfinite
from typing import Literal

import numpy as np

from rankwork.decision.shares import CONFIDENCE, checked_confidence, leaves_out_zero
from rankwork.errors import ContractError, InputError
from rankwork.statistics import minimum_values, quantile_ranks

LEVELS = (0.5, 0.95, 0.99)
Verdict = Literal["within", "exceeded", "undecided", "refused"]


@dataclass(frozen=True)
class Quantile:
    """The quantile at `level` of `n` values, `stopped` of which are only known to be long.

    `value` is None, with the reason, where n values cannot tell it or it lies among the stopped. `low` and `high` are
    its limits, each None where no observed value can be one.
    """

    level: float
    n: int
    stopped: int
    value: float | None
    low: float | None
    high: float | None
    confidence: float
    reason: str | None

    @property
    def name(self) -> str:
        """The field's name for it, such as P99."""
        return name(self.level)

    def __str__(self) -> str:
        if self.value is None:
            return f"{self.name} unknown: {self.reason}"
        low, high = ("-" if limit is None else f"{limit:.4g}" for limit in (self.low, self.high))
        return f"{self.name} {self.value:.4g} [{low}, {high}]"


def name(level: float) -> str:
    """What a level is called: P50, P95, P99.9.

    >>> name(0.5), name(0.999)
    ('P50', 'P99.9')
    """
    return f"P{float(100 * exact(level)):g}"


def parse(text: str) -> float:
    """The level that a name such as P99 or p99.9 stands for. ContractError for another name.

    >>> parse("P95"), parse("p99.9")
    (0.95, 0.999)
    """
    match = re.fullmatch(r"[Pp](\d{1,2}(?:\.\d+)?)", text)
    if match is None or not Fraction(match[1]):
        raise ContractError(f"a quantile is named as P50 or P99.9, got {text!r}")
    return float(Fraction(match[1]) / 100)


def exact(level: float) -> Fraction:
    """A level as it was written: .99 is 99/100. ContractError for one that is not between 0 and 1.

    >>> exact(0.99)
    Fraction(99, 100)
    """
    if isinstance(level, bool) or not isinstance(level, float) or not 0 < level < 1:
        raise ContractError(f"level must be between 0 and 1, got {level!r}")
    return Fraction(repr(float(level)))


def minimum(level: float) -> int:
    """The fewest values of which a quantile at `level` is told: as many as leave one beyond it.

    >>> [minimum(level) for level in (0.5, 0.95, 0.99, 0.999)]
    [2, 20, 100, 1000]
    """
    tail = min(exact(level), 1 - exact(level))
    return ceil(1 / tail)


def quantile(values: Iterable[float], level: float, *, stopped: int = 0, confidence: float = CONFIDENCE) -> Quantile:
    """The quantile at `level` of `values`, float[n], in their unit, and of `stopped` more that did not end.

    `minimum(level)` values are needed, the stopped ones among them. InputError for a value that is not finite,
    ContractError for a level or a confidence outside 0..1.

    >>> print(quantile(range(1, 101), 0.95))
    P95 95 [90, 100]
    >>> print(quantile([3.0, 1.0, 2.0], 0.99))
    P99 unknown: it takes 100 values, and there are 3
    >>> print(quantile(range(1, 91), 0.95, stopped=10))
    P95 unknown: it lies among the 10 that were stopped
    """
    return quantiles(values, (level,), stopped=stopped, confidence=confidence)[0]


def quantiles(
    values: Iterable[float], levels: Iterable[float] = LEVELS, *, stopped: int = 0, confidence: float = CONFIDENCE
) -> tuple[Quantile, ...]:
    """Several quantiles of the same values, as `quantile` tells each; errors as there.

    >>> print(*quantiles(range(1, 101), (0.5, 0.95)), sep="; ")
    P50 50 [40, 61]; P95 95 [90, 100]
    """
    checked_confidence(confidence)
    _check_stopped(stopped)
    ordered = _ordered(values)
    return tuple(_quantile(ordered, level, stopped, confidence) for level in levels)


def _check_stopped(stopped: int) -> None:
    if isinstance(stopped, bool) or not isinstance(stopped, int) or stopped < 0:
        raise ContractError(f"stopped must be a count, got {stopped!r}")


def _ordered(values: Iterable[float]) -> list[float]:
    found = np.sort(np.fromiter(values, np.float64))
    if len(found) and not (isfinite(found[0]) and isfinite(found[-1])):
        wrong = found[~np.isfinite(found)][0]
        raise InputError(f"a value is {wrong.item()!r}, which is not finite; one that is not known is left out")
    ordered: list[float] = found.tolist()
    return ordered


def _quantile(ordered: list[float], level: float, stopped: int, confidence: float) -> Quantile:
    n, least = len(ordered) + stopped, minimum(level)
    if n < least:
        few = f"it takes {least} values, and there are {n}"
        return Quantile(level, n, stopped, None, None, None, confidence, few)
    low, high = limits(n, level, confidence)
    value = _at(ordered, ceil(n * exact(level)))
    reason = None if value is not None else f"it lies among the {stopped} that were stopped"
    return Quantile(level, n, stopped, value, _at(ordered, low), _at(ordered, high), confidence, reason)


def _at(ordered: list[float], rank: int | None) -> float | None:
    """The value at a rank from 1; None beyond those that ended."""
    return ordered[rank - 1] if rank is not None and rank <= len(ordered) else None


def limits(n: int, level: float, confidence: float = CONFIDENCE) -> tuple[int | None, int | None]:
    """The ranks, from 1, of the n ordered values that are the limits of a quantile; None where n has no such value.

    Each side errs with a probability of at most (1 - confidence) / 2. Of 100 values, the 99th can be exceeded by the
    true P99, so its upper limit is unknown:

    >>> limits(100, 0.99), limits(100, 0.5), limits(5, 0.5)
    ((97, None), (40, 61), (None, None))
    """
    return quantile_ranks(n, float(exact(level)), level=confidence)


def bounded_from(level: float, confidence: float = CONFIDENCE) -> int:
    """The fewest values of which a quantile at `level` is told with an upper limit.

    >>> bounded_from(0.99), limits(367, 0.99)[1], limits(368, 0.99)[1]
    (368, None, 368)
    """
    checked_confidence(confidence)
    return max(minimum(level), minimum_values(level, level=(1 + confidence) / 2))


@dataclass(frozen=True)
class Budget:
    """Whether the quantile at `level` keeps to `limit`: what was counted, and how many values it takes.

    `within`: shown with the confidence. `exceeded`: the opposite is. `undecided`: neither is. `refused`: so few values
    that not even a perfect record would show it.
    """

    level: float
    limit: float
    n: int
    above: int
    needed: int
    verdict: Verdict
    confidence: float

    def __str__(self) -> str:
        counted = f"{self.above} of {self.n} above {self.limit:g}"
        return f"{name(self.level)} <= {self.limit:g}: {self.verdict} ({counted}; it takes {self.needed})"


def budget(
    values: Iterable[float], level: float, limit: float, *, stopped: int = 0, confidence: float = CONFIDENCE
) -> Budget:
    """Whether the quantile at `level` of `values` keeps to `limit`, in their unit; `stopped` ones exceed it.

    An observed P99 below the limit is not enough: with 100 values the true one exceeds it once in three times.

    >>> print(budget([80.0] * 299, 0.99, 100.0))
    P99 <= 100: within (0 of 299 above 100; it takes 299)
    >>> budget([80.0] * 298, 0.99, 100.0).verdict, budget([80.0] * 300, 0.99, 100.0, stopped=9).verdict
    ('refused', 'exceeded')
    """
    from scipy.stats import binom

    checked_confidence(confidence)
    _check_stopped(stopped)
    ordered = _ordered(values)
    n = len(ordered) + stopped
    above = sum(value > limit for value in ordered) + stopped
    least = minimum_values(level, above=above, level=confidence)
    verdict: Verdict = "within" if n >= least else "undecided"
    if n < minimum_values(level, level=confidence):
        verdict = "refused"
    elif above and binom.sf(above - 1, n, float(1 - exact(level))) <= 1 - confidence:
        verdict = "exceeded"
    return Budget(level, limit, n, above, least, verdict, confidence)


@dataclass(frozen=True)
class QuantileDifference:
    """Second minus first: `value` with limits, each None where an observed value cannot be one."""

    level: float
    value: float | None
    low: float | None
    high: float | None
    confidence: float
    reason: str | None

    @property
    def clear(self) -> bool:
        """Whether the limits leave out 0."""
        return leaves_out_zero(self.low, self.high)


def quantile_difference(
    first: Iterable[float],
    second: Iterable[float],
    level: float,
    *,
    stopped: tuple[int, int] = (0, 0),
    confidence: float = CONFIDENCE,
) -> QuantileDifference:
    """The difference of a quantile between two windows, with limits that assume no distribution.

    Each window's own limits err half as often as is allowed in all, so that both hold together with the confidence.
    That is safe and wide; a difference that it calls clear is.

    >>> found = quantile_difference(range(100), range(50, 150), 0.5)
    >>> found.value, found.low, found.high, found.clear
    (50.0, 27.0, 73.0, True)
    """
    each = 1 - (1 - confidence) / 2
    one = quantile(first, level, stopped=stopped[0], confidence=each)
    two = quantile(second, level, stopped=stopped[1], confidence=each)
    unknown = next((found.reason for found in (one, two) if found.reason), None)
    return QuantileDifference(
        level, _minus(two.value, one.value), _minus(two.low, one.high), _minus(two.high, one.low), confidence, unknown
    )


def _minus(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one - other
