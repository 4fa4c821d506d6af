"""Orders of the routes' ties that bring many of some wanted documents into the fused top k: found by search.

What an order attains is a fact; that no other attains more is not claimed.
"""

from collections.abc import Collection
from dataclasses import dataclass

from rankwork.retrieval.arrangement import Arrangement
from rankwork.retrieval.fusion_witness import ROUNDS, by_limits, places_above, places_below
from rankwork.retrieval.open_orders import Block, OpenOrders


@dataclass(frozen=True)
class Selection:
    """How many of the wanted documents an order selects, and how many others."""

    wanted: int
    unwanted: int


def most_selected(orders: OpenOrders, wanted: Collection[int], k: int, *, unseen_wanted: bool = False) -> Selection:
    """The selection with the most wanted documents over others that an order was found for.

    Each block gives its first places to wanted documents, as many as can pass the k-th total, and its last places to
    the others, as many as can stay below it. Unseen documents of cut lists are wanted or not, all of them.
    """

    def first(block: Block, unseen: list[int]) -> list[int]:
        members = [*block.members, *unseen]
        return sorted(members, key=lambda member: not _wanted(member, wanted, unseen_wanted))

    state = Arrangement(orders, first, unseen_first=not unseen_wanted)  # whatever their IDs are
    found: list[Selection] = []
    for _ in range(ROUNDS):
        selected = state.selected(k)
        hits = sum(_wanted(member, wanted, unseen_wanted) for member in selected)
        found.append(Selection(hits, len(selected) - hits))
        threshold = state.totals[selected[-1]] if selected else 0
        for place, number, block in state.blocks():
            members = state.lift(place, number, block)
            state.put(place, number, block, _arranged(state, block, members, threshold, wanted, unseen_wanted))
    return max(found, key=lambda each: (each.wanted - each.unwanted, each.wanted))


def _wanted(member: int, wanted: Collection[int], unseen_wanted: bool) -> bool:
    return unseen_wanted if member < 0 else member in wanted


def _arranged(
    state: Arrangement,
    block: Block,
    members: list[int],
    threshold: int,
    wanted: Collection[int],
    unseen_wanted: bool,
) -> list[int]:
    """Wanted documents that can pass first, others that can stay below last, who cannot in between."""
    passing, short = by_limits(
        {
            member: places_above(block.ascending, threshold - 1 - state.totals[member])
            for member in members
            if _wanted(member, wanted, unseen_wanted)
        }
    )
    staying, risen = by_limits(
        {
            member: places_below(block.ascending, threshold - state.totals[member])
            for member in members
            if not _wanted(member, wanted, unseen_wanted)
        }
    )
    return [*passing, *risen, *short, *staying[::-1]]
