"""Parameters are declared, typed and strict: what is wrong with one is said before anything runs."""

import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rankwork.errors import ParameterError
from rankwork.evidence import parameters
from tests.workbooks import notebook

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "k": {"type": "integer", "minimum": 1, "maximum": 9},
        "width": {"type": "number", "exclusiveMinimum": 0},
        "url": {"type": "string", "pattern": "^[a-z=?]*$"},
        "ties": {"enum": ["id_asc", "id_desc"]},
        "depths": {"type": "array", "items": {"type": "integer"}, "minItems": 1},
        "exact": {"type": "boolean"},
    },
}
DEFAULT = {"k": 3, "width": 0.5, "url": "a=b", "ties": "id_asc", "depths": [1, 2], "exact": True}


def resolved(**given: Any) -> dict[str, Any]:
    return parameters.resolve(given, DEFAULT, SCHEMA, "demo")


def refusal(**given: Any) -> str:
    with pytest.raises(ParameterError) as caught:
        resolved(**given)
    return str(caught.value)


def test_defaults_are_read_without_running_the_cell() -> None:
    source = 'k = 3  # depth\nurl = "a=b"  # holds an equals sign\ndepths = [1, -2]\nnothing = None'
    found = parameters.defaults(notebook(parameters=source), "demo")
    assert found == {"k": 3, "url": "a=b", "depths": [1, -2], "nothing": None}


def test_a_default_text_with_an_equals_sign_is_a_known_parameter() -> None:
    assert resolved(url="x=y?z")["url"] == "x=y?z"


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("import os", "line 1 of the parameters cell is not 'name = literal'"),
        ("k = 3\nk += 1", "line 2 of the parameters cell is not 'name = literal'"),
        ("a = b = 3", "line 1 of the parameters cell is not 'name = literal'"),
        ("k = open('x')", "the default of k is not a literal"),
        ("k = (", "the parameters cell cannot be read, line 1"),
    ],
)
def test_a_parameters_cell_that_is_not_plain_is_refused(source: str, message: str) -> None:
    with pytest.raises(ParameterError, match=r"demo") as caught:
        parameters.defaults(notebook(parameters=source), "demo")
    assert message in str(caught.value)


def test_a_notebook_without_its_parameters_cell_is_refused() -> None:
    with pytest.raises(ParameterError, match="demo: expected one code cell tagged 'parameters', found 0"):
        parameters.defaults(notebook("k = 3", parameters=None), "demo")


def test_two_parameters_cells_are_refused() -> None:
    twice = notebook("k = 3")
    twice["cells"][1]["metadata"]["tags"] = ["parameters"]
    with pytest.raises(ParameterError, match="found 2"):
        parameters.defaults(twice, "demo")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"depth": 3}, "demo: unknown parameter 'depth'; it has depths, exact, k, ties, url, width"),
        ({"k": 0}, "demo: k: must be at least 1, got 0"),
        ({"k": 10}, "demo: k: must be at most 9, got 10"),
        ({"k": 3.0}, "demo: k: must be of type integer, got 3.0"),
        ({"k": True}, "demo: k: must be of type integer, got True"),
        ({"k": "3"}, "demo: k: must be of type integer, got '3'"),
        ({"width": 0}, "demo: width: must be above 0, got 0"),
        ({"width": float("nan")}, "demo: width: nan is not a finite number"),
        ({"url": "A"}, "demo: url: must be of the form"),
        ({"ties": "random"}, "demo: ties: must be one of id_asc, id_desc, got 'random'"),
        ({"depths": [1, "2"]}, "demo: depths.1: must be of type integer, got '2'"),
        ({"depths": []}, "demo: depths: must be of at least 1 items, got []"),
        ({"api_token": "x"}, "demo: api_token looks like a secret; secrets come from the environment"),
        ({"PASSWORD": "x"}, "demo: PASSWORD looks like a secret"),
        ({"openai_api_key": "x"}, "demo: openai_api_key looks like a secret"),
        ({"depths": (1, 2)}, "demo: depths: (1, 2) is a tuple; a plain number"),
        ({"url": datetime.date(2026, 1, 1)}, "demo: url: datetime.date(2026, 1, 1) is a datetime.date"),
        ({"width": np.float64(0.5)}, "is a numpy.float64"),
        ({"depths": [np.int64(1)]}, "is a numpy.int64"),
        ({"depths": {1: 2}}, "is a dict"),
    ],
)
def test_a_value_that_does_not_fit_is_refused_by_name(given: dict[str, Any], message: str) -> None:
    assert message in refusal(**given)


def test_a_name_that_only_resembles_a_secret_is_accepted() -> None:
    found = parameters.resolve({"max_tokens": 5}, {"max_tokens": 3}, {"properties": {"max_tokens": {}}}, "demo")
    assert found == {"max_tokens": 5}


def test_a_parameter_without_a_schema_is_refused() -> None:
    with pytest.raises(ParameterError, match="'extra' is not both in the parameters cell and in its schema"):
        parameters.resolve({}, DEFAULT | {"extra": 1}, SCHEMA, "demo")


def test_values_are_kept_exactly_and_an_integer_given_for_a_number_is_that_float() -> None:
    assert resolved(k=4, width=1) == DEFAULT | {"k": 4, "width": 1.0}
    assert type(resolved(width=1)["width"]) is float


def test_command_line_text_follows_the_schema(tmp_path: Path) -> None:
    found = parameters.from_text(("k=4", "width=1e-5", "url=10", "exact=false", "depths=[3, 4]"), SCHEMA)
    assert found == {"k": 4, "width": 1e-5, "url": "10", "exact": False, "depths": [3, 4]}


@pytest.mark.parametrize(
    ("assignments", "message"),
    [
        (("k",), "-p k: 'name=value' was expected"),
        (("=3",), "-p =3: 'name=value' was expected"),
        (("k=1", "k=2"), "-p k is given twice"),
        (("k=[1",), "-p k: not YAML"),
    ],
)
def test_an_assignment_that_cannot_be_read_is_refused(assignments: tuple[str, ...], message: str) -> None:
    with pytest.raises(ParameterError) as caught:
        parameters.from_text(assignments, SCHEMA)
    assert message in str(caught.value)


def test_a_set_reads_numbers_as_numbers_and_leaves_dates_and_words_as_text(tmp_path: Path) -> None:
    path = tmp_path / "demo.smoke.yaml"
    path.write_text("a: 1e-5\nb: 2026-01-01\nc: no\nd: 010\ne: .5\nf: ~\ng: 1_000\n")
    found = parameters.load_set(path)
    assert found == {"a": 1e-5, "b": "2026-01-01", "c": "no", "d": 10, "e": 0.5, "f": None, "g": "1_000"}


@pytest.mark.parametrize(
    ("text", "message"),
    [("- 1", "'name: value' lines were expected"), ("a: [", "not YAML"), ("a: 1\na: 2", "'a' is given twice")],
)
def test_a_set_that_is_no_mapping_is_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "demo.smoke.yaml"
    path.write_text(text)
    with pytest.raises(ParameterError) as caught:
        parameters.load_set(path)
    assert "demo.smoke.yaml" in str(caught.value)
    assert message in str(caught.value)


def test_an_empty_set_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "demo.smoke.yaml"
    path.write_text("# nothing differs\n")
    assert parameters.load_set(path) == {}


def test_a_missing_set_or_schema_is_named(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match=r"no parameters file demo\.smoke\.yaml"):
        parameters.load_set(tmp_path / "demo.smoke.yaml")
    with pytest.raises(ParameterError, match=r"no schema .*demo\.schema\.json"):
        parameters.load_schema(tmp_path / "demo.schema.json")


def test_a_schema_that_is_not_json_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "demo.schema.json"
    path.write_text("{")
    with pytest.raises(ParameterError, match=r"demo\.schema\.json: not JSON"):
        parameters.load_schema(path)
    path.write_text("[]")
    with pytest.raises(ParameterError, match=r"demo\.schema\.json: a schema of type object"):
        parameters.load_schema(path)


def test_files_are_the_parameters_that_the_schema_declares_as_inputs() -> None:
    schema = {"properties": {"run": {"format": "input"}, "other": {"format": "input"}, "name": {}}}
    assert parameters.input_files({"run": "a.gz", "other": "", "name": "x"}, schema) == {"run": "a.gz"}
