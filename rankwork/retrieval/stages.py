"""The stages of a trace, written from what a search, a fusion, a reranking and a context found.

A stage lists what it kept and, with the reason, what it dropped. Of a retrieval that is only what matters for the case:
the evidence, and the documents that a tie alone kept out (at most as many as were asked for). All others are counted.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rankwork.inputs.documents import Collection, Document
from rankwork.retrieval.context import Placed
from rankwork.retrieval.deadlines import Status
from rankwork.retrieval.eligibility import Eligibility
from rankwork.retrieval.searching import Found, in_order
from rankwork.trace import Case, DropReason, Evidence, Item


class Register:
    """The documents by position (in order of ID) and by ID, and what an item says of each whatever the stage."""

    def __init__(self, collection: Collection) -> None:
        self.documents = in_order(collection)
        self.place = {document.id: place for place, document in enumerate(self.documents)}
        self.revisions: dict[str, str] = {}
        self.collection = collection
        self._facts = {document.id: self._fact(document) for document in (*self.documents, *collection.parents)}
        for document in self.documents:
            self.revisions[document.source or document.id] = self._facts[document.id]["revision"]

    def item(self, name: str, **fields: Any) -> Item:
        """An item of a document; `fields` are what the stage says of it."""
        return Item(**self._facts[name], **fields)

    def kept(self, names: Iterable[str], scores: Iterable[float | None]) -> list[Item]:
        """The items that a stage kept, by rank."""
        pairs = enumerate(zip(names, scores, strict=True), 1)
        return [self.item(name, rank=rank, score=score, acl="allowed") for rank, (name, score) in pairs]

    def dropped(self, name: str, reason: DropReason, score: float | None = None) -> Item:
        """An item that a stage dropped."""
        acl = "denied" if reason == "acl_filtered" else "allowed"
        return self.item(name, kept=False, drop_reason=reason, score=score, acl=acl)

    def missing(self, evidence: Evidence) -> Item:
        """An item for evidence that the collection does not hold, with what is known about why."""
        source = evidence.source or evidence.id
        return Item(id=evidence.id, kept=False, drop_reason=self._why_missing(evidence, source), source=source)

    def _why_missing(self, evidence: Evidence, source: str) -> DropReason:
        if source not in self.revisions:
            return "not_in_corpus"
        other = evidence.revision and evidence.revision != self.revisions[source]
        return "superseded_revision" if other else "id_unmapped"

    def _fact(self, document: Document) -> dict[str, Any]:
        revision = document.revision or self.collection.revision
        return {
            "id": document.id,
            "tenant": document.tenant or None,
            "source": document.source or document.id,
            "revision": revision,
        }


def retrieved(register: Register, case: Case, eligibility: Eligibility, found: Found, depth: int) -> tuple[Item, ...]:
    """What a route kept for a case; then what a tie kept out, and where the evidence was lost that it did not keep."""
    names = [register.documents[position].id for position in found.positions.tolist()]
    kept = register.kept(names, found.scores.tolist())
    tied = {register.documents[position].id for position in found.tied[:depth].tolist()}
    last = found.scores[-1].item() if len(found.scores) else None
    cut = [register.dropped(name, "tie_cut", last) for name in sorted(tied)]
    known = tied | set(names) | set(case.excludes)
    lost = [_lost(register, evidence, eligibility, found) for name, evidence in case.gold.items() if name not in known]
    return (*kept, *cut, *lost)


def too_late(items: Sequence[Item]) -> tuple[Item, ...]:
    """The items of an answer that came after its time: what was kept is dropped, and all else stays as it is."""
    dropped = {"kept": False, "rank": None, "drop_reason": "route_timeout"}
    return tuple(item.model_copy(update=dropped) if item.kept else item for item in items)


def unanswered(register: Register, case: Case, eligibility: Eligibility, status: Status) -> tuple[Item, ...]:
    """The evidence of a case, where a route gave no answer at all."""
    late: DropReason = "route_timeout" if status == "timeout" else "unknown"
    return tuple(_not_heard_of(register, evidence, eligibility, late) for evidence in case.gold.values())


def _not_heard_of(register: Register, evidence: Evidence, eligibility: Eligibility, late: DropReason) -> Item:
    position = register.place.get(evidence.id)
    if position is None:
        return register.missing(evidence)
    return register.dropped(evidence.id, eligibility.reason(position) or late)


def _lost(register: Register, evidence: Evidence, eligibility: Eligibility, found: Found) -> Item:
    position = register.place.get(evidence.id)
    if position is None:
        return register.missing(evidence)
    if reason := eligibility.reason(position):
        return register.dropped(evidence.id, reason)
    if position in found.tied:
        return register.dropped(evidence.id, "tie_cut", found.scores[-1].item())
    if not found.answered[position]:
        return register.dropped(evidence.id, "not_retrieved")
    return register.dropped(evidence.id, "below_route_k", found.everything[position].item())


def cut_at(
    register: Register, names: Sequence[str], scores: Sequence[float], keep: int, reason: DropReason
) -> tuple[Item, ...]:
    """The first `keep` of a list, and the others: cut by a tie where they score like the last one that was kept."""
    kept = register.kept(names[:keep], scores[:keep])
    last = scores[keep - 1] if len(scores) > keep else None
    others = zip(names[keep:], scores[keep:], strict=True)
    return (*kept, *(register.dropped(name, "tie_cut" if score == last else reason, score) for name, score in others))


def assembled(register: Register, placed: Sequence[Placed], scores: Mapping[str, float | None]) -> tuple[Item, ...]:
    """The items of a context: what is in by rank, a parent with the chunk that brought it, and what was left out."""
    shown = [place for place in placed if place.reason is None]
    kept = (
        register.item(
            place.document.id,
            rank=rank,
            score=scores[place.candidate.id],
            previous_id=place.candidate.id if place.document.id != place.candidate.id else None,
            acl="allowed",
        )
        for rank, place in enumerate(shown, 1)
    )
    left_out = (
        register.dropped(place.candidate.id, place.reason, scores[place.candidate.id])
        for place in placed
        if place.reason is not None
    )
    return (*kept, *left_out)
