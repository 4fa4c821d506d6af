"""Scores as points on a line, for engines that look for near vectors rather than high scores.

A point's coordinate is its rank among the distinct scores: 0 for the highest, 1 for the next. The query stands at 0, so
the nearest points have the highest scores, equal scores lie at equal distances, and no rounding makes or breaks a tie.
"""

import numpy as np
from numpy.typing import NDArray

from rankwork.engines.base import EngineError, Scores

# Squares up to here are exact in float32, whose significand has 24 bits.
MOST_DISTINCT = 4096


def points(scores: Scores) -> NDArray[np.float32]:
    """One float32 coordinate for each score, shape (n, 1). EngineError if the squared distances would not be exact.

    >>> points(np.array([5.0, 7.0, 5.0])).ravel().tolist()
    [1.0, 0.0, 1.0]
    """
    distinct, inverse = np.unique(scores, return_inverse=True)
    if len(distinct) > MOST_DISTINCT:
        raise EngineError(f"distances are exact for at most {MOST_DISTINCT} distinct scores, got {len(distinct)}")
    return (len(distinct) - 1 - inverse).astype(np.float32).reshape(-1, 1)


QUERY: NDArray[np.float32] = np.zeros((1, 1), dtype=np.float32)
