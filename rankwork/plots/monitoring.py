"""Figures of monitoring: how long each stage took, with the quantiles that the number of calls allows."""

from typing import TYPE_CHECKING

from rankwork.decision.monitoring import Monitored
from rankwork.decision.quantiles import Quantile
from rankwork.decision.stage_figures import StageFigures
from rankwork.errors import ContractError
from rankwork.plots.canvas import CONTRACT, EXPECTED, MARKS, RANGE, TEXT, canvas, captioned

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_COLOURS = (EXPECTED, CONTRACT, TEXT)


@captioned
def latencies(monitored: Monitored) -> "Figure":
    """The latency of each stage and of the whole request, in ms: every quantile with its limits.

    A bar spans the limits; an arrow says that so many calls have no upper limit. What the calls cannot tell is written
    out. Time-outs count as longer than all calls that ended. ContractError where no stage was timed.
    """
    stages = [stage for stage in monitored.stages if stage.latency[0].n > stage.latency[0].stopped]
    if not any(found.value for stage in stages for found in stage.latency):
        raise ContractError("no stage has a latency that can be told")
    levels = len(stages[0].latency)
    figure, axes = canvas(height=1.5 + 0.24 * (levels + 1) * len(stages))
    axes.set_xscale("log")
    _span(axes, stages)
    for place, stage in enumerate(stages):
        for number, found in enumerate(stage.latency):
            _quantile(axes, place + (number - (levels - 1) / 2) / (levels + 1), number, found)
        axes.axhline(place + 0.5, color="#dddddd", linewidth=0.8)
    axes.set_yticks(range(len(stages)), [_label(stage) for stage in stages])
    axes.set_ylim(len(stages) - 0.5, -0.5)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.set_xlabel(f"latency in ms, time-outs counted as longest; bars: {monitored.confidence:.0%} limits")
    _legend(axes, stages[0])
    return figure


def _span(axes: "Axes", stages: list[StageFigures]) -> None:
    """A scale that holds every value and limit, with room for an arrow and a word on the right."""
    ends = [
        end
        for stage in stages
        for q in stage.latency
        for end in (q.value, q.low, q.high)
        if end is not None and end > 0
    ]
    axes.set_xlim(min(ends) / 1.5, max(ends) * 3)


def _label(stage: StageFigures) -> str:
    stopped = stage.latency[0].stopped
    return f"{stage.stage}\n{stage.calls:,} calls" + (f", {stopped:,} stopped" if stopped else "")


def _quantile(axes: "Axes", place: float, number: int, found: Quantile) -> None:
    colour, right = _COLOURS[number % len(_COLOURS)], axes.get_xlim()[1]
    start = found.value or found.low
    if start is None:
        axes.text(axes.get_xlim()[0] * 1.1, place, f"{found.name}: {found.reason}", color=TEXT, fontsize=9, va="center")
        return
    low, high = found.low or start, found.high
    end = right / 1.3 if high is None else high
    axes.plot([low, end], [place, place], color=RANGE, linewidth=6, solid_capstyle="butt", zorder=1)
    if high is None:
        axes.plot(end, place, color=RANGE, marker=">", markersize=9, zorder=1)
    if found.value is None:
        axes.text(low / 1.1, place, f"{found.name} unknown", color=TEXT, fontsize=9, va="center", ha="right")
    else:
        axes.plot(found.value, place, color=colour, marker=MARKS[number % len(MARKS)], markersize=6, zorder=3)


def _legend(axes: "Axes", stage: StageFigures) -> None:
    from matplotlib.lines import Line2D

    handles = [
        Line2D([], [], color=_COLOURS[n % len(_COLOURS)], marker=MARKS[n % len(MARKS)], linestyle="none", label=q.name)
        for n, q in enumerate(stage.latency)
    ]
    handles.append(Line2D([], [], color=RANGE, linewidth=6, label="limits"))
    axes.legend(handles=handles, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=4, frameon=False, fontsize=11)
