"""A run joined with its judgements: the judged documents that were retrieved, and where their tie groups lie.

Only judged documents can move a measure, so the work is done on those, not on all rows.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from rankwork.errors import InputError
from rankwork.measures.ragged import sums_by
from rankwork.rankings import Ints, Judgements, Rankings

_ROWS_AT_ONCE = 2**20


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
        check_joined(run, judgements, lists)
        pairs, judged = _judged_pairs(run, judgements, lists)
        rows, at = _rows_of_pairs(run, pairs)
        hit_judged = judged[at]
        return cls(run, judgements, lists, judgements.query_of_row[hit_judged], rows, hit_judged)

    def only(self, query: int) -> "Joined":
        """The same for one judged query alone, which has a list: work on it does not touch the others."""
        judged = slice(*self.judgements.offsets[query : query + 2].tolist())
        listed = int(self.list_of_query[query])
        rows = slice(*self.run.offsets[listed : listed + 2].tolist())
        hits = np.flatnonzero(self.hit_query == query)
        return Joined(
            _part(self.run, listed, rows, scores=self.run.scores[rows]),
            _part(self.judgements, query, judged, grades=self.judgements.grades[judged]),
            np.zeros(1, np.int64),
            np.zeros(len(hits), np.int64),
            self.hit_row[hits] - rows.start,
            self.hit_judged[hits] - judged.start,
        )

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

    @cached_property
    def _place_by_order(self) -> dict[str, Ints]:
        return {}

    def hit_place(self, order: str) -> Ints:
        """How many documents stand before each hit in its list, in one of the orders of ties; int64[H]."""
        if order not in self._place_by_order:
            by_id = order in ("id_asc", "id_desc")
            places = self._places_by_id(order == "id_desc") if by_id else self._places(self.run.order(order))
            self._place_by_order[order] = places
        return self._place_by_order[order]

    def _places_by_id(self, descending: bool) -> Ints:
        """Places where equal scores stand by ID; only tie groups that hold a hit are sorted, all of them at once."""
        starts, sizes = self.run.group_starts, np.diff(self.run.group_starts)
        tied = np.flatnonzero(self.hit_tied > 1)
        groups = np.unique(self.hit_group[tied])
        members = np.repeat(starts[groups] - np.cumsum(sizes[groups]) + sizes[groups], sizes[groups])
        rows = self.run.by_score[members + np.arange(len(members))]
        ranks = self.run.id_ranks_of(np.concatenate((rows, self.hit_row[tied])))
        ranks = -ranks if descending else ranks
        width = int(np.ptp(ranks)) + 1 if len(ranks) else 1
        ranks = ranks - ranks.min(initial=0)
        number = np.repeat(np.arange(len(groups)), sizes[groups])
        keys = np.sort(number * width + ranks[: len(rows)])
        number_of_hit = np.searchsorted(groups, self.hit_group[tied])
        at = np.searchsorted(keys, number_of_hit * width + ranks[len(rows) :])
        places = self.hit_above.copy()
        places[tied] += at - (np.cumsum(sizes[groups]) - sizes[groups])[number_of_hit]
        return places

    def _places(self, rows: Ints) -> Ints:
        inverse = np.empty(len(rows), np.int64)
        inverse[rows] = np.arange(len(rows))
        return inverse[self.hit_row] - self._start[self.hit_query]

    @cached_property
    def hit_start(self) -> Ints:
        """Where each hit's list starts in the run, int64[H]."""
        return self._start[self.hit_query]

    @cached_property
    def hit_group(self) -> Ints:
        """The tie group of each hit, numbered over the whole run in the order of its lists and scores; int64[H]."""
        places = self._places(self.run.by_score) + self.hit_start
        return np.searchsorted(self.run.group_starts, places, side="right") - 1

    @cached_property
    def hit_above(self) -> Ints:
        """How many documents score strictly above each hit, int64[H]."""
        return self.run.group_starts[self.hit_group] - self.hit_start

    @cached_property
    def hit_tied(self) -> Ints:
        """The size of each hit's tie group, int64[H]."""
        return self.run.group_starts[self.hit_group + 1] - self.run.group_starts[self.hit_group]

    @cached_property
    def _grade_levels(self) -> tuple[Ints, int]:
        values, levels = np.unique(self.hit_grade, return_inverse=True)
        return levels.astype(np.int64), max(len(values), 1)

    @property
    def hit_level(self) -> Ints:
        """Each hit's grade as the number of lower grades among all hits, int64[H]."""
        return self._grade_levels[0]

    @property
    def levels(self) -> int:
        """How many different grades the hits have."""
        return self._grade_levels[1]

    def moving_hits(self, every_judged: bool) -> Ints:
        """The positions of the hits that can move a measure: all, or those of a positive grade."""
        return self._all_hits if every_judged else self._positive_hits

    @cached_property
    def _all_hits(self) -> Ints:
        return np.arange(len(self.hit_row))

    @cached_property
    def _positive_hits(self) -> Ints:
        return np.flatnonzero(self.hit_grade > 0)

    def unretrieved(self, queries: NDArray[np.bool_], every_judged: bool) -> Ints:
        """The judgement rows of these queries whose document was not retrieved; all, or those of a positive grade."""
        missing = queries[self.judgements.query_of_row]
        missing[self.hit_judged] = False
        return np.flatnonzero(missing if every_judged else missing & (self.judgements.grades > 0))

    @cached_property
    def positive_judgements(self) -> tuple[Ints, Ints, NDArray[Any]]:
        """The judgements of a positive grade by query and grade descending: query, rank from 0, grade."""
        rows = np.flatnonzero(self.judgements.grades > 0)
        grades, queries = self.judgements.grades[rows], self.judgements.query_of_row[rows]
        order = np.lexsort((-grades, queries))
        counts = np.bincount(queries, minlength=len(self.judgements.queries))
        rank = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
        return queries[order], rank, grades[order]

    def tie_groups(self, every_judged: bool) -> "TieGroups":
        """The tie groups that hold a judged document, or one of a positive grade."""
        return self._groups_of_judged if every_judged else self._groups_of_positive

    @cached_property
    def _groups_of_judged(self) -> "TieGroups":
        return TieGroups.of(self, self._all_hits)

    @cached_property
    def _groups_of_positive(self) -> "TieGroups":
        return TieGroups.of(self, self._positive_hits)

    def boundaries(self, k: int | Ints) -> Boundaries:
        """What lies at the cut after `k` documents, one number or one for each judged query, for every judged query."""
        clipped = np.minimum(k, self.retrieved)
        last = self._start + np.maximum(clipped - 1, 0)
        some = clipped > 0
        group = np.where(some, np.searchsorted(self.run.group_starts, last, side="right") - 1, 0)
        starts = self.run.group_starts
        above = np.where(some, starts[group] - self._start, 0)
        after = np.minimum(group + 1, len(starts) - 1)  # a run without a row has no group at all
        tied = np.where(some, starts[after] - starts[group], 0)
        return Boundaries(clipped, above, tied, clipped - above)

    def count_hits(self, mask: NDArray[np.bool_]) -> Ints:
        """How many of the masked hits each judged query has, int64[J]."""
        return np.bincount(self.hit_query[mask], minlength=len(self.judgements.queries))

    def count_judged(self, mask: NDArray[np.bool_]) -> Ints:
        """How many of the masked judgements each judged query has, retrieved or not, int64[J]."""
        return np.bincount(self.judgements.query_of_row[mask], minlength=len(self.judgements.queries))


@dataclass(frozen=True, eq=False)
class TieGroups:
    """G tie groups in the order of lists and scores, and the hits in them, n of them.

    For each group its judged `query`, the documents `above` it and the documents `tied` in it, int64[G]; for each hit
    its group, `of_hit` int64[n], and its `grade` [n].
    """

    query: Ints
    above: Ints
    tied: Ints
    of_hit: Ints
    grade: NDArray[Any]

    @classmethod
    def of(cls, joined: Joined, hits: Ints) -> "TieGroups":
        """The groups of these hits."""
        _, first, of_hit = np.unique(joined.hit_group[hits], return_index=True, return_inverse=True)
        shown = hits[first]
        return cls(
            joined.hit_query[shown],
            joined.hit_above[shown],
            joined.hit_tied[shown],
            of_hit.astype(np.int64),
            joined.hit_grade[hits],
        )

    def __len__(self) -> int:
        return len(self.query)

    def count(self, hits: NDArray[np.bool_]) -> Ints:
        """How many of these hits each group has, int64[G]."""
        return np.bincount(self.of_hit[hits], minlength=len(self))

    def sum(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """The sum of one value a hit for each group, float64[G]."""
        return sums_by(self.of_hit, values, len(self))

    def before(self, counts: Ints) -> Ints:
        """The counts of earlier groups of the same list added up, int64[G]."""
        running: Ints = np.cumsum(counts) - counts
        at_start: Ints = running[np.flatnonzero(self.opens)][np.cumsum(self.opens) - 1]
        return running - at_start

    @cached_property
    def opens(self) -> NDArray[np.bool_]:
        """Whether a group is the first of its list here, bool[G]."""
        first = np.ones(len(self), bool)
        first[1:] = self.query[1:] != self.query[:-1]
        return first

    def slots(self, k: Ints) -> Ints:
        """How many documents of each group come before its query's cutoff, int64[G]."""
        slots: Ints = np.clip(k[self.query] - self.above, 0, self.tied)
        return slots


def relevant(grades: NDArray[Any], rel: float | str) -> NDArray[np.bool_]:
    """Which grades count as relevant: those from `rel` on, or with '>0' all positive ones.

    >>> relevant(np.array([0.5, 1.5]), 1).tolist(), relevant(np.array([0.5, 1.5]), ">0").tolist()
    ([False, True], [True, True])
    """
    return np.asarray(grades > 0 if isinstance(rel, str) else grades >= rel)


_L = TypeVar("_L", Rankings, Judgements)


def _part(lists: _L, query: int, rows: slice, **columns: Any) -> _L:
    """One query of rankings or judgements, with the same vocabulary."""
    offsets = np.array([0, rows.stop - rows.start], np.int64)
    ranks = getattr(lists, "ranks", None)
    columns |= {} if ranks is None else {"ranks": ranks[rows]}
    return replace(lists, queries=(lists.queries[query],), offsets=offsets, codes=lists.codes[rows], **columns)


def check_joined(run: Rankings, judgements: Judgements, lists: Ints) -> None:
    """InputError if one is empty, if their IDs are of two kinds, or if no judged query has a result."""
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


def _judged_pairs(run: Rankings, judgements: Judgements, lists: Ints) -> tuple[Ints, Ints]:
    """The judged (query, document) pairs that the run could hold, as sorted numbers, and their judgement rows."""
    documents = run.codes_of(judgements.documents)[judgements.codes]
    queries = lists[judgements.query_of_row]
    possible = np.flatnonzero((documents >= 0) & (queries >= 0))
    pairs = queries[possible] * len(run.documents) + documents[possible]
    ordered = np.argsort(pairs)
    return pairs[ordered], possible[ordered]


def _rows_of_pairs(run: Rankings, pairs: Ints) -> tuple[Ints, Ints]:
    """The rows of the run that hold one of the sorted pairs, in order, and which pair each holds.

    A table of marks, found by a hash of the pair, drops nearly all other rows before any search.
    """
    bits = min(max(int(len(pairs) * 16).bit_length(), 10), 26)
    marks = np.zeros(1 << bits, bool)
    marks[_hashed(pairs, bits)] = True
    found_rows, found_at = [], []
    for start in range(0, len(run), _ROWS_AT_ONCE):
        part = slice(start, start + _ROWS_AT_ONCE)
        keys = run.query_of_row[part] * len(run.documents) + run.codes[part]
        candidates = np.flatnonzero(marks[_hashed(keys, bits)])
        at = np.searchsorted(pairs, keys[candidates])
        same = pairs[np.minimum(at, max(len(pairs) - 1, 0))] == keys[candidates] if len(pairs) else at < 0
        found_rows.append(start + candidates[same])
        found_at.append(at[same])
    return np.concatenate(found_rows), np.concatenate(found_at)


def _hashed(pairs: Ints, bits: int) -> NDArray[np.uint64]:
    """The top bits of a product with an odd number near 2^64 over the golden ratio."""
    return (pairs.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(64 - bits)
