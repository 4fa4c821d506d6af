"""RR: one over the rank of the first relevant document, 0 if there is none among the first k.

The first tie group with a relevant document decides: m documents, r of them relevant, after c. The first of those
stands at place i of the group with chance p(1) = r/m, p(i+1) = p(i) (m-r-i+1)/(m-i). Its mean over queries is MRR.
"""

import numpy as np

from rankwork.measures.arranging import Arrangement
from rankwork.measures.evaluating import by_relevance, cutoff_of
from rankwork.measures.names import Definition, Measure, relevance_threshold, resolve_relevance
from rankwork.measures.ragged import blocks
from rankwork.measures.values import Floats, Setting
from rankwork.rankings import Ints


def score(measure: Measure, setting: Setting, arranged: Arrangement) -> Floats:
    """One over the rank of the first relevant document."""
    relevant = arranged.only(by_relevance(measure, arranged.grade))
    first = relevant.seen_before(np.ones(len(relevant.place), bool)) == 0
    found = relevant.only(first & relevant.within)
    return found.sum(1.0 / (found.place + 1))


def moments(measure: Measure, setting: Setting, k: Ints) -> tuple[Floats, Floats]:
    """Mean and variance over all orders."""
    groups = setting.joined.tie_groups(every_judged=False)
    relevant = groups.count(by_relevance(measure, groups.grade))
    deciding = np.flatnonzero((relevant > 0) & (groups.before((relevant > 0).astype(np.int64)) == 0))
    query, above = groups.query[deciding], groups.above[deciding]
    tied, hits = groups.tied[deciding], relevant[deciding]
    places = np.minimum(tied - hits + 1, np.maximum(k[query] - above, 0))
    mean, variance = np.zeros(len(k)), np.zeros(len(k))
    for rows, columns in blocks(places):
        chance = _chances(tied[rows, None], hits[rows, None], columns) * (columns < places[rows, None])
        value = 1.0 / (above[rows, None] + columns + 1)
        means = (chance * value).sum(axis=1)
        mean[query[rows]] = means
        missed = np.maximum(1 - chance.sum(axis=1), 0) * means**2
        variance[query[rows]] = (chance * (value - means[:, None]) ** 2).sum(axis=1) + missed
    return mean, variance


def _chances(tied: Ints, hits: Ints, columns: Ints) -> Floats:
    """The chance that the first of the hits stands at each place of its group."""
    left = np.maximum(tied - hits - columns, 0)
    none_yet = np.cumprod(left / np.maximum(tied - columns, 1), axis=1)
    none_before = np.concatenate((np.ones((len(none_yet), 1)), none_yet[:, :-1]), axis=1)
    return np.asarray(none_before * hits / np.maximum(tied - columns, 1))


DEFINITION = Definition(
    name="RR",
    aliases=("recip_rank", "rr"),
    parameters={"rel": relevance_threshold},
    cutoff="optional",
    resolve=resolve_relevance,
    score=score,
    moments=moments,
    counted=by_relevance,
    cutoffs=cutoff_of,
)
