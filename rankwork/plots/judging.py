"""Figures of judges: where their verdicts differ from people's, and how sure that is, slice by slice."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwork.diagnosis.calibration import Calibration, SliceCalibration, kappa_of
from rankwork.diagnosis.judges import Agreement
from rankwork.errors import ContractError
from rankwork.plots.canvas import CONTRACT, EXPECTED, RANGE, TEXT, canvas, captioned, panels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from rankwork.statistics import Interval

_MARKS = "oDs^v"
_COLOURS = (EXPECTED, CONTRACT, "#1b9e77", "#7570b3", "#666666")


@captioned
def confusion(found: Agreement) -> "Figure":
    """The confusion matrix: a row for each value of the reference, with the shares of the judge's values in it.

    Counts and shares of the row; the frames mark agreement. ContractError where no item has a verdict of both.
    """
    if not found.items:
        raise ContractError("a confusion matrix needs an item with a verdict of both, got none")
    counts = np.array(found.matrix)
    totals = counts.sum(axis=1, keepdims=True)
    shares = np.divide(counts, totals, out=np.zeros(counts.shape), where=totals > 0)
    figure, axes = canvas(height=1.7 + 0.62 * len(counts), width=7.2)
    axes.imshow(shares, cmap="Blues", vmin=0, vmax=1, aspect="auto")
    for (row, column), share in np.ndenumerate(shares):
        text = f"{counts[row, column]:,}" + (f"\n{share:.0%}" if totals[row, 0] else "")
        axes.text(column, row, text, ha="center", va="center", fontsize=10, color="white" if share > 0.6 else "black")
    _frame_agreement(axes, len(counts))
    names = [str(value) for value in found.scale.values]
    axes.set_xticks(range(len(names)), names)
    axes.set_yticks(range(len(names)), [f"{name} ({total})" for name, total in zip(names, totals[:, 0], strict=True)])
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    axes.set_xlabel(f"judge: {found.judge}")
    axes.set_ylabel(f"{found.reference.model} (items)")
    failed = f", {found.failed} failed" if found.failed else ""
    axes.set_title(f"{found.items:,} items{failed}; agreed: {found.agreed}", loc="left", fontsize=12, color=TEXT)
    return figure


def _frame_agreement(axes: "Axes", size: int) -> None:
    from matplotlib.patches import Rectangle

    for place in range(size):
        axes.add_patch(Rectangle((place - 0.47, place - 0.46), 0.94, 0.92, fill=False, edgecolor=CONTRACT, linewidth=2))


@captioned
def calibrations(found: Mapping[str, Calibration]) -> "Figure":
    """The agreement with people and kappa by slice, for one judge or several: a mark, and its interval over clusters.

    Where verdicts failed, a light bar spans what they leave open; it is no part of the interval. A slice with too few
    clusters has its mark alone. ContractError for no judge, more than five, and judges with different slices.
    """
    if not 0 < len(found) <= len(_MARKS):
        raise ContractError(f"there must be one to {len(_MARKS)} judges, got {len(found)}")
    slices = [each.slice for each in next(iter(found.values())).slices]
    if any([each.slice for each in one.slices] != slices for one in found.values()):
        raise ContractError("the judges must have the same slices")
    figure, (top, bottom) = panels(2, height=1.9 + 2 * (0.3 + 0.26 * len(slices) * max(len(found), 1.5)))
    for place, (name, calibration) in enumerate(found.items()):
        look = {"color": _COLOURS[place], "marker": _MARKS[place]}
        aside = 0.6 * (place - (len(found) - 1) / 2) / len(found)
        for row, each in enumerate(calibration.slices):
            label = name if row == 0 else None
            _draw_agreed(top, row + aside, each, {**look, "label": label})
            kappa = kappa_of(each.agreement, calibration.weights).value
            _draw_mark(bottom, row + aside, kappa, each.kappa_interval, look)
    _finish(top, slices, "share of equal verdicts")
    weights = next(iter(found.values())).weights
    _finish(bottom, slices, f"Cohen's kappa, {weights or 'no'} weights")
    bottom.axvline(0, color=TEXT, linewidth=1, linestyle=":")
    _explain(figure, top, found)
    return figure


def _draw_agreed(axes: "Axes", y: float, each: SliceCalibration, look: Mapping[str, Any]) -> None:
    agreed = each.agreement.agreed
    if agreed.unknown and agreed.min is not None and agreed.max is not None:
        axes.plot([agreed.min, agreed.max], [y, y], color=RANGE, linewidth=9, solid_capstyle="butt", zorder=1)
    _draw_mark(axes, y, agreed.among_known, each.agreed_interval, look)


def _draw_mark(
    axes: "Axes", y: float, value: float | None, interval: "Interval | None", look: Mapping[str, Any]
) -> None:
    if interval is not None:
        axes.plot([interval.low, interval.high], [y, y], color=look["color"], linewidth=2, zorder=2)
    if value is None:
        axes.text(0.02, y, "undefined", color=look["color"], fontsize=10, va="center")
    else:
        axes.plot([value], [y], linestyle="none", markersize=7, zorder=3, **look)


def _explain(figure: "Figure", axes: "Axes", found: Mapping[str, Calibration]) -> None:
    """A legend of the judges, and of what the two kinds of bar mean where they are drawn."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    everyone = [each for calibration in found.values() for each in calibration.slices]
    handles = list(axes.get_legend_handles_labels()[0])
    intervals = [each.agreed_interval for each in everyone if each.agreed_interval is not None]
    if intervals:
        handles.append(
            Line2D([], [], color=TEXT, linewidth=2, label=f"{intervals[0].level:.0%} interval over clusters")
        )
    if any(each.agreement.agreed.unknown for each in everyone):
        handles.append(Patch(color=RANGE, label="what failed verdicts leave open"))
    short = all(len(name) < 24 for name in found)
    figure.legend(handles=handles, loc="outside upper center", ncols=2 if short else 1, frameon=False, fontsize=11)


def _finish(axes: "Axes", slices: list[str], label: str) -> None:
    axes.set_yticks(range(len(slices)), slices)
    axes.set_ylim(len(slices) - 0.4, -0.6)
    low = min(0.0, axes.get_xlim()[0])
    axes.set_xlim(low, 1.0)
    axes.set_xlabel(label)
