"""Figures of a funnel: how gold evidence moves through the stages, and where and why it is lost."""

from collections import Counter
from collections.abc import Mapping
from math import log10
from typing import TYPE_CHECKING, Any

from rankwork.diagnosis.funnel import Funnel
from rankwork.diagnosis.losses import ALL, STEPS
from rankwork.errors import ContractError
from rankwork.plots.canvas import CONTRACT, EXPECTED, RANGE, TEXT, canvas, captioned

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MOST_LINES = 400
_HATCHES = ("", "///", "...", "xxx", "\\\\\\", "++", "ooo", "--")


@captioned
def rank_flow(funnel: Funnel, *, most: int = _MOST_LINES) -> "Figure":
    """The rank of each piece of gold evidence in each stage, rank 1 at the top, on a logarithmic scale.

    A line that ends in a cross was lost in the next stage; the lowest line of marks counts what is absent there. Routes
    stand side by side: of several, the best rank goes on. At most `most` pieces are drawn, the first ones.
    ContractError for a funnel without any gold that a stage kept.
    """
    stages = funnel.table.stages
    paths = [_path(found.facts.standings, stages) for found in _first(funnel, most)]
    ranks = [rank for path in paths for rank in path if rank]
    if not ranks:
        raise ContractError("no stage kept any gold evidence: there is no flow to draw")
    figure, axes = canvas(height=5.2)
    floor = log10(max(ranks)) * 1.12 + 0.1
    for path in paths:
        _line(axes, path)
    _absent(axes, paths, floor)
    axes.set_xticks(range(len(stages)), [name.removeprefix("retrieve:") for name in stages])
    ticks = [rank for rank in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000) if rank <= max(ranks)]
    axes.set_yticks([*map(log10, ticks), floor], [*map(str, ticks), "not kept"])
    axes.set_ylim(floor * 1.06, -0.08)
    axes.set_xlim(-0.4, len(stages) - 0.6)
    axes.set_ylabel("rank (logarithmic)")
    axes.set_xlabel(f"stage; {len(paths)} of {funnel.losses.entered[ALL, 'retrieve']} pieces of gold evidence")
    _key(axes)
    return figure


def _first(funnel: Funnel, most: int) -> list[Any]:
    return [found for found, _ in zip(funnel.diagnoses(), range(most), strict=False)]


def _path(standings: Any, stages: tuple[str, ...]) -> list[int | None]:
    ranks = {standing.name: standing.rank for standing in standings}
    return [ranks.get(name) for name in stages]


def _line(axes: "Axes", path: list[int | None]) -> None:
    """One piece: blue where it reaches the last stage; orange, with a cross at its end, where it does not."""
    places = [(place, log10(rank)) for place, rank in enumerate(path) if rank]
    if not places:
        return
    arrived = path[-1] is not None
    colour = EXPECTED if arrived else CONTRACT
    axes.plot(*zip(*places, strict=True), color=colour, alpha=0.28, linewidth=1.1, marker=".", markersize=3)
    axes.plot(*places[-1], color=colour, marker="o" if arrived else "x", markersize=4.5, alpha=0.7)


def _absent(axes: "Axes", paths: list[list[int | None]], floor: float) -> None:
    """How many pieces each stage did not keep, below the scale."""
    axes.axhline(floor * 0.95, color="#bbbbbb", linewidth=0.8, linestyle=":")
    for place in range(len(paths[0])):
        gone = sum(path[place] is None for path in paths)
        axes.text(place, floor, f"{gone}", ha="center", va="center", fontsize=11, color=TEXT)


def _key(axes: "Axes") -> None:
    for colour, mark, label in ((EXPECTED, "o", "reaches the last stage"), (CONTRACT, "x", "lost on the way")):
        axes.plot([], [], color=colour, marker=mark, label=label)
    axes.legend(frameon=False, loc="upper center", ncols=2, bbox_to_anchor=(0.5, 1.1), fontsize=11)


@captioned
def losses(funnel: Funnel, *, among: str = ALL) -> "Figure":
    """For each step how much gold it handed on, and how much it lost for which reason; all, or that of one slice.

    ContractError for a slice that no case has.
    """
    if among not in funnel.table.slices:
        raise ContractError(f"there is no slice {among!r}; there are {', '.join(funnel.table.slices)}")
    counts = funnel.losses
    steps = [step for step in STEPS if counts.entered[among, step]]
    figure, axes = canvas(height=1.9 + 0.55 * len(steps))
    shown: dict[str, tuple[str, str]] = {}
    for place, step in enumerate(steps):
        _step(axes, place, counts.survived(step, among=among), _reasons(counts.lost, among, step), shown)
    axes.set_yticks(range(len(steps)), steps)
    axes.set_ylim(len(steps) - 0.45, -0.75)
    axes.set_xlabel(f"pieces of gold evidence ({among})")
    axes.legend(frameon=False, loc="upper center", bbox_to_anchor=(0.45, -0.2), ncols=4, fontsize=10)
    return figure


def _reasons(lost: Counter[tuple[str, str, str]], among: str, step: str) -> Mapping[str, int]:
    found = {why: count for (name, at, why), count in lost.items() if (name, at) == (among, step)}
    return dict(sorted(found.items(), key=lambda row: (-row[1], row[0])))


def _step(
    axes: "Axes", place: int, survived: int, reasons: Mapping[str, int], shown: dict[str, tuple[str, str]]
) -> None:
    """One bar: what was handed on, then each reason with its own colour and hatch, and the count on it."""
    start = survived
    axes.barh(place, survived, color=RANGE, edgecolor="white", label="handed on" if place == 0 else None)
    axes.text(survived / 2, place, str(survived), ha="center", va="center", fontsize=10, color=TEXT)
    for why, count in reasons.items():
        label = why.replace("_", " ") if why not in shown else None
        colour, hatch = shown.setdefault(why, _look(len(shown)))
        axes.barh(place, count, left=start, color=colour, hatch=hatch, edgecolor="white", linewidth=0.6, label=label)
        axes.annotate(str(count), (start + count / 2, place - 0.42), ha="center", va="bottom", fontsize=9, color=TEXT)
        start += count


def _look(number: int) -> tuple[str, str]:
    tones = ("#d95f02", "#fdae6b", "#666666", "#bdbdbd")
    return tones[number % len(tones)], _HATCHES[number % len(_HATCHES)]
