"""One door for rankings and judgements, whatever holds them: files, tables, dicts.

>>> read_run({"q": {"a": 1.0}}).rows("q")
[('a', 1.0)]
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rankwork.errors import InputError
from rankwork.inputs import beir, frames, trec
from rankwork.inputs.text_blocks import opening
from rankwork.rankings import Duplicates, Judgements, Negatives, Rankings

_ACCEPTED = "a file's path, a dict of dicts, or a table (pandas, polars, pyarrow) or"


def read_run(source: Any, *, ranks: bool = False, duplicates: Duplicates = "refuse") -> Rankings:
    """The rankings in a file (TREC or BEIR's JSON, plain or gzip; parquet), a table or a dict of dicts.

    `Rankings` are returned as they are. Files are told apart by content. `ranks` takes the rank column, where there is
    one. InputError for what cannot be read, with the place; ContractError for a value in memory.
    """
    if isinstance(source, Rankings):
        return source
    if isinstance(source, Mapping):
        return Rankings.from_dicts(source, duplicates=duplicates)
    if frames.is_table(source):
        return frames.rankings_of(source, ranks=ranks, duplicates=duplicates)
    path = _path(source, "run", "Rankings")
    form = _form(path)
    if form == "parquet":
        return frames.rankings_of(frames.read_table(path), ranks=ranks, duplicates=duplicates)
    if form == "json":
        return beir.read_run(path, duplicates=duplicates)
    if form in ("folder", "beir"):
        raise InputError(f"{Path(path).name} holds BEIR judgements, not a run: expected TREC, JSON or parquet")
    return trec.read_run(path, ranks=ranks, duplicates=duplicates)


def read_judgements(source: Any, *, negative: Negatives | None = None, duplicates: Duplicates = "refuse") -> Judgements:
    """The judgements in a file (TREC, BEIR's TSV or JSON, plain or gzip; parquet), a BEIR folder, a table, a dict.

    `Judgements` are returned as they are. A negative grade is by default unjudged in a file and refused in memory.
    InputError for what cannot be read, with the place; ContractError for a value in memory.
    """
    if isinstance(source, Judgements):
        return source
    in_memory, in_file = negative or "refuse", negative or "unjudged"
    if isinstance(source, Mapping):
        return Judgements.from_dicts(source, negative=in_memory, duplicates=duplicates)
    if frames.is_table(source):
        return frames.judgements_of(source, negative=in_memory, duplicates=duplicates)
    path = _path(source, "judgements", "Judgements")
    form = _form(path)
    if form == "parquet":
        table = frames.read_table(path, judgements=True)
        return frames.judgements_of(table, negative=in_file, duplicates=duplicates)
    if form in ("folder", "beir", "json"):
        return beir.read_judgements(path, negative=in_file, duplicates=duplicates)
    return trec.read_judgements(path, negative=in_file, duplicates=duplicates)


def _path(source: Any, noun: str, kind: str) -> str | os.PathLike[str]:
    if isinstance(source, str | os.PathLike):
        return source
    raise InputError(f"{noun} must be {_ACCEPTED} {kind}; got {type(source).__name__}")


def _form(path: str | os.PathLike[str]) -> str:
    """What a file holds, told by how it begins."""
    if Path(path).is_dir():
        return "folder"
    start = opening(path)
    if start.startswith(b"PAR1"):
        return "parquet"
    if start.lstrip().startswith(b"{"):
        return "json"
    return "beir" if start.startswith(b"\t".join(beir.HEADER)) else "trec"
