"""Figures of ranges: what the orders that the scores allow do to a number.

Each function returns a matplotlib `Figure` that a notebook shows as a PNG, the same bytes for the same numbers. The
colours differ for readers with any colour vision, and every colour has a shape or a label beside it.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import cache
from io import BytesIO
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwork.contract import ties
from rankwork.contract.reference import candidates, ordered
from rankwork.contract.ties import recall_distribution
from rankwork.errors import ContractError
from rankwork.measures.auditing import Audit, audit
from rankwork.rankings import Judgements, Rankings

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from rankwork.evidence.sweep_table import Row, SweepTable

_RANGE = "#9ecae1"
_EXPECTED = "#08519c"
_CONTRACT = "#d95f02"
_TEXT = "#333333"


def ranges(audit: Audit) -> "Figure":
    """The mean of each measure: a bar from minimum to maximum, the expected value and the contract's marked on it.

    Where a cut list hides the range, the bar spans its outer bounds and says so.
    """
    names = list(audit.results)
    figure, axes = _canvas(height=1.4 + 0.55 * len(names))
    for place in range(len(names)):
        _mean_bar(axes, place, audit)
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.set_xlabel(f"mean over the judged queries, ties by {audit.order}")
    _legend(axes, audit.order)
    return figure


def queries(audit: Audit, measure: str, *, most: int = 40) -> "Figure":
    """The range of one measure for each query that has one, the widest first; at most `most` of them are drawn.

    ContractError for a measure that the audit does not have.
    """
    result = audit.result(measure)
    widths = result.widths
    shown = [int(place) for place in np.argsort(-widths, kind="stable")[:most] if widths[place] > 0]
    figure, axes = _canvas(height=1.4 + 0.24 * max(len(shown), 2))
    values = result.values
    for place, query in enumerate(shown):
        _bar(
            axes,
            place,
            values.outer_min[query],
            values.outer_max[query],
            values.expected[query],
            values.contract[query],
        )
    axes.set_yticks(range(len(shown)), [audit.queries[query] for query in shown])
    axes.set_ylim(max(len(shown), 2) - 0.4, -0.6)
    ranged = int((widths > 0).sum())
    axes.set_xlabel(f"{measure}: {ranged} of {result.mean.queries} queries have a range, {len(shown)} shown")
    axes.set_ylabel("query")
    _legend(axes, audit.order)
    return figure


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
    figure, axes = _canvas(height=3.6)
    axes.fill_between(cutoffs, columns["min"], columns["max"], color=_RANGE, alpha=0.7, label="minimum to maximum")
    circle, diamond, line = ("o", "D", ":") if len(cutoffs) <= 40 else ("", "", "--")
    axes.plot(cutoffs, columns["expected"], color=_EXPECTED, marker=circle, markersize=4, label="expected")
    axes.plot(
        cutoffs, columns["contract"], color=_CONTRACT, marker=diamond, markersize=5, linestyle=line, label="contract"
    )
    if len(cutoffs) <= 20:
        axes.set_xticks(cutoffs)
    axes.set_xlabel("k")
    axes.set_ylabel("recall at k")
    if k is not None:
        _mark_boundary(axes, found, k)
    axes.legend(frameon=False, loc="lower right")
    return figure


_COLUMNS = ("contract", "min", "expected", "max")


def _over_k(rows: Sequence[tuple[Any, float]], relevant: Collection[Any], cutoffs: Iterable[int]) -> Audit:
    run = Rankings.from_rows([("q", document, score) for document, score in rows])
    judgements = Judgements.from_rows([("q", document, 1) for document in sorted(relevant)])
    return audit(run, judgements, [f"R@{cut}" for cut in cutoffs])


def _mark_boundary(axes: "Axes", found: Audit, k: int) -> None:
    details = found.result(f"R@{k}").values.details
    above, tied = int(details["above"][0]), int(details["tied"][0])
    axes.axvline(k, color=_TEXT, linewidth=1)
    axes.axvspan(above + 0.5, above + tied + 0.5, color="#cccccc", alpha=0.35, zorder=0)
    axes.set_xlim(*axes.get_xlim())
    axes.set_title(f"k = {k}: {above} above, {tied} tied, {k - above} slots", color=_TEXT, fontsize=11)


def _canvas(*, height: float) -> tuple["Figure", "Axes"]:
    figure, (axes,) = _panels(1, height=height)
    return figure, axes


def _panels(count: int, *, height: float) -> tuple["Figure", list["Axes"]]:
    """A figure that no window system and no global state knows of, with panels one above the other."""
    figure = _figure_class()(figsize=(8.0, height), layout="constrained")
    panels = [figure.add_subplot(count, 1, place + 1) for place in range(count)]
    for axes in panels:
        axes.spines[["top", "right"]].set_visible(False)
        axes.tick_params(labelsize=11)
        axes.xaxis.label.set_fontsize(12)
        axes.yaxis.label.set_fontsize(12)
    return figure, panels


@cache
def _figure_class() -> type["Figure"]:
    """A `Figure` that notebooks show by themselves: matplotlib's own needs pyplot to be imported."""
    from matplotlib.figure import Figure

    class ShownFigure(Figure):
        def _repr_png_(self) -> bytes:
            png = BytesIO()
            self.savefig(png, format="png", metadata={"Software": None})
            return png.getvalue()

    return ShownFigure


def _mean_bar(axes: "Axes", place: int, audit: Audit) -> None:
    mean = list(audit.results.values())[place].mean
    low, high = mean.outer_min, mean.outer_max
    if low is None or high is None:
        axes.text(0, place, f" {mean.reason}", va="center", color=_TEXT, fontsize=11)
        return
    _bar(axes, place, low, high, mean.expected, mean.contract)
    text = f"{low:.4f} to {high:.4f}" + (" (bounds: the list was cut)" if mean.censored else "")
    axes.annotate(
        text, (high, place), xytext=(8, 9), textcoords="offset points", color=_TEXT, fontsize=11, annotation_clip=False
    )


def _bar(axes: "Axes", place: int, low: float, high: float, expected: float | None, contract: float | None) -> None:
    axes.plot([low, high], [place, place], color=_RANGE, linewidth=9, solid_capstyle="butt", zorder=1)
    axes.plot([low, high], [place, place], color=_EXPECTED, marker="|", markersize=11, linestyle="none", zorder=2)
    if expected is not None:
        axes.plot(expected, place, color=_EXPECTED, marker="o", markersize=6, zorder=3)
    if contract is not None:
        axes.plot(contract, place, color=_CONTRACT, marker="D", markersize=6, zorder=4, fillstyle="none", mew=2)


def _legend(axes: "Axes", order: str) -> None:
    from matplotlib.lines import Line2D

    value = "contract" if order == "id_asc" else f"value by {order}"
    handles = [
        Line2D([], [], color=_RANGE, linewidth=9, label="minimum to maximum"),
        Line2D([], [], color=_EXPECTED, marker="o", linestyle="none", label="expected"),
        Line2D([], [], color=_CONTRACT, marker="D", fillstyle="none", mew=2, linestyle="none", label=value),
    ]
    axes.legend(handles=handles, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3, frameon=False, fontsize=11)


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
    figure, axes = _canvas(height=3.4)
    axes.bar(places, [float(share) for share in exact.values()], width, color=_RANGE, label="all orders, exact")
    if drawn:
        shares = [drawn.count(recall) / len(drawn) for recall in exact]
        axes.plot(places, shares, color=_EXPECTED, marker="o", linestyle="none", label=f"{len(drawn)} drawn orders")
    if contract is not None:
        axes.axvline(float(contract), color=_CONTRACT, linestyle="--", linewidth=2, label="contract")
    axes.set_xlim(places[0] - 2 * width, places[-1] + 2 * width)
    axes.set_xlabel(f"recall at {k}")
    axes.set_ylabel("share of orders")
    axes.legend(frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3, fontsize=11)
    return figure


def orders(audits: Mapping[str, Audit]) -> "Figure":
    """The mean of each measure by several orders of the same ties, each measure on a scale of its own.

    `audits` holds one audit of the same run and judgements by each order. The light band goes from minimum to maximum,
    the dark one a standard deviation to both sides of the expected value. ContractError where there is no audit.
    """
    if not audits:
        raise ContractError("there must be at least one audit, got none")
    names = list(next(iter(audits.values())).results)
    figure, panels = _panels(len(names), height=0.7 + (0.75 + 0.26 * len(audits)) * len(names))
    for name, axes in zip(names, panels, strict=True):
        _order_panel(axes, name, audits)
    handles, labels = panels[0].get_legend_handles_labels()
    if handles:
        figure.legend(handles, labels, loc="outside upper center", ncols=4, frameon=False, fontsize=11)
    panels[-1].set_xlabel("mean over the judged queries")
    return figure


def _order_panel(axes: "Axes", name: str, audits: Mapping[str, Audit]) -> None:
    mean = next(iter(audits.values())).result(name).mean
    if mean.outer_min is not None and mean.outer_max is not None:
        axes.axvspan(mean.outer_min, mean.outer_max, color=_RANGE, alpha=0.5, linewidth=0, label="minimum to maximum")
    if mean.expected is not None and mean.std is not None:
        low, high = mean.expected - mean.std, mean.expected + mean.std
        axes.axvspan(low, high, color=_EXPECTED, alpha=0.3, linewidth=0, label="expected, ± one std")
        axes.axvline(mean.expected, color=_EXPECTED, linewidth=1.5)
    for place, order in enumerate(audits):
        value = audits[order].result(name).mean.contract
        if value is not None:
            label = "" if place else "the mean by this order"
            axes.plot(value, place, color=_CONTRACT, marker="D", fillstyle="none", mew=2, linestyle="none", label=label)
    axes.set_yticks(range(len(audits)), list(audits))
    axes.set_ylim(len(audits) - 0.4, -0.6)
    bounds = " (bounds: the list was cut)" if mean.censored else ""
    axes.set_title(f"{name}{bounds}", loc="left", fontsize=12, color=_TEXT)


def widths(audit: Audit, measure: str) -> "Figure":
    """The width of each query's range over the size of the tie group at the cut, for the queries whose cut splits one.

    The widest and the largest group are named. ContractError for a measure that the audit does not have.
    """
    result = audit.result(measure)
    split = np.flatnonzero(result.splits)
    sizes, spans = result.values.details["tied"][split], result.widths[split]
    figure, axes = _canvas(height=3.6)
    axes.plot(sizes, spans, color=_EXPECTED, marker="o", markersize=6, alpha=0.5, mew=0, linestyle="none")
    for place in sorted({int(np.argmax(spans)), int(np.argmax(sizes))} if len(split) else ()):
        axes.annotate(
            f"query {audit.queries[split[place]]}",
            (sizes[place], spans[place]),
            xytext=(0, 8),
            textcoords="offset points",
            color=_TEXT,
            fontsize=11,
            ha="center",
            bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 1},
        )
    if not len(split):
        axes.text(0, 0, "no tie across the cut", color=_TEXT, fontsize=11, ha="center", va="bottom")
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


def boundary(rows: Sequence[tuple[Any, float]], k: int) -> "Figure":
    """The cut at rank k: each document's score as a bar, in the contract's order, and what lies above, tied and below.

    Of the tied documents, those that the contract selects are filled and the others hatched. It is meant for lists
    that can be read, of up to some forty documents. ContractError as `rankwork.rank` raises it, and for k = 0.
    """
    cut, order = ties.boundary(rows, k), ordered(candidates(rows))
    if cut.score is None:
        raise ContractError("a boundary needs a k of at least 1, got 0")
    figure, axes = _canvas(height=3.8)
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
        return {"color": _EXPECTED}
    if place < k:
        return {"facecolor": _CONTRACT, "edgecolor": _CONTRACT}
    if place < cut.above + cut.tied:
        return {"facecolor": "white", "edgecolor": _CONTRACT, "hatch": "///"}
    return {"color": "#cccccc"}


def _draw_cut(axes: "Axes", cut: ties.Boundary, k: int) -> None:
    low, high = axes.get_ylim()
    axes.set_ylim(low, high + 0.18 * (high - low))
    axes.axvline(k - 0.5, color=_TEXT, linewidth=1.5, linestyle="--")
    axes.annotate(f" k = {k}", (k - 0.5, 0.97), xycoords=("data", "axes fraction"), color=_TEXT, va="top", fontsize=12)


def _boundary_legend(axes: "Axes", cut: ties.Boundary) -> None:
    from matplotlib.patches import Patch

    hatched = Patch(facecolor="white", edgecolor=_CONTRACT, hatch="///", label=f"tied, no slot: {cut.surplus}")
    handles = [
        Patch(color=_EXPECTED, label=f"above: {cut.above}"),
        Patch(color=_CONTRACT, label=f"slots: {cut.slots} for {cut.tied} tied"),
        *([hatched] if cut.surplus else []),
        Patch(color="#cccccc", label="below"),
    ]
    axes.legend(handles=handles, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=4, frameon=False, fontsize=11)


_MARKERS = "osv^D<>P"
_MOST_PANELS = 6


def sweep(table: "SweepTable") -> "Figure":
    """The numbers that a sweep changes, over the first of its names that varies; the first six of them are drawn.

    A line for each combination of the other names; where a number is a range, a band from minimum to maximum with the
    contract's value as the line. An execution that is not complete leaves a gap.
    """
    names = table.changing()[:_MOST_PANELS]
    figure, panels = _panels(max(len(names), 1), height=1.2 + 2.2 * max(len(names), 1))
    across = (*table.varied, *table.names)[0]
    for name, axes in zip(names, panels, strict=False):
        _sweep_panel(axes, name, across, table)
    if not names:
        panels[0].text(0.5, 0.5, "no recorded number changes", ha="center", color=_TEXT, fontsize=12)
        panels[0].set_axis_off()
    handles, labels = panels[0].get_legend_handles_labels()
    if len(labels) > 1:
        figure.legend(handles, labels, loc="outside upper center", ncols=3, frameon=False, fontsize=11)
    panels[-1].set_xlabel(across)
    return figure


def _sweep_panel(axes: "Axes", name: str, across: str, table: "SweepTable") -> None:
    """One number over the values of one parameter: lines with bands, or bars side by side where they are no numbers."""
    lines = _lines(table, across)
    values = list(dict.fromkeys(str(row.values[across]) for row in table.rows))
    numeric = _is_numeric(table, across)
    for place, (label, rows) in enumerate(lines.items()):
        aside = 0.5 * (place - (len(lines) - 1) / 2) / len(lines)
        x = [row.values[across] if numeric else values.index(str(row.values[across])) + aside for row in rows]
        low, at, high = np.array([_spread(row, name) for row in rows]).T
        look: dict[str, Any] = {"color": f"C{place}", "marker": _MARKERS[place % len(_MARKERS)], "label": label}
        if numeric:
            axes.fill_between(x, low, high, color=look["color"], alpha=0.25, linewidth=0)
        else:
            axes.vlines(x, low, high, color=look["color"], alpha=0.35, linewidth=6)
        axes.plot(x, at, linestyle="-" if numeric else "none", **look)
    if not numeric:
        axes.set_xticks(range(len(values)), values)
        axes.set_xlim(-0.6, len(values) - 0.4)
    axes.set_title(name, loc="left", fontsize=12, color=_TEXT)


def _is_numeric(table: "SweepTable", across: str) -> bool:
    return all(type(row.values[across]) in (int, float) for row in table.rows)


def _lines(table: "SweepTable", across: str) -> dict[str, list["Row"]]:
    """The rows of each combination of the other names, in the order of the axis."""
    lines: dict[str, list[Row]] = {}
    others = [name for name in table.varied if name != across]
    for row in table.rows:
        lines.setdefault(", ".join(f"{name} {row.values[name]}" for name in others), []).append(row)
    if _is_numeric(table, across):
        return {label: sorted(rows, key=lambda row: row.values[across]) for label, rows in lines.items()}
    return lines


def _spread(row: "Row", name: str) -> tuple[float, float, float]:
    """The least, the drawn and the greatest value of a number; NaN, which leaves a gap, where the row has none."""
    value = row.numbers.get(name, row.measured.get(name))
    if value is None or row.status != "complete":
        return np.nan, np.nan, np.nan
    if isinstance(value, Mapping):
        low, high = value.get("min", np.nan), value.get("max", np.nan)
        return low, value.get("contract", value.get("expected", np.nan)), high
    return value, value, value
