"""Arrangements: the judged documents of each list in one order, and the two orders that attain a measure's extremes.

Sorting each tie group by grade, descending for the maximum and ascending for the minimum, attains both for every
measure here at once; documents judged 0 stand between the unjudged and the relevant ones. Of a list that was cut, the
outer orders say what its last group can hide: nothing of gain, or the best of what is visible and what was not
retrieved.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankwork.measures.joining import Joined
from rankwork.measures.ragged import sums_by
from rankwork.rankings import Ints

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Arrangement:
    """Judged documents of L lists in one order, sorted by list and place; n documents.

    `query` int64[L] is the judged query of each list and `k` int64[L] how many of its places count; for each document
    `list_of` int64[n] is its list, `place` int64[n] how many documents stand before it, `grade` [n] its grade.
    """

    query: Ints
    k: Ints
    list_of: Ints
    place: Ints
    grade: NDArray[Any]

    def with_k(self, k: Ints) -> "Arrangement":
        """The same order with other cutoffs."""
        return replace(self, k=k)

    def only(self, kept: Bools) -> "Arrangement":
        """The same lists with some of the documents."""
        return replace(self, list_of=self.list_of[kept], place=self.place[kept], grade=self.grade[kept])

    @property
    def within(self) -> Bools:
        """The documents before their list's cutoff."""
        return np.asarray(self.place < self.k[self.list_of])

    def count(self) -> Ints:
        """How many documents each list has here, int64[L]."""
        return np.bincount(self.list_of, minlength=len(self.query))

    def sum(self, values: Floats) -> Floats:
        """The sum of one value a document for each list, added in the order of places: equal lists give equal sums."""
        return sums_by(self.list_of, values, len(self.query))

    @property
    def _opens(self) -> Bools:
        first = np.ones(len(self.list_of), bool)
        first[1:] = self.list_of[1:] != self.list_of[:-1]
        return first

    @property
    def stretches(self) -> Ints:
        """How many documents each list has that has any, in the order in which the lists stand here."""
        return np.diff(np.append(np.flatnonzero(self._opens), len(self.list_of)))

    def seen_before(self, counted: Bools) -> Ints:
        """How many of the counted documents stand earlier in the same list, for each document; int64[n]."""
        running: Ints = np.cumsum(counted) - counted
        at_start: Ints = np.repeat(running[self._opens], self.stretches)
        return running - at_start


def in_order(joined: Joined, order: str, *, every_judged: bool) -> Arrangement:
    """The hits in an order of ties: `id_asc`, `id_desc`, `rank`, `input`. Documents judged 0 only if asked for."""
    kept = joined.moving_hits(every_judged)
    place = joined.hit_place(order)[kept]
    return _sorted(joined, joined.hit_query[kept], place, joined.hit_grade[kept], joined.hit_start[kept] + place)


def best(joined: Joined, *, every_judged: bool) -> Arrangement:
    """The hits in the order that attains the maximum: each tie group by grade descending, the unjudged last."""
    kept = joined.moving_hits(every_judged)
    groups, levels = joined.hit_group[kept], joined.hit_level[kept]
    ordered = kept[np.argsort(groups * joined.levels + (joined.levels - 1 - levels), kind="stable")]
    return _arranged(joined, ordered, joined.hit_above[ordered] + _rank_in_run(joined.hit_group[ordered]))


def worst(joined: Joined, *, every_judged: bool) -> Arrangement:
    """The hits in the order that attains the minimum: each tie group by grade ascending, the unjudged first."""
    kept = joined.moving_hits(every_judged)
    groups, levels = joined.hit_group[kept], joined.hit_level[kept]
    ordered = kept[np.argsort(groups * joined.levels + levels, kind="stable")]
    rank = _rank_in_run(joined.hit_group[ordered])
    size = _size_of_run(joined.hit_group[ordered])
    return _arranged(joined, ordered, joined.hit_above[ordered] + joined.hit_tied[ordered] - size + rank)


def without_last_group(arranged: Arrangement, hidden: Bools, last: Ints) -> Arrangement:
    """The order with nothing of gain in the last group of the hidden lists, which starts after `last` documents."""
    return arranged.only(~hidden[arranged.list_of] | (arranged.place < last[arranged.list_of]))


def with_best_of_rest(
    joined: Joined, arranged: Arrangement, hidden: Bools, last: Ints, *, every_judged: bool
) -> Arrangement:
    """The order whose hidden lists end in the best of their last group and of what is judged but not retrieved."""
    kept = without_last_group(arranged, hidden, last)
    in_last = np.flatnonzero(hidden[arranged.list_of] & (arranged.place >= last[arranged.list_of]))
    missing = joined.unretrieved(hidden, every_judged)
    query = np.concatenate((arranged.list_of[in_last], joined.judgements.query_of_row[missing]))
    grade = np.concatenate((arranged.grade[in_last], joined.judgements.grades[missing]))
    by_grade = np.lexsort((-grade, query))
    query, grade = query[by_grade], grade[by_grade]
    rank = _rank_in_run(query)
    fits = rank < (joined.retrieved - last)[query]
    query, grade, place = query[fits], grade[fits], (last[query] + rank)[fits]
    pairs = ((kept.list_of, query), (kept.grade, grade), (kept.place, place))
    query, grade, place = (np.concatenate(pair) for pair in pairs)
    by_place = np.lexsort((place, query))
    return Arrangement(arranged.query, arranged.k, query[by_place], place[by_place], grade[by_place])


def _arranged(joined: Joined, hits: Ints, place: Ints) -> Arrangement:
    queries = np.arange(len(joined.judgements.queries))
    return Arrangement(queries, joined.retrieved, joined.hit_query[hits], place, joined.hit_grade[hits])


def _sorted(joined: Joined, query: Ints, place: Ints, grade: NDArray[Any], key: Ints) -> Arrangement:
    order = np.argsort(key, kind="stable")
    queries = np.arange(len(joined.judgements.queries))
    return Arrangement(queries, joined.retrieved, query[order], place[order], grade[order])


def _rank_in_run(values: NDArray[Any]) -> Ints:
    """For sorted values the number of equal ones before each."""
    starts = _starts(values)
    return np.arange(len(values)) - np.repeat(starts, np.diff(np.append(starts, len(values))))


def _size_of_run(values: NDArray[Any]) -> Ints:
    """For sorted values the number of values equal to each."""
    sizes = np.diff(np.append(_starts(values), len(values)))
    return np.repeat(sizes, sizes)


def _starts(values: NDArray[Any]) -> Ints:
    new = np.ones(len(values), bool)
    new[1:] = values[1:] != values[:-1]
    return np.flatnonzero(new)
