"""Recall@k: the share of a query's relevant documents among the first k.

For one group at the cut see `hits`: recall is the number of hits over the number of relevant documents, retrieved or
not, so its whole distribution is hypergeometric.
"""

from fractions import Fraction

from rankwork.measures.arranging import Arrangement
from rankwork.measures.evaluating import by_relevance, cutoff_of
from rankwork.measures.hits import at_least_one, hit_moments, hits_of, total_of
from rankwork.measures.names import Definition, Measure, relevance_threshold, resolve_relevance
from rankwork.measures.values import Floats, Setting
from rankwork.rankings import Ints


def score(measure: Measure, setting: Setting, arranged: Arrangement) -> Floats:
    """Hits over all relevant documents."""
    return hits_of(measure, arranged) / at_least_one(total_of(measure, setting))[arranged.query]


def moments(measure: Measure, setting: Setting, k: Ints) -> tuple[Floats, Floats]:
    """Mean and variance over all orders."""
    mean, variance = hit_moments(measure, setting, k)
    total = at_least_one(total_of(measure, setting))
    return mean / total, variance / total**2


DEFINITION = Definition(
    name="R",
    aliases=("Recall", "recall"),
    parameters={"rel": relevance_threshold},
    cutoff="required",
    resolve=resolve_relevance,
    score=score,
    moments=moments,
    counted=by_relevance,
    cutoffs=cutoff_of,
    of_hits=lambda measure, hits, k, total: Fraction(hits, total),
    members_only=True,
)
