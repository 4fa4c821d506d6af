"""The range of a difference when one order of IDs breaks the ties of both runs: narrower than each run on its own.

Measures of the number of hits: of the documents tied at both cuts, each run takes the first few in the common order, so
the shorter of the two selections is a part of the longer one. Trying how many each takes gives the exact range.

Other measures add up over tie groups. Groups of the two runs that share documents form components; where such a
component shares at most one document nothing couples it, elsewhere all its orders are tried, documents of one kind
being alike. A component with more orders than `LIMIT` keeps the free bounds, and the range is then not exact.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankwork.measures.arranging import Arrangement
from rankwork.measures.hits import total_of
from rankwork.measures.names import Measure, definition_of
from rankwork.measures.values import Floats, Setting

LIMIT = 2_000
_CELLS = 5_000_000

Range = tuple[float, float, bool]


@dataclass(frozen=True)
class _Group:
    """A tie group: how many documents stand above it, and its documents."""

    above: int
    documents: tuple[Any, ...]


class _Ranked:
    """One query's list in one run: its tie groups before the cutoff, and the grades that move the measure."""

    def __init__(self, measure: Measure, setting: Setting, query: int) -> None:
        self.measure, definition = measure, definition_of(measure)
        joined = setting.joined.only(query)
        self.setting = replace(setting, joined=joined)
        self.k = int(definition.cutoffs(measure, self.setting)[0])
        documents = joined.run.documents[joined.run.codes[joined.run.by_score]].tolist()
        groups = pairwise(joined.run.group_starts.tolist())
        self.groups = [_Group(start, tuple(documents[start:end])) for start, end in groups if start < self.k]
        grades = joined.judgements.grades_of(joined.judgements.queries[0])
        self.grades = {d: grade for d, grade in grades.items() if grade > 0 or definition.every_judged}
        in_place = ((d, n) for group in self.groups for n, d in enumerate(sorted(group.documents), group.above))
        self.by_id = {document: place for document, place in in_place if document in self.grades}

    @property
    def moving(self) -> list[_Group]:
        """The groups whose order can matter: documents of more than one grade, or a cut through them."""
        return [group for group in self.groups if len({self.grades.get(d) for d in group.documents}) > 1]

    @cached_property
    def base(self) -> float:
        """The measure with all ties by ID."""
        return float(self.scores({}, 1)[0])

    def scores(self, places: dict[Any, NDArray[Any]], lists: int) -> Floats:
        """The measure for so many lists: documents stand where `places` says, others by ID."""
        if not self.by_id:
            return np.zeros(lists)
        place = np.tile(np.fromiter(self.by_id.values(), np.int64, len(self.by_id)), (lists, 1))
        for column, document in enumerate(self.by_id):
            if document in places:
                place[:, column] = places[document]
        order = np.argsort(place, axis=1, kind="stable")
        grade = np.array([self.grades[document] for document in self.by_id])[order]
        arranged = Arrangement(
            np.zeros(lists, np.int64),
            np.full(lists, self.k),
            np.repeat(np.arange(lists), place.shape[1]),
            np.take_along_axis(place, order, axis=1).ravel(),
            grade.ravel(),
        )
        return definition_of(self.measure).score(self.measure, self.setting, arranged)

    def extremes(self, groups: Sequence[_Group]) -> tuple[float, float]:
        """What these groups alone can take from the measure and add to it, against the order by ID."""
        worst, best = {}, {}
        for group in groups:
            by_grade = sorted(group.documents, key=lambda document: self.grades.get(document, -1))
            for place, document in enumerate(by_grade):
                worst[document] = np.array(group.above + place)
                best[document] = np.array(group.above + len(by_grade) - 1 - place)
        return float(self.scores(worst, 1)[0]) - self.base, float(self.scores(best, 1)[0]) - self.base


def common_range(measure: Measure, first: Setting, second: Setting, query: int) -> Range:
    """Minimum and maximum of second minus first for a judged query, and whether both are exact.

    `measure` is resolved; the settings differ in their runs only, and the query has a list in both.
    """
    one, two = _Ranked(measure, first, query), _Ranked(measure, second, query)
    if _same_groups(one, two):
        return 0.0, 0.0, True
    if definition_of(measure).of_hits is not None:
        return _range_of_hits(one, two)
    return _range_of_components(one, two)


def _same_groups(one: _Ranked, two: _Ranked) -> bool:
    groups = [[(group.above, frozenset(group.documents)) for group in ranked.groups] for ranked in (one, two)]
    lengths = [len(ranked.setting.joined.run) for ranked in (one, two)]
    return groups[0] == groups[1] and lengths[0] == lengths[1]


@dataclass(frozen=True)
class _Cut:
    """The cut of a list: relevant `above` it, `slots`; documents tied there only here, `own`, `own_hits` relevant."""

    above: int
    slots: int
    own: int
    own_hits: int
    value: Floats


def _range_of_hits(one: _Ranked, two: _Ranked) -> Range:
    counted = definition_of(one.measure).counted(one.measure, np.array(list(one.grades.values())))
    relevant = {d for d, counts in zip(one.grades, counted.tolist(), strict=True) if counts}
    tied = [set(ranked.groups[-1].documents) if ranked.groups else set() for ranked in (one, two)]
    shared = tied[0] & tied[1]
    cuts = [_cut(ranked, members, shared, relevant) for ranked, members in zip((one, two), tied, strict=True)]
    high, exact_high = _most(cuts[0], cuts[1], len(shared), len(shared & relevant))
    low, exact_low = _most(cuts[1], cuts[0], len(shared), len(shared & relevant))
    return -low, high, exact_high and exact_low


def _cut(ranked: _Ranked, tied: set[Any], shared: set[Any], relevant: set[Any]) -> _Cut:
    above = {d for group in ranked.groups[:-1] for d in group.documents}
    start = ranked.groups[-1].above if ranked.groups else 0
    total = int(total_of(ranked.measure, ranked.setting)[0])
    of_hits = definition_of(ranked.measure).of_hits
    assert of_hits is not None
    most = len((above | tied) & relevant)
    values = [float(of_hits(ranked.measure, hits, max(ranked.k, 1), max(total, 1))) for hits in range(most + 1)]
    return _Cut(
        above=len(above & relevant),
        slots=min(ranked.k - start, len(tied)),
        own=len(tied - shared),
        own_hits=len((tied - shared) & relevant),
        value=np.array(values),
    )


def _most(low: _Cut, high: _Cut, shared: int, hits: int) -> tuple[float, bool]:
    """The largest value of `high` minus that of `low`: `low` takes x of the shared documents, `high` takes y."""
    x = np.arange(max(0, low.slots - low.own), min(low.slots, shared) + 1)[:, None, None]
    y = np.arange(max(0, high.slots - high.own), min(high.slots, shared) + 1)[None, :, None]
    both = np.minimum(x, y)
    fewest, most = np.maximum(0, both - (shared - hits)), np.minimum(both, hits)
    if _linear(low.value, high.value):
        in_both = np.where(x <= y, fewest, most)  # any other count gives a smaller difference
    elif x.size * y.size * (hits + 1) > _CELLS:
        return _freely(low, high, shared, hits), False
    else:
        in_both = np.clip(np.arange(hits + 1)[None, None, :], fewest, most)
    only_low = np.maximum(0, (x - both) - (shared - hits - (both - in_both)))
    only_high = np.minimum(y - both, hits - in_both)
    of_low = (
        low.above + in_both + np.where(x > y, only_low, 0) + np.maximum(0, low.slots - x - (low.own - low.own_hits))
    )
    of_high = high.above + in_both + np.where(y > x, only_high, 0) + np.minimum(high.slots - y, high.own_hits)
    return float((high.value[of_high] - low.value[of_low]).max()), True


def _freely(low: _Cut, high: _Cut, shared: int, hits: int) -> float:
    fewest = low.above + max(0, low.slots - (low.own + shared - low.own_hits - hits))
    return float(high.value[high.above + min(high.slots, high.own_hits + hits)] - low.value[fewest])


def _linear(one: Floats, two: Floats) -> bool:
    """Whether both are the same multiple of the hits."""
    step = max(one[-1] / max(len(one) - 1, 1), two[-1] / max(len(two) - 1, 1))
    return all(np.allclose(table, step * np.arange(len(table)), rtol=1e-12, atol=0) for table in (one, two))


def _range_of_components(one: _Ranked, two: _Ranked) -> Range:
    """Components that nothing couples, and those of too many orders, are taken at their free extremes, all at once."""
    low = high = two.base - one.base
    free: tuple[list[_Group], list[_Group]] = ([], [])
    exact = True
    for firsts, seconds in _components(one.moving, two.moving):
        coupled = len(_documents(firsts) & _documents(seconds)) > 1
        kinds = _kinds(one, firsts, seconds)
        if coupled and _orders(kinds) <= LIMIT:
            change = _changes(one, two, firsts, seconds, kinds)
            low, high = low + float(change.min()), high + float(change.max())
        else:
            free[0].extend(firsts)
            free[1].extend(seconds)
            exact = exact and not coupled
    (low_one, high_one), (low_two, high_two) = one.extremes(free[0]), two.extremes(free[1])
    return low + low_two - high_one, high + high_two - low_one, exact


def _components(firsts: list[_Group], seconds: list[_Group]) -> Iterator[tuple[list[_Group], list[_Group]]]:
    """Groups of both runs, parted so that groups of different parts share no document."""
    holding: dict[Any, list[int]] = {}
    groups = [*firsts, *seconds]
    for number, group in enumerate(groups):
        for document in group.documents:
            holding.setdefault(document, []).append(number)
    left = set(range(len(groups)))
    while left:
        part, waiting = set(), [left.pop()]
        while waiting:
            number = waiting.pop()
            part.add(number)
            linked = {other for document in groups[number].documents for other in holding[document]}
            waiting += left & linked
            left -= linked
        members = sorted(part)
        yield (
            [groups[number] for number in members if number < len(firsts)],
            [groups[number] for number in members if number >= len(firsts)],
        )


def _documents(groups: list[_Group]) -> set[Any]:
    return {document for group in groups for document in group.documents}


def _orders(kinds: list[list[Any]]) -> int:
    """How many orders of the documents differ by kinds; above `LIMIT`, some number above it."""
    first, *others = sorted(map(len, kinds), reverse=True)
    orders, total = 1, first
    for count in others:
        total += count
        if orders > LIMIT or total > LIMIT:
            return max(orders, total)
        orders *= comb(total, count)
    return orders


def _changes(one: _Ranked, two: _Ranked, firsts: list[_Group], seconds: list[_Group], kinds: list[list[Any]]) -> Floats:
    """What each order of a component does to the difference, against the order by ID."""
    rank, lists = _ranks(kinds), _orders(kinds)
    of_two = two.scores(_places(seconds, rank), lists) - two.base
    return of_two - (one.scores(_places(firsts, rank), lists) - one.base)


def _kinds(one: _Ranked, firsts: list[_Group], seconds: list[_Group]) -> list[list[Any]]:
    """The component's documents, parted by their groups and grade: those of one kind are alike."""
    kinds: dict[tuple[Any, ...], list[Any]] = {}
    places = [{d: group.above for group in groups for d in group.documents} for groups in (firsts, seconds)]
    for document in sorted(places[0].keys() | places[1].keys()):
        key = (places[0].get(document), places[1].get(document), one.grades.get(document))
        kinds.setdefault(key, []).append(document)
    return list(kinds.values())


def _ranks(kinds: list[list[Any]]) -> dict[Any, NDArray[Any]]:
    """For each document its rank in every order that differs by kinds; documents of a kind keep theirs."""
    sequences = np.array(list(_sequences([len(kind) for kind in kinds])))
    rank: dict[Any, NDArray[Any]] = {}
    for number, kind in enumerate(kinds):
        columns = np.nonzero(sequences == number)[1].reshape(len(sequences), len(kind))
        rank |= {document: columns[:, place] for place, document in enumerate(kind)}
    return rank


def _sequences(counts: list[int]) -> Iterator[list[int]]:
    """Every sequence with so many of each kind."""
    if not any(counts):
        yield []
    for kind, count in enumerate(counts):
        if count:
            rest = [*counts[:kind], count - 1, *counts[kind + 1 :]]
            yield from ([kind, *sequence] for sequence in _sequences(rest))


def _places(groups: list[_Group], rank: dict[Any, NDArray[Any]]) -> dict[Any, NDArray[Any]]:
    """Where the documents of these groups stand in every order."""
    places: dict[Any, NDArray[Any]] = {}
    for group in groups:
        ranks = np.stack([rank[document] for document in group.documents], axis=1)
        order = np.argsort(np.argsort(ranks, axis=1), axis=1)
        places |= {document: group.above + order[:, column] for column, document in enumerate(group.documents)}
    return places
