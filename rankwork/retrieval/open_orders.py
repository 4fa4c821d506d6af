"""What the ties of the routes leave open to a fusion: who can stand where, and what each place is worth.

A *block* is a tie group of a route whose documents can change places. In a list that was cut, the last group goes on
out of sight: its visible places can belong to any document that the route does not show, or to one that nobody shows.

Totals of different documents are never equal here: values are multiplied by more than the number of documents, and a
document's place by ID is added. So "above" is one comparison, and holds the final tie rule.
"""

from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import chain, takewhile

from rankwork.contract.reference import Id
from rankwork.errors import ContractError
from rankwork.retrieval.fusion import Fused, fuse
from rankwork.retrieval.rank_values import Rule
from rankwork.retrieval.routes import Route


@dataclass(frozen=True)
class Block:
    """Documents that can change places, by their numbers, and the values of those places, highest first.

    `start` documents stand before it. `hidden` is the last group of a list that was cut: `visible` places are filled,
    by members or by unseen documents, and enough places worth nothing follow for all members.
    """

    members: tuple[int, ...]
    values: tuple[int, ...]
    start: int
    hidden: bool = False
    visible: int = 0

    @cached_property
    def ascending(self) -> tuple[int, ...]:
        """The values, lowest first."""
        return self.values[::-1]


@dataclass(frozen=True)
class RouteOrders:
    """One route: its blocks, the block of each document that is in one, and the value of each that is in none."""

    route: Route
    blocks: tuple[Block, ...]
    block_of: dict[int, int]
    fixed: dict[int, int]

    def low(self, number: int) -> int:
        """The least that the route can give to a document."""
        place = self.block_of.get(number)
        return self.fixed.get(number, 0) if place is None else self.blocks[place].values[-1]

    def high(self, number: int) -> int:
        """The most that the route can give to a document."""
        place = self.block_of.get(number)
        return self.fixed.get(number, 0) if place is None else self.blocks[place].values[0]

    def mean(self, number: int) -> Fraction | None:
        """The sum of all values that it can give to a document, over their number; None where the list was cut."""
        place = self.block_of.get(number)
        if place is None:
            return Fraction(self.fixed.get(number, 0))
        block = self.blocks[place]
        return None if block.hidden else Fraction(sum(block.values)) / len(block.values)


@dataclass(frozen=True)
class OpenOrders:
    """All orders that the ties of all routes allow. Documents are numbers: their places in `ids`, which ascend.

    `factor` is what values are multiplied by; `scale` times `factor` turns a total into a score.
    """

    ids: tuple[Id, ...]
    routes: tuple[RouteOrders, ...]
    fused: Fused
    rule: Rule
    factor: int

    @classmethod
    def of(cls, routes: Sequence[Route], rule: Rule, cut: Collection[str] | None = None) -> "OpenOrders":
        """The orders of the routes that take part; documents that no order can bring into the list are left out.

        `cut` names the routes whose lists were cut; None: those that hold exactly as many documents as the rule's
        depth. ContractError for a name that no route has, and where the values of the ranks have no common denominator
        of a bearable length.
        """
        hidden = _cut_routes(routes, rule.depth, cut)
        values = rule.values(max(map(len, routes), default=0))
        if not all(isinstance(table[-1], int) for table in values.tables if table):
            raise ContractError(
                "what ties leave open needs shorter lists, a depth, or a constant and weights of fewer digits: "
                f"the ranks of {max(map(len, routes))} documents are worth fractions without a common denominator"
            )
        taking_part = [
            (route, table) for route, table, weight in zip(routes, values.tables, rule.weights, strict=True) if weight
        ]
        ids = tuple(sorted(_reachable([route for route, _ in taking_part], rule.depth, hidden)))
        factor = len(ids) + 2
        numbers = {identifier: number for number, identifier in enumerate(ids)}
        orders = tuple(
            _route_orders(route, [factor * int(value) for value in table], rule.depth, numbers, route.name in hidden)
            for route, table in taking_part
        )
        return cls(ids, orders, fuse(routes, rule), rule, factor)

    @cached_property
    def numbers(self) -> dict[Id, int]:
        """The number of each document."""
        return {identifier: number for number, identifier in enumerate(self.ids)}

    def number_of(self, identifier: Id) -> int:
        """The number of a document. ContractError for one that no order brings into the list."""
        if identifier not in self.numbers:
            raise ContractError(f"no order brings a document {identifier!r} into the fused list")
        return self.numbers[identifier]

    def by_id(self, number: int) -> int:
        """What is added to a document's total: more for a lower ID, and never as much as the least value."""
        return len(self.ids) - number

    @cached_property
    def lows(self) -> tuple[int, ...]:
        """The least total of each document, its place by ID included."""
        return tuple(sum(r.low(i) for r in self.routes) + self.by_id(i) for i in range(len(self.ids)))

    @cached_property
    def highs(self) -> tuple[int, ...]:
        """The greatest total of each document, its place by ID included."""
        return tuple(sum(r.high(i) for r in self.routes) + self.by_id(i) for i in range(len(self.ids)))

    def lows_above(self, total: int) -> int:
        """How many documents stand above a total whatever the ties do."""
        return len(self.ids) - bisect_right(self._ascending_lows, total)

    def highs_above(self, total: int) -> int:
        """How many documents can stand above a total, each for itself."""
        return len(self.ids) - bisect_right(self._ascending_highs, total)

    @cached_property
    def _ascending_lows(self) -> list[int]:
        return sorted(self.lows)

    @cached_property
    def _ascending_highs(self) -> list[int]:
        return sorted(self.highs)

    @property
    def cut(self) -> tuple[str, ...]:
        """The routes whose lists were cut."""
        return tuple(r.route.name for r in self.routes if any(block.hidden for block in r.blocks))

    def returned_always(self, number: int) -> bool:
        """Whether every order brings the document into the fused list."""
        return any(r.low(number) for r in self.routes)


def _cut_routes(routes: Sequence[Route], depth: int | None, cut: Collection[str] | None) -> frozenset[str]:
    """The routes whose last group goes on out of sight, and begins among the documents that are read."""
    names = [route.name for route in routes]
    if isinstance(cut, str) or not set(cut or ()) <= set(names):
        raise ContractError(f"cut must name some of the routes {', '.join(names)}, got {cut!r}")
    was_cut = {route.name for route in routes if len(route) == depth} if cut is None else set(cut)
    return frozenset(
        route.name
        for route in routes
        if route.name in was_cut and len(route) and (depth is None or route.starts[-2] < depth)
    )


def _reachable(routes: Sequence[Route], depth: int | None, cut: Collection[str]) -> set[Id]:
    """The documents that some order brings among those that are read."""
    if any(route.name in cut for route in routes):
        return set().union(*(route.members for route in routes))
    return set(chain.from_iterable(chain.from_iterable(_read_groups(route, depth) for route in routes)))


def _read_groups(route: Route, depth: int | None) -> Iterator[tuple[Id, ...]]:
    """The groups that start among those that are read."""
    started = zip(route.starts, route.groups, strict=False)
    return (group for _, group in takewhile(lambda each: depth is None or each[0] < depth, started))


def _route_orders(
    route: Route, table: Sequence[int], depth: int | None, numbers: dict[Id, int], cut: bool
) -> RouteOrders:
    reading = len(route) if depth is None else depth
    blocks: list[Block] = []
    fixed: dict[int, int] = {}
    for place, (start, group) in enumerate(zip(route.starts, route.groups, strict=False)):
        if start >= reading:
            break
        members = tuple(numbers[identifier] for identifier in group)
        values = tuple(table[rank] if rank < reading else 0 for rank in range(start, start + len(group)))
        if cut and place == len(route.groups) - 1:
            absent = [number for identifier, number in numbers.items() if identifier not in route.members]
            nothing = (0,) * len((*members, *absent))  # unseen documents may have all places that are worth something
            blocks.append(Block((*members, *absent), (*values, *nothing), start, True, len(group)))
        elif len(group) > 1:
            blocks.append(Block(members, values, start))
        else:
            fixed[members[0]] = values[0]
    block_of = {number: place for place, block in enumerate(blocks) for number in block.members}
    return RouteOrders(route, tuple(blocks), block_of, fixed)
