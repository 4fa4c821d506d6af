"""Tables in memory and parquet files: pandas, polars, pyarrow and whatever else hands out Arrow columns.

No library is imported that the table's owner has not imported: a table is known by its ways. Columns are taken as they
lie, without a loop over rows; scores keep their type.

>>> import pyarrow as pa
>>> run = rankings_of(pa.table({"qid": ["1", "1"], "docno": ["a", "b"], "score": pa.array([0.5, 0.25], pa.float32())}))
>>> run.rows("1"), run.scores.dtype.name
([('a', 0.5), ('b', 0.25)], 'float32')
"""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankwork.errors import InputError
from rankwork.inputs.packed_text import Coding, PackedText
from rankwork.rankings import Columns, Duplicates, Judgements, Negatives, Rankings

NAMES = {
    "query": ("query", "query_id", "qid", "q_id", "query-id"),
    "document": ("document", "document_id", "doc_id", "docid", "docno", "corpus-id"),
    "score": ("score",),
    "rank": ("rank",),
    "grade": ("grade", "relevance", "rel", "label"),
}


def rankings_of(table: Any, *, ranks: bool = False, duplicates: Duplicates = "refuse") -> Rankings:
    """The rankings of a table with one row a result: columns for query, document and score, under any of their `NAMES`.

    Scores keep their type; document IDs are text or integers, query IDs text. `ranks` takes the rank column too, if
    there is one. InputError, with row (from 0) and column, for a missing or ambiguous column, null, NaN, infinity, and
    IDs that are mixed or of another type; ContractError for duplicates.
    """
    taken = _Table(table)
    columns = _columns(taken)
    scores = taken.numbers("score")
    rank_column = taken.numbers("rank", whole=True) if ranks and taken.has("rank") else None
    return Rankings.of_columns(columns, scores, rank_column, duplicates=duplicates)


def judgements_of(table: Any, *, negative: Negatives = "refuse", duplicates: Duplicates = "refuse") -> Judgements:
    """The judgements of a table with one row a judgement: columns for query, document and grade. Errors as above.

    >>> import pyarrow as pa
    >>> judgements_of(pa.table({"qid": ["1"], "docno": ["a"], "label": [2]})).grades_of("1")
    {'a': 2}
    """
    taken = _Table(table)
    return Judgements.of_columns(_columns(taken), taken.numbers("grade"), negative=negative, duplicates=duplicates)


def is_table(value: Any) -> bool:
    """Whether something is a table for `rankings_of`: it hands out Arrow columns, or it is a pandas or lazy frame."""
    return hasattr(value, "__arrow_c_stream__") or _library(value) in ("pandas", "polars")


def read_table(path: str | os.PathLike[str], *, judgements: bool = False) -> Any:
    """The columns of a parquet file that rankings, or judgements, need. InputError for a file that is none."""
    import pyarrow as pa
    from pyarrow import parquet

    name = Path(path).name
    try:
        with parquet.ParquetFile(path) as file:
            given = file.schema_arrow.names
            roles = ("query", "document", "grade") if judgements else ("query", "document", "score", "rank")
            return file.read([column for role in roles for column in _matches(given, role)])
    except OSError as error:
        raise InputError(f"{name} cannot be read: {error.strerror or error}") from error
    except pa.ArrowException as error:
        raise InputError(f"{name} is no parquet file that can be read: {error}") from error


def _library(value: Any) -> str:
    return type(value).__module__.split(".")[0]


class _Table:
    """A table whose columns are asked for by what they mean."""

    def __init__(self, table: Any) -> None:
        if hasattr(type(table), "collect"):
            raise InputError(f"a {type(table).__name__} has no rows yet: call its collect()")
        self._pandas = _library(table) == "pandas" and hasattr(type(table), "columns")
        self._table = table if self._pandas else _arrow_table(table)
        self._taken: dict[str, Sequence[Any]] = {}
        self._given = list(table.columns) if self._pandas else self._table.column_names

    def has(self, role: str) -> bool:
        """Whether there is a column for this role."""
        return bool(_matches(self._given, role))

    def name(self, role: str) -> Any:
        """The one column for this role."""
        found = _matches(self._given, role)
        if len(found) > 1:
            raise InputError(f"columns {' and '.join(map(repr, found))} could both be the {role}: keep one of them")
        if not found:
            there = ", ".join(str(column) for column in self._given) or "none"
            raise InputError(f"there is no column for the {role}: expected {', '.join(NAMES[role])}; got {there}")
        return found[0]

    def numbers(self, role: str, *, whole: bool = False) -> NDArray[Any]:
        """A column of finite numbers in its own type; `whole` ones are integers."""
        values = self._numeric(role)
        noun = "integers" if whole else "numbers"
        if values is None or values.dtype.kind not in ("iu" if whole else "fiu"):
            kind = self._type(role) if values is None else values.dtype
            raise InputError(f"column {self.name(role)!r} must hold {noun}, it holds {kind}")
        if values.dtype.kind == "f" and not np.isfinite(values).all():
            row = int(np.argmin(np.isfinite(values)))
            raise InputError(f"column {self.name(role)!r}, row {row}: {values[row].item()!r} is not a finite {role}")
        return values

    def ids(self, role: str) -> PackedText | NDArray[Any]:
        """A column of IDs: text, or integers in int64."""
        values = self._numeric(role)
        if values is not None and values.dtype.kind in "iu":
            return values
        pieces = None if values is not None else [_text(piece) for piece in self._arrow(role)]
        if pieces is None or any(piece is None for piece in pieces):
            raise InputError(f"column {self.name(role)!r} must hold text or integers, it holds {self._type(role)}")
        return PackedText.joined([piece for piece in pieces if piece is not None])

    def _numeric(self, role: str) -> NDArray[Any] | None:
        """The numbers of a column where they lie; None if it holds none."""
        if self._pandas and isinstance(self._table[self.name(role)].dtype, np.dtype):
            series = self._table[self.name(role)]
            if series.dtype.kind in "fiu":
                return np.asarray(series.to_numpy())
        pieces = [_numbers(piece) for piece in self._arrow(role)]
        found = [piece for piece in pieces if piece is not None]
        if not found or len(found) < len(pieces):
            return None
        return found[0] if len(found) == 1 else np.concatenate(found)

    def _arrow(self, role: str) -> Sequence[Any]:
        """The Arrow arrays of a column, without nulls; at least one."""
        name = self.name(role)
        if role not in self._taken:
            column = _of_series(self._table[name], name) if self._pandas else self._table[name]
            pieces = getattr(column, "chunks", [column]) or [column.combine_chunks()]
            _check_nulls(name, pieces)
            self._taken[role] = pieces
        return self._taken[role]

    def _type(self, role: str) -> str:
        return str(self._arrow(role)[0].type)


def _columns(table: _Table) -> Columns:
    """The coded IDs of a table."""
    queries, documents = table.ids("query"), table.ids("document")
    if not isinstance(queries, PackedText):
        first = repr(queries[0].item()) if len(queries) else "integers"
        raise InputError(f"column {table.name('query')!r}: query IDs must be text, got {first}: turn them into text")
    of_query = Coding.of(queries, queries.fingerprints())
    if isinstance(documents, PackedText):
        of_document = Coding.of(documents, documents.fingerprints())
        return Columns(of_query.vocabulary.tolist(), of_query.codes, of_document.vocabulary, of_document.codes)
    _check_int64(table.name("document"), documents)
    vocabulary, codes = np.unique(documents.astype(np.int64), return_inverse=True)
    return Columns(of_query.vocabulary.tolist(), of_query.codes, vocabulary, codes.astype(np.int32))


def _check_int64(name: Any, documents: NDArray[Any]) -> None:
    beyond = documents > np.iinfo(np.int64).max if documents.dtype.kind == "u" else np.zeros(0, bool)
    if beyond.any():
        row = int(np.argmax(beyond))
        raise InputError(f"column {name!r}, row {row}: integer document IDs must fit int64, got {documents[row]}")


def _matches(given: Sequence[Any], role: str) -> list[Any]:
    return [column for column in given if isinstance(column, str) and column.lower() in NAMES[role]]


def _arrow_table(table: Any) -> Any:
    import pyarrow as pa

    if isinstance(table, pa.Table):
        return table
    if isinstance(table, pa.RecordBatch):
        return pa.Table.from_batches([table])
    try:
        return pa.RecordBatchReader.from_stream(table).read_all()
    except (pa.ArrowInvalid, TypeError) as error:  # a single column hands out a stream too, but not of rows
        raise InputError(f"a {type(table).__name__} is no table: expected one with columns to name") from error


def _of_series(series: Any, name: Any) -> Any:
    """A pandas column in Arrow, missing values as nulls."""
    import pyarrow as pa

    try:
        return pa.array(series, from_pandas=True)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError) as error:
        values = series.tolist()
        row = next((row for row, value in enumerate(values) if type(value) is not type(values[0])), 0)
        shown = f"{values[0]!r} in row 0, {values[row]!r} in row {row}" if row else repr(values[0])
        raise InputError(f"column {name!r} must hold values of one kind, got {shown}") from error


def _check_nulls(name: Any, pieces: Sequence[Any]) -> None:
    start = 0
    for piece in pieces:
        if piece.null_count:
            row = start + piece.is_null().to_pylist().index(True)
            raise InputError(f"column {name!r}, row {row}: there is no value")
        start += len(piece)


def _numbers(piece: Any) -> NDArray[Any] | None:
    """An Arrow array of numbers as NumPy's, where it lies; None for any other."""
    import pyarrow as pa

    if not (pa.types.is_floating(piece.type) or pa.types.is_integer(piece.type)):
        return None
    dtype = np.dtype(piece.type.to_pandas_dtype())
    data = piece.buffers()[1]
    return np.zeros(0, dtype) if data is None else np.frombuffer(data, dtype, len(piece), piece.offset * dtype.itemsize)


def _text(piece: Any) -> PackedText | None:
    """An Arrow array of text, packed; None for any other."""
    import pyarrow as pa

    if pa.types.is_dictionary(piece.type):
        words, places = _text(piece.dictionary), _numbers(piece.indices)
        return None if words is None or places is None else words.selected(places.astype(np.int64))
    if piece.type == pa.string_view():
        piece = piece.cast(pa.large_string())
    if not (pa.types.is_string(piece.type) or pa.types.is_large_string(piece.type)):
        return None
    _, offsets, data = piece.buffers()
    wide = np.dtype(np.int32 if pa.types.is_string(piece.type) else np.int64)
    if offsets is None or not len(piece):
        return PackedText.of(())
    ends = np.frombuffer(offsets, wide, len(piece) + 1, piece.offset * wide.itemsize)
    text = np.zeros(0, np.uint8) if data is None else np.frombuffer(data, np.uint8)
    return PackedText(np.concatenate((text[ends[0] : ends[-1]], np.zeros(8, np.uint8))), ends - ends[0])
