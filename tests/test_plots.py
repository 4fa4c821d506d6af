"""Figures show the numbers of the audit, and nothing of the window system."""

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from rankwork import plots
from rankwork.errors import ContractError
from rankwork.inputs import toy
from rankwork.measures.auditing import audit

RUN = {"q1": {"a": 2.0, "b": 1.0, "c": 1.0}, "q2": {"a": 1.0, "b": 1.0}, "q3": {"a": 1.0}}
JUDGED = {"q1": {"a": 1, "b": 1}, "q2": {"a": 1}, "q3": {"a": 1}}


def drawn(axes: Any) -> list[tuple[list[float], list[float]]]:
    """The x and y data of every line."""
    return [(np.atleast_1d(line.get_xdata()).tolist(), np.atleast_1d(line.get_ydata()).tolist()) for line in axes.lines]


def texts(axes: Any) -> list[str]:
    return [text.get_text() for text in axes.texts]


def test_each_measure_has_its_range_its_expected_value_and_the_contract() -> None:
    """A bar from minimum to maximum, two marks, and the range in numbers."""
    result = audit(RUN, JUDGED, ["R@1", "R@2"])
    axes = plots.ranges(result).axes[0]
    for place, entry in enumerate(result.to_json()["measures"].values()):
        bars = [x for x, y in drawn(axes) if y == [place, place]]
        assert bars[0] == [entry["min"], entry["max"]]
        assert [[entry["expected"]], [entry["contract"]]] == [x for x, y in drawn(axes) if y == [place]]
        assert f"{entry['min']:.4f} to {entry['max']:.4f}" in texts(axes)
    assert [label.get_text() for label in axes.get_yticklabels()] == ["R@1", "R@2"]


def test_a_cut_list_is_drawn_by_its_bounds_and_says_so() -> None:
    result = audit({"q": {"a": 1.0, "b": 1.0}}, {"q": {"a": 1, "x": 1}}, ["R@1"], depth=2)
    axes = plots.ranges(result).axes[0]
    assert texts(axes) == ["0.0000 to 0.5000 (bounds: the list was cut)"]
    assert [0.0, 0.5] in [x for x, _ in drawn(axes)]


def test_a_mean_that_is_not_defined_is_said_in_words() -> None:
    axes = plots.ranges(audit({"q": {"a": 1.0}}, {"q": {}}, ["R@1"])).axes[0]
    assert texts(axes) == [" no query is defined"]


def test_queries_with_a_range_come_widest_first() -> None:
    """Queries without one are counted, not drawn."""
    result = audit(RUN, JUDGED, ["R@1", "R@2"])
    assert [label.get_text() for label in plots.queries(result, "R@2").axes[0].get_yticklabels()] == ["q1"]
    axes = plots.queries(result, "R@1").axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["q2"]
    assert axes.get_xlabel() == "R@1: 1 of 3 queries have a range, 1 shown"
    with pytest.raises(ContractError, match="this audit has R@1, R@2, not 'R@3'"):
        plots.queries(result, "R@3")


def test_recall_over_k_marks_the_boundary() -> None:
    """The six documents at k = 3: one above, three tied, two slots."""
    axes = plots.recall_over_k(toy.SIX, toy.SIX_RELEVANT, k=3).axes[0]
    assert axes.get_title() == "k = 3: 1 above, 3 tied, 2 slots"
    expected, contract = (y for _, y in drawn(axes)[:2])
    assert np.allclose(expected, [1 / 3, 5 / 9, 7 / 9, 1, 1, 1])
    assert np.allclose(contract, [1 / 3, 2 / 3, 2 / 3, 1, 1, 1])


def test_recall_over_k_refuses_what_has_no_recall() -> None:
    with pytest.raises(ContractError, match="at least one relevant document, got none"):
        plots.recall_over_k(toy.SIX, [])
    with pytest.raises(ContractError, match="k must be between 1 and 6, got 7"):
        plots.recall_over_k(toy.SIX, toy.SIX_RELEVANT, k=7)
    with pytest.raises(ContractError, match="last must be between 3 and 6, got 2"):
        plots.recall_over_k(toy.SIX, toy.SIX_RELEVANT, k=3, last=2)


def test_figures_need_no_window_system_and_leave_no_global_state() -> None:
    """Pyplot keeps figures alive and picks a backend: it is not used."""
    code = (
        "import sys; from rankwork import plots; from rankwork.inputs import toy; "
        "plots.recall_over_k(toy.SIX, toy.SIX_RELEVANT); print('matplotlib.pyplot' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
