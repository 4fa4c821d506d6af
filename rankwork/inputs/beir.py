"""BEIR's files: judgements as `qrels/*.tsv` with a header, runs as JSON `{query: {document: score}}`.

The IDs of `queries.jsonl` and `corpus.jsonl`, where a folder has them, tell whether judgements and collection fit.
"""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rankwork.errors import ContractError, InputError
from rankwork.inputs.text_blocks import whole_text
from rankwork.inputs.trec_lines import checked_number, decoded, exact_numbers, shown, whole_if_exact
from rankwork.rankings import Duplicates, Judgements, Negatives, Rankings

HEADER = (b"query-id", b"corpus-id", b"score")


def read_run(path: str | os.PathLike[str], *, duplicates: Duplicates = "refuse") -> Rankings:
    """The rankings of a JSON file `{query: {document: score}}`, plain or gzip, as BEIR and pytrec_eval keep results.

    Scores become float64, or int64 if all are integers. InputError for what is no such JSON, and for a query or a
    document that is there twice (with `duplicates="keep_first"` the document that scores highest stays), because JSON
    readers keep the last one in silence.
    """
    name, pairs = _nested(path)
    try:
        return Rankings.from_columns(*_columns(name, pairs), duplicates=duplicates, all_queries=list(pairs))
    except ContractError as error:
        raise InputError(f"{name}: {error}") from error


def read_judgements(
    path: str | os.PathLike[str],
    *,
    split: str | None = None,
    negative: Negatives = "unjudged",
    duplicates: Duplicates = "refuse",
) -> Judgements:
    """The judgements of a BEIR folder, of one of its `qrels/*.tsv`, or of a JSON file `{query: {document: grade}}`.

    Of a folder's splits `split` names one; None takes the only one, or "test". Grades become int64, or float64 if one
    is no integer; negative ones are unjudged and counted, or refused. InputError, with file and line, for what cannot
    be read.
    """
    file = Path(path)
    if file.is_dir():
        file = _split(file, split)
    name, text = whole_text(file)
    if text.lstrip().startswith(b"{"):
        return _judgements_of_json(file, negative, duplicates)
    return _judgements_of_lines(name, text, negative, duplicates)


def unlisted(folder: str | os.PathLike[str], judgements: Judgements) -> dict[str, list[str]]:
    """The judged queries that `queries.jsonl` lacks and the judged documents that `corpus.jsonl` lacks, in order.

    Only files that the folder has are looked at. InputError for a line without a text `_id`.
    """
    judged = {"queries.jsonl": judgements.queries, "corpus.jsonl": judgements.documents.tolist()}
    known = {name: _ids(Path(folder) / name) for name in judged if (Path(folder) / name).exists()}
    return {name: [item for item in judged[name] if item not in ids] for name, ids in known.items()}


def _split(folder: Path, split: str | None) -> Path:
    found = {file.stem: file for file in sorted((folder / "qrels").glob("*.tsv"))}
    wanted = split or (next(iter(found)) if len(found) == 1 else "test")
    if wanted not in found:
        there = f"it has {', '.join(found)}" if found else "it has none"
        raise InputError(f"folder {folder.name} should have judgements in qrels/{wanted}.tsv: {there}")
    return found[wanted]


def _judgements_of_lines(name: str, text: bytes, negative: Negatives, duplicates: Duplicates) -> Judgements:
    header, *lines = text.rstrip(b"\n").split(b"\n")
    if tuple(header.split(b"\t")) != HEADER:
        wanted = " ".join(part.decode() for part in HEADER)
        raise InputError(f"{name} line 1: expected the header {wanted}, parted by tabs, got {shown(header)}")
    rows = [_row(f"{name} line {number}", line) for number, line in enumerate(lines, 2) if line]
    _check_repeats(name, lines, duplicates)
    queries, documents, grades = zip(*rows, strict=True) if rows else ((), (), ())
    values = whole_if_exact(exact_numbers(list(grades)))
    if negative == "refuse" and (values < 0).any():
        line = [number for number, line in enumerate(lines, 2) if line][int((values < 0).argmax())]
        raise InputError(f"{name} line {line}: grade {values[values < 0][0].item()} is negative")
    return Judgements.from_columns(queries, documents, values, negative=negative, duplicates=duplicates)


def _row(place: str, line: bytes) -> tuple[str, str, bytes]:
    fields = line.split(b"\t")
    if len(fields) != len(HEADER) or not all(fields) or b"\0" in line:
        raise InputError(f"{place}: expected a query ID, a document ID and a grade, parted by tabs, got {shown(line)}")
    query, document, grade = fields
    return decoded(place, "query", query), decoded(place, "document", document), checked_number(place, "grade", grade)


def _check_repeats(name: str, lines: list[bytes], duplicates: Duplicates) -> None:
    seen: dict[bytes, int] = {}
    for number, line in enumerate(lines, 2):
        earlier = seen.setdefault(line.rpartition(b"\t")[0], number)
        if line and earlier != number and duplicates == "refuse":
            query, _, document = line.rpartition(b"\t")[0].decode().partition("\t")
            raise InputError(
                f"{name} line {number}: document {document!r} of query {query!r} was given on line {earlier} already"
            )


def _judgements_of_json(path: Path, negative: Negatives, duplicates: Duplicates) -> Judgements:
    name, pairs = _nested(path)
    try:
        columns = _columns(name, pairs)
        return Judgements.from_columns(*columns, negative=negative, duplicates=duplicates, all_queries=list(pairs))
    except ContractError as error:
        raise InputError(f"{name}: {error}") from error


class _Pairs(list[tuple[str, Any]]):
    """A JSON object as it stands in the file, with what it repeats."""


def _nested(path: str | os.PathLike[str]) -> tuple[str, Mapping[str, _Pairs]]:
    """The queries of a JSON file, each with its pairs of document and number."""
    name, text = whole_text(path)
    try:
        outer = json.loads(text, object_pairs_hook=_Pairs)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{name} is not JSON: {error}") from error
    if not isinstance(outer, _Pairs):
        raise InputError(f"{name} must hold {{query: {{document: number}}}}, got {type(outer).__name__}")
    queries = dict(outer)
    if len(queries) < len(outer):
        given = [query for query, _ in outer]
        twice = next(query for place, query in enumerate(given) if query in given[:place])
        raise InputError(f"{name} holds query {twice!r} twice")
    for query, inner in outer:
        if not isinstance(inner, _Pairs):
            kind = type(inner).__name__
            raise InputError(f"{name} must hold {{query: {{document: number}}}}; {query!r} holds {kind}")
    return name, queries


def _columns(name: str, queries: Mapping[str, _Pairs]) -> tuple[list[str], list[str], list[Any]]:
    rows = [(query, document, number) for query, inner in queries.items() for document, number in inner]
    for query, document, number in rows:
        if isinstance(number, _Pairs):
            raise InputError(
                f"{name} must hold {{query: {{document: number}}}}; {query!r}, {document!r} holds an object"
            )
    return [row[0] for row in rows], [row[1] for row in rows], [row[2] for row in rows]


def _ids(path: Path) -> set[str]:
    name, text = whole_text(path)
    return {_id(f"{name} line {number}", line) for number, line in enumerate(text.split(b"\n"), 1) if line.strip()}


def _id(place: str, line: bytes) -> str:
    try:
        entry = json.loads(line)
    except ValueError as error:
        raise InputError(f"{place} is not JSON: {error}") from error
    found = entry.get("_id") if isinstance(entry, dict) else None
    if not isinstance(found, str):
        raise InputError(f"{place}: expected an object with a text _id, got {shown(line)}")
    return found
