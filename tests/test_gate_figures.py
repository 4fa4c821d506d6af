"""The figures of a gate show what it found, and the same bytes for the same numbers."""

from pathlib import Path

import pytest

from rankwork import plots
from rankwork.decision.gate import Gate, gate
from rankwork.decision.pareto import Axis, Front, Point
from rankwork.errors import ContractError
from rankwork.plots.canvas import as_png
from tests.gates import RULE, cases, policy, system

TEXT = f"""\
rules: [{{measure: RR@10, stage: rerank, margin: 0.05, slices: [all, frequent]}}, {{measure: latency_ms}}]
front: {{quality: {RULE}, latency: 0.9, cost: true}}
"""


@pytest.fixture
def found(tmp_path: Path) -> Gate:
    return gate(policy(tmp_path, TEXT), system([2] * 60), system([1] * 40 + [4] * 10 + [2] * 10), cases=cases(60))


def test_the_forest_has_a_panel_for_each_rule_and_a_row_for_each_slice(found: Gate) -> None:
    figure = plots.verdicts(found.comparisons)
    assert [[tick.get_text() for tick in axes.get_yticklabels()] for axes in figure.axes] == [
        ["all", "frequent"],
        ["all"],
    ]
    texts = [text.get_text() for axes in figure.axes for text in axes.texts]
    assert [text.partition("\n")[0] for text in texts] == [each.verdict.word for each in found.comparisons]
    assert as_png(figure) == as_png(plots.verdicts(found.comparisons))


def test_rules_of_one_scale_share_a_panel(tmp_path: Path) -> None:
    text = "rules: [{measure: RR@10, stage: rerank}, {measure: nDCG@10, stage: rerank}]"
    alike = gate(policy(tmp_path, text), system([2] * 20), system([1] * 20), cases=cases(20))
    (axes,) = plots.verdicts(alike.comparisons).axes
    assert [tick.get_text() for tick in axes.get_yticklabels()] == [
        "RR@10 of rerank in all",
        "nDCG@10 of rerank in all",
    ]


def test_losses_and_gains_are_counted_and_marked(found: Gate) -> None:
    axes = plots.changes(found.comparisons[0]).axes[0]
    legend = axes.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["lost: 10", "gained: 40"]
    assert axes.get_xlabel() == "queries in all; 10 more without any difference"


def test_nothing_that_changed_is_drawn_as_nothing(tmp_path: Path) -> None:
    same = gate(policy(tmp_path, f"rules: [{RULE}]"), system([2] * 20), system([2] * 20), cases=cases(20))
    axes = plots.changes(same.comparisons[0]).axes[0]
    assert axes.get_xlabel() == "queries in all; 20 more without any difference"
    assert axes.get_legend() is None


def test_the_front_has_a_panel_for_each_axis_beside_quality(found: Gate) -> None:
    assert found.front is not None
    figure = plots.front(found.front)
    assert [axes.get_xlabel() for axes in figure.axes] == [
        "P90 latency in ms, less is better",
        "mean cost in EUR, less is better",
    ]
    assert {text.get_text() for text in figure.axes[0].texts} == {"baseline", "candidate"}


def test_what_is_not_known_is_named_and_not_drawn() -> None:
    axes = (Axis("R@10", "", 1), Axis("mean cost", "EUR", -1))
    none = Point(None, None, None)
    front = Front(axes, {"a": (Point(0.5, 0.4, 0.6), none), "b": (Point(0.5, 0.4, 0.6), Point(1.0, None, 2.0))})
    panel = plots.front(front).axes[0]
    assert panel.get_xlabel() == "mean cost in EUR, less is better; not known of a"
    assert [text.get_text() for text in panel.texts] == ["b"]


def test_figures_of_nothing_are_refused() -> None:
    with pytest.raises(ContractError, match="there must be at least one comparison, got none"):
        plots.verdicts([])
    with pytest.raises(ContractError, match="a front needs at least two axes, got 1"):
        plots.front(Front((Axis("R@10", "", 1),), {}))
