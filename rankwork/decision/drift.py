"""What changed between two windows of traces, with limits for each difference.

Whoever looks at fifty figures finds one that seems to have moved. So the limits of all figures hold together: each one
errs with a probability of at most (1 - confidence) / (number of figures), after Bonferroni. Versions come first: where
another version ran, a difference has a name before it has a cause.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rankwork.decision.monitoring import Monitored
from rankwork.decision.quantiles import quantile_difference
from rankwork.decision.shares import CONFIDENCE, share_difference
from rankwork.errors import ContractError, InputError
from rankwork.trace import Trace

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Moved:
    """Second window minus first, of one figure; `clear` where the limits leave out 0; else `reason` may say why not."""

    figure: str
    unit: str
    first: float | None
    second: float | None
    value: float | None
    low: float | None
    high: float | None
    clear: bool
    reason: str | None

    def __str__(self) -> str:
        ends = ["unknown" if end is None else f"{end:.4g}" for end in (self.first, self.second)]
        limits = ["-" if limit is None else f"{limit:+.4g}" for limit in (self.low, self.high)]
        return f"  {self.figure} ({self.unit}): {' to '.join(ends)}, difference within [{', '.join(limits)}]"


@dataclass(frozen=True)
class Drift:
    """Every figure of two windows, and the components whose mixture of versions is not the same.

    `confidence` is that of all limits together, `each` that of one.
    """

    figures: tuple[Moved, ...]
    versions: tuple[str, ...]
    confidence: float
    each: float

    @property
    def clear(self) -> tuple[Moved, ...]:
        """The figures that moved, whatever chance does."""
        return tuple(moved for moved in self.figures if moved.clear)

    def __str__(self) -> str:
        head = (
            f"{len(self.clear)} of {len(self.figures)} figures moved; all limits hold together at {self.confidence:.0%}"
        )
        versions = [f"other versions of: {', '.join(self.versions)}"] if self.versions else []
        return "\n".join([head, *versions, *map(str, self.clear)])

    def to_pandas(self) -> "pd.DataFrame":
        """One row a figure."""
        import pandas as pd

        return pd.DataFrame([vars(moved) for moved in self.figures]).set_index("figure")


def by_version(traces: Iterable[Trace], component: str) -> dict[str, list[Trace]]:
    """The traces of each version of a component, the versions in the order in which they are met.

    InputError for a trace that does not name its version.

    >>> made = [Trace(case=str(number), snapshot={"index": version}) for number, version in enumerate("778")]
    >>> {version: len(found) for version, found in by_version(made, "index").items()}
    {'7': 2, '8': 1}
    """
    found: dict[str, list[Trace]] = {}
    for trace in traces:
        if component not in trace.snapshot:
            raise InputError(f"case {trace.case!r} does not say which version of {component} answered")
        found.setdefault(trace.snapshot[component], []).append(trace)
    return found


def drift(
    first: Monitored, second: Monitored, *, levels: tuple[float, ...] = (0.5, 0.95), confidence: float = CONFIDENCE
) -> Drift:
    """The difference of every share, of the latencies at `levels`, and of the median number of candidates.

    Stages that ran in one window alone have no difference and are named by their absence: compare `stages`.
    ContractError for two windows with no stage in common.

    >>> from rankwork.decision.monitoring import monitor
    >>> from rankwork.trace import Stage, Trace
    >>> def window(refused, of):
    ...     stage = Stage(kind="retrieve", returned=0)
    ...     return monitor([Trace(case=str(n), stages=(stage,), refused=n < refused) for n in range(of)])
    >>> found = drift(window(5, 400), window(60, 400))
    >>> [moved.figure for moved in found.clear]
    ['refused']
    """
    common = [name for name in first.tallies if name in second.tallies]
    if len(common) < 2:
        raise ContractError("the two windows have no stage in common")
    shares = [name for name in first.shares() if name in second.shares()]
    told = [name for name in shares if first.shares()[name].of and second.shares()[name].of]
    timed = [(name, level) for name in common for level in levels if _is_timed(first, second, name)]
    counted = [name for name in common if first.tallies[name].returned and second.tallies[name].returned]
    each = 1 - (1 - confidence) / max(len(told) + len(timed) + len(counted), 1)
    moved = [
        *(_share(first, second, name, each) for name in told),
        *(_latency(first, second, name, level, each) for name, level in timed),
        *(_candidates(first, second, name, each) for name in counted),
    ]
    return Drift(tuple(moved), _other_versions(first, second), confidence, each)


def _is_timed(first: Monitored, second: Monitored, name: str) -> bool:
    return all(window.tallies[name].timings.ended for window in (first, second))


def _share(first: Monitored, second: Monitored, name: str, confidence: float) -> Moved:
    one, two = first.shares()[name], second.shares()[name]
    found = share_difference(one, two, confidence=confidence)
    return Moved(name, "share", one.value, two.value, found.value, found.low, found.high, found.clear, found.reason)


def _latency(first: Monitored, second: Monitored, name: str, level: float, confidence: float) -> Moved:
    one, two = first.tallies[name].timings, second.tallies[name].timings
    stopped = (one.stopped, two.stopped)
    return _quantile(f"{name} latency", "ms", (one.ended, two.ended), stopped, level, confidence)


def _candidates(first: Monitored, second: Monitored, name: str, confidence: float) -> Moved:
    counts = ([float(n) for n in first.tallies[name].returned], [float(n) for n in second.tallies[name].returned])
    return _quantile(f"{name} candidates", "items", counts, (0, 0), 0.5, confidence)


def _quantile(
    what: str,
    unit: str,
    values: tuple[list[float], list[float]],
    stopped: tuple[int, int],
    level: float,
    confidence: float,
) -> Moved:
    from rankwork.decision.quantiles import name, quantile

    found = quantile_difference(*values, level, stopped=stopped, confidence=confidence)
    one, two = (quantile(each, level, stopped=lost).value for each, lost in zip(values, stopped, strict=True))
    return Moved(f"{what} {name(level)}", unit, one, two, found.value, found.low, found.high, found.clear, found.reason)


def _other_versions(first: Monitored, second: Monitored) -> tuple[str, ...]:
    """Components of which one window knows a version that the other does not."""
    names = sorted({*first.versions, *second.versions})
    return tuple(n for n in names if set(first.versions.get(n, {})) != set(second.versions.get(n, {})))
