"""Every way in which the open documents of a fusion can stand, where there are few enough.

A document that is certain is always selected and one that is excluded never is, so only the places of the *open* ones
matter: of a tie group of a hundred with one open document there are a hundred cases, and not 100! orders. All orders
are equally likely, and so are the cases.
"""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations, product
from typing import TypeAlias

from rankwork.retrieval.arrangement import Witness, witness
from rankwork.retrieval.open_orders import Block, OpenOrders

Case: TypeAlias = dict[int, int]


@dataclass(frozen=True)
class Enumeration:
    """The sets of open documents that some case selects, how many of all `cases` do so, and a witness of each set."""

    cases: int
    sets: dict[frozenset[int], int]
    witnesses: dict[frozenset[int], Witness]

    def times_selected(self, number: int) -> int:
        """How many of the cases select a document."""
        return sum(count for chosen, count in self.sets.items() if number in chosen)

    def witness_of(self, number: int) -> Witness | None:
        """The witness of a set that holds the document."""
        return next((self.witnesses[chosen] for chosen in self.sets if number in chosen), None)


def count_cases(orders: OpenOrders, undecided: Collection[int]) -> int:
    """How many cases there are."""
    return math.prod(
        math.perm(len(block.values), sum(member in undecided for member in block.members))
        for route in orders.routes
        for block in route.blocks
    )


def enumerate_cases(orders: OpenOrders, certain: int, undecided: frozenset[int], k: int) -> Enumeration:
    """All cases of the open documents, `certain` others being selected anyway; not for lists that were cut."""
    movable = [each for each in _blocks(orders) if not undecided.isdisjoint(each.block.members)]
    base = {number: _fixed(orders, number) for number in undecided}
    sets: dict[frozenset[int], int] = {}
    witnesses: dict[frozenset[int], Witness] = {}
    for case in product(*(_cases(each.block, undecided) for each in movable)):
        chosen = _selected(orders, base, movable, case, k - certain)
        sets[chosen] = sets.get(chosen, 0) + 1
        if chosen not in witnesses:
            witnesses[chosen] = _witness(orders, movable, case)
    return Enumeration(sum(sets.values()), sets, witnesses)


@dataclass(frozen=True)
class _Movable:
    """A block, the place of its route and its own place there."""

    route: int
    number: int
    block: Block


def _blocks(orders: OpenOrders) -> Iterator[_Movable]:
    for place, route in enumerate(orders.routes):
        for number, block in enumerate(route.blocks):
            yield _Movable(place, number, block)


def _cases(block: Block, undecided: Collection[int]) -> Iterator[Case]:
    """Which place each open member of a block takes."""
    members = [member for member in block.members if member in undecided]
    return (dict(zip(members, places, strict=True)) for places in permutations(range(len(block.values)), len(members)))


def _witness(orders: OpenOrders, movable: Sequence[_Movable], case: Sequence[Case]) -> Witness:
    placed = [[list(block.members) for block in route.blocks] for route in orders.routes]
    for each, taken in zip(movable, case, strict=True):
        placed[each.route][each.number] = _completed(each.block, taken)
    return witness(orders, placed)


def _fixed(orders: OpenOrders, number: int) -> int:
    return orders.by_id(number) + sum(route.fixed.get(number, 0) for route in orders.routes)


def _selected(
    orders: OpenOrders, base: Mapping[int, int], movable: Sequence[_Movable], case: Sequence[Case], slots: int
) -> frozenset[int]:
    """The open documents that the places of a case bring into the slots that are left."""
    totals = dict(base)
    for each, taken in zip(movable, case, strict=True):
        for member, place in taken.items():
            totals[member] += each.block.values[place]
    returned = [number for number, total in totals.items() if total > orders.by_id(number)]
    return frozenset(sorted(returned, key=totals.__getitem__, reverse=True)[:slots])


def _completed(block: Block, taken: Case) -> list[int]:
    """The whole order of a block: the open members in their places, the others in the places that are left."""
    rest = iter([member for member in block.members if member not in taken])
    member_at = {place: member for member, place in taken.items()}
    return [member_at[place] if place in member_at else next(rest) for place in range(len(block.values))]
