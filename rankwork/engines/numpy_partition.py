"""numpy.argpartition, then a stable sort of the k that it picked: the usual idiom, which leaves the set open."""

import numpy as np

from rankwork.engines.base import Engine, Promise, Request, Scores
from rankwork.engines.cpu_instructions import NUMPY_RESTARTS


def partition_and_sort(request: Request) -> Scores:
    """The first k of a partition of the negated scores, ordered by score and, inside equal scores, as partitioned."""
    descending = -request.scores
    n = descending.shape[-1]
    members = np.argpartition(descending, min(request.k, n - 1), axis=-1)[..., : request.k]
    order = np.argsort(np.take_along_axis(descending, members, axis=-1), axis=-1, kind="stable")
    return np.take_along_axis(members, order, axis=-1)


ENGINES = (
    Engine(
        name="numpy.argpartition",
        package="numpy",
        promise=Promise(
            "not mentioned",
            "none",
            "any",
            "the order inside the partitions is undefined; the algorithm is unstable",
            "numpy.argpartition, docstring",
            "2.4.6",
        ),
        answer=partition_and_sort,
        modules=("numpy",),
        install="pip install numpy",
        dtypes=("float16", "float32", "float64", "int32", "int64"),
        batches=True,
        restarts=NUMPY_RESTARTS,
    ),
)
