"""Traces in columns: a batch of them as numpy arrays, cut by stage, so that work on items is work on integers.

IDs are codes into the vocabulary of the batch. What is not known is -1 among codes, 0 among counts and ranks (which
start at 1), NaN among scores.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rankwork.trace import Trace

if TYPE_CHECKING:
    import pyarrow as pa

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

TRACES_AT_ONCE = 1024


@dataclass(frozen=True, eq=False)
class Coded:
    """Texts as codes into the words of a batch; -1 is none."""

    codes: Ints
    words: tuple[str, ...]

    @classmethod
    def of(cls, column: Any) -> "Coded":
        """An Arrow column of text, dictionary-encoded or plain."""
        encoded = encode(column)
        return cls(filled(encoded.indices, -1), tuple(encoded.dictionary.to_pylist()))

    def where(self, word: str) -> Bools:
        """Which of them are this word."""
        if word not in self.words:
            return np.zeros(len(self.codes), bool)
        return np.asarray(self.codes == self.words.index(word))

    def text(self, row: int) -> str | None:
        """The word of a row."""
        return self.words[self.codes[row]] if self.codes[row] >= 0 else None

    def rows(self, rows: Any) -> "Coded":
        """Some of the rows."""
        if not self.words:  # a column that nobody filled: all are -1
            return Coded(np.broadcast_to(np.int64(-1), len(rows)), ())
        return Coded(self.codes[rows], self.words)


@dataclass(frozen=True, eq=False)
class Items:
    """The items of some stages: `id` and `previous` are codes of the batch's IDs, `of` the stage that holds each."""

    id: Ints
    previous: Ints
    rank: Ints
    score: Floats
    kept: Bools
    reason: Coded
    acl: Coded
    tenant: Coded
    source: Coded
    revision: Coded
    of: Ints

    def rows(self, rows: Any) -> "Items":
        """Some of them."""
        return Items(**{name: _rows(getattr(self, name), rows) for name in self.__dataclass_fields__})


@dataclass(frozen=True, eq=False)
class Stages:
    """All stages of a batch, trace by trace: `trace` says whose each is; its items are `start[i]` to `start[i + 1]`."""

    trace: Ints
    kind: Coded
    route: Coded
    requested: Ints
    returned: Ints
    complete: Bools
    window: Ints
    order: Coded
    status: Coded
    parameters: Coded
    start: Ints

    @cached_property
    def name(self) -> Coded:
        """The kind, with its route where it has one, as `Stage.name` has it."""
        width = len(self.route.words) + 1
        pairs, codes = np.unique(self.kind.codes * width + self.route.codes + 1, return_inverse=True)
        names = tuple(self._named(int(pair) // width, int(pair) % width - 1) for pair in pairs)
        return Coded(codes.astype(np.int64), names)

    def _named(self, kind: int, route: int) -> str:
        text = self.route.words[route] if route >= 0 else ""
        return f"{self.kind.words[kind]}:{text}" if text else self.kind.words[kind]


@dataclass(frozen=True, eq=False)
class TraceColumns:
    """A batch of traces; `batch` is the record batch that they came in, of `rankwork.inputs.traces.trace_schema()`."""

    batch: "pa.RecordBatch"
    cases: list[str]
    ids: Any
    stages: Stages
    items: Items

    @classmethod
    def of(cls, batch: "pa.RecordBatch") -> "TraceColumns":
        """The columns of a record batch; nothing is checked here."""
        traces, of_trace, _ = _flat(batch.column("stages"))
        columns = _children(traces)
        rows, of_stage, item_start = _flat(columns["items"])
        items = _children(rows)
        ids = encode(items["id"])
        codes, previous, vocabulary = _one_vocabulary(ids, encode(items["previous_id"]))
        words = {name: Coded.of(items[name]) for name in ("acl", "tenant", "source", "revision")}
        return cls(
            batch,
            batch.column("case").to_pylist(),
            vocabulary,
            Stages(
                trace=of_trace,
                requested=filled(columns["requested"], 0),
                returned=filled(columns["returned"], 0),
                complete=filled(columns["complete"], False),
                window=filled(columns["window"], 0),
                start=item_start,
                **{name: Coded.of(columns[name]) for name in ("kind", "route", "order", "status", "parameters")},
            ),
            Items(
                id=codes,
                previous=previous,
                rank=filled(items["rank"], 0),
                score=filled(items["score"], np.nan),
                kept=filled(items["kept"], True),
                reason=Coded.of(items["drop_reason"]),
                of=of_stage,
                **words,
            ),
        )

    def __len__(self) -> int:
        return len(self.cases)

    def codes_of(self, ids: list[str]) -> Ints:
        """The codes of these IDs, -1 for one that no item bears."""
        import pyarrow as pa
        from pyarrow import compute

        wanted = pa.array(ids, pa.string())
        codes: Ints = filled(compute.index_in(wanted, value_set=self.ids), -1)
        return codes

    def texts(self, name: str) -> list[Any]:
        """A column of the traces themselves, as Python values."""
        column = self.batch.column(name)
        if column.null_count == len(column):
            return [None] * len(column)
        values: list[Any] = column.to_pylist()
        return values


def batches_of(traces: Iterable[Trace]) -> "Iterator[pa.RecordBatch]":
    """The record batches of traces in memory, a bounded number of them at a time."""
    import pyarrow as pa

    from rankwork.inputs.trace_tables import row_of, trace_schema

    schema, stream = trace_schema(), iter(traces)
    while held := list(islice(stream, TRACES_AT_ONCE)):
        yield pa.RecordBatch.from_pylist([row_of(trace) for trace in held], schema=schema)


def encode(column: Any) -> Any:
    """The column as a dictionary array."""
    import pyarrow as pa

    return column if pa.types.is_dictionary(column.type) else column.dictionary_encode()


def filled(column: Any, default: Any) -> Any:
    """An Arrow column as numpy has it, nulls replaced; integers as int64."""
    values = column.fill_null(default).to_numpy(zero_copy_only=False) if column.null_count else _plain(column)
    return values.astype(np.int64, copy=False) if values.dtype.kind in "iu" else values


def _plain(column: Any) -> NDArray[Any]:
    values: NDArray[Any] = column.to_numpy(zero_copy_only=False)
    return values


def _flat(column: Any) -> tuple[Any, Ints, Ints]:
    """A list column's values, the row that each belongs to, and where each row starts among them."""
    lengths = filled(column.value_lengths(), 0)
    start = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=start[1:])
    return column.flatten(), np.repeat(np.arange(len(lengths)), lengths), start


def _children(struct: Any) -> dict[str, Any]:
    return dict(zip((field.name for field in struct.type), struct.flatten(), strict=True))


def _one_vocabulary(ids: Any, previous: Any) -> tuple[Ints, Ints, Any]:
    """The codes of IDs and of previous IDs in one vocabulary, which holds those of `ids` first."""
    import pyarrow as pa
    from pyarrow import compute

    if not len(previous.dictionary):
        return filled(ids.indices, -1), np.full(len(previous), -1, np.int64), ids.dictionary
    known = compute.index_in(previous.dictionary, value_set=ids.dictionary)
    new = previous.dictionary.filter(known.is_null())
    vocabulary = pa.concat_arrays([ids.dictionary, new])
    place = filled(compute.index_in(previous.dictionary, value_set=vocabulary), -1)
    codes = filled(previous.indices, -1)
    in_vocabulary = np.where(codes >= 0, place[codes], -1) if len(place) else codes
    return filled(ids.indices, -1), in_vocabulary, vocabulary


def _rows(column: Any, rows: Any) -> Any:
    return column.rows(rows) if isinstance(column, Coded) else column[rows]
