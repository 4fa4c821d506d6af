"""Figures of a fusion: what the routes' ties do to fused scores, and to the fused top k over the depth of the lists."""

from typing import TYPE_CHECKING

from rankwork.errors import ContractError
from rankwork.plots.canvas import CONTRACT, EXPECTED, TEXT, bar, canvas, captioned, legend
from rankwork.retrieval.fusion_intervals import FusedInterval, FusionIntervals
from rankwork.retrieval.tie_rule import Flips

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_COLOURS = {"certain": EXPECTED, "possible": CONTRACT, "undecided": "#7570b3", "excluded": "#636363"}


@captioned
def fused_scores(found: FusionIntervals, *, most: int = 20) -> "Figure":
    """The interval of each document's fused score as a bar, in the contract's order; at most `most` of them.

    The dashed line is the cut at k; what becomes of each document there stands beside its bar.
    """
    shown = found.documents[:most]
    figure, axes = canvas(height=1.5 + 0.32 * max(len(shown), 2))
    for place, document in enumerate(shown):
        bar(axes, place, document.low, document.high, document.expected, document.contract)
        colour = _COLOURS[document.status]
        axes.annotate(
            _said(document), (1.01, place), xycoords=("axes fraction", "data"), va="center", fontsize=11, color=colour
        )
    if len(shown) > found.k:
        axes.axhline(found.k - 0.5, color=TEXT, linewidth=1, linestyle="--")
    axes.set_yticks(range(len(shown)), [str(document.id) for document in shown])
    axes.set_ylim(max(len(shown), 2) - 0.4, -0.6)
    axes.margins(x=0.06)
    left_out = len(found.documents) - len(shown)
    cut = f"dashed: the cut at k = {found.k}" + (f"; {left_out} more documents not shown" if left_out else "")
    axes.set_xlabel(f"fused score over all orders of the routes' ties\n{cut}")
    legend(axes, "id_asc")
    return figure


def _said(document: FusedInterval) -> str:
    if document.status != "possible" or document.share is None:
        return document.status
    return f"possible ({float(document.share):.0%} of orders)"


@captioned
def changes_by_depth(flips: Flips) -> "Figure":
    """Over the depth of the routes' lists: shares of queries whose top k changes, and of lists that look tied there.

    ContractError where there are fewer than two depths.
    """
    rows = sorted(flips.rows, key=lambda row: row.depth)
    if len(rows) < 2:
        raise ContractError(f"there must be at least two depths, got {len(rows)}")
    figure, axes = canvas(height=3.8)
    depths = [row.depth for row in rows]
    for name, colour, marker, line, label in (
        ("tied_at_cut", EXPECTED, "o", "-", f"the fused list looks tied at rank {flips.k}"),
        ("members_changed", CONTRACT, "D", "-", f"another top {flips.k} with {flips.route}'s ties the other way round"),
        ("unseen", CONTRACT, "s", ":", "the same, and the fused list shows no tie there"),
    ):
        shares = [100 * getattr(row, name) for row in rows]
        axes.plot(depths, shares, color=colour, marker=marker, linestyle=line, markersize=6, linewidth=2, label=label)
    axes.set_xscale("log")
    axes.set_xticks(depths, [str(depth) for depth in depths])
    axes.minorticks_off()
    axes.set_ylim(bottom=0)
    axes.set_xlabel("depth: documents that the fusion reads of each route")
    axes.set_ylabel(f"share of {rows[0].queries} queries, %")
    axes.legend(frameon=False, loc="lower left", bbox_to_anchor=(0.0, 1.0), fontsize=11)
    return figure
