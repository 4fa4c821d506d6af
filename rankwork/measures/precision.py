"""Precision@k: the share of relevant documents among the first k.

It divides by k, however short the list is, as trec_eval does. Under the order `inclusive` it divides by the number of
documents that were returned, if they are more than k.
"""

from fractions import Fraction

from rankwork.measures.arranging import Arrangement
from rankwork.measures.evaluating import by_relevance, cutoff_of
from rankwork.measures.hits import at_least_one, hit_moments, hits_of
from rankwork.measures.names import Definition, Measure, relevance_threshold, resolve_relevance
from rankwork.measures.values import Floats, Setting
from rankwork.rankings import Ints


def score(measure: Measure, setting: Setting, arranged: Arrangement) -> Floats:
    """Hits over the cutoff."""
    return hits_of(measure, arranged) / at_least_one(arranged.k)


def moments(measure: Measure, setting: Setting, k: Ints) -> tuple[Floats, Floats]:
    """Mean and variance over all orders."""
    mean, variance = hit_moments(measure, setting, k)
    return mean / at_least_one(k), variance / at_least_one(k) ** 2


DEFINITION = Definition(
    name="P",
    aliases=("Precision", "precision"),
    parameters={"rel": relevance_threshold},
    cutoff="required",
    resolve=resolve_relevance,
    score=score,
    moments=moments,
    counted=by_relevance,
    cutoffs=cutoff_of,
    of_hits=lambda measure, hits, k, total: Fraction(hits, k),
)
