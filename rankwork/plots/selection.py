"""Figures of one selection: the boundary, the block lemma, the certificate, who wins a tie."""

from collections.abc import Collection, Mapping, Sequence
from itertools import cycle
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwork.contract import ties
from rankwork.contract.reference import candidates, ordered, rank
from rankwork.errors import ContractError
from rankwork.plots.canvas import CONTRACT, EXPECTED, RANGE, TEXT, canvas, captioned, patches

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_ZONES = {"above T": EXPECTED, "at T, up to the last": CONTRACT, "at T, later": "#969696", "below": "#d9d9d9"}
_NEEDED = ("above T", "at T, up to the last")


@captioned
def boundary(rows: Sequence[tuple[Any, float]], k: int) -> "Figure":
    """The cut at rank k: each document's score as a bar, in the contract's order, and what lies above, tied and below.

    Of the tied documents, those that the contract selects are filled and the others hatched. It is meant for lists
    that can be read, of up to some forty documents. ContractError as `rankwork.rank` raises it, and for k = 0.
    """
    cut, order = ties.boundary(rows, k), ordered(candidates(rows))
    if cut.score is None:
        raise ContractError("a boundary needs a k of at least 1, got 0")
    figure, axes = canvas(height=3.8)
    for place, row in enumerate(order):
        axes.bar(place, row.score, width=0.72, **_look_of(place, cut, k))
    names = [str(row.id) for row in order]
    axes.set_xticks(range(len(order)), names, rotation=90 if len("".join(names)) > 60 else 0)
    axes.set_xlabel("document, in the contract's order")
    axes.set_ylabel("score")
    _draw_cut(axes, cut, k)
    _boundary_legend(axes, cut)
    return figure


def _look_of(place: int, cut: ties.Boundary, k: int) -> dict[str, Any]:
    if place < cut.above:
        return {"color": EXPECTED}
    if place < k:
        return {"facecolor": CONTRACT, "edgecolor": CONTRACT}
    if place < cut.above + cut.tied:
        return {"facecolor": "white", "edgecolor": CONTRACT, "hatch": "///"}
    return {"color": "#cccccc"}


def _draw_cut(axes: "Axes", cut: ties.Boundary, k: int) -> None:
    low, high = axes.get_ylim()
    axes.set_ylim(low, high + 0.18 * (high - low))
    axes.axvline(k - 0.5, color=TEXT, linewidth=1.5, linestyle="--")
    axes.annotate(f" k = {k}", (k - 0.5, 0.97), xycoords=("data", "axes fraction"), color=TEXT, va="top", fontsize=12)


def _boundary_legend(axes: "Axes", cut: ties.Boundary) -> None:
    from matplotlib.patches import Patch

    hatched = Patch(facecolor="white", edgecolor=CONTRACT, hatch="///", label=f"tied, no slot: {cut.surplus}")
    handles = [
        Patch(color=EXPECTED, label=f"above: {cut.above}"),
        Patch(color=CONTRACT, label=f"slots: {cut.slots} for {cut.tied} tied"),
        *([hatched] if cut.surplus else []),
        Patch(color="#cccccc", label="below"),
    ]
    axes.legend(handles=handles, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=4, frameon=False, fontsize=11)


@captioned
def winners(positions: Mapping[str, Sequence[int]]) -> "Figure":
    """Who wins one place among n equal scores, n = 1, 2, ...: the selected position of each engine over n.

    Above the dashed line, the last position, nothing can lie. ContractError where there is no engine.
    """
    if not positions:
        raise ContractError("there must be at least one engine, got none")
    most = max(map(len, positions.values()))
    figure, axes = canvas(height=3.6)
    axes.plot([1, most], [0, most - 1], color="#999999", linestyle="--", linewidth=1, label="the last position")
    looks = zip((EXPECTED, CONTRACT, RANGE, "#cccccc"), "oDs^", strict=True)
    for place, ((name, selected), (colour, marker)) in enumerate(zip(positions.items(), cycle(looks), strict=False)):
        # Where engines agree, the first one lies on top, and the next ones look out behind it.
        size, above = 3.5 + 2.5 * place, len(positions) + 2 - place
        counts = range(1, len(selected) + 1)
        axes.plot(
            counts, selected, color=colour, marker=marker, markersize=size, mew=0, ls="none", zorder=above, label=name
        )
    axes.set_xlabel("how many equal scores there are")
    axes.set_ylabel("position that wins")
    axes.legend(frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=4, fontsize=11)
    return figure


@captioned
def blocks(scores: Sequence[float], k: int, size: int) -> "Figure":
    """The block lemma: scores by position in blocks of `size`, the first k blocks by their maximum, and the top k.

    The first k blocks are shaded and numbered in their order; a dot marks the leftmost maximum of each block. Selected
    scores are filled, the others of the same blocks are pale, and the rest, which is never looked at again, is grey.
    ContractError as `rankwork.rank` raises it, for k = 0 and for a size below 1.
    """
    if k == 0 or size < 1:
        raise ContractError(f"k and size must be at least 1, got {k} and {size}")
    row = np.asarray(scores, float)
    selected = set(rank(list(enumerate(row.tolist())), k))
    chosen = list(dict.fromkeys(position // size for position in _leftmost_maxima(row, size)))[:k]
    figure, axes = canvas(height=3.8)
    for position, score in enumerate(row.tolist()):
        colour = CONTRACT if position in selected else RANGE if position // size in chosen else "#cccccc"
        axes.bar(position, score, width=0.72, color=colour)
    for place, block in enumerate(chosen, 1):
        _shade_block(axes, block, size, row, place)
    maxima = _leftmost_maxima(row, size)
    axes.plot(maxima, row[maxima], color=TEXT, marker="o", linestyle="none", markersize=5)
    for edge in range(size, len(row), size):
        axes.axvline(edge - 0.5, color=TEXT, linewidth=0.8, linestyle=":")
    axes.set_ylim(0, 1.22 * float(row.max()))
    axes.set_xticks(range(len(row)))
    axes.set_xlabel(f"position (= ID), in blocks of {size}")
    axes.set_ylabel("score")
    looks = {f"the top {k}": CONTRACT, "also looked at": RANGE, "never looked at again": "#cccccc"}
    patches(axes, looks, "leftmost maximum of a block")
    return figure


def _leftmost_maxima(row: Any, size: int) -> list[int]:
    """The place of each block's leftmost maximum, the blocks by (maximum descending, index ascending)."""
    places = [start + int(np.argmax(row[start : start + size])) for start in range(0, len(row), size)]
    return sorted(places, key=lambda place: (-row[place], place))


def _shade_block(axes: "Axes", block: int, size: int, row: Any, place: int) -> None:
    first, last = block * size - 0.5, min(block * size + size, len(row)) - 0.5
    axes.axvspan(first, last, color=RANGE, alpha=0.25, zorder=0)
    axes.text((first + last) / 2, 1.14 * float(row.max()), f"no. {place}", ha="center", color=TEXT, fontsize=11)


@captioned
def certificate(scores: Sequence[float], indices: Sequence[int]) -> "Figure":
    """What the certificate counts: scores by position, the last selected one as a line, and who has to be selected.

    Scores above the line, and those on it up to the last selected position, have to be selected: filled if they are,
    hatched if not. Those on it further right may be left out, those below must. ContractError for no indices.
    """
    if not len(indices):
        raise ContractError("there must be at least one index, got none")
    row, chosen = np.asarray(scores, float), {int(index) for index in indices}
    last = int(indices[-1])
    zones = [_zone(score, position, row[last], last) for position, score in enumerate(row.tolist())]
    figure, axes = canvas(height=3.6)
    for position, score in enumerate(row.tolist()):
        axes.bar(position, score, width=0.72, **_look_in(zones[position], position in chosen))
    axes.axhline(row[last], color=TEXT, linewidth=1.5, linestyle="--")
    axes.annotate(f" T = {row[last]:g}", (1.0, row[last]), xycoords=("axes fraction", "data"), color=TEXT, va="center")
    axes.axvline(last + 0.5, color=TEXT, linewidth=1, linestyle=":")
    axes.set_xticks(range(len(row)))
    axes.set_xlabel("position (= ID); dotted: the last selected")
    axes.set_ylabel("score")
    _zone_legend(axes, zones, chosen)
    return figure


def _zone(score: float, position: int, threshold: float, last: int) -> str:
    if score != threshold:
        return "above T" if score > threshold else "below"
    return "at T, up to the last" if position <= last else "at T, later"


def _look_in(zone: str, selected: bool) -> dict[str, Any]:
    if zone in _NEEDED and not selected:
        return {"facecolor": "white", "edgecolor": _ZONES[zone], "hatch": "///"}
    return {"color": _ZONES[zone]}


def _zone_legend(axes: "Axes", zones: Sequence[str], chosen: Collection[int]) -> None:
    counts = {zone: zones.count(zone) for zone in _ZONES}
    taken = {zone: sum(zones[position] == zone for position in chosen) for zone in _NEEDED}
    text = {zone: f", {taken[zone]} selected" if zone in taken else "" for zone in _ZONES}
    patches(axes, {f"{zone}: {counts[zone]}{text[zone]}": colour for zone, colour in _ZONES.items()})
