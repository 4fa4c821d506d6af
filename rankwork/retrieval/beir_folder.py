"""A BEIR folder as a collection: `corpus.jsonl`, `queries.jsonl` and the judgements of one split in `qrels/`."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rankwork.digest import digest_file
from rankwork.errors import InputError
from rankwork.inputs import beir
from rankwork.inputs.documents import Collection, Document
from rankwork.inputs.text_blocks import whole_text
from rankwork.rankings import Judgements
from rankwork.retrieval.chunking import plain
from rankwork.retrieval.collection import split_of
from rankwork.trace import Case, Evidence, Requirement


def beir_folder(folder: str | os.PathLike[str], *, split: str | None = None, seed: int = 0) -> Collection:
    """The documents of a BEIR folder and a case for each judged query of a split (None: the only one, or "test").

    A case requires each document of a grade above 0, as a requirement of its own; a judged document that the corpus
    lacks stays required, so that it can be diagnosed as missing. Queries of the same text share a cluster, and `seed`
    draws whether a cluster is dev or holdout: what BEIR calls a split only says which judgements are read. The revision
    is the digest of `corpus.jsonl`. InputError, with file and line, for what cannot be read, for grades that are no
    integers, and for a judged query that `queries.jsonl` lacks.
    """
    root = Path(folder)
    judged = beir.read_judgements(root, split=split)
    texts = {entry["_id"]: entry["text"] for entry in _entries(root / "queries.jsonl")}
    missing = [query for query in judged.queries if query not in texts]
    if missing:
        raise InputError(f"queries.jsonl lacks query {missing[0]!r}, which is judged")
    revision = digest_file(root / "corpus.jsonl")[:12] if (root / "corpus.jsonl").exists() else ""
    first: dict[str, str] = {}
    for query in sorted(judged.queries):
        first.setdefault(plain(texts[query]).casefold(), query)
    clusters = {query: first[plain(texts[query]).casefold()] for query in judged.queries}
    return Collection(
        name=root.name,
        revision=revision,
        documents=tuple(_document(entry, revision) for entry in _entries(root / "corpus.jsonl")),
        cases=tuple(
            _case(query, texts[query], judged, clusters[query], revision, seed) for query in sorted(judged.queries)
        ),
        parser="corpus.jsonl",
    )


def _entries(path: Path) -> Iterator[dict[str, Any]]:
    """The lines of a file of BEIR's, each an object with a text `_id` and a `text`."""
    if not path.exists():
        raise InputError(f"folder {path.parent.name} should have {path.name}")
    name, content = whole_text(path)
    for number, line in enumerate(content.split(b"\n"), 1):
        if line.strip():
            yield _entry(f"{name} line {number}", line)


def _entry(place: str, line: bytes) -> dict[str, Any]:
    try:
        entry = json.loads(line)
    except ValueError as error:
        raise InputError(f"{place} is not JSON: {error}") from error
    for field in ("_id", "text"):
        value = entry.get(field) if isinstance(entry, dict) else None
        if not isinstance(value, str) or (field == "_id" and not value):
            raise InputError(f"{place}: expected an object with a text {field}, got {value!r}")
    return dict(entry)


def _document(entry: dict[str, Any], revision: str) -> Document:
    text, title = entry["text"], entry.get("title") or ""
    return Document(entry["_id"], text, title=title, source=entry["_id"], revision=revision, end=len(text))


def _case(query: str, text: str, judged: Judgements, cluster: str, revision: str, seed: int) -> Case:
    needs = [
        _requirement(query, name, grade, revision)
        for name, grade in sorted(judged.grades_of(query).items())
        if grade > 0
    ]
    return Case(id=query, query=text, requires=tuple(needs), split=split_of(cluster, seed), cluster=cluster)


def _requirement(query: str, document: str, grade: float, revision: str) -> Requirement:
    if grade != int(grade):
        raise InputError(f"query {query!r}, document {document!r}: grade {grade} is not an integer")
    return Requirement(
        any_of=(Evidence(id=document, source=document, revision=revision, grade=int(grade)),), name=document
    )
