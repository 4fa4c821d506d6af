"""What the model of an answer had before it: the passages that its context held, and under which IDs."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from rankwork.inputs.documents import Document
from rankwork.inputs.knowledge_base.documents import Written, all_documents
from rankwork.trace import Case, Evidence

_REVISION = re.compile(r"^r(\d+)$")


@dataclass(frozen=True)
class Passage:
    """A marked passage of a document, with the ID under which the context held it; None if it did not."""

    written: Written
    mark: str
    shown_as: str | None

    @property
    def quote(self) -> str:
        """Its text."""
        return self.written.quote(self.mark)


@dataclass(frozen=True)
class Sight:
    """The documents or chunks of one context; None: whatever the evidence stands in, as whole documents."""

    seed: int
    context: tuple[Document, ...] | None

    def passage(self, document: str, mark: str) -> Passage | None:
        """The passage of a mark in a document; None where there is no such passage."""
        written = written_by_id(self.seed).get(document)
        if written is None or mark not in written.marks:
            return None
        return Passage(written, mark, self._shown_as(written, mark))

    def of(self, evidence: Evidence) -> Passage:
        """The passage that a piece of shipped evidence stands for."""
        document, _, mark = evidence.id.rpartition("#")
        written = written_by_id(self.seed)[document]
        return Passage(written, mark, self._shown_as(written, mark))

    def older(self, passage: Passage) -> Passage | None:
        """The same passage in the revision before."""
        document = passage.written.document
        found = _REVISION.match(document.revision)
        return self.passage(f"{document.source}@r{int(found[1]) - 1}", passage.mark) if found else None

    def makers_shown(self, passage: Passage) -> Passage | None:
        """What the maker's manual says instead, if the context held it."""
        return self._shown(f"platform.manual.{passage.written.facts.get('service', '')}@r1", passage)

    def notes_shown(self, passage: Passage) -> Passage | None:
        """What the tenant's notes on the same service say instead, if the context held them."""
        return self._shown(f"{passage.written.document.tenant}.notes@r1", passage)

    def _shown(self, document: str, passage: Passage) -> Passage | None:
        """The passage of that document on the same fact of the same service."""
        found = self.passage(document, passage.mark)
        if found is None or found.shown_as is None:
            return None
        return found if found.written.facts.get("service") == passage.written.facts.get("service") else None

    def others(self, passage: Passage) -> list[Passage]:
        """The other passages of the same document that the context held."""
        marks = (mark for mark in passage.written.marks if mark not in (passage.mark, "injection"))
        found = (self.passage(passage.written.document.id, mark) for mark in marks)
        return [other for other in found if other is not None and other.shown_as]

    def unrelated(self, case: Case) -> Document | None:
        """The first document of the context of which no evidence of the case is a part."""
        gold = {evidence.source for evidence in case.gold.values()}
        own = (written.document for written in written_by_id(self.seed).values() if self._is_open(written, case))
        return next((one for one in (own if self.context is None else self.context) if one.source not in gold), None)

    def _is_open(self, written: Written, case: Case) -> bool:
        document = written.document
        return bool(document.tenant) and document.is_open_to(case.identity) and document.holds_at(case.time)

    def _shown_as(self, written: Written, mark: str) -> str | None:
        if self.context is None:
            return written.document.id
        start, end = written.marks[mark]
        own = (one for one in self.context if _same_text(one, written.document))
        return next((one.id for one in own if one.start <= start and end <= _end(one)), None)


def sight_of(context: Iterable[Document] | None, *, seed: int) -> Sight:
    """What these documents or chunks let one see."""
    return Sight(seed, None if context is None else tuple(context))


def passages_for(case: Case, sight: Sight) -> list[Passage]:
    """For each need of the case a passage that meets it: one that the context held, else the one meant to say it."""
    needs = ([sight.of(evidence) for evidence in need.any_of] for need in case.requires)
    return [next((passage for passage in passages if passage.shown_as), passages[0]) for passages in needs]


@cache
def written_by_id(seed: int) -> dict[str, Written]:
    """Every document of the knowledge base with its marks, by ID."""
    return {written.document.id: written for written in all_documents(seed)}


def _same_text(chunk: Document, document: Document) -> bool:
    return chunk.source in (document.source, document.id) and chunk.revision in (document.revision, "")


def _end(document: Document) -> int:
    return document.start + len(document.text) if document.end is None else document.end
