"""What ties in the stages before could have done to a stage: the range that it inherits.

A route inherits nothing. Reciprocal rank fusion inherits the ties of its routes: a tied document could have had any
rank of its group, and the last group of a cut list goes on out of sight. Each fused document so has a lowest and a
highest score, and with them a best and a worst rank; measures that can only rise as gold moves up are bounded by those.
What reranks or assembles inherits a point if no such order changes what it was given, and is unknown otherwise: nobody
knows the score of a document that it never saw. A reranker is taken to read the scores of the fusion too, unless its
scores are declared to be of the document and the query alone. Bounds are sound, and need not be attained.
"""

from dataclasses import dataclass

import numpy as np

from rankwork.diagnosis.candidates import WHOLE, Candidates
from rankwork.diagnosis.fused_ranks import FusedRanks
from rankwork.diagnosis.gold import Gold
from rankwork.diagnosis.stage_measures import BY_RETURNED, COMPLETE, COVERAGE, StageValues
from rankwork.diagnosis.trace_columns import Bools, Floats, Ints


@dataclass(frozen=True, eq=False)
class Inherited:
    """The lowest and the highest value of a measure for n traces, NaN where unknown."""

    min: Floats
    max: Floats

    @classmethod
    def point(cls, values: StageValues, settled: Bools) -> "Inherited":
        """The observed number where nothing before could have changed it."""
        number = np.where(settled, values.observed, np.nan)
        return cls(number, number)


def bounds(
    name: str, values: StageValues, found: Candidates, gold: Gold, ranks: FusedRanks, traces: Ints, *, gains: Floats
) -> Inherited:
    """The lowest and highest value of a measure, from the best and worst ranks of the gold and its `gains` in nDCG."""
    numbers = [_value(name, rank, found, gold, traces, gains) for rank in (ranks.worst, ranks.best)]
    low, high = np.minimum(numbers[0], values.observed), np.maximum(numbers[1], values.observed)
    low, high = (np.where(ranks.point, values.observed, number) for number in (low, high))
    return Inherited(*(np.where(ranks.known, number, np.nan) for number in (low, high)))


def _value(name: str, rank: Floats, found: Candidates, gold: Gold, traces: Ints, gains: Floats) -> Floats:
    """A measure if each piece of gold had this rank, whether or not all can have theirs at once."""
    row, n = found.row, len(found.k)
    k = np.where(found.k < WHOLE, found.k, np.maximum(found.returned, 1)).astype(np.float64)
    own = np.flatnonzero(row >= 0)
    inside = own[rank[own] <= k[row[own]]]
    hits = np.minimum(np.bincount(row[inside], minlength=n), k)
    total = np.maximum(np.bincount(row[own], minlength=n), 1)
    if name in (COVERAGE, COMPLETE):
        return _coverage(name, rank, found, gold, traces, k)
    if name == "Success":
        return (hits > 0).astype(np.float64)
    if name == "R":
        return hits / total
    if name in ("P", BY_RETURNED):
        divisor = k if name == "P" else np.minimum(k, np.maximum(found.returned, 1))
        return np.asarray(np.minimum(hits / divisor, 1.0))
    if name == "RR":
        first = np.full(n, np.inf)
        np.minimum.at(first, row[inside], rank[inside])
        return 1.0 / first
    return _average_precision(rank, inside, row, total) if name == "AP" else _ndcg(rank, own, inside, row, gains, k)


def _average_precision(rank: Floats, inside: Ints, row: Ints, total: Ints) -> Floats:
    ordered = inside[np.lexsort((rank[inside], row[inside]))]
    counts = np.bincount(row[ordered], minlength=len(total))
    number = np.arange(len(ordered)) - np.repeat(np.cumsum(counts) - counts, counts) + 1
    precision = number / np.maximum(rank[ordered], number)
    return np.asarray(np.bincount(row[ordered], precision, len(total)) / total)


def _ndcg(rank: Floats, own: Ints, inside: Ints, row: Ints, gains: Floats, k: Floats) -> Floats:
    gained = np.bincount(row[inside], gains[inside] / np.log2(rank[inside] + 1), len(k))
    ordered = own[np.lexsort((-gains[own], row[own]))]
    counts = np.bincount(row[ordered], minlength=len(k))
    place = np.arange(len(ordered)) - np.repeat(np.cumsum(counts) - counts, counts) + 1
    within = place <= k[row[ordered]]
    ideal = np.bincount(row[ordered][within], (gains[ordered] / np.log2(place + 1))[within], len(k))
    return np.asarray(np.minimum(np.divide(gained, ideal, out=np.zeros(len(k)), where=ideal > 0), 1.0))


def _coverage(name: str, rank: Floats, found: Candidates, gold: Gold, traces: Ints, k: Floats) -> Floats:
    row_of = np.full(int(max(gold.need_trace.max(initial=-1), traces.max(initial=-1))) + 1, -1, np.int64)
    row_of[traces] = np.arange(len(traces))
    of_need = row_of[gold.need_trace]
    met = np.zeros(len(of_need), bool)
    inside = (found.row >= 0) & (rank <= k[np.maximum(found.row, 0)])
    met[gold.need[inside[gold.need_row]]] = True
    ran = of_need >= 0
    needed = np.bincount(of_need[ran], minlength=len(k))
    count = np.bincount(of_need[ran], met[ran], len(k))
    return (count == needed).astype(np.float64) if name == COMPLETE else count / np.maximum(needed, 1)
