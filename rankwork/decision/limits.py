"""Limits that the candidate must keep on its own: refusals, latency, cost, and events that must not happen at all.

What is not known is counted against a claim: a limit is kept only if it is kept with every unknown value at its worst,
and exceeded only if it is so with every unknown at its best.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from rankwork.decision.outcomes import Column, Outcomes
from rankwork.decision.pairing import Pair
from rankwork.decision.policy import LatencyBudget, Limit
from rankwork.decision.quantities import EVENTS
from rankwork.decision.slices import Members
from rankwork.errors import InputError
from rankwork.statistics import Share, mcnemar, minimum_values, paired, quantile_interval, share

Kept = Literal["kept", "exceeded", "inconclusive"]


@dataclass(frozen=True)
class Checked:
    """A limit in one slice. `value` with `low` and `high`, one-sided 95 % bounds each; None where not known.

    `units` counts what was looked at (clusters for shares, requests for latency and cost), `unknown` those of them
    without a value.
    """

    name: str
    slice: str
    required: bool
    word: Kept
    reason: str
    value: float | None
    low: float | None
    high: float | None
    limit: float
    unit: str
    units: int
    unknown: int

    def __str__(self) -> str:
        return f"{self.name} in {self.slice}: {self.word}: {self.reason}"


def checked(pair: Pair) -> list[Checked]:
    """Every limit of the policy in every slice.

    InputError as for `Pair.columns`, for another currency or a unit that is not ms, for refusals without cases, and for
    a slice that holds no case of the kind that is limited.

    A P90 takes 29 values; 40 requests of 5 ms and more keep a budget of 100 ms:

    >>> from rankwork.decision.outcomes import of_traces
    >>> from rankwork.decision.pairing import pair
    >>> from rankwork.decision.policy import LatencyBudget, Policy
    >>> from rankwork.trace import Trace
    >>> budgets = (LatencyBudget(quantile=0.9, at_most_ms=100.0),)
    >>> asked = Policy(name="mine", alpha=0.05, minimum_clusters=5, latency=budgets)
    >>> system = of_traces("any", [Trace(case=str(n), latency_ms=5.0 + n) for n in range(40)])
    >>> print(*checked(pair(asked, system, system)))
    P90 latency in all: kept: 0 of 40 above 100 ms
    """
    return [*_refusals(pair), *_latencies(pair), *_costs(pair)]


# ------------------------------------------------------------- refusals


@dataclass(frozen=True)
class TwoByTwo:
    """What a system refused, against what it should have: counts of cases, and of those where nobody knows."""

    system: str
    answered: int
    false_refusals: int
    false_answers: int
    refused: int
    unknown: int

    def __str__(self) -> str:
        rightly = f"rightly {self.answered} answered and {self.refused} refused"
        wrongly = f"wrongly {self.false_answers} answered and {self.false_refusals} refused"
        return f"{self.system}: {rightly}, {wrongly}{f', {self.unknown} unknown' if self.unknown else ''}"


def two_by_two(pair: Pair) -> list[TwoByTwo]:
    """The refusals of both systems; empty where the policy does not ask for them. InputError where there are no cases.

    >>> from rankwork.decision.outcomes import of_traces
    >>> from rankwork.decision.pairing import pair
    >>> from rankwork.decision.policy import Limit, Policy, Refusals
    >>> from rankwork.trace import Case, Trace
    >>> limits = Refusals(false_answers=Limit(at_most=0.1))
    >>> asked = Policy(name="mine", alpha=0.05, minimum_clusters=1, refusals=limits)
    >>> cases = [Case(id="a", query="?", expected="refuse"), Case(id="b", query="!")]
    >>> system = of_traces("any", [Trace(case="a", refused=False), Trace(case="b", refused=False)])
    >>> print(two_by_two(pair(asked, system, system, cases))[1])
    any: rightly 1 answered and 0 refused, wrongly 1 answered and 0 refused
    """
    limits = pair.policy.refusals
    if limits.false_answers is None and limits.false_refusals is None:
        return []
    columns = pair.columns("refused", None, "refusals")
    expected = _expected(pair)
    return [
        _counted(system.name, column, expected)
        for system, column in zip((pair.baseline, pair.candidate), columns, strict=True)
    ]


def _counted(system: str, column: Column, expected: np.ndarray[Any, np.dtype[np.bool_]]) -> TwoByTwo:
    refused, answered = column.value == 1, column.value == 0
    return TwoByTwo(
        system,
        answered=int((answered & ~expected).sum()),
        false_refusals=int((refused & ~expected).sum()),
        false_answers=int((answered & expected).sum()),
        refused=int((refused & expected).sum()),
        unknown=int((~column.known).sum()),
    )


def _expected(pair: Pair) -> np.ndarray[Any, np.dtype[np.bool_]]:
    if not pair.cases:
        raise InputError(
            f"{pair.policy.place('refusals')}: whether a query should be refused stands in its case: no cases"
        )
    return np.array([pair.cases[query].expected == "refuse" for query in pair.queries])


def _refusals(pair: Pair) -> Iterator[Checked]:
    """False answers among what should be refused, and false refusals among what should be answered."""
    for name, mistaken, should_refuse in (("false_answers", 0, True), ("false_refusals", 1, False)):
        limit: Limit | None = getattr(pair.policy.refusals, name)
        if limit is None:
            continue
        columns = pair.columns("refused", None, "refusals", name)
        expected = _expected(pair) == should_refuse
        for part, members in pair.slices(limit.slices, "refusals", name).items():
            inside = members[expected[members]]
            if not len(inside):
                wanted = "refused" if should_refuse else "answered"
                where = pair.policy.place("refusals", name, "slices")
                raise InputError(f"{where}: slice {part!r} holds no case that should be {wanted}")
            yield _refusal(name.replace("_", " "), part, limit, mistaken, pair, columns, inside)


def _refusal(
    name: str, part: str, limit: Limit, mistaken: int, pair: Pair, columns: tuple[Column, Column], inside: Members
) -> Checked:
    clusters = pair.clusters[inside]
    before, after = (_by_cluster(column.value[inside], mistaken, clusters) for column in columns)
    events, unknown, units = int((after == 1).sum()), int(np.isnan(after).sum()), len(after)
    least, most = share(events, units), share(events + unknown, units)
    p = mcnemar(int(((before == 0) & (after == 1)).sum()), int(((before == 1) & (after == 0)).sum()))
    versus = "" if p is None else f"; against the baseline, McNemar p {p:.4f}"
    word, silent = _word(most.high <= limit.at_most, least.low > limit.at_most), _and_unknown(unknown, "mistakes")
    return Checked(
        name, part, limit.required, word, f"{most}, limit {limit.at_most:.2%}{silent}{versus}",
        None if unknown else least.share, least.low, most.high, limit.at_most, "share", units, unknown,
    )  # fmt: skip


def _by_cluster(refused: Any, mistaken: int, clusters: Any) -> np.ndarray[Any, np.dtype[np.float64]]:
    """1 for a cluster with a mistake, 0 for one without, NaN where nobody knows."""
    found = []
    for cluster in np.unique(clusters):
        values = refused[clusters == cluster]
        wrong = bool((values == mistaken).any())
        found.append(1.0 if wrong else np.nan if np.isnan(values).any() else 0.0)
    return np.array(found)


def _word(kept: bool, exceeded: bool) -> Kept:
    return "kept" if kept else "exceeded" if exceeded else "inconclusive"


def _and_unknown(unknown: int, counted: str) -> str:
    return f", {unknown} unknown and counted as {counted}" if unknown else ""


# ------------------------------------------------------------- latency and cost


def _latencies(pair: Pair) -> Iterator[Checked]:
    for number, budget in enumerate(pair.policy.latency):
        _, column = pair.columns("latency_ms", budget.stage, "latency", number)
        if column.unit not in ("", "ms"):
            raise InputError(f"{pair.policy.place('latency', number)}: latency in {column.unit!r}, not in ms")
        for part, members in pair.slices(budget.slices, "latency", number).items():
            yield _latency(budget, part, column.value[members])


def _latency(budget: LatencyBudget, part: str, values: Any) -> Checked:
    known = values[~np.isnan(values)]
    unknown = len(values) - len(known)
    above, fewest = int((known > budget.at_most_ms).sum()), minimum_values(budget.quantile)
    enough = len(known) >= fewest
    allowed = 1 - budget.quantile
    kept = len(values) >= minimum_values(budget.quantile, above=above + unknown)
    exceeded = share(above, len(values)).low > allowed
    if enough:
        needs = minimum_values(budget.quantile, above=above + unknown)
        reason = f"{above} of {len(values)} above {budget.at_most_ms:g} ms{_and_unknown(unknown, 'above')}"
        reason += (
            "" if kept or exceeded else f"; to show that the budget is kept takes {needs} values with so many above"
        )
    else:
        reason = f"refused: a {budget.name} needs {fewest} values, there are {len(known)}"
    low, high = quantile_interval(known, budget.quantile) if enough else (None, None)
    value = float(np.quantile(known, budget.quantile, method="inverted_cdf")) if enough else None
    return Checked(
        budget.name, part, budget.required, _word(enough and kept, exceeded), reason, value, low, high,
        budget.at_most_ms, "ms", len(values), unknown,
    )  # fmt: skip


def _costs(pair: Pair) -> Iterator[Checked]:
    budget = pair.policy.cost
    if budget is None:
        return
    _, column = pair.columns("cost", None, "cost")
    if column.known.any() and column.unit != budget.currency:
        raise InputError(
            f"{pair.policy.place('cost', 'currency')}: costs are in {column.unit or 'no currency'} in "
            f"{pair.candidate.name}, the budget is in {budget.currency}"
        )
    for part, members in pair.slices(budget.slices, "cost").items():
        values = column.value[members]
        known = ~np.isnan(values)
        unknown, name = int((~known).sum()), "mean cost of a request"
        least = np.where(known, values, 0.0)
        found = paired(least, clusters=pair.clusters[members], resamples=pair.policy.resamples, seed=pair.policy.seed)
        word = _word(not unknown and found.high90 <= budget.at_most, found.low90 > budget.at_most)
        said = f"cost of {unknown} of {len(values)} is not known" if unknown else f"at most {found.high90:.6g}"
        yield Checked(
            name, part, budget.required, word, f"{said}, budget {budget.at_most:g} {budget.currency}",
            None if unknown else found.mean, found.low90, None if unknown else found.high90, budget.at_most,
            budget.currency, len(values), unknown,
        )  # fmt: skip


# ------------------------------------------------------------- events


@dataclass(frozen=True)
class Event:
    """An event that must not happen. `found` holds case and what happened, `share` the cases that were looked at.

    Where nothing was found, the share's upper bound says what the cases that were looked at can show. `unknown` counts
    those whose trace does not say.
    """

    name: str
    found: tuple[tuple[str, str], ...]
    share: Share
    unknown: int

    def __str__(self) -> str:
        shown = "; ".join(f"{what} (case {case!r})" for case, what in self.found[:3])
        more = f" and {len(self.found) - 3} more" if len(self.found) > 3 else ""
        silent = f", {self.unknown} do not say" if self.unknown else ""
        seen = str(self.share) if self.share.units else "no trace says whether it happened"
        return f"{self.name}: {seen}{silent if self.share.units else ''}{': ' if shown else ''}{shown}{more}"


def events(pair: Pair) -> list[Event]:
    """What the candidate's traces, or the columns of these names in its table, say about each event of the policy.

    InputError for a table without a column of the event's name.

    >>> from rankwork.decision.outcomes import of_traces
    >>> from rankwork.decision.pairing import pair
    >>> from rankwork.decision.policy import Policy
    >>> from rankwork.trace import Events, ToolCall, Trace
    >>> asked = Policy(name="mine", alpha=0.05, minimum_clusters=1, events=("forbidden_tool",))
    >>> ran = Events(tools=(ToolCall(tool="mail", permitted=False, executed=True),))
    >>> system = of_traces("any", [Trace(case="a", events=ran), Trace(case="b", events=Events(tools=()))])
    >>> print(*events(pair(asked, system, system)))
    forbidden_tool: 1 of 2 (2.53% to 97.47%, 95% bounds): mail (case 'a')
    """
    found = []
    for number, name in enumerate(pair.policy.events):
        rows = list(_table_rows(pair, name, number) if not pair.candidate.traces else _trace_rows(name, pair.candidate))
        found.append(_event(name, rows, pair))
    return found


def _trace_rows(name: str, system: Outcomes) -> Iterable[list[str] | None]:
    return (EVENTS[name](trace) for trace in system.traces)


def _table_rows(pair: Pair, name: str, number: int) -> Iterable[list[str] | None]:
    values = pair.columns(name, None, "events", number)[1].value.tolist()
    return (None if value != value else [f"{value:g}"] if value else [] for value in values)


def _event(name: str, rows: list[list[str] | None], pair: Pair) -> Event:
    """The event by cluster: one that holds it anywhere counts once, and one that does not say is unknown."""
    known: dict[int, list[bool | None]] = defaultdict(list)
    for cluster, row in zip(pair.clusters.tolist(), rows, strict=True):
        known[cluster].append(None if row is None else bool(row))
    happened = sum(any(each) for each in known.values())
    unknown = sum(None in each and not any(each) for each in known.values())
    found = tuple((query, what) for query, row in zip(pair.queries, rows, strict=True) for what in row or ())
    return Event(name, found, share(happened, len(known) - unknown), unknown)
