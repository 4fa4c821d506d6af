"""A sentence-transformers model and a CrossEncoder in place of the defaults: tiny ones, made here, not downloaded."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rankwork.errors import ContractError
from rankwork.inputs.documents import Collection, Document
from rankwork.retrieval.dense import Dense, SentenceModel
from rankwork.retrieval.pipeline import digest_of, run
from rankwork.retrieval.rerank import Candidates, Cross
from rankwork.retrieval.settings import Settings
from rankwork.trace import Case

sentence_transformers: Any = pytest.importorskip("sentence_transformers", reason='needs the extra "models"')
transformers: Any = pytest.importorskip("transformers", reason='needs the extra "models"')

WORDS = ("cat", "dog", "bird", "fish", "the", "a", "sat")
DOCUMENTS = tuple(Document(f"d{place}", f"the {word} sat") for place, word in enumerate(WORDS[:4]))
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """The folders of an encoder and of a cross-encoder: one layer of BERT, eight numbers wide, random from a seed."""
    import torch

    root = tmp_path_factory.mktemp("models")
    torch.manual_seed(0)
    encoder = transformers.BertModel(_config())
    cross = transformers.BertForSequenceClassification(_config(num_labels=1))
    return _saved(root / "encoder", encoder), _saved(root / "cross", cross)


def _config(**more: Any) -> Any:
    sizes = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
    return transformers.BertConfig(vocab_size=5 + len(WORDS), max_position_embeddings=32, **sizes, **more)


def _saved(folder: Path, model: Any) -> str:
    model.save_pretrained(folder)
    vocabulary = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS)
    numbers = {word: place for place, word in enumerate(vocabulary)}
    transformers.BertTokenizerFast(vocab=numbers).save_pretrained(folder)
    return str(folder)


@pytest.fixture(autouse=True)
def _offline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("TRANSFORMERS_OFFLINE", "1")


def test_a_sentence_model_makes_the_dense_vectors(models: tuple[str, str]) -> None:
    """A text is nearest to itself, and the scores are the cosines of the vectors that the model itself gives."""
    texts = [document.text for document in DOCUMENTS]
    route = Dense(texts, SentenceModel(models[0]))
    vectors = sentence_transformers.SentenceTransformer(models[0], device="cpu").encode(
        texts, normalize_embeddings=True
    )
    for place, text in enumerate(texts):
        np.testing.assert_allclose(route.scores(text), vectors @ vectors[place], atol=1e-5)
        assert int(route.scores(text).argmax()) == place


def test_a_cross_encoder_scores_each_pair(models: tuple[str, str]) -> None:
    cross = Cross(models[1], DOCUMENTS)
    scores = cross.scores(Candidates("a cat", np.array([2, 0]), {}))
    pairs = [("a cat", DOCUMENTS[place].text) for place in (2, 0)]
    expected = sentence_transformers.CrossEncoder(models[1], device="cpu").predict(pairs)
    np.testing.assert_allclose(scores, expected, atol=1e-6)


def test_a_pipeline_takes_both_by_path(models: tuple[str, str]) -> None:
    notes = Collection("notes", "1", DOCUMENTS)
    settings = Settings(model=models[0], reranker=models[1])
    first, second = (run(notes, settings, [Case(id="q", query="the cat")]) for _ in range(2))
    assert [len(stage.kept) for stage in first[0].stages] == [1, 4, 4, 4, 4]
    assert digest_of(first) == digest_of(second)


@pytest.mark.parametrize("kind", ["SentenceTransformer", "CrossEncoder"])
def test_a_model_that_is_not_there_is_named(kind: str, tmp_path: Path) -> None:
    load = SentenceModel if kind == "SentenceTransformer" else lambda name: Cross(name, DOCUMENTS)
    with pytest.raises(ContractError, match=f"model '.*nothing' cannot be loaded as a {kind}: "):
        load(str(tmp_path / "nothing"))
