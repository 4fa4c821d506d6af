"""Recall@k: the share of a query's relevant documents among the first k.

A tie group of m documents, r of them relevant, starts after `above` documents, h of them relevant; the cut leaves it t
slots. Every order is allowed and equally likely, so the hits are h plus a hypergeometric number: between
h + max(0, t - (m - r)) and h + min(t, r), with mean h + t r/m and variance t (r/m) (1 - r/m) (m - t)/(m - 1).
"""

import numpy as np

from rankwork.measures.joining import Boundaries, relevant
from rankwork.measures.names import Definition, Measure, relevance_threshold, resolve_relevance
from rankwork.measures.values import CENSORED, Bools, Floats, Setting, Values, known_where, reasons
from rankwork.rankings import Ints


def evaluate(measure: Measure, setting: Setting) -> Values:
    """The values of recall for every judged query, NaN without relevant document.

    >>> from rankwork.inputs.toy import six
    >>> from rankwork.measures.joining import Joined
    >>> from rankwork.measures.names import parse
    >>> from rankwork.protocol import Protocol
    >>> values = evaluate(parse("R(rel=1)@3"), Setting(Joined.of(*six()), Protocol.named("rankwork")))
    >>> [round(float(getattr(values, name)[0]), 4) for name in ("contract", "min", "expected", "max", "variance")]
    [0.6667, 0.6667, 0.7778, 1.0, 0.0247]
    """
    joined, rel = setting.joined, measure.parameter("rel")
    cut = joined.boundaries(measure.k)
    hits = relevant(joined.hit_grade, rel)
    above = joined.count_hits(hits & (joined.hit_above < cut.above[joined.hit_query]))
    tied = joined.count_hits(hits & (joined.hit_above == cut.above[joined.hit_query]))
    total = joined.count_judged(relevant(joined.judgements.grades, rel))
    least, most = above + np.maximum(0, cut.slots - (cut.tied - tied)), above + np.minimum(cut.slots, tied)
    mean, variance = _hypergeometric(cut, tied)
    hidden = _hidden(setting, cut)
    unretrieved = total - joined.count_hits(hits)
    outer_least = np.where(hidden, above, least)
    outer_most = np.where(hidden, above + np.minimum(cut.slots, tied + unretrieved), most)
    chosen = _selected(setting, cut, hits, above, tied)
    moving = hidden & (outer_least != outer_most)
    unclear = hidden & (unretrieved > 0) if setting.order == "inclusive" else moving
    scale = np.where(total > 0, total, np.nan)
    return Values(
        contract=known_where(chosen / scale, ~unclear),
        min=known_where(least / scale, outer_least == least),
        expected=known_where((above + mean) / scale, ~moving),
        max=known_where(most / scale, outer_most == most),
        variance=known_where(variance / scale**2, ~moving),
        outer_min=outer_least / scale,
        outer_max=outer_most / scale,
        relevant=total,
        reason=reasons(moving | unclear, CENSORED),
        details=_details(setting, cut, above, tied),
    )


def _hypergeometric(cut: Boundaries, tied: Ints) -> tuple[Floats, Floats]:
    """Mean and variance of the relevant documents that the slots take from the boundary group."""
    share = tied / np.maximum(cut.tied, 1)
    variance = cut.slots * share * (1 - share) * (cut.tied - cut.slots) / np.maximum(cut.tied - 1, 1)
    return cut.slots * share, variance


def _hidden(setting: Setting, cut: Boundaries) -> Bools:
    """The queries whose list was cut at the declared depth, inside or before the group that the measure cuts."""
    whole = cut.above + cut.tied == setting.joined.retrieved
    return np.asarray((setting.joined.retrieved == setting.depth) & whole & (cut.slots > 0))


def _selected(setting: Setting, cut: Boundaries, hits: Bools, above: Ints, tied: Ints) -> Ints:
    """The relevant documents that the order in force selects."""
    if setting.order == "inclusive":
        return above + tied
    joined = setting.joined
    return joined.count_hits(hits & (joined.hit_place(setting.order) < cut.k[joined.hit_query]))


def _details(setting: Setting, cut: Boundaries, above: Ints, tied: Ints) -> dict[str, Ints]:
    returned = cut.above + cut.tied if setting.order == "inclusive" else cut.k
    return {
        "retrieved": setting.joined.retrieved,
        "returned": returned,
        "above": cut.above,
        "tied": cut.tied,
        "slots": cut.slots,
        "relevant_above": above,
        "relevant_tied": tied,
    }


DEFINITION = Definition(
    name="R",
    aliases=("Recall", "recall"),
    parameters={"rel": relevance_threshold},
    cutoff="required",
    resolve=resolve_relevance,
    evaluate=evaluate,
)
