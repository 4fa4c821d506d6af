r"""A TREC run read in parts of whole queries, for files that memory does not hold.

>>> import tempfile, pathlib
>>> path = pathlib.Path(tempfile.mkdtemp()) / "run.trec"
>>> _ = path.write_text("q1 Q0 a 1 2 t\nq1 Q0 b 2 1 t\nq2 Q0 a 1 3 t\n")
>>> [(part.queries, len(part)) for part in run_parts(path)]
[(('q1', 'q2'), 3)]
"""

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from rankwork.errors import ContractError, InputError
from rankwork.inputs.packed_text import PackedText
from rankwork.inputs.trec import parts_of_file
from rankwork.inputs.trec_columns import RUN, Gathering, Part
from rankwork.inputs.trec_lines import EXACT
from rankwork.rankings import Duplicates, Rankings


def run_parts(
    path: str | os.PathLike[str], *, rows: int = 2**20, ranks: bool = False, duplicates: Duplicates = "refuse"
) -> Iterator[Rankings]:
    """The rankings of a TREC run, some queries at a time: at least `rows` rows, which the last part can lack.

    A block of text, about a megabyte, is read at a time, so a part holds up to that more, and its last query whole. The
    lines of a query must stand together. Scores are float64. Errors as for `trec.read_run`, and InputError for a
    query that comes again behind others and for integers beyond 2**53, which need the whole file to be told from
    floats.
    """
    if isinstance(rows, bool) or not isinstance(rows, int) or rows < 1:
        raise ContractError(f"rows must be an integer of at least 1, got {rows!r}")
    name, finished, waiting = Path(path).name, set[str](), Gathering(ranks)
    for part in parts_of_file(path, RUN, ranks, duplicates == "refuse"):
        _check_size(name, part)
        rest = part
        if len(waiting) >= rows:
            same, rest = _cut(part, waiting.last_query)
            waiting.add(same)
            if len(rest):
                finished |= waiting.queries
                yield _rankings(name, waiting, duplicates)
                waiting = Gathering(ranks)
        _check_queries(name, rest, finished)
        waiting.add(rest)
    if not len(waiting):
        raise InputError(f"{name} is empty")
    yield _rankings(name, waiting, duplicates)


def _check_queries(name: str, part: Part, finished: set[str]) -> None:
    again = next((query for query in part.queries if query in finished), None)
    if again is not None:
        problem = "to be read in parts, the lines of a query must stand together"
        raise InputError(f"{name}: query {again!r} comes again behind others: {problem}")


def _rankings(name: str, gathering: Gathering, duplicates: Duplicates) -> Rankings:
    try:
        return Rankings.of_columns(*gathering.columns(), duplicates=duplicates)
    except ContractError as error:
        raise InputError(f"{name}: {str(error).partition(', in rows')[0]}") from error


def _check_size(name: str, part: Part) -> None:
    large = np.abs(part.numbers) >= EXACT
    if large.any() and (part.numbers == np.floor(part.numbers)).all():
        shown = part.numbers[np.argmax(large)].item()
        raise InputError(f"{name}: score {shown!r} may be an integer beyond 2**53: read the whole file")


def _cut(part: Part, query: str) -> tuple[Part, Part]:
    """The rows up to the first that is of another query, and the others."""
    code = part.queries.index(query) if query in part.queries else -1
    other = part.query_codes != code
    row = int(np.argmax(other)) if other.any() else len(part)
    return _rows(part, 0, row), _rows(part, row, len(part))


def _rows(part: Part, start: int, end: int) -> Part:
    used, codes = np.unique(part.query_codes[start:end], return_inverse=True)
    documents = PackedText(part.documents.data, part.documents.offsets[start : end + 1])
    ranks = None if part.ranks is None else part.ranks[start:end]
    return Part([part.queries[code] for code in used.tolist()], codes, documents, part.numbers[start:end], ranks)
