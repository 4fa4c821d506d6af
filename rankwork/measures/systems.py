"""Two systems and more: who wins whatever the ties do, and who only by them.

*Free*: each system's ties resolve on their own. It is the default and defines a robust win. *Common order*: one order
of IDs breaks the ties of both. The range that ties leave and the interval that a sample of queries leaves are two
things: they stand beside each other and are never added.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwork.errors import ContractError
from rankwork.measures.auditing import Audit, Judged, Run, audit, read_judged
from rankwork.measures.common_order import common_range
from rankwork.measures.names import Measure
from rankwork.measures.values import CENSORED, Bools, Floats, examples
from rankwork.protocol import Protocol
from rankwork.statistics import Interval, bootstrap_mean

if TYPE_CHECKING:
    import pandas as pd

ROUNDING = 1e-12  # measures are at most 1 and sums of few thousand terms: a smaller difference is the float's


def systems(
    runs: Mapping[str, Run],
    judgements: Judged,
    measures: Iterable[str | Measure] | str | Measure,
    *,
    protocol: str | Protocol = "rankwork",
    order: str | None = None,
    depth: int | None = None,
) -> "Systems":
    """Audits of several runs against the same judgements, to be compared; `runs` gives each system its name.

    The rest is as for `audit`. ContractError for fewer than two systems, and as `audit` raises.

    >>> run = {"q": {"a": 1.0, "b": 1.0}}
    >>> found = systems({"A": run, "B": {"q": {"a": 2.0, "b": 1.0}}}, {"q": {"a": 1}}, ["RR"])
    >>> difference = found.difference("RR", "A", "B")
    >>> difference.min.tolist(), difference.max.tolist(), difference.wins
    ([0.0], [0.5], 0)
    """
    if len(runs) < 2:
        raise ContractError(f"there must be at least two systems, got {len(runs)}")
    asked = [measures] if isinstance(measures, str | Measure) else list(measures)
    judged = read_judged(judgements, protocol)
    options: dict[str, Any] = {"protocol": protocol, "order": order, "depth": depth}
    return Systems({name: audit(run, judged, asked, **options) for name, run in runs.items()})


@dataclass(frozen=True)
class Standing:
    """A system's place: the mean of a measure with its range, and the best and the worst rank that ties allow it."""

    system: str
    contract: float | None
    min: float | None
    expected: float | None
    max: float | None
    std: float | None
    queries: int
    best_rank: int
    worst_rank: int


@dataclass(frozen=True)
class MeanDifference:
    """The mean of second minus first: what ties leave, free and by a common order, and apart from it the interval.

    `interval` is that of the contract's mean over a new draw of queries, ties staying as the contract has them; None
    where the contract is not known. `common_exact` is False if some query has free bounds in the common range.
    """

    queries: int
    contract: float | None
    min: float
    expected: float | None
    max: float
    std: float | None
    common_min: float
    common_max: float
    common_exact: bool
    interval: Interval | None
    reason: str | None


@dataclass(frozen=True, eq=False)
class Difference:
    """Second minus first, query by query: float64[Q] over the Q queries that both are averaged over.

    `min` and `max` are the free range, `common_min` and `common_max` that of a common order, exact where
    `common_exact`; of lists that were cut all are bounds, and `contract`, `expected` and `variance` are NaN where the
    cut hides them. `left_out` names judged queries that only one of the systems, or none, has a value for.
    """

    measure: str
    first: str
    second: str
    queries: tuple[str, ...]
    left_out: tuple[str, ...]
    contract: Floats
    min: Floats
    expected: Floats
    max: Floats
    variance: Floats
    common_min: Floats
    common_max: Floats
    common_exact: Bools
    censored: int

    @property
    def wins(self) -> int:
        """Queries that the second system wins whatever the ties do."""
        return int((self.min > 0).sum())

    @property
    def losses(self) -> int:
        """Queries that it loses whatever the ties do."""
        return int((self.max < 0).sum())

    @property
    def equal(self) -> int:
        """Queries on which no order makes a difference."""
        return int(((self.min == 0) & (self.max == 0)).sum())

    @property
    def undecided(self) -> int:
        """Queries whose sign the ties can change, or bring to 0."""
        return len(self.queries) - self.wins - self.losses - self.equal

    @property
    def reversible(self) -> int:
        """Queries that the contract decides, and that another order takes back."""
        return int(((self.contract != 0) & (self.min <= 0) & (self.max >= 0)).sum())

    def mean(self, *, level: float = 0.95, resamples: int = 10_000, seed: int = 0) -> MeanDifference:
        """The mean difference, its tie range and, apart from it, its sampling interval: paired, by query, seeded."""
        count = len(self.queries)
        if not count:
            raise ContractError(f"{self.first} and {self.second} have no query in common that has a value")
        contract, expected = _known_mean(self.contract), _known_mean(self.expected)
        std = None if np.isnan(self.variance).any() else float(np.sqrt(self.variance.sum())) / count
        options: dict[str, Any] = {"level": level, "resamples": resamples, "seed": seed}
        return MeanDifference(
            queries=count,
            contract=contract,
            min=float(self.min.mean()),
            expected=expected,
            max=float(self.max.mean()),
            std=std,
            common_min=float(self.common_min.mean()),
            common_max=float(self.common_max.mean()),
            common_exact=bool(self.common_exact.all()),
            interval=None if contract is None else bootstrap_mean(self.contract, **options),
            reason=CENSORED if self.censored else None if std is not None else "a standard deviation is not known",
        )

    def to_pandas(self) -> "pd.DataFrame":
        """One row a query, with its verdict: win, loss, equal or undecided."""
        import pandas as pd

        names = ("contract", "min", "expected", "max", "common_min", "common_max", "common_exact")
        verdict = np.where(self.min > 0, "win", np.where(self.max < 0, "loss", "undecided")).astype(object)
        verdict[(self.min == 0) & (self.max == 0)] = "equal"
        columns = {name: getattr(self, name) for name in names}
        return pd.DataFrame({"query": list(self.queries), **columns, "std": np.sqrt(self.variance), "verdict": verdict})

    def to_json(self, *, seed: int = 0) -> dict[str, Any]:
        """What JSON holds of it: the counts, and the mean with range and interval."""
        counts = {name: getattr(self, name) for name in ("wins", "losses", "equal", "undecided", "reversible")}
        named = {"measure": self.measure, "first": self.first, "second": self.second}
        return {**named, **counts, "left_out": list(self.left_out), "mean": asdict(self.mean(seed=seed))}

    def __str__(self) -> str:
        mean = self.mean()
        contract = "unknown" if mean.contract is None else f"{mean.contract:+.4f}"
        lines = [
            f"{self.measure}, {self.second} minus {self.first}: {contract} by the contract, {mean.queries} queries",
            f"  ties, each system's on their own: {mean.min:+.4f} to {mean.max:+.4f}",
            f"  ties, one order for both: {mean.common_min:+.4f} to {mean.common_max:+.4f}{_inexact(self)}",
        ]
        if mean.interval is not None:
            limits = f"{mean.interval.low:+.4f} to {mean.interval.high:+.4f}"
            lines.append(f"  other queries ({mean.interval.level:.0%} interval, paired bootstrap): {limits}")
        lines.append(
            f"  queries won whatever ties do: {self.wins}, lost: {self.losses}, equal: {self.equal}, "
            f"undecided: {self.undecided}"
        )
        if self.left_out:
            lines.append(f"  left out, without a value in one of them: {examples(self.left_out)}")
        return "\n".join(lines)


@dataclass(frozen=True, eq=False, repr=False)
class Systems:
    """Audits of several systems by name, of the same judgements, measures and conventions."""

    audits: Mapping[str, Audit]

    @property
    def names(self) -> tuple[str, ...]:
        """The systems, in the order in which they were given."""
        return tuple(self.audits)

    def audit(self, system: str) -> Audit:
        """The audit of a system. ContractError for a name that is not known."""
        if system not in self.audits:
            raise ContractError(f"the systems are {', '.join(self.audits)}; there is no {system!r}")
        return self.audits[system]

    @cached_property
    def _differences(self) -> dict[tuple[str, str, str], Difference]:
        return {}

    def difference(self, measure: str, first: str, second: str) -> Difference:
        """Second minus first. ContractError for a system or a measure that is not there."""
        key = (measure, first, second)
        if key not in self._differences:
            self._differences[key] = _difference(measure, first, self.audit(first), second, self.audit(second))
        return self._differences[key]

    def leaderboard(self, measure: str) -> list[Standing]:
        """The systems by the contract's mean, best first, each with the ranks that ties allow it.

        Best rank: one more than the systems whose minimum is above its maximum. Worst: one more than those whose
        maximum is above its minimum. Of lists that were cut the outer bounds take the place of both; a system of which
        nothing is known stands last.
        """
        means = {name: found.result(measure).mean for name, found in self.audits.items()}
        lows = {name: -np.inf if mean.outer_min is None else mean.outer_min for name, mean in means.items()}
        highs = {name: np.inf if mean.outer_max is None else mean.outer_max for name, mean in means.items()}
        standings = []
        for name, mean in means.items():
            others = [other for other in means if other != name]
            fields = ("contract", "min", "expected", "max", "std", "queries")
            numbers = {field: getattr(mean, field) for field in fields}
            best = 1 + sum(lows[other] > highs[name] + ROUNDING for other in others)
            worst = 1 + sum(highs[other] > lows[name] + ROUNDING for other in others)
            standings.append(Standing(system=name, **numbers, best_rank=best, worst_rank=worst))
        return sorted(standings, key=lambda s: (s.contract is None, -(s.contract or 0.0), s.best_rank, s.worst_rank))

    def to_pandas(self, measure: str) -> "pd.DataFrame":
        """The leaderboard as a table."""
        import pandas as pd

        return pd.DataFrame([asdict(standing) for standing in self.leaderboard(measure)])

    def to_json(self) -> dict[str, Any]:
        """The audits, the leaderboards, and every later system against every earlier one."""
        measures = list(next(iter(self.audits.values())).results)
        pairs = [(a, b) for place, a in enumerate(self.names) for b in self.names[place + 1 :]]
        return {
            "systems": {name: found.to_json() for name, found in self.audits.items()},
            "leaderboards": {name: [asdict(standing) for standing in self.leaderboard(name)] for name in measures},
            "differences": [self.difference(name, *pair).to_json() for name in measures for pair in pairs],
        }

    def __str__(self) -> str:
        lines = []
        for measure in next(iter(self.audits.values())).results:
            lines.append(f"{measure}: ranks that ties allow")
            rows: list[tuple[str, ...]] = [("system", "contract", "min", "expected", "max", "rank")]
            rows += [_table_row(standing) for standing in self.leaderboard(measure)]
            widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
            lines += ["  " + "  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
            if len(self.names) == 2:
                lines.append(str(self.difference(measure, *self.names)))
        return "\n".join(lines)

    def __repr__(self) -> str:
        return str(self)


def _difference(measure: str, first: str, one: Audit, second: str, two: Audit) -> Difference:
    a, b = one.result(measure).values, two.result(measure).values
    compared = a.averaged & b.averaged
    places = np.flatnonzero(compared)
    low, high = _snapped(b.outer_min - a.outer_max), _snapped(b.outer_max - a.outer_min)
    common_low, common_high, exact = _common(measure, one, two, places, low, high)
    return Difference(
        measure=measure,
        first=first,
        second=second,
        queries=tuple(one.queries[place] for place in places),
        left_out=tuple(one.queries[place] for place in np.flatnonzero(~compared)),
        contract=_snapped(b.contract - a.contract)[places],
        min=low[places],
        expected=_snapped(b.expected - a.expected)[places],
        max=high[places],
        variance=(a.variance + b.variance)[places],
        common_min=common_low,
        common_max=common_high,
        common_exact=exact,
        censored=int(((a.censored | b.censored) & compared).sum()),
    )


def _common(
    measure: str, one: Audit, two: Audit, places: Any, low: Floats, high: Floats
) -> tuple[Floats, Floats, Bools]:
    """The common range of each compared query; where only one of the two runs can move, the free range is it."""
    results = one.result(measure), two.result(measure)
    widths = [result.values.outer_max - result.values.outer_min for result in results]
    hidden = results[0].values.censored | results[1].values.censored
    lows, highs, exact = low[places], high[places], ~hidden[places]
    both_move = (widths[0] > 0) & (widths[1] > 0) & ~hidden
    for index in np.flatnonzero(both_move[places]).tolist():
        query = int(places[index])
        found = common_range(results[0].resolved, one.setting, two.setting, query)
        inside = np.clip(_snapped(np.array(found[:2])), low[query], high[query])
        lows[index], highs[index], exact[index] = inside[0], inside[1], found[2]
    return lows, highs, exact


def _snapped(difference: Floats) -> Floats:
    return np.where(np.abs(difference) <= ROUNDING, 0.0, difference)


def _known_mean(column: Floats) -> float | None:
    return None if np.isnan(column).any() else float(column.mean())


def _table_row(standing: Standing) -> tuple[str, ...]:
    numbers = (standing.contract, standing.min, standing.expected, standing.max)
    ranks = sorted({standing.best_rank, standing.worst_rank})
    return (
        standing.system,
        *("-" if number is None else f"{number:.4f}" for number in numbers),
        " to ".join(map(str, ranks)),
    )


def _inexact(difference: Difference) -> str:
    count = int((~difference.common_exact).sum())
    return f" (free bounds in {count} queries)" if count else ""
