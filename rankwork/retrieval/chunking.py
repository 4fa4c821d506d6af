"""Documents cut into chunks, with the place that each was cut from, so that evidence can be found in them again.

Two things that look alike are kept apart: chunks of one document have different text and share their source; copies
have the same text, whatever their source.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Literal, get_args

from rankwork.errors import ContractError
from rankwork.inputs.documents import Collection, Document
from rankwork.trace import Case, Evidence, Requirement

Unit = Literal["words", "characters"]
_PIECES = {"words": re.compile(r"\S+"), "characters": re.compile(r".", re.DOTALL)}


def chunked(collection: Collection, *, size: int, overlap: int = 0, unit: Unit = "words") -> Collection:
    """The collection with each document cut into chunks of at most `size` words (or characters).

    A chunk begins `size - overlap` units after the one before; the last may be shorter, and a document without a word
    is one chunk. The second chunk of `a` is `a#2`, with `a` as its parent, the source and revision of `a`, and the
    characters `start` to `end`; it keeps the readers and the validity. Evidence of the cases becomes any of the chunks
    of its source (and revision, where it names one) that hold its whole span, or, where none does, hold part of it.
    ContractError for sizes out of range and for a collection of chunks.

    >>> whole = Collection("notes", "1", (Document("a", "one two three four five"),))
    >>> [(chunk.id, chunk.text, chunk.start) for chunk in chunked(whole, size=3, overlap=1).documents]
    [('a#1', 'one two three', 0), ('a#2', 'three four five', 8)]
    """
    _check(collection, size, overlap, unit)
    chunks = {document.id: tuple(_cut(document, collection, size, overlap, unit)) for document in collection.documents}
    every = tuple(chunk for parts in chunks.values() for chunk in parts)
    chunks |= _by_source(every)
    return replace(
        collection,
        documents=every,
        cases=tuple(_recast(case, chunks) for case in collection.cases),
        unit="chunk",
        chunker=f"{size} {unit}, overlap {overlap}",
        parents=collection.documents,
    )


def copies(documents: Iterable[Document]) -> tuple[tuple[str, ...], ...]:
    """The groups of IDs whose documents have the same text, but for white space; each group and all in order of ID.

    >>> copies([Document("a", "same"), Document("b", "other"), Document("c", " same ")])
    (('a', 'c'),)
    """
    groups: dict[str, list[str]] = defaultdict(list)
    for document in documents:
        groups[plain(document.text)].append(document.id)
    return tuple(sorted(tuple(sorted(group)) for group in groups.values() if len(group) > 1))


def by_source(documents: Iterable[Document]) -> dict[str, tuple[str, ...]]:
    """The IDs of the chunks of each source, in order of where they begin; a whole document is its own source.

    >>> by_source([Document("a#2", "x", source="a", start=5), Document("a#1", "y", source="a"), Document("b", "z")])
    {'a': ('a#1', 'a#2'), 'b': ('b',)}
    """
    groups: dict[str, list[Document]] = defaultdict(list)
    for document in documents:
        groups[document.source or document.id].append(document)
    ordered = {source: sorted(group, key=lambda part: (part.start, part.id)) for source, group in groups.items()}
    return {source: tuple(part.id for part in ordered[source]) for source in sorted(ordered)}


def plain(text: str) -> str:
    """The text with each run of white space as one space: what two copies have in common."""
    return " ".join(text.split())


def _check(collection: Collection, size: int, overlap: int, unit: str) -> None:
    if unit not in get_args(Unit):
        raise ContractError(f"the unit of chunks must be one of {', '.join(get_args(Unit))}, got {unit!r}")
    if size < 1 or not 0 <= overlap < size:
        raise ContractError(f"size must be at least 1 and overlap between 0 and size - 1, got {size} and {overlap}")
    if collection.unit == "chunk":
        raise ContractError(f"collection {collection.name} is cut into chunks already ({collection.chunker})")


def _cut(document: Document, collection: Collection, size: int, overlap: int, unit: Unit) -> Iterator[Document]:
    revision = document.revision or collection.revision
    for number, (start, end) in enumerate(_spans(document.text, size, overlap, unit), 1):
        yield replace(
            document,
            id=f"{document.id}#{number}",
            text=document.text[start:end],
            source=document.source or document.id,
            revision=revision,
            start=start,
            end=end,
            parent=document.id,
        )


def _by_source(chunks: Iterable[Document]) -> dict[str, tuple[Document, ...]]:
    groups: dict[str, list[Document]] = defaultdict(list)
    for chunk in chunks:
        groups[chunk.source].append(chunk)
    return {source: tuple(group) for source, group in groups.items()}


def _spans(text: str, size: int, overlap: int, unit: Unit) -> Iterator[tuple[int, int]]:
    """The characters from where to where each chunk goes."""
    pieces = [piece.span() for piece in _PIECES[unit].finditer(text)] or [(0, len(text))]
    for first in range(0, max(len(pieces) - overlap, 1), size - overlap):
        last = min(first + size, len(pieces)) - 1
        yield pieces[first][0], pieces[last][1]


def _recast(case: Case, chunks: dict[str, tuple[Document, ...]]) -> Case:
    """The case with its evidence, and what it excludes, in terms of chunks."""
    needs = (
        Requirement(any_of=tuple(part for evidence in need.any_of for part in _parts(evidence, chunks)), name=need.name)
        for need in case.requires
    )
    excludes = (chunk.id for document in case.excludes for chunk in chunks.get(document, ()))
    return case.model_copy(update={"requires": tuple(needs), "excludes": tuple(excludes)})


def _parts(evidence: Evidence, chunks: dict[str, tuple[Document, ...]]) -> tuple[Evidence, ...]:
    """The evidence in each chunk that holds it; the evidence as it was where its source is not in the collection."""
    candidates = tuple(
        chunk for chunk in chunks.get(evidence.source or evidence.id, ()) if evidence.revision in ("", chunk.revision)
    )
    start, end = evidence.start or 0, evidence.end if evidence.end is not None else _end(candidates)
    touched = [chunk for chunk in candidates if chunk.start < end and start < (chunk.end or 0)] or list(candidates)
    whole = [chunk for chunk in touched if chunk.start <= start and end <= (chunk.end or 0)]
    return tuple(_in_chunk(evidence, chunk) for chunk in whole or touched) or (evidence,)


def _end(chunks: tuple[Document, ...]) -> int:
    return max((chunk.end or 0 for chunk in chunks), default=0)


def _in_chunk(evidence: Evidence, chunk: Document) -> Evidence:
    """What the evidence is in a chunk: the part of its span that lies there, or the whole chunk."""
    start = max(chunk.start, evidence.start or 0)
    end = min(chunk.end or 0, chunk.end or 0 if evidence.end is None else evidence.end)
    return Evidence(
        id=chunk.id,
        source=chunk.source,
        revision=chunk.revision,
        start=start,
        end=max(start, end),
        quote=chunk.text[start - chunk.start : end - chunk.start] if evidence.quote else "",
        grade=evidence.grade,
    )
