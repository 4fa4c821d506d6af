"""One route and what it finds: the candidates by the contract, cut at a depth, with those that only a tie keeps out.

Positions are those of the documents in order of ID, so that the lowest position is the lowest ID.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from rankwork.contract.topk import topk
from rankwork.errors import ContractError
from rankwork.inputs.documents import Collection, Document
from rankwork.rankings import Columns, Rankings, text_array
from rankwork.retrieval.eligibility import Eligibility, Gate
from rankwork.trace import Case

Positions = NDArray[np.int64]


class Scorer(Protocol):
    """What scores every document for a query."""

    @property
    def name(self) -> str:
        """The route's name in a trace."""

    @property
    def version(self) -> str:
        """What made the scores, with its parameters, for the snapshot."""

    @property
    def dtype(self) -> str:
        """The type that its scores are compared in."""

    def scores(self, query: str) -> NDArray[Any]:
        """One score for each document."""

    def answers(self, scores: NDArray[Any]) -> NDArray[np.bool_]:
        """Which of the documents the route returns at all; without a limit on how many."""


@dataclass(frozen=True, eq=False)
class Found:
    """What a route found for one case: the positions by rank, with their scores.

    `tied` are the positions that were cut although they score like the last one that was kept; `answering` is how many
    candidates the route could return. `everything` are the scores of all documents and `answered` which of those count.
    """

    positions: Positions
    scores: NDArray[Any]
    tied: Positions
    answering: int
    everything: NDArray[Any]
    answered: NDArray[np.bool_]

    @property
    def complete(self) -> bool:
        """Whether nothing that the route could return was cut."""
        return len(self.positions) == self.answering


def in_order(collection: Collection) -> tuple[Document, ...]:
    """The documents in order of ID, as the contract compares text."""
    return tuple(sorted(collection.documents, key=lambda document: document.id))


def indexed_text(document: Document) -> str:
    """What the routes index of a document: its title and its text."""
    return f"{document.title}\n{document.text}" if document.title else document.text


def search(route: Scorer, query: str, eligibility: Eligibility, depth: int | None) -> Found:
    """The best candidates of a route, at most `depth` (None: all), by (score descending, ID ascending)."""
    scores = route.scores(query)
    answered = route.answers(scores)
    places = np.flatnonzero(eligibility.candidates & answered)
    if not len(places):
        return Found(places, scores[:0], places, 0, scores, answered)
    values = scores[places]
    best = topk(values, min(depth or len(places), len(places)))
    equal = values == best.values[-1]
    equal[best.indices] = False
    return Found(places[best.indices], best.values, places[equal], len(places), scores, answered)


def rankings(
    route: Scorer, collection: Collection, *, cases: Sequence[Case] | None = None, depth: int | None = None
) -> Rankings:
    """What a route returns for each case (None: all of the collection's), as rankings cut at `depth` by the contract.

    The route must have been made from `texts(collection)`: documents in order of ID. ContractError for a depth below 1.
    """
    if depth is not None and depth < 1:
        raise ContractError(f"depth must be at least 1, got {depth}")
    asked = collection.cases if cases is None else cases
    gate, documents = Gate(in_order(collection)), text_array(document.id for document in in_order(collection))
    found = [search(route, case.query, gate.of(case), depth) for case in asked]
    lengths = [len(one.positions) for one in found]
    columns = Columns(
        [case.id for case in asked],
        np.repeat(np.arange(len(found)), lengths),
        documents,
        _joined(one.positions for one in found),
    )
    return Rankings.of_columns(columns, _joined(one.scores for one in found))


def texts(collection: Collection) -> list[str]:
    r"""What the routes index, in order of ID: make a route from it.

    >>> texts(Collection("notes", "1", (Document("b", "x"), Document("a", "y", title="A"))))
    ['A\ny', 'x']
    """
    return [indexed_text(document) for document in in_order(collection)]


def _joined(parts: Iterable[NDArray[Any]]) -> NDArray[Any]:
    filled = [part for part in parts if len(part)]
    return np.concatenate(filled) if filled else np.zeros(0, np.int64)
