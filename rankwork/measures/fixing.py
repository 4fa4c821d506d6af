"""A run whose scores any evaluator orders by the contract, whatever it does with ties."""

from dataclasses import replace

import numpy as np

from rankwork.errors import ContractError
from rankwork.rankings import Rankings

_LONGEST = 2**24  # integers up to here are exact in float32, which some evaluators compare in


def fixed(rankings: Rankings, *, order: str = "id_asc") -> Rankings:
    """The same lists with scores n, n - 1, ..., 1 and ranks 1, ..., n in the given order of ties.

    No order that was strict changes, and nothing is tied any more, in float32 neither. What is lost is the size of the
    scores: keep the run that was fixed if anything but the order is needed. ContractError for a list of more than
    16,777,216 documents, whose scores float32 could not tell apart, and for an unknown order.

    >>> fixed(Rankings.from_dicts({"q": {"B": 0.5, "A": 0.5, "C": 0.9}})).rows("q")
    [('C', 3), ('A', 2), ('B', 1)]
    """
    longest = int(rankings.lengths.max(initial=0))
    if longest > _LONGEST:
        raise ContractError(f"a list must hold at most {_LONGEST} documents to be fixed, got {longest}")
    rows = rankings.order(order)
    ranks = np.arange(len(rankings)) - rankings.offsets[rankings.query_of_row] + 1
    scores = rankings.lengths[rankings.query_of_row] - ranks + 1
    return replace(rankings, codes=rankings.codes[rows], scores=scores, ranks=ranks)
