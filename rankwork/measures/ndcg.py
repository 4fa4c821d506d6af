"""nDCG: gain discounted by log2(rank + 1), over that of the best order of all judged documents.

`dcg='log2'` takes the grade as gain (K. Järvelin and J. Kekäläinen, ACM TOIS 20, 2002), `dcg='exp-log2'` takes
2^grade - 1 (C. Burges et al., ICML 2005); the ideal holds k documents, retrieved or not. A query is undefined without a
positive grade. Expected value: the closed form of McSherry and Najork (ECIR 2008).
"""

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankwork.errors import ContractError
from rankwork.measures.arranging import Arrangement
from rankwork.measures.evaluating import by_gain, cutoff_of
from rankwork.measures.gains import weighted, weighted_moments
from rankwork.measures.names import Definition, Measure
from rankwork.measures.values import Floats, Setting
from rankwork.rankings import Ints

_FORMS = ("log2", "exp-log2")


def score(measure: Measure, setting: Setting, arranged: Arrangement) -> Floats:
    """DCG over the ideal DCG."""
    k = np.zeros(len(setting.joined.judgements.queries), np.int64)
    k[arranged.query] = arranged.k
    return weighted(arranged, gain(measure, arranged.grade), discount) / ideal(measure, setting, k)[arranged.query]


def moments(measure: Measure, setting: Setting, k: Ints) -> tuple[Floats, Floats]:
    """Mean and variance over all orders."""
    best = ideal(measure, setting, k)
    mean, variance = weighted_moments(setting, k, partial(gain, measure), discount)
    return mean / best, variance / best**2


def ideal(measure: Measure, setting: Setting, k: Ints) -> Floats:
    """The DCG of the best order of all judged documents, 1 where there is no gain; float64[J]."""
    query, rank, grades = setting.joined.positive_judgements
    within = rank < k[query]
    gains = gain(measure, grades[within]) * discount(rank[within])
    sums = np.bincount(query[within], gains, minlength=len(k))
    return np.where(sums > 0, sums, 1.0)


def gain(measure: Measure, grades: NDArray[Any]) -> Floats:
    """The gain of grades. ContractError for a grade whose exponential gain is beyond float64."""
    if measure.parameter("dcg") == "log2":
        return grades.astype(np.float64)
    highest = grades.max(initial=0)
    if highest >= 1024:
        raise ContractError(f"{measure}: the gain 2^grade - 1 of grade {highest.item()!r} is beyond float64")
    return np.exp2(grades.astype(np.float64)) - 1


def discount(place: Ints) -> Floats:
    """One over log2(rank + 1); the place counts from 0."""
    return 1.0 / np.log2(place + 2)


def _resolve(measure: Measure, setting: Setting) -> Measure:
    """The gain of the protocol; one that says nothing of nDCG leaves the grade itself."""
    return measure.filled(dcg="exp-log2" if setting.protocol.gain == "exponential" else "log2")


def _form(value: Any) -> str | None:
    return None if value in _FORMS else f"must be one of {', '.join(map(repr, _FORMS))}, got {value!r}"


DEFINITION = Definition(
    name="nDCG",
    aliases=("NDCG", "ndcg", "ndcg_cut"),
    parameters={"dcg": _form},
    cutoff="optional",
    resolve=_resolve,
    score=score,
    moments=moments,
    counted=by_gain,
    cutoffs=cutoff_of,
)
