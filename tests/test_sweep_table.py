"""The table over a sweep holds the numbers that the executions recorded, and nothing is lost between file and table."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rankwork import plots
from rankwork.errors import EvidenceError
from rankwork.evidence import recording
from rankwork.evidence.sweep_table import Row, SweepTable, content, numbers
from rankwork.measures.auditing import audit

RANGE = {"contract": 0.5, "min": 0.25, "expected": 0.5, "max": 1.0}


def row(values: dict[str, Any], numbers: dict[str, Any], **other: Any) -> Row:
    said = {"status": "complete", "recipe_digest": "r" * 64, "result_digest": f"{numbers}", "measured": {}} | other
    return Row(values=values, numbers=numbers, **said)


def table(*rows: Row) -> SweepTable:
    return SweepTable("00_x", tuple(rows[0].values), rows)


@pytest.mark.parametrize(
    ("value", "found"),
    [
        (3, {"x": 3}),
        (True, {"x": True}),
        ("text", {}),
        ([1, 2], {}),
        ({"kind": "float", "value": "inf"}, {}),
        ({"kind": "array", "dtype": "int64", "shape": [1], "bits": ""}, {}),
        ({"a": {"b": 1, "c": "no"}}, {"x a b": 1}),
        ({"min": 0.1, "max": None, "std": 0.2}, {"x": {"min": 0.1}}),
    ],
)
def test_numbers_are_found_by_the_words_that_lead_to_them(value: Any, found: dict[str, Any]) -> None:
    assert dict(numbers("x", value)) == found


def test_the_means_of_an_audit_are_its_numbers() -> None:
    result = audit({"q": {"a": 1.0, "b": 1.0}}, {"q": {"a": 1}}, ["R@1"])
    assert dict(numbers("x", recording.encode(result))) == {
        "x R@1": {"contract": 1.0, "min": 0.0, "expected": 0.5, "max": 1.0}
    }


def test_a_table_is_read_back_from_the_records_that_it_was_made_of(complete_record: Path) -> None:
    made = json.loads(json.dumps(content("00_small", ["k"], [complete_record])))
    read = SweepTable.from_json(made)
    assert read.names == ("k",)
    assert read.rows[0].values == {"k": 3}
    assert read.rows[0].numbers == {"k": 3}
    assert read.rows[0].measured == {"seconds": 0.25}
    kept = json.loads((complete_record / "manifest.json").read_text())
    assert read.rows[0].recipe_digest == kept["recipe_digest"]
    assert read.rows[0].result_digest == kept["result_digest"]


def test_a_file_of_another_format_is_refused() -> None:
    with pytest.raises(EvidenceError, match="a file of format rankwork-sweep/1 was expected, got None"):
        SweepTable.from_json({})


def test_a_range_stands_in_one_column_for_each_of_its_parts_and_digests_come_last() -> None:
    found = table(row({"k": 1}, {"R": RANGE, "n": 2}), row({"k": 2}, {"n": 3, "m": 4})).to_pandas()
    expected = ["k", "status", "R contract", "R min", "R expected", "R max", "n", "m", "recipe", "result"]
    assert list(found.columns) == expected
    assert found["R max"].tolist()[0] == 1.0
    assert np.isnan(found["R max"][1])
    assert found["n"].tolist() == [2, 3]


def test_a_number_with_the_name_of_a_parameter_stands_in_a_column_of_its_own() -> None:
    found = table(row({"k": 1}, {"k": 7, "status": 8})).to_pandas()
    assert list(found.columns) == ["k", "status", "recorded k", "recorded status", "recipe", "result"]
    assert found.iloc[0, :4].tolist() == [1, "complete", 7, 8]


def test_values_that_are_no_scalars_stand_as_text() -> None:
    assert table(row({"m": ["R@1"]}, {}), row({"m": ["R@2"]}, {})).to_pandas()["m"].tolist() == ['["R@1"]', '["R@2"]']


def test_measured_numbers_stand_in_a_table_of_their_own() -> None:
    found = table(row({"k": 1}, {"n": 2}, measured={"seconds": 0.5})).to_pandas(measured=True)
    assert list(found.columns) == ["k", "status", "seconds", "recipe", "result"]


def test_what_changes_is_named_once_and_what_stays_is_not() -> None:
    swept = table(row({"k": 1}, {"a": 1, "b": 1, "same": 0}), row({"k": 2}, {"a": 2, "b": 2, "same": 0, "new": 1}))
    assert swept.changing() == ["a", "new"]


def test_the_conclusion_counts_executions_and_different_results() -> None:
    swept = table(row({"k": 1}, {"a": 1}), row({"k": 2}, {"a": 1}), row({"k": 3}, {}, status="failed"))
    assert swept.conclusion == "2 of 3 executions of 00_x are complete; over k they give 1 different results."


def lines(axes: Any) -> dict[str, tuple[list[float], list[float]]]:
    return {str(line.get_label()): (list(line.get_xdata()), list(line.get_ydata())) for line in axes.lines}


def test_the_figure_draws_each_changing_number_over_the_first_name_that_varies() -> None:
    swept = table(
        *(row({"fixed": 0, "k": k, "t": t}, {"n": k * 10 + len(t), "R": RANGE}) for k in (5, 1) for t in ("a", "bb"))
    )
    figure = plots.sweep(swept)
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["n"]
    assert lines(figure.axes[0]) == {"t a": ([1, 5], [11, 51]), "t bb": ([1, 5], [12, 52])}
    assert figure.axes[0].get_xlabel() == "k"


def test_a_range_is_drawn_from_minimum_to_maximum_with_the_contract_as_its_line() -> None:
    swept = table(row({"k": 1}, {"R": RANGE}), row({"k": 2}, {"R": RANGE | {"max": 0.75, "contract": 0.3}}))
    axes = plots.sweep(swept).axes[0]
    assert [y for _, y in lines(axes).values()] == [[0.5, 0.3]]
    corners = set(map(tuple, np.asarray(axes.collections[0].get_paths()[0].vertices).tolist()))
    assert {(1.0, 0.25), (1.0, 1.0), (2.0, 0.25), (2.0, 0.75)} <= corners


def test_values_that_are_no_numbers_stand_side_by_side_under_their_names() -> None:
    swept = table(*(row({"t": t, "k": k}, {"n": k}) for t in ("x", "y") for k in (1, 2)))
    axes = plots.sweep(swept).axes[0]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["x", "y"]
    assert lines(axes) == {"k 1": ([-0.125, 0.875], [1, 1]), "k 2": ([0.125, 1.125], [2, 2])}


def test_an_execution_that_is_not_complete_leaves_a_gap() -> None:
    swept = table(row({"k": 1}, {"n": 1}), row({"k": 2}, {"n": 7}, status="failed"), row({"k": 3}, {"n": 3}))
    assert np.isnan(next(iter(lines(plots.sweep(swept).axes[0]).values()))[1][1])


def test_a_sweep_that_changes_nothing_says_so() -> None:
    axes = plots.sweep(table(row({"k": 1}, {"n": 1}), row({"k": 2}, {"n": 1}))).axes[0]
    assert [text.get_text() for text in axes.texts] == ["no recorded number changes"]
