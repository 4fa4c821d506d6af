"""Figures about cost show every number that they are given; those about proofs show what is selected and why."""

from typing import Any

import numpy as np
import pytest
from matplotlib.colors import to_hex

from rankwork import plots
from rankwork.errors import ContractError

ROW = [2, 5, 1, 4, 9, 8, 0, 2, 5, 5, 3, 4, 1]


def colours(axes: Any) -> list[str]:
    return [to_hex(bar.get_facecolor()) for container in axes.containers for bar in container]


def legend(axes: Any) -> list[str]:
    return [text.get_text() for text in axes.get_legend().get_texts()]


def test_blocks_are_numbered_in_their_order_and_the_top_k_stands_out() -> None:
    axes: Any = plots.blocks(ROW, 3, 3).axes[0]
    assert [(text.get_position()[0], text.get_text()) for text in axes.texts] == [
        (4, "no. 1"), (1, "no. 2"), (7, "no. 3"),
    ]  # fmt: skip
    found = colours(axes)
    assert [position for position, colour in enumerate(found) if colour == "#d95f02"] == [1, 4, 5]
    assert [position for position, colour in enumerate(found) if colour == "#cccccc"] == [9, 10, 11, 12]
    assert sorted(axes.lines[0].get_xdata()) == [1, 4, 8, 9, 12]
    for k, size in ((0, 3), (3, 0)):
        with pytest.raises(ContractError, match="k and size must be at least 1"):
            plots.blocks(ROW, k, size)


def test_the_certificate_hatches_who_should_have_been_selected() -> None:
    right: Any = plots.certificate(ROW, [4, 5, 1]).axes[0]
    assert legend(right) == [
        "above T: 2, 2 selected",
        "at T, up to the last: 1, 1 selected",
        "at T, later: 2",
        "below: 8",
    ]
    wrong: Any = plots.certificate(ROW, [4, 5, 9]).axes[0]
    assert legend(wrong)[1:3] == ["at T, up to the last: 3, 1 selected", "at T, later: 0"]
    hatched = [bar.get_x() + 0.36 for container in wrong.containers for bar in container if bar.get_hatch()]
    assert np.allclose(hatched, [1, 8])
    with pytest.raises(ContractError, match="at least one index, got none"):
        plots.certificate(ROW, [])


def cell(rows: int, n: int, k: int, name: str, ratio: float, missed: bool = False) -> dict[str, Any]:
    return {"rows": rows, "n": n, "k": k, "input": name, "ratio": ratio, "floor ratio": ratio / 2, "missed": missed}


CELLS = (
    cell(1, 1000, 10, "random", 0.5), cell(1, 1000, 10, "all equal", 0.25), cell(1, 4000, 10, "random", 0.125),
    cell(1, 4000, 100, "random", 2.0, True), cell(8, 1000, 10, "random", 4.0),
)  # fmt: skip


def test_ratios_have_a_panel_for_each_k_with_every_single_row_and_the_floor() -> None:
    first, second = plots.ratios(CELLS).axes
    lines = [list(map(float, line.get_ydata())) for line in first.lines]  # type: ignore[arg-type]
    assert lines[:2] == [[0.5, 0.125], [0.25]]
    assert lines[2:4] == [[0.375, 0.125], [0.1875, 0.0625]]
    assert [axes.get_title(loc="left") for axes in (first, second)] == ["k = 10", "k = 100"]
    with pytest.raises(ContractError, match="a cell with a single row, got none"):
        plots.ratios(CELLS[4:])


def test_every_cell_tells_its_ratio_and_a_missed_one_is_framed() -> None:
    axes: Any = plots.cells(CELLS).axes[0]
    assert {text.get_position(): text.get_text() for text in axes.texts} == {
        (0, 0): "0.5", (1, 0): "0.25", (0, 1): "0.12", (0, 2): "2 !", (0, 3): "4",
    }  # fmt: skip
    assert [(patch.get_x() + 0.46, patch.get_y() + 0.44) for patch in axes.patches] == [(0, 2)]
    assert [label.get_text() for label in axes.get_yticklabels()][-1] == "8 x 1,000, k = 10"
    assert axes.get_xlabel() == "ratio to torch.topk; framed: 1 of 5 missed their goal"
    with pytest.raises(ContractError, match="at least one cell, got none"):
        plots.cells([])


def test_engines_stand_on_one_axis_and_those_without_a_time_are_counted() -> None:
    about = {"n": 1000, "k": 10}
    times = [
        {"engine": name, "seconds": seconds, **about}
        for name, seconds in (("rankwork.topk", 2e-5), ("slow", 2.5), ("absent", None))
    ]
    axes: Any = plots.engine_times(times).axes[0]
    assert [text.get_text() for text in axes.texts] == ["20 µs", "2.5 s"]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["rankwork.topk", "slow"]
    assert axes.get_xlabel() == "seconds for the top 10 of 1,000; 1 not timed"
    assert axes.lines[0].get_color() != axes.lines[1].get_color()
    with pytest.raises(ContractError, match="at least one engine with a time, got none"):
        plots.engine_times(times[2:])


def test_evaluators_have_a_line_each_for_time_and_for_memory() -> None:
    def one(name: str, rows: int, seconds: float, peak: int | None) -> dict[str, Any]:
        return {"evaluator": name, "rows": rows, "file": 40 * rows, "note": "", "CPU seconds": seconds, "peak": peak}

    records = [one("rankwork", 1000, 1.0, 10**7), one("other", 1000, 3.0, None), one("rankwork", 2000, 1.5, 2 * 10**7)]
    above, below = plots.evaluator_costs([*records, {"evaluator": "absent", "note": "not here"}]).axes
    assert [list(line.get_ydata()) for line in above.lines] == [[1.0, 1.5], [3.0], [0.75, 1.5]]  # type: ignore[arg-type]
    assert [list(line.get_ydata()) for line in below.lines] == [[10, 20], [0.16, 0.32]]  # type: ignore[arg-type]
    assert legend(above) == ["rankwork", "other", "linear"]
    with pytest.raises(ContractError, match="at least one evaluator that ran, got none"):
        plots.evaluator_costs([{"evaluator": "absent", "note": "not here"}])


def test_the_same_numbers_give_the_same_png() -> None:
    pngs: list[Any] = [plots.cells(CELLS) for _ in range(2)]
    assert pngs[0]._repr_png_() == pngs[1]._repr_png_()
