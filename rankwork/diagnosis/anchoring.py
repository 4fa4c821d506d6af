"""Gold evidence found again after its source was cut into other chunks, or revised; or the case is marked stale.

Evidence stands at characters of a source at a revision, with the text that stands there. In a collection that holds
the same revision its place is known. In another revision it is looked for by its exact text, which must stand there
once. What cannot be found so makes the case stale, with a reason: it is left out and counted, never scored as a miss.

A chunk *holds* evidence if it covers at least a share `overlap` of its characters. Chunks that each hold it are
alternatives. Where none does, because chunks are shorter than evidence, it is split over a chain of chunks that cover
that share together: all of them are required, or any one is enough, as the caller says.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import product
from typing import Literal

from rankwork.diagnosis.source_text import Place, Source, Sources
from rankwork.errors import ContractError
from rankwork.inputs.documents import Document
from rankwork.trace import Case, Evidence, Requirement

Reason = Literal["moved", "changed", "gone", "ambiguous", "out_of_its_time", "unanchored", "too_many_parts"]
MOST_PARTS = 256  # requirements that one requirement may become


@dataclass(frozen=True)
class Stale:
    """A case whose gold does not hold in this collection: which evidence, why, and in words.

    `moved`: its text now stands in another source. `changed`: the source is there, the text is not. `gone`: neither is.
    `ambiguous`: the text stands there more than once. `out_of_its_time`: the case, or the source, does not hold at the
    case's time. `unanchored`: it names no place and its ID is unknown. `too_many_parts`: alternatives of many parts.
    """

    case: Case
    evidence: str | None
    reason: Reason
    detail: str

    def __str__(self) -> str:
        return f"case {self.case.id}: {self.reason.replace('_', ' ')}: {self.detail}"


@dataclass(frozen=True)
class Anchored:
    """The cases whose gold was found, on the new chunks; those that are stale; and how evidence was found.

    `found` counts pieces of evidence: `by_id`, `by_place`, `by_quote`; `split` those that no chunk holds alone, and
    `dropped` alternatives that are gone while another stands.
    """

    cases: tuple[Case, ...]
    stale: tuple[Stale, ...]
    found: Counter[str]

    @property
    def reasons(self) -> Counter[str]:
        """Stale cases by reason."""
        return Counter(record.reason for record in self.stale)

    def __str__(self) -> str:
        found = ", ".join(f"{count} {way.replace('_', ' ')}" for way, count in sorted(self.found.items()))
        reasons = ", ".join(f"{count} {reason.replace('_', ' ')}" for reason, count in sorted(self.reasons.items()))
        lines = [f"{len(self.cases)} cases hold; evidence found: {found or 'none'}"]
        return "\n".join([*lines, f"{len(self.stale)} cases are stale: {reasons}"] if self.stale else lines)


def anchored(
    cases: Iterable[Case],
    documents: Sequence[Document],
    *,
    overlap: float = 0.5,
    parts: Literal["all", "any"] = "all",
) -> Anchored:
    """Every case on the chunks of a collection, or stale.

    `overlap` in (0, 1] is the share of its characters that a chunk must cover to hold evidence. `parts` says what is
    required of evidence that is split: `all` of its chunks, for a statement, or `any` of them, where the evidence is a
    whole document of which one passage is enough. Only documents that hold at the time of a case serve it.
    ContractError for another `overlap` or `parts`; InputError for a document ID that stands twice.

    >>> chunks = [Document("d#0", "Leave is", source="d"), Document("d#1", " 30 days.", source="d", start=8)]
    >>> days = Evidence(id="old", source="d", start=9, end=16, quote="30 days")
    >>> found = anchored([Case(id="c", query="?", requires=(Requirement(any_of=(days,)),))], chunks)
    >>> [evidence.id for evidence in found.cases[0].requires[0].any_of]
    ['d#1']
    """
    if not 0 < overlap <= 1:
        raise ContractError(f"overlap must be above 0 and at most 1, got {overlap!r}")
    if parts not in ("all", "any"):
        raise ContractError(f"parts must be 'all' or 'any', got {parts!r}")
    search = _Search(Sources.of(documents), overlap, parts == "any", Counter(), {})
    cases_found: list[Case] = []
    stale: list[Stale] = []
    for case in cases:
        result = search.case(case)
        if isinstance(result, Stale):
            stale.append(result)
        else:
            cases_found.append(result)
    return Anchored(tuple(cases_found), tuple(stale), search.found)


class _NotFound(Exception):
    """Evidence that is not there, with its reason."""

    def __init__(self, reason: Reason, detail: str, evidence: str | None = None) -> None:
        super().__init__(detail)
        self.reason: Reason = reason
        self.evidence = evidence


_Parts = tuple[Evidence, ...]  # all of these


@dataclass(frozen=True)
class _Search:
    sources: Sources
    overlap: float
    one_is_enough: bool
    found: Counter[str]
    by_time: dict[datetime | None, Sources]

    def case(self, case: Case) -> Case | Stale:
        counted: Counter[str] = Counter()
        try:
            if not case.holds_at(case.time):
                raise _NotFound("out_of_its_time", f"it is asked at {case.time}, when its gold does not hold")
            search = _Search(self._sources_at(case.time), self.overlap, self.one_is_enough, counted, {})
            needs = [need for given in case.requires for need in search.requirement(given)]
        except _NotFound as missing:
            return Stale(case, missing.evidence, missing.reason, str(missing))
        self.found.update(counted)
        excludes = dict.fromkeys(name for given in case.excludes for name in search.sources.chunks_of(given))
        return case.model_copy(update={"requires": _one_grade_each(dict.fromkeys(needs)), "excludes": tuple(excludes)})

    def _sources_at(self, time: datetime | None) -> Sources:
        if time not in self.by_time:
            self.by_time[time] = self.sources.at(time)
        return self.by_time[time]

    def requirement(self, need: Requirement) -> list[Requirement]:
        """What is to be met instead: the product of the parts of the alternatives, as "all of any of" it must be."""
        ways = [parts for evidence in need.any_of for parts in self._ways(evidence, alone=len(need.any_of) == 1)]
        if need.any_of and not ways:
            raise _NotFound("gone", f"no alternative of {need.any_of[0].id!r} is left", need.any_of[0].id)
        number = 1
        for parts in ways:
            number *= len(parts)
        if number > MOST_PARTS:
            detail = f"its {len(ways)} alternatives of several parts make {number} requirements"
            raise _NotFound("too_many_parts", detail, need.any_of[0].id)
        return [Requirement(any_of=tuple(dict.fromkeys(chosen)), name=need.name) for chosen in product(*ways)]

    def _ways(self, evidence: Evidence, *, alone: bool) -> list[_Parts]:
        try:
            return self._found(evidence)
        except _NotFound as missing:
            missing.evidence = evidence.id
            if missing.reason != "gone" or alone:
                raise
            self.found["dropped"] += 1  # nothing can retrieve it, another alternative may still be met
            return []

    def _found(self, evidence: Evidence) -> list[_Parts]:
        if evidence.start is None and not evidence.quote:
            return self._by_id(evidence)
        source = self.sources.named(evidence.source) if evidence.source else self.sources
        if source is None:
            raise self._elsewhere(evidence, "gone", f"source {evidence.source!r} is not in the collection")
        text = source.revision(evidence.revision) if evidence.source else None
        if text is not None and evidence.start is not None:
            return self._by_place(evidence, text)
        return self._by_quote(evidence, source)

    def _by_id(self, evidence: Evidence) -> list[_Parts]:
        document = self.sources.document(evidence.id)
        if document is None or (evidence.revision and document.revision != evidence.revision):
            raise _NotFound(
                "unanchored", f"evidence {evidence.id!r} names no place in a source, and no such ID is there"
            )
        self.found["by_id"] += 1
        return [(evidence,)]

    def _by_place(self, evidence: Evidence, text: Source) -> list[_Parts]:
        place = Place(evidence.start or 0, evidence.end or 0)
        if evidence.quote and not text.could_read(place, evidence.quote):
            raise _NotFound(
                "changed", f"another text than {evidence.id!r} quotes stands at its place in the same revision"
            )
        self.found["by_place"] += 1
        return self._on_chunks(evidence, text, place)

    def _by_quote(self, evidence: Evidence, source: Sources) -> list[_Parts]:
        name, home = repr(evidence.id), repr(evidence.source) if evidence.source else "the collection"
        if not evidence.quote:
            raise _NotFound("changed", f"{home} was revised, and {name} has no quote to be found by")
        places = [(text, place) for text in source.texts for place in text.places(evidence.quote)]
        if not places:
            reason: Reason = "changed" if evidence.source else "gone"
            raise self._elsewhere(evidence, reason, f"{home} does not say what {name} quotes")
        if len(places) > 1:
            raise _NotFound("ambiguous", f"the quote of {name} stands {len(places)} times in {home}")
        self.found["by_quote"] += 1
        return self._on_chunks(evidence, *places[0])

    def _elsewhere(self, evidence: Evidence, reason: Reason, detail: str) -> _NotFound:
        others = [text for text in self.sources.texts if text.name != evidence.source]
        if evidence.quote and (home := next((text for text in others if text.places(evidence.quote)), None)):
            return _NotFound("moved", f"{detail}, and {home.name!r} says it")
        if self.sources.hides(evidence.source):
            return _NotFound("out_of_its_time", f"{evidence.source!r} does not hold at the time of the case")
        return _NotFound(reason, detail)

    def _on_chunks(self, evidence: Evidence, text: Source, place: Place) -> list[_Parts]:
        needed = self.overlap * len(place)
        holding = [chunk for chunk in text.chunks_at(place) if chunk.covers(place) >= needed]
        if holding:
            return [(_moved(evidence, text, chunk.document, place, place),) for chunk in holding]
        chain = text.chain(place)
        if sum(len(part) for _, part in chain) < needed:
            raise _NotFound("gone", f"no chunk of {text.name!r} holds the place of {evidence.id!r}")
        self.found["split"] += 1
        moved = tuple(_moved(evidence, text, chunk.document, part, place) for chunk, part in chain)
        return [(part,) for part in moved] if self.one_is_enough else [moved]


def _moved(evidence: Evidence, text: Source, document: Document, part: Place, whole: Place) -> Evidence:
    """The evidence under the ID of a chunk, anchored to the part of its place; its full place, where that is held.

    The anchor stays whole where one chunk holds it, so that it does not shrink with every re-chunking.
    """
    quote = evidence.quote[part.start - whole.start : part.end - whole.start]
    anchor = {"revision": text.name_of_revision, "start": part.start, "end": part.end, "quote": quote}
    return evidence.model_copy(update={"id": document.id, "source": text.name, **anchor})


def _one_grade_each(needs: Iterable[Requirement]) -> tuple[Requirement, ...]:
    """A chunk that took over evidence of several grades has the highest of them."""
    needs = tuple(needs)
    grades: dict[str, int] = {}
    for evidence in (evidence for need in needs for evidence in need.any_of):
        grades[evidence.id] = max(grades.get(evidence.id, 0), evidence.grade)
    return tuple(
        need.model_copy(
            update={"any_of": tuple(held.model_copy(update={"grade": grades[held.id]}) for held in need.any_of)}
        )
        for need in needs
    )
