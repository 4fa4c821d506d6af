"""faiss: exhaustive search by inner product and by squared distance.

For the inner product the vectors are the scores themselves (one dimension for each row of a batch) and the queries unit
vectors, so that each product is a score. For the distance see `distances`.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from rankwork.engines.base import Engine, Promise, Request, Scores
from rankwork.engines.distances import QUERY, points


def _search(index: Any, vectors: Scores, queries: Scores, request: Request) -> Scores:
    import faiss

    before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(request.threads or before)
    try:
        index.add(np.ascontiguousarray(vectors))
        return np.asarray(index.search(queries, request.k)[1])
    finally:
        faiss.omp_set_num_threads(before)


def inner_product(request: Request) -> Scores:
    """IndexFlatIP: the labels with the largest products."""
    import faiss

    rows = np.atleast_2d(request.scores)
    queries = np.eye(len(rows), dtype=np.float32)
    found = _search(faiss.IndexFlatIP(len(rows)), rows.T, queries, request)
    return found if request.scores.ndim == 2 else np.ravel(found)


def squared_distance(request: Request) -> Scores:
    """IndexFlatL2: the labels with the smallest distances."""
    import faiss

    found = _search(faiss.IndexFlatL2(1), points(request.scores), QUERY, request)
    return np.ravel(found)


_PROMISE = Promise(
    "not mentioned",
    "none",
    "by score",
    "no guarantee of an order when distances are the same",
    "a maintainer in github.com/facebookresearch/faiss/issues/1201",
    "1.6.3",
)


def _engine(name: str, answer: Callable[[Request], Scores], *, batches: bool) -> Engine:
    return Engine(
        name=name,
        package="faiss-cpu",
        promise=_PROMISE,
        answer=answer,
        modules=("faiss",),
        install="pip install faiss-cpu",
        dtypes=("float32",),
        batches=batches,
        threaded=True,
    )


ENGINES = (
    _engine("faiss IndexFlatIP", inner_product, batches=True),
    _engine("faiss IndexFlatL2", squared_distance, batches=False),
)
