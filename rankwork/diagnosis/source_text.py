"""The sources that a collection's chunks were cut from, put together again as far as the chunks reach."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from itertools import groupby

from rankwork.errors import InputError
from rankwork.inputs.documents import Document

_UNKNOWN = "\0"  # stands where no chunk reaches


@dataclass(frozen=True)
class Place:
    """Characters `start` up to, not including, `end`."""

    start: int
    end: int

    def __len__(self) -> int:
        return max(0, self.end - self.start)

    def within(self, other: "Place") -> "Place":
        """What both have."""
        return Place(max(self.start, other.start), min(self.end, other.end))


@dataclass(frozen=True)
class Chunk:
    """A chunk and its place. InputError for a document whose end lies before its start."""

    document: Document

    @cached_property
    def place(self) -> Place:
        """Where it was cut from; without an `end` it is as long as its text."""
        document = self.document
        end = document.start + len(document.text) if document.end is None else document.end
        if document.start < 0 or end < document.start:
            raise InputError(f"document {document.id!r} cannot span the characters {document.start} to {end}")
        return Place(document.start, end)

    def covers(self, place: Place) -> int:
        """How many characters of a place it covers."""
        return len(self.place.within(place))


@dataclass(frozen=True)
class Source:
    """One revision of one source: its chunks by place, and its text."""

    name: str
    name_of_revision: str
    chunks: tuple[Chunk, ...]

    @cached_property
    def text(self) -> str:
        """The text between the first and the last chunk; a chunk whose text is not as long as its place adds none."""
        characters = [_UNKNOWN] * max(chunk.place.end for chunk in self.chunks)
        for chunk in self.chunks:
            if len(chunk.document.text) == len(chunk.place):
                characters[chunk.place.start : chunk.place.end] = chunk.document.text
        return "".join(characters)

    def could_read(self, place: Place, quote: str) -> bool:
        """Whether the text at a place is the quote, as far as it is known."""
        found = self.text[place.start : place.end]
        return all(known in (_UNKNOWN, meant) for known, meant in zip(found, quote, strict=False))

    def places(self, quote: str) -> list[Place]:
        """Every place where a quote stands, those that overlap too."""
        found, start = [], self.text.find(quote)
        while start >= 0:
            found.append(Place(start, start + len(quote)))
            start = self.text.find(quote, start + 1)
        return found

    def chunks_at(self, place: Place) -> list[Chunk]:
        """The chunks that cover some of a place, in their order."""
        return [chunk for chunk in self.chunks if chunk.covers(place)]

    def chain(self, place: Place) -> list[tuple[Chunk, Place]]:
        """The fewest chunks that together cover all of a place that is covered, each with the part it is there for."""
        parts: list[tuple[Chunk, Place]] = []
        reached, candidates = place.start, self.chunks_at(place)
        while candidates:
            begun = [chunk for chunk in candidates if chunk.place.start <= reached] or candidates[:1]
            best = max(begun, key=lambda chunk: chunk.place.end)
            part = best.place.within(Place(reached, place.end))
            parts.append((best, part))
            reached = part.end
            candidates = [chunk for chunk in candidates if chunk.place.end > reached] if reached < place.end else []
        return parts


@dataclass(frozen=True)
class Sources:
    """Sources with all their revisions. `hidden` names those that do not hold at the time asked for."""

    texts: tuple[Source, ...]
    documents: dict[str, Document]
    hidden: frozenset[str] = frozenset()

    @classmethod
    def of(cls, documents: Iterable[Document], hidden: frozenset[str] = frozenset()) -> "Sources":
        """The sources of these chunks; a document that names no source is one itself. InputError for an ID twice."""
        given: dict[str, Document] = {}
        for document in documents:
            if given.setdefault(document.id, document) is not document:
                raise InputError(f"document ID {document.id!r} stands twice")
        ordered = sorted(map(Chunk, given.values()), key=lambda chunk: (_name(chunk.document), *_key(chunk)))
        grouped = groupby(ordered, key=lambda chunk: (_name(chunk.document), chunk.document.revision))
        return cls(tuple(Source(*key, tuple(chunks)) for key, chunks in grouped), given, hidden)

    def at(self, time: datetime | None) -> "Sources":
        """The sources that hold at that moment."""
        if time is None or not self._has_limits:
            return self
        holding = [document for document in self.documents.values() if document.holds_at(time)]
        return Sources.of(holding, frozenset(map(_name, self.documents.values())))

    @cached_property
    def _has_limits(self) -> bool:
        return any(document.valid_from or document.valid_until for document in self.documents.values())

    def named(self, name: str) -> "Sources | None":
        """The revisions of one source; None if it is not there."""
        texts = tuple(self._by_name.get(name, ()))
        return Sources(texts, self.documents) if texts else None

    def revision(self, name: str) -> Source | None:
        """That revision, of sources that are revisions of one; None if it is not there."""
        return next((text for text in self.texts if text.name_of_revision == name), None)

    def document(self, name: str) -> Document | None:
        """The document with that ID."""
        return self.documents.get(name)

    def chunks_of(self, name: str) -> tuple[str, ...]:
        """The IDs of a source's chunks; of what is no source here, its own."""
        chunks = tuple(chunk.document.id for text in self._by_name.get(name, ()) for chunk in text.chunks)
        return chunks or (name,)

    def hides(self, name: str) -> bool:
        """Whether the source is in the collection, but does not hold at the time asked for."""
        return name in self.hidden and name not in self._by_name

    @cached_property
    def _by_name(self) -> dict[str, list[Source]]:
        found: dict[str, list[Source]] = {}
        for text in self.texts:
            found.setdefault(text.name, []).append(text)
        return found


def _name(document: Document) -> str:
    return document.source or document.id


def _key(chunk: Chunk) -> Iterator[object]:
    yield chunk.document.revision
    yield chunk.place.start
    yield chunk.place.end
    yield chunk.document.id
