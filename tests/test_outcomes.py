"""What a system gave by query is read from tables, audits and traces, and nothing is read as what it is not."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from rankwork import audit
from rankwork.decision.outcomes import Outcomes, of_traces, of_values, read_outcomes
from rankwork.errors import InputError
from rankwork.inputs.traces import write_traces
from tests.gates import system

TABLE = (
    "query,measure,value,min,max,unit\nq1,R@10,0.5,0.25,0.5,\nq2,R@10,,,,\nq1,cost,0.002,,,EUR\nq2,cost,0.004,,,EUR\n"
)


def written(folder: Path, text: str | bytes, name: str = "table.csv") -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_a_table_holds_values_ranges_units_and_what_is_undefined(tmp_path: Path) -> None:
    found = read_outcomes(written(tmp_path, TABLE))
    recall, cost = found.columns["R@10"], found.columns["cost"]
    assert found.queries == ("q1", "q2")
    assert (recall.value[0], recall.low[0], recall.high[0], recall.ranged) == (0.5, 0.25, 0.5, True)
    assert recall.known.tolist() == [True, False]
    assert (cost.value.tolist(), cost.low.tolist(), cost.unit) == ([0.002, 0.004], [0.002, 0.004], "EUR")


def test_a_table_without_ranges_knows_nothing_of_ties(tmp_path: Path) -> None:
    assert not read_outcomes(written(tmp_path, "query,measure,value\nq1,R@10,0.5\n")).columns["R@10"].ranged


def test_the_json_of_an_audit_is_read_as_it_is_printed(tmp_path: Path) -> None:
    run = {"q1": {"a": 1.0, "b": 1.0}, "q2": {"a": 1.0}, "q3": {"a": 1.0}}
    printed = audit(run, {"q1": {"a": 1}, "q2": {}, "q3": {"a": 1}}, ["R@1", "Recall@1"]).to_json()
    found = read_outcomes(written(tmp_path, json.dumps(printed), "audit.json"))
    column = found.columns["R@1"]
    assert found.queries == ("q1", "q2", "q3")
    assert (column.value[0], column.low[0], column.high[0]) == (1.0, 0.0, 1.0)
    assert np.isnan(column.value[1])
    assert column.ranged


@pytest.mark.parametrize("indent", [None, 2])
def test_an_audit_is_told_from_traces_on_one_line_or_many(indent: int | None, tmp_path: Path) -> None:
    printed = json.dumps(audit({"q": {"a": 1.0}}, {"q": {"a": 1}}, ["R@1"]).to_json(), indent=indent)
    assert read_outcomes(written(tmp_path, printed, "any.name")).queries == ("q",)


def test_what_a_cut_list_hides_has_its_outer_bounds(tmp_path: Path) -> None:
    printed = audit({"q": {"a": 1.0, "b": 1.0}}, {"q": {"a": 1, "c": 1}}, ["R@2"], depth=2).to_json()
    column = read_outcomes(written(tmp_path, json.dumps(printed), "audit.json")).columns["R@2"]
    assert np.isnan(column.value[0])
    assert (column.low[0], column.high[0]) == (0.0, 1.0)


@pytest.mark.parametrize("name", ["run.jsonl", "run.jsonl.gz", "run.parquet"])
def test_traces_are_told_by_content(name: str, tmp_path: Path) -> None:
    traces = system([1, 2, 3])
    write_traces(tmp_path / name, traces)
    found = read_outcomes(tmp_path / name)
    assert found.queries == ("c0", "c1", "c2")
    assert found.traces == tuple(traces)


def test_another_order_of_queries_moves_every_column() -> None:
    column = read_column([1.0, 2.0, 3.0])
    found = Outcomes("a", ("x", "y", "z"), {"m": column}).ordered(("z", "x", "y"))
    assert found.columns["m"].value.tolist() == [3.0, 1.0, 2.0]
    traces = system([1, 2])
    assert of_traces("a", traces).ordered(("c1", "c0")).traces == (traces[1], traces[0])


def read_column(values: list[float]):  # type: ignore[no-untyped-def]
    from rankwork.decision.outcomes import Column

    numbers = np.array(values)
    return Column(numbers, numbers, numbers)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("query,measure\nq,R@1\n", "table.csv line 1: expected the columns query,measure,value"),
        ("query,measure,value,note\nq,R@1,1,x\n", "perhaps min,max,unit, got query,measure,value,note"),
        ("", "got an empty file"),
        ("query,measure,value\n", "table.csv holds no query"),
        ("query,measure,value\nq,R@1,abc\n", "table.csv line 2: 'abc' is not a finite number"),
        ("query,measure,value\nq,R@1,nan\n", "table.csv line 2: 'nan' is not a finite number"),
        ("query,measure,value\nq,R@1,1\nq,R@1,0\n", "table.csv line 3: query 'q' has two values of 'R@1'"),
        ("query,measure,value\nq,R@1,1\nr,AP,0\n", "table.csv: 'R@1' has no row for r"),
        ("query,measure,value\nq,R@1\n", "table.csv line 2: expected 3 fields"),
        ("query,measure,value\nq,R@1,1,2\n", "table.csv line 2: expected 3 fields"),
        ("query,measure,value\n,R@1,1\n", "table.csv line 2: query and measure must not be empty"),
        ("query,measure,value,min,max\nq,R@1,1,0,0.5\n", "line 2: value 1 lies outside its range from 0 to 0.5"),
        ("query,measure,value,min,max\nq,R@1,1,0,\n", "line 2: min and max belong together"),
        ("query,measure,value,unit\nq,cost,1,EUR\nr,cost,1,USD\n", "lines 2 and 3: 'cost' in two units, EUR and USD"),
        (b"query,measure,value\nq\xff,R@1,1\n", "table.csv is not a table in UTF-8 text"),
    ],
)
def test_a_table_that_says_something_else_is_refused(text: str | bytes, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        read_outcomes(written(tmp_path, text))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            '{"per_query": {"q": {"R@1": {"contract": "1"}}, "r": {}}}',
            "per_query.r lacks 'R@1', which other queries have",
        ),
        ('{"per_query": {"q": {"R@1": {"contract": "x"}}}}', "per_query.q.R@1: 'x' is not a finite number"),
        ('{"per_query": {"q": {"R@1": {"contract": true}}}}', "per_query.q.R@1: True is not a finite number"),
        ('{\n"systems": {"a": {"per_query": {}}}}', "the audit of several runs; a gate takes one of each system"),
        ('{"per_query": []}', "not the JSON of an audit of one run"),
        ('{"per_query": {}', "not the JSON of an audit of one run"),
        ('{"per_query": {}}', "audit.json holds no query"),
    ],
)
def test_json_that_is_no_audit_is_refused(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        read_outcomes(written(tmp_path, text, "audit.json"))


def test_traces_of_two_runs_are_not_one_system() -> None:
    with pytest.raises(InputError, match="a: query 'c0' stands twice"):
        of_traces("a", [*system([1]), *system([2])])
    with pytest.raises(InputError, match="a holds no query"):
        of_traces("a", [])


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"missing\.csv cannot be read: No such file"):
        read_outcomes(tmp_path / "missing.csv")


@pytest.mark.parametrize(
    ("queries", "message"),
    [(("x", "y", "w"), "a lacks w: both systems must have"), (("x", "y"), "a has also z: both systems must have")],
)
def test_systems_that_answered_other_queries_are_not_compared(queries: tuple[str, ...], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Outcomes("a", ("x", "y", "z"), {"m": read_column([1, 2, 3])}).ordered(queries)


def test_plain_numbers_are_outcomes() -> None:
    found = of_values("mine", {"R@10": [1, None], "AP": [0.5, 0.25]}, queries=["a", "b"])
    assert found.queries == ("a", "b")
    assert found.columns["AP"].value.tolist() == [0.5, 0.25]
    assert not found.columns["R@10"].ranged


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"R@10": [1, 1], "AP": [1]}, "mine: 'AP' has 1 values for 2 queries"),
        ({"R@10": [1, float("inf")]}, "mine: R@10: inf is not a finite number"),
        ({}, "mine holds no query"),
    ],
)
def test_plain_numbers_that_fit_no_query_are_refused(values: dict[str, list[float]], message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        of_values("mine", values)
