"""Figures of one audit: what the orders that the scores allow do to a number."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwork.contract.ties import recall_distribution
from rankwork.errors import ContractError
from rankwork.measures.auditing import Audit, audit
from rankwork.plots.canvas import (
    CONTRACT,
    EXPECTED,
    NARROWEST,
    RANGE,
    TEXT,
    at_least,
    bar,
    canvas,
    captioned,
    legend,
    panels,
)
from rankwork.rankings import Judgements, Rankings

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_COLUMNS = ("contract", "min", "expected", "max")


@captioned
def ranges(audit: Audit) -> "Figure":
    """The mean of each measure: a bar from minimum to maximum, the expected value and the contract's marked on it.

    Where a cut list hides the range, the bar spans its outer bounds and says so.
    """
    names = list(audit.results)
    figure, axes = canvas(height=1.4 + 0.55 * len(names))
    for place in range(len(names)):
        _mean_bar(axes, place, audit)
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.set_xlabel(f"mean over the judged queries, ties by {audit.order}")
    legend(axes, audit.order)
    return figure


@captioned
def queries(audit: Audit, measure: str, *, most: int = 40) -> "Figure":
    """The range of one measure for each query that has one, the widest first.

    At most `most` of them are drawn. ContractError for a measure that the audit does not have.
    """
    result = audit.result(measure)
    widths = result.widths
    shown = [int(place) for place in np.argsort(-widths, kind="stable")[:most] if widths[place] > 0]
    figure, axes = canvas(height=1.4 + 0.24 * max(len(shown), 2))
    values = result.values
    for place, query in enumerate(shown):
        bar(
            axes,
            place,
            values.outer_min[query],
            values.outer_max[query],
            values.expected[query],
            values.contract[query],
        )
    if not shown:
        axes.text(0.5, 0.5, "no query has a range", color=TEXT, fontsize=11, ha="center", va="center")
    axes.set_yticks(range(len(shown)), [audit.queries[query] for query in shown])
    axes.set_ylim(max(len(shown), 2) - 0.4, -0.6)
    ranged = int((widths > 0).sum())
    axes.set_xlabel(f"{measure}: {ranged} of {result.mean.queries} queries have a range, {len(shown)} shown")
    axes.set_ylabel("query")
    legend(axes, audit.order)
    return figure


@captioned
def recall_over_k(
    rows: Sequence[tuple[Any, float]], relevant: Collection[Any], *, k: int | None = None, last: int | None = None
) -> "Figure":
    """Recall over the cutoff for one list: the band from minimum to maximum, the expected and the contract's value.

    `rows` are (document, score), all IDs text or all integers. `k` marks one cutoff and the tie group that it cuts;
    the cutoffs end at `last`, None at the end of the list. ContractError without a relevant document, and for a k or a
    last outside the list.
    """
    if not relevant:
        raise ContractError("recall needs at least one relevant document, got none")
    if k is not None and not 1 <= k <= len(rows):
        raise ContractError(f"k must be between 1 and {len(rows)}, got {k}")
    if last is not None and not (k or 1) <= last <= len(rows):
        raise ContractError(f"last must be between {k or 1} and {len(rows)}, got {last}")
    cutoffs = np.arange(1, (last or len(rows)) + 1)
    found = _over_k(rows, relevant, cutoffs)
    columns = {name: [getattr(found.result(f"R@{cut}").mean, name) for cut in cutoffs] for name in _COLUMNS}
    figure, axes = canvas(height=3.6)
    axes.fill_between(cutoffs, columns["min"], columns["max"], color=RANGE, alpha=0.7, label="minimum to maximum")
    circle, diamond, line = ("o", "D", ":") if len(cutoffs) <= 40 else ("", "", "--")
    axes.plot(cutoffs, columns["expected"], color=EXPECTED, marker=circle, markersize=4, label="expected")
    axes.plot(
        cutoffs, columns["contract"], color=CONTRACT, marker=diamond, markersize=5, linestyle=line, label="contract"
    )
    if len(cutoffs) <= 20:
        axes.set_xticks(cutoffs)
    axes.set_xlabel("k")
    axes.set_ylabel("recall at k")
    if k is not None:
        _mark_boundary(axes, found, k)
    axes.legend(frameon=False, loc="lower right")
    return figure


def _over_k(rows: Sequence[tuple[Any, float]], relevant: Collection[Any], cutoffs: Iterable[int]) -> Audit:
    run = Rankings.from_rows([("q", document, score) for document, score in rows])
    judgements = Judgements.from_rows([("q", document, 1) for document in sorted(relevant)])
    return audit(run, judgements, [f"R@{cut}" for cut in cutoffs])


def _mark_boundary(axes: "Axes", found: Audit, k: int) -> None:
    details = found.result(f"R@{k}").values.details
    above, tied = int(details["above"][0]), int(details["tied"][0])
    axes.axvline(k, color=TEXT, linewidth=1)
    axes.axvspan(above + 0.5, above + tied + 0.5, color="#cccccc", alpha=0.35, zorder=0)
    axes.set_xlim(*axes.get_xlim())
    axes.set_title(f"k = {k}: {above} above, {tied} tied, {k - above} slots", color=TEXT, fontsize=11)


def _mean_bar(axes: "Axes", place: int, audit: Audit) -> None:
    mean = list(audit.results.values())[place].mean
    low, high = mean.outer_min, mean.outer_max
    if low is None or high is None:
        axes.text(0, place, f" {mean.reason}", va="center", color=TEXT, fontsize=11)
        return
    bar(axes, place, low, high, mean.expected, mean.contract)
    text = f"{low:.4f} to {high:.4f}" + (" (bounds: the list was cut)" if mean.censored else "")
    axes.annotate(
        text, (high, place), xytext=(8, 9), textcoords="offset points", color=TEXT, fontsize=11, annotation_clip=False
    )


@captioned
def distribution(
    rows: Sequence[tuple[Any, float]],
    relevant: Collection[Any],
    k: int,
    *,
    drawn: Sequence[Fraction] | None = None,
    contract: Fraction | None = None,
) -> "Figure":
    """The exact probability of each recall at k when all orders of equal scores are equally likely, as bars.

    `drawn` are recalls of orders drawn at random: their shares stand as dots. `contract` marks the contract's recall.
    ContractError as `recall_distribution` raises it.
    """
    exact = recall_distribution(rows, relevant, k)
    places, width = [float(recall) for recall in exact], 0.7 / len(set(relevant))
    figure, axes = canvas(height=3.4)
    axes.bar(places, [float(share) for share in exact.values()], width, color=RANGE, label="all orders, exact")
    if drawn:
        shares = [drawn.count(recall) / len(drawn) for recall in exact]
        axes.plot(places, shares, color=EXPECTED, marker="o", linestyle="none", label=f"{len(drawn)} drawn orders")
    if contract is not None:
        axes.axvline(float(contract), color=CONTRACT, linestyle="--", linewidth=2, label="contract")
    axes.set_xlim(places[0] - 2 * width, places[-1] + 2 * width)
    axes.set_xlabel(f"recall at {k}")
    axes.set_ylabel("share of orders")
    axes.legend(frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3, fontsize=11)
    return figure


@captioned
def orders(audits: Mapping[str, Audit]) -> "Figure":
    """The mean of each measure by several orders of the same ties, each measure on a scale of its own.

    `audits` holds one audit of the same run and judgements by each order. The light band goes from minimum to maximum,
    the dark one a standard deviation to both sides of the expected value. ContractError where there is no audit.
    """
    if not audits:
        raise ContractError("there must be at least one audit, got none")
    names = list(next(iter(audits.values())).results)
    figure, stacked = panels(len(names), height=0.7 + (0.75 + 0.26 * len(audits)) * len(names))
    for name, axes in zip(names, stacked, strict=True):
        _order_panel(axes, name, audits)
    handles, labels = stacked[0].get_legend_handles_labels()
    if handles:
        figure.legend(handles, labels, loc="outside upper center", ncols=4, frameon=False, fontsize=11)
    stacked[-1].set_xlabel("mean over the judged queries")
    return figure


def _order_panel(axes: "Axes", name: str, audits: Mapping[str, Audit]) -> None:
    mean = next(iter(audits.values())).result(name).mean
    if mean.outer_min is not None and mean.outer_max is not None:
        axes.axvspan(mean.outer_min, mean.outer_max, color=RANGE, alpha=0.5, linewidth=0, label="minimum to maximum")
    if mean.expected is not None and mean.std is not None:
        low, high = mean.expected - mean.std, mean.expected + mean.std
        axes.axvspan(low, high, color=EXPECTED, alpha=0.3, linewidth=0, label="expected, ± one std")
        axes.axvline(mean.expected, color=EXPECTED, linewidth=1.5)
    for place, order in enumerate(audits):
        value = audits[order].result(name).mean.contract
        if value is not None:
            label = "" if place else "the mean by this order"
            axes.plot(value, place, color=CONTRACT, marker="D", fillstyle="none", mew=2, linestyle="none", label=label)
    at_least(axes, NARROWEST)
    axes.set_yticks(range(len(audits)), list(audits))
    axes.set_ylim(len(audits) - 0.4, -0.6)
    bounds = " (bounds: the list was cut)" if mean.censored else ""
    axes.set_title(f"{name}{bounds}", loc="left", fontsize=12, color=TEXT)


@captioned
def widths(audit: Audit, measure: str) -> "Figure":
    """The width of each query's range over the size of the tie group at the cut, for the queries whose cut splits one.

    The widest and the largest group are named. ContractError for a measure that the audit does not have.
    """
    result = audit.result(measure)
    split = np.flatnonzero(result.splits)
    sizes, spans = result.values.details["tied"][split], result.widths[split]
    figure, axes = canvas(height=3.6)
    axes.plot(sizes, spans, color=EXPECTED, marker="o", markersize=6, alpha=0.5, mew=0, linestyle="none")
    for place in sorted({int(np.argmax(spans)), int(np.argmax(sizes))} if len(split) else ()):
        axes.annotate(
            f"query {audit.queries[split[place]]}",
            (sizes[place], spans[place]),
            xytext=(0, 8),
            textcoords="offset points",
            color=TEXT,
            fontsize=11,
            ha="center",
            bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 1},
        )
    if not len(split):
        axes.text(0, 0, "no tie across the cut", color=TEXT, fontsize=11, ha="center", va="bottom")
    elif sizes.max() > 10 * sizes.min():
        _log_of_sizes(axes)
    axes.margins(x=0.1, y=0.15)
    axes.set_xlabel(f"documents that tie at the cut of {measure} ({len(split)} of {result.mean.queries} queries)")
    axes.set_ylabel("maximum minus minimum")
    return figure


def _log_of_sizes(axes: "Axes") -> None:
    from matplotlib.ticker import LogLocator, NullFormatter, ScalarFormatter

    axes.set_xscale("log")
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.xaxis.set_major_formatter(ScalarFormatter())
    axes.xaxis.set_minor_formatter(NullFormatter())
