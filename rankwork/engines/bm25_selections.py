"""The selection steps of two BM25 packages, given scores: bm25s (with numpy and with jax) and rank_bm25."""

from collections.abc import Callable
from typing import Any

import numpy as np

from rankwork.engines.base import Engine, Promise, Request, Scores
from rankwork.engines.cpu_instructions import NUMPY_RESTARTS


def bm25s_numpy(request: Request) -> Scores:
    """bm25s.selection.topk with its numpy backend."""
    return _bm25s(request, "numpy")


def bm25s_jax(request: Request) -> Scores:
    """bm25s.selection.topk with its jax backend, which is what "auto" picks where jax is installed."""
    return _bm25s(request, "jax")


def _bm25s(request: Request, backend: str) -> Scores:
    from bm25s.selection import topk

    return np.asarray(topk(request.scores, k=request.k, backend=backend)[1])


def rank_bm25(request: Request) -> list[int]:
    """BM25.get_top_n on an index whose scores are the given ones; the documents it returns are their positions."""
    index = _index_with(request.scores)
    found: list[int] = index.get_top_n([], list(range(len(request.scores))), n=request.k)
    return found


def _index_with(scores: Scores) -> Any:
    from rank_bm25 import BM25

    index = BM25.__new__(BM25)
    index.corpus_size = len(scores)
    index.get_scores = lambda query: scores
    return index


def _engine(
    name: str,
    package: str,
    promise: Promise,
    answer: Callable[[Request], Any],
    modules: tuple[str, ...],
    dtypes: tuple[str, ...] = ("float32", "float64"),
) -> Engine:
    return Engine(
        name=name,
        package=package,
        promise=promise,
        answer=answer,
        modules=modules,
        install=f"pip install {' '.join(modules).replace('_', '-')}",
        dtypes=dtypes,
        restarts={} if "jax" in modules else NUMPY_RESTARTS,
    )


_SAYS_NOTHING = "the code partitions and sorts the scores; no text speaks of ties"
_CALLS_JAX = "the code calls jax.lax.top_k; no text speaks of ties"
_REVERSES = "the code reads an ascending default sort backwards; no text speaks of ties"

ENGINES = (
    _engine(
        "bm25s numpy",
        "bm25s",
        Promise("not mentioned", "none", "by score", _SAYS_NOTHING, "bm25s/selection.py", "0.3.16"),
        bm25s_numpy,
        ("bm25s",),
    ),
    _engine(
        "bm25s jax",
        "bm25s",
        Promise("not mentioned", "none", "by score", _CALLS_JAX, "bm25s/selection.py", "0.3.16"),
        bm25s_jax,
        ("bm25s", "jax"),
        ("float32",),
    ),
    _engine(
        "rank_bm25",
        "rank-bm25",
        Promise("not mentioned", "none", "by score", _REVERSES, "rank_bm25.py, get_top_n", "0.2.2"),
        rank_bm25,
        ("rank_bm25",),
    ),
)
