"""The figure of a sweep over parameters."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwork.plots.canvas import TEXT, captioned, panels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from rankwork.evidence.sweep_table import Row, SweepTable

_MARKERS = "osv^D<>P"
_MOST_PANELS = 6


@captioned
def sweep(table: "SweepTable") -> "Figure":
    """The numbers that a sweep changes, over the first of its names that varies; the first six of them are drawn.

    A line for each combination of the other names; where a number is a range, a band from minimum to maximum with the
    contract's value as the line. An execution that is not complete leaves a gap.
    """
    names = table.changing()[:_MOST_PANELS]
    figure, stacked = panels(max(len(names), 1), height=1.2 + 2.2 * max(len(names), 1))
    across = (*table.varied, *table.names)[0]
    for name, axes in zip(names, stacked, strict=False):
        _sweep_panel(axes, name, across, table)
    if not names:
        stacked[0].text(0.5, 0.5, "no recorded number changes", ha="center", color=TEXT, fontsize=12)
        stacked[0].set_axis_off()
    handles, labels = stacked[0].get_legend_handles_labels()
    if len(labels) > 1:
        figure.legend(handles, labels, loc="outside upper center", ncols=3, frameon=False, fontsize=11)
    stacked[-1].set_xlabel(across)
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
    axes.set_title(name, loc="left", fontsize=12, color=TEXT)


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
