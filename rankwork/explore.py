"""Sliders for what a notebook fixes: k, the policy, the number format, the order of arrival.

In JupyterLab each function gives sliders over one figure. Where nobody can move them - under papermill, in a report -
it gives the same figure for a few settings side by side. Nothing that a notebook records depends on which it was.
"""

import base64
import os
from collections.abc import Callable, Mapping, Sequence
from html import escape
from textwrap import fill
from typing import TYPE_CHECKING, Any

from rankwork.errors import ContractError
from rankwork.evidence.privacy import SCRATCH_VARIABLE
from rankwork.inputs.toy import SEVEN, TEN, TEN_RELEVANT
from rankwork.plots import exploring
from rankwork.plots.canvas import as_png, described, multiples

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FORMATS = ("float32", "float16", "bfloat16")
ARRIVALS = (0, 1, 2, 3, 4, 5, 6, 7)
TIES = ("id_asc", "id_desc", *(f"arrival {number}" for number in ARRIVALS[1:]))
CONSTANTS = (60, 0, 1, 10, 1000)
_TITLE = 36  # characters in a line above a panel
_TOGETHER = "\N{NO-BREAK SPACE}"
_SESSION = "JPY_SESSION_NAME"  # a Jupyter server sets it for the kernels of its notebooks; papermill does not

Draw = Callable[..., None]
Choices = Mapping[str, Sequence[Any]]


def is_live() -> bool:
    """Whether somebody can move a slider: a Jupyter server started this kernel, and no runner did."""
    return bool(os.environ.get(_SESSION)) and SCRATCH_VARIABLE not in os.environ


def selection(rows: Sequence[tuple[str, float]] = TEN) -> Any:
    """Which documents are selected, by k, policy, number format and order of arrival; torch.topk's choice beside it."""
    choices = {
        "k": range(1, len(rows) + 1),
        "policy": ("by_id", "inclusive"),
        "dtype": FORMATS,
        "arrival": ARRIVALS,
    }
    still = [{"k": 4, "dtype": "float32"}, {"k": 4, "dtype": "bfloat16"}]
    still += [{**still[1], "arrival": 1}, {**still[1], "policy": "inclusive"}]
    caption = "documents as they arrive; filled: the contract selects it; hatched: tied at the cut; dot: torch.topk's"
    return explore(lambda axes, **chosen: exploring.selection(axes, rows, **chosen), choices, still, caption)


def engines(names: Sequence[str], rows: Sequence[tuple[str, float]] = TEN) -> Any:
    """Which documents each of these engines selects, by k, number format and order of arrival."""
    choices = {"k": range(1, len(rows) + 1), "dtype": FORMATS, "arrival": ARRIVALS}
    still = [{"k": 4, "dtype": dtype, "arrival": arrival} for dtype in ("float32", "bfloat16") for arrival in (0, 1)]
    caption = "documents as they arrive; orange: selected instead of one of the contract's; x: the one left out"
    return explore(lambda axes, **chosen: exploring.engines(axes, names, rows, **chosen), choices, still, caption)


def ranges(rows: Sequence[tuple[str, float]] = TEN, relevant: frozenset[str] = TEN_RELEVANT) -> Any:
    """The range of recall at every k, by number format and order of arrival; the value of that arrival within it."""
    choices = {"k": range(1, len(rows) + 1), "dtype": FORMATS, "arrival": ARRIVALS}
    still = [{"k": 4, "dtype": dtype} for dtype in FORMATS] + [{"k": 4, "dtype": "bfloat16", "arrival": 1}]
    caption = "shaded: the range over all orders; diamond: the contract; circle: ties as they arrived"
    return explore(lambda axes, **chosen: exploring.ranges(axes, rows, relevant, **chosen), choices, still, caption)


def fusion(routes: Mapping[str, Sequence[tuple[str, float]]] = SEVEN) -> Any:
    """Which documents a fusion selects, by k, its constant c, the depth it reads and the first route's tie rule."""
    longest, first = max(map(len, routes.values())), next(iter(routes))
    documents = {name for rows in routes.values() for name, _ in rows}
    choices = {"k": range(1, len(documents) + 1), "c": CONSTANTS, "depth": range(longest, 0, -1), "ties": TIES}
    still: list[dict[str, Any]] = [
        {"k": 3},
        {"k": 3, "ties": "id_desc"},
        {"k": 3, "depth": longest // 2},
        {"k": 3, "c": 0},
    ]
    caption = (
        f"bar: ranks that ties in {first} leave open; filled: selected, by {first}'s tie rule; square: a fused tie"
    )
    return explore(lambda axes, **chosen: exploring.fusion(axes, routes, **chosen), choices, still, caption)


def explore(draw: Draw, choices: Choices, still: Sequence[Mapping[str, Any]], caption: str = "") -> "Figure | Any":
    """Sliders over `draw(axes, **chosen)`, one for each of the `choices`; or small multiples of the `still` settings.

    The caption stands below and says what the marks mean. A setting of `still` takes the first choice where it names
    none. ContractError for a setting that is no choice.
    """
    settings = [{name: values[0] for name, values in choices.items()} | dict(each) for each in still]
    for each in settings:
        for name, value in each.items():
            if name not in choices or value not in choices[name]:
                raise ContractError(f"{name}={value!r} is none of the choices")
    return _sliders(draw, choices, settings[0], caption) if is_live() else _small_multiples(draw, settings, caption)


def _small_multiples(draw: Draw, settings: Sequence[Mapping[str, Any]], caption: str) -> "Figure":
    figure, panels = multiples(len(settings), height=2.6)
    for axes, chosen in zip(panels, settings, strict=True):
        _draw(draw, axes, chosen)
    for left, right in zip(panels[::2], panels[1::2], strict=False):
        _say_once(left, right)
    figure.supxlabel(caption, fontsize=10)
    figure.caption = caption  # type: ignore[attr-defined]
    return figure


def _draw(draw: Draw, axes: "Axes", chosen: Mapping[str, Any]) -> None:
    draw(axes, **chosen)
    settings = (f"{name}{_TOGETHER}={_TOGETHER}{value}" for name, value in chosen.items())
    axes.set_title(fill(", ".join(settings), _TITLE), fontsize=9)


def _say_once(left: "Axes", right: "Axes") -> None:
    """Leave out the names on an axis that stand beside it already."""
    names = [[label.get_text() for label in axes.get_yticklabels()] for axes in (left, right)]
    if names[0] == names[1] and left.get_ylim() == right.get_ylim():
        right.tick_params(labelleft=False)


def _sliders(draw: Draw, choices: Choices, chosen: Mapping[str, Any], caption: str) -> Any:
    import ipywidgets

    sliders = {
        name: ipywidgets.SelectionSlider(
            options=list(values), value=chosen[name], description=name, continuous_update=False
        )
        for name, values in choices.items()
    }
    shown = ipywidgets.HTML()

    def refresh(*_: Any) -> None:
        figure, (axes,) = multiples(1, height=3.8)
        _draw(draw, axes, {name: slider.value for name, slider in sliders.items()})
        figure.supxlabel(caption, fontsize=10)
        shown.value = _image(figure, caption)

    for slider in sliders.values():
        slider.observe(refresh, names="value")
    refresh()
    return ipywidgets.VBox([*sliders.values(), shown])


def _image(figure: "Figure", caption: str) -> str:
    """The figure as an image with its words: ipywidgets' own image has no place for them."""
    png = base64.b64encode(as_png(figure)).decode()
    alt = escape(f"{described(figure)}. {caption}")
    return f'<img style="max-width: 100%" alt="{alt}" src="data:image/png;base64,{png}"/>'
