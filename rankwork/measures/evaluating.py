"""From a measure of one order to its five numbers: contract, minimum, expected value, maximum and standard deviation.

The minimum and the maximum are the measure of two orders; mean and variance are its closed forms. For a list that was
cut, the outer orders bound what the cut hides, and a number that is not sure is left out.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankwork.measures import arranging
from rankwork.measures.arranging import Arrangement
from rankwork.measures.joining import Boundaries, relevant
from rankwork.measures.names import Definition, Measure, definition_of
from rankwork.measures.values import CENSORED, Bools, Setting, Values, known_where, reasons
from rankwork.rankings import Ints

NO_CUTOFF = 2**62  # more than any list holds, and safe to add to


def evaluated(measure: Measure, setting: Setting) -> Values:
    """The values of a resolved measure for every judged query.

    >>> from rankwork.inputs.toy import six
    >>> from rankwork.measures.joining import Joined
    >>> from rankwork.measures.names import parse
    >>> from rankwork.protocol import Protocol
    >>> values = evaluated(parse("R(rel=1)@3"), Setting(Joined.of(*six()), Protocol.named("rankwork")))
    >>> [round(float(getattr(values, name)[0]), 4) for name in ("contract", "min", "expected", "max", "variance")]
    [0.6667, 0.6667, 0.7778, 1.0, 0.0247]
    """
    definition, joined = definition_of(measure), setting.joined
    k = definition.cutoffs(measure, setting)
    cut = joined.boundaries(k)
    hidden = np.asarray(
        (joined.retrieved == setting.depth) & (cut.above + cut.tied == joined.retrieved) & (cut.slots > 0)
    )
    lowest = arranging.worst(joined, every_judged=definition.every_judged).with_k(k)
    highest = arranging.best(joined, every_judged=definition.every_judged).with_k(k)
    low, high = (definition.score(measure, setting, order) for order in (lowest, highest))
    outer_low, outer_high = low, high
    if hidden.any():
        floor = arranging.without_last_group(lowest, hidden, cut.above)
        ceiling = arranging.with_best_of_rest(joined, highest, hidden, cut.above, every_judged=definition.every_judged)
        outer_low, outer_high = (definition.score(measure, setting, order) for order in (floor, ceiling))
    moving = hidden & (outer_low != outer_high)
    mean, variance = definition.moments(measure, setting, k)
    unsure = _contract_unsure(definition, measure, setting, hidden, moving)
    variance = np.where(low == high, 0.0, np.maximum(variance, 0.0))
    return Values(
        contract=known_where(definition.score(measure, setting, _chosen(definition, setting, cut, k)), ~unsure),
        min=known_where(low, ~hidden | (outer_low == low)),
        expected=known_where(np.clip(mean, low, high), ~moving),
        max=known_where(high, ~hidden | (outer_high == high)),
        variance=known_where(variance, ~moving),
        outer_min=outer_low,
        outer_max=outer_high,
        relevant=joined.count_judged(definition.counted(measure, joined.judgements.grades)),
        reason=_reasons(moving | unsure, np.isnan(variance), definition),
        details={**_details(definition, measure, setting, cut), "places": k},
    )


def cutoff_of(measure: Measure, setting: Setting) -> Ints:
    """The cutoff that the name gives, or none, for each judged query."""
    return np.full(len(setting.joined.judgements.queries), measure.cutoff or NO_CUTOFF)


def by_relevance(measure: Measure, grades: NDArray[Any]) -> Bools:
    """Whether grades reach the parameter `rel`."""
    return relevant(grades, measure.parameter("rel"))


def by_gain(measure: Measure, grades: NDArray[Any]) -> Bools:
    """Whether grades are positive."""
    return np.asarray(grades > 0)


def _chosen(definition: Definition, setting: Setting, cut: Boundaries, k: Ints) -> Arrangement:
    """The order in force; `inclusive` takes every document at or above the k-th score, equal ones by ID ascending."""
    if setting.order != "inclusive":
        return arranging.in_order(setting.joined, setting.order, every_judged=definition.every_judged).with_k(k)
    order = arranging.in_order(setting.joined, "id_asc", every_judged=definition.every_judged)
    return order.with_k(np.maximum(k, cut.above + cut.tied))


def _contract_unsure(definition: Definition, measure: Measure, setting: Setting, hidden: Bools, moving: Bools) -> Bools:
    """Where the cut hides the contract's value; `inclusive` would have taken the hidden rest of the last group too."""
    if setting.order != "inclusive" or not hidden.any():
        return moving
    if not definition.members_only:
        return hidden
    missing = setting.joined.unretrieved(hidden, every_judged=False)
    missing = missing[definition.counted(measure, setting.joined.judgements.grades[missing])]
    found = np.bincount(setting.joined.judgements.query_of_row[missing], minlength=len(hidden))
    return hidden & (found > 0)


def _reasons(censored: Bools, without_std: Bools, definition: Definition) -> NDArray[Any]:
    texts = reasons(censored, CENSORED)
    if definition.unknown_std:
        texts[without_std & ~censored] = definition.unknown_std
    return texts


def _details(definition: Definition, measure: Measure, setting: Setting, cut: Boundaries) -> dict[str, Ints]:
    joined = setting.joined
    counted = definition.counted(measure, joined.hit_grade)
    return {
        "retrieved": joined.retrieved,
        "returned": cut.above + cut.tied if setting.order == "inclusive" else cut.k,
        "above": cut.above,
        "tied": cut.tied,
        "slots": cut.slots,
        "relevant_above": joined.count_hits(counted & (joined.hit_above < cut.above[joined.hit_query])),
        "relevant_tied": joined.count_hits(counted & (joined.hit_above == cut.above[joined.hit_query])),
    }
