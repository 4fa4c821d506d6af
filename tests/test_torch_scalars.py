"""Scalars of torch count as the values that they hold, without a detour through float64."""

import math

import pytest
import torch

from rankwork.contract.reference import checked_k, rank
from rankwork.errors import ContractError


def test_torch_scores_are_compared_exactly_with_others() -> None:
    scores = {"A": torch.tensor(0.1, dtype=torch.bfloat16), "B": torch.tensor(0.1), "C": 0.1}
    assert rank(scores, 3) == ("A", "B", "C")
    big = 2**53
    assert rank([("A", torch.tensor(big)), ("B", torch.tensor(big + 1))], 1) == ("B",)


def test_a_torch_integer_is_a_k() -> None:
    assert type(checked_k(torch.tensor(3), 6)) is int


@pytest.mark.parametrize("score", [torch.tensor(math.nan), torch.tensor([1.0])])
def test_a_torch_score_that_is_no_finite_number_is_refused(score: torch.Tensor) -> None:
    with pytest.raises(ContractError, match=r"position 0 \(ID 'A'\): a score must be a finite number"):
        rank([("A", score)], 1)
