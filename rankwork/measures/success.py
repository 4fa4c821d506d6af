"""Success@k, also called Hit@k: 1 if a relevant document stands among the first k, else 0.

If one stands above the group at the cut it is sure. Else the chance that t slots of m documents, r of them relevant,
take none of those is C(m-r, t)/C(m, t), a product of min(r, t) factors.
"""

from fractions import Fraction

import numpy as np

from rankwork.measures.arranging import Arrangement
from rankwork.measures.evaluating import by_relevance, cutoff_of
from rankwork.measures.hits import at_the_cut, hits_of
from rankwork.measures.names import Definition, Measure, relevance_threshold, resolve_relevance
from rankwork.measures.ragged import blocks
from rankwork.measures.values import Floats, Setting
from rankwork.rankings import Ints


def score(measure: Measure, setting: Setting, arranged: Arrangement) -> Floats:
    """1 with a hit, 0 without."""
    return (hits_of(measure, arranged) > 0).astype(np.float64)


def moments(measure: Measure, setting: Setting, k: Ints) -> tuple[Floats, Floats]:
    """The chance p of a hit, and p (1 - p)."""
    cut = setting.joined.boundaries(k)
    above, tied = at_the_cut(setting.joined, by_relevance(measure, setting.joined.hit_grade), cut.above)
    miss = np.where(above > 0, 0.0, chance_of_none(cut.tied, tied, cut.slots))
    return 1 - miss, miss * (1 - miss)


def chance_of_none(size: Ints, members: Ints, drawn: Ints) -> Floats:
    """C(size - members, drawn) / C(size, drawn): the chance to draw none of the members, one for each entry.

    >>> chance_of_none(np.array([3]), np.array([1]), np.array([2])).round(4).tolist()
    [0.3333]
    """
    few, many = np.minimum(members, drawn), np.maximum(members, drawn)
    chance = np.ones(len(size))
    for rows, columns in blocks(few):
        inside = columns < few[rows, None]
        left = np.maximum(size[rows, None] - many[rows, None] - columns, 0)
        factors = np.where(inside, left / np.maximum(size[rows, None] - columns, 1), 1.0)
        chance[rows] = factors.prod(axis=1)
    return chance


DEFINITION = Definition(
    name="Success",
    aliases=("Hit", "success", "hit", "HitRate", "Hits", "HR"),
    parameters={"rel": relevance_threshold},
    cutoff="required",
    resolve=resolve_relevance,
    score=score,
    moments=moments,
    counted=by_relevance,
    cutoffs=cutoff_of,
    of_hits=lambda measure, hits, k, total: Fraction(min(hits, 1)),
    members_only=True,
)
