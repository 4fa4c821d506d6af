"""Where a collection holds a piece of evidence, and for whom: the facts that a trace alone cannot show."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from datetime import datetime
from functools import cached_property

from rankwork.diagnosis.facts import Place
from rankwork.inputs.documents import Collection, Document
from rankwork.trace import Evidence, Identity

PASSAGE = 10  # words that two texts hardly share by chance


class Corpus:
    """A collection, looked up by document, by source, and by what an identity may read."""

    def __init__(self, collection: Collection) -> None:
        self.collection = collection
        self._of_source: dict[str, list[Document]] = defaultdict(list)
        for document in collection.documents:
            self._of_source[document.source].append(document)
        self._closed: dict[Identity, frozenset[str]] = {}

    def place(self, evidence: Evidence, identity: Identity, time: datetime | None) -> Place:
        """Where the evidence is: under its ID, or its source under other IDs or in other revisions."""
        document = self.collection.by_id.get(evidence.id)
        if document is not None:
            return Place(True, open=document.is_open_to(identity), holds=document.holds_at(time))
        kin = self._of_source.get(evidence.source, []) if evidence.source else []
        same = [other for other in kin if not evidence.revision or other.revision in ("", evidence.revision)]
        revisions = dict.fromkeys(other.revision for other in kin if other not in same)
        return Place(False, _overlapping(evidence, same), tuple(revisions))

    def holds(self, identifier: str) -> bool:
        """Whether a document of the collection bears this ID."""
        return identifier in self.collection.by_id

    def closed_to(self, identity: Identity) -> frozenset[str]:
        """The IDs of the documents that this identity may not read."""
        if identity not in self._closed:
            documents = self.collection.documents
            self._closed[identity] = frozenset(d.id for d in documents if not d.is_open_to(identity))
        return self._closed[identity]

    @cached_property
    def restricted_passages(self) -> dict[tuple[str, ...], frozenset[str]]:
        """Each sequence of `PASSAGE` words that no document for everyone holds, with the documents that hold it."""
        documents = self.collection.documents
        found: dict[tuple[str, ...], set[str]] = defaultdict(set)
        for document in documents:
            for passage in passages(document.text) if document.tenant or document.roles else ():
                found[passage].add(document.id)
        for document in documents if found else ():
            for passage in () if document.tenant or document.roles else passages(document.text):
                found.pop(passage, None)
        return {passage: frozenset(holders) for passage, holders in found.items()}


def passages(text: str) -> Iterator[tuple[str, ...]]:
    """Every sequence of `PASSAGE` words of a text, in lower case.

    >>> len(list(passages("Leave is thirty days for all who work here full time, and more for some.")))
    6
    """
    words = text.lower().split()
    return (tuple(words[start : start + PASSAGE]) for start in range(len(words) - PASSAGE + 1))


def _overlapping(evidence: Evidence, documents: Iterable[Document]) -> tuple[str, ...]:
    """The chunks of its source that share text with it, if it says where it stands; else all chunks of the source."""
    if evidence.start is None or evidence.end is None:
        return tuple(document.id for document in documents)
    start, end = evidence.start, evidence.end
    return tuple(d.id for d in documents if d.start < end and (d.end is None or start < d.end))
