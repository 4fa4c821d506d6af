"""Sums of gain times a weight that depends on the place alone: what nDCG and RBP are made of.

A group's t slots have weights that add up to W1; its m documents have gains with mean g and population variance s2.
Over all orders the group's sum has mean g W1 and variance s2 m/(m-1) [sum (w - W1/m)^2 + (m-t) (W1/m)^2].
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankwork.measures.arranging import Arrangement
from rankwork.measures.joining import TieGroups
from rankwork.measures.ragged import blocks, sums_by
from rankwork.measures.values import Floats, Setting
from rankwork.rankings import Ints

Weight = Callable[[Ints], Floats]


def weighted(arranged: Arrangement, gain: Floats, weight: Weight) -> Floats:
    """The sum for each list; `gain` holds one number a document."""
    within = arranged.within
    kept = arranged.only(within)
    return kept.sum(gain[within] * weight(kept.place))


def weighted_moments(
    setting: Setting, k: Ints, gain_of: Callable[[NDArray[Any]], Floats], weight: Weight
) -> tuple[Floats, Floats]:
    """Mean and variance of the sum for each judged query."""
    groups = setting.joined.tie_groups(every_judged=False)
    gain, slots = gain_of(groups.grade), groups.slots(k)
    average = groups.sum(gain) / groups.tied
    mean = average * _total_weight(groups, slots, weight)
    variance = _gain_variance(groups, gain, average) * _weight_spread(groups, slots, weight)
    return sums_by(groups.query, mean, len(k)), sums_by(groups.query, variance, len(k))


def _total_weight(groups: TieGroups, slots: Ints, weight: Weight) -> Floats:
    """W1 of each group, as a difference of two sums from the first place on."""
    starts = np.where(slots > 0, groups.above, 0)
    sums = np.concatenate(([0.0], np.cumsum(weight(np.arange((starts + slots).max(initial=0))))))
    total: Floats = sums[starts + slots] - sums[starts]
    return total


def _gain_variance(groups: TieGroups, gain: Floats, average: Floats) -> Floats:
    """The sum of squares about the mean over m - 1; documents that are no hits have gain 0."""
    squares = groups.sum((gain - average[groups.of_hit]) ** 2)
    others = groups.tied - np.bincount(groups.of_hit, minlength=len(groups))
    return (squares + others * average**2) / np.maximum(groups.tied - 1, 1)


def _weight_spread(groups: TieGroups, slots: Ints, weight: Weight) -> Floats:
    """The sum of squares of the weights about their mean over the group, the places beyond the cut weighing 0."""
    spread = np.zeros(len(groups))
    for rows, columns in blocks(np.where(groups.tied > 1, slots, 0)):
        inside = columns < slots[rows, None]
        weights = np.where(inside, weight(groups.above[rows, None] + columns), 0.0)
        mean = weights.sum(axis=1) / groups.tied[rows]
        squares = np.where(inside, (weights - mean[:, None]) ** 2, 0.0).sum(axis=1)
        spread[rows] = squares + (groups.tied[rows] - slots[rows]) * mean**2
    return spread
