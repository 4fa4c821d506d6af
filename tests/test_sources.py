"""One door: every form of the same run and judgements gives the same rankings and judgements, or a clear refusal."""

import gzip
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rankwork import audit
from rankwork.errors import ContractError, InputError
from rankwork.inputs.beir import read_judgements as read_beir_judgements
from rankwork.inputs.beir import unlisted
from rankwork.inputs.sources import read_judgements, read_run
from rankwork.rankings import Judgements, Rankings

RUN = {"q1": {"a": 0.5, "b": 0.25}, "q 2": {"a": 2.0}}
JUDGED = {"q1": {"a": 2, "c": 0}, "q 2": {"b": 1}}
HEADER = "query-id\tcorpus-id\tscore\n"
TSV = HEADER + "".join(f"{q}\t{d}\t{g}\n" for q, inner in JUDGED.items() for d, g in inner.items())


def rows_of(run: Rankings) -> dict[str, Any]:
    return {query: dict(run.rows(query)) for query in run.queries}


def grades_of(judgements: Judgements) -> dict[str, Any]:
    return {query: judgements.grades_of(query) for query in judgements.queries}


def written(folder: Path, text: str | bytes, name: str = "given") -> Path:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def beir_folder(folder: Path, **splits: str) -> Path:
    (folder / "set" / "qrels").mkdir(parents=True)
    for name, text in splits.items():
        written(folder / "set" / "qrels", text, f"{name}.tsv")
    return folder / "set"


@pytest.mark.parametrize("pack", [str.encode, lambda text: gzip.compress(text.encode())], ids=["plain", "gzip"])
def test_a_run_as_json(tmp_path: Path, pack: Any) -> None:
    """The results file of BEIR and pytrec_eval, told by content; a query without documents stays."""
    path = written(tmp_path, pack("\ufeff " + json.dumps({**RUN, "q3": {}})))
    assert rows_of(read_run(path)) == {**RUN, "q3": {}}
    assert read_run(str(path)).scores.dtype == np.float64


def test_integers_in_json_stay_integers(tmp_path: Path) -> None:
    run = read_run(written(tmp_path, json.dumps({"q": {"a": 2**53, "b": 2**53 + 1}})))
    assert run.scores.tolist() == [2**53, 2**53 + 1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"q": {"a": 1, "a": 2}}', "given: query 'q' holds document 'a' twice, in rows 0 and 1"),
        ('{"q": {"a": 1}, "q": {"b": 2}}', "given holds query 'q' twice"),
        ('{"q": {"a": NaN}}', "given: score nan of query 'q', document 'a' .* is not finite"),
        ('{"q": {"a": 1e999}}', "given: score inf of query 'q', document 'a' .* is not finite"),
        ('{"q": {"a": "1"}}', "given: score '1' of query 'q', document 'a' .* is not a number but text"),
        ('{"q": {"a": true}}', "given: score True of .* is not a number but bool"),
        ('{"q": {"a": {"b": 1}}}', r"given must hold .*; 'q', 'a' holds an object"),
        ('{"q": [1]}', r"given must hold \{query: \{document: number\}\}; 'q' holds list"),
        ('{"q": {"a": 1}', "given is not JSON: "),
        ('{"q": {"a": 1}} {}', "given is not JSON: Extra data"),
        (b'{"q": {"\xff": 1}}', "given is not JSON: 'utf-8' codec"),
        ('{"a": ' * 100_000, "given is not JSON: "),
        (json.dumps(RUN).encode("utf-16"), "given is UTF-16 text: it must be UTF-8"),
        (gzip.compress(json.dumps(RUN).encode(), mtime=0)[:-9], "given is a gzip file that is truncated or damaged"),
    ],
)
def test_json_that_is_no_run_is_refused(tmp_path: Path, text: str | bytes, message: str) -> None:
    """Above all what JSON readers pass over in silence: a document or a query that is there twice."""
    with pytest.raises(InputError, match=message):
        read_run(written(tmp_path, text))


def test_duplicates_in_json_can_be_kept_once(tmp_path: Path) -> None:
    run = read_run(written(tmp_path, '{"q": {"a": 1, "b": 1, "a": 2}}'), duplicates="keep_first")
    assert run.rows("q") == [("b", 1), ("a", 2)]


def test_judgements_of_a_beir_folder(tmp_path: Path) -> None:
    """The folder, its file and JSON say the same; IDs may hold spaces, since tabs part the fields."""
    folder = beir_folder(tmp_path, test=TSV)
    assert grades_of(read_judgements(folder)) == JUDGED
    assert grades_of(read_judgements(folder / "qrels" / "test.tsv")) == JUDGED
    assert grades_of(read_judgements(written(tmp_path, json.dumps(JUDGED)))) == JUDGED
    assert read_judgements(folder).grades.dtype == np.int64


@pytest.mark.parametrize("text", [TSV.rstrip("\n"), TSV.replace("\n", "\r\n"), "\ufeff" + TSV, TSV + "\n\n"])
def test_one_tsv_in_many_dresses(tmp_path: Path, text: str) -> None:
    assert grades_of(read_judgements(written(tmp_path, text))) == JUDGED


def test_a_folder_with_several_splits_gives_test_or_the_one_asked_for(tmp_path: Path) -> None:
    folder = beir_folder(tmp_path, test=TSV, dev=HEADER + "q\td\t1\n")
    assert grades_of(read_judgements(folder)) == JUDGED
    assert grades_of(read_beir_judgements(folder, split="dev")) == {"q": {"d": 1}}
    with pytest.raises(InputError, match=r"folder set should have judgements in qrels/train.tsv: it has dev, test"):
        read_beir_judgements(folder, split="train")


def test_a_folder_without_judgements_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"folder set should have judgements in qrels/test.tsv: it has none"):
        read_judgements(beir_folder(tmp_path))
    with pytest.raises(InputError, match=r"set holds BEIR judgements, not a run: expected TREC, JSON or parquet"):
        read_run(tmp_path / "set")
    with pytest.raises(InputError, match=r"given holds BEIR judgements, not a run"):
        read_run(written(tmp_path, TSV))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("q1\tb\tx", "given line 5: grade 'x' is not a number"),
        ("q1\tb\tnan", "given line 5: grade 'nan' is not finite"),
        ("q1\tb", "given line 5: expected a query ID, a document ID and a grade, parted by tabs, got 'q1.*b'"),
        ("q1\t\t1", "given line 5: expected a query ID, a document ID and a grade"),
        ("q1\tb\t1\t2", "given line 5: expected a query ID, a document ID and a grade"),
        ("q1 b 1", "given line 5: expected a query ID, a document ID and a grade"),
        ("q1\ta\t1", "given line 5: document 'a' of query 'q1' was given on line 2 already"),
        ("q1\tb\t-1", "given line 5: grade -1 is negative"),
    ],
)
def test_a_tsv_that_cannot_be_read_names_its_line(tmp_path: Path, line: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_judgements(written(tmp_path, TSV + line), negative="refuse")


def test_a_negative_grade_is_unjudged_in_a_file_and_refused_in_memory(tmp_path: Path) -> None:
    judged = read_judgements(written(tmp_path, TSV + "q1\tz\t-1\n"))
    assert (grades_of(judged), judged.negatives) == (JUDGED, 1)
    assert read_judgements(written(tmp_path, '{"q": {"a": -1, "b": 1}}')).negatives == 1
    with pytest.raises(ContractError, match="grade -1 of query 'q', document 'a'"):
        read_judgements({"q": {"a": -1}})


def test_a_header_with_other_names_is_no_beir(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"given line 1: expected the header query-id corpus-id score"):
        read_beir_judgements(written(tmp_path, "qid\tdocid\trel\nq\td\t1\n"))


def test_ids_that_the_collection_lacks_are_listed(tmp_path: Path) -> None:
    """A folder without collection files has nothing to compare with."""
    folder = beir_folder(tmp_path, test=TSV)
    judged = read_judgements(folder)
    assert unlisted(folder, judged) == {}
    written(folder, '{"_id": "q1", "text": "?"}\n{"_id": "q 2"}\n', "queries.jsonl")
    written(folder, '{"_id": "a"}\n{"_id": "b"}\n', "corpus.jsonl")
    assert unlisted(folder, judged) == {"queries.jsonl": [], "corpus.jsonl": ["c"]}
    written(folder, '{"_id": "a"}\n{"id": "b"}\n', "corpus.jsonl")
    with pytest.raises(InputError, match=r"corpus.jsonl line 2: expected an object with a text _id, got '\{\"id"):
        unlisted(folder, judged)
    written(folder, "{", "corpus.jsonl")
    with pytest.raises(InputError, match=r"corpus.jsonl line 1 is not JSON"):
        unlisted(folder, judged)


def test_what_is_read_already_is_returned_as_it_is() -> None:
    run, judged = Rankings.from_dicts(RUN), Judgements.from_dicts(JUDGED)
    assert read_run(run) is run
    assert read_judgements(judged) is judged


@pytest.mark.parametrize("source", [7, None, [("q", "a", 1.0)], object()])
def test_what_holds_no_rankings_is_named(source: Any) -> None:
    kind = type(source).__name__
    with pytest.raises(InputError, match=rf"run must be a file's path, a dict of dicts, .* Rankings; got {kind}"):
        read_run(source)
    with pytest.raises(InputError, match=rf"judgements must be a file's path, .* Judgements; got {kind}"):
        read_judgements(source)


def test_an_audit_takes_any_of_them(tmp_path: Path) -> None:
    """The numbers do not depend on the form."""
    import pandas as pd

    plain = {"q1": {"a": 1.0, "b": 1.0}}, {"q1": {"a": 1}}
    expected = audit(*plain, ["R@1"]).to_json()
    frame = pd.DataFrame({"qid": ["q1", "q1"], "docno": ["a", "b"], "score": [1.0, 1.0]})
    runs = [
        frame,
        written(tmp_path, "q1 Q0 a 1 1 t\nq1 Q0 b 2 1 t\n", "run"),
        written(tmp_path, '{"q1": {"a": 1.0, "b": 1.0}}', "json"),
    ]
    judged = [
        pd.DataFrame({"qid": ["q1"], "docno": ["a"], "rel": [1]}),
        beir_folder(tmp_path, test=HEADER + "q1\ta\t1\n"),
    ]
    for run in runs:
        for judgements in judged:
            assert audit(run, judgements, ["R@1"]).to_json() == expected


def test_reading_files_loads_no_table_library(tmp_path: Path) -> None:
    """pandas, polars and numba take longer to load than a small audit."""
    run, judged = written(tmp_path, "q Q0 a 1 1.5 t\n", "run"), written(tmp_path, "q 0 a 1\n", "qrels")
    code = (
        "import sys; from rankwork import audit; print(audit(sys.argv[1], sys.argv[2], ['R@1']));"
        "print(*sorted({'pandas', 'polars', 'numba', 'scipy', 'torch', 'pyarrow.compute'} & set(sys.modules)))"
    )
    shown = subprocess.run(
        [sys.executable, "-c", code, str(run), str(judged)], capture_output=True, text=True, check=True
    ).stdout
    assert shown.splitlines()[-1] == ""
