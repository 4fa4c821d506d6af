"""Maximal marginal relevance: each pick weighs relevance against likeness to what was picked before.

J. Carbonell and J. Goldstein, "The Use of MMR, Diversity-Based Reranking for Reordering Documents and Producing
Summaries", SIGIR 1998. They leave ties open; here the lowest ID wins, in exact arithmetic. A tie at one pick changes
the redundancy of all picks after it, so the end of a list can hang on a tie at its start.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankwork.contract.reference import Candidate, Id, Rows, candidates, checked_k
from rankwork.errors import ContractError
from rankwork.retrieval.fusion import Fused
from rankwork.retrieval.rank_values import as_written

if TYPE_CHECKING:
    import pandas as pd

BRANCHES = 10_000


@dataclass(frozen=True)
class Pick:
    """One pick: the document, its marginal relevance, its relevance, its redundancy, and who else had as much.

    `redundancy` is its greatest similarity to a document picked before, 0 for the first pick. `tied` are all documents
    with the greatest marginal relevance, in ascending order; the first of them was picked.
    """

    id: Id
    value: Fraction
    relevance: Fraction
    redundancy: Fraction
    tied: tuple[Id, ...]


@dataclass(frozen=True, repr=False)
class Diversified:
    """The picks in their order."""

    picks: tuple[Pick, ...]

    def __len__(self) -> int:
        return len(self.picks)

    def __repr__(self) -> str:
        return f"Diversified({', '.join(str(pick.id) for pick in self.picks)}; {len(self.tied_picks)} tied picks)"

    @property
    def ids(self) -> tuple[Id, ...]:
        """The documents, in the order in which they were picked."""
        return tuple(pick.id for pick in self.picks)

    @property
    def tied_picks(self) -> tuple[int, ...]:
        """The picks, counted from 1, at which an ID decided."""
        return tuple(place for place, pick in enumerate(self.picks, 1) if len(pick.tied) > 1)

    def to_pandas(self) -> "pd.DataFrame":
        """One row a pick."""
        import pandas as pd

        names = ("value", "relevance", "redundancy")
        rows = [
            {"id": p.id, **{name: float(getattr(p, name)) for name in names}, "tied": list(p.tied)} for p in self.picks
        ]
        return pd.DataFrame(rows, columns=["id", *names, "tied"])


@dataclass(frozen=True)
class Outcomes:
    """What any resolution of the ties leads to: the lists that can come out, and who is in all of them or in some.

    `complete` is False where there were more branches than were allowed: then lists are missing, `possible` is not all,
    and `certain` is None.
    """

    lists: tuple[tuple[Id, ...], ...]
    complete: bool

    @property
    def certain(self) -> frozenset[Id] | None:
        """The documents of every list; None where not all lists are known."""
        return frozenset(self.lists[0]).intersection(*self.lists) if self.complete else None

    @property
    def possible(self) -> frozenset[Id]:
        """The documents of at least one list."""
        return frozenset().union(*self.lists)


def mmr(rows: Rows, similarity: ArrayLike, k: int, *, balance: Any = 0.5) -> Diversified:
    """The k documents of greatest marginal relevance, one after the other; equal ones by ascending ID.

    `rows` are (ID, relevance) or a mapping, `similarity` a matrix float[n, n]: row and column i belong to row i of
    `rows`, as it was given. Marginal relevance is balance × relevance − (1 − balance) × greatest similarity to a
    document picked before; `balance` (the paper's lambda) lies in [0, 1] and is taken as it is written. Scores and
    similarities are taken as the exact numbers that they are, so that equal values tie.

    Edges: k is clipped to the rows; k = 0 picks nothing; the first pick has no redundancy. ContractError for rows that
    `rank` refuses, a matrix of another shape or with a value that is not finite, a balance outside of [0, 1].

    >>> alike = [[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    >>> found = mmr({"b": 0.75, "a": 0.75, "c": 0.5}, alike, 2)
    >>> found.ids, found.picks[0].tied, str(found.picks[1].value)
    (('a', 'c'), ('a', 'b'), '1/4')
    """
    task = _Task.of(rows, similarity, balance)
    chosen: list[int] = []
    picks = []
    for _ in range(checked_size(k, task)):
        best = task.best(chosen)
        picks.append(task.pick(best, chosen))
        chosen.append(best[0])
    return Diversified(tuple(picks))


def diversify(
    fused: Fused, vectors: Mapping[Any, ArrayLike], k: int, *, window: int | None = None, balance: Any = 0.5
) -> Diversified:
    """MMR over the first `window` documents of a fused list (None: all); alike are they by the cosine of their vectors.

    Relevance is the fused score over that of the first document, so that it lies in 0..1 as a cosine does. A vector of
    zeros is like nothing. Edges and errors as for `mmr`; ContractError, too, for a document without a vector, and for
    vectors of different length.

    >>> from rankwork.retrieval.fusion import rrf
    >>> fused = rrf([["a", "b", "c"], ["b", "a"]])
    >>> diversify(fused, {"a": [1, 0], "b": [1, 0], "c": [0, 1]}, 2).ids
    ('a', 'c')
    """
    head = fused.top(len(fused) if window is None else window)
    for identifier in head:
        if identifier not in vectors:
            raise ContractError(f"there is no vector for document {identifier!r}")
    relevance = {identifier: score / fused.scores[0] for identifier, score in zip(head, fused.scores, strict=False)}
    return mmr(
        relevance, _cosines([np.asarray(vectors[identifier], np.float64) for identifier in head]), k, balance=balance
    )


def _cosines(vectors: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """The cosine of each pair; equal vectors give the same bits, since every pair is added up alike."""
    if len({vector.shape for vector in vectors}) > 1:
        raise ContractError(f"vectors must have one length, got {sorted({vector.shape for vector in vectors})}")
    lengths = [float(np.sqrt((vector * vector).sum())) or 1.0 for vector in vectors]
    unit = [vector / length for vector, length in zip(vectors, lengths, strict=True)]
    return np.array([[float((one * other).sum()) for other in unit] for one in unit])


def mmr_outcomes(
    rows: Rows, similarity: ArrayLike, k: int, *, balance: Any = 0.5, branches: int = BRANCHES
) -> Outcomes:
    """Every list that MMR can return when its ties may be resolved either way; arguments and errors as for `mmr`.

    At most `branches` lists are followed to their end.

    >>> alike = [[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    >>> mmr_outcomes({"b": 0.75, "a": 0.75, "c": 0.5}, alike, 2).lists
    (('a', 'c'), ('b', 'c'))
    """
    task = _Task.of(rows, similarity, balance)
    size = checked_size(k, task)
    open_lists: list[tuple[int, ...]] = [()]
    done: list[tuple[int, ...]] = []
    while open_lists and len(done) < branches:
        chosen = open_lists.pop()
        if len(chosen) == size:
            done.append(chosen)
        else:
            open_lists += [(*chosen, number) for number in reversed(task.best(chosen))]
    return Outcomes(tuple(tuple(task.found[n].id for n in each) for each in done), complete=not open_lists)


def checked_size(k: Any, task: "_Task") -> int:
    """How many are picked: k, or all where there are fewer."""
    return min(checked_k(k, max(k, 0)), len(task.found))


@dataclass(frozen=True)
class _Task:
    """The checked input, and the parts of the marginal relevance, times what makes them whole numbers."""

    found: tuple[Candidate, ...]
    relevance: tuple[Fraction, ...]
    similarity: NDArray[np.float64]
    balance: Fraction

    @classmethod
    def of(cls, rows: Rows, similarity: ArrayLike, balance: Any) -> "_Task":
        found = candidates(rows)
        matrix = np.asarray(similarity, np.float64)
        if matrix.shape != (len(found), len(found)) and matrix.size + len(found):
            raise ContractError(
                f"similarity must be a matrix of {len(found)} rows and columns, got shape {matrix.shape}"
            )
        if not np.isfinite(matrix).all():
            row, column = np.argwhere(~np.isfinite(matrix))[0].tolist()
            pair = f"{found[row].id!r} and {found[column].id!r}"
            raise ContractError(f"the similarity of {pair} must be finite, got {matrix[row, column].item()!r}")
        share = as_written(balance, "balance")
        if share > 1:
            raise ContractError(f"balance must be between 0 and 1, got {balance!r}")
        return cls(found, tuple(Fraction(each.score) for each in found), matrix, share)

    def redundancy(self, number: int, chosen: Sequence[int]) -> Fraction:
        """The greatest similarity to a document that was picked."""
        return Fraction(float(self.similarity[number, list(chosen)].max())) if chosen else Fraction(0)

    def value(self, number: int, chosen: Sequence[int]) -> Fraction:
        return self.balance * self.relevance[number] - (1 - self.balance) * self.redundancy(number, chosen)

    def best(self, chosen: Sequence[int]) -> list[int]:
        """The documents of greatest marginal relevance, by ascending ID."""
        left = [number for number in range(len(self.found)) if number not in chosen]
        values = {number: self.value(number, chosen) for number in left}
        greatest = max(values.values())
        return sorted((n for n in left if values[n] == greatest), key=lambda number: self.found[number].id)

    def pick(self, best: Sequence[int], chosen: Sequence[int]) -> Pick:
        first = best[0]
        tied = tuple(self.found[number].id for number in best)
        return Pick(tied[0], self.value(first, chosen), self.relevance[first], self.redundancy(first, chosen), tied)
