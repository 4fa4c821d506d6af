"""A mean says what it averages: each query alike, by traffic, or by slice, and what the undefined could do to it."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankwork.errors import ContractError
from rankwork.measures.auditing import audit

RUN = {"q1": {"a": 2.0, "b": 1.0, "c": 1.0}, "q2": {"a": 1.0, "b": 1.0}, "q3": {"a": 1.0}}
JUDGED = {"q1": {"a": 1, "b": 1}, "q2": {"b": 1}, "q3": {"a": 0}, "q4": {"a": 1}}
FOUND = audit(RUN, JUDGED, ["R@1", "P@2"])


def test_each_query_counts_alike_unless_weights_are_given() -> None:
    """Q1 1/2, q2 0 in [0, 1], q4 missing, so 0; q3 is undefined and left out."""
    mean = FOUND.mean("R@1")
    assert mean == FOUND.result("R@1").mean
    assert (mean.queries, mean.undefined, mean.contract, mean.min, mean.max) == (3, 1, 0.5 / 3, 0.5 / 3, 0.5)
    assert mean.coverage == 0.75


def test_weights_are_those_of_the_traffic() -> None:
    """All five numbers by weight, the std from squared weights; queries that nobody judged lower the coverage."""
    mean = FOUND.mean("R@1", weights={"q1": 6, "q2": 3, "q3": 1, "q4": 1, "other": 9})
    expected = {
        "contract": 6 * 0.5,
        "min": 6 * 0.5,
        "max": 6 * 0.5 + 3 * 1,
        "expected": 6 * 0.5 + 3 * 0.5,
        "std": 3 * 0.5,
    }
    for name, total in expected.items():
        assert math.isclose(getattr(mean, name), total / 10)
    assert mean.coverage == 10 / 20


def test_the_undefined_bound_the_mean() -> None:
    """What it would be were they all 0, or all 1, by their weight."""
    mean = FOUND.mean("R@1")
    assert (mean.if_all_0, mean.if_all_1) == (0.5 / 4, 1.5 / 4)
    weighted = FOUND.mean("R@1", weights={"q1": 1, "q2": 1, "q3": 7, "q4": 1})
    assert math.isclose(weighted.if_all_0 or 0, 0.05)
    assert math.isclose(weighted.if_all_1 or 0, 0.75)


def test_a_query_without_weight_has_no_part_in_the_mean() -> None:
    """Not even by a value that is not known."""
    run, judged = {"q": {"a": 1.0, "b": 1.0}, "r": {"a": 1.0}}, {"q": {"a": 1, "x": 1}, "r": {"a": 1}}
    found = audit(run, judged, ["R@1"], depth=2)
    assert (found.mean("R@1").contract, found.mean("R@1").reason) == (None, "censored")
    assert found.mean("R@1", weights={"q": 0, "r": 2}).contract == 1


def test_slices_part_the_queries_or_overlap() -> None:
    """By label each query stands in one; by list in as many as name it. Each says how many queries it averages."""
    by_label = FOUND.by_slice("R@1", {"q1": "long", "q2": "short", "q3": "short", "q4": "long"})
    assert {label: (mean.contract, mean.queries, mean.undefined) for label, mean in by_label.items()} == {
        "long": (0.25, 2, 0), "short": (0, 1, 1),
    }  # fmt: skip
    by_list = FOUND.by_slice("R@1", {"all": ["q1", "q2", "q4"], "first": ["q1"], "none": []})
    assert [mean.contract for mean in by_list.values()] == [0.5 / 3, 0.5, None]
    assert by_list["none"].reason == "no query is defined"
    weighted = FOUND.by_slice("R@1", {"two": ["q1", "q2"]}, weights={"q1": 3, "q2": 1, "q3": 1, "q4": 1})
    assert weighted["two"].contract == 3 * 0.5 / 4
    assert FOUND.mean("R@1", among=["q1", "q2"]).max == 0.75


@given(st.lists(st.floats(0.125, 8), min_size=4, max_size=4), st.floats(0.25, 4))
def test_only_the_proportions_of_weights_matter(weights: list[float], factor: float) -> None:
    plain, scaled = (dict(zip(JUDGED, values, strict=True)) for values in (weights, [factor * w for w in weights]))
    one, other = FOUND.mean("R@1", weights=plain), FOUND.mean("R@1", weights=scaled)
    for name in ("contract", "min", "expected", "max", "std", "coverage", "if_all_1"):
        assert math.isclose(getattr(one, name), getattr(other, name), abs_tol=1e-12)


def test_equal_weights_are_the_plain_mean() -> None:
    plain, weighted = FOUND.mean("P@2"), FOUND.mean("P@2", weights=dict.fromkeys(JUDGED, 2.5))
    for name in ("contract", "min", "expected", "max", "std", "coverage", "if_all_0", "if_all_1"):
        assert math.isclose(getattr(plain, name), getattr(weighted, name), abs_tol=1e-15)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"weights": {"q1": 1, "q2": 1, "q3": 1}}, "each judged query needs a weight; there is none for q4"),
        ({"weights": dict.fromkeys(JUDGED, 0)}, "must not all be 0"),
        (
            {"weights": {**dict.fromkeys(JUDGED, 1), "q2": -1}},
            "query 'q2' must be a finite number of at least 0, got -1",
        ),
        ({"weights": {**dict.fromkeys(JUDGED, 1), "q2": float("nan")}}, "at least 0, got nan"),
        ({"weights": {**dict.fromkeys(JUDGED, 1), "q2": True}}, "at least 0, got True"),
        ({"weights": {**dict.fromkeys(JUDGED, 1), "q2": "3"}}, "at least 0, got '3'"),
        ({"among": ["q1", "q9"]}, "names queries that are not judged: q9"),
    ],
)
def test_weights_that_mean_nothing_are_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ContractError, match=message):
        FOUND.mean("R@1", **arguments)


@pytest.mark.parametrize(
    ("slices", "message"),
    [
        ({"q1": "long"}, "each judged query needs a slice; there is none for q2, q3, q4"),
        ({"long": ["q1", "q9"]}, "slice 'long' names queries that are not judged: q9"),
        ({"long": ["q1"], "short": "q2"}, "slice 'short' must hold several queries, got the text 'q2'"),
    ],
)
def test_slices_that_mean_nothing_are_refused(slices: Any, message: str) -> None:
    with pytest.raises(ContractError, match=message):
        FOUND.by_slice("R@1", slices)


def test_weight_on_undefined_queries_alone_is_no_mean() -> None:
    mean = FOUND.mean("R@1", weights={"q1": 0, "q2": 0, "q3": 1, "q4": 0})
    assert (mean.contract, mean.std, mean.coverage) == (None, None, 0)
    assert mean.reason == "no averaged query has any weight"
    assert (mean.if_all_0, mean.if_all_1) == (0, 1)


def test_the_width_of_a_mean_is_that_of_its_bounds_and_not_known_without_them() -> None:
    assert math.isclose(FOUND.mean("R@1").width or 0, 1 / 3)
    assert FOUND.mean("R@1", among=["q3"]).width is None


def test_the_table_of_means_holds_each_of_them_in_a_row() -> None:
    weights = {"q1": 6, "q2": 3, "q3": 1, "q4": 1, "other": 9}
    table = FOUND.means("R@1", weights=weights, slices={"short": ["q1", "q2"]})
    assert list(table.index) == ["each query alike", "by weight", "slice short"]
    wanted = (FOUND.mean("R@1"), FOUND.mean("R@1", weights=weights), FOUND.mean("R@1", among=["q1", "q2"]))
    for row, mean in zip(table.to_dict("records"), wanted, strict=True):
        assert row == {str(name): getattr(mean, str(name)) for name in row}
