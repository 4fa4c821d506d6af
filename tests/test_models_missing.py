"""What a user is told who asks for a model without the extra that loads it."""

import sys

import pytest

from rankwork.errors import ContractError
from rankwork.retrieval.dense import SentenceModel


def test_without_the_extra_its_name_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(ContractError, match=r'needs the extra "models": pip install "rankwork\[models\]"'):
        SentenceModel("any/name")
