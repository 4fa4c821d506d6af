"""Figures of several systems, or of several forms of one: means with their ranges, and differences."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from rankwork.errors import ContractError
from rankwork.measures.auditing import Audit
from rankwork.measures.means import Mean
from rankwork.measures.systems import Difference, Standing, Systems
from rankwork.plots.canvas import CONTRACT, EXPECTED, NARROWEST, RANGE, TEXT, at_least, bar, canvas, captioned, legend

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@captioned
def origins(audits: Mapping[str, Audit], measure: str) -> "Figure":
    """One measure of the same documents with their scores in several forms: a bar each, and how often the cut is tied.

    `audits` holds an audit by the name of each form, such as "float32" or "2 decimals". The share is that of the
    averaged queries whose cut splits a tie group. ContractError where there is no audit, and for a measure that one
    does not have.
    """
    if not audits:
        raise ContractError("there must be at least one audit, got none")
    texts = {}
    for name, each in audits.items():
        result = each.result(measure)
        texts[name] = f"{100 * result.splits.sum() / max(result.mean.queries, 1):.1f} % tied at the cut"
    means = {name: each.result(measure).mean for name, each in audits.items()}
    return _rows_of_means(means, texts, f"mean of {measure}", next(iter(audits.values())).order)


@captioned
def leaderboard(systems: Systems, measure: str) -> "Figure":
    """The systems by the contract's mean, best first: a bar from minimum to maximum, and the ranks that ties allow.

    ContractError for a measure that the audits do not have.
    """
    standings = systems.leaderboard(measure)
    means = {standing.system: systems.audit(standing.system).result(measure).mean for standing in standings}
    texts = {standing.system: _ranks(standing) for standing in standings}
    return _rows_of_means(means, texts, f"mean of {measure}", systems.audit(standings[0].system).order)


def _ranks(standing: Standing) -> str:
    best, worst = standing.best_rank, standing.worst_rank
    return f"rank {best}" if best == worst else f"rank {best} to {worst}"


def _rows_of_means(means: Mapping[str, Mean], texts: Mapping[str, str], label: str, order: str) -> "Figure":
    """A bar and a text for each mean, one below the other."""
    figure, axes = canvas(height=1.4 + 0.5 * max(len(means), 2))
    for place, (name, mean) in enumerate(means.items()):
        low, high = mean.outer_min, mean.outer_max
        if low is None or high is None:
            axes.text(0, place, f" {mean.reason}", va="center", color=TEXT, fontsize=11)
            continue
        bar(axes, place, low, high, mean.expected, mean.contract)
        axes.annotate(
            texts[name], (1.01, place), xycoords=("axes fraction", "data"), va="center", color=TEXT, fontsize=11
        )
    at_least(axes, NARROWEST)
    axes.set_yticks(range(len(means)), list(means))
    axes.set_ylim(max(len(means), 2) - 0.4, -0.6)
    axes.locator_params(axis="x", nbins=5)
    axes.set_xlabel(label)
    legend(axes, order)
    return figure


@captioned
def differences(difference: Difference) -> "Figure":
    """Second minus first, query by query: the free range of each, and what it makes of the contract's difference.

    Filled triangles are robust: no order of ties changes who wins. Hollow diamonds are wins and losses by the contract
    that another order takes away, or turns round; circles are undecided. Queries on which no order makes a difference
    are counted, not drawn. The band is the range of the mean.
    """
    low, high, value = difference.min, difference.max, difference.contract
    drawn = np.flatnonzero((low != 0) | (high != 0))
    middle = np.where(np.isnan(value), (low + high) / 2, value)
    drawn = drawn[np.lexsort((high[drawn], low[drawn], middle[drawn]))]
    figure, axes = canvas(height=4.2)
    axes.axhline(0, color=TEXT, linewidth=1)
    _mean_band(axes, difference)
    won, lost = low[drawn] > 0, high[drawn] < 0
    reversible = ~won & ~lost & (value[drawn] != 0) & ~np.isnan(value[drawn])
    open_still = ~won & ~lost & ~reversible
    for queries, (colour, marker, fill), label in (
        (won, (EXPECTED, "^", "full"), f"won, whatever ties do: {won.sum()}"),
        (lost, (CONTRACT, "v", "full"), f"lost, whatever ties do: {lost.sum()}"),
        (reversible, (TEXT, "D", "none"), f"reversible by another order: {reversible.sum()}"),
        (open_still, ("#969696", "o", "none"), f"undecided by the contract, too: {open_still.sum()}"),
    ):
        places, shown = np.flatnonzero(queries), drawn[queries]
        axes.vlines(places, low[shown], high[shown], color=colour, alpha=0.45, linewidth=_stroke(len(drawn)))
        axes.plot(
            places, value[shown], color=colour, marker=marker, fillstyle=fill, markersize=5, ls="none", label=label
        )
    if not len(drawn):
        axes.text(0.5, 0.6, "no order makes a difference", transform=axes.transAxes, color=TEXT, ha="center")
    count = f"{len(drawn)} of {len(difference.queries)} queries, by the contract's difference"
    axes.set_xlabel(f"{count}; {difference.equal} equal by every order")
    axes.set_xticks([])
    axes.set_ylabel(f"{difference.measure}: {difference.second} minus\n{difference.first}")
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, frameon=False, fontsize=11)
    return figure


def _stroke(queries: int) -> float:
    """Bars as wide as they can be without touching, in points; the axes are some 500 points wide."""
    return float(np.clip(350 / max(queries, 1), 0.7, 7))


def _mean_band(axes: "Axes", difference: Difference) -> None:
    if len(difference.queries):
        low, high = float(difference.min.mean()), float(difference.max.mean())
        axes.axhspan(low, high, color=RANGE, alpha=0.5, linewidth=0, zorder=0, label="range of the mean")
