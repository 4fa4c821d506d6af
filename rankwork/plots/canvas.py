"""What all figures share: the canvas, the colours, the bar of a range and the legends.

The colours differ for readers with any colour vision, and every colour has a shape or a label beside it.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, wraps
from io import BytesIO
from typing import TYPE_CHECKING, Any, ParamSpec

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


RANGE = "#9ecae1"
EXPECTED = "#08519c"
CONTRACT = "#d95f02"
TEXT = "#333333"
NARROWEST = 0.001  # a scale of means shows no less: what is beyond the fourth decimal is not read
MARKS = "osD^vP*X"


def canvas(*, height: float, width: float = 8.0) -> tuple["Figure", "Axes"]:
    """A figure with one pair of axes."""
    figure, (axes,) = panels(1, height=height, width=width)
    return figure, axes


def panels(count: int, *, height: float, width: float = 8.0) -> tuple["Figure", list["Axes"]]:
    """A figure that no window system and no global state knows of, with panels one above the other."""
    figure = figure_class()(figsize=(width, height), layout="constrained")
    panels = [figure.add_subplot(count, 1, place + 1) for place in range(count)]
    for axes in panels:
        axes.spines[["top", "right"]].set_visible(False)
        axes.tick_params(labelsize=11)
        axes.xaxis.label.set_fontsize(12)
        axes.yaxis.label.set_fontsize(12)
    return figure, panels


def multiples(count: int, *, height: float, width: float = 8.0) -> tuple["Figure", list["Axes"]]:
    """A figure of equal panels, two to a line; one panel takes the whole width."""
    across = min(count, 2)
    lines = -(-count // across)
    figure = figure_class()(figsize=(width, height * lines), layout="constrained")
    stacked = [figure.add_subplot(lines, across, place + 1) for place in range(count)]
    for axes in stacked:
        axes.spines[["top", "right"]].set_visible(False)
    return figure, stacked


def as_png(figure: "Figure") -> bytes:
    """The figure as a PNG, the same bytes for the same figure."""
    png = BytesIO()
    figure.savefig(png, format="png", metadata={"Software": None})
    return png.getvalue()


@cache
def figure_class() -> type["Figure"]:
    """A `Figure` that notebooks show by themselves: matplotlib's own needs pyplot to be imported."""
    from matplotlib.figure import Figure

    class ShownFigure(Figure):
        caption = ""

        def _repr_png_(self) -> bytes:
            return as_png(self)

        def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> tuple[dict[str, Any], dict[str, Any]]:
            about = {"alt": described(self), "caption": self.caption}
            return {"image/png": as_png(self)}, {"image/png": about}

    return ShownFigure


_Arguments = ParamSpec("_Arguments")


def captioned(draw: Callable[_Arguments, "Figure"]) -> Callable[_Arguments, "Figure"]:
    """Give a figure the first paragraph of its function's documentation as the caption that reports show."""
    caption = " ".join((draw.__doc__ or "").partition("\n\n")[0].split()).replace("`", "")

    @wraps(draw)
    def drawn(*args: _Arguments.args, **options: _Arguments.kwargs) -> "Figure":
        figure = draw(*args, **options)
        figure.caption = caption  # type: ignore[attr-defined]
        return figure

    return drawn


def described(figure: "Figure") -> str:
    """A figure in words, for readers who cannot see it: its axes, what they count, and what the legends name."""
    panels = [about for axes in figure.axes if (about := "; ".join(_of_axes(axes)))]
    many = f"Chart with {len(panels)} panels. " if len(panels) > 1 else "Chart. "
    return many + ". ".join(dict.fromkeys(panels))


def _of_axes(axes: "Axes") -> Iterator[str]:
    if title := " ".join(axes.get_title().split()):
        yield title
    for way, axis in (("across", axes.xaxis), ("upwards", axes.yaxis)):
        named = _categories([label.get_text() for label in axis.get_ticklabels()])
        label = " ".join(axis.get_label_text().split())
        if label or named:
            yield f"{way}: {label or 'one place each'}{f' ({named})' if named else ''}"
    if legend := axes.get_legend():
        yield "shown: " + ", ".join(" ".join(text.get_text().split()) for text in legend.get_texts())


def _categories(labels: Sequence[str]) -> str:
    """The names on an axis that has names; at most twelve of them."""
    named = [" ".join(label.split()) for label in labels if label]
    if not any(any(sign.isalpha() for sign in label.replace("mathdefault", "")) for label in named):
        return ""
    return ", ".join(named[:12] + ["..."] * (len(named) > 12))


def bar(axes: "Axes", place: int, low: float, high: float, expected: float | None, contract: float | None) -> None:
    """A range as a bar between its ends, with the expected value and the contract's own on it."""
    axes.plot([low, high], [place, place], color=RANGE, linewidth=9, solid_capstyle="butt", zorder=1)
    axes.plot([low, high], [place, place], color=EXPECTED, marker="|", markersize=11, linestyle="none", zorder=2)
    if expected is not None:
        axes.plot(expected, place, color=EXPECTED, marker="o", markersize=6, zorder=3)
    if contract is not None:
        axes.plot(contract, place, color=CONTRACT, marker="D", markersize=6, zorder=4, fillstyle="none", mew=2)


def legend(axes: "Axes", order: str) -> None:
    """What the marks of `bar` stand for, under the tie rule that gave the contract's values."""
    from matplotlib.lines import Line2D

    value = "contract" if order == "id_asc" else f"value by {order}"
    handles = [
        Line2D([], [], color=RANGE, linewidth=9, label="minimum to maximum"),
        Line2D([], [], color=EXPECTED, marker="o", linestyle="none", label="expected"),
        Line2D([], [], color=CONTRACT, marker="D", fillstyle="none", mew=2, linestyle="none", label=value),
    ]
    axes.legend(handles=handles, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3, frameon=False, fontsize=11)


def at_least(axes: "Axes", width: float) -> None:
    """Widen the scale to this width, if it is narrower."""
    low, high = axes.get_xlim()
    missing = max(width - (high - low), 0) / 2
    axes.set_xlim(low - missing, high + missing)


def patches(axes: "Axes", looks: Mapping[str, str], dot: str | None = None) -> None:
    """A legend of colours, and of the dot, above the axes."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    handles: list[Any] = [Patch(color=colour, label=label) for label, colour in looks.items()]
    if dot:
        handles.append(Line2D([], [], color=TEXT, marker="o", linestyle="none", markersize=5, label=dot))
    legend_above(axes, handles)


def legend_above(axes: "Axes", handles: Sequence[Any]) -> None:
    """A legend above the axes, four entries to a line."""
    axes.legend(
        handles=handles, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=4, frameon=False, fontsize=11,
        columnspacing=1.2, handletextpad=0.5,
    )  # fmt: skip


def logarithmic(axes: "Axes", places: Sequence[int]) -> None:
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
