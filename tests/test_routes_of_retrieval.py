"""The two routes, and what a search of one returns: BM25 against its formula, LSA against its definition."""

import math
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from rankwork import rank
from rankwork.errors import ContractError
from rankwork.inputs.documents import Collection, Document
from rankwork.retrieval.dense import LSA, Dense
from rankwork.retrieval.eligibility import Gate
from rankwork.retrieval.searching import rankings, search, texts
from rankwork.retrieval.sparse import BM25, words
from rankwork.trace import Case

TEXTS = ["cat dog cat", "cat bird", "bird bird bird fish", "", "fish dog cat bird dog"]


def by_formula(documents: list[str], query: str, k1: float = 1.5, b: float = 0.75) -> list[float]:
    """BM25 in the form of Lucene, word by word."""
    bags = [Counter(document.split()) for document in documents]
    mean = sum(map(len, map(str.split, documents))) / len(documents)
    scores = []
    for bag in bags:
        score = 0.0
        for word in query.split():
            holders = sum(word in other for other in bags)
            if holders:
                idf = math.log(1 + (len(bags) - holders + 0.5) / (holders + 0.5))
                score += idf * bag[word] / (bag[word] + k1 * (1 - b + b * sum(bag.values()) / mean))
        scores.append(score)
    return scores


@pytest.mark.parametrize("query", ["cat", "bird fish", "dog dog", "unknown cat", "unknown"])
def test_bm25_follows_its_formula(query: str) -> None:
    np.testing.assert_allclose(BM25(TEXTS).scores(query), by_formula(TEXTS, query), rtol=1e-6)
    np.testing.assert_allclose(BM25(TEXTS, k1=0.9, b=0.4).scores(query), by_formula(TEXTS, query, 0.9, 0.4), rtol=1e-6)


def test_bm25_answers_only_with_what_shares_a_word() -> None:
    route = BM25(TEXTS)
    assert route.answers(route.scores("cat")).tolist() == [True, True, False, False, True]
    assert not route.answers(route.scores("unknown")).any()
    assert not route.answers(route.scores("")).any()


def test_stop_words_and_single_letters_do_not_count() -> None:
    assert words(["The a x of Norm_2 (n-D)"]) == [["norm_2"]]


def test_texts_without_any_word_have_no_score() -> None:
    assert not BM25(["", "the"]).scores("cat").any()


@pytest.mark.parametrize(("k1", "b"), [(-1, 0.5), (1, 1.5), (math.nan, 0.5)])
def test_parameters_of_bm25_out_of_range_are_refused(k1: float, b: float) -> None:
    with pytest.raises(ContractError, match="k1 must be at least 0 and b between 0 and 1"):
        BM25(TEXTS, k1=k1, b=b)


def test_lsa_of_full_rank_is_the_cosine_of_tf_idf() -> None:
    """Where nothing is reduced, the angles are those of the weights themselves."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    known = [text for text in TEXTS if text]
    weights = TfidfVectorizer(sublinear_tf=True, stop_words="english").fit_transform(known).toarray()
    route = Dense(known, LSA(known, dimensions=4))
    for place, text in enumerate(known):
        np.testing.assert_allclose(route.scores(text), weights @ weights[place], atol=1e-5)


def test_a_text_without_a_vector_is_not_returned_and_counted() -> None:
    route = Dense(TEXTS, LSA(TEXTS, dimensions=3))
    assert route.without_vector == 1
    assert route.answers(route.scores("cat")).tolist() == [True, True, True, False, True]
    assert not route.answers(route.scores("unknown")).any()


def test_texts_without_a_word_cannot_be_analysed() -> None:
    with pytest.raises(ContractError, match="none of them has a word"):
        LSA(["", "the"])
    with pytest.raises(ContractError, match="dimensions must be at least 1, got 0"):
        LSA(TEXTS, dimensions=0)


class Given:
    """An encoder that returns what it was given."""

    version = "given"

    def __init__(self, *vectors: list[float]) -> None:
        self.vectors = np.array(vectors)

    def encode(self, texts: Any) -> NDArray[np.floating]:
        return self.vectors[: len(texts)]


def test_vectors_that_are_no_vectors_are_refused() -> None:
    with pytest.raises(ContractError, match="the vector of text 1 holds a number that is not finite"):
        Dense(["a", "b"], Given([1.0, 2.0], [1.0, math.nan]))
    with pytest.raises(ContractError, match="the encoder must give 3 vectors, got an array of shape"):
        Dense(["a", "b", "c"], Given([1.0, 2.0]))


class Fixed:
    """A route with the scores that it was given; what is below 0 is no answer."""

    name, version, dtype = "fixed", "1", "float64"

    def __init__(self, scores: list[float]) -> None:
        self.given = np.array(scores)

    def scores(self, query: str) -> NDArray[Any]:
        return self.given

    def answers(self, scores: NDArray[Any]) -> NDArray[np.bool_]:
        return np.asarray(scores >= 0)


@given(scores=st.lists(st.integers(-1, 2).map(float), min_size=1, max_size=8), depth=st.integers(1, 9), data=st.data())
@settings(max_examples=200)
def test_a_search_is_the_contract_on_the_candidates(scores: list[float], depth: int, data: st.DataObject) -> None:
    """Against the reference ranker, with any documents taken out before the ranking."""
    names = [f"d{place}" for place in range(len(scores))]
    closed = data.draw(st.sets(st.sampled_from(names)))
    documents = [Document(name, "", tenant="other" if name in closed else "") for name in names]
    rows = [(name, score) for name, score in zip(names, scores, strict=True) if score >= 0 and name not in closed]
    found = search(Fixed(scores), "", Gate(documents).of(Case(id="q", query="?")), depth)
    expected = rank(rows, min(depth, len(rows)))
    assert tuple(names[place] for place in found.positions) == expected
    assert (found.answering, found.complete) == (len(rows), len(rows) <= depth)
    last = dict(rows)[str(expected[-1])] if expected else None
    assert {names[place] for place in found.tied} == {n for n, score in rows if score == last} - set(expected)


def test_rankings_hold_what_each_case_found() -> None:
    collection = Collection(
        "notes", "1", tuple(Document(name, text) for name, text in zip("edcba", TEXTS, strict=True)),
        (Case(id="q1", query="cat", excludes=("e",)), Case(id="q2", query="unknown")),
    )  # fmt: skip
    route = BM25(texts(collection))
    run = rankings(route, collection, depth=1)
    scores = dict(zip("edcba", by_formula(TEXTS, "cat"), strict=True))
    assert [name for name, _ in run.rows("q1")] == [max("dcba", key=lambda name: scores[name])]
    assert run.queries == ("q1", "q2")
    assert run.rows("q2") == []
    assert len(rankings(route, collection).rows("q1")) == 2
    with pytest.raises(ContractError, match="depth must be at least 1, got 0"):
        rankings(route, collection, depth=0)
