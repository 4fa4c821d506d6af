"""Which documents a fusion selects whatever its routes' ties do, and which only by them.

Each route's ties leave an interval of what it gives to a document, and their sum is attained for each document alone.
*Certain* documents are selected by every order of the routes' ties, *excluded* ones by none: both are proved by
counting rivals (see `fusion_bounds`). *Possible* ones come with an order that selects them. What is neither proved nor
shown is *undecided*. Ties of the fused score itself are resolved by ID here: they are the final stage's own.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

from rankwork.contract.reference import Id, integer
from rankwork.errors import ContractError
from rankwork.retrieval.arrangement import Witness
from rankwork.retrieval.fusion import Fused
from rankwork.retrieval.fusion_bounds import least_above, most_above
from rankwork.retrieval.fusion_enumeration import Enumeration, count_cases, enumerate_cases
from rankwork.retrieval.fusion_witness import selecting
from rankwork.retrieval.open_orders import OpenOrders
from rankwork.retrieval.rank_values import Rule, Weights
from rankwork.retrieval.routes import Several, read_routes

if TYPE_CHECKING:
    import pandas as pd

STATUSES = ("certain", "possible", "undecided", "excluded")
CASES = 5_000


@dataclass(frozen=True)
class FusedInterval:
    """A document: its score by the contract, the least and the greatest that ties allow, and the expected one.

    `contract` is None where the contract's order does not bring the document into the list; `expected` takes all
    orders as equally likely and is None where a list was cut. `share` is the share of orders that select it, None
    where they were not all tried. `witness` is an order of the routes that selects a possible document.
    """

    id: Id
    contract: float | None
    low: float
    expected: float | None
    high: float
    status: str
    share: Fraction | None = None
    witness: Witness | None = None

    @property
    def width(self) -> float:
        """The greatest score minus the least."""
        return self.high - self.low


@dataclass(frozen=True)
class RankBounds:
    """No order of the routes' ties ranks the document before `best` or after `worst`.

    They are bounds and need not be attained. `worst` is None where some order leaves the document out of the list.
    """

    best: int
    worst: int | None


@dataclass(frozen=True, eq=False, repr=False)
class FusionIntervals:
    """All documents that some order can bring into the fused list, in the contract's order, then by ID."""

    k: int
    orders: OpenOrders
    members: "Members"

    def __repr__(self) -> str:
        counts = ", ".join(f"{len(self.by_status(status))} {status}" for status in STATUSES)
        return f"FusionIntervals(k = {self.k}: {counts})"

    def __getitem__(self, identifier: Id) -> FusedInterval:
        return _document(self.orders, self.orders.number_of(identifier), self.members, self._scores)

    @property
    def fused(self) -> Fused:
        """The fused list by the contract."""
        return self.orders.fused

    @property
    def complete(self) -> bool:
        """Whether nothing is left to a search: nothing was open, or all orders of the open documents were tried."""
        return self.members.complete

    @property
    def cut(self) -> tuple[str, ...]:
        """The routes whose lists were taken as cut."""
        return self.orders.cut

    @cached_property
    def documents(self) -> tuple[FusedInterval, ...]:
        """The interval of each document."""
        return tuple(_document(self.orders, number, self.members, self._scores) for number in self._numbers)

    @cached_property
    def _scores(self) -> dict[Id, float]:
        return dict(zip(self.fused.ids, self.fused.scores, strict=True))

    @cached_property
    def _numbers(self) -> tuple[int, ...]:
        first = [self.orders.numbers[identifier] for identifier in self.fused.ids]
        return tuple(dict.fromkeys((*first, *range(len(self.orders.ids)))))

    def by_status(self, status: str) -> tuple[Id, ...]:
        """The documents that are `certain`, `possible`, `undecided` or `excluded`."""
        if status not in STATUSES:
            raise ContractError(f"status must be one of {', '.join(STATUSES)}, got {status!r}")
        return tuple(self.orders.ids[number] for number in self._numbers if self.members.status[number] == status)

    @property
    def certain(self) -> tuple[Id, ...]:
        """Selected by every order of the routes' ties."""
        return self.by_status("certain")

    @property
    def open(self) -> tuple[Id, ...]:
        """Possible and undecided documents: what the routes' ties leave open at the cut."""
        return self.by_status("possible") + self.by_status("undecided")

    def ranks(self, identifier: Id) -> RankBounds:
        """Between which ranks of the fused list the routes' ties let a document stand.

        >>> found = fused_intervals({"bm25": {"a": 2.0, "b": 1.0, "c": 1.0}, "dense": ["a", "c", "b"]}, k=2)
        >>> found.ranks("a"), found.ranks("b")
        (RankBounds(best=1, worst=1), RankBounds(best=2, worst=3))
        """
        number = self.orders.number_of(identifier)
        worst = most_above(self.orders, number) + 1 if self.orders.returned_always(number) else None
        return RankBounds(least_above(self.orders, number) + 1, worst)

    def to_pandas(self) -> "pd.DataFrame":
        """One row a document."""
        import pandas as pd

        names = ("id", "contract", "low", "expected", "high", "status")
        rows = [{name: getattr(document, name) for name in names} for document in self.documents]
        found = pd.DataFrame(rows, columns=list(names))
        found["share"] = [None if d.share is None else float(d.share) for d in self.documents]
        return found


def fused_intervals(
    rankings: Several,
    k: int,
    *,
    c: Any = 60,
    weights: Weights | None = None,
    depth: int | None = None,
    cut: Collection[str] | None = None,
    allow_disjoint: bool = False,
    cases: int = CASES,
) -> FusionIntervals:
    """The interval of each document's fused score, and what becomes of it at rank k.

    Rankings, `c` and `weights` are those of `rrf`. Routes with scores have ties; lists of IDs have none.

    With a `depth`, a list of exactly so many documents is taken as cut: its last group may go on out of sight, so its
    documents, and those that the route does not show, get from 0 to what the group's first place is worth. Shorter
    lists are taken as complete, and of longer ones the ties across the depth are seen. Where each route has a length of
    its own, `cut` names those that were cut, in place of that rule. Where at most `cases` arrangements of the open
    documents exist, and no list was cut, all are tried.

    Edges: k is at least 1; a k beyond the list selects whatever is returned. ContractError as for `rrf`, and for a name
    in `cut` that no route has.

    >>> routes = {"bm25": {"a": 2.0, "b": 1.0, "c": 1.0}, "dense": ["a", "c", "b"]}
    >>> found = fused_intervals(routes, k=2)
    >>> {document.id: document.status for document in found.documents}
    {'a': 'certain', 'b': 'possible', 'c': 'possible'}
    >>> found["c"].witness.orders["bm25"]
    ('a', 'c', 'b')
    """
    routes = read_routes(rankings, allow_disjoint=allow_disjoint)
    rule = Rule.of([route.name for route in routes], c=c, weights=weights, depth=depth)
    return intervals(OpenOrders.of(routes, rule, cut), checked_cut(k), cases=cases)


def checked_cut(k: Any) -> int:
    """A k of at least 1; else ContractError."""
    if integer(k, "k") < 1:
        raise ContractError(f"k must be at least 1, got {k}")
    return integer(k, "k")


def intervals(orders: OpenOrders, k: int, *, cases: int = CASES) -> FusionIntervals:
    """The intervals of orders that were set up already."""
    return FusionIntervals(k, orders, Members.of(orders, k, cases))


@dataclass(frozen=True)
class Members:
    """What becomes of each document at the cut, by number: a status, and a witness of those that are possible.

    `counted` is the status before orders were tried or sought.
    """

    counted: dict[int, str]
    status: dict[int, str]
    witnesses: dict[int, Witness]
    enumeration: Enumeration | None

    @classmethod
    def of(cls, orders: OpenOrders, k: int, cases: int) -> "Members":
        """Counted first; of what that leaves open all cases are tried, or an order is sought for each document."""
        top = set(orders.fused.top(k))
        counted = {number: _counted(orders, number, k, name in top) for number, name in enumerate(orders.ids)}
        undecided = frozenset(number for number, found in counted.items() if found == "undecided")
        if undecided and not orders.cut and count_cases(orders, undecided) <= cases:
            return cls._tried(orders, k, counted, undecided)
        return cls._sought(orders, k, counted, undecided)

    @classmethod
    def _tried(cls, orders: OpenOrders, k: int, counted: dict[int, str], undecided: frozenset[int]) -> "Members":
        certain = sum(found == "certain" for found in counted.values())
        tried = enumerate_cases(orders, certain, undecided, k)
        witnesses = {number: witness for number in undecided if (witness := tried.witness_of(number))}
        status = dict(counted)
        for number in undecided:
            status[number] = {0: "excluded", tried.cases: "certain"}.get(tried.times_selected(number), "possible")
        return cls(counted, status, witnesses, tried)

    @classmethod
    def _sought(cls, orders: OpenOrders, k: int, counted: dict[int, str], undecided: frozenset[int]) -> "Members":
        witnesses = {number: witness for number in undecided if (witness := selecting(orders, number, k))}
        return cls(counted, counted | dict.fromkeys(witnesses, "possible"), witnesses, None)

    @property
    def complete(self) -> bool:
        """Whether nothing is left to a search: nothing was open, or all cases were tried."""
        return self.enumeration is not None or not {"possible", "undecided"} & set(self.status.values())

    def share(self, number: int) -> Fraction | None:
        """The share of orders that select a document."""
        if self.status[number] == "certain":
            return Fraction(1)
        if self.status[number] == "excluded":
            return Fraction(0)
        tried = self.enumeration
        return None if tried is None else Fraction(tried.times_selected(number), tried.cases)


def _counted(orders: OpenOrders, number: int, k: int, selected: bool) -> str:
    """The status of a document as far as counting its rivals tells; whom the contract selects, nothing excludes."""
    low, high = orders.lows[number], orders.highs[number]
    if selected:
        unbeaten = orders.lows_above(low) < k and orders.returned_always(number)
        return "certain" if unbeaten and most_above(orders, number) < k else "undecided"
    beaten = orders.lows_above(high) >= k or (orders.highs_above(high) >= k and least_above(orders, number) >= k)
    return "excluded" if beaten else "undecided"


def _document(orders: OpenOrders, number: int, members: Members, scores: Mapping[Id, float]) -> FusedInterval:
    unit = orders.factor * orders.fused.scale
    means = [route.mean(number) for route in orders.routes]
    status = members.status[number]
    return FusedInterval(
        id=orders.ids[number],
        contract=scores.get(orders.ids[number]),
        low=(orders.lows[number] - orders.by_id(number)) / unit,
        expected=None if None in means else float(sum(mean for mean in means if mean is not None) / unit),
        high=(orders.highs[number] - orders.by_id(number)) / unit,
        status=status,
        share=members.share(number),
        witness=members.witnesses.get(number) if status == "possible" else None,
    )
