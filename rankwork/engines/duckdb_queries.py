"""duckdb: ORDER BY and LIMIT, with and without the ID as last key, and arg_max with a count."""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from rankwork.engines.base import Engine, Promise, Request, Scores


@cache
def _connection(threads: int | None) -> Any:
    """One database in memory per thread count; duckdb's own default is a thread for each core."""
    import duckdb

    return duckdb.connect(":memory:", config={} if threads is None else {"threads": threads})


def _query(request: Request, sql: str) -> Scores:
    connection = _connection(request.threads)
    positions = np.arange(len(request.scores))
    columns = {"position": positions, "id": request.ids, "score": np.ascontiguousarray(request.scores)}
    connection.register("documents", columns)
    try:
        return np.asarray(connection.execute(sql, [request.k]).fetchnumpy()["position"])
    finally:
        connection.unregister("documents")


def by_score(request: Request) -> Scores:
    """ORDER BY score DESC LIMIT k."""
    return _query(request, "SELECT position FROM documents ORDER BY score DESC LIMIT ?")


def by_score_and_id(request: Request) -> Scores:
    """ORDER BY score DESC, id LIMIT k."""
    return _query(request, "SELECT position FROM documents ORDER BY score DESC, id LIMIT ?")


def arg_max(request: Request) -> Scores:
    """The aggregate that returns the k arguments with the largest values as a list."""
    return _query(request, "SELECT unnest(arg_max(position, score, ?)) AS position FROM documents")


_SOURCE = "duckdb.org/docs/2.0, Non-Deterministic Behavior"


def _engine(name: str, promise: Promise, answer: Callable[[Request], Scores], *, by_id: bool = False) -> Engine:
    return Engine(
        name=name,
        package="duckdb",
        promise=promise,
        answer=answer,
        modules=("duckdb",),
        install="pip install duckdb",
        dtypes=("float32", "float64", "int32", "int64"),
        by_id=by_id,
        threaded=True,
    )


ENGINES = (
    _engine(
        "duckdb ORDER BY",
        Promise(
            "refused", "none", "by score", "results may come in another order, above all with threads", _SOURCE, "2.0"
        ),
        by_score,
    ),
    _engine(
        "duckdb ORDER BY with ID",
        Promise(
            "promised", "lowest ID", "by score", "a unique order is the documented way to determinism", _SOURCE, "2.0"
        ),
        by_score_and_id,
        by_id=True,
    ),
    _engine(
        "duckdb arg_max",
        Promise(
            "not mentioned",
            "none",
            "by score",
            "a list of the arguments with the largest values",
            "duckdb_functions(), arg_max",
            "2.0.1",
        ),
        arg_max,
    ),
)
