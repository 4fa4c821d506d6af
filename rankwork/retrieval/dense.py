"""The dense route: vectors of texts, and their cosine with the vector of a query.

The default needs nothing that is not installed: latent semantic analysis (Deerwester et al. 1990), fitted on the
collection itself. Any sentence-transformers model takes its place by path or name.
"""

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from rankwork.errors import ContractError
from rankwork.retrieval.narrowing import Dtype, Floats, Vectors, unit
from rankwork.retrieval.threads import one_thread
from rankwork.retrieval.versions import package_version


class Encoder(Protocol):
    """What turns texts into vectors of one dimension; a text that it knows nothing of may have a vector of zeros."""

    @property
    def version(self) -> str:
        """What it is, for the snapshot."""

    def encode(self, texts: Sequence[str]) -> NDArray[np.floating]:
        """One row for each text."""


class LSA:
    """Latent semantic analysis: TF-IDF (sublinear, English stop words left out), reduced by a truncated SVD.

    At most `dimensions`, fewer where the texts have fewer; `seed` starts the SVD. It runs on one thread, since more
    would add in another order: so the vectors are the same bits for any number of threads. ContractError where no text
    has a word, or dimensions are below 1.

    >>> texts = ["a cat and a dog", "a dog barks", "birds sing"]
    >>> LSA(texts, dimensions=2).encode(["the cat sings"]).shape
    (1, 2)
    """

    def __init__(self, texts: Sequence[str], *, dimensions: int = 300, seed: int = 0) -> None:
        from sklearn.decomposition import TruncatedSVD
        from sklearn.feature_extraction.text import TfidfVectorizer

        if dimensions < 1:
            raise ContractError(f"dimensions must be at least 1, got {dimensions}")
        self._words = TfidfVectorizer(sublinear_tf=True, stop_words="english")
        try:
            weights = self._words.fit_transform(texts)
        except ValueError as error:
            raise ContractError(f"latent semantic analysis of {len(texts)} texts: none of them has a word") from error
        self.dimensions = min(dimensions, *weights.shape)
        with one_thread():
            reduction = TruncatedSVD(self.dimensions, random_state=seed).fit(weights)
        self._axes: Floats = np.ascontiguousarray(reduction.components_.T)
        self.version = f"lsa, {self.dimensions} dimensions, seed {seed}, scikit-learn {package_version('scikit-learn')}"

    def encode(self, texts: Sequence[str]) -> Floats:
        """One row for each text; zeros for a text without a word that the collection has."""
        return np.asarray(self._words.transform(texts) @ self._axes)


class SentenceModel:
    """A sentence-transformers model by path or name (the extra `models`), on the CPU, in batches.

    ContractError where the package is not installed or the model cannot be loaded.
    """

    def __init__(self, name: str, *, batch: int = 64) -> None:
        self._model = load_model("SentenceTransformer", name)
        self._batch = batch
        self.version = f"{name}, sentence-transformers {package_version('sentence-transformers')}"

    def encode(self, texts: Sequence[str]) -> NDArray[np.floating]:
        """One row for each text."""
        vectors = self._model.encode(list(texts), batch_size=self._batch, show_progress_bar=False)
        return np.asarray(vectors)


class Dense:
    """The cosine of a query's vector with that of every text, in one type (`rankwork.retrieval.narrowing`).

    A text or a query without a vector has no score: the route does not return it, and says how many such texts it has.

    >>> texts = ["a cat and a dog", "a dog barks", "birds sing"]
    >>> route = Dense(texts, LSA(texts, dimensions=3))
    >>> route.answers(route.scores("barks")).tolist(), int(route.scores("barks").argmax())
    ([True, True, True], 1)
    """

    name = "dense"

    def __init__(self, texts: Sequence[str], encoder: Encoder, *, dtype: Dtype = "float32") -> None:
        self.encoder = encoder
        self.size = len(texts)
        vectors = np.asarray(encoder.encode(texts), np.float64)
        if vectors.ndim != 2 or len(vectors) != len(texts):
            raise ContractError(f"the encoder must give {len(texts)} vectors, got an array of shape {vectors.shape}")
        self.has_vector: NDArray[np.bool_] = np.asarray(vectors.any(axis=1))
        vectors[~self.has_vector, :1] = 1.0  # any direction: the score is never used
        self._vectors = Vectors(unit(vectors, "the vector of text"), dtype)
        self.dtype: Dtype = dtype

    @property
    def version(self) -> str:
        """The encoder's, and the type of the scores."""
        return f"{self.encoder.version}, {self.dtype}"

    @property
    def without_vector(self) -> int:
        """How many texts have no direction, so that the route can never return them."""
        return int((~self.has_vector).sum())

    @property
    def nbytes(self) -> int:
        """The size of the vectors in bytes, as they are held here; the encoder is left out."""
        return self._vectors.nbytes

    def scores(self, query: str) -> NDArray[Any]:
        """The score of every text; an empty array where the query has no vector."""
        vector = np.asarray(self.encoder.encode([query]), np.float64)
        if not vector.any():
            return np.zeros(0, np.float32)
        with one_thread():
            return np.asarray(self._vectors.scores(unit(vector, "the vector of query")[0]))

    def answers(self, scores: NDArray[Any]) -> NDArray[np.bool_]:
        """Which texts the route returns at all: those with a vector, where the query has one."""
        return self.has_vector if len(scores) else np.zeros(self.size, np.bool_)


def load_model(kind: str, name: str) -> Any:
    """A SentenceTransformer or CrossEncoder by path or name; ContractError where it cannot be had."""
    try:
        import sentence_transformers
    except ImportError as error:
        needed = 'it needs the extra "models": pip install "rankwork[models]"'
        raise ContractError(f"model {name!r} cannot be loaded: {needed}") from error
    try:
        return getattr(sentence_transformers, kind)(name, device="cpu")
    except (OSError, ValueError) as error:
        reason = str(error).strip().split("\n")[0]
        raise ContractError(f"model {name!r} cannot be loaded as a {kind}: {reason}") from error
