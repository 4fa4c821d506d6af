"""The learned reranker: its features counted by hand, its training, its refusals."""

import math

import numpy as np
import pytest

from rankwork.errors import ContractError
from rankwork.inputs.documents import Document
from rankwork.retrieval.rerank import FEATURES, Candidates, Learned, Overlap, name_parts

DOCUMENTS = (
    Document("a", "cat dog\nbird", title="zoo.CatHouse"),
    Document("b", "bird fish\ncat cat"),
    Document("c", "fish"),
)


def candidates(query: str = "cat bird", fused: tuple[float, ...] = (0.3, 0.2, 0.1)) -> Candidates:
    return Candidates(query, np.arange(3), {"fused": np.array(fused), "bm25": np.array([1.0, 0.0, 2.0])})


def test_overlaps_are_shares_of_the_query_words() -> None:
    """Cat and bird stand in two of three documents each, so they have the same idf."""
    text, text_idf, title, title_idf, first_idf, length = Overlap(DOCUMENTS).of("cat bird unknown", np.arange(3))
    assert text.tolist() == [1.0, 1.0, 0.0]
    assert text_idf.tolist() == pytest.approx([1.0, 1.0, 0.0])
    assert title.tolist() == [0.5, 0.0, 0.0]
    assert title_idf.tolist() == pytest.approx([0.5, 0.0, 0.0])
    assert first_idf.tolist() == pytest.approx([0.5, 0.5, 0.0])
    assert length.tolist() == pytest.approx([math.log1p(5), math.log1p(4), math.log1p(1)])


def test_rare_words_weigh_more() -> None:
    idf = {"cat": math.log1p(1.5 / 2.5), "dog": math.log1p(2.5 / 1.5)}
    share = Overlap(DOCUMENTS).of("cat dog", np.array([1]))[1][0]
    assert share == pytest.approx(idf["cat"] / (idf["cat"] + idf["dog"]))


def test_a_query_without_a_known_word_shares_nothing() -> None:
    found = Overlap(DOCUMENTS).of("unknown", np.arange(3))
    assert not np.column_stack(found[:-1]).any()


@pytest.mark.parametrize(
    ("title", "parts"),
    [
        ("numpy.linalg.norm", "numpy linalg norm"),
        ("HTTPServer2", "http server 2"),
        ("Überfluß 東京", "überfluß 東京"),
        ("", ""),
    ],
)
def test_a_name_is_read_by_its_parts(title: str, parts: str) -> None:
    assert " ".join(name_parts(title)) == parts


def test_features_have_one_column_each() -> None:
    features = Learned(DOCUMENTS).features(candidates())
    assert features.shape == (3, len(FEATURES))
    assert features[:, FEATURES.index("bm25")].tolist() == [1.0, 0.0, 2.0]
    assert not features[:, FEATURES.index("dense")].any()


def test_it_learns_what_tells_the_relevant_from_the_others() -> None:
    """Only the fused score does here: its weight is the largest, and the relevant come first."""
    examples = [(candidates(fused=(0.1, 0.9, 0.2)), np.array([False, True, False])) for _ in range(20)]
    examples += [(candidates(fused=(0.8, 0.1, 0.2)), np.array([True, False, False])) for _ in range(20)]
    learned = Learned(DOCUMENTS).fit(examples)
    assert max(learned.weights, key=lambda name: learned.weights[name]) == "fused"
    assert int(learned.scores(candidates(fused=(0.1, 0.9, 0.2))).argmax()) == 1
    assert learned.version.startswith("logistic regression on 40 cases, 120 candidates, 40 relevant, weights ")


def test_documents_that_look_the_same_get_the_same_score() -> None:
    """A reranker's ties are ties too: two copies cannot be told apart."""
    twins = (DOCUMENTS[0], Document("z", DOCUMENTS[0].text, title=DOCUMENTS[0].title))
    same = Candidates("cat", np.arange(2), {})
    learned = Learned(twins).fit(
        [(Candidates("cat", np.arange(2), {"fused": np.array([1.0, 0.0])}), np.array([True, False]))]
    )
    assert len(set(learned.scores(same).tolist())) == 1


@pytest.mark.parametrize("flags", [[False] * 3, [True] * 3, None])
def test_nothing_to_tell_apart_is_refused(flags: list[bool] | None) -> None:
    examples = [] if flags is None else [(candidates(), np.array(flags))]
    with pytest.raises(ContractError, match=r"a reranker cannot be learned: [03] of [03] candidates"):
        Learned(DOCUMENTS).fit(examples)


def test_an_untrained_reranker_has_no_scores() -> None:
    with pytest.raises(ContractError, match="the reranker has not been trained"):
        Learned(DOCUMENTS).scores(candidates())
