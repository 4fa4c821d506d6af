"""A share of which some parts may be unknown: what is known of it, and between which bounds the rest leaves it.

A label that failed is neither a yes nor a no. Leaving it out would call three good labels of six a perfect score.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import fsum
from typing import Any, Self

NOTHING = "there is nothing to count"
UNKNOWN = "some labels are missing: see min and max"


@dataclass(frozen=True)
class BoundedShare:
    """The share that holds, of what holds, what fails and what is unknown; each counted, or weighed.

    `value` is None where it is not known, with the `reason`; `min` and `max` are attained if all that is unknown fails
    or holds; `among_known` is the share of what is known alone, which is no estimate of the whole.

    >>> half_failed = BoundedShare(holds=3, fails=0, unknown=3)
    >>> half_failed.min, half_failed.max, half_failed.coverage, half_failed.value, half_failed.among_known
    (0.5, 1.0, 0.5, None, 1.0)
    >>> BoundedShare(0, 0).value, BoundedShare(0, 0, why="the answer has no claims").reason
    (None, 'the answer has no claims')
    """

    holds: float
    fails: float
    unknown: float = 0.0
    why: str = NOTHING

    @classmethod
    def of(cls, parts: Iterable[tuple[bool | None, float]], *, why: str = NOTHING) -> Self:
        """The share of pairs of (holds, weight); None is unknown. `why` says why there may be no pairs."""
        pairs = list(parts)
        yes, no, open_ = (fsum(weight for holds, weight in pairs if holds is kind) for kind in (True, False, None))
        return cls(yes, no, open_, why)

    @property
    def total(self) -> float:
        """What is divided by: all of it, known or not."""
        return self.holds + self.fails + self.unknown

    @property
    def min(self) -> float | None:
        """The share if all that is unknown fails; None where there is nothing."""
        return self._of_total(self.holds)

    @property
    def max(self) -> float | None:
        """The share if all that is unknown holds; None where there is nothing."""
        return self._of_total(self.holds + self.unknown)

    @property
    def coverage(self) -> float | None:
        """The share of the whole that is known; None where there is nothing."""
        return self._of_total(self.holds + self.fails)

    @property
    def value(self) -> float | None:
        """The share, None where something is unknown or there is nothing."""
        return None if self.unknown else self.min

    @property
    def among_known(self) -> float | None:
        """The share of what is known; None where nothing is."""
        known = self.holds + self.fails
        return self.holds / known if known else None

    @property
    def reason(self) -> str | None:
        """Why there is no value; None where there is one."""
        if self.total == 0:
            return self.why
        return UNKNOWN if self.unknown else None

    def _of_total(self, part: float) -> float | None:
        return part / self.total if self.total else None

    def to_json(self) -> dict[str, Any]:
        """What JSON holds of it."""
        names = ("value", "min", "max", "coverage", "among_known", "total", "reason")
        return {name: getattr(self, name) for name in names}

    def __str__(self) -> str:
        if self.min is None or self.max is None:
            return f"undefined: {self.why}"
        if self.value is not None:
            return f"{self.value:.4f}"
        return f"{self.min:.4f} to {self.max:.4f} (known: {self.coverage:.1%})"


@dataclass(frozen=True)
class MeanShare:
    """The mean of shares over answers, each answer counting once, and the share of all parts taken together.

    `undefined` counts, by reason, the answers that have no such share: they are left out. `min` and `max` are the means
    of the bounds; `value` is None where some share is not known.
    """

    answers: int
    undefined: dict[str, int]
    value: float | None
    min: float | None
    max: float | None
    pooled: BoundedShare

    @classmethod
    def of(cls, shares: Sequence[BoundedShare]) -> Self:
        """The mean of shares.

        >>> print(MeanShare.of([BoundedShare(1, 0), BoundedShare(1, 3), BoundedShare(0, 0, why="no claims")]))
        0.6250 over 2 answers (pooled 0.4000), undefined in 1: no claims
        """
        defined = [share for share in shares if share.total]
        undefined: dict[str, int] = {}
        for share in shares:
            if not share.total:
                undefined[share.why] = undefined.get(share.why, 0) + 1
        return cls(
            len(defined),
            undefined,
            _mean([share.value for share in defined]),
            _mean([share.min for share in defined]),
            _mean([share.max for share in defined]),
            BoundedShare(
                fsum(share.holds for share in defined),
                fsum(share.fails for share in defined),
                fsum(share.unknown for share in defined),
            ),
        )

    def to_json(self) -> dict[str, Any]:
        """What JSON holds of it."""
        names = ("value", "min", "max", "answers", "undefined")
        return {**{name: getattr(self, name) for name in names}, "pooled": self.pooled.to_json()}

    def __str__(self) -> str:
        missing = "".join(f", undefined in {count}: {why}" for why, count in self.undefined.items())
        if self.min is None:
            return f"undefined{missing.removeprefix(', undefined') or ': there are no answers'}"
        value = f"{self.min:.4f} to {self.max:.4f}" if self.value is None else f"{self.value:.4f}"
        return f"{value} over {self.answers} answers (pooled {self.pooled}){missing}"


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fsum(known) / len(known) if known and len(known) == len(values) else None
