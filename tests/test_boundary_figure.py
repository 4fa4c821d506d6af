"""The figure of the boundary shows each document once, in the contract's order, on its side of the cut."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest

from rankwork import plots
from rankwork.contract.checks import SIX
from rankwork.contract.reference import rank
from rankwork.contract.ties import boundary
from rankwork.errors import ContractError

Rows = Sequence[tuple[Any, float]]


def axes_of(rows: Rows, k: int) -> Any:
    return plots.boundary(rows, k).axes[0]


def looks(axes: Any) -> list[tuple[Any, Any]]:
    """Colour and hatch of each bar, from left to right."""
    return [(bar.get_facecolor(), bar.get_hatch()) for bar in axes.patches]


def test_bars_are_the_scores_in_the_order_of_the_contract() -> None:
    axes = axes_of(SIX[::-1], 3)
    assert [label.get_text() for label in axes.get_xticklabels()] == list(rank(SIX, 6))
    assert [bar.get_height() for bar in axes.patches] == [9, 8, 8, 8, 7, 6]


@pytest.mark.parametrize("k", range(1, 7))
def test_each_part_of_the_list_has_a_look_of_its_own(k: int) -> None:
    cut, found = boundary(SIX, k), looks(axes_of(SIX, k))
    parts = [cut.above, cut.slots, cut.surplus, 6 - cut.above - cut.tied]
    assert sorted(Counter(found).values()) == sorted(part for part in parts if part)
    assert [hatch is not None for _, hatch in found] == [k <= place < cut.above + cut.tied for place in range(6)]


@pytest.mark.parametrize("k", range(1, 7))
def test_the_cut_stands_behind_the_last_selected_document(k: int) -> None:
    axes = axes_of(SIX, k)
    assert list(axes.lines[0].get_xdata()) == [k - 0.5, k - 0.5]
    assert [text.get_text().strip() for text in axes.texts] == [f"k = {k}"]


def test_the_legend_counts_what_lies_above_is_tied_and_has_a_slot() -> None:
    words = [text.get_text() for text in axes_of(SIX, 3).get_legend().get_texts()]
    assert words == ["above: 1", "slots: 2 for 3 tied", "tied, no slot: 1", "below"]
    assert "tied, no slot: 0" not in [text.get_text() for text in axes_of(SIX, 4).get_legend().get_texts()]


@pytest.mark.parametrize("k", [0, 7])
def test_a_cut_outside_the_list_is_refused(k: int) -> None:
    with pytest.raises(ContractError, match=str(k)):
        plots.boundary(SIX, k)
