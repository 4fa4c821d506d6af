"""Drawings that sliders change: one pair of axes, the rows as they arrive, and what is selected of them."""

import random
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from rankwork.contract.reference import rank
from rankwork.contract.ties import boundary, recall_range
from rankwork.engines import engine
from rankwork.engines.settings import cast
from rankwork.plots.canvas import CONTRACT, EXPECTED, RANGE, TEXT
from rankwork.retrieval.fusion import Fused, rrf
from rankwork.retrieval.fusion_intervals import fused_intervals

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Row = tuple[str, float]


def arrived(rows: Sequence[Row], arrival: int, dtype: str = "float64") -> list[Row]:
    """The rows in the order of an arrival, with their scores in a number format; arrival 0 is the order given.

    >>> arrived([("A", 0.8004), ("B", 0.8)], 0, "bfloat16")
    [('A', 0.80078125), ('B', 0.80078125)]
    """
    order = list(range(len(rows)))
    if arrival:
        random.Random(arrival).shuffle(order)
    scores = np.asarray(cast(np.array([score for _, score in rows]), dtype)).astype(np.float64)
    return [(rows[place][0], float(scores[place])) for place in order]


def selection(
    axes: "Axes", rows: Sequence[Row], *, k: int, policy: Literal["by_id", "inclusive"], dtype: str, arrival: int
) -> None:
    """Scores as bars: the selected ones filled, those that tie at the cut hatched, a dot over torch.topk's choice."""
    coming = arrived(rows, arrival, dtype)
    chosen, cut = set(rank(coming, k, policy=policy)), boundary(coming, k)
    theirs = engine("torch.topk").select(np.array([score for _, score in coming], np.float32), k)
    for place, (name, score) in enumerate(coming):
        tied = cut.tied > 1 and score == cut.score
        axes.bar(place, score, width=0.72, **_look(name in chosen, tied))
    low, high = min(score for _, score in coming), max(score for _, score in coming)
    margin = 0.15 * (high - low) or 1.0
    axes.plot(theirs, [high + 0.5 * margin] * len(theirs), "o", color=CONTRACT, clip_on=False)
    axes.set_ylim(low - margin, high + margin)
    axes.set_xticks(range(len(coming)), [name for name, _ in coming])
    axes.set_ylabel(f"score, {dtype}", fontsize=9)


def _look(chosen: bool, tied: bool) -> dict[str, Any]:
    hatch = "///" if tied else None
    if chosen:
        return {"facecolor": EXPECTED, "edgecolor": "white" if tied else EXPECTED, "hatch": hatch}
    return {"facecolor": "white", "edgecolor": TEXT if tied else "#969696", "hatch": hatch}


def engines(axes: "Axes", names: Sequence[str], rows: Sequence[Row], *, k: int, dtype: str, arrival: int) -> None:
    """A square for each document that an engine selects, an engine a line; a cross where one is left out."""
    coming = arrived(rows, arrival, dtype)
    scores = np.array([score for _, score in coming], np.float32)
    right: set[Any] = set(rank(coming, k))
    taken_by: dict[str, set[Any]] = {
        name: {coming[int(place)][0] for place in engine(name).select(scores, k)} for name in names
    }
    taken_by["rankwork.rank, with IDs"] = right
    for line, taken in enumerate(taken_by.values()):
        for place, (document, _) in enumerate(coming):
            if document in taken:
                axes.plot(place, line, "s", markersize=9, color=EXPECTED if document in right else CONTRACT)
            elif document in right:
                axes.plot(place, line, "x", markersize=8, color=TEXT)
    axes.set_xticks(range(len(coming)), [document for document, _ in coming])
    axes.set_yticks(range(len(taken_by)), list(taken_by), fontsize=9)
    axes.set_ylim(len(taken_by) - 0.4, -0.6)
    axes.set_xlim(-0.6, len(coming) - 0.4)


def ranges(axes: "Axes", rows: Sequence[Row], relevant: Collection[str], *, k: int, dtype: str, arrival: int) -> None:
    """The range of recall at every k, the contract's value in it, and what the order of this arrival gives."""
    coming = arrived(rows, arrival, dtype)
    cuts = range(1, len(rows) + 1)
    found = [recall_range(coming, relevant, cut) for cut in cuts]
    axes.fill_between(
        cuts, [each.min or 0.0 for each in found], [each.max or 0.0 for each in found], color=RANGE, step="mid"
    )
    for policy, color, mark in (("by_id", CONTRACT, "D"), ("input", EXPECTED, "o")):
        values = [len(set(rank(coming, cut, policy=policy)) & set(relevant)) / len(relevant) for cut in cuts]
        axes.plot(cuts, values, mark, color=color, fillstyle="none", markersize=6)
    axes.axvline(k, color=TEXT, linestyle="--", linewidth=1)
    axes.set_xticks(cuts)
    axes.set_xlabel(f"k; at k = {k} from {found[k - 1].min:.2f} to {found[k - 1].max:.2f}", fontsize=9)
    axes.set_ylabel("recall", fontsize=9)


def resolved(rows: Sequence[Row], ties: str) -> list[str]:
    """The documents by score descending; equal scores by ID (`id_asc`, `id_desc`) or as they came (`arrival 1`).

    >>> resolved([("B", 7.0), ("A", 7.0), ("C", 9.0)], "id_desc")
    ['C', 'B', 'A']
    """
    if ties in ("id_asc", "id_desc"):
        coming = sorted(rows, reverse=ties == "id_desc")
    else:
        coming = arrived(rows, int(ties.removeprefix("arrival ")))
    return [name for name, _ in sorted(coming, key=lambda row: row[1], reverse=True)]


def fusion(axes: "Axes", routes: Mapping[str, Sequence[Row]], *, k: int, c: int, depth: int, ties: str) -> None:
    """The fused rank of each document under a tie rule of the first route, and the ranks that its ties leave open."""
    first = next(iter(routes))
    fused = rrf({**routes, first: resolved(routes[first], ties)}, c=c, depth=depth)
    bounds = fused_intervals(routes, k, c=c, depth=depth, cut=())
    documents = sorted({name for rows in routes.values() for name, _ in rows})
    for place, name in enumerate(documents):
        if name in bounds.orders.ids:
            limits = bounds.ranks(name)
            ends = [limits.best - 0.25, (limits.worst or len(documents)) + 0.25]
            axes.plot([place, place], ends, color=RANGE, linewidth=9, solid_capstyle="butt", zorder=1)
        if name in fused.ids:
            _fused_rank(axes, place, fused, name, k)
    axes.axhline(k + 0.5, color=TEXT, linestyle="--", linewidth=1)
    axes.set_xticks(range(len(documents)), documents)
    axes.set_yticks(range(1, len(documents) + 1))
    axes.set_ylim(len(documents) + 0.6, 0.4)
    axes.set_ylabel("fused rank", fontsize=9)


def _fused_rank(axes: "Axes", place: int, fused: Fused, name: str, k: int) -> None:
    """Filled where it is selected; a square where its fused score goes on across the cut."""
    rank = fused.ids.index(name) + 1
    cut = fused.boundary(k)
    across = cut.crosses and fused.totals[rank - 1] == fused.totals[min(k, len(fused)) - 1]
    face = EXPECTED if rank <= k else "white"
    axes.plot(
        place, rank, "s" if across else "o", markersize=7, markeredgecolor=EXPECTED, markerfacecolor=face, zorder=3
    )
