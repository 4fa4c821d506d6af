"""Judgements become cases; whether one document is enough has to be said, and a query needs its text."""

import json
from pathlib import Path
from typing import Any

import pytest

from rankwork.errors import ContractError, InputError
from rankwork.inputs.beir_cases import cases_of_judgements, read_beir_cases, read_queries


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "qrels").mkdir()
    (tmp_path / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\ta\t2\nq1\tb\t1\nq1\tc\t0\nq2\ta\t0\n")
    queries = [{"_id": "q1", "text": "Why?"}, {"_id": "q2", "text": "why? "}, {"_id": "q3", "text": "Not judged"}]
    (tmp_path / "queries.jsonl").write_text("\n".join(map(json.dumps, queries)))
    return tmp_path


@pytest.mark.parametrize(("need", "groups"), [("any", [["a", "b"]]), ("each", [["a"], ["b"]])])
def test_a_folder_becomes_cases(folder: Path, need: Any, groups: list[list[str]]) -> None:
    first, second = read_beir_cases(folder, need=need, split="holdout")
    assert (first.id, first.query, first.split) == ("q1", "Why?", "holdout")
    assert [[gold.id for gold in group.any_of] for group in first.requires] == groups
    assert {name: gold.grade for name, gold in first.gold.items()} == {"a": 2, "b": 1}
    assert second.requires == ()


def test_queries_of_one_text_are_one_cluster(folder: Path) -> None:
    assert {case.cluster for case in read_beir_cases(folder, need="any")} == {"q1"}


def test_a_threshold_says_what_is_relevant(folder: Path) -> None:
    assert list(read_beir_cases(folder, need="any", relevant_from=2)[0].gold) == ["a"]
    with pytest.raises(ContractError, match="relevant_from must be at least 1, got 0"):
        read_beir_cases(folder, need="any", relevant_from=0)


def test_a_judged_query_needs_its_text(folder: Path) -> None:
    with pytest.raises(InputError, match=r"^query 'q9' is judged and has no text$"):
        cases_of_judgements({"q9": {"a": 1}}, read_queries(folder / "queries.jsonl"), need="any")


def test_a_grade_is_an_integer() -> None:
    with pytest.raises(InputError, match=r"^query 'q': grade 1.5 of document 'a' must be an integer$"):
        cases_of_judgements({"q": {"a": 1.5}}, {"q": "?"}, need="any")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "queries.jsonl line 2 is not JSON"),
        ('{"_id": 1, "text": "x"}', "queries.jsonl line 2: expected an object with the texts _id and text"),
        ('{"_id": "q1", "text": "x"}', "queries.jsonl line 2: query 'q1' was given already"),
    ],
)
def test_a_line_that_is_no_query_is_named(tmp_path: Path, line: str, message: str) -> None:
    (tmp_path / "queries.jsonl").write_text(f'{{"_id": "q1", "text": "Why?"}}\n{line}\n')
    with pytest.raises(InputError) as raised:
        read_queries(tmp_path / "queries.jsonl")
    assert str(raised.value).startswith(message)
