"""hnswlib: an approximate search in a graph that threads build at once; see `distances` for what it is given."""

from rankwork.engines.base import Engine, Promise, Request, Scores
from rankwork.engines.distances import QUERY, points

_BUILD = {"M": 8, "ef_construction": 50, "random_seed": 100}
_BUILD_THREADS = 4
_BEAM = 200


def graph(request: Request) -> Scores:
    """Build the graph, with four threads unless told otherwise, and search it with a beam of at least 200."""
    import hnswlib

    vectors = points(request.scores)
    index = hnswlib.Index(space="l2", dim=1)
    index.init_index(max_elements=len(vectors), **_BUILD)
    index.add_items(vectors, num_threads=request.threads or _BUILD_THREADS)
    index.set_ef(max(_BEAM, request.k))
    labels: Scores = index.knn_query(QUERY, k=request.k, num_threads=1)[0][0]
    return labels


ENGINES = (
    Engine(
        name="hnswlib",
        package="hnswlib",
        promise=Promise(
            "refused",
            "none",
            "by score",
            "construction is not deterministic with more than a single thread",
            "a maintainer in github.com/nmslib/hnswlib/issues/540",
            "0.8.0",
        ),
        answer=graph,
        modules=("hnswlib",),
        install="pip install hnswlib (it compiles)",
        dtypes=("float32",),
        threaded=True,
        largest=10_000,
        repeats=6,
    ),
)
