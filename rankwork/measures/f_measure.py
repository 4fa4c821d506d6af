"""F: the weighted harmonic mean of precision and recall, (1 + beta^2) P R / (beta^2 P + R).

With P = hits/k and R = hits/n it is (1 + beta^2) hits / (beta^2 n + k): linear in the hits, so it is known as exactly
as they are. Without a cutoff it is that of the whole list, which ir_measures calls SetF. beta = 2 counts recall four
times. C. J. van Rijsbergen, Information Retrieval, 1979.
"""

from fractions import Fraction
from typing import Any

import numpy as np

from rankwork.measures.arranging import Arrangement
from rankwork.measures.evaluating import by_relevance
from rankwork.measures.hits import hit_moments, hits_of, total_of
from rankwork.measures.names import Definition, Measure, relevance_threshold, resolve_relevance
from rankwork.measures.values import Floats, Setting
from rankwork.rankings import Ints


def score(measure: Measure, setting: Setting, arranged: Arrangement) -> Floats:
    """The F of the first k."""
    squared = measure.parameter("beta") ** 2
    total = total_of(measure, setting)[arranged.query]
    return np.asarray((1 + squared) * hits_of(measure, arranged) / _denominator(squared, total, arranged.k))


def moments(measure: Measure, setting: Setting, k: Ints) -> tuple[Floats, Floats]:
    """Mean and variance over all orders."""
    squared = measure.parameter("beta") ** 2
    scale = (1 + squared) / _denominator(squared, total_of(measure, setting), k)
    mean, variance = hit_moments(measure, setting, k)
    return mean * scale, variance * scale**2


def cutoffs(measure: Measure, setting: Setting) -> Ints:
    """The cutoff of the name, or the length of each list."""
    retrieved = setting.joined.retrieved
    return retrieved if measure.cutoff is None else np.full(len(retrieved), measure.cutoff)


def of_hits(measure: Measure, hits: int, k: int, total: int) -> Fraction:
    """F as an exact fraction of the hits."""
    squared = Fraction(measure.parameter("beta")) ** 2
    return (1 + squared) * hits / (squared * total + k)


def positive(value: Any) -> str | None:
    """Check of the parameter `beta`."""
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < float("inf"):
        return None
    return f"must be a positive number, got {value!r}"


def _denominator(squared: float, total: Ints, k: Ints) -> Floats:
    return np.where((total > 0) | (k > 0), squared * total + k, 1.0)


def _resolve(measure: Measure, setting: Setting) -> Measure:
    return resolve_relevance(measure, setting).filled(beta=1)


DEFINITION = Definition(
    name="F",
    aliases=("F1", "SetF", "set_F", "f1"),
    parameters={"beta": positive, "rel": relevance_threshold},
    cutoff="optional",
    resolve=_resolve,
    score=score,
    moments=moments,
    counted=by_relevance,
    cutoffs=cutoffs,
    of_hits=of_hits,
)
