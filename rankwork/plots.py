"""Figures of ranges: what the orders that the scores allow do to a number.

Each function returns a matplotlib `Figure` that a notebook shows as a PNG, the same bytes for the same numbers. The
colours differ for readers with any colour vision, and every colour has a shape or a label beside it.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import cache
from io import BytesIO
from itertools import cycle
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwork.contract import ties
from rankwork.contract.reference import candidates, ordered, rank
from rankwork.contract.ties import recall_distribution
from rankwork.engines.layers import LAYERS
from rankwork.engines.overview import AGAIN, ARRIVAL, ELSEWHERE, FAILED, NONE, NOT_RUN, SAME, Observation
from rankwork.errors import ContractError
from rankwork.measures.auditing import Audit, audit
from rankwork.measures.means import Mean
from rankwork.measures.systems import Difference, Standing, Systems
from rankwork.rankings import Judgements, Rankings

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch

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
    if not shown:
        axes.text(0.5, 0.5, "no query has a range", color=_TEXT, fontsize=11, ha="center", va="center")
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


def _canvas(*, height: float, width: float = 8.0) -> tuple["Figure", "Axes"]:
    figure, (axes,) = _panels(1, height=height, width=width)
    return figure, axes


def _panels(count: int, *, height: float, width: float = 8.0) -> tuple["Figure", list["Axes"]]:
    """A figure that no window system and no global state knows of, with panels one above the other."""
    figure = _figure_class()(figsize=(width, height), layout="constrained")
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
    _at_least(axes, _NARROWEST)
    axes.set_yticks(range(len(audits)), list(audits))
    axes.set_ylim(len(audits) - 0.4, -0.6)
    bounds = " (bounds: the list was cut)" if mean.censored else ""
    axes.set_title(f"{name}{bounds}", loc="left", fontsize=12, color=_TEXT)


_NARROWEST = 0.001  # a scale of means shows no less: what is beyond the fourth decimal is not read


def _at_least(axes: "Axes", width: float) -> None:
    """Widen the scale to this width, if it is narrower."""
    low, high = axes.get_xlim()
    missing = max(width - (high - low), 0) / 2
    axes.set_xlim(low - missing, high + missing)


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
    figure, axes = _canvas(height=1.4 + 0.5 * max(len(means), 2))
    for place, (name, mean) in enumerate(means.items()):
        low, high = mean.outer_min, mean.outer_max
        if low is None or high is None:
            axes.text(0, place, f" {mean.reason}", va="center", color=_TEXT, fontsize=11)
            continue
        _bar(axes, place, low, high, mean.expected, mean.contract)
        axes.annotate(
            texts[name], (1.01, place), xycoords=("axes fraction", "data"), va="center", color=_TEXT, fontsize=11
        )
    _at_least(axes, _NARROWEST)
    axes.set_yticks(range(len(means)), list(means))
    axes.set_ylim(max(len(means), 2) - 0.4, -0.6)
    axes.set_xlabel(label)
    _legend(axes, order)
    return figure


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
    figure, axes = _canvas(height=4.2)
    axes.axhline(0, color=_TEXT, linewidth=1)
    _mean_band(axes, difference)
    won, lost = low[drawn] > 0, high[drawn] < 0
    reversible = ~won & ~lost & (value[drawn] != 0) & ~np.isnan(value[drawn])
    open_still = ~won & ~lost & ~reversible
    for queries, (colour, marker, fill), label in (
        (won, (_EXPECTED, "^", "full"), f"won, whatever ties do: {won.sum()}"),
        (lost, (_CONTRACT, "v", "full"), f"lost, whatever ties do: {lost.sum()}"),
        (reversible, (_TEXT, "D", "none"), f"reversible by another order: {reversible.sum()}"),
        (open_still, ("#969696", "o", "none"), f"undecided by the contract, too: {open_still.sum()}"),
    ):
        places, shown = np.flatnonzero(queries), drawn[queries]
        axes.vlines(places, low[shown], high[shown], color=colour, alpha=0.45, linewidth=_stroke(len(drawn)))
        axes.plot(
            places, value[shown], color=colour, marker=marker, fillstyle=fill, markersize=5, ls="none", label=label
        )
    if not len(drawn):
        axes.text(0.5, 0.6, "no order makes a difference", transform=axes.transAxes, color=_TEXT, ha="center")
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
        axes.axhspan(low, high, color=_RANGE, alpha=0.5, linewidth=0, zorder=0, label="range of the mean")


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


def winners(positions: Mapping[str, Sequence[int]]) -> "Figure":
    """Who wins one place among n equal scores, n = 1, 2, ...: the selected position of each engine over n.

    Above the dashed line, the last position, nothing can lie. ContractError where there is no engine.
    """
    if not positions:
        raise ContractError("there must be at least one engine, got none")
    most = max(map(len, positions.values()))
    figure, axes = _canvas(height=3.6)
    axes.plot([1, most], [0, most - 1], color="#999999", linestyle="--", linewidth=1, label="the last position")
    looks = zip((_EXPECTED, _CONTRACT, _RANGE, "#cccccc"), "oDs^", strict=True)
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


# How deep a change goes: the word in the cell, its colour, and the colour of the word.
_DEPTHS = {
    SAME: ("same", "#f2f2f2", _TEXT),
    LAYERS[2]: ("order", "#fdd0a2", _TEXT),
    LAYERS[1]: ("members", "#f16913", "#000000"),
    LAYERS[0]: ("scores", "#7f2704", "#ffffff"),
    FAILED: ("failed", "#9ecae1", "#000000"),
    NOT_RUN: ("not run", "#ffffff", "#777777"),
    NONE: ("", "#ffffff", _TEXT),
}


def engines(observations: Sequence[Observation]) -> "Figure":
    """A map of engines and experiments: the word and the colour of a cell say how deep the deepest change went.

    "same": no answer changed. "order": only the order among equal scores. "members": other documents. "scores": not
    even the scores are the same. "failed": no answer changed, but one was missing. Empty: the engine has no such
    condition. ContractError where nothing was observed.
    """
    if not observations:
        raise ContractError("there must be at least one observation, got none")
    names = list(dict.fromkeys(seen.engine for seen in observations))
    columns = _columns([seen.experiment for seen in observations])
    figure, axes = _canvas(height=1.2 + 0.26 * len(names), width=9.5)
    for seen in observations:
        _cell(axes, columns[seen.experiment], names.index(seen.engine), seen.state)
    axes.set_xlim(-0.6, max(columns.values()) + 0.6)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.set_yticks(range(len(names)), names, fontsize=9)
    axes.set_xticks(list(columns.values()), list(columns), fontsize=9)
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    figure.legend(
        handles=_depth_handles(), loc="outside lower center", ncols=6, frameon=False, fontsize=10, columnspacing=1.2
    )
    return figure


def _columns(experiments: Iterable[str]) -> dict[str, float]:
    """The place of each experiment; a gap parts the repetition, the arrival, the conditions, and elsewhere."""
    places: dict[str, float] = {}
    place = -1.0
    for name in dict.fromkeys(experiments):
        place += 1.25 if places and (name in (ARRIVAL, ELSEWHERE) or {AGAIN, ARRIVAL} & {list(places)[-1]}) else 1
        places[name] = place
    return places


def _cell(axes: "Axes", x: float, y: float, state: str) -> None:
    from matplotlib.patches import Rectangle

    word, colour, ink = _DEPTHS[state]
    hatch = "///" if state == NOT_RUN else None
    axes.add_patch(Rectangle((x - 0.48, y - 0.46), 0.96, 0.92, facecolor=colour, edgecolor="#dddddd", hatch=hatch))
    axes.text(x, y, word, ha="center", va="center", color=ink, fontsize=7.5)


def _depth_handles() -> list["Patch"]:
    from matplotlib.patches import Patch

    meanings = {
        SAME: "no change",
        LAYERS[2]: "other order",
        LAYERS[1]: "other members",
        LAYERS[0]: "other scores",
        FAILED: "no answer",
        NOT_RUN: NOT_RUN,
    }
    return [
        Patch(facecolor=_DEPTHS[state][1], edgecolor="#dddddd", label=text, hatch="///" if state == NOT_RUN else None)
        for state, text in meanings.items()
    ]


# ------------------------------------------------------------- why the fast selection is right


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
    figure, axes = _canvas(height=3.8)
    for position, score in enumerate(row.tolist()):
        colour = _CONTRACT if position in selected else _RANGE if position // size in chosen else "#cccccc"
        axes.bar(position, score, width=0.72, color=colour)
    for place, block in enumerate(chosen, 1):
        _shade_block(axes, block, size, row, place)
    maxima = _leftmost_maxima(row, size)
    axes.plot(maxima, row[maxima], color=_TEXT, marker="o", linestyle="none", markersize=5)
    for edge in range(size, len(row), size):
        axes.axvline(edge - 0.5, color=_TEXT, linewidth=0.8, linestyle=":")
    axes.set_ylim(0, 1.22 * float(row.max()))
    axes.set_xticks(range(len(row)))
    axes.set_xlabel(f"position (= ID), in blocks of {size}")
    axes.set_ylabel("score")
    looks = {f"the top {k}": _CONTRACT, "also looked at": _RANGE, "never looked at again": "#cccccc"}
    _patches(axes, looks, "leftmost maximum of a block")
    return figure


def _leftmost_maxima(row: Any, size: int) -> list[int]:
    """The place of each block's leftmost maximum, the blocks by (maximum descending, index ascending)."""
    places = [start + int(np.argmax(row[start : start + size])) for start in range(0, len(row), size)]
    return sorted(places, key=lambda place: (-row[place], place))


def _shade_block(axes: "Axes", block: int, size: int, row: Any, place: int) -> None:
    first, last = block * size - 0.5, min(block * size + size, len(row)) - 0.5
    axes.axvspan(first, last, color=_RANGE, alpha=0.25, zorder=0)
    axes.text((first + last) / 2, 1.14 * float(row.max()), f"no. {place}", ha="center", color=_TEXT, fontsize=11)


def _patches(axes: "Axes", looks: Mapping[str, str], dot: str | None = None) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    handles: list[Any] = [Patch(color=colour, label=label) for label, colour in looks.items()]
    if dot:
        handles.append(Line2D([], [], color=_TEXT, marker="o", linestyle="none", markersize=5, label=dot))
    _legend_above(axes, handles)


def _legend_above(axes: "Axes", handles: Sequence[Any]) -> None:
    axes.legend(
        handles=handles, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=4, frameon=False, fontsize=11,
        columnspacing=1.2, handletextpad=0.5,
    )  # fmt: skip


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
    figure, axes = _canvas(height=3.6)
    for position, score in enumerate(row.tolist()):
        axes.bar(position, score, width=0.72, **_look_in(zones[position], position in chosen))
    axes.axhline(row[last], color=_TEXT, linewidth=1.5, linestyle="--")
    axes.annotate(f" T = {row[last]:g}", (1.0, row[last]), xycoords=("axes fraction", "data"), color=_TEXT, va="center")
    axes.axvline(last + 0.5, color=_TEXT, linewidth=1, linestyle=":")
    axes.set_xticks(range(len(row)))
    axes.set_xlabel("position (= ID); dotted: the last selected")
    axes.set_ylabel("score")
    _zone_legend(axes, zones, chosen)
    return figure


_ZONES = {"above T": _EXPECTED, "at T, up to the last": _CONTRACT, "at T, later": "#969696", "below": "#d9d9d9"}
_NEEDED = ("above T", "at T, up to the last")


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
    _patches(axes, {f"{zone}: {counts[zone]}{text[zone]}": colour for zone, colour in _ZONES.items()})


# ------------------------------------------------------------------------------ what it costs

_MARKS = "osD^vP*X"


def ratios(records: Sequence[Mapping[str, Any]]) -> "Figure":
    """The time of `rankwork.topk` by that of torch.topk over n, for single rows; one panel for each k.

    `records` are those of `rankwork.engines.speed.grid`. A mark is a kind of input, the solid line their median; the
    dashed line is the floor, one read of the scores. ContractError where there is no single row.
    """
    single = [record for record in records if record["rows"] == 1]
    if not single:
        raise ContractError("there must be a cell with a single row, got none")
    ks = sorted({record["k"] for record in single})
    figure, panels = _panels(len(ks), height=0.9 + 2.3 * len(ks))
    for k, axes in zip(ks, panels, strict=True):
        _ratio_panel(axes, [record for record in single if record["k"] == k])
        axes.set_title(f"k = {k:,}", loc="left", fontsize=12, color=_TEXT)
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=3, frameon=False, fontsize=11)
    panels[-1].set_xlabel("n, scores in the row")
    return figure


def _ratio_panel(axes: "Axes", records: Sequence[Mapping[str, Any]]) -> None:
    ns = sorted({record["n"] for record in records})
    for mark, name in zip(_MARKS, dict.fromkeys(record["input"] for record in records), strict=False):
        points = [(record["n"], record["ratio"]) for record in records if record["input"] == name]
        axes.plot(*zip(*points, strict=True), color=_EXPECTED, marker=mark, alpha=0.55, linestyle="none", label=name)
    medians = {key: [_median_at(records, n, key) for n in ns] for key in ("ratio", "floor ratio")}
    axes.plot(ns, medians["ratio"], color=_EXPECTED, linewidth=2, label="median")
    axes.plot(
        ns, medians["floor ratio"], color=_CONTRACT, linestyle="--", marker="_", linewidth=2, label="floor: one read"
    )
    axes.axhline(1, color=_TEXT, linewidth=1)
    _logarithmic(axes, ns)
    axes.set_ylabel("ratio")


def _logarithmic(axes: "Axes", places: Sequence[int]) -> None:
    """Both axes logarithmic and in plain numbers, with a tick at each of the places."""
    from matplotlib.ticker import LogLocator, NullFormatter, NullLocator

    axes.set_xscale("log")
    axes.set_yscale("log")
    low, high = axes.get_ylim()
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if high < 50 * low else (1,)))
    axes.set_xticks(places, [f"{place:,}" for place in places])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.yaxis.set_minor_formatter(NullFormatter())


def _median_at(records: Sequence[Mapping[str, Any]], n: int, key: str) -> float:
    return float(np.median([record[key] for record in records if record["n"] == n]))


def cells(records: Sequence[Mapping[str, Any]]) -> "Figure":
    """Every cell of a grid as its ratio to torch.topk: blue is faster, red slower, a frame is a goal that was missed.

    `records` are those of `rankwork.engines.speed.grid`, of one dtype and one order of IDs. ContractError for none.
    """
    if not records:
        raise ContractError("there must be at least one cell, got none")
    from matplotlib.colors import LogNorm
    from matplotlib.patches import Rectangle

    rows = list(dict.fromkeys((record["rows"], record["n"], record["k"]) for record in records))
    columns = list(dict.fromkeys(record["input"] for record in records))
    figure, axes = _canvas(height=1.9 + 0.3 * len(rows))
    values = np.full((len(rows), len(columns)), np.nan)
    for record in records:
        y, x = rows.index((record["rows"], record["n"], record["k"])), columns.index(record["input"])
        values[y, x] = record["ratio"]
        dark = record["ratio"] < 0.06 or record["ratio"] > 6
        text = f"{record['ratio']:.2g}" + (" !" if record["missed"] else "")
        axes.text(x, y, text, ha="center", va="center", fontsize=10, color="white" if dark else "black")
        if record["missed"]:
            axes.add_patch(Rectangle((x - 0.46, y - 0.44), 0.92, 0.88, fill=False, edgecolor="black", linewidth=2))
    axes.imshow(values, cmap="RdBu_r", norm=LogNorm(0.01, 100), aspect="auto")
    axes.set_yticks(range(len(rows)), [f"{count:,} x {n:,}, k = {k:,}" for count, n, k in rows])
    axes.set_xticks(range(len(columns)), columns, rotation=30, ha="left")
    axes.tick_params(top=True, labeltop=True, bottom=False, labelbottom=False, length=0)
    axes.spines[:].set_visible(False)
    missed = sum(bool(record["missed"]) for record in records)
    axes.set_xlabel(f"ratio to torch.topk; framed: {missed} of {len(records)} missed their goal")
    return figure


def engine_times(records: Sequence[Mapping[str, Any]]) -> "Figure":
    """The seconds of every engine for one question, on one logarithmic axis; ours in another colour.

    `records` are those of `rankwork.engines.engine_times`; engines without a time are left out and counted.
    ContractError where none has a time.
    """
    timed = [record for record in records if record["seconds"] is not None]
    if not timed:
        raise ContractError("there must be at least one engine with a time, got none")
    figure, axes = _canvas(height=1.2 + 0.27 * len(timed))
    for place, record in enumerate(timed):
        ours = record["engine"].startswith("rankwork")
        axes.plot(record["seconds"], place, color=_CONTRACT if ours else _EXPECTED, marker="D" if ours else "o")
        axes.annotate(_duration(record["seconds"]), (record["seconds"], place), xytext=(8, 0),
                      textcoords="offset points", va="center", fontsize=10, color=_TEXT)  # fmt: skip
    axes.set_xscale("log")
    axes.margins(x=0.2)
    axes.set_yticks(range(len(timed)), [record["engine"] for record in timed])
    axes.set_ylim(len(timed) - 0.4, -0.6)
    axes.grid(axis="x", color="#dddddd")
    first = timed[0]
    left_out = f"; {len(records) - len(timed)} not timed" if len(records) > len(timed) else ""
    axes.set_xlabel(f"seconds for the top {first['k']} of {first['n']:,}{left_out}")
    return figure


def _duration(seconds: float) -> str:
    for unit, factor in (("s", 1.0), ("ms", 1e3), ("µs", 1e6)):
        if seconds * factor >= 1:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds * 1e9:.0f} ns"


def evaluator_costs(records: Sequence[Mapping[str, Any]]) -> "Figure":
    """CPU seconds and peak memory of whole processes over the rows of the run, one line for each evaluator.

    `records` are those of `rankwork.measures.speed.compare_evaluators`, of one or more files; an evaluator that did not
    run has no line. The dashed line grows with the rows. ContractError where none ran.
    """
    ran = [record for record in records if not record["note"]]
    if not ran:
        raise ContractError("there must be at least one evaluator that ran, got none")
    figure, panels = _panels(2, height=6.2)
    for axes, key, unit in ((panels[0], "CPU seconds", 1.0), (panels[1], "peak", 1e6)):
        for look, name in enumerate(dict.fromkeys(record["evaluator"] for record in ran)):
            points = [(r["rows"], r[key] / unit) for r in ran if r["evaluator"] == name and r[key] is not None]
            if points:
                axes.plot(*zip(*points, strict=True), color=_SERIES[look], marker=_MARKS[look], label=name, linewidth=2)
        _logarithmic(axes, sorted({record["rows"] for record in ran}))
    _draw_growth(panels[0], ran)
    _draw_file(panels[1], ran)
    panels[0].set_ylabel("CPU seconds")
    panels[1].set_ylabel("peak memory, MB")
    panels[1].set_xlabel("rows of the run")
    for axes in panels:
        axes.legend(frameon=False, fontsize=10, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return figure


_SERIES = (_CONTRACT, _EXPECTED, "#1b9e77", "#7570b3", "#666666")


def _draw_growth(axes: "Axes", ran: Sequence[Mapping[str, Any]]) -> None:
    """A line that grows with the rows, through our most expensive point."""
    most = max((r for r in ran if r["evaluator"] == ran[0]["evaluator"]), key=lambda r: r["rows"])
    rows = np.array(sorted({record["rows"] for record in ran}))
    axes.plot(rows, most["CPU seconds"] * rows / most["rows"], color=_TEXT, linestyle="--", label="linear")


def _draw_file(axes: "Axes", ran: Sequence[Mapping[str, Any]]) -> None:
    sizes = sorted({(record["rows"], 4 * record["file"] / 1e6) for record in ran})
    axes.plot(*zip(*sizes, strict=True), color=_TEXT, linestyle="--", marker="_", label="4 x the file")


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
