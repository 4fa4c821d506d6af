"""scikit-learn's NearestNeighbors, with each of its three algorithms; see `distances` for what it is given."""

from rankwork.engines.base import Engine, Promise, Request, Scores
from rankwork.engines.cpu_instructions import NUMPY_RESTARTS
from rankwork.engines.distances import QUERY, points


def _neighbors(request: Request, algorithm: str) -> Scores:
    from sklearn.neighbors import NearestNeighbors

    model = NearestNeighbors(n_neighbors=request.k, algorithm=algorithm, metric="manhattan")
    found: Scores = model.fit(points(request.scores)).kneighbors(QUERY, return_distance=False)[0]
    return found


def brute(request: Request) -> Scores:
    """All distances, then a partition."""
    return _neighbors(request, "brute")


def kd_tree(request: Request) -> Scores:
    """A k-d tree."""
    return _neighbors(request, "kd_tree")


def ball_tree(request: Request) -> Scores:
    """A ball tree."""
    return _neighbors(request, "ball_tree")


_PROMISE = Promise(
    "not mentioned",
    "none",
    "by score",
    "with identical distances the result depends on the order of the training data",
    "sklearn.neighbors.KNeighborsRegressor, docstring, which is about the same search",
    "1.9.1",
)

ENGINES = tuple(
    Engine(
        name=f"sklearn NearestNeighbors {answer.__name__}",
        package="scikit-learn",
        promise=_PROMISE,
        answer=answer,
        modules=("sklearn",),
        install="pip install scikit-learn",
        dtypes=("float32",),
        restarts=NUMPY_RESTARTS if answer is brute else {},
        largest=10_000,
    )
    for answer in (brute, kd_tree, ball_tree)
)
