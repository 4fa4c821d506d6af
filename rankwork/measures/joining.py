"""A run joined with its judgements: the judged documents that were retrieved, and where their tie groups lie.

Only judged documents can move a measure, so the work is done on those, not on all rows.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankwork.errors import InputError
from rankwork.rankings import Ints, Judgements, Rankings


@dataclass(frozen=True)
class Boundaries:
    """What lies at the cut of each judged query, int64[J]; zeros where nothing was retrieved.

    `above` documents score strictly above the k-th, `tied` have its score, `slots` of them are taken; `k` is clipped to
    the list.
    """

    k: Ints
    above: Ints
    tied: Ints
    slots: Ints


@dataclass(frozen=True, eq=False)
class Joined:
    """A run joined with its judgements, query by query in the judgements' order; J judged queries, H hits.

    A hit is a judged document that was retrieved: `hit_query` int64[H] is its judged query, `hit_row` its row in the
    run, `hit_judged` its row in the judgements.
    """

    run: Rankings
    judgements: Judgements
    list_of_query: Ints
    hit_query: Ints
    hit_row: Ints
    hit_judged: Ints

    @classmethod
    def of(cls, run: Rankings, judgements: Judgements) -> "Joined":
        """Join them. InputError if one is empty, if their IDs are of two kinds, or if no judged query has a result."""
        lists = np.array([run.query_index.get(query, -1) for query in judgements.queries], np.int64)
        _check(run, judgements, lists)
        codes = run.codes_of(judgements.documents)
        pairs, judged = _judged_pairs(run, judgements, lists, codes)
        rows = _rows_of_judged_documents(run, lists, codes)
        keys = run.query_of_row[rows] * len(run.documents) + run.codes[rows]
        at = np.minimum(np.searchsorted(pairs, keys), max(len(pairs) - 1, 0))
        found = pairs[at] == keys if len(pairs) else np.zeros(len(keys), bool)
        hit_judged = judged[at[found]]
        return cls(run, judgements, lists, judgements.query_of_row[hit_judged], rows[found], hit_judged)

    @cached_property
    def retrieved(self) -> Ints:
        """How many documents each judged query retrieved, int64[J]."""
        return np.where(self.list_of_query >= 0, self.run.lengths[self.list_of_query], 0)

    @cached_property
    def hit_grade(self) -> NDArray[Any]:
        """The grade of each hit, [H]."""
        return self.judgements.grades[self.hit_judged]

    @cached_property
    def _start(self) -> Ints:
        return np.where(self.list_of_query >= 0, self.run.offsets[self.list_of_query], 0)

    def hit_place(self, order: str) -> Ints:
        """How many documents stand before each hit in its list, in one of the orders of ties; int64[H]."""
        return self._places(self.run.order(order))

    def _places(self, rows: Ints) -> Ints:
        inverse = np.empty(len(rows), np.int64)
        inverse[rows] = np.arange(len(rows))
        return inverse[self.hit_row] - self._start[self.hit_query]

    @cached_property
    def _hit_group(self) -> Ints:
        places = self._places(self.run.by_score) + self._start[self.hit_query]
        return np.searchsorted(self.run.group_starts, places, side="right") - 1

    @cached_property
    def hit_above(self) -> Ints:
        """How many documents score strictly above each hit, int64[H]."""
        return self.run.group_starts[self._hit_group] - self._start[self.hit_query]

    @cached_property
    def hit_tied(self) -> Ints:
        """The size of each hit's tie group, int64[H]."""
        return self.run.group_starts[self._hit_group + 1] - self.run.group_starts[self._hit_group]

    def boundaries(self, k: int) -> Boundaries:
        """What lies at the cut after `k` documents, for every judged query."""
        clipped = np.minimum(k, self.retrieved)
        last = self._start + np.maximum(clipped - 1, 0)
        some = clipped > 0
        group = np.where(some, np.searchsorted(self.run.group_starts, last, side="right") - 1, 0)
        starts = self.run.group_starts
        above = np.where(some, starts[group] - self._start, 0)
        tied = np.where(some, starts[group + 1] - starts[group], 0)
        return Boundaries(clipped, above, tied, clipped - above)

    def count_hits(self, mask: NDArray[np.bool_]) -> Ints:
        """How many of the masked hits each judged query has, int64[J]."""
        return np.bincount(self.hit_query[mask], minlength=len(self.judgements.queries))

    def count_judged(self, mask: NDArray[np.bool_]) -> Ints:
        """How many of the masked judgements each judged query has, retrieved or not, int64[J]."""
        return np.bincount(self.judgements.query_of_row[mask], minlength=len(self.judgements.queries))


def relevant(grades: NDArray[Any], rel: float | str) -> NDArray[np.bool_]:
    """Which grades count as relevant: those from `rel` on, or with '>0' all positive ones.

    >>> relevant(np.array([0.5, 1.5]), 1).tolist(), relevant(np.array([0.5, 1.5]), ">0").tolist()
    ([False, True], [True, True])
    """
    return np.asarray(grades > 0 if isinstance(rel, str) else grades >= rel)


def _check(run: Rankings, judgements: Judgements, lists: Ints) -> None:
    if not len(run):
        raise InputError("the run is empty: no query has a result")
    if not judgements.queries:
        raise InputError("the judgements are empty: no query is judged")
    if len(judgements) and run.id_kind != judgements.id_kind:
        raise InputError(
            "document IDs are text or integers, never both: "
            f"the run has {_first(run)!r}, the judgements {_first(judgements)!r}"
        )
    if not (lists >= 0).any() or not run.lengths[lists[lists >= 0]].any():
        raise InputError(
            "no judged query has a result: the run has, for example, query "
            f"{_with_rows(run)!r}, the judgements {judgements.queries[0]!r}"
        )


def _first(lists: Rankings | Judgements) -> Any:
    return lists.documents[lists.codes[:1]].tolist()[0]


def _with_rows(run: Rankings) -> str:
    return run.queries[int(np.argmax(run.lengths > 0))]


def _judged_pairs(run: Rankings, judgements: Judgements, lists: Ints, codes: Ints) -> tuple[Ints, Ints]:
    """The judged (query, document) pairs that the run could hold, as sorted numbers, and their judgement rows."""
    documents = codes[judgements.codes]
    queries = lists[judgements.query_of_row]
    possible = np.flatnonzero((documents >= 0) & (queries >= 0))
    pairs = queries[possible] * len(run.documents) + documents[possible]
    ordered = np.argsort(pairs)
    return pairs[ordered], possible[ordered]


def _rows_of_judged_documents(run: Rankings, lists: Ints, codes: Ints) -> Ints:
    """The rows whose document is judged for some query and whose own query is judged."""
    judged_document = np.zeros(len(run.documents), bool)
    judged_document[codes[codes >= 0]] = True
    judged_query = np.zeros(len(run.queries), bool)
    judged_query[lists[lists >= 0]] = True
    rows = np.flatnonzero(judged_document[run.codes])
    return rows[judged_query[run.query_of_row[rows]]]
