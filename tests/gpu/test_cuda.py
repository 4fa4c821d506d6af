"""On a GPU the selection, its certificate and the merging of shards are the same as on a CPU."""

from typing import Any

import numpy as np
import pytest
import torch

from rankwork.contract import accelerator
from rankwork.contract.certificate import certify
from rankwork.contract.shards import Stream, merge
from rankwork.contract.topk import IdOrder, topk
from rankwork.errors import ContractError
from tests.selections import TORCH_DTYPES, contract_rows, random_rows

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")


@pytest.mark.parametrize("shape", [(1, 5), (3, 1000), (64, 4096), (2, 200_000)], ids=str)
def test_every_kind_of_scores_is_selected_as_on_the_cpu(shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(shape[1])
    order = IdOrder(rng.permutation(shape[1]))
    for rows in random_rows(rng, shape).values():
        here = torch.from_numpy(rows)
        there = here.cuda()
        for k in {1, min(10, shape[1]), min(1000, shape[1])}:
            for ids in (None, order):
                found = topk(there, k, ids=ids)
                assert found.values.is_cuda
                assert found.indices.is_cuda
                assert torch.equal(found.indices.cpu(), topk(here, k, ids=ids).indices)
                assert certify(there, found.indices, ids=ids)


@pytest.mark.parametrize("way", accelerator.WAYS.values(), ids=accelerator.WAYS)
def test_each_way_is_right_on_the_gpu(way: Any) -> None:
    rng = np.random.default_rng(1)
    for n in (10, 300, 20_000):
        for rows in random_rows(rng, (3, n)).values():
            for k in (1, 5, max(1, n // 40)):
                found = way(torch.from_numpy(rows).cuda(), k)
                np.testing.assert_array_equal(found.cpu().numpy(), contract_rows(rows, k))


@pytest.mark.parametrize("name", TORCH_DTYPES)
def test_every_dtype_on_the_gpu(name: str) -> None:
    here = (torch.arange(3000) % 7).to(getattr(torch, name))
    found = topk(here.cuda(), 500)
    assert torch.equal(found.indices.cpu(), topk(here, 500).indices)
    assert found.values.dtype == here.dtype


def test_case_2_gives_the_same_on_the_gpu() -> None:
    assert topk(torch.tensor([3, 2, 3, 2, 1, 1], device="cuda"), 2).indices.tolist() == [0, 2]


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -float("inf")])
def test_scores_that_are_not_finite_are_refused_on_the_gpu(bad: float) -> None:
    scores = torch.zeros(2, 300, device="cuda")
    scores[1, 250] = bad
    with pytest.raises(ContractError, match=f"got {bad} at row 1, position 250"):
        topk(scores, 3)
    assert certify(scores, torch.zeros(2, 1, dtype=torch.int64, device="cuda")).failed == "finite"


def test_corrupted_selections_are_noticed_on_the_gpu() -> None:
    scores = torch.zeros(4, 1000, device="cuda")
    right = topk(scores, 10).indices
    assert certify(scores, right)
    wrong = right.clone()
    wrong[2, 9] = 11
    assert certify(scores, wrong).failed == "tied"


def test_shards_and_streams_on_the_gpu() -> None:
    scores = torch.from_numpy(np.random.default_rng(2).integers(0, 9, 5000).astype(np.float32)).cuda()
    parts = [topk(scores[start : start + 1000], 20).shifted(start) for start in range(0, 5000, 1000)]
    expected = topk(scores, 20).indices
    assert torch.equal(merge(parts[::-1], 20).indices, expected)
    assert torch.equal(Stream.of(scores, 20, chunk=700).result().indices, expected)
