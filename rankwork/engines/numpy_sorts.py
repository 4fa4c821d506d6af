"""numpy's full sorts. Two idioms make a sort descending, and they do not break ties alike.

Sorting the negated scores keeps a stable sort stable; reversing an ascending sort turns its stability around, so that
the highest position comes first.
"""

from collections.abc import Callable

import numpy as np

from rankwork.engines.base import Engine, Promise, Request, Scores
from rankwork.engines.cpu_instructions import NUMPY_RESTARTS


def default(request: Request) -> Scores:
    """Negate and sort with the default algorithm."""
    return np.argsort(-request.scores, axis=-1)[..., : request.k]


def stable(request: Request) -> Scores:
    """Negate and sort stably: the contract by position."""
    return np.argsort(-request.scores, axis=-1, kind="stable")[..., : request.k]


def reversed_default(request: Request) -> Scores:
    """Sort ascending with the default algorithm and read backwards."""
    return np.argsort(request.scores, axis=-1)[..., ::-1][..., : request.k]


def reversed_stable(request: Request) -> Scores:
    """Sort ascending stably and read backwards: stable, but from the other end."""
    return np.argsort(request.scores, axis=-1, kind="stable")[..., ::-1][..., : request.k]


_SOURCE = "numpy.argsort and numpy.sort, docstrings"
_UNSTABLE = Promise(
    "not mentioned", "none", "by score", "the default algorithm is listed as not stable", _SOURCE, "2.4.6"
)
_STABLE = Promise(
    "promised", "lowest position", "by score", "a stable sort keeps equal keys in relative order", _SOURCE, "2.4.6"
)
_FROM_THE_END = Promise(
    "promised", "highest position", "by score", "a stable ascending sort, read backwards", _SOURCE, "2.4.6"
)


def _engine(name: str, promise: Promise, answer: Callable[[Request], Scores]) -> Engine:
    return Engine(
        name=name,
        package="numpy",
        promise=promise,
        answer=answer,
        modules=("numpy",),
        install="pip install numpy",
        dtypes=("float16", "float32", "float64", "int32", "int64"),
        batches=True,
        restarts=NUMPY_RESTARTS,
    )


ENGINES = (
    _engine("numpy.argsort", _UNSTABLE, default),
    _engine("numpy.argsort stable", _STABLE, stable),
    _engine("numpy.argsort reversed", _UNSTABLE, reversed_default),
    _engine("numpy.argsort stable reversed", _FROM_THE_END, reversed_stable),
)
