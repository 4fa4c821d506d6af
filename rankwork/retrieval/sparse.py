"""The sparse route: BM25 by the package bm25s, its scores taken for every document, its selection for none.

bm25s computes the scores; which documents come first among equal ones is left to the contract (score descending, ID
ascending), because the order of its own selection follows the order of arrival.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankwork.errors import ContractError
from rankwork.retrieval.versions import package_version


class BM25:
    """BM25 over texts (Robertson & Zaragoza 2009, in the form of Lucene): one float32 score for each text.

    Words are runs of two or more letters or digits, in lower case, without English stop words. `k1` says how soon a
    repeated word stops to count, `b` how much a long text is held back. ContractError for k1 below 0 and b outside
    0..1.

    >>> BM25(["a cat and a dog", "a cat", "birds"]).scores("cat").astype(float).round(3).tolist()
    [0.153, 0.212, 0.0]
    """

    name = "bm25"
    dtype = "float32"

    def __init__(self, texts: Sequence[str], *, k1: float = 1.5, b: float = 0.75) -> None:
        if not k1 >= 0 or not 0 <= b <= 1:
            raise ContractError(f"k1 must be at least 0 and b between 0 and 1, got k1={k1!r}, b={b!r}")
        self.k1, self.b = k1, b
        self.size = len(texts)
        held = words(texts)
        self._index: Any = _index(held, k1, b) if any(held) else None

    @property
    def version(self) -> str:
        """Package, variant and parameters."""
        return f"bm25s {package_version('bm25s')}, lucene, k1={self.k1:g}, b={self.b:g}"

    def scores(self, query: str) -> NDArray[np.float32]:
        """The score of every text, 0 for one that shares no word with the query."""
        asked = [] if self._index is None else words([query])[0]
        known = [word for word in asked if word in self._index.vocab_dict]
        if not known:
            return np.zeros(self.size, np.float32)
        return np.asarray(self._index.get_scores(known), np.float32)

    @property
    def nbytes(self) -> int:
        """The size of the index in bytes, its dictionary of words left out."""
        arrays = {} if self._index is None else self._index.scores
        return sum(array.nbytes for array in arrays.values() if isinstance(array, np.ndarray))

    def answers(self, scores: NDArray[Any]) -> NDArray[np.bool_]:
        """Which texts the route returns at all: those that share a word with the query."""
        return np.asarray(scores > 0)


def _index(held: list[list[str]], k1: float, b: float) -> Any:
    from bm25s import BM25 as Index

    index = Index(method="lucene", k1=k1, b=b, dtype="float32", backend="numpy")
    index.index(held, show_progress=False)
    return index


def words(texts: Sequence[str]) -> list[list[str]]:
    """The words of each text as BM25 counts them: lower case, two letters or digits at least, no English stop words.

    >>> words(["The norm of a 2-D matrix"])
    [['norm', 'matrix']]
    """
    from bm25s import tokenize

    found: list[list[str]] = tokenize(list(texts), stopwords="en", return_ids=False, show_progress=False)
    return found
