"""Lines of a TREC file read by columns at the speed of C, a block at a time, and gathered into one table.

What the reader of columns cannot take is left to the reader of lines, block by block.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankwork.inputs.packed_text import Coding, PackedText
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
                column_types=types, include_columns=wanted, null_values=[], strings_can_be_null=False
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


class Gathering:
    """The rows of the parts seen so far, in order of arrival."""

    def __init__(self) -> None:
        self.parts: list[Part] = []
        self._prints: list[NDArray[np.uint64]] = []

    def __len__(self) -> int:
        return sum(map(len, self.parts))

    def add(self, part: Part) -> None:
        """Add rows behind the others."""
        if len(part):
            self.parts.append(part)
            self._prints.append(part.documents.fingerprints())  # while the text is in the processor's cache

    def columns(self) -> tuple[Columns, NDArray[np.float64], NDArray[np.int64] | None]:
        """The coded columns, the numbers and the ranks; what was gathered is given up, to need no more memory."""
        parts, self.parts = self.parts, []
        queries, query_codes = _queries(parts)
        numbers = np.concatenate([part.numbers for part in parts])
        ranks = [part.ranks for part in parts if part.ranks is not None]
        prints, self._prints = np.concatenate(self._prints), []
        documents = PackedText.joined([part.documents for part in parts])
        del parts[:]
        coding = Coding.of(documents, prints)
        columns = Columns(queries, query_codes, coding.vocabulary, coding.codes)
        return columns, numbers, np.concatenate(ranks) if ranks else None


def _queries(parts: Sequence[Part]) -> tuple[list[str], NDArray[np.int32]]:
    """The queries in order of first appearance, and each row's place among them."""
    places: dict[str, int] = {}
    codes = []
    for part in parts:
        known = np.array([places.setdefault(query, len(places)) for query in part.queries], np.int32)
        codes.append(known[part.query_codes])
    return list(places), np.concatenate(codes)
