"""sqlite from the standard library: ORDER BY and LIMIT, with and without the ID as last key."""

import sqlite3
from collections.abc import Callable

from rankwork.engines.base import Engine, Promise, Request


def by_score(request: Request) -> list[int]:
    """ORDER BY score DESC LIMIT k."""
    return _query(request, "score DESC")


def by_score_and_id(request: Request) -> list[int]:
    """ORDER BY score DESC, id LIMIT k."""
    return _query(request, "score DESC, id")


def _query(request: Request, order: str) -> list[int]:
    connection = sqlite3.connect(":memory:")
    try:
        connection.execute("CREATE TABLE documents (position INTEGER, id INTEGER, score NUMERIC)")
        rows = zip(range(len(request.scores)), request.ids.tolist(), request.scores.tolist(), strict=True)
        connection.executemany("INSERT INTO documents VALUES (?, ?, ?)", rows)
        found = connection.execute(f"SELECT position FROM documents ORDER BY {order} LIMIT ?", (request.k,))
        return [position for (position,) in found]
    finally:
        connection.close()


_SOURCE = "sqlite.org/lang_select.html, the ORDER BY clause"


def _engine(name: str, promise: Promise, answer: Callable[[Request], list[int]], *, by_id: bool) -> Engine:
    return Engine(
        name=name,
        package="sqlite",
        promise=promise,
        answer=answer,
        modules=("sqlite3",),
        install="part of Python",
        dtypes=("float16", "float32", "float64", "int32", "int64"),
        by_id=by_id,
        largest=10_000,
        version_of=lambda: sqlite3.sqlite_version,
    )


ENGINES = (
    _engine(
        "sqlite ORDER BY",
        Promise(
            "refused",
            "none",
            "by score",
            "rows that are equal in every key come in an undefined order",
            _SOURCE,
            "3.39",
        ),
        by_score,
        by_id=False,
    ),
    _engine(
        "sqlite ORDER BY with ID",
        Promise("promised", "lowest ID", "by score", "rows are ordered by each key in turn", _SOURCE, "3.39"),
        by_score_and_id,
        by_id=True,
    ),
)
