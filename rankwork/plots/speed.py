"""Figures of what the contract and the audit cost."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwork.errors import ContractError
from rankwork.plots.canvas import CONTRACT, EXPECTED, MARKS, TEXT, canvas, captioned, logarithmic, panels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_SERIES = (CONTRACT, EXPECTED, "#1b9e77", "#7570b3", "#666666")


@captioned
def ratios(records: Sequence[Mapping[str, Any]]) -> "Figure":
    """The time of `rankwork.topk` by that of torch.topk over n, for single rows; one panel for each k.

    `records` are those of `rankwork.engines.speed.grid`. A mark is a kind of input, the solid line their median; the
    dashed line is the floor, one read of the scores. ContractError where there is no single row.
    """
    single = [record for record in records if record["rows"] == 1]
    if not single:
        raise ContractError("there must be a cell with a single row, got none")
    ks = sorted({record["k"] for record in single})
    figure, stacked = panels(len(ks), height=0.9 + 2.3 * len(ks))
    for k, axes in zip(ks, stacked, strict=True):
        _ratio_panel(axes, [record for record in single if record["k"] == k])
        axes.set_title(f"k = {k:,}", loc="left", fontsize=12, color=TEXT)
    handles, labels = stacked[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=3, frameon=False, fontsize=11)
    stacked[-1].set_xlabel("n, scores in the row")
    return figure


def _ratio_panel(axes: "Axes", records: Sequence[Mapping[str, Any]]) -> None:
    ns = sorted({record["n"] for record in records})
    for mark, name in zip(MARKS, dict.fromkeys(record["input"] for record in records), strict=False):
        points = [(record["n"], record["ratio"]) for record in records if record["input"] == name]
        axes.plot(*zip(*points, strict=True), color=EXPECTED, marker=mark, alpha=0.55, linestyle="none", label=name)
    medians = {key: [_median_at(records, n, key) for n in ns] for key in ("ratio", "floor ratio")}
    axes.plot(ns, medians["ratio"], color=EXPECTED, linewidth=2, label="median")
    axes.plot(
        ns, medians["floor ratio"], color=CONTRACT, linestyle="--", marker="_", linewidth=2, label="floor: one read"
    )
    axes.axhline(1, color=TEXT, linewidth=1)
    logarithmic(axes, ns)
    axes.set_ylabel("ratio to torch.topk", fontsize=11)


def _median_at(records: Sequence[Mapping[str, Any]], n: int, key: str) -> float:
    return float(np.median([record[key] for record in records if record["n"] == n]))


@captioned
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
    figure, axes = canvas(height=1.9 + 0.3 * len(rows))
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


@captioned
def evaluator_costs(records: Sequence[Mapping[str, Any]]) -> "Figure":
    """CPU seconds and peak memory of whole processes over the rows of the run, one line for each evaluator.

    `records` are those of `rankwork.measures.speed.compare_evaluators`, of one or more files; an evaluator that did not
    run has no line. The dashed line grows with the rows. ContractError where none ran.
    """
    ran = [record for record in records if not record["note"]]
    if not ran:
        raise ContractError("there must be at least one evaluator that ran, got none")
    figure, stacked = panels(2, height=6.2)
    for axes, key, unit in ((stacked[0], "CPU seconds", 1.0), (stacked[1], "peak", 1e6)):
        for look, name in enumerate(dict.fromkeys(record["evaluator"] for record in ran)):
            points = [(r["rows"], r[key] / unit) for r in ran if r["evaluator"] == name and r[key] is not None]
            if points:
                axes.plot(*zip(*points, strict=True), color=_SERIES[look], marker=MARKS[look], label=name, linewidth=2)
        logarithmic(axes, sorted({record["rows"] for record in ran}))
    _draw_growth(stacked[0], ran)
    _draw_file(stacked[1], ran)
    stacked[0].set_ylabel("CPU seconds")
    stacked[1].set_ylabel("peak memory, MB")
    stacked[1].set_xlabel("rows of the run")
    for axes in stacked:
        axes.legend(frameon=False, fontsize=10, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return figure


def _draw_growth(axes: "Axes", ran: Sequence[Mapping[str, Any]]) -> None:
    """A line that grows with the rows, through our most expensive point."""
    most = max((r for r in ran if r["evaluator"] == ran[0]["evaluator"]), key=lambda r: r["rows"])
    rows = np.array(sorted({record["rows"] for record in ran}))
    axes.plot(rows, most["CPU seconds"] * rows / most["rows"], color=TEXT, linestyle="--", label="linear")


def _draw_file(axes: "Axes", ran: Sequence[Mapping[str, Any]]) -> None:
    sizes = sorted({(record["rows"], 4 * record["file"] / 1e6) for record in ran})
    axes.plot(*zip(*sizes, strict=True), color=TEXT, linestyle="--", marker="_", label="4 x the file")
