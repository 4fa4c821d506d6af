"""polars: top_k, and sort by score alone, with the order maintained, or with the ID as second key.

The same words, sort then head, are run at once, or as a lazy query whose optimiser may turn them into a selection.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from rankwork.engines.base import Engine, Promise, Request, Scores


def _frame(request: Request) -> Any:
    import polars as pl

    positions = np.arange(len(request.scores))
    return pl.DataFrame({"score": request.scores, "id": request.ids, "position": positions})


def _positions(frame: Any) -> Scores:
    positions: Scores = frame["position"].to_numpy()
    return positions


def top_k(request: Request) -> Scores:
    """DataFrame.top_k by score."""
    return _positions(_frame(request).top_k(request.k, by="score"))


def sort(request: Request) -> Scores:
    """DataFrame.sort by score descending, then head."""
    return _positions(_frame(request).sort("score", descending=True).head(request.k))


def lazy_sort(request: Request) -> Scores:
    """The same as a lazy query, collected in memory."""
    return _lazy(request, "in-memory")


def streaming_sort(request: Request) -> Scores:
    """The same as a lazy query, collected by the streaming engine."""
    return _lazy(request, "streaming")


def _lazy(request: Request, engine: str) -> Scores:
    query = _frame(request).lazy().sort("score", descending=True).head(request.k)
    return _positions(query.collect(engine=engine))


def sort_maintained(request: Request) -> Scores:
    """DataFrame.sort with maintain_order=True, then head."""
    return _positions(_frame(request).sort("score", descending=True, maintain_order=True).head(request.k))


def sort_with_id(request: Request) -> Scores:
    """DataFrame.sort by score descending, then ID ascending, then head."""
    return _positions(_frame(request).sort("score", "id", descending=[True, False]).head(request.k))


_SORT = "polars.DataFrame.sort, docstring"
_UNSTABLE = Promise(
    "not mentioned", "none", "by score", "the order among equals is kept only with maintain_order", _SORT, "2.1.0"
)


def _engine(name: str, promise: Promise, answer: Callable[[Request], Scores], *, by_id: bool = False) -> Engine:
    return Engine(
        name=name,
        package="polars",
        promise=promise,
        answer=answer,
        modules=("polars",),
        install="pip install polars",
        dtypes=("float32", "float64", "int32", "int64"),
        by_id=by_id,
        restarts={"one thread": {"POLARS_MAX_THREADS": "1"}, "four threads": {"POLARS_MAX_THREADS": "4"}},
    )


ENGINES = (
    _engine(
        "polars.top_k",
        Promise(
            "not mentioned",
            "none",
            "any",
            "not guaranteed to be in any order",
            "polars.DataFrame.top_k, docstring",
            "2.1.0",
        ),
        top_k,
    ),
    _engine("polars.sort", _UNSTABLE, sort),
    _engine("polars lazy sort.head", _UNSTABLE, lazy_sort),
    _engine("polars streaming sort.head", _UNSTABLE, streaming_sort),
    _engine(
        "polars.sort maintain_order",
        Promise(
            "promised", "lowest position", "by score", "the order is maintained if elements are equal", _SORT, "2.1.0"
        ),
        sort_maintained,
    ),
    _engine(
        "polars.sort with ID",
        Promise("promised", "lowest ID", "by score", "sorted by each column in turn", _SORT, "2.1.0"),
        sort_with_id,
        by_id=True,
    ),
)
