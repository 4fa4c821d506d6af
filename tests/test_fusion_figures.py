"""Figures of a fusion show the intervals and shares that were found."""

from typing import Any

import numpy as np
import pytest

from rankwork import plots
from rankwork.errors import ContractError
from rankwork.rankings import Rankings
from rankwork.retrieval.fusion_intervals import fused_intervals
from rankwork.retrieval.tie_rule import flipped_tie_rule

ROUTES: dict[str, Any] = {"bm25": {"a": 2.0, "b": 1.0, "c": 1.0}, "dense": ["a", "c", "b"]}


def drawn(axes: Any) -> list[tuple[list[float], list[float]]]:
    return [(np.atleast_1d(line.get_xdata()).tolist(), np.atleast_1d(line.get_ydata()).tolist()) for line in axes.lines]


def test_each_document_has_its_interval_and_what_becomes_of_it() -> None:
    found = fused_intervals(ROUTES, 2)
    axes = plots.fused_scores(found).axes[0]
    for place, document in enumerate(found.documents):
        assert ([document.low, document.high], [place, place]) in drawn(axes)
        assert ([document.expected], [place]) in drawn(axes)
        assert ([document.contract], [place]) in drawn(axes)
    assert [text.get_text() for text in axes.texts] == [
        "certain", "possible (50% of orders)", "possible (50% of orders)",
    ]  # fmt: skip
    assert [label.get_text() for label in axes.get_yticklabels()] == ["a", "b", "c"]
    assert "cut at k = 2" in axes.get_xlabel()


def test_documents_that_are_not_drawn_are_counted() -> None:
    axes = plots.fused_scores(fused_intervals(ROUTES, 1), most=2).axes[0]
    assert axes.get_xlabel().endswith("; 1 more documents not shown")
    assert len(axes.texts) == 2


def test_a_status_without_shares_is_said_alone() -> None:
    axes = plots.fused_scores(fused_intervals(ROUTES, 2, cases=0)).axes[0]
    assert [text.get_text() for text in axes.texts] == ["certain", "possible", "possible"]


def test_shares_stand_over_the_depths() -> None:
    runs = {
        "bm25": Rankings.from_dicts({"q": {"a": 1.0, "b": 1.0}}),
        "dense": Rankings.from_dicts({"q": {"b": 0.75, "c": 0.5, "a": 0.25}}),
    }
    found = flipped_tie_rule(runs, "bm25", k=1, depths=[3, 1])
    axes = plots.changes_by_depth(found).axes[0]
    tied, changed, unseen = drawn(axes)
    assert tied == ([1.0, 3.0], [100.0, 0.0])
    assert changed == ([1.0, 3.0], [100 * row.members_changed for row in reversed(found.rows)])
    assert unseen[0] == [1.0, 3.0]
    assert axes.get_ylabel() == "share of 1 queries, %"
    with pytest.raises(ContractError, match="at least two depths, got 1"):
        plots.changes_by_depth(flipped_tie_rule(runs, "bm25", depths=[3]))
