"""MRR@k: a name that hides a convention. Some cut the list at k, some look at all of it; the protocol says which."""

from dataclasses import replace

from rankwork.measures.evaluating import by_relevance, cutoff_of
from rankwork.measures.names import Definition, Measure, relevance_threshold, resolve_relevance
from rankwork.measures.reciprocal_rank import moments, score
from rankwork.measures.values import Setting


def _resolve(measure: Measure, setting: Setting) -> Measure:
    """The RR that the protocol means."""
    uncut = setting.protocol.rr_alias == "uncut"
    return resolve_relevance(replace(measure, name="RR", cutoff=None if uncut else measure.cutoff), setting)


DEFINITION = Definition(
    name="MRR",
    aliases=("mrr",),
    parameters={"rel": relevance_threshold},
    cutoff="optional",
    resolve=_resolve,
    score=score,
    moments=moments,
    counted=by_relevance,
    cutoffs=cutoff_of,
)
