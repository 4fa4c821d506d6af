r"""AP: the mean over all relevant documents of the precision at their ranks; one that is not found adds 0.

With `@k` only ranks up to k add, and the denominator stays the number of relevant documents. Its mean over queries is
MAP.

A group of m documents, r of them relevant, starts after c documents, h of them relevant; its first t places count. With
w_i = 1/(c+i) and indicators X_i of relevance it adds (h+1) sum w_i X_i + sum_{j<i} w_i X_i X_j, over R. Mean: p = r/m,
q = (r-1)/(m-1), W = sum w_i; (r/m) [(h+1) W + q (t - (c+1) W)].

For the variance write X_i = p + Z_i. Then the group adds a constant, a linear form L = sum a_i Z_i with
a_i = w_i (h + 1 + p (i-1)) + p sum_{k>i} w_k, and a quadratic one B = sum_{j<i} w_i Z_i Z_j. The mixed moments of the Z
at distinct places are power sums of the group, and groups are independent. Unlike moments of the X themselves, these
lose no digits to cancellation.
"""

import numpy as np

from rankwork.measures.arranging import Arrangement
from rankwork.measures.evaluating import by_relevance, cutoff_of
from rankwork.measures.hits import at_least_one, total_of
from rankwork.measures.names import Definition, Measure, relevance_threshold, resolve_relevance
from rankwork.measures.ragged import blocks, sums_by
from rankwork.measures.values import Floats, Setting
from rankwork.rankings import Ints


def score(measure: Measure, setting: Setting, arranged: Arrangement) -> Floats:
    """The precisions at the ranks of relevant documents, over all of those."""
    relevant = arranged.only(by_relevance(measure, arranged.grade) & arranged.within)
    before = relevant.seen_before(np.ones(len(relevant.place), bool))
    sums = relevant.sum((before + 1) / (relevant.place + 1))
    return sums / at_least_one(total_of(measure, setting))[arranged.query]


def moments(measure: Measure, setting: Setting, k: Ints) -> tuple[Floats, Floats]:
    """Mean and variance over all orders."""
    groups = setting.joined.tie_groups(every_judged=False)
    hits = groups.count(by_relevance(measure, groups.grade))
    before, slots = groups.before(hits), groups.slots(k)
    mean = _means(groups.above, groups.tied, slots, hits, before)
    variance = _variances(groups.above, groups.tied, np.where(hits < groups.tied, slots, 0), hits, before)
    total = at_least_one(total_of(measure, setting))
    return (
        sums_by(groups.query, mean, len(k)) / total,
        sums_by(groups.query, variance, len(k)) / total**2,
    )


def _means(above: Ints, tied: Ints, slots: Ints, hits: Ints, before: Ints) -> Floats:
    harmonic = np.concatenate(([0.0], np.cumsum(1.0 / np.arange(1, (above + slots).max(initial=0) + 1))))
    weight = harmonic[above + slots] - harmonic[above]
    pairs = (hits - 1) / np.maximum(tied - 1, 1)
    return np.asarray(hits / tied * ((before + 1) * weight + pairs * (slots - (above + 1) * weight)))


def _variances(above: Ints, tied: Ints, slots: Ints, hits: Ints, before: Ints) -> Floats:
    variance = np.zeros(len(above))
    for rows, columns in blocks(np.where(hits > 0, slots, 0)):
        columns_of = (values[rows, None].astype(np.float64) for values in (above, tied, slots, hits, before))
        variance[rows] = _block_variance(columns.astype(np.float64), *columns_of)
    return variance


def _block_variance(index: Floats, above: Floats, tied: Floats, slots: Floats, hits: Floats, before: Floats) -> Floats:
    """The variance of L + B for a block of groups; `index` is i - 1, everything else a column."""
    share = hits / tied
    weight = np.where(index < slots, 1.0 / (above + index + 1), 0.0)
    after = weight.sum(axis=1, keepdims=True) - np.cumsum(weight, axis=1)
    linear = np.where(index < slots, weight * (before + 1 + share * index) + share * after, 0.0)
    pair = _sum(weight * index)
    triple = _sum(weight**2 * index * (index - 1)) + 4 * _sum(weight * _before(weight * index))
    same = _sum(weight**2 * index)
    with_upper, with_lower = _sum(linear * weight * index), _sum(weight * _before(linear))
    moment = _CentralMoments(tied[:, 0], share[:, 0])
    centre = linear.sum(axis=1, keepdims=True) / tied
    squares = _sum(np.where(index < slots, (linear - centre) ** 2, 0.0)) + ((tied - slots) * centre**2)[:, 0]
    of_linear = moment.second / np.maximum(tied[:, 0] - 1, 1) * squares
    both = moment.of21 * (with_upper + with_lower)
    both += moment.of111 * (_sum(linear) * pair - with_upper - with_lower)
    of_pairs = moment.of22 * same + moment.of211 * triple + moment.of1111 * (pair**2 - same - triple)
    return np.asarray(of_linear + 2 * both + of_pairs - (moment.of11 * pair) ** 2)


class _CentralMoments:
    """The mean over all orders of products of Z at distinct places; `of21` is that of Z_1^2 Z_2.

    Of m values that add up to 0, the sum of a product over distinct places follows from their power sums.
    """

    def __init__(self, tied: Floats, share: Floats) -> None:
        rest = 1 - share
        self.second = second = tied * share * rest
        third, fourth = second * (rest - share), second * (1 - 3 * share * rest)
        two, three, four = (_falling(tied, order) for order in (2, 3, 4))
        self.of11, self.of21 = -second / two, -third / two
        self.of111, self.of22 = 2 * third / three, (second**2 - fourth) / two
        self.of211, self.of1111 = (2 * fourth - second**2) / three, (3 * second**2 - 6 * fourth) / four


def _falling(tied: Floats, order: int) -> Floats:
    """The product m (m-1) ... of so many factors, 1 where there are not as many places and no product has them."""
    product = np.ones_like(tied)
    for factor in range(order):
        product = product * (tied - factor)
    return np.where(tied >= order, product, 1.0)


def _sum(values: Floats) -> Floats:
    return np.asarray(values.sum(axis=1))


def _before(values: Floats) -> Floats:
    """The sums of the values before each."""
    return np.cumsum(values, axis=1) - values


DEFINITION = Definition(
    name="AP",
    aliases=("MAP", "map", "map_cut", "ap"),
    parameters={"rel": relevance_threshold},
    cutoff="optional",
    resolve=resolve_relevance,
    score=score,
    moments=moments,
    counted=by_relevance,
    cutoffs=cutoff_of,
)
