"""The range of a measure after fusion, in two columns: the final list's own ties, and those inherited from the routes.

*Own*: the routes stand in the contract's order; only documents of exactly equal fused score change places. *Inherited*:
the routes' ties change places; equal fused scores are resolved by ID. A check of the final list sees the first alone.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from rankwork.contract.reference import Id, candidates, checked_ids
from rankwork.contract.ties import Range, recall_range, relevant_ids
from rankwork.errors import ContractError
from rankwork.retrieval.fusion_bounds import most_passing
from rankwork.retrieval.fusion_extremes import most_selected
from rankwork.retrieval.fusion_intervals import CASES, FusionIntervals, Members, checked_cut
from rankwork.retrieval.open_orders import OpenOrders
from rankwork.retrieval.rank_values import Rule, Weights
from rankwork.retrieval.routes import Several, read_routes

NO_RELEVANT = "no relevant document"


@dataclass(frozen=True)
class Inherited:
    """Recall over all orders of the routes' ties: between `low` and `high`; the two `attained` values do occur.

    `expected` is over all orders, each equally likely, None where they were not all tried. All are None where recall
    is undefined.
    """

    low: float | None
    attained_low: float | None
    expected: float | None
    attained_high: float | None
    high: float | None

    @property
    def exact(self) -> bool:
        """Whether both bounds are attained, so that they are the minimum and the maximum."""
        return (self.low, self.high) == (self.attained_low, self.attained_high)


@dataclass(frozen=True)
class FusedRanges:
    """Recall@k of a fused list: by the contract, with its own range and the inherited one; None where undefined."""

    k: int
    contract: float | None
    own: Range
    inherited: Inherited
    intervals: FusionIntervals

    def reciprocal_rank(self, relevant: Iterable[Id]) -> tuple[float, float]:
        """RR@k lies between these two over all orders of the routes' ties: bounds that need not be attained.

        `relevant` are the documents that the ranges were asked for; one that is never in the list adds nothing.

        >>> found = fused_ranges({"bm25": {"a": 2.0, "b": 1.0, "c": 1.0}, "dense": ["a", "c", "b"]}, ["c"], k=3)
        >>> found.reciprocal_rank(["c"])
        (0.3333333333333333, 0.5)
        """
        reachable = self.intervals.orders.numbers
        ranks = [self.intervals.ranks(identifier) for identifier in relevant if identifier in reachable]
        worst = [found.worst for found in ranks if found.worst is not None and found.worst <= self.k]
        best = [found.best for found in ranks if found.best <= self.k]
        return (1 / min(worst) if worst else 0.0, 1 / min(best) if best else 0.0)

    @property
    def reason(self) -> str | None:
        """Why recall is undefined, if it is."""
        return self.own.reason


def fused_ranges(
    rankings: Several,
    relevant: Iterable[Id],
    k: int,
    *,
    c: Any = 60,
    weights: Weights | None = None,
    depth: int | None = None,
    cut: Collection[str] | None = None,
    allow_disjoint: bool = False,
    cases: int = CASES,
) -> FusedRanges:
    """Recall@k of reciprocal rank fusion, and what the ties of the last stage and of the routes do to it.

    Arguments are those of `fused_intervals`. The denominator is the number of relevant documents, retrieved or not.
    Inherited bounds are exact where all orders of the open documents could be tried, or where a search attains them.

    Edges: without a relevant document all values are None, with the reason; k is at least 1. ContractError as for
    `fused_intervals`, and for relevant IDs that are no collection or of another kind.

    >>> routes = {"bm25": {"a": 2.0, "b": 1.0, "c": 1.0}, "dense": ["a", "c", "b"]}
    >>> found = fused_ranges(routes, ["c"], k=2)
    >>> found.contract, (found.own.min, found.own.max), (found.inherited.low, found.inherited.high)
    (0.0, (0.0, 1.0), (0.0, 1.0))
    """
    routes = read_routes(rankings, allow_disjoint=allow_disjoint)
    rule = Rule.of([route.name for route in routes], c=c, weights=weights, depth=depth)
    return ranges_of(OpenOrders.of(routes, rule, cut), relevant, checked_cut(k), cases=cases)


def ranges_of(orders: OpenOrders, relevant: Iterable[Id], k: int, *, cases: int = CASES) -> FusedRanges:
    """The ranges of orders that were set up already."""
    wanted = _checked_relevant(orders, relevant)
    members = Members.of(orders, k, cases)
    found = FusionIntervals(k, orders, members)
    own = recall_range(orders.fused.head(k), wanted, k) if wanted else Range(None, None, None, None, NO_RELEVANT)
    if not wanted:
        return FusedRanges(k, None, own, Inherited(None, None, None, None, None), found)
    contract = len(wanted.intersection(orders.fused.top(k))) / len(wanted)
    return FusedRanges(k, contract, own, _inherited(orders, members, wanted, k), found)


def _checked_relevant(orders: OpenOrders, relevant: Iterable[Id]) -> frozenset[Id]:
    if isinstance(relevant, str | bytes):
        raise ContractError(f"relevant must be a collection of IDs, got {relevant!r}")
    return relevant_ids(checked_ids(relevant, what="relevant IDs"), candidates(orders.fused.rows[:1]))


def _inherited(orders: OpenOrders, members: Members, relevant: frozenset[Id], k: int) -> Inherited:
    total = len(relevant)
    wanted = frozenset(number for number, identifier in enumerate(orders.ids) if identifier in relevant)
    if members.enumeration is not None:
        return _tried(members, wanted, total)
    low, high = _bounds(orders, members, wanted, k)
    least, most = _attained(orders, wanted, k) if low < high else (low, high)
    expected = None if low < high else low / total
    return Inherited(low / total, least / total, expected, most / total, high / total)


def _tried(members: Members, wanted: Collection[int], total: int) -> Inherited:
    """From all sets that some order selects, and how often."""
    assert members.enumeration is not None
    certain = sum(members.counted[number] == "certain" for number in wanted)
    hits = {chosen: certain + sum(number in wanted for number in chosen) for chosen in members.enumeration.sets}
    sets = members.enumeration.sets
    mean = Fraction(sum(hits[chosen] * count for chosen, count in sets.items()), members.enumeration.cases * total)
    low, high = min(hits.values()) / total, max(hits.values()) / total
    return Inherited(low, low, float(mean), high, high)


def _bounds(orders: OpenOrders, members: Members, wanted: Collection[int], k: int) -> tuple[int, int]:
    """The fewest and the most hits that statuses allow, and the places above a total that the k-th always reaches."""
    reached = sorted(orders.lows, reverse=True)[k - 1] - 1 if len(orders.ids) >= k else 0
    possible = [number for number, status in members.status.items() if status != "excluded"]
    others = [number for number in possible if number not in wanted]
    certain = [number for number in possible if members.status[number] == "certain"]
    certain_hits = sum(number in wanted for number in certain)
    most_others = most_passing(orders, others, reached, unseen=True)
    most_hits = most_passing(orders, [number for number in possible if number in wanted], reached, unseen=False)
    filled = min(k, sum(orders.returned_always(number) for number in range(len(orders.ids))))
    return max(certain_hits, filled - most_others), min(certain_hits + k - len(certain), most_hits)


def _attained(orders: OpenOrders, wanted: Collection[int], k: int) -> tuple[int, int]:
    """The fewest and the most hits that orders were found for; fewest by selecting what is not relevant."""
    others = frozenset(range(len(orders.ids))).difference(wanted)
    by_contract = sum(identifier in {orders.ids[n] for n in wanted} for identifier in orders.fused.top(k))
    most = max(by_contract, most_selected(orders, wanted, k).wanted)
    least = min(by_contract, most_selected(orders, others, k, unseen_wanted=True).unwanted)
    return least, most
