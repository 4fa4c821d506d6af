"""Tables of three libraries and parquet files give the same rankings, or a sentence that names row and column."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

from rankwork.errors import ContractError, InputError
from rankwork.inputs.frames import judgements_of, rankings_of
from rankwork.inputs.sources import read_judgements, read_run
from rankwork.rankings import Rankings

COLUMNS: dict[str, Any] = {
    "qid": ["1", "2", "1", "1"],
    "docno": ["a", "a", "é", "b"],
    "score": np.array([0.5, 2, 0.25, 0.5], np.float32),
}
ROWS = {"1": [("a", 0.5), ("é", 0.25), ("b", 0.5)], "2": [("a", 2.0)]}

Maker = Callable[[dict[str, Any]], Any]


def of_polars(columns: dict[str, Any]) -> Any:
    return pytest.importorskip("polars").DataFrame(columns)


def of_polars_categories(columns: dict[str, Any]) -> Any:
    polars = pytest.importorskip("polars")
    texts = [name for name, values in columns.items() if isinstance(values[0], str)]
    return polars.DataFrame(columns).with_columns(polars.col(texts).cast(polars.Categorical))


def of_pandas_typed(kind: str) -> Maker:
    def make(columns: dict[str, Any]) -> Any:
        texts = {name: kind for name, values in columns.items() if isinstance(values[0], str)}
        return pd.DataFrame(columns).astype(texts)

    return make


def in_chunks(columns: dict[str, Any]) -> Any:
    table = pa.table(columns)
    return pa.concat_tables([table.slice(0, 1), table.slice(1, 0), table.slice(1)])


def in_arrow_types(text: Any) -> Maker:
    def make(columns: dict[str, Any]) -> Any:
        table = pa.table(columns)
        kinds = [text if field.type == pa.string() else field.type for field in table.schema]
        return pa.table(
            [column.cast(kind) for column, kind in zip(table.columns, kinds, strict=True)], table.schema.names
        )

    return make


MAKERS: dict[str, Maker] = {
    "pandas": pd.DataFrame,
    "pandas, objects": of_pandas_typed("object"),
    "pandas, categories": of_pandas_typed("category"),
    "pandas, arrow": of_pandas_typed("string[pyarrow]"),
    "polars": of_polars,
    "polars, categories": of_polars_categories,
    "pyarrow": pa.table,
    "pyarrow, chunks": in_chunks,
    "pyarrow, large text": in_arrow_types(pa.large_string()),
    "pyarrow, text views": in_arrow_types(pa.string_view()),
    "pyarrow, dictionary": in_arrow_types(pa.dictionary(pa.int8(), pa.string())),
    "a batch": pa.RecordBatch.from_pydict,
}

each_maker = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
each_library = pytest.mark.parametrize("make", [pd.DataFrame, of_polars, pa.table], ids=["pandas", "polars", "pyarrow"])


def rows_of(run: Rankings) -> dict[str, Any]:
    return {query: run.rows(query) for query in run.queries}


@each_maker
def test_one_run_in_many_tables(make: Maker) -> None:
    """The same rankings, and float32 stays float32."""
    run = read_run(make(COLUMNS))
    assert rows_of(run) == ROWS
    assert run.scores.dtype == np.float32


@each_library
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int8", "int64", "uint64"])
def test_scores_keep_their_type(make: Maker, dtype: str) -> None:
    """int64 stays exact beyond 2**53."""
    scores = np.array([3, 1, 2, 2], dtype)
    if dtype == "int64":
        scores += 2**53
    run = read_run(make({**COLUMNS, "score": scores}))
    assert run.scores.dtype == np.dtype(dtype)
    assert sorted(run.scores.tolist()) == sorted(scores.tolist())


@each_library
def test_integer_documents_stay_integers(make: Maker) -> None:
    """10 after 9, not before it."""
    run = read_run(make({"q_id": ["1", "1"], "docid": [10, 9], "score": [1.0, 1.0]}))
    assert run.id_kind == "integer"
    assert run.documents[run.codes[run.order("id_asc")]].tolist() == [9, 10]


@each_library
def test_judgements_of_tables(make: Maker) -> None:
    judged = read_judgements(make({"query_id": ["1", "1"], "doc_id": ["a", "b"], "relevance": [2, 0]}))
    assert judged.grades_of("1") == {"a": 2, "b": 0}
    assert judged.grades.dtype == np.int64
    with pytest.raises(ContractError, match=r"grade -1 of query '1', document 'b' \(row 1\) is negative"):
        read_judgements(make({"query_id": ["1", "1"], "doc_id": ["a", "b"], "label": [2, -1]}))
    lenient = read_judgements(make({"qid": ["1", "1"], "docno": ["a", "b"], "rel": [0.5, -1]}), negative="unjudged")
    assert (lenient.grades_of("1"), lenient.negatives) == ({"a": 0.5}, 1)


@each_library
def test_ranks_are_taken_when_asked_for(make: Maker) -> None:
    table = make({**COLUMNS, "rank": [3, 1, 1, 2]})
    assert rankings_of(table).ranks is None
    ranks = rankings_of(table, ranks=True).ranks
    assert ranks is not None
    assert ranks.tolist() == [3, 1, 2, 1]
    assert rankings_of(make(COLUMNS), ranks=True).ranks is None
    with pytest.raises(InputError, match=r"column 'rank' must hold integers, it holds"):
        rankings_of(make({**COLUMNS, "rank": [1.5, 1, 1, 2]}), ranks=True)


@each_library
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"score": [1.0, float("nan"), 2.0, 3.0]}, r"column 'score', row 1: nan is not a finite score"),
        ({"score": [1.0, 1.0, float("-inf"), 3.0]}, r"column 'score', row 2: -inf is not a finite score"),
        ({"score": ["1", "2", "3", "4"]}, r"column 'score' must hold numbers, it holds (large_|)string"),
        ({"score": [True, False, True, True]}, r"column 'score' must hold numbers, it holds bool"),
        ({"docno": ["a", None, "b", "c"]}, r"column 'docno', row 1: there is no value"),
        ({"qid": ["1", "1", "1", None]}, r"column 'qid', row 3: there is no value"),
        ({"qid": [1, 1, 2, 2]}, r"column 'qid': query IDs must be text, got 1: turn them into text"),
        ({"docno": [1.0, 2.0, 3.0, 4.0]}, r"column 'docno' must hold text or integers, it holds"),
        (
            {"docno": np.array([2**64 - 1, 1, 2, 3], np.uint64)},
            r"column 'docno', row 0: integer document IDs must fit int64, got 1844674407",
        ),
        (
            {"doc_id": ["a", "b", "c", "d"]},
            r"columns 'docno' and 'doc_id' could both be the document: keep one of them",
        ),
        ({"docno": ["a", "a", "b", "a"]}, r"query '1' holds document 'a' twice, in rows 0 and 3"),
    ],
)
def test_what_a_table_cannot_be_is_named(make: Maker, change: dict[str, Any], message: str) -> None:
    """Row and column, and what was expected there."""
    with pytest.raises((InputError, ContractError), match=message):
        read_run(make({**COLUMNS, **change}))


@each_library
def test_missing_scores_are_no_scores(make: Maker) -> None:
    with pytest.raises(InputError, match=r"column 'score', row 1: (there is no value|nan is not a finite score)"):
        read_run(make({**COLUMNS, "score": [1.0, None, 2.0, 3.0]}))


@each_library
def test_a_missing_column_is_named_with_what_would_do(make: Maker) -> None:
    columns = {"qid": ["1"], "document": ["a"], "value": [1.0]}
    with pytest.raises(InputError, match=r"no column for the score: expected score; got qid, document, value"):
        read_run(make(columns))
    with pytest.raises(InputError, match=r"no column for the grade: expected grade, relevance, rel, label; got qid"):
        read_judgements(make(columns))


def test_mixed_ids_are_refused_with_their_rows() -> None:
    """Only an object column can mix them."""
    table = pd.DataFrame({**COLUMNS, "docno": pd.Series(["a", "b", 3, "c"], dtype=object)})
    with pytest.raises(InputError, match=r"column 'docno' must hold values of one kind, got 'a' in row 0, 3 in row 2"):
        read_run(table)


def test_columns_that_are_there_twice_are_ambiguous() -> None:
    table = pd.DataFrame([["1", "a", 1.0, 2.0]], columns=["qid", "docno", "score", "score"])
    with pytest.raises(InputError, match=r"columns 'score' and 'score' could both be the score"):
        read_run(table)


def test_a_frame_without_rows_yet_says_how_to_get_them() -> None:
    lazy = of_polars(COLUMNS).lazy()
    with pytest.raises(InputError, match=r"a LazyFrame has no rows yet: call its collect\(\)"):
        read_run(lazy)


def test_a_column_alone_is_no_table() -> None:
    with pytest.raises(InputError, match=r"a Series is no table"):
        read_run(pd.Series([1.0]))


@each_library
def test_a_table_without_rows_is_a_run_without_queries(make: Maker) -> None:
    table = make(COLUMNS)
    assert read_run(table.iloc[:0] if make is pd.DataFrame else table.slice(0, 0)).queries == ()


def test_pandas_numbers_are_taken_where_they_lie() -> None:
    """A column in query order is not copied before it is grouped."""
    from rankwork.inputs.frames import _Table

    frame = pd.DataFrame({"qid": ["1", "1"], "docno": ["a", "b"], "score": [1.0, 2.0]})
    assert np.shares_memory(_Table(frame).numbers("score"), frame["score"].to_numpy())


def test_parquet_files_are_read_by_column(tmp_path: Path) -> None:
    """Other columns may hold anything; judgements with a negative grade are unjudged, as in any file."""
    parquet.write_table(pa.table({**COLUMNS, "note": [None] * 4}), tmp_path / "run.parquet")
    run = read_run(tmp_path / "run.parquet")
    assert rows_of(run) == ROWS
    assert run.scores.dtype == np.float32
    table = pa.table({"qid": ["1", "1"], "docno": ["a", "b"], "label": [1, -1]})
    parquet.write_table(table, tmp_path / "qrels.parquet")
    judged = read_judgements(tmp_path / "qrels.parquet")
    assert (judged.grades_of("1"), judged.negatives) == ({"a": 1}, 1)


def test_a_damaged_parquet_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "run.parquet"
    parquet.write_table(pa.table(COLUMNS), path)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(InputError, match=r"run.parquet is no parquet file that can be read") as refusal:
        read_run(path)
    assert str(tmp_path) not in str(refusal.value)


def test_tables_of_judgements_are_read_directly_too() -> None:
    assert judgements_of(pa.table({"qid": ["1"], "docno": ["a"], "grade": [3]})).grades_of("1") == {"a": 3}
