"""Engines as rankers of documents: they see the scores as they arrive, and no ID."""

from collections.abc import Callable
from typing import Any

import numpy as np

from rankwork.contract.checks import Rows, by_scores
from rankwork.engines.registry import engine


def as_ranker(name: str, k: int) -> Callable[[Rows], tuple[Any, ...]]:
    """The engine of that name as a function of rows that returns the IDs of the k best, best first.

    Scores are given to it in float32. Errors as `engine` raises them for an unknown name.

    >>> as_ranker("heapq.nlargest", 2)([("B", 8), ("A", 8), ("C", 9)])
    ('C', 'B')
    """
    chosen = engine(name)
    return by_scores(lambda scores: chosen.select(np.array(scores, np.float32), k).tolist())
