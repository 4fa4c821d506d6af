"""One order of all routes, held as who has which place, so that a place can change hands and the totals follow.

Unseen documents of a cut list take part as further members of its last block, each with one route alone. They have
negative numbers, which point to the end of the totals.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from rankwork.contract.reference import Id
from rankwork.retrieval.open_orders import Block, OpenOrders

Arrange = Callable[[Block, list[int]], list[int]]


@dataclass(frozen=True)
class Witness:
    """One order of each route, as far as the fusion reads it; None stands for a document that no route shows."""

    orders: Mapping[str, tuple[Id | None, ...]]


class Arrangement:
    """Who has which place in every block of every route, and the total of each document by its number.

    `arrange` gives the first order of a block, from the block and the numbers of its unseen members. `unseen_first`
    says whether an unseen document stands before all others by ID, or after them.
    """

    def __init__(self, orders: OpenOrders, arrange: Arrange, *, unseen_first: bool) -> None:
        self.orders = orders
        self.unseen = 0
        self.places = [[arrange(block, self._new_unseen(block)) for block in route.blocks] for route in orders.routes]
        self.unseen_by_id = len(orders.ids) + 1 if unseen_first else 0
        self.totals = [orders.by_id(number) for number in range(len(orders.ids))] + [self.unseen_by_id] * self.unseen
        for route, placed in zip(orders.routes, self.places, strict=True):
            for number, value in route.fixed.items():
                self.totals[number] += value
            for block, members in zip(route.blocks, placed, strict=True):
                self._add(block, members, 1)

    def blocks(self) -> Iterator[tuple[int, int, Block]]:
        """Every block, with the place of its route and its own place there."""
        for place, route in enumerate(self.orders.routes):
            for number, block in enumerate(route.blocks):
                yield place, number, block

    def lift(self, place: int, number: int, block: Block) -> list[int]:
        """Take what a block gives out of the totals; returns its members in their order."""
        members = self.places[place][number]
        self._add(block, members, -1)
        return members

    def put(self, place: int, number: int, block: Block, members: list[int]) -> None:
        """Give the places of a block that was lifted to these members, in this order."""
        self.places[place][number] = members
        self._add(block, members, 1)

    def by_id(self, member: int) -> int:
        """The part of a total that is its place by ID."""
        return self.orders.by_id(member) if member >= 0 else self.unseen_by_id

    def selected(self, k: int) -> list[int]:
        """The first k of those that have something, best first."""
        returned = [n for n in range(-self.unseen, len(self.orders.ids)) if self.totals[n] > self.by_id(n)]
        return sorted(returned, key=self.totals.__getitem__, reverse=True)[:k]

    def witness(self) -> Witness:
        """The orders as they are."""
        return witness(self.orders, self.places)

    def _new_unseen(self, block: Block) -> list[int]:
        first = self.unseen
        self.unseen += block.visible
        return [-1 - extra for extra in range(first, self.unseen)]

    def _add(self, block: Block, members: Sequence[int], sign: int) -> None:
        for member, value in zip(members, block.values, strict=True):
            self.totals[member] += sign * value


def witness(orders: OpenOrders, places: Sequence[Sequence[Sequence[int]]]) -> Witness:
    """The orders of all routes as IDs, from the members of each block in their order."""
    return Witness({r.route.name: _written(orders, place, places[place]) for place, r in enumerate(orders.routes)})


def _written(orders: OpenOrders, place: int, placed: Sequence[Sequence[int]]) -> tuple[Id | None, ...]:
    route = orders.routes[place]
    order: list[Id | None] = list(route.route.ordered())
    for block, members in zip(route.blocks, placed, strict=True):
        shown = members[: block.visible] if block.hidden else members
        order[block.start : block.start + len(shown)] = [None if m < 0 else orders.ids[m] for m in shown]
    return tuple(order[: orders.rule.depth])
