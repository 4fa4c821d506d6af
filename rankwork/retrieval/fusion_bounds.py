"""How many rivals can stand above a document, or must: bounds over all orders that the routes' ties allow.

Who asks is taken at its worst, or best, place in every route: changing places with whoever stands there only helps the
rival and hurts the document. Then the places of one route are given to rivals, each to as many as can use them, with
every other route at its most favourable: that is a matching of rivals to places, where each rival accepts all places
up to some rank, so taking rivals in the order of their limits is optimal (J. R. Jackson's rule for deadlines). Of the
routes the one with the tightest bound counts. The bounds hold; nothing says that they are attained.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable

from rankwork.retrieval.open_orders import Block, OpenOrders, RouteOrders


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
    worst = orders.lows[number]
    always = sum(low > worst for low in orders.lows)
    open_still = [
        rival for rival, high in enumerate(orders.highs) if high > worst >= orders.lows[rival] and rival != number
    ]
    return always + min((_can_rise(orders, route, number, open_still) for route in orders.routes), default=0)


def least_above(orders: OpenOrders, number: int) -> int:
    """At least so many documents stand above this one at its best."""
    best = orders.highs[number]
    always = sum(low > best for low in orders.lows)
    open_still = [rival for rival, high in enumerate(orders.highs) if high > best >= orders.lows[rival]]
    kept_below = min((_can_stay_below(orders, route, number, open_still) for route in orders.routes), default=0)
    return always + len(open_still) - kept_below


def _can_rise(orders: OpenOrders, route: RouteOrders, number: int, rivals: Iterable[int]) -> int:
    """How many rivals the places of one route allow above the document, which has the last place of its blocks."""
    worst = orders.lows[number]
    limits: dict[int, list[int]] = {}
    free = 0
    for rival in rivals:
        place = route.block_of.get(rival)
        if place is None:
            free += 1
            continue
        needed = worst - (orders.highs[rival] - route.high(rival))
        block = route.blocks[place]
        limits.setdefault(place, []).append(_places_above(block, needed, without_last=_holds(route, place, number)))
    for place, block in enumerate(route.blocks):
        if block.hidden:
            limits.setdefault(place, []).extend(_unseen_limits(orders, route, block, worst))
    return free + sum(map(placed, limits.values())) + _unseen_elsewhere(orders, route, worst)


def _can_stay_below(orders: OpenOrders, route: RouteOrders, number: int, rivals: Iterable[int]) -> int:
    """How many rivals the places of one route allow below the document, which has the first place of its blocks."""
    best = orders.highs[number]
    limits: dict[int, list[int]] = {}
    free = 0
    for rival in rivals:
        place = route.block_of.get(rival)
        if place is None:
            free += 1
            continue
        allowed = best - (orders.lows[rival] - route.low(rival))
        block = route.blocks[place]
        limits.setdefault(place, []).append(_places_below(block, allowed, without_first=_holds(route, place, number)))
    return free + sum(map(placed, limits.values()))


def _holds(route: RouteOrders, place: int, number: int) -> bool:
    return route.block_of.get(number) == place


def _places_above(block: Block, needed: int, *, without_last: bool) -> int:
    taken = without_last and block.values[-1] > needed
    return len(block.values) - bisect_right(block.ascending, needed) - taken


def _places_below(block: Block, allowed: int, *, without_first: bool) -> int:
    return bisect_left(block.ascending, allowed) - (without_first and block.values[0] < allowed)


def unseen_total(orders: OpenOrders) -> int:
    """The most that a document can have that no route shows; by ID it may stand before all others."""
    hidden = (block.values[0] for route in orders.routes for block in route.blocks if block.hidden)
    return sum(hidden) + len(orders.ids) + 1


def _unseen_limits(orders: OpenOrders, route: RouteOrders, block: Block, worst: int) -> list[int]:
    needed = worst - (unseen_total(orders) - block.values[0])
    return [_places_above(block, needed, without_last=False)] * block.visible


def _unseen_elsewhere(orders: OpenOrders, route: RouteOrders, worst: int) -> int:
    """How many unseen documents can stand above it without a place in this route: each has one in another."""
    own = sum(block.values[0] for block in route.blocks if block.hidden)
    count = 0
    for other in orders.routes:
        for block in other.blocks if other is not route else ():
            if block.hidden:
                rest = unseen_total(orders) - own - block.values[0]
                count += sum(value + rest > worst for value in block.values[: block.visible])
    return count
