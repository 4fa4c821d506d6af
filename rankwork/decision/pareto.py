"""Quality, latency and cost side by side: which systems no other one beats, with intervals and without one score.

A system dominates another if it is at least as good on every axis and better on one. That is *clear* if on one axis the
intervals lie apart in its favour, and on no axis apart against it or estimated against it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from rankwork.decision.outcomes import Column
from rankwork.decision.pairing import Pair
from rankwork.decision.policy import Axes
from rankwork.errors import ContractError
from rankwork.statistics import minimum_values, paired, quantile_interval


@dataclass(frozen=True)
class Point:
    """A system on one axis: the estimate with the limits of its 90 % interval; None where it is not known."""

    value: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Axis:
    """What an axis measures, in which unit, and whether more (1) or less (-1) is better."""

    name: str
    unit: str
    sign: int


@dataclass(frozen=True)
class Front:
    """Systems by name, each with one point for each axis. Unknown values make a system neither better nor worse."""

    axes: tuple[Axis, ...]
    systems: Mapping[str, tuple[Point, ...]]

    def __post_init__(self) -> None:
        for name, points in self.systems.items():
            if len(points) != len(self.axes):
                raise ContractError(f"system {name!r} has {len(points)} points for {len(self.axes)} axes")

    @property
    def best(self) -> tuple[str, ...]:
        """The systems that no other one dominates."""
        return tuple(name for name in self.systems if not self.dominating(name))

    def dominating(self, name: str) -> tuple[str, ...]:
        """The systems that dominate this one."""
        return tuple(other for other in self.systems if other != name and self.dominates(other, name))

    def dominates(self, one: str, other: str) -> bool:
        """Whether the first is at least as good on every axis, and better on one, by the estimates."""
        gains = self._gains(one, other)
        return None not in gains and all(gain >= 0 for gain in gains if gain is not None) and any(gains)

    def clearly(self, one: str, other: str) -> bool:
        """Whether it dominates, and the intervals lie apart on an axis."""
        pairs = zip(self.axes, self.systems[one], self.systems[other], strict=True)
        return self.dominates(one, other) and any(_apart(axis, a, b) for axis, a, b in pairs)

    def _gains(self, one: str, other: str) -> list[float | None]:
        pairs = zip(self.axes, self.systems[one], self.systems[other], strict=True)
        return [None if a.value is None or b.value is None else axis.sign * (a.value - b.value) for axis, a, b in pairs]

    def __str__(self) -> str:
        lines = []
        for name, points in self.systems.items():
            said = [
                f"{axis.name} {_said(point)} {axis.unit}".rstrip()
                for axis, point in zip(self.axes, points, strict=True)
            ]
            beaten = self.dominating(name)
            how = "clearly " if any(self.clearly(other, name) for other in beaten) else ""
            place = f"{how}dominated by {', '.join(beaten)}" if beaten else "on the front"
            lines.append(f"{name}: {', '.join(said)}: {place}")
        return "\n".join(lines)


def _apart(axis: Axis, one: Point, other: Point) -> bool:
    """Whether the first one's whole interval is better than the other's."""
    worst, best = (one.low, other.high) if axis.sign > 0 else (one.high, other.low)
    return worst is not None and best is not None and axis.sign * (worst - best) > 0


def _said(point: Point) -> str:
    if point.value is None:
        return "unknown"
    ends = ["?" if end is None else f"{end:.4g}" for end in (point.low, point.high)]
    return f"{point.value:.4g} [{ends[0]}, {ends[1]}]"


def front_of(pair: Pair) -> Front | None:
    """Baseline and candidate on the policy's axes; None where it has none. InputError as for `Pair.columns`.

    Latency is in milliseconds, cost in the currency of the traces; 90 % intervals.

    >>> from rankwork.decision.outcomes import of_values
    >>> from rankwork.decision.pairing import pair
    >>> from rankwork.decision.policy import Policy, Rule
    >>> axes = Axes(quality=Rule(measure="R@10"), latency=0.5)
    >>> asked = Policy(name="mine", alpha=0.05, minimum_clusters=5, rules=(axes.quality,), front=axes)
    >>> slow = of_values("slow", {"R@10": [1] * 40, "latency_ms": [90] * 40})
    >>> fast = of_values("fast", {"R@10": [1] * 40, "latency_ms": [30] * 40})
    >>> front_of(pair(asked, slow, fast)).best
    ('candidate',)
    """
    axes = pair.policy.front
    if axes is None:
        return None
    rule = axes.quality
    quality = pair.columns(rule.measure, rule.stage, "front", "quality")
    latency = pair.columns("latency_ms", None, "front", "latency")
    cost = pair.columns("cost", None, "front", "cost") if axes.cost else None
    columns = [quality, latency, *([cost] if cost else [])]
    names = ("baseline", "candidate")
    return Front(
        _axes(axes, cost),
        {name: tuple(_points(pair, [each[side] for each in columns])) for side, name in enumerate(names)},
    )


def _axes(axes: Axes, cost: tuple[Column, Column] | None) -> tuple[Axis, ...]:
    found = [Axis(axes.quality.name, "", axes.quality.sign), Axis(f"P{100 * axes.latency:g} latency", "ms", -1)]
    return (*found, *([Axis("mean cost", cost[1].unit or cost[0].unit, -1)] if cost else []))


def _points(pair: Pair, columns: Sequence[Column]) -> list[Point]:
    axes = pair.policy.front
    quality, latency, *cost = columns
    quantile = axes.latency if axes else 0.5
    return [
        _mean(pair, quality, whole=False),
        _quantile(latency, quantile),
        *(_mean(pair, c, whole=True) for c in cost),
    ]


def _mean(pair: Pair, column: Column, *, whole: bool) -> Point:
    """The mean of what is known; of a cost, nothing is known if a part of it is not."""
    known = column.known
    if not known.any() or (whole and not known.all()):
        return Point(None, None, None)
    options = {"resamples": pair.policy.resamples, "seed": pair.policy.seed}
    found = paired(column.value[known], clusters=pair.clusters[known], **options)
    return Point(found.mean, found.low90, found.high90)


def _quantile(column: Column, quantile: float) -> Point:
    """The quantile of latency, where there are values enough to claim one."""
    values = column.value[column.known]
    if len(values) < len(column.value) or len(values) < minimum_values(quantile):
        return Point(None, None, None)
    low, high = quantile_interval(values, quantile)
    return Point(float(np.quantile(values, quantile, method="inverted_cdf")), low, high)
