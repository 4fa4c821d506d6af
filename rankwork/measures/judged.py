"""Judged@k: the share of the first k documents that somebody has judged, whatever the grade.

It tells how far the other measures can be trusted: they count what nobody judged as not relevant. It divides by the
documents that are there, k or the length of a shorter list, as ir_measures does, and needs no relevant document.
"""

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankwork.measures.names import Definition, Measure, unchanged
from rankwork.measures.precision import moments, score
from rankwork.measures.values import Bools, Setting
from rankwork.rankings import Ints


def counted(measure: Measure, grades: NDArray[Any]) -> Bools:
    """Every grade: who is graded is judged."""
    return np.ones(len(grades), bool)


def cutoffs(measure: Measure, setting: Setting) -> Ints:
    """The cutoff of the name, clipped to each list."""
    retrieved = setting.joined.retrieved
    return retrieved if measure.cutoff is None else np.minimum(measure.cutoff, retrieved)


DEFINITION = Definition(
    name="Judged",
    aliases=("judged",),
    parameters={},
    cutoff="optional",
    resolve=unchanged,
    score=score,
    moments=moments,
    counted=counted,
    cutoffs=cutoffs,
    of_hits=lambda measure, hits, k, total: Fraction(hits, k),
    every_judged=True,
    always_defined=True,
)
