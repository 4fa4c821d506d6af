"""Each rule in each of its slices: the paired differences, their verdict, and whether ties could reverse it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rankwork.decision.outcomes import Column
from rankwork.decision.pairing import Pair
from rankwork.decision.policy import Policy, Rule
from rankwork.decision.slices import Members
from rankwork.decision.verdicts import Verdict, judge, under_ties
from rankwork.errors import ContractError, InputError
from rankwork.measures.values import Floats
from rankwork.statistics import Estimate, holm, paired_columns

_ROUNDING = 1e-12  # relative: what two sums of the same parts in another order can differ by


@dataclass(frozen=True, eq=False)
class Differences:
    """Candidate minus baseline for the queries that have a value in both, signed so that more is better: float64[n].

    `low` and `high` are the least and the greatest difference that ties allow, each system's resolved on its own.
    `undefined` counts queries without a value in either, `unpaired` names those that only one of them has a value for.
    """

    queries: tuple[str, ...]
    value: Floats
    low: Floats
    high: Floats
    clusters: Any
    undefined: int
    unpaired: tuple[str, ...]
    ranged: bool


@dataclass(frozen=True, eq=False)
class Comparison:
    """One rule in one slice. `baseline` and `candidate` are the means over the compared queries, as measured."""

    rule: Rule
    slice: str
    verdict: Verdict
    baseline: float
    candidate: float
    differences: Differences

    @property
    def required(self) -> bool:
        """Whether the decision rests on it."""
        return self.rule.required

    @property
    def name(self) -> str:
        """The measure, and the slice it is measured in."""
        return f"{self.rule.name} in {self.slice}"

    def __str__(self) -> str:
        return f"{self.name}: {self.verdict}"


def compared(pair: Pair) -> list[Comparison]:
    """The verdict of every rule in every slice, Holm over all of them.

    InputError as for `Pair.columns`, for a slice in which no query has a value in both systems, and for a query that
    lost more than the rule's largest drop.

    >>> from rankwork.decision.outcomes import of_values
    >>> from rankwork.decision.policy import Policy, Rule
    >>> asked = Policy(name="mine", alpha=0.05, minimum_clusters=5, rules=(Rule(measure="R@10", margin=0.05),))
    >>> half, full = of_values("half", {"R@10": [0, 1] * 20}), of_values("full", {"R@10": [1] * 40})
    >>> from rankwork.decision.pairing import pair
    >>> [(each.name, each.verdict.word) for each in compared(pair(asked, half, full))]
    [('R@10 in all', 'better')]
    """
    parts = list(_parts(pair))
    worlds = _estimates([differences for *_, differences, _ in parts], pair.policy)
    adjusted = [holm([estimate.p for estimate in world]) for world in worlds]
    comparisons = []
    for number, (place, rule, name, differences, means) in enumerate(parts):
        try:
            found = [
                _judged(world[number], p[number], rule, pair.policy) for world, p in zip(worlds, adjusted, strict=True)
            ]
        except ContractError as error:
            raise InputError(f"{pair.policy.place('rules', place)}: {error}") from None
        verdict = under_ties(*found) if differences.ranged else found[0]
        comparisons.append(Comparison(rule, name, verdict, *means, differences))
    return comparisons


def _parts(pair: Pair) -> Iterator[tuple[int, Rule, str, Differences, tuple[float, float]]]:
    for place, rule in enumerate(pair.policy.rules):
        columns = pair.columns(rule.measure, rule.stage, "rules", place, "measure")
        for name, members in pair.slices(rule.slices, "rules", place).items():
            one, two = (column.of(members) for column in columns)
            both = one.known & two.known
            if not both.any():
                raise InputError(f"{pair.policy.place('rules', place)}: {_nothing_in(name, pair)}")
            differences = _differences(pair, members, one, two, rule.sign)
            yield place, rule, name, differences, (float(one.value[both].mean()), float(two.value[both].mean()))


def _nothing_in(name: str, pair: Pair) -> str:
    said = f"no query of slice {name!r} has a value in both systems"
    return said if pair.cases else f"{said}; no cases were given, are they needed (cases, --cases)?"


def _differences(pair: Pair, members: Members, one: Column, two: Column, sign: int) -> Differences:
    both = one.known & two.known
    kept = members[both]
    a, b = one.of(both), two.of(both)
    ends = [sign * _snapped(b.low, a.high), sign * _snapped(b.high, a.low)][::sign]
    only_one = members[one.known ^ two.known]
    return Differences(
        queries=tuple(pair.queries[place] for place in kept.tolist()),
        value=sign * _snapped(b.value, a.value),
        low=ends[0],
        high=ends[1],
        clusters=pair.clusters[kept],
        undefined=int((~one.known & ~two.known).sum()),
        unpaired=tuple(pair.queries[place] for place in only_one.tolist()),
        ranged=one.ranged and two.ranged,
    )


def _snapped(new: Floats, old: Floats) -> Floats:
    difference = new - old
    noise = np.abs(difference) <= _ROUNDING * np.maximum(np.maximum(np.abs(new), np.abs(old)), 1)
    return np.where(noise, 0.0, difference)


def _estimates(differences: Sequence[Differences], policy: Policy) -> tuple[list[Estimate], ...]:
    """The estimates of all comparisons as measured, and with every tie resolved against and for the candidate."""
    found = [_of_each_world(each, policy) for each in differences]
    measured, low, high = ([estimates[world] for estimates in found] for world in range(3))
    return measured, low, high


def _of_each_world(differences: Differences, policy: Policy) -> list[Estimate]:
    """Three estimates; one for all where ties move nothing."""
    columns = [differences.value, differences.low, differences.high]
    moved = any(not np.array_equal(column, differences.value) for column in columns)
    options = {"clusters": differences.clusters, "resamples": policy.resamples, "seed": policy.seed}
    return paired_columns(columns, **options) if moved else paired_columns(columns[:1], **options) * 3


def _judged(estimate: Estimate, p: float | None, rule: Rule, policy: Policy) -> Verdict:
    found = judge(estimate, margin=rule.margin, alpha=policy.alpha, largest_drop=rule.drop, p=p)
    if estimate.clusters >= policy.minimum_clusters:
        return found
    there = f"{estimate.clusters} cluster{'' if estimate.clusters == 1 else 's'}"
    few = f"{there}, fewer than the policy's {policy.minimum_clusters}"
    return replace(found, word="inconclusive", reason=few, non_inferior=None if rule.margin is None else False)


@dataclass(frozen=True)
class Regression:
    """A query that the candidate answers worse; `whatever_ties_do` if no order of ties takes that back."""

    query: str
    measure: str
    difference: float
    low: float
    high: float
    slices: tuple[str, ...]

    @property
    def whatever_ties_do(self) -> bool:
        """Whether it is worse under every order of ties."""
        return self.high < 0


def regressions(comparisons: Sequence[Comparison]) -> list[Regression]:
    """The queries that lost, for review: by measure, the largest loss first, each with the slices that it is in.

    A query that lost by two measures stands twice. Losses in time, tokens and money are not for review.

    >>> from rankwork.decision.outcomes import of_values
    >>> from rankwork.decision.policy import Policy, Rule
    >>> asked = Policy(name="mine", alpha=0.05, minimum_clusters=5, rules=(Rule(measure="R@10", margin=0.05),))
    >>> half, full = of_values("half", {"R@10": [0, 1] * 20}), of_values("full", {"R@10": [1] * 40})
    >>> from rankwork.decision.pairing import pair
    >>> found = regressions(compared(pair(asked, full, half)))
    >>> len(found), found[0].query, found[0].difference
    (20, 'q0', -1.0)
    """
    found: dict[tuple[str, str], Regression] = {}
    for each in (each for each in comparisons if each.rule.reviewed):
        for query, row in _lost(each.differences).items():
            key = (each.rule.name, query)
            seen = found[key].slices if key in found else ()
            found[key] = Regression(query, each.rule.name, *row, slices=(*seen, each.slice))
    order = {rule: place for place, rule in enumerate(dict.fromkeys(each.rule.name for each in comparisons))}
    return sorted(found.values(), key=lambda each: (order[each.measure], each.difference, each.query))


def _lost(differences: Differences) -> Mapping[str, tuple[float, float, float]]:
    places = np.flatnonzero(differences.value < 0).tolist()
    columns = differences.value, differences.low, differences.high
    return {differences.queries[p]: (float(columns[0][p]), float(columns[1][p]), float(columns[2][p])) for p in places}
