"""Reranking: a second look at the first few candidates, by a model that sees query and document together.

The default is a logistic regression on features of both, trained on the development cases of the collection itself. A
CrossEncoder takes its place by path or name.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from rankwork.errors import ContractError
from rankwork.inputs.documents import Document
from rankwork.retrieval.dense import load_model
from rankwork.retrieval.searching import Positions, indexed_text
from rankwork.retrieval.sparse import words
from rankwork.retrieval.threads import one_thread
from rankwork.retrieval.versions import package_version

Floats = NDArray[np.float64]
FEATURES = ("bm25", "dense", "fused", "words", "idf", "title words", "title idf", "first line idf", "length")
_SEAM = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[a-zA-Z])(?=\d)|(?<=\d)(?=[a-zA-Z])")
_PART = re.compile(r"[^\W_]+")


@dataclass(frozen=True, eq=False)
class Candidates:
    """What a reranker looks at: a query, the positions of documents in order of ID, and the scores they have so far.

    `signals` are the scores of the routes and of the fusion, one for each position; 0 where a route did not answer.
    """

    query: str
    positions: Positions
    signals: Mapping[str, Floats]


class Reranker(Protocol):
    """What gives each candidate a score."""

    @property
    def version(self) -> str:
        """What made the scores, for the snapshot."""

    def scores(self, candidates: Candidates) -> Floats:
        """One finite score for each candidate."""


class Learned:
    """A logistic regression on `FEATURES`, standardised; the score is the log odds that a candidate is relevant.

    The features are the routes' and the fusion's scores; the share of the query's words that the text and the title
    have, plain and weighted by idf; the same of the first line; and the logarithm of the length. It is trained by
    `fit` on candidates of which is known whether they are relevant. Scores are rounded to 9 decimals.
    """

    def __init__(self, documents: Sequence[Document]) -> None:
        self._overlap = Overlap(documents)
        self._weights: Floats | None = None

    def fit(self, examples: Iterable[tuple[Candidates, NDArray[np.bool_]]]) -> "Learned":
        """Learn from candidates and flags of which are relevant; ContractError where all or none of them are."""
        from sklearn.linear_model import LogisticRegression
        from sklearn.preprocessing import StandardScaler

        looked_at = [(self.features(candidates), relevant) for candidates, relevant in examples]
        labels = np.concatenate([relevant for _, relevant in looked_at]) if looked_at else np.zeros(0, np.bool_)
        if labels.all() or not labels.any():
            found = f"{int(labels.sum())} of {len(labels)} candidates of the dev cases are relevant"
            raise ContractError(
                f"a reranker cannot be learned: {found}; add cases whose evidence is found, or use none"
            )
        features = np.concatenate([rows for rows, _ in looked_at])
        with one_thread():
            scaler = StandardScaler().fit(features)
            model = LogisticRegression(max_iter=1000).fit(scaler.transform(features), labels)
        self._weights = np.round(model.coef_[0] / scaler.scale_, 9)
        self.trained_on = f"{len(looked_at)} cases, {len(labels)} candidates, {int(labels.sum())} relevant"
        return self

    @property
    def weights(self) -> dict[str, float]:
        """What each feature adds to the log odds, by one unit of it."""
        return dict(zip(FEATURES, self._known_weights.tolist(), strict=True))

    @property
    def version(self) -> str:
        """The kind of model, its training and its weights."""
        from rankwork.digest import digest

        return f"logistic regression on {self.trained_on}, weights {digest(self._known_weights.tolist())[:12]}"

    def scores(self, candidates: Candidates) -> Floats:
        """The log odds of each candidate, but for a constant."""
        scores: Floats = np.round((self.features(candidates) * self._known_weights).sum(axis=1), 9) + 0.0
        return scores

    def features(self, candidates: Candidates) -> Floats:
        """One row for each candidate, one column for each of `FEATURES`."""
        signals = [candidates.signals.get(name, np.zeros(len(candidates.positions))) for name in FEATURES[:3]]
        return np.column_stack([*signals, *self._overlap.of(candidates.query, candidates.positions)])

    @property
    def _known_weights(self) -> Floats:
        if self._weights is None:
            raise ContractError("the reranker has not been trained: call fit first")
        return self._weights


class Overlap:
    """Which of a query's words a document's text, title and first line have, for many documents at once."""

    def __init__(self, documents: Sequence[Document]) -> None:
        texts = words([indexed_text(document) for document in documents])
        titles = [name_parts(document.title) for document in documents]
        openings = words([document.text.strip().partition("\n")[0] for document in documents])
        self._vocabulary = {word: place for place, word in enumerate(sorted({word for text in texts for word in text}))}
        self._text, self._title, self._opening = map(self._matrix, (texts, titles, openings))
        holders = np.bincount(self._text.indices, minlength=len(self._vocabulary))
        self._idf = np.log1p((len(documents) - holders + 0.5) / (holders + 0.5))
        self._length = np.log1p([len(text) for text in texts])

    def of(self, query: str, positions: Positions) -> tuple[Floats, ...]:
        """Shares of the query's words (and of their idf) in text, title and first line; then the log of the length."""
        asked = sorted({self._vocabulary[word] for word in words([query])[0] if word in self._vocabulary})
        plain, weighted = np.zeros(len(self._vocabulary)), np.zeros(len(self._vocabulary))
        plain[asked] = 1 / max(len(asked), 1)
        weighted[asked] = self._idf[asked] / max(self._idf[asked].sum(), 1e-9)
        both = np.column_stack([plain, weighted])
        text, title, opening = (matrix[positions] @ both for matrix in (self._text, self._title, self._opening))
        return text[:, 0], text[:, 1], title[:, 0], title[:, 1], opening[:, 1], self._length[positions]

    def _matrix(self, texts: Sequence[Sequence[str]]) -> Any:
        """One row for each text with a 1 for each known word that it has."""
        from scipy.sparse import csr_array

        known = [sorted({self._vocabulary[word] for word in text if word in self._vocabulary}) for text in texts]
        columns = np.array([place for row in known for place in row], np.int64)
        starts = np.cumsum([0, *map(len, known)])
        return csr_array((np.ones(len(columns)), columns, starts), shape=(len(texts), len(self._vocabulary)))


class Cross:
    """A CrossEncoder of sentence-transformers by path or name (the extra `models`), on the CPU.

    ContractError where the package or the model cannot be had, and for a score that is not finite.
    """

    def __init__(self, name: str, documents: Sequence[Document]) -> None:
        self._model = load_model("CrossEncoder", name)
        self._texts = [indexed_text(document) for document in documents]
        self.version = f"{name}, sentence-transformers {package_version('sentence-transformers')}"

    def scores(self, candidates: Candidates) -> Floats:
        """What the model says of each pair of query and text."""
        pairs = [(candidates.query, self._texts[position]) for position in candidates.positions.tolist()]
        scores = np.asarray(self._model.predict(pairs, show_progress_bar=False), np.float64).reshape(len(pairs), -1)
        if not np.isfinite(scores).all() or scores.shape[1] != 1:
            raise ContractError(f"the CrossEncoder must give one finite score a pair, got an array {scores.shape}")
        return scores[:, 0]


def name_parts(title: str) -> list[str]:
    """The words of a title or a qualified name, in lower case.

    >>> name_parts("pandas.DataFrame.to_csv")
    ['pandas', 'data', 'frame', 'to', 'csv']
    """
    return _PART.findall(_SEAM.sub(" ", title).lower())
