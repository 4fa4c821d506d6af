"""Sliders where a Jupyter server started the kernel; a still figure, always the same, everywhere else."""

from typing import Any

import pytest
from matplotlib.figure import Figure

from rankwork import explore
from rankwork.contract.reference import rank
from rankwork.errors import ContractError
from rankwork.evidence.privacy import SCRATCH_VARIABLE
from rankwork.inputs.toy import TEN
from rankwork.plots import exploring
from rankwork.plots.canvas import as_png, multiples
from rankwork.plots.exploring import arrived

ENGINES = ("torch.topk", "torch.sort")


def every() -> list[Any]:
    return [explore.selection(), explore.engines(ENGINES), explore.ranges()]


@pytest.fixture
def live(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(SCRATCH_VARIABLE, raising=False)
    monkeypatch.setenv("JPY_SESSION_NAME", "01_contract.ipynb")


def test_where_nobody_can_move_a_slider_a_figure_stands_and_is_always_the_same() -> None:
    first, second = every(), every()
    assert all(isinstance(figure, Figure) for figure in first)
    assert [as_png(figure) for figure in first] == [as_png(figure) for figure in second]


def test_a_runner_has_the_figure_even_where_it_was_started_from_a_notebook(
    live: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert explore.is_live()
    monkeypatch.setenv(SCRATCH_VARIABLE, "somewhere")
    assert not explore.is_live()
    assert isinstance(explore.selection(), Figure)


def test_in_jupyterlab_each_choice_has_a_slider_and_moving_it_changes_the_figure_and_its_words(live: None) -> None:
    for box in every():
        *sliders, shown = box.children
        assert 'src="data:image/png;base64,' in shown.value
        for slider in sliders:
            seen = shown.value
            slider.value = slider.options[-1]
            assert shown.value != seen, slider.description
            assert f"{slider.description} = {slider.value}" in shown.value, "the alternative text names the setting"


def test_documents_that_tie_at_the_cut_are_hatched() -> None:
    hatched = {}
    for dtype in ("float32", "bfloat16"):
        _, (axes,) = multiples(1, height=3.0)
        exploring.selection(axes, TEN, k=4, policy="by_id", dtype=dtype, arrival=0)
        names = [label.get_text() for label in axes.get_xticklabels()]
        bars: Any = axes.patches
        hatched[dtype] = [name for name, bar in zip(names, bars, strict=True) if bar.get_hatch()]
    assert hatched == {"float32": ["D", "E"], "bfloat16": ["B", "C", "D", "E"]}


def test_a_still_setting_that_no_slider_offers_is_refused() -> None:
    with pytest.raises(ContractError, match="k=9 is none of the choices"):
        explore.explore(lambda axes, k: None, {"k": [1, 2]}, [{"k": 9}])


def test_a_narrower_format_makes_more_ties_and_the_arrival_moves_no_score() -> None:
    distinct = {dtype: len({score for _, score in arrived(TEN, 3, dtype)}) for dtype in explore.FORMATS}
    assert distinct["float32"] > distinct["bfloat16"]
    assert sorted(arrived(TEN, 3)) == sorted(arrived(TEN, 0))
    assert rank(arrived(TEN, 3, "bfloat16"), 4) == rank(arrived(TEN, 5, "bfloat16"), 4)
