"""The exact distribution of a measure that depends on the number of hits alone: hypergeometric, in fractions."""

from fractions import Fraction
from math import comb

import numpy as np

from rankwork.errors import ContractError
from rankwork.measures.names import Measure, definition_of
from rankwork.measures.values import Values


def distribution_of(measure: Measure, values: Values, place: int) -> dict[Fraction, Fraction]:
    """The chance of each value of a resolved measure for the query at `place`, by value ascending.

    ContractError for a measure of more than the hits, and for a query whose values are undefined or censored.
    """
    of_hits = definition_of(measure).of_hits
    if of_hits is None:
        raise ContractError(f"{measure} depends on more than the number of hits: its distribution is not known")
    if np.isnan(values.expected[place]) or not values.averaged[place]:
        raise ContractError(f"{measure} has no distribution here: the query is {values.reason[place] or 'left out'}")
    tied, slots, counted_above, counted_tied = (
        int(values.details[name][place]) for name in ("tied", "slots", "relevant_above", "relevant_tied")
    )
    k = int(values.details["places"][place])
    total = int(values.relevant[place])
    found: dict[Fraction, Fraction] = {}
    for hits in range(max(0, slots - (tied - counted_tied)), min(slots, counted_tied) + 1):
        chance = Fraction(comb(counted_tied, hits) * comb(tied - counted_tied, slots - hits), comb(tied, slots))
        value = of_hits(measure, counted_above + hits, max(k, 1), max(total, 1))
        found[value] = found.get(value, Fraction(0)) + chance
    return dict(sorted(found.items()))
