"""The columns of ragas become cases and traces whose IDs fit each other, whatever holds the columns."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from pydantic import BaseModel

from rankwork.errors import InputError
from rankwork.inputs.imported import content_id
from rankwork.inputs.ragas_columns import cases_and_traces
from rankwork.trace import Evidence

ROWS: list[dict[str, Any]] = [
    {
        "user_input": "How long is leave?",
        "retrieved_contexts": ["Leave is 30 days.", "Ask first."],
        "reference_contexts": ["Leave is 30 days.", "Or 25."],
        "response": "30 days.",
        "reference": "Thirty days.",
    },
    {
        "user_input": "Who?",
        "retrieved_contexts": [],
        "reference_contexts": ["Your lead."],
        "response": None,
        "reference": None,
    },
]
COLUMNS = {name: [row[name] for row in ROWS] for name in ROWS[0]}


class Sample(BaseModel):
    """A row as ragas holds it in memory."""

    user_input: str
    retrieved_contexts: list[str]
    reference_contexts: list[str]
    response: str | None
    reference: str | None


def lines(folder: Path) -> Path:
    (folder / "r.jsonl").write_text("\n".join(map(json.dumps, ROWS)))
    return folder / "r.jsonl"


@pytest.mark.parametrize("kind", ["rows", "columns", "pandas", "pyarrow", "samples", "file"])
def test_every_table_gives_the_same(tmp_path: Path, kind: str) -> None:
    held = {"rows": ROWS, "columns": COLUMNS, "pandas": pd.DataFrame(ROWS), "file": lines(tmp_path)}
    table: Any = {**held, "pyarrow": pa.Table.from_pylist(ROWS), "samples": map(Sample.model_validate, ROWS)}[kind]
    found = cases_and_traces(table, need="any", run="r")
    assert found == cases_and_traces(ROWS, need="any", run="r")
    first, second = found.traces
    assert (first.case, first.query, first.answer) == ("0", "How long is leave?", "30 days.")
    assert [item.id for item in first.stages[0].kept] == [content_id(text) for text in ROWS[0]["retrieved_contexts"]]
    assert {item.score for item in first.stages[0].kept} == {None}
    assert (second.stages[0].returned, second.answer) == (0, None)


def test_cases_and_traces_meet_in_their_ids() -> None:
    found = cases_and_traces(ROWS, need="any")
    gold = found.cases[0].gold
    assert [item.id in gold for item in found.traces[0].stages[0].kept] == [True, False]
    assert gold[content_id("Leave is 30 days.")].quote == "Leave is 30 days."
    assert found.cases[0].variants == ("Thirty days.",)
    assert found.cases[0].origin == "synthetic"


def test_what_the_references_are_must_be_said() -> None:
    each, either = (cases_and_traces(ROWS, need=need).cases[0].requires for need in ("each", "any"))
    assert [len(need.any_of) for need in each] == [1, 1]
    assert [len(need.any_of) for need in either] == [2]


IDS: dict[str, Any] = {"user_input": ["q"], "retrieved_contexts": [["a", "b"]], "retrieved_context_ids": [["d1", 2]]}


def test_ids_serve_where_both_sides_have_them() -> None:
    found = cases_and_traces({**IDS, "reference_context_ids": [["d1"]]}, need="any")
    assert [item.id for item in found.traces[0].stages[0].kept] == ["d1", "2"]
    assert found.cases[0].gold == {"d1": Evidence(id="d1")}
    assert found.notes == ()


def test_ids_on_one_side_only_would_never_meet_and_are_not_used() -> None:
    """IDs against digests share nothing: every piece of gold would look lost."""
    found = cases_and_traces({**IDS, "reference_contexts": [["a"]]}, need="any")
    assert [item.id for item in found.traces[0].stages[0].kept] == [content_id("a"), content_id("b")]
    assert set(found.cases[0].gold) == {content_id("a")}
    assert found.notes == ("a context had no ID on both sides: a digest of its text serves (2 times)",)


def test_older_names_are_known() -> None:
    old = {"question": ["q"], "contexts": [["a"]], "answer": ["x"], "ground_truth": ["y"], "id": ["c7"]}
    found = cases_and_traces(old, need="any")
    assert (found.cases[0].id, found.cases[0].variants, found.traces[0].answer) == ("c7", ("y",), "x")


def test_a_column_that_is_not_there_leaves_no_stage() -> None:
    found = cases_and_traces({"user_input": ["q"], "response": ["x"]}, need="any")
    assert found.traces[0].stages == ()
    assert found.cases[0].requires == ()


def test_a_context_twice_keeps_its_first_place() -> None:
    found = cases_and_traces({"user_input": ["q"], "retrieved_contexts": [["a", "b", "a"]]}, need="any")
    assert found.traces[0].stages[0].returned == 2
    assert "a context was retrieved more than once: its first place was kept" in found.notes


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"response": ["x"]}, "there is no column of questions: expected user_input or question, got response"),
        ([], "there is no column of questions: expected user_input or question, got none"),
        ({"user_input": ["q"], "question": ["q"]}, "columns 'user_input' and 'question' mean the same"),
        (
            {"user_input": ["q"], "response": ["x", "y"]},
            "columns must be equally long, got 1 of user_input, 2 of response",
        ),
        ({"user_input": [None]}, "row 0: its question is missing"),
        ({"user_input": [["turn"]]}, "row 0: 'user_input' must be text, got ['turn']"),
        (
            {"user_input": ["q"], "retrieved_contexts": ["a"]},
            "row 0: 'retrieved_contexts' must be a list of texts, got 'a'",
        ),
        ({"user_input": ["q"], "retrieved_contexts": [[1]]}, "row 0: 'retrieved_contexts' must hold texts, got 1"),
        ({**IDS, "retrieved_context_ids": [["d1"]]}, "row 0: 2 contexts and 1 IDs in 'retrieved_context_ids'"),
        ({"user_input": ["q", "r"], "id": ["c", "c"]}, "row 1: case 'c' stands in row 0 already"),
        (["text"], "row 0: expected an object with columns as names, got str"),
        (7, "a table must be a path, a dict of columns, rows, pandas or a dataset, got int"),
    ],
)
def test_a_table_that_is_none_is_refused(table: Any, message: str) -> None:
    with pytest.raises(InputError) as raised:
        cases_and_traces(table, need="any")
    assert str(raised.value).startswith(message)
