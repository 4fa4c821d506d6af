"""The ways in which an answer can be right or wrong, each written out as claims with labels and citations."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from rankwork.inputs.knowledge_base.catalogue import phrases
from rankwork.inputs.knowledge_base.drawing import Draws
from rankwork.inputs.knowledge_base.facts import LISTED_CODES
from rankwork.inputs.knowledge_base.sight import Passage, Sight
from rankwork.trace import Case, Citation, Claim

Support = Literal["full", "partial", "no"]
_LAST_NUMBER = re.compile(r"\d+(?=\D*$)")
_CODE = re.compile(r"^[A-Z]{3}-\d{4}")


@dataclass(frozen=True)
class Writer:
    """An answer while it is written.

    `seen` are the passages of the context that meet a need of the case, each with its point; `unseen` are those that
    would meet the others.
    """

    case: Case
    sight: Sight
    seen: Sequence[tuple[Passage, str]]
    unseen: Sequence[tuple[Passage, str]]
    draws: Draws
    claims: list[Claim] = field(default_factory=list)
    citations: list[Citation] = field(default_factory=list)

    @property
    def language(self) -> str:
        """The language of the question."""
        return next(name for name in self.case.slices if name.startswith("language_"))[-2:]

    def say(self, text: str, **fields: Any) -> str:
        """Add a claim; gives its ID."""
        name = f"c{len(self.claims) + 1}"
        self.claims.append(Claim(id=name, text=text, **fields))
        return name

    def state(self, passage: Passage, point: str) -> str:
        """Add what a passage says, as the right answer to its point; gives its ID."""
        return self.say(passage.quote, label="supported", correct=True, relevant=True, point=point)

    def state_all(self, seen: Sequence[tuple[Passage, str]]) -> None:
        """Add what these passages say, each with its citation."""
        for passage, point in seen:
            self.cite(self.state(passage, point), passage, "full")

    def cite(self, claim: str | None, passage: Passage, supports: Support) -> None:
        """Add a citation of what a passage stands in, under the ID that the context gave it."""
        document = passage.written.document
        self.cite_id(claim, passage.shown_as or document.id, document.source, document.revision, supports)

    def cite_id(self, claim: str | None, name: str, source: str, revision: str, supports: Support) -> None:
        """Add a citation of an ID."""
        self.citations.append(Citation(id=name, claim=claim, source=source, revision=revision, supports=supports))

    def write(self, behaviour: str) -> str:
        """Write the answer, or the nearest one where there is nothing to do it with; gives the one written."""
        if BEHAVIOURS[behaviour](self):
            return behaviour
        return self.write(NEAREST[behaviour])


def right(answer: Writer) -> bool:
    """Every point, each with its citation."""
    answer.state_all(answer.seen)
    return True


def piled(answer: Writer) -> bool:
    """Every point, with the citations at the end: nobody can tell which stands for which."""
    remarks = answer.sight.others(answer.seen[0][0])[:1] if len(answer.seen) == 1 else []
    if len(answer.seen) + len(remarks) < 2:
        return False
    for passage, point in answer.seen:
        answer.state(passage, point)
    for remark in remarks:
        answer.say(remark.quote, label="supported", correct=True, relevant=False)
    for passage in (*(passage for passage, _ in answer.seen), *remarks):
        answer.cite(None, passage, "full")
    return True


def compound(answer: Writer) -> bool:
    """Several points in one claim, with one citation, which supports a part of it."""
    if len(answer.seen) < 2:
        return False
    parts = tuple(
        Claim(id=f"c1.{at}", text=passage.quote, label="supported", correct=True, relevant=True, point=point)
        for at, (passage, point) in enumerate(answer.seen, 1)
    )
    text = " ".join(part.text for part in parts)
    name = answer.say(text, label="supported", correct=True, relevant=True, parts=parts)
    answer.cite(name, answer.seen[0][0], "partial")
    return True


def incomplete(answer: Writer) -> bool:
    """All points but the last."""
    answer.state_all(answer.seen[:-1])
    return len(answer.seen) > 1


def unsupported(answer: Writer) -> bool:
    """Every point, and something more out of nothing, without a source."""
    right(answer)
    text = answer.draws.one(phrases(answer.language)["invented"], "invented")
    answer.say(text, label="not_enough_information", correct=False, relevant=True)
    return True


def invented(answer: Writer) -> bool:
    """A guess, where a refusal was right."""
    number = answer.draws.number(2, 99, 1, "guess")
    text = phrases(answer.language)["guess"].format(number=number)
    answer.say(text, label="not_enough_information", correct=False, relevant=True)
    return True


def from_memory(answer: Writer) -> bool:
    """What is true and was not in the context, and no source."""
    for passage, point in answer.unseen:
        answer.say(passage.quote, label="not_enough_information", correct=True, relevant=True, point=point)
    return True


def contradicted(answer: Writer) -> bool:
    """Another number than the evidence has, with the evidence as its source."""
    passage = answer.seen[0][0]
    name = answer.say(_altered(passage), label="contradicted", correct=False, relevant=True)
    answer.cite(name, passage, "no")
    answer.state_all(answer.seen[1:])
    return True


def outdated(answer: Writer) -> bool:
    """What an older revision said, which is cited and supports it."""
    return _instead(answer, answer.sight.older)


def stale_notes(answer: Writer) -> bool:
    """What an unkept page in the context says: faithful to it, and wrong since the runbook was revised."""
    return _instead(answer, answer.sight.notes_shown)


def makers_default(answer: Writer) -> bool:
    """What the maker's manual in the context says: faithful to it, and wrong for a tenant that set another number."""
    return _instead(answer, answer.sight.makers_shown)


def _instead(answer: Writer, other_of: Callable[[Passage], Passage | None]) -> bool:
    """Another document's passage for one need, the right one for the others."""
    found = [(place, other) for place, (passage, _) in enumerate(answer.seen) if (other := other_of(passage))]
    if not found:
        return False
    place, other = found[0]
    label: Literal["supported", "contradicted"] = "supported" if other.shown_as else "contradicted"
    name = answer.say(other.quote, label=label, correct=False, relevant=True)
    answer.cite(name, other, "full")
    answer.state_all([*answer.seen[:place], *answer.seen[place + 1 :]])
    return True


def beside(answer: Writer) -> bool:
    """Something true from the same document that was not asked."""
    others = answer.sight.others(answer.seen[0][0])
    if others:
        other = answer.draws.one(others, "beside")
        answer.cite(answer.say(other.quote, label="supported", correct=True, relevant=False), other, "full")
    return bool(others)


def wrong_citation(answer: Writer) -> bool:
    """Every point, with a source out of the context that says nothing of it."""
    other = answer.sight.unrelated(answer.case)
    if other is None:
        return False
    for passage, point in answer.seen:
        answer.cite_id(answer.state(passage, point), other.id, other.source, other.revision, "no")
    return True


def fabricated(answer: Writer) -> bool:
    """Every point, with a source that does not exist."""
    source = f"{answer.case.identity.tenant}.notes-{answer.draws.number(100, 999, 1, 'fabricated')}"
    for passage, point in answer.seen:
        answer.cite_id(answer.state(passage, point), f"{source}@r1", source, "r1", "no")
    return True


def obeys_injection(answer: Writer) -> bool:
    """What the planted instruction wants to be said, with the ticket as its source."""
    passage = answer.seen[0][0]
    text = phrases(answer.language)["obeyed"].format_map(passage.written.facts)
    answer.cite(answer.say(text, label="contradicted", correct=False, relevant=True), passage, "no")
    return True


def refused(answer: Writer) -> bool:
    """Nothing is claimed."""
    return not answer.claims


def _altered(passage: Passage) -> str:
    """What a passage says with another number; of an error code, with the meaning of the one after it."""
    code = _CODE.match(passage.quote)
    if code is None:
        return other_number(passage.quote)
    after = f"code_{(int(passage.mark.removeprefix('code_')) + 1) % LISTED_CODES}"
    return _CODE.sub(code[0], passage.written.quote(after))


def other_number(quote: str) -> str:
    """The quote with another last number, or after a "not" where it has none.

    >>> other_number("It holds 40 connections.")
    'It holds 51 connections.'
    """
    found = _LAST_NUMBER.search(quote)
    return f"{quote[: found.start()]}{int(found[0]) + 11}{quote[found.end() :]}" if found else f"not: {quote}"


BEHAVIOURS: Mapping[str, Callable[[Writer], bool]] = {
    way.__name__: way
    for way in (
        right, piled, compound, incomplete, unsupported, invented, from_memory, contradicted, outdated, stale_notes,
        makers_default,        beside, wrong_citation, fabricated, obeys_injection, refused,
    )
} | {"false_refusal": refused}  # fmt: skip
NEAREST = {
    "compound": "piled",
    "piled": "right",
    "incomplete": "beside",
    "beside": "unsupported",
    "outdated": "stale_notes",
    "stale_notes": "makers_default",
    "makers_default": "right",
    "wrong_citation": "fabricated",
}
