"""RBP: rank-biased precision, (1 - p) times the sum of p^(rank - 1) over relevant documents.

A reader looks at the next document with persistence p. It divides by nothing, so even the best order stays below 1.
A. Moffat and J. Zobel, ACM TOIS 27, 2008. p is .8 unless given, as in ir_measures; trec_eval's name `rbp` means p = .9.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from rankwork.measures.arranging import Arrangement
from rankwork.measures.evaluating import by_relevance, cutoff_of
from rankwork.measures.gains import weighted, weighted_moments
from rankwork.measures.names import Definition, Measure, relevance_threshold, resolve_relevance
from rankwork.measures.values import Floats, Setting
from rankwork.rankings import Ints


def score(measure: Measure, setting: Setting, arranged: Arrangement) -> Floats:
    """The weights of the places that hold relevant documents."""
    return weighted(arranged, by_relevance(measure, arranged.grade).astype(np.float64), _weight(measure))


def moments(measure: Measure, setting: Setting, k: Ints) -> tuple[Floats, Floats]:
    """Mean and variance over all orders."""
    return weighted_moments(
        setting, k, lambda grades: by_relevance(measure, grades).astype(np.float64), _weight(measure)
    )


def _weight(measure: Measure) -> Callable[[Ints], Floats]:
    persistence = float(measure.parameter("p"))
    return lambda place: (1 - persistence) * persistence ** place.astype(np.float64)


def _persistence(value: Any) -> str | None:
    return None if isinstance(value, float) and 0 < value < 1 else f"must be between 0 and 1, got {value!r}"


def _resolve(measure: Measure, setting: Setting) -> Measure:
    return resolve_relevance(measure, setting).filled(p=0.8)


DEFINITION = Definition(
    name="RBP",
    aliases=("rbp",),
    parameters={"p": _persistence, "rel": relevance_threshold},
    cutoff="optional",
    resolve=_resolve,
    score=score,
    moments=moments,
    counted=by_relevance,
    cutoffs=cutoff_of,
    implied={"rbp": (("p", 0.9),)},
)
