"""bpref: how rarely documents judged not relevant stand above relevant ones; the unjudged do not matter.

Each relevant document that was retrieved adds 1 - min(N', R)/min(N, R), N' of the N documents judged not relevant
standing above it; the sum is divided by R. C. Buckley and E. Voorhees, SIGIR 2004, in the form of trec_eval.

In a group with r relevant and n judged not relevant, u = 0..n of the latter stand above a relevant one, all equally
likely; f(u) is what it adds. The mean is r avg f. With g = f - avg f, a pair has E[g g'] = sum g^2 / ((n+1)(n+2)), so
the variance is sum g^2 r (n+1+r) / ((n+1)(n+2)).
"""

import numpy as np

from rankwork.measures.arranging import Arrangement
from rankwork.measures.evaluating import NO_CUTOFF, by_relevance
from rankwork.measures.hits import at_least_one, total_of
from rankwork.measures.names import Definition, Measure, relevance_threshold, resolve_relevance
from rankwork.measures.ragged import blocks, sums_by
from rankwork.measures.values import Floats, Setting
from rankwork.rankings import Ints


def score(measure: Measure, setting: Setting, arranged: Arrangement) -> Floats:
    """What the relevant documents add, over all of those."""
    relevant = by_relevance(measure, arranged.grade)
    above = arranged.seen_before(~relevant)[relevant]
    found = arranged.only(relevant)
    total, others = (counts[arranged.query] for counts in _totals(measure, setting))
    query = found.list_of
    return found.sum(_added(above, total[query], others[query])) / at_least_one(total)


def moments(measure: Measure, setting: Setting, k: Ints) -> tuple[Floats, Floats]:
    """Mean and variance over all orders."""
    groups = setting.joined.tie_groups(every_judged=True)
    relevant = by_relevance(measure, groups.grade)
    hits, misses = groups.count(relevant), groups.count(~relevant)
    above = groups.before(misses)
    total, others = (counts[groups.query] for counts in _totals(measure, setting))
    mean, variance = np.zeros(len(groups)), np.zeros(len(groups))
    for rows, columns in blocks(np.where(hits > 0, misses + 1, 0)):
        inside = columns <= misses[rows, None]
        added = _added(above[rows, None] + columns, total[rows, None], others[rows, None])
        average = np.where(inside, added, 0.0).sum(axis=1) / (misses[rows] + 1)
        squares = np.where(inside, (added - average[:, None]) ** 2, 0.0).sum(axis=1)
        mean[rows] = hits[rows] * average
        pairs = hits[rows] * (misses[rows] + 1.0 + hits[rows]) / ((misses[rows] + 1.0) * (misses[rows] + 2.0))
        variance[rows] = squares * pairs
    scale = at_least_one(_totals(measure, setting)[0])
    return (
        sums_by(groups.query, mean, len(k)) / scale,
        sums_by(groups.query, variance, len(k)) / scale**2,
    )


def _added(above: Ints, total: Ints, others: Ints) -> Floats:
    """1 - min(N', R)/min(N, R); where nothing is judged not relevant, N' is 0 and nothing is taken off."""
    return np.asarray(1 - np.minimum(above, total) / at_least_one(np.minimum(others, total)))


def _totals(measure: Measure, setting: Setting) -> tuple[Ints, Ints]:
    """R and N for each judged query."""
    relevant = total_of(measure, setting)
    return relevant, setting.joined.judgements.lengths - relevant


DEFINITION = Definition(
    name="Bpref",
    aliases=("bpref", "BPref"),
    parameters={"rel": relevance_threshold},
    cutoff="none",
    resolve=resolve_relevance,
    score=score,
    moments=moments,
    counted=by_relevance,
    cutoffs=lambda measure, setting: np.full(len(setting.joined.judgements.queries), NO_CUTOFF),
    every_judged=True,
)
