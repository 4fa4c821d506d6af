"""heapq.nlargest from the standard library, in the two ways that people call it.

By key it equals a stable sort. Over (score, position) pairs the pair itself is compared, so the highest position wins.
"""

import heapq
from collections.abc import Callable
from platform import python_version

from rankwork.engines.base import Engine, Promise, Request


def by_key(request: Request) -> list[int]:
    """Positions compared by their score alone."""
    scores = request.scores.tolist()
    return heapq.nlargest(request.k, range(len(scores)), key=scores.__getitem__)


def of_pairs(request: Request) -> list[int]:
    """Pairs of score and position, compared as pairs."""
    pairs = zip(request.scores.tolist(), range(len(request.scores)), strict=True)
    return [position for _, position in heapq.nlargest(request.k, pairs)]


_SOURCE = "heapq.nlargest, docstring"
_EQUIVALENT = "equivalent to sorted(iterable, key=key, reverse=True)[:n], and sorted is stable with reverse too"
_PAIRS = "equivalent to sorted(iterable, reverse=True)[:n], here of pairs whose second part is the position"


def _engine(name: str, promise: Promise, answer: Callable[[Request], list[int]]) -> Engine:
    return Engine(
        name=name,
        package="python",
        promise=promise,
        answer=answer,
        modules=("heapq",),
        install="part of Python",
        dtypes=("float16", "float32", "float64", "int32", "int64"),
        version_of=python_version,
    )


ENGINES = (
    _engine("heapq.nlargest", Promise("promised", "lowest position", "by score", _EQUIVALENT, _SOURCE, "3.11"), by_key),
    _engine(
        "heapq.nlargest of pairs",
        Promise("promised", "highest position", "by score", _PAIRS, _SOURCE, "3.11"),
        of_pairs,
    ),
)
