"""Figures show the numbers of the audit, and nothing of the window system."""

import subprocess
import sys
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from rankwork import plots
from rankwork.errors import ContractError
from rankwork.inputs import toy
from rankwork.measures.auditing import audit
from rankwork.measures.systems import systems

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


def test_a_figure_shows_itself_as_the_same_png_each_time() -> None:
    """Without pyplot, matplotlib's own Figure has no such method, and a notebook shows its name instead."""
    pngs: list[Any] = [plots.recall_over_k(toy.SIX, toy.SIX_RELEVANT, k=3) for _ in range(2)]
    first, second = (figure._repr_png_() for figure in pngs)
    assert first.startswith(b"\x89PNG")
    assert first == second
    assert b"Software" not in first


def test_recall_over_k_ends_where_it_is_told() -> None:
    axes = plots.recall_over_k(toy.SIX, toy.SIX_RELEVANT, k=2, last=4).axes[0]
    assert drawn(axes)[0][0] == [1, 2, 3, 4]


def test_the_distribution_has_a_bar_for_each_recall_and_the_drawn_shares_on_it() -> None:
    """The six documents at k = 3: recall 2/3 in two orders of three, 1 in the other."""
    recalls = [Fraction(2, 3), Fraction(1), Fraction(1), Fraction(1)]
    figure = plots.distribution(toy.SIX, toy.SIX_RELEVANT, 3, drawn=recalls, contract=Fraction(2, 3))
    axes: Any = figure.axes[0]
    assert [bar.get_height() for bar in axes.patches] == [2 / 3, 1 / 3]
    (places, shares), (contract, _) = drawn(axes)
    assert (places, shares, contract) == ([2 / 3, 1], [0.25, 0.75], [2 / 3, 2 / 3])
    with pytest.raises(ContractError, match="there is no relevant document"):
        plots.distribution(toy.SIX, [], 3)


def test_each_order_stands_in_the_range_of_its_measure() -> None:
    """One panel a measure, one mark an order, the band from minimum to maximum behind them."""
    audits = {order: audit(RUN, JUDGED, ["R@1", "R@2"], order=order) for order in ("id_asc", "id_desc")}
    panels: list[Any] = plots.orders(audits).axes
    assert [axes.get_title(loc="left") for axes in panels] == ["R@1", "R@2"]
    for name, axes in zip(("R@1", "R@2"), panels, strict=True):
        means = [each.result(name).mean for each in audits.values()]
        assert [x for x, _ in drawn(axes)[1:]] == [[mean.contract] for mean in means]
        band = axes.patches[0].get_bbox()
        assert (band.x0, band.x1) == (means[0].min, means[0].max)
        assert [label.get_text() for label in axes.get_yticklabels()] == ["id_asc", "id_desc"]
    with pytest.raises(ContractError, match="at least one audit, got none"):
        plots.orders({})


def test_an_order_that_a_cut_list_hides_has_no_mark() -> None:
    """Only the band of the bounds is drawn, and says what it is."""
    result = audit({"q": {"a": 1.0, "b": 1.0}}, {"q": {"a": 1, "x": 1}}, ["R@1"], depth=2)
    axes: Any = plots.orders({"id_asc": result}).axes[0]
    assert axes.get_title(loc="left") == "R@1 (bounds: the list was cut)"
    assert drawn(axes) == []
    assert (axes.patches[0].get_bbox().x0, axes.patches[0].get_bbox().x1) == (0, 0.5)


def test_widths_stand_over_the_size_of_the_group_at_the_cut() -> None:
    """Only the queries whose cut splits a group are drawn; the widest and the largest group are named."""
    axes = plots.widths(audit(RUN, JUDGED, ["R@1", "R@2"]), "R@2").axes[0]
    assert drawn(axes) == [([2], [0.5])]
    assert texts(axes) == ["query q1"]
    assert axes.get_xlabel() == "documents that tie at the cut of R@2 (1 of 3 queries)"
    large = {"q": dict.fromkeys(map(str, range(50)), 1.0), "r": {"a": 1.0, "b": 1.0}}
    axes = plots.widths(audit(large, {"q": {"x": 1}, "r": {"a": 1}}, ["R@1"]), "R@1").axes[0]
    assert (texts(axes), axes.get_xscale()) == (["query q", "query r"], "log")


def test_without_a_tie_across_the_cut_the_figure_says_so() -> None:
    axes = plots.widths(audit({"q": {"a": 1.0}}, {"q": {"a": 1}}, ["R@1"]), "R@1").axes[0]
    assert texts(axes) == ["no tie across the cut"]


def test_without_a_range_the_figure_of_queries_says_so() -> None:
    assert texts(plots.queries(audit({"q": {"a": 1.0}}, {"q": {"a": 1}}, ["R@1"]), "R@1").axes[0]) == [
        "no query has a range"
    ]


def test_each_form_of_the_scores_has_its_range_and_its_share_of_tied_queries() -> None:
    """One bar a form, in the order given; the scale is never narrower than a thousandth."""
    strict = {"q": {"a": 2.0, "b": 1.0}}
    audits = {
        "as given": audit(strict, {"q": {"a": 1}}, "R@1"),
        "rounded": audit({"q": {"a": 1.0, "b": 1.0}}, {"q": {"a": 1}}, "R@1"),
    }
    axes = plots.origins(audits, "R@1").axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["as given", "rounded"]
    assert texts(axes) == ["0.0 % tied at the cut", "100.0 % tied at the cut"]
    bars = [next(x for x, y in drawn(axes) if y == [place, place]) for place in range(2)]
    assert bars == [[1, 1], [0, 1]]
    low, high = plots.origins({"as given": audits["as given"]}, "R@1").axes[0].get_xlim()
    assert high - low >= 0.001
    with pytest.raises(ContractError, match="at least one audit, got none"):
        plots.origins({}, "R@1")
    with pytest.raises(ContractError, match="this audit has R@1, not 'P@1'"):
        plots.origins(audits, "P@1")


def test_the_leaderboard_shows_ranges_and_the_ranks_that_ties_allow() -> None:
    runs = {
        "tied": {"q": {"a": 1.0, "b": 1.0}},
        "first": {"q": {"a": 2.0, "b": 1.0}},
        "last": {"q": {"a": 0.5, "b": 1.0}},
    }
    found = systems(runs, {"q": {"a": 1}}, "RR")
    axes = plots.leaderboard(found, "RR").axes[0]
    standings = found.leaderboard("RR")
    assert [label.get_text() for label in axes.get_yticklabels()] == [standing.system for standing in standings]
    assert texts(axes) == ["rank 1", "rank 1 to 2", "rank 2 to 3"]
    for place, standing in enumerate(standings):
        assert next(x for x, y in drawn(axes) if y == [place, place]) == [standing.min, standing.max]
    apart = plots.leaderboard(systems({"first": runs["first"], "last": runs["last"]}, {"q": {"a": 1}}, "RR"), "RR")
    assert texts(apart.axes[0]) == ["rank 1", "rank 2"]


def test_a_system_of_which_nothing_is_known_stands_with_its_reason() -> None:
    found = systems({"A": {"q": {"a": 1.0}}, "B": {"q": {"a": 1.0}}}, {"q": {}}, "R@1")
    assert texts(plots.leaderboard(found, "R@1").axes[0]) == [" no query is defined"] * 2


def test_differences_are_robust_reversible_or_undecided() -> None:
    """Robust win, robust loss, a win that another order takes back, one undecided, and one that is not drawn."""
    judged = {query: {"a": 1} for query in ("win", "loss", "back", "open", "same")}
    above, tied, below = ({"a": score, "b": 1.0} for score in (2.0, 1.0, 0.5))
    first = {"win": below, "loss": above, "back": {"a": 1.0, "A": 1.0}, "open": tied, "same": above}
    second = {"win": above, "loss": below, "back": above, "open": tied, "same": above}
    difference = systems({"A": first, "B": second}, judged, "RR").difference("RR", "A", "B")
    axes: Any = plots.differences(difference).axes[0]
    labels = {line.get_label(): (line.get_xdata().tolist(), line.get_ydata().tolist()) for line in axes.lines[1:]}
    assert labels == {
        "won, whatever ties do: 1": ([3], [0.5]),
        "lost, whatever ties do: 1": ([0], [-0.5]),
        "reversible by another order: 1": ([2], [0.5]),
        "undecided by the contract, too: 1": ([1], [0.0]),
    }
    segments = [segment[:, 1].tolist() for lines in axes.collections for segment in lines.get_segments()]
    assert sorted(segments) == [[-0.5, -0.5], [-0.5, 0.5], [0.0, 0.5], [0.5, 0.5]]
    band = axes.patches[0].get_bbox()
    assert np.allclose((band.y0, band.y1), (difference.min.mean(), difference.max.mean()))
    assert axes.get_xlabel().startswith("4 of 5 queries")


def test_differences_that_a_cut_hides_are_drawn_by_their_bounds_alone() -> None:
    runs = {"A": {"q": {"a": 1.0, "b": 1.0}}, "B": {"q": {"c": 1.0, "b": 1.0}}}
    found = systems(runs, {"q": {"a": 1, "x": 1}}, "R@1", depth=2).difference("R@1", "A", "B")
    axes: Any = plots.differences(found).axes[0]
    assert [segment[:, 1].tolist() for lines in axes.collections for segment in lines.get_segments()] == [[-0.5, 0.5]]
    assert np.isnan(found.contract).all()


def test_without_a_difference_the_figure_says_so() -> None:
    run = {"q": {"a": 2.0, "b": 1.0}}
    axes = plots.differences(systems({"A": run, "B": run}, {"q": {"a": 1}}, "RR").difference("RR", "A", "B")).axes[0]
    assert texts(axes) == ["no order makes a difference"]


@pytest.mark.parametrize("name", plots.__all__)
def test_every_figure_brings_a_caption_that_can_be_read(name: str) -> None:
    draw = getattr(plots, name)
    caption = " ".join(str(draw.__doc__).partition("\n\n")[0].split())
    assert hasattr(draw, "__wrapped__"), f"plots.{name} has no @captioned"
    assert caption.endswith(".")
    assert len(caption) <= 200
