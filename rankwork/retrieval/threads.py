"""Linear algebra on one thread: a few hundred numbers are done before a second thread has woken up.

The result does not hang on it where sums are exact (`rankwork.retrieval.narrowing`); where they are not, as in a
decomposition, one thread also means one order of adding, and so the same bits on every run.
"""

from contextlib import AbstractContextManager
from functools import lru_cache
from typing import Any


def one_thread() -> AbstractContextManager[Any]:
    """A context in which numpy's and scikit-learn's linear algebra runs on one thread."""
    limit: AbstractContextManager[Any] = _controller().limit(limits=1)
    return limit


@lru_cache(maxsize=1)
def _controller() -> Any:
    import sklearn.decomposition  # noqa: F401  # the libraries must be loaded to be found
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
