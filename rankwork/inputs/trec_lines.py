"""Lines of a TREC file read one by one: the right answer, or an error that names file, line and value."""

import re
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankwork.errors import InputError
from rankwork.inputs.text_blocks import BYTE_ORDER_MARK
from rankwork.inputs.trec_columns import RUN
from rankwork.rankings import Columns

EXACT = 2**53  # integers below are exact in float64

_NUMBER = re.compile(rb"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_INTEGER = re.compile(rb"[+-]?[0-9]+")
_NOT_FINITE = {b"nan", b"inf", b"infinity"}


@dataclass
class Rows:
    """What was read so far; `lines` holds where each document of a query was first seen."""

    queries: list[str] = field(default_factory=list)
    documents: list[str] = field(default_factory=list)
    numbers: list[bytes] = field(default_factory=list)
    ranks: list[int] = field(default_factory=list)
    lines: dict[tuple[str, str], int] = field(default_factory=dict)

    @property
    def columns(self) -> Columns:
        """The rows in columns."""
        return Columns.of(self.queries, self.documents)

    def scores(self) -> NDArray[Any]:
        """The numbers: see `exact_numbers`."""
        return exact_numbers(self.numbers)


def exact_numbers(texts: list[bytes]) -> NDArray[Any]:
    """Decimal numbers as float64, or int64 if all are integers, one of them beyond 2**53, and all fit.

    >>> exact_numbers([b"1", b"9007199254740993"]).tolist(), exact_numbers([b".5", b"2"]).tolist()
    ([1, 9007199254740993], [0.5, 2.0])
    """
    values = np.array([float(text) for text in texts], np.float64)
    if (np.abs(values) < EXACT).all() or not all(_INTEGER.fullmatch(text) for text in texts):
        return values
    try:
        return np.array([int(text) for text in texts], np.int64)
    except OverflowError:
        return values


def whole_if_exact(values: NDArray[Any]) -> NDArray[Any]:
    """Grades as integers if all of them are."""
    if values.dtype.kind == "f" and (values == np.floor(values)).all() and (np.abs(values) < EXACT).all():
        return values.astype(np.int64)
    return values


def all_rows(name: str, text: bytes, names: tuple[str, ...], ranks: bool, unique: bool, positive: bool = False) -> Rows:
    """Every row of the text, or an InputError that names the first line that cannot be one."""
    rows = rows_of(name, text, names, ranks, unique, positive)
    if not rows.queries:
        raise InputError(f"{name} is empty: it holds comments only")
    return rows


def rows_of(
    name: str, text: bytes, names: tuple[str, ...], ranks: bool, unique: bool, positive: bool = False,
    first_line: int = 1,
) -> Rows:  # fmt: skip
    """The rows of some lines, the first of which has this number, or an InputError."""
    rows = Rows()
    for number, line in enumerate(text.split(b"\n"), first_line):
        fields = line.split()
        if fields and not fields[0].startswith(b"#"):
            _take(rows, f"{name} line {number}", number, fields, names, ranks, unique, positive)
    return rows


def _take(
    rows: Rows, place: str, number: int, fields: list[bytes], names: tuple[str, ...], ranks: bool, unique: bool,
    positive: bool,
) -> None:  # fmt: skip
    if fields[0].startswith(BYTE_ORDER_MARK):
        raise InputError(f"{place}: there is a byte order mark inside the file, as where files were put together")
    if any(b"\0" in part for part in fields):
        raise InputError(f"{place}: there is a NUL byte in it")
    _check_count(place, fields, names)
    noun = "score" if "score" in names else "grade"
    value = checked_number(place, noun, fields[names.index(noun)])
    if positive and float(value) < 0:
        raise InputError(f"{place}: grade {value.decode()} is negative")
    query, document = (decoded(place, part, fields[names.index(part)]) for part in ("query", "document"))
    earlier = rows.lines.setdefault((query, document), number)
    if unique and earlier != number:
        raise InputError(f"{place}: document {document!r} of query {query!r} was given on line {earlier} already")
    rows.queries.append(query)
    rows.documents.append(document)
    rows.numbers.append(value)
    if ranks:
        rows.ranks.append(_checked_rank(place, fields[names.index("rank")]))


def _check_count(place: str, fields: list[bytes], names: tuple[str, ...]) -> None:
    wanted = f"{len(names)} fields ({' '.join(names)})"
    if len(fields) < len(names):
        raise InputError(f"{place}: expected {wanted}, got {len(fields)}")
    if len(fields) > len(names) and (names != RUN or _looks_shifted(fields)):
        raise InputError(f"{place}: expected {wanted}, got {len(fields)}; an ID must not hold a space")


def _looks_shifted(fields: list[bytes]) -> bool:
    """Whether a space inside an ID can have moved the fields: rank is no integer, or the tag looks like a score."""
    return not _INTEGER.fullmatch(fields[3]) or _NUMBER.fullmatch(fields[5]) is not None


def checked_number(place: str, noun: str, value: bytes) -> bytes:
    """A finite decimal number as it stands, or an InputError."""
    if value.lower().lstrip(b"+-") in _NOT_FINITE:
        raise InputError(f"{place}: {noun} {shown(value)} is not finite")
    if not _NUMBER.fullmatch(value):
        raise InputError(f"{place}: {noun} {shown(value)} is not a number")
    if float(value) in (float("inf"), float("-inf")):
        raise InputError(f"{place}: {noun} {shown(value)} is beyond the range of float64")
    return value


def _checked_rank(place: str, value: bytes) -> int:
    if not _INTEGER.fullmatch(value) or not -(2**63) <= int(value) < 2**63:
        raise InputError(f"{place}: rank {shown(value)} is not an integer")
    return int(value)


def decoded(place: str, noun: str, value: bytes) -> str:
    """An ID as text, or an InputError."""
    try:
        return value.decode()
    except UnicodeDecodeError as error:
        raise InputError(f"{place}: {noun} ID {shown(value)} is not UTF-8") from error


def shown(value: bytes) -> str:
    """A value for a message, the beginning of a long one."""
    return repr(value[:40].decode(errors="backslashreplace") + ("…" if len(value) > 40 else ""))
