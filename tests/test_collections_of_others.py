"""Digits and BEIR folders as collections of documents and cases."""

import json
from pathlib import Path

import pytest

from rankwork.errors import InputError
from rankwork.inputs.digits import digits
from rankwork.retrieval.beir_folder import beir_folder
from rankwork.retrieval.collection import judgements
from rankwork.retrieval.digit_images import digit_images

CORPUS = [{"_id": "d1", "title": "First", "text": "one"}, {"_id": "d2", "text": "two"}]
QUERIES = [{"_id": "q1", "text": "which?"}, {"_id": "q2", "text": " Which? "}, {"_id": "q3", "text": "unjudged"}]
QRELS = "query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\td2\t0\nq2\tgone\t1\n"


def folder(root: Path, corpus: object = CORPUS, queries: object = QUERIES, qrels: str = QRELS) -> Path:
    """A BEIR folder of these lines; text is written as it is."""
    for name, lines in (("corpus.jsonl", corpus), ("queries.jsonl", queries)):
        text = lines if isinstance(lines, str) else "\n".join(json.dumps(line) for line in lines)  # type: ignore[attr-defined]
        (root / name).write_text(text)
    (root / "qrels").mkdir()
    (root / "qrels" / "test.tsv").write_text(qrels)
    return root


def test_a_beir_folder_is_documents_and_a_case_for_each_judged_query(tmp_path: Path) -> None:
    found = beir_folder(folder(tmp_path))
    assert [(d.id, d.title, d.text, d.revision) for d in found.documents] == [
        ("d1", "First", "one", found.revision),
        ("d2", "", "two", found.revision),
    ]
    assert [(case.id, case.query, list(case.gold)) for case in found.cases] == [
        ("q1", "which?", ["d1"]),
        ("q2", " Which? ", ["gone"]),
    ]
    assert found.cases[0].gold["d1"].grade == 2
    assert {case.cluster for case in found.cases} == {"q1"}
    assert found.cases[0].gold["d1"].revision == found.revision
    assert len(beir_folder(tmp_path, need="any").cases[0].requires) == 1


def test_the_revision_follows_the_corpus(tmp_path: Path) -> None:
    first = beir_folder(folder(tmp_path)).revision
    (tmp_path / "corpus.jsonl").write_text(json.dumps({"_id": "d1", "text": "another"}))
    assert beir_folder(tmp_path).revision != first


@pytest.mark.parametrize(
    ("corpus", "message"),
    [
        ('{"_id": "d1", "text": "x"}\n{', r"corpus\.jsonl line 2 is not JSON"),
        ('{"text": "x"}', r"corpus\.jsonl line 1: expected an object with a text _id, got None"),
        ('{"_id": "d1", "text": 3}', r"corpus\.jsonl line 1: expected an object with a text text, got 3"),
        ('{"_id": "", "text": "x"}', r"corpus\.jsonl line 1: expected an object with a text _id, got ''"),
        ('{"_id": "a", "text": "x"}\n{"_id": "a", "text": "y"}', "document ID 'a' stands twice"),
        ("", "it holds no document"),
    ],
)
def test_a_corpus_that_cannot_be_read_is_refused_with_its_line(tmp_path: Path, corpus: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        beir_folder(folder(tmp_path, corpus))


def test_files_and_queries_that_are_missing_are_named(tmp_path: Path) -> None:
    whole = folder(tmp_path, queries=QUERIES[:1])
    with pytest.raises(InputError, match="query 'q2' is judged and has no text"):
        beir_folder(whole)
    (tmp_path / "queries.jsonl").unlink()
    with pytest.raises(InputError, match=r"should have queries\.jsonl"):
        beir_folder(whole)


def test_a_grade_that_is_no_integer_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"query 'q1': grade 1\.5 of document 'd1' must be an integer"):
        beir_folder(folder(tmp_path, qrels=QRELS.replace("\t2", "\t1.5")))


def test_digits_have_the_judgements_of_the_ready_made_run() -> None:
    found = digit_images(queries=5)
    _, judged = digits(queries=5)
    mine = judgements(found.cases)
    assert all(mine.grades_of(query) == judged.grades_of(query) for query in judged.queries)
    assert all(case.excludes == (f"d{case.id[1:]}",) for case in found.cases)


def test_an_image_is_the_words_of_its_dark_pixels() -> None:
    from sklearn.datasets import load_digits

    image = load_digits().images[7]
    words = set(digit_images(queries=1, threshold=12).by_id["d0007"].text.split())
    assert words == {f"r{row}c{column}" for row in range(8) for column in range(8) if image[row, column] >= 12}


@pytest.mark.parametrize("wrong", [{"queries": 0}, {"queries": 1798}, {"threshold": 17}, {"queries": True}])
def test_numbers_out_of_range_are_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(InputError, match="must be an integer between 1 and"):
        digit_images(**wrong)
