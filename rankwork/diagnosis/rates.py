"""How often something happened in independent trials, with exact limits; where nothing did, what that can show."""

from dataclasses import dataclass
from typing import Any

from rankwork.diagnosis.bounded_shares import BoundedShare
from rankwork.errors import ContractError
from rankwork.statistics import share as exact_share


@dataclass(frozen=True)
class Rate:
    """How often an event came in independent trials, with the exact interval of Clopper and Pearson.

    `interval` is two-sided at `level`; `bound` is the one-sided upper limit at the same level, which is what is said
    where no event was seen. `unknown` trials are those of which nobody knows: they are not among `trials`, and `share`
    has the bounds with them. ContractError for counts that contradict each other and a level of .5 or less, or of 1.
    """

    events: int
    trials: int
    unknown: int = 0
    level: float = 0.95

    def __post_init__(self) -> None:
        if not 0.5 < self.level < 1:
            raise ContractError(f"level must be above .5 and below 1, got {self.level!r}")
        if not 0 <= self.events <= self.trials or self.unknown < 0:
            counts = f"{self.events} events, {self.trials} trials, {self.unknown} unknown"
            raise ContractError(f"events must be among the trials, and no count negative, got {counts}")

    @property
    def share(self) -> BoundedShare:
        """The share of events with its bounds."""
        return BoundedShare(self.events, self.trials - self.events, self.unknown, "there are no trials")

    @property
    def value(self) -> float | None:
        """Events by trials, None where there are none or some are unknown."""
        return self.share.value

    @property
    def interval(self) -> tuple[float, float] | None:
        """The two-sided interval of the rate among the known trials; None without a trial.

        >>> [round(limit, 4) for limit in Rate(1, 10).interval]
        [0.0025, 0.445]
        """
        if not self.trials:
            return None
        each = exact_share(self.events, self.trials, level=(1 + self.level) / 2)
        return each.low, each.high

    @property
    def bound(self) -> float | None:
        """The one-sided upper limit of the rate among the known trials; None without a trial.

        >>> round(Rate(0, 300).bound, 4)
        0.0099
        """
        return exact_share(self.events, self.trials, level=self.level).high if self.trials else None

    def to_json(self) -> dict[str, Any]:
        """What JSON holds of it."""
        limits = {"interval": self.interval and list(self.interval), "bound": self.bound, "level": self.level}
        return {"events": self.events, "trials": self.trials, **self.share.to_json(), **limits}

    def __str__(self) -> str:
        if self.interval is None:
            return f"no trials, {self.unknown} unknown" if self.unknown else "no trials"
        low, high = self.interval
        unknown = f", {self.unknown} unknown" if self.unknown else ""
        if not self.events:
            return f"none in {self.trials}{unknown}; the {self.level:.0%} upper bound is {self.bound:.4f}"
        return f"{self.events} in {self.trials}{unknown} ({self.level:.0%} interval {low:.4f} to {high:.4f})"


def p_value(p: float) -> str:
    """A p-value as a reader needs it: four decimals, and never a zero.

    >>> p_value(0.03126), p_value(1e-9)
    ('p = 0.0313', 'p < 0.0001')
    """
    return "p < 0.0001" if p < 0.0001 else f"p = {p:.4f}"
