"""Lines of a TREC file read by columns at the speed of C, a block at a time, and gathered into one table.

What the reader of columns cannot take is left to the reader of lines, block by block.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankwork.inputs.packed_text import WORD, Coding, PackedText, fingerprints
from rankwork.inputs.short_text import LONGEST, ShortText
from rankwork.inputs.text_blocks import BYTE_ORDER_MARK
from rankwork.rankings import Columns

RUN = ("query", "Q0", "document", "rank", "score", "tag")
JUDGEMENTS = ("query", "iteration", "document", "grade")

_CONTROLS = (b"\t", b"\v", b"\f", b"\r", b"\0")
_PAIRS = [int.from_bytes(pair, "little") for pair in (b"  ", b" \n", b"\n ")]


@dataclass(frozen=True)
class Part:
    """Some rows: the query of row i is `queries[query_codes[i]]`; `ranks` only where they were asked for."""

    queries: Sequence[str]
    query_codes: NDArray[Any]
    documents: PackedText
    numbers: NDArray[np.float64]
    ranks: NDArray[np.int64] | None

    def __len__(self) -> int:
        return len(self.numbers)


def part_of(block: bytes, names: tuple[str, ...], ranks: bool) -> Part | None:
    """The rows of whole lines, if they are well-formed; None if they must be read line by line."""
    text = block if _is_plain(block) else _normalised(block)
    if b"\0" in text or (ranks and b"0x" in text.lower()):  # Arrow would read a rank of 0x10 as 16
        return None
    if not text.isascii() and (text.startswith(BYTE_ORDER_MARK) or b"\n" + BYTE_ORDER_MARK in text):
        return None  # Arrow would take it away
    if not text.strip(b"\n"):
        return Part((), np.zeros(0, np.int32), PackedText.of(()), np.zeros(0), np.zeros(0, np.int64) if ranks else None)
    return _parsed(text, names, ranks)


def _is_plain(block: bytes) -> bool:
    """Whether there is one space between fields, and no comment or control character."""
    if any(control in block for control in _CONTROLS) or block[:1] in b" #" or block[-1:] == b" ":
        return False
    if b"#" in block and b"\n#" in block:
        return False
    pairs = [np.frombuffer(block, "<u2", (len(block) - start) // 2, start) for start in (0, 1) if len(block) > start]
    return not any((found == pair).any() for found in pairs for pair in _PAIRS)


def _normalised(text: bytes) -> bytes:
    """The text with exactly one space between fields, and no comments."""
    for space in (b"\t", b"\v", b"\f"):
        if space in text:
            text = text.replace(space, b" ")
    while b"  " in text:
        text = text.replace(b"  ", b" ")
    for edge in (b" \n", b"\n "):
        if edge in text:
            text = text.replace(edge, b"\n")
    text = text.strip(b" ")
    if text.startswith(b"#") or b"\n#" in text:
        text = re.sub(rb"(?m)^#[^\n]*\n?", b"", text)
    return text


def _parsed(text: bytes, names: tuple[str, ...], ranks: bool) -> Part | None:
    import pyarrow as pa
    from pyarrow import csv

    coded = pa.dictionary(pa.int32(), pa.string())
    types = {"query": coded, "document": pa.string(), "score": pa.float64(), "grade": pa.float64(), "rank": pa.int64()}
    wanted = [name for name in names if name in types and (name != "rank" or ranks)]
    try:
        table = csv.read_csv(
            pa.py_buffer(text),
            read_options=csv.ReadOptions(column_names=list(names), use_threads=False, block_size=len(text) + 1),
            parse_options=csv.ParseOptions(delimiter=" ", quote_char=False),
            convert_options=csv.ConvertOptions(
                column_types=types,
                include_columns=wanted,
                null_values=[],
                strings_can_be_null=False,
                check_utf8=not text.isascii(),
            ),
        )
    except (pa.ArrowInvalid, pa.ArrowCapacityError, OverflowError):
        return None
    query, document, number, *rank = (_chunk(table[name]) for name in sorted(wanted, key=_ORDER.index))
    rank_column = _array(rank[0]) if rank else None
    return Part(query.dictionary.to_pylist(), _array(query.indices), _packed(document), _array(number), rank_column)


_ORDER = ("query", "document", "score", "grade", "rank")


def _chunk(column: Any) -> Any:
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def _array(values: Any) -> NDArray[Any]:
    """An Arrow array of numbers without nulls where it lies; its own way would import pandas."""
    found: NDArray[Any] = np.from_dlpack(values)
    return found


def _packed(text: Any) -> PackedText:
    _, offsets, data = text.buffers()
    ends = np.frombuffer(offsets, np.int32, len(text) + 1, 4 * text.offset)
    return PackedText(np.frombuffer(data.to_pybytes()[: ends[-1]] + bytes(8), np.uint8), ends)


class Growing:
    """A column that grows at its end; memory that it has reserved and not filled is not in use."""

    def __init__(self, dtype: Any) -> None:
        self._values = np.empty(2**16, dtype)
        self._size = 0

    def extend(self, values: NDArray[Any]) -> None:
        """Add values behind the others."""
        end = self._size + len(values)
        if end > len(self._values):
            larger = np.empty(max(end, 2 * len(self._values)), self._values.dtype)
            larger[: self._size] = self._values[: self._size]
            self._values = larger
        self._values[self._size : end] = values
        self._size = end

    @property
    def values(self) -> NDArray[Any]:
        """What was added."""
        return self._values[: self._size]


class GrowingText:
    """A column of text IDs that grows at its end: short ones in columns of words, packed once a long one comes."""

    def __init__(self) -> None:
        self._lengths, self._words = Growing(np.uint8), list[Growing]()
        self._packed = list[PackedText]()

    def extend(self, texts: PackedText) -> NDArray[np.uint64]:
        """Add IDs behind the others; their fingerprints, taken while the text is in the processor's cache."""
        if not self._packed and int(texts.lengths.max(initial=0)) <= LONGEST:
            short = ShortText.of(texts)
            self._extend(short)
            return fingerprints(short, slice(0, len(short)))
        if not self._packed:
            self._packed = [self._short.selected(np.arange(len(self._short)))]
            self._lengths, self._words = Growing(np.uint8), []
        self._packed.append(texts)
        return texts.fingerprints()

    def _extend(self, short: ShortText) -> None:
        before = len(self._lengths.values)
        while len(self._words) < len(short.columns):
            self._words.append(Growing(np.uint64))
            self._words[-1].extend(np.zeros(before, np.uint64))
        for number, words in enumerate(self._words):
            words.extend(short.words(slice(None), WORD * number))
        self._lengths.extend(short.lengths)

    @property
    def _short(self) -> ShortText:
        return ShortText([words.values for words in self._words], self._lengths.values)

    @property
    def values(self) -> PackedText | ShortText:
        """What was added."""
        return PackedText.joined(self._packed) if self._packed else self._short


class Gathering:
    """The rows of the parts seen so far, in order of arrival."""

    def __init__(self, ranks: bool) -> None:
        self._queries: dict[str, int] = {}
        self._query_codes, self._numbers = Growing(np.int32), Growing(np.float64)
        self._ranks = Growing(np.int64) if ranks else None
        self._documents, self._prints = GrowingText(), Growing(np.uint64)

    def __len__(self) -> int:
        return len(self._numbers.values)

    @property
    def queries(self) -> set[str]:
        """The queries that have a row."""
        return set(self._queries)

    @property
    def last_query(self) -> str:
        """The query of the last row."""
        code = int(self._query_codes.values[-1])
        return list(self._queries)[code]

    def add(self, part: Part) -> None:
        """Add rows behind the others."""
        places = [self._queries.setdefault(query, len(self._queries)) for query in part.queries]
        self._query_codes.extend(np.array(places, np.int32)[part.query_codes])
        self._numbers.extend(part.numbers)
        if self._ranks is not None and part.ranks is not None:
            self._ranks.extend(part.ranks)
        self._prints.extend(self._documents.extend(part.documents))

    def columns(self) -> tuple[Columns, NDArray[np.float64], NDArray[np.int64] | None]:
        """The coded columns, the numbers and the ranks. It can be called once: text and fingerprints are given up."""
        coding = Coding.of(self._documents.values, self._prints.values)
        del self._documents, self._prints
        columns = Columns(list(self._queries), self._query_codes.values, coding.vocabulary, coding.codes)
        return columns, self._numbers.values, None if self._ranks is None else self._ranks.values
