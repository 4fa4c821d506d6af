"""Sliders where a Jupyter server started the kernel; a still figure, always the same, everywhere else."""

from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure

from rankwork import explore
from rankwork.contract.reference import rank
from rankwork.errors import ContractError
from rankwork.evidence.privacy import SCRATCH_VARIABLE
from rankwork.inputs.toy import SEVEN, TEN
from rankwork.plots import exploring
from rankwork.plots.canvas import as_png, canvas, multiples
from rankwork.plots.exploring import arrived, fusion, resolved
from rankwork.retrieval.fusion import rrf

ENGINES = ("torch.topk", "torch.sort")


def every() -> list[Any]:
    return [explore.selection(), explore.engines(ENGINES), explore.ranges(), explore.fusion()]


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


def drawn_ranks(**chosen: Any) -> tuple[dict[str, int], dict[str, tuple[float, float]], set[str]]:
    """What `fusion` shows: each document's rank, the ends of its bar, and whose mark is a square."""
    _, axes = canvas(height=3.0)
    fusion(axes, SEVEN, **chosen)
    names = [label.get_text() for label in axes.get_xticklabels()]
    marks = [line for line in axes.lines if line.get_marker() in ("o", "s")]
    bars = [line for line in axes.lines if line.get_linewidth() == 9]
    ranks = {names[int(np.ravel(mark.get_xdata())[0])]: int(np.ravel(mark.get_ydata())[0]) for mark in marks}
    ends = {names[int(np.ravel(bar.get_xdata())[0])]: tuple(np.ravel(bar.get_ydata()).tolist()) for bar in bars}
    squares = {names[int(np.ravel(mark.get_xdata())[0])] for mark in marks if mark.get_marker() == "s"}
    return ranks, ends, squares


@pytest.mark.parametrize("depth", [6, 4, 3, 1])
@pytest.mark.parametrize("c", [0, 60])
def test_no_order_of_the_ties_leaves_the_bars_of_a_fusion(c: int, depth: int) -> None:
    _, ends, _ = drawn_ranks(k=3, c=c, depth=depth, ties="id_asc")
    for number in range(40):
        order = {"bm25": resolved(SEVEN["bm25"], f"arrival {number}"), "dense": SEVEN["dense"]}
        for place, name in enumerate(rrf(order, c=c, depth=depth).ids, 1):
            assert ends[str(name)][0] < place < ends[str(name)][1]


def test_a_fusion_shows_the_list_of_the_tie_rule_and_marks_a_tie_across_the_cut() -> None:
    for ties, top in (("id_asc", "AGD"), ("id_desc", "GFA")):
        ranks, _, squares = drawn_ranks(k=3, c=60, depth=6, ties=ties)
        assert "".join(sorted(ranks, key=lambda name: ranks[name]))[:3] == top
        assert not squares
    assert drawn_ranks(k=3, c=60, depth=3, ties="id_asc")[2] == {"A", "B"}
