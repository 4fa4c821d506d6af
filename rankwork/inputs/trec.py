"""TREC files: a run has lines of `query Q0 document rank score tag`, judgements of `query iteration document grade`.

Plain or gzip, told by content; fields parted by tabs or any number of spaces; any line ends, a missing last one too;
lines that begin with `#` are comments. A file is read by columns at the speed of C; what that cannot take is read again
line by line, which gives the right answer or names the line.
"""

import gzip
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankwork.errors import ContractError, InputError
from rankwork.inputs.packed_text import PackedText
from rankwork.inputs.text_blocks import blocks, whole_text
from rankwork.inputs.trec_columns import JUDGEMENTS, RUN, Gathering, Part, part_of
from rankwork.inputs.trec_lines import EXACT, all_rows, rows_of, whole_if_exact
from rankwork.rankings import Columns, Duplicates, Judgements, Negatives, Rankings

__all__ = ["parts_of_file", "read_judgements", "read_run", "run_lines", "write_run"]


def read_run(path: str | os.PathLike[str], *, ranks: bool = False, duplicates: Duplicates = "refuse") -> Rankings:
    """The rankings of a TREC run; scores become float64, or int64 if all are integers and one is beyond 2**53.

    `ranks` reads the rank column too, for the order `rank`. Text behind the tag is ignored, as trec_eval does, unless a
    space in a document's ID could have put it there. InputError, with file and line, for too few fields, a score or
    rank that is not a finite number, a document twice in one query (with `duplicates="keep_first"` the one that scores
    highest stays), a file that is empty, truncated or not UTF-8.
    """
    columns = _fast_columns(path, RUN, ranks, duplicates == "refuse")
    if columns is not None:
        with suppress(ContractError):
            return Rankings.of_columns(*columns, duplicates=duplicates)
    rows = all_rows(*whole_text(path), RUN, ranks, duplicates == "refuse")
    return Rankings.of_columns(rows.columns, rows.scores(), rows.ranks if ranks else None, duplicates=duplicates)


def read_judgements(
    path: str | os.PathLike[str], *, negative: Negatives = "unjudged", duplicates: Duplicates = "refuse"
) -> Judgements:
    """The judgements of a TREC file; grades become int64, or float64 if one of them is no integer.

    A negative grade means unjudged: the row is left out and counted in `negatives`, or with `negative="refuse"` an
    InputError. InputErrors as for `read_run`.
    """
    columns = _fast_columns(path, JUDGEMENTS, False, duplicates == "refuse")
    if columns is not None:
        with suppress(ContractError):
            return Judgements.of_columns(
                columns[0], whole_if_exact(columns[1]), negative=negative, duplicates=duplicates
            )
    rows = all_rows(*whole_text(path), JUDGEMENTS, False, duplicates == "refuse", negative == "refuse")
    grades = whole_if_exact(rows.scores())
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


def _fast_columns(
    path: str | os.PathLike[str], names: tuple[str, ...], ranks: bool, unique: bool
) -> tuple[Columns, NDArray[np.float64], NDArray[np.int64] | None] | None:
    """The coded columns, numbers and ranks of a file; None if there are none, or if numbers need all their digits."""
    gathering = Gathering(ranks)
    for part in parts_of_file(path, names, ranks, unique):
        if not (np.abs(part.numbers) < EXACT).all():
            return None
        gathering.add(part)
    return gathering.columns() if len(gathering) else None


def parts_of_file(path: str | os.PathLike[str], names: tuple[str, ...], ranks: bool, unique: bool) -> Iterator[Part]:
    """The rows of a file, a block of lines at a time. InputError for a line that cannot be read."""
    name, line = Path(path).name, 1
    for block in blocks(path):
        part = part_of(block, names, ranks)
        yield _careful_part(name, block, names, ranks, unique, line) if part is None else part
        line += int(np.count_nonzero(np.frombuffer(block, np.uint8) == ord("\n")))


def _careful_part(name: str, block: bytes, names: tuple[str, ...], ranks: bool, unique: bool, line: int) -> Part:
    rows = rows_of(name, block, names, ranks, unique, first_line=line)
    queries: dict[str, int] = {}
    codes = [queries.setdefault(query, len(queries)) for query in rows.queries]
    numbers = np.array([float(number) for number in rows.numbers], np.float64)
    rank_column = np.array(rows.ranks, np.int64) if ranks else None
    return Part(list(queries), np.array(codes, np.int32), PackedText.of(rows.documents), numbers, rank_column)
