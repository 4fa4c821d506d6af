"""The context: what of the reranked list is shown to the model, and why the rest is not.

In order of rank each candidate passes these steps, and the first that stops it is its drop reason: a chunk of a whole
document that is in (`parent_replaced`), a copy of what is in already (`duplicate_id`), nearly one (`near_duplicate`),
one too many of its source (`quota`), too long for what is left (`token_budget`). What is too long is passed over, and a
shorter one behind it may still fit. Only what is in the context can stop another.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from rankwork.errors import ContractError
from rankwork.inputs.documents import Document
from rankwork.retrieval.chunking import plain
from rankwork.trace import DropReason

_TOKEN = re.compile(r"\w+|[^\w\s]")
COUNTER = "words and signs"
SHINGLE = 3


@dataclass(frozen=True)
class Placed:
    """A candidate's fate: the document that stands in the context (its parent, or itself), or why it was dropped.

    `stand_in` is the ID in the context that has its text, where it was dropped for having it.
    """

    candidate: Document
    document: Document
    reason: DropReason | None = None
    stand_in: str | None = None


@dataclass(frozen=True)
class Limits:
    """What a context may hold. None is no limit.

    `budget`: tokens, as `count_tokens` counts. `quota`: items of one source. `near`: the share of three-word
    sequences in common (Jaccard) from which two texts count as nearly the same; exact copies always do.
    """

    budget: int | None = None
    quota: int | None = None
    near: float | None = None

    def __post_init__(self) -> None:
        for name in ("budget", "quota"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ContractError(f"{name} must be at least 1 or None, got {value}")
        if self.near is not None and not 0 < self.near <= 1:
            raise ContractError(f"near must lie above 0 and be at most 1, or be None, got {self.near}")


def count_tokens(text: str) -> int:
    """How many words and signs a text has: the declared unit of the budget where no model's own tokens are counted.

    >>> count_tokens("Sum of a, b (int).")
    9
    """
    return len(_TOKEN.findall(text))


@dataclass
class Assembler:
    """Puts contexts together; lengths and word sequences of a document are worked out once.

    `parents` are the whole documents by ID, where chunks are to be replaced by them.

    >>> notes = [Document("a", "same words"), Document("b", "same  words"), Document("c", "others")]
    >>> [(placed.candidate.id, placed.reason) for placed in Assembler(Limits(budget=3)).assemble(notes)]
    [('a', None), ('b', 'duplicate_id'), ('c', None)]
    """

    limits: Limits = field(default_factory=Limits)
    parents: Mapping[str, Document] = field(default_factory=dict)
    count: Callable[[str], int] = count_tokens
    _tokens: dict[str, int] = field(default_factory=dict, init=False, repr=False)
    _shingles: dict[str, frozenset[tuple[str, ...]]] = field(default_factory=dict, init=False, repr=False)

    def assemble(self, candidates: Sequence[Document]) -> list[Placed]:
        """The fate of each candidate, in their order."""
        context = _Context()
        return [self._placed(candidate, context) for candidate in candidates]

    def tokens(self, document: Document) -> int:
        """The tokens of a document's text."""
        if document.id not in self._tokens:
            self._tokens[document.id] = self.count(document.text)
        return self._tokens[document.id]

    def _placed(self, candidate: Document, context: "_Context") -> Placed:
        text = plain(candidate.text)
        source = candidate.source or candidate.id
        document = self.parents.get(candidate.parent or candidate.id, candidate)
        if document.id in context.ids:
            return Placed(candidate, document, "parent_replaced", document.id)
        if text in context.texts:
            return Placed(candidate, document, "duplicate_id", context.texts[text])
        if (twin := self._near(candidate, context)) is not None:
            return Placed(candidate, document, "near_duplicate", twin)
        if self.limits.quota is not None and context.sources[source] >= self.limits.quota:
            return Placed(candidate, document, "quota")
        if self.limits.budget is not None and context.tokens + self.tokens(document) > self.limits.budget:
            return Placed(candidate, document, "token_budget")
        context.add(candidate, document, text, source, self.tokens(document))
        return Placed(candidate, document)

    def _near(self, candidate: Document, context: "_Context") -> str | None:
        """The ID in the context whose text is nearly that of the candidate."""
        if self.limits.near is None:
            return None
        own = self._sequences(candidate)
        for other, shown in context.shown:
            theirs = self._sequences(other)
            small, large = sorted((len(own), len(theirs)))
            if small >= self.limits.near * large and _jaccard(own, theirs) >= self.limits.near:
                return shown
        return None

    def _sequences(self, document: Document) -> frozenset[tuple[str, ...]]:
        if document.id not in self._shingles:
            self._shingles[document.id] = shingles(document.text)
        return self._shingles[document.id]


@dataclass
class _Context:
    """What is in so far."""

    texts: dict[str, str] = field(default_factory=dict)
    ids: set[str] = field(default_factory=set)
    sources: Counter[str] = field(default_factory=Counter)
    shown: list[tuple[Document, str]] = field(default_factory=list)
    tokens: int = 0

    def add(self, candidate: Document, document: Document, text: str, source: str, tokens: int) -> None:
        self.texts[text] = document.id
        self.ids.add(document.id)
        self.sources[source] += 1
        self.shown.append((candidate, document.id))
        self.tokens += tokens


def shingles(text: str) -> frozenset[tuple[str, ...]]:
    """The sequences of three words of a text, in lower case; of a shorter text its only sequence.

    >>> sorted(shingles("A b c D"))
    [('a', 'b', 'c'), ('b', 'c', 'd')]
    """
    found = re.findall(r"\w+", text.lower())
    return frozenset(tuple(found[place : place + SHINGLE]) for place in range(max(len(found) - SHINGLE + 1, 1)))


def _jaccard(one: frozenset[tuple[str, ...]], two: frozenset[tuple[str, ...]]) -> float:
    common = len(one & two)
    return common / (len(one) + len(two) - common)
