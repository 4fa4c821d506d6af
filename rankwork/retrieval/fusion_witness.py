"""An order that selects a document, or one that does not: found by search, and proof once it is there.

The document gets its best (or worst) place in every route. Then block after block gives its other places to the
rivals so that as few as possible (or as many as possible) stand above it, with the other routes as they are; each step
can only improve the count. A search that fails proves nothing.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from rankwork.retrieval.arrangement import Arrangement, Witness
from rankwork.retrieval.open_orders import Block, OpenOrders

ROUNDS = 4


def selecting(orders: OpenOrders, number: int, k: int) -> Witness | None:
    """An order of the routes in which the document is among the first k, if the search finds one."""
    return _Search(orders, number, k, best=True).run()


def dropping(orders: OpenOrders, number: int, k: int) -> Witness | None:
    """An order of the routes in which it is not, if the search finds one."""
    return _Search(orders, number, k, best=False).run()


def places_above(ascending: Sequence[int], needed: int) -> int:
    """How many places, from the best one on, are worth more than what is needed."""
    return len(ascending) - bisect_right(ascending, needed)


def places_below(ascending: Sequence[int], allowed: int) -> int:
    """How many places, from the last one on, are worth less than what is allowed."""
    return bisect_left(ascending, allowed)


def by_limits(limits: dict[int, int]) -> tuple[list[int], list[int]]:
    """Who can have a suitable place, in the order of the places from the end that is sought, and who goes without."""
    suited: list[int] = []
    others: list[int] = []
    for rival in sorted(limits, key=limits.__getitem__):
        (suited if limits[rival] > len(suited) else others).append(rival)
    return suited, others


class _Search:
    """An arrangement, changed block by block for the sake of one document."""

    def __init__(self, orders: OpenOrders, number: int, k: int, *, best: bool) -> None:
        self.number, self.k, self.best = number, k, best
        self.state = Arrangement(orders, self._first, unseen_first=best)  # the worst that an ID can be for the claim

    def run(self) -> Witness | None:
        """The witness, once it is found."""
        before = -1
        for _ in range(ROUNDS):
            above = self._above()
            if self._found(above):
                return self.state.witness()
            if above == before:
                return None
            before = above
            for place, number, block in self.state.blocks():
                self._improve(place, number, block)
        return self.state.witness() if self._found(self._above()) else None

    def _first(self, block: Block, unseen: list[int]) -> list[int]:
        members = [member for member in block.members if member != self.number]
        return self._with_own(block, [*members, *unseen] if self.best else [*unseen, *members])

    def _with_own(self, block: Block, rivals: list[int]) -> list[int]:
        """The rivals with the document in its place, first or last, if it belongs to the block."""
        own = [self.number] if self.number in block.members else []
        return [*own, *rivals] if self.best else [*rivals, *own]

    def _above(self) -> int:
        own = self.state.totals[self.number]
        return sum(total > own for total in self.state.totals)

    def _found(self, above: int) -> bool:
        returned = self.state.totals[self.number] > self.state.by_id(self.number)
        return (returned and above < self.k) == self.best

    def _improve(self, place: int, number: int, block: Block) -> None:
        """Give the places of one block anew: as many rivals as possible below the document, or above it."""
        rivals = [member for member in self.state.lift(place, number, block) if member != self.number]
        own, free = self.state.totals[self.number], block.ascending
        if self.number in block.members:
            own += block.values[0] if self.best else block.values[-1]
            free = free[:-1] if self.best else free[1:]
        fitting = places_below if self.best else places_above
        suited, others = by_limits({rival: fitting(free, own - self.state.totals[rival]) for rival in rivals})
        arranged = [*others, *suited[::-1]] if self.best else [*suited, *others]
        self.state.put(place, number, block, self._with_own(block, arranged))
