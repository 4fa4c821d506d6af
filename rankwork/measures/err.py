"""ERR, expected reciprocal rank: a reader stops at a document with chance (2^grade - 1)/2^max_rel and gains 1/rank.

O. Chapelle, D. Metzler, Y. Zhang and P. Grinspan, CIKM 2009. `max_rel` is the highest grade of the scale: unless given,
the highest grade in all judgements, which the resolved name shows; gdeval takes 4.

Nothing in a group depends on the order of the groups before it: they are passed with the product of their 1 - R. Inside
a group of m documents let S_i be the mean of that product over all choices of i documents. It follows by adding one
document after the other: among n of them S_i becomes (1 - i/n) S_i + (i/n) (1 - R_n) S_(i-1). The group's mean is the
sum of (S_(i-1) - S_i)/(c+i) over its places. The standard deviation needs such means over pairs of sets, for which
there is no short form here: where a query's ties leave a range, it is left out.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankwork.errors import ContractError
from rankwork.measures.arranging import Arrangement
from rankwork.measures.evaluating import by_gain, cutoff_of
from rankwork.measures.joining import TieGroups
from rankwork.measures.names import Definition, Measure
from rankwork.measures.ragged import blocks, sums_by
from rankwork.measures.values import Floats, Setting
from rankwork.rankings import Ints


def score(measure: Measure, setting: Setting, arranged: Arrangement) -> Floats:
    """The sum over ranks of the chance to stop there, over the rank."""
    found = arranged.only(by_gain(measure, arranged.grade) & arranged.within)
    stop = stop_chance(measure, found.grade)
    passed = _passed_before(stop, found.stretches)
    return found.sum(passed * stop / (found.place + 1))


def moments(measure: Measure, setting: Setting, k: Ints) -> tuple[Floats, Floats]:
    """The mean over all orders, and a variance that is not known."""
    groups = setting.joined.tie_groups(every_judged=False)
    stop = stop_chance(measure, groups.grade)
    in_order = np.argsort(groups.of_hit, kind="stable")
    hits = np.bincount(groups.of_hit, minlength=len(groups))
    reached = _reached(groups, stop[in_order], hits)
    slots = np.minimum(groups.slots(k), _readable(groups.sum(stop) / groups.tied))
    mean = reached * _group_means(groups, stop[in_order], hits, slots)
    return sums_by(groups.query, mean, len(k)), np.full(len(k), np.nan)


def stop_chance(measure: Measure, grades: NDArray[Any]) -> Floats:
    """The chance to stop at each grade. ContractError for a grade above `max_rel`."""
    highest, most = grades.max(initial=0), measure.parameter("max_rel")
    if highest > most:
        raise ContractError(f"{measure}: grades must be at most max_rel = {most}, got {highest.item()!r}")
    return np.asarray(np.exp2(grades.astype(np.float64) - most) - 2.0**-most)


def _readable(average: Floats) -> Ints:
    """After how many documents of a group nobody reads on: S_i is at most (1 - mean R)^i, here below 1e-20."""
    with np.errstate(divide="ignore"):
        return np.minimum(46.1 / -np.log1p(-average), 2.0**53).astype(np.int64) + 1


def _passed_before(stop: Floats, lengths: Ints) -> Floats:
    """The product of 1 - R over the earlier documents of the same list, for each document."""
    starts = np.cumsum(lengths) - lengths
    passed = np.empty(len(stop))
    for rows, columns in blocks(lengths):
        inside = columns < lengths[rows, None]
        at = np.where(inside, starts[rows, None] + columns, 0)
        product = np.cumprod(np.where(inside, 1 - stop[at], 1.0), axis=1)
        shifted = np.concatenate((np.ones((len(rows), 1)), product[:, :-1]), axis=1)
        passed[at[inside]] = shifted[inside]
    return passed


def _reached(groups: TieGroups, stop: Floats, hits: Ints) -> Floats:
    """The chance to reach each group: the product of 1 - R over all documents of the groups before it."""
    passed = np.ones(len(groups))
    starts = np.cumsum(hits) - hits
    for rows, columns in blocks(hits):
        inside = columns < hits[rows, None]
        at = np.where(inside, starts[rows, None] + columns, 0)
        passed[rows] = np.where(inside, 1 - stop[at], 1.0).prod(axis=1)
    lists = np.diff(np.append(np.flatnonzero(groups.opens), len(groups)))
    return _passed_before(1 - passed, lists)


def _group_means(groups: TieGroups, stop: Floats, hits: Ints, slots: Ints) -> Floats:
    """The mean of what each group adds once it is reached."""
    starts, means = np.cumsum(hits) - hits, np.zeros(len(groups))
    for rows, columns in blocks(slots):
        drawn = columns + 1.0
        passed = np.ones((len(rows), len(columns)))
        for added in range(int(hits[rows].max())):
            left = np.flatnonzero(hits[rows] > added)
            row = rows[left]
            size = (groups.tied[row] - hits[row] + added + 1.0)[:, None]
            share = np.minimum(drawn / size, 1.0)
            shifted = np.concatenate((np.ones((len(left), 1)), passed[left, :-1]), axis=1)
            passed[left] = (1 - share) * passed[left] + share * (1 - stop[starts[row] + added])[:, None] * shifted
        before = np.concatenate((np.ones((len(rows), 1)), passed[:, :-1]), axis=1)
        stopped = np.where(columns < slots[rows, None], before - passed, 0.0)
        means[rows] = (stopped / (groups.above[rows, None] + drawn)).sum(axis=1)
    return means


def _resolve(measure: Measure, setting: Setting) -> Measure:
    highest = setting.joined.judgements.grades.max(initial=0).item()
    return measure.filled(max_rel=highest or 1)


def _scale(value: Any) -> str | None:
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < 1000:
        return None
    return f"must be a grade between 0 and 1000, got {value!r}"


DEFINITION = Definition(
    name="ERR",
    aliases=("err",),
    parameters={"max_rel": _scale},
    cutoff="optional",
    resolve=_resolve,
    score=score,
    moments=moments,
    counted=by_gain,
    cutoffs=cutoff_of,
    unknown_std="the standard deviation of ERR is not computed",
)
