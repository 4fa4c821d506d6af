"""Hits: the relevant documents among the first k, what a measure of their number alone is made of.

A tie group of m documents, r of them relevant, starts after c documents, h of them relevant; the cut leaves it t slots.
Every order is allowed and equally likely, so the hits are h plus a hypergeometric number: between
h + max(0, t - (m - r)) and h + min(t, r), with mean h + t r/m and variance t (r/m) (1 - r/m) (m - t)/(m - 1).
"""

import numpy as np

from rankwork.measures.arranging import Arrangement
from rankwork.measures.joining import Joined
from rankwork.measures.names import Measure, definition_of
from rankwork.measures.values import Bools, Floats, Setting
from rankwork.rankings import Ints


def hits_of(measure: Measure, arranged: Arrangement) -> Ints:
    """How many documents that count stand before each list's cutoff, int64[L]."""
    counted = definition_of(measure).counted(measure, arranged.grade)
    return arranged.only(arranged.within & counted).count()


def hit_moments(measure: Measure, setting: Setting, k: Ints) -> tuple[Floats, Floats]:
    """Mean and variance of the hits of each judged query, float64[J]."""
    joined = setting.joined
    counted = definition_of(measure).counted(measure, joined.hit_grade)
    cut = joined.boundaries(k)
    above, tied = at_the_cut(joined, counted, cut.above)
    share = tied / np.maximum(cut.tied, 1)
    spread = cut.slots * share * (1 - share) * (cut.tied - cut.slots) / np.maximum(cut.tied - 1, 1)
    return above + cut.slots * share, spread


def at_the_cut(joined: Joined, counted: Bools, above: Ints) -> tuple[Ints, Ints]:
    """How many of these hits each query has above its cut group, which starts after `above` documents, and in it."""
    start = above[joined.hit_query]
    return joined.count_hits(counted & (joined.hit_above < start)), joined.count_hits(
        counted & (joined.hit_above == start)
    )


def total_of(measure: Measure, setting: Setting) -> Ints:
    """How many judged documents count, retrieved or not, for each judged query, int64[J]."""
    judgements = setting.joined.judgements
    return setting.joined.count_judged(definition_of(measure).counted(measure, judgements.grades))


def at_least_one(counts: Ints) -> Ints:
    """Counts that can divide; where one is 0 the value is undefined anyway."""
    return np.maximum(counts, 1)
