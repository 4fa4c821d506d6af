"""Figures of a gate: intervals against their margins, queries that gained and lost, quality against time and cost."""

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwork.decision.comparisons import Comparison
from rankwork.decision.pareto import Axis, Front, Point
from rankwork.errors import ContractError
from rankwork.plots.canvas import CONTRACT, EXPECTED, RANGE, TEXT, canvas, captioned, legend_above, multiples, panels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_LOOKS: dict[str, dict[str, Any]] = {
    "better": {"marker": "^", "color": EXPECTED},
    "equivalent": {"marker": "s", "color": EXPECTED, "fillstyle": "none"},
    "worse": {"marker": "v", "color": CONTRACT},
    "inconclusive": {"marker": "o", "color": TEXT, "fillstyle": "none"},
}
_BAND = "#e8e8e8"


@captioned
def verdicts(comparisons: Sequence[Comparison]) -> "Figure":
    """A forest plot: for each rule a panel, for each of its slices the mean gain with its limits against the margin.

    Rules that have one slice each, all from 0 to 1, share a panel. The thin line spans the 95 % limits, the thick one
    the 90 % limits, the band the margin; the pale bar is what ties can do to the mean. The mark is the verdict's. Right
    of 0 is better. ContractError where there is no comparison.
    """
    if not comparisons:
        raise ContractError("there must be at least one comparison, got none")
    rules = list(dict.fromkeys(each.rule.name for each in comparisons))
    together = len(rules) == len(comparisons) and all(each.rule.drop == 1 for each in comparisons)
    groups = [list(comparisons)] if together else [[e for e in comparisons if e.rule.name == rule] for rule in rules]
    height = 1.0 + 0.9 * len(groups) + 0.36 * len(comparisons)
    figure, stacked = panels(len(groups), height=height, width=9.0)
    for axes, rows in zip(stacked, groups, strict=True):
        labels = [each.name if together else each.slice for each in rows]
        _forest(axes, rows, labels, "gain" if together else f"gain in {rows[0].rule.name}")
    legend_above(stacked[0], _forest_legend({each.verdict.word for each in comparisons}))
    return figure


def _forest(axes: "Axes", rows: Sequence[Comparison], labels: Sequence[str], what: str) -> None:
    for place, each in enumerate(rows):
        _forest_row(axes, place, each)
    axes.axvline(0, color=TEXT, linewidth=1, linestyle="--", zorder=1)
    axes.set_yticks(range(len(rows)), labels)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    widest = max(abs(end) for end in axes.get_xlim())
    axes.set_xlim(-widest, widest)
    axes.set_xlabel(f"{what}, candidate over baseline")


def _forest_row(axes: "Axes", place: int, each: Comparison) -> None:
    found, margin = each.verdict.estimate, each.verdict.margin
    if margin is not None:
        axes.barh(place, 2 * margin, left=-margin, height=0.8, color=_BAND, zorder=0)
    low, high = each.differences.low.mean(), each.differences.high.mean()
    axes.plot([low, high], [place, place], color=RANGE, linewidth=9, solid_capstyle="butt", zorder=2)
    axes.plot([found.low95, found.high95], [place, place], color=TEXT, linewidth=1.2, zorder=3)
    axes.plot([found.low90, found.high90], [place, place], color=TEXT, linewidth=3, solid_capstyle="butt", zorder=3)
    axes.plot(found.mean, place, markersize=9, mew=2, zorder=4, **_white_if_hollow(_LOOKS[each.verdict.word]))
    ties = {True: "", False: ", ties could reverse it", None: ", ties not known"}[each.verdict.tie_proof]
    text = f"{each.verdict.word}{ties}\n{found.differ} of {found.clusters} differ"
    axes.annotate(text, (1.01, place), xycoords=("axes fraction", "data"), va="center", color=TEXT, fontsize=9)


def _white_if_hollow(look: dict[str, Any]) -> dict[str, Any]:
    if look.get("fillstyle") != "none":
        return look
    return {"marker": look["marker"], "color": look["color"], "markerfacecolor": "white"}


def _forest_legend(words: Collection[str]) -> list[Any]:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    looks = {name: look for name, look in _LOOKS.items() if name in words}
    marks = [Line2D([], [], linestyle="none", markersize=9, mew=2, label=name, **look) for name, look in looks.items()]
    return [
        *marks,
        Line2D([], [], color=TEXT, linewidth=1.2, label="95 % limits"),
        Line2D([], [], color=TEXT, linewidth=3, label="90 % limits"),
        Patch(color=_BAND, label="margin"),
        Patch(color=RANGE, label="what ties can do"),
    ]


@captioned
def changes(comparison: Comparison) -> "Figure":
    """Every query's gain, the largest loss first: losses marked, and what ties leave open of each as a pale line.

    Queries on which nothing differs, whatever ties do, are counted and not drawn.
    """
    found = comparison.differences
    moved = np.flatnonzero((found.value != 0) | (found.low != 0) | (found.high != 0))
    order = moved[np.argsort(found.value[moved], kind="stable")]
    value, places = found.value[order], np.arange(len(order))
    figure, axes = canvas(height=3.8)
    axes.vlines(places, found.low[order], found.high[order], color=RANGE, linewidth=2.5, zorder=1)
    looks = (("lost", value < 0, CONTRACT, "v"), ("gained", value > 0, EXPECTED, "^"), ("equal", value == 0, TEXT, "."))
    handles = []
    for name, these, colour, marker in looks:
        axes.vlines(places[these], 0, value[these], color=colour, linewidth=0.8, zorder=2)
        label = f"{name}: {int(these.sum())}"
        (drawn,) = axes.plot(places[these], value[these], marker, color=colour, markersize=5, zorder=3, label=label)
        handles += [drawn] if these.any() else []
    axes.axhline(0, color=TEXT, linewidth=1)
    _mark_margin(axes, comparison)
    axes.set_xlabel(f"queries in {comparison.slice}; {len(found.value) - len(order)} more without any difference")
    axes.set_ylabel(f"gain in {comparison.rule.name}")
    if handles:
        legend_above(axes, handles)
    return figure


def _mark_margin(axes: "Axes", comparison: Comparison) -> None:
    """The mean, and the margin that it must not fall below."""
    mean, margin = comparison.verdict.estimate.mean, comparison.verdict.margin
    marks = {f"mean {mean:+.4f}": (mean, "-")} | ({} if margin is None else {f"margin -{margin:g}": (-margin, ":")})
    for place, (label, (height, style)) in enumerate(marks.items()):
        axes.axhline(height, color=TEXT, linewidth=1.2, linestyle=style)
        axes.annotate(
            label, (1.01, height), xycoords=("axes fraction", "data"), color=TEXT, fontsize=10,
            va="top" if place else "bottom",
        )  # fmt: skip


@captioned
def front(front: Front) -> "Figure":
    """Quality over each other axis: a mark for each system with its 90 % limits, hollow if another one dominates it.

    A system of which one of the two is not known is named and not drawn. ContractError for a front of one axis.
    """
    if len(front.axes) < 2:
        raise ContractError(f"a front needs at least two axes, got {len(front.axes)}")
    others = front.axes[1:]
    figure, stacked = multiples(len(others), height=3.6, width=9.0)
    for place, (axes, other) in enumerate(zip(stacked, others, strict=True), 1):
        _front_panel(axes, front, other, place)
    figure.legend(handles=_front_legend(), loc="outside upper center", ncols=2, frameon=False, fontsize=11)
    return figure


def _front_legend() -> list[Any]:
    from matplotlib.lines import Line2D

    return [
        Line2D([], [], color=EXPECTED, marker="o", markersize=8, label="on the front, with 90 % limits"),
        Line2D([], [], color=CONTRACT, marker="s", markersize=8, markerfacecolor="white", label="dominated"),
    ]


def _front_panel(axes: "Axes", front: Front, other: Axis, place: int) -> None:
    unknown = []
    for name, points in front.systems.items():
        y, x = points[0], points[place]
        if x.value is None or y.value is None:
            unknown.append(name)
            continue
        on_front = name in front.best
        axes.errorbar(x.value, y.value, xerr=_arms(x), yerr=_arms(y), color=EXPECTED if on_front else CONTRACT,
                      marker="o" if on_front else "s", markerfacecolor=None if on_front else "white", markersize=8,
                      capsize=3, linewidth=1.2)  # fmt: skip
        axes.annotate(name, (x.value, y.value), xytext=(7, 7), textcoords="offset points", color=TEXT, fontsize=11)
    axes.margins(0.25)
    said = f"; not known of {', '.join(unknown)}" if unknown else ""
    axes.set_xlabel(f"{other.name}{f' in {other.unit}' if other.unit else ''}, {_way(other)}{said}")
    axes.set_ylabel(f"{front.axes[0].name}, {_way(front.axes[0])}")


def _way(axis: Axis) -> str:
    return "more is better" if axis.sign > 0 else "less is better"


def _arms(point: Point) -> list[list[float]]:
    """How far the limits lie from the estimate; none where there is no limit."""
    value = point.value or 0.0
    low, high = (value if end is None else end for end in (point.low, point.high))
    return [[value - low], [high - value]]
