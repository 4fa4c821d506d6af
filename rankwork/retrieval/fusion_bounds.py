"""How many rivals can stand above a document, or must: bounds over all orders that the routes' ties allow.

Who asks is taken at its worst, or best, place in every route: changing places with whoever stands there only helps the
rival and hurts the document. Then the places are given to rivals, each with all other routes at their most favourable.
That is a matching of rivals to the places of a block, where each rival accepts all places up to some rank, so taking
rivals in the order of their limits is optimal (J. R. Jackson's rule for deadlines). A rival that needs a good place in
several routes may be counted in any of them: all in one route, for each route, or each where it has the least choice;
the tightest of these bounds counts. The bounds hold; nothing says that they are attained.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TypeAlias

from rankwork.retrieval.open_orders import Block, OpenOrders, RouteOrders

Place: TypeAlias = tuple[int, int]
Limits: TypeAlias = dict[Place, int]
"""For each block (by its route and its number there) how many of its places suit a rival."""


def placed(limits: Iterable[int]) -> int:
    """How many can be given a place each, where one with limit d takes any of the first d places.

    >>> placed([1, 1, 3])
    2
    """
    count = 0
    for limit in sorted(limits):
        count += limit > count
    return count


def most_above(orders: OpenOrders, number: int) -> int:
    """At most so many documents stand above this one at its worst."""
    everyone = range(len(orders.ids))
    return _most_passing(orders, everyone, orders.lows[number], without_last_of=number, unseen=True)


def most_passing(orders: OpenOrders, numbers: Collection[int], total: int, *, unseen: bool) -> int:
    """At most so many of these documents, and of unseen ones if asked, stand above a total at the same time."""
    return _most_passing(orders, numbers, total, without_last_of=None, unseen=unseen)


def least_above(orders: OpenOrders, number: int) -> int:
    """At least so many documents stand above this one at its best."""
    best = orders.highs[number]
    open_still = [rival for rival, high in enumerate(orders.highs) if high > best >= orders.lows[rival]]
    limits = [_limits_below(orders, rival, best, number) for rival in open_still]
    return orders.lows_above(best) + len(open_still) - _tightest(limits, {}, [0] * len(orders.routes))


def _most_passing(
    orders: OpenOrders, numbers: Iterable[int], total: int, *, without_last_of: int | None, unseen: bool
) -> int:
    passing = [number for number in numbers if orders.highs[number] > total and number != without_last_of]
    open_still = [number for number in passing if orders.lows[number] <= total]
    limits = [_limits_above(orders, rival, total, without_last_of) for rival in open_still]
    hidden = _unseen_limits(orders, total) if unseen else {}
    elsewhere = [_unseen_elsewhere(orders, route, total) if unseen else 0 for route in orders.routes]
    return len(passing) - len(open_still) + _tightest(limits, hidden, elsewhere)


def _tightest(limits: Sequence[Limits], unseen: Mapping[Place, list[int]], elsewhere: Sequence[int]) -> int:
    """The least of the bounds: all rivals counted in one route, or each in the block that suits it least."""
    bounds = [_fitting([{min(each, key=each.__getitem__): min(each.values())} for each in limits], unseen)]
    for route, more in enumerate(elsewhere):
        there = [{place: limit for place, limit in each.items() if place[0] == route} for each in limits]
        bounds.append(more + _fitting(there, {place: each for place, each in unseen.items() if place[0] == route}))
    return min(bounds)


def _fitting(limits: Iterable[Limits], unseen: Mapping[Place, list[int]]) -> int:
    """How many have a place that suits them; who is limited in no block, counts."""
    blocks = {place: list(each) for place, each in unseen.items()}
    free = 0
    for each in limits:
        free += not each
        for place, limit in each.items():
            blocks.setdefault(place, []).append(limit)
    return free + sum(map(placed, blocks.values()))


def _limits_above(orders: OpenOrders, rival: int, total: int, without_last_of: int | None) -> Limits:
    found: Limits = {}
    for place, route in enumerate(orders.routes):
        number = route.block_of.get(rival)
        if number is not None:
            block = route.blocks[number]
            needed = total - (orders.highs[rival] - block.values[0])
            taken = without_last_of is not None and route.block_of.get(without_last_of) == number
            found[place, number] = _places_above(block, needed) - (taken and block.values[-1] > needed)
    return found


def _limits_below(orders: OpenOrders, rival: int, total: int, without_first_of: int) -> Limits:
    found: Limits = {}
    for place, route in enumerate(orders.routes):
        number = route.block_of.get(rival)
        if number is not None:
            block = route.blocks[number]
            allowed = total - (orders.lows[rival] - block.values[-1])
            taken = route.block_of.get(without_first_of) == number
            found[place, number] = bisect_left(block.ascending, allowed) - (taken and block.values[0] < allowed)
    return found


def _places_above(block: Block, needed: int) -> int:
    return len(block.values) - bisect_right(block.ascending, needed)


def _unseen_total(orders: OpenOrders) -> int:
    """The most that a document can have that no route shows; by ID it may stand before all others."""
    hidden = (block.values[0] for route in orders.routes for block in route.blocks if block.hidden)
    return sum(hidden) + len(orders.ids) + 1


def _unseen_limits(orders: OpenOrders, total: int) -> dict[Place, list[int]]:
    """For each cut block the limits of as many unseen documents as it has visible places."""
    rest = _unseen_total(orders) - total
    return {
        (place, number): [_places_above(block, block.values[0] - rest)] * block.visible
        for place, route in enumerate(orders.routes)
        for number, block in enumerate(route.blocks)
        if block.hidden
    }


def _unseen_elsewhere(orders: OpenOrders, route: RouteOrders, total: int) -> int:
    """How many unseen documents can stand above it without a place in this route: each has one in another."""
    own = sum(block.values[0] for block in route.blocks if block.hidden)
    count = 0
    for other in orders.routes:
        for block in other.blocks if other is not route else ():
            if block.hidden:
                rest = _unseen_total(orders) - own - block.values[0]
                count += sum(value + rest > total for value in block.values[: block.visible])
    return count
