"""Figures about engines show every observation, in words as well as in colour."""

from typing import Any

import pytest

from rankwork import plots
from rankwork.engines.overview import Observation
from rankwork.errors import ContractError


def changed(scores: int, members: int, order: int) -> dict[str, int]:
    return {"score sequence": scores, "member set": members, "full order": order}


SEEN = (
    Observation("first", "again", 5, changed(0, 0, 0)),
    Observation("first", "arrival", 2, changed(0, 2, 2)),
    Observation("first", "device", note="no GPU"),
    Observation("first", "n", 2, changed(0, 0, 1)),
    Observation("second", "again", 5, changed(1, 1, 1)),
    Observation("second", "arrival", 2, changed(0, 0, 0), failed=1, note="it raised"),
    Observation("second", "device"),
    Observation("second", "n", 2, changed(0, 0, 0)),
)


def words(axes: Any) -> dict[tuple[float, float], str]:
    return {text.get_position(): text.get_text() for text in axes.texts}


def test_each_cell_says_in_a_word_and_a_colour_how_deep_a_change_goes() -> None:
    axes: Any = plots.engines(SEEN).axes[0]
    rows = {row: [word for (_, y), word in sorted(words(axes).items()) if y == row] for row in (0, 1)}
    assert rows == {0: ["same", "members", "not run", "order"], 1: ["scores", "failed", "", "same"]}
    assert len(axes.patches) == len(SEEN)
    colours = {words(axes)[patch.get_x() + 0.48, patch.get_y() + 0.46]: patch.get_facecolor() for patch in axes.patches}
    assert len({colours[word] for word in ("same", "order", "members", "scores", "failed", "not run")}) == 6


def test_the_map_names_engines_and_experiments_and_parts_the_three() -> None:
    axes: Any = plots.engines(SEEN).axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["first", "second"]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["again", "arrival", "device", "n"]
    again, arrival, device, n = axes.get_xticks()
    assert arrival - again == device - arrival > n - device == 1


def test_the_legend_explains_every_word() -> None:
    (legend,) = plots.engines(SEEN).legends
    assert [text.get_text() for text in legend.get_texts()] == [
        "no change", "other order", "other members", "other scores", "no answer", "not run here",
    ]  # fmt: skip


def test_a_map_of_nothing_is_refused() -> None:
    with pytest.raises(ContractError, match="there must be at least one observation, got none"):
        plots.engines([])


def test_winners_stand_over_the_number_of_equal_scores_below_the_last_position() -> None:
    axes: Any = plots.winners({"middle": [0, 0, 1, 2], "first": [0, 0, 0, 0]}).axes[0]
    last, middle, first = axes.lines
    assert (list(last.get_xdata()), list(last.get_ydata())) == ([1, 4], [0, 3])
    assert (list(middle.get_xdata()), list(middle.get_ydata())) == ([1, 2, 3, 4], [0, 0, 1, 2])
    assert list(first.get_ydata()) == [0, 0, 0, 0]
    assert middle.get_zorder() > first.get_zorder()
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["the last position", "middle", "first"]
    with pytest.raises(ContractError, match="there must be at least one engine, got none"):
        plots.winners({})


def test_the_same_observations_give_the_same_png() -> None:
    pngs: list[Any] = [plots.engines(SEEN) for _ in range(2)]
    assert pngs[0]._repr_png_() == pngs[1]._repr_png_()
