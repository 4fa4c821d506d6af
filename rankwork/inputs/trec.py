"""TREC files: a run has lines of `query Q0 document rank score tag`, judgements of `query iteration document grade`.

Plain or gzip, told by content; fields parted by tabs or any number of spaces; any line ends, a missing last one too;
lines that begin with `#` are comments. A file is read by columns at the speed of C; what that cannot take is read again
line by line, which gives the right answer or names the line.
"""

import gzip
import os
import re
import zlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankwork.errors import ContractError, InputError
from rankwork.inputs.arrow_text import ArrowText, numbers_of
from rankwork.rankings import Columns, Duplicates, Judgements, Negatives, Rankings

_RUN = ("query", "Q0", "document", "rank", "score", "tag")
_JUDGEMENTS = ("query", "iteration", "document", "grade")
_NUMBER = re.compile(rb"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_INTEGER = re.compile(rb"[+-]?[0-9]+")
_NOT_FINITE = {b"nan", b"inf", b"infinity"}
_BLOCK = 2**20  # bytes parsed at a time: what a processor's cache holds
_EXACT = 2**53  # integers up to here are exact in float64


def read_run(path: str | os.PathLike[str], *, ranks: bool = False, duplicates: Duplicates = "refuse") -> Rankings:
    """The rankings of a TREC run; scores become float64, or int64 if all are integers and one is beyond 2**53.

    `ranks` reads the rank column too, for the order `rank`. Text behind the tag is ignored, as trec_eval does, unless a
    space in a document's ID could have put it there. InputError, with file and line, for too few fields, a score or
    rank that is not a finite number, a document twice in one query (with `duplicates="keep_first"` the one that scores
    highest stays), a file that is empty, truncated or not UTF-8.
    """
    columns = _fast_columns(path, _RUN, ranks)
    if columns is not None:
        with suppress(ContractError):
            return Rankings.of_columns(*columns, duplicates=duplicates)
    rows = _careful_rows(*_text_of(path), _RUN, ranks, duplicates == "refuse")
    return Rankings.of_columns(rows.columns, rows.scores(), rows.ranks if ranks else None, duplicates=duplicates)


def read_judgements(
    path: str | os.PathLike[str], *, negative: Negatives = "unjudged", duplicates: Duplicates = "refuse"
) -> Judgements:
    """The judgements of a TREC file; grades become int64, or float64 if one of them is no integer.

    A negative grade means unjudged: the row is left out and counted in `negatives`, or with `negative="refuse"` an
    InputError. InputErrors as for `read_run`.
    """
    columns = _fast_columns(path, _JUDGEMENTS, False)
    if columns is not None:
        with suppress(ContractError):
            return Judgements.of_columns(
                columns[0], _whole_if_exact(columns[1]), negative=negative, duplicates=duplicates
            )
    rows = _careful_rows(*_text_of(path), _JUDGEMENTS, False, duplicates == "refuse", negative == "refuse")
    grades = _whole_if_exact(rows.scores())
    return Judgements.of_columns(rows.columns, grades, negative=negative, duplicates=duplicates)


def write_run(rankings: Rankings, path: str | os.PathLike[str], *, tag: str = "rankwork") -> None:
    """Write a run, gzip if the name ends in `.gz`; the file appears complete or not at all.

    Rows keep their order; the rank is the rank column, or the position in the list. Scores are written so that they
    read back as the same numbers. InputError for an ID with a space in it and for a folder that cannot be written.
    """
    target = Path(path)
    data = "".join(run_lines(rankings, tag=tag)).encode()
    if target.suffix == ".gz":
        data = gzip.compress(data, mtime=0)
    scratch = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        scratch.write_bytes(data)
        scratch.replace(target)
    except OSError as error:
        with suppress(OSError):
            scratch.unlink()
        raise InputError(f"{target.name} cannot be written: {error.strerror}") from error


def run_lines(rankings: Rankings, *, tag: str = "rankwork") -> Iterator[str]:
    r"""The lines of a run, each with its line end.

    >>> list(run_lines(Rankings.from_dicts({"q": {"a": 0.5, "b": 2}})))
    ['q Q0 a 1 0.5 rankwork\n', 'q Q0 b 2 2.0 rankwork\n']
    """
    documents = [_writable(str(document), "document ID") for document in rankings.documents.tolist()]
    queries = [_writable(query, "query ID") for query in rankings.queries]
    _writable(tag, "tag")
    ranks = rankings.ranks
    if ranks is None:
        ranks = np.arange(len(rankings)) - rankings.offsets[rankings.query_of_row] + 1
    columns = (rankings.query_of_row.tolist(), rankings.codes.tolist(), ranks.tolist(), _written(rankings.scores))
    for query, code, rank, score in zip(*columns, strict=True):
        yield f"{queries[query]} Q0 {documents[code]} {rank} {score} {tag}\n"


def _writable(text: str, noun: str) -> str:
    if not text or len(text.split()) != 1 or text != text.strip() or (text[0] == "#" and noun == "query ID"):
        problem = "it is empty, holds a space or opens a comment"
        raise InputError(f"{noun} {text!r} cannot be written in the TREC format: {problem}")
    return text


def _written(scores: NDArray[Any]) -> list[str]:
    """Each score in the shortest form that reads back to it: narrow floats are exact in float64."""
    wide = scores.astype(np.float64) if scores.dtype.kind == "f" else scores
    return [repr(score) for score in wide.tolist()]


def _text_of(path: str | os.PathLike[str]) -> tuple[str, bytes]:
    """The name of a file, for messages, and its text in bytes: unpacked, no byte order mark, lines ended alike."""
    name = Path(path).name
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise InputError(f"{name} cannot be read: {error.strerror}") from error
    data = _unpacked(name, data).removeprefix(b"\xef\xbb\xbf")
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise InputError(f"{name} is UTF-16 text: it must be UTF-8")
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    if not data or data.isspace():
        raise InputError(f"{name} is empty")
    return name, data


def _unpacked(name: str, data: bytes) -> bytes:
    if not data.startswith(b"\x1f\x8b"):
        return data
    try:
        return gzip.decompress(data)
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"{name} is a gzip file that is truncated or damaged: {error}") from error


def _fast_columns(path: str | os.PathLike[str], names: tuple[str, ...], ranks: bool) -> tuple[Any, ...] | None:
    """The columns and numbers of well-formed text, and the ranks of a run; None if it must be read line by line."""
    import pyarrow as pa

    try:
        table = _parsed(_readable(path), names, ranks)
        columns = _coded(table)
    except (pa.ArrowInvalid, pa.ArrowCapacityError):
        return None
    scores = numbers_of(table[names[-1] if "grade" in names else "score"].combine_chunks())
    if not len(scores) or not (np.abs(scores) < _EXACT).all():
        return None
    rank_column = numbers_of(table["rank"].combine_chunks()) if ranks else None
    return (columns, scores, rank_column) if "rank" in names else (columns, scores)


def _readable(path: str | os.PathLike[str]) -> Any:
    """What the reader of columns takes: a plain file itself, which then need not be held, or the text made plain."""
    import pyarrow as pa

    if _is_plain(path):
        return pa.OSFile(os.fspath(path))
    text = _normalised(_text_of(path)[1])
    if b"\0" in text:
        raise pa.ArrowInvalid("a NUL")
    return pa.py_buffer(text)


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


def _is_plain(path: str | os.PathLike[str]) -> bool:
    """Whether a file has one space between fields and no comment, control character or byte order mark."""
    before = b"\n"
    try:
        with open(path, "rb") as file:
            while part := file.read(_BLOCK):
                if not _is_plain_part(before + part):
                    return False
                before = part[-1:]
            return file.tell() > 0 and before != b" "
    except OSError:
        return False


def _is_plain_part(part: bytes) -> bool:
    if (b"#" in part and b"\n#" in part) or part.startswith(b"\n\xef\xbb\xbf"):
        return False
    values = np.frombuffer(part, np.uint8)
    space = values <= ord(" ")
    control = np.count_nonzero(values < ord(" ")) > np.count_nonzero(values == ord("\n"))
    return not control and not (space[1:] & space[:-1]).any()


def _parsed(source: Any, names: tuple[str, ...], ranks: bool) -> Any:
    import pyarrow as pa
    from pyarrow import csv

    coded = pa.dictionary(pa.int32(), pa.string())
    types = {"query": coded, "document": pa.string(), "score": pa.float64(), "grade": pa.float64(), "rank": pa.int64()}
    wanted = [name for name in names if name in types and (name != "rank" or ranks)]
    return csv.read_csv(
        source,
        read_options=csv.ReadOptions(column_names=list(names), use_threads=False, block_size=_BLOCK),
        parse_options=csv.ParseOptions(delimiter=" ", quote_char=False),
        convert_options=csv.ConvertOptions(
            column_types=types, include_columns=wanted, null_values=[], strings_can_be_null=False
        ),
    )


def _coded(table: Any) -> Columns:
    """Documents are coded after parsing, all at once: many small dictionaries would have to be united."""
    query = table["query"].unify_dictionaries().combine_chunks()
    document = table["document"].combine_chunks().dictionary_encode()
    documents, codes = ArrowText(document.dictionary), numbers_of(document.indices)
    return Columns(query.dictionary.to_pylist(), numbers_of(query.indices), documents, codes)


def _whole_if_exact(values: NDArray[Any]) -> NDArray[Any]:
    """Grades as integers if all of them are."""
    if values.dtype.kind == "f" and (values == np.floor(values)).all() and (np.abs(values) < _EXACT).all():
        return values.astype(np.int64)
    return values


@dataclass
class _Rows:
    """What the careful reader has gathered so far."""

    queries: list[str] = field(default_factory=list)
    documents: list[str] = field(default_factory=list)
    numbers: list[bytes] = field(default_factory=list)
    ranks: list[int] = field(default_factory=list)
    lines: dict[tuple[str, str], int] = field(default_factory=dict)

    @property
    def columns(self) -> Columns:
        return Columns.of(self.queries, self.documents)

    def scores(self) -> NDArray[Any]:
        """float64, or int64 if all are integers, one of them beyond 2**53, and all fit."""
        values = np.array([float(number) for number in self.numbers])
        if (np.abs(values) < _EXACT).all() or not all(_INTEGER.fullmatch(number) for number in self.numbers):
            return values
        try:
            return np.array([int(number) for number in self.numbers], np.int64)
        except OverflowError:
            return values


def _careful_rows(
    name: str, text: bytes, names: tuple[str, ...], ranks: bool, unique: bool, positive: bool = False
) -> _Rows:
    """Every row of the text, or an InputError that names the first line that cannot be one."""
    rows = _Rows()
    for number, line in enumerate(text.split(b"\n"), 1):
        fields = line.split()
        if fields and not fields[0].startswith(b"#"):
            _take(rows, f"{name} line {number}", number, fields, names, ranks, unique, positive)
    if not rows.queries:
        raise InputError(f"{name} is empty: it holds comments only")
    return rows


def _take(
    rows: _Rows, place: str, number: int, fields: list[bytes], names: tuple[str, ...], ranks: bool, unique: bool,
    positive: bool,
) -> None:  # fmt: skip
    if any(b"\0" in part for part in fields):
        raise InputError(f"{place}: there is a NUL byte in it")
    _check_count(place, fields, names)
    noun = "score" if "score" in names else "grade"
    value = _checked_number(place, noun, fields[names.index(noun)])
    if positive and float(value) < 0:
        raise InputError(f"{place}: grade {value.decode()} is negative")
    query, document = (_decoded(place, part, fields[names.index(part)]) for part in ("query", "document"))
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
    if len(fields) > len(names) and (names != _RUN or _looks_shifted(fields)):
        raise InputError(f"{place}: expected {wanted}, got {len(fields)}; an ID must not hold a space")


def _looks_shifted(fields: list[bytes]) -> bool:
    """Whether a space inside an ID can have moved the fields: rank is no integer, or the tag looks like a score."""
    return not _INTEGER.fullmatch(fields[3]) or _NUMBER.fullmatch(fields[5]) is not None


def _checked_number(place: str, noun: str, value: bytes) -> bytes:
    if value.lower().lstrip(b"+-") in _NOT_FINITE:
        raise InputError(f"{place}: {noun} {_shown(value)} is not finite")
    if not _NUMBER.fullmatch(value):
        raise InputError(f"{place}: {noun} {_shown(value)} is not a number")
    if float(value) in (float("inf"), float("-inf")):
        raise InputError(f"{place}: {noun} {_shown(value)} is beyond the range of float64")
    return value


def _checked_rank(place: str, value: bytes) -> int:
    if not _INTEGER.fullmatch(value) or not -(2**63) <= int(value) < 2**63:
        raise InputError(f"{place}: rank {_shown(value)} is not an integer")
    return int(value)


def _decoded(place: str, noun: str, value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError as error:
        raise InputError(f"{place}: {noun} ID {_shown(value)} is not UTF-8") from error


def _shown(value: bytes) -> str:
    return repr(value[:40].decode(errors="backslashreplace") + ("…" if len(value) > 40 else ""))
