"""pandas: nlargest, and sort_values by score alone or with the ID as second key."""

from collections.abc import Callable
from typing import Any, Literal

from rankwork.engines.base import Engine, Promise, Request, Scores
from rankwork.engines.cpu_instructions import NUMPY_RESTARTS


def _series(request: Request) -> Any:
    import pandas as pd

    return pd.Series(request.scores)


def nlargest(request: Request) -> Scores:
    """Series.nlargest, which keeps the first of equal values unless told otherwise."""
    return _nlargest(request, "first")


def nlargest_last(request: Request) -> Scores:
    """Series.nlargest that keeps the last of equal values."""
    return _nlargest(request, "last")


def _nlargest(request: Request, keep: Literal["first", "last"]) -> Scores:
    positions: Scores = _series(request).nlargest(request.k, keep=keep).index.to_numpy()
    return positions


def sort_values(request: Request) -> Scores:
    """Series.sort_values descending with its default algorithm."""
    return _sort_values(request, "quicksort")


def sort_values_stable(request: Request) -> Scores:
    """Series.sort_values descending, stable."""
    return _sort_values(request, "stable")


def _sort_values(request: Request, kind: Literal["quicksort", "stable"]) -> Scores:
    ordered = _series(request).sort_values(ascending=False, kind=kind)
    positions: Scores = ordered.index[: request.k].to_numpy()
    return positions


def sort_values_with_id(request: Request) -> Scores:
    """DataFrame.sort_values by score descending, then ID ascending."""
    import pandas as pd

    frame = pd.DataFrame({"score": request.scores, "id": request.ids})
    positions: Scores = frame.sort_values(["score", "id"], ascending=[False, True]).index[: request.k].to_numpy()
    return positions


_NLARGEST = "pandas.Series.nlargest, docstring"
_SORT = "pandas.Series.sort_values, docstring"
_FLOATS_AND_INTEGERS = ("float32", "float64", "int32", "int64")
_ALL = ("float16", *_FLOATS_AND_INTEGERS)


def _engine(
    name: str,
    promise: Promise,
    answer: Callable[[Request], Scores],
    *,
    dtypes: tuple[str, ...] = _ALL,
    by_id: bool = False,
) -> Engine:
    return Engine(
        name=name,
        package="pandas",
        promise=promise,
        answer=answer,
        modules=("pandas",),
        install="pip install pandas",
        dtypes=dtypes,
        by_id=by_id,
        restarts=NUMPY_RESTARTS,
    )


ENGINES = (
    _engine(
        "pandas.nlargest",
        Promise(
            "promised",
            "lowest position",
            "by score",
            "keep='first': the first occurrences, in order",
            _NLARGEST,
            "3.1.1",
        ),
        nlargest,
        dtypes=_FLOATS_AND_INTEGERS,
    ),
    _engine(
        "pandas.nlargest keep=last",
        Promise(
            "promised",
            "highest position",
            "by score",
            "keep='last': the last occurrences, in reverse",
            _NLARGEST,
            "3.1.1",
        ),
        nlargest_last,
        dtypes=_FLOATS_AND_INTEGERS,
    ),
    _engine(
        "pandas.sort_values",
        Promise(
            "promised", "none", "by score", "deterministic for a given input; the default is not stable", _SORT, "3.1.1"
        ),
        sort_values,
    ),
    _engine(
        "pandas.sort_values stable",
        Promise("promised", "lowest position", "by score", "stable preserves the order of equal keys", _SORT, "3.1.1"),
        sort_values_stable,
    ),
    _engine(
        "pandas.sort_values with ID",
        Promise(
            "promised",
            "lowest ID",
            "by score",
            "sorted by each key in turn",
            "pandas.DataFrame.sort_values, docstring",
            "3.1.1",
        ),
        sort_values_with_id,
        by_id=True,
    ),
)
