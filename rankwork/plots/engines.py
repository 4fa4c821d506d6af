"""Figures of engines beside each other: what they return, and how long they take."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rankwork.engines.layers import LAYERS
from rankwork.engines.overview import AGAIN, ARRIVAL, ELSEWHERE, FAILED, NONE, NOT_RUN, SAME, Observation
from rankwork.errors import ContractError
from rankwork.plots.canvas import CONTRACT, EXPECTED, TEXT, canvas, captioned

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch


# How deep a change goes: the word in the cell, its colour, and the colour of the word.
_DEPTHS = {
    SAME: ("same", "#f2f2f2", TEXT),
    LAYERS[2]: ("order", "#fdd0a2", TEXT),
    LAYERS[1]: ("members", "#f16913", "#000000"),
    LAYERS[0]: ("scores", "#7f2704", "#ffffff"),
    FAILED: ("failed", "#9ecae1", "#000000"),
    NOT_RUN: ("not run", "#ffffff", "#777777"),
    NONE: ("", "#ffffff", TEXT),
}


@captioned
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
    figure, axes = canvas(height=1.2 + 0.26 * len(names), width=9.5)
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


@captioned
def engine_times(records: Sequence[Mapping[str, Any]]) -> "Figure":
    """The seconds of every engine for one question, on one logarithmic axis; ours in another colour.

    `records` are those of `rankwork.engines.engine_times`; engines without a time are left out and counted.
    ContractError where none has a time.
    """
    timed = [record for record in records if record["seconds"] is not None]
    if not timed:
        raise ContractError("there must be at least one engine with a time, got none")
    figure, axes = canvas(height=1.2 + 0.27 * len(timed))
    for place, record in enumerate(timed):
        ours = record["engine"].startswith("rankwork")
        axes.plot(record["seconds"], place, color=CONTRACT if ours else EXPECTED, marker="D" if ours else "o")
        axes.annotate(_duration(record["seconds"]), (record["seconds"], place), xytext=(8, 0),
                      textcoords="offset points", va="center", fontsize=10, color=TEXT)  # fmt: skip
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
