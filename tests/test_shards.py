"""The top k of shards, chunks and streams, in any order of arrival, is the top k of the whole."""

import itertools
import tracemalloc
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
import torch
from hypothesis import given, settings

from rankwork.contract.shards import Stream, merge
from rankwork.contract.topk import IdOrder, TopK, topk
from rankwork.errors import ContractError
from tests.selections import contract, random_rows


def cut(scores: Any, borders: list[int], k: int) -> list[TopK]:
    """The selections of the shards between the borders, with positions in the whole."""
    edges = [0, *borders, scores.shape[-1]]
    pairs = [(a, b) for a, b in itertools.pairwise(edges) if a < b]
    return [topk(scores[..., a:b], min(k, b - a)).shifted(a) for a, b in pairs]


def test_every_cut_of_every_small_array_in_every_order_of_arrival() -> None:
    for row in itertools.product((0.0, 1.0, 2.0), repeat=5):
        scores = np.array(row)
        for borders in ([], [2], [1, 3], [1, 2, 3, 4]):
            for k in range(6):
                parts = cut(scores, borders, k)
                for arrival in itertools.permutations(parts) if len(parts) < 4 else (parts, parts[::-1]):
                    assert merge(arrival, k).indices.tolist() == contract(row, k)


@pytest.mark.parametrize("library", [np.asarray, torch.from_numpy], ids=["numpy", "torch"])
def test_every_kind_of_scores_in_batches(library: Any) -> None:
    rng = np.random.default_rng(1)
    for rows in random_rows(rng, (2, 700)).values():
        scores = library(rows)
        for k in (1, 10, 300):
            whole, merged = topk(scores, k), merge(cut(scores, [100, 450], k)[::-1], k)
            assert merged.indices.tolist() == whole.indices.tolist()
            assert merged.values.tolist() == whole.values.tolist()
            assert type(merged.values) is type(scores)


def test_merging_what_torch_selects_from_shards_is_not_the_contract() -> None:
    scores = torch.zeros(256)
    parts = [TopK(*torch.topk(scores[a : a + 63], 1)).shifted(a) for a in range(0, 252, 63)]
    assert merge(parts, 1).indices.tolist() != [0]
    assert merge(cut(scores, [63, 126, 189], 1), 1).indices.tolist() == [0]


def test_parts_with_text_ids_are_merged_by_the_ids() -> None:
    scores = np.array([1.0, 2.0, 2.0, 2.0])
    ids = np.array(["9", "b", "10", "a"])
    parts = [topk(scores[a : a + 2], 2, ids=ids[a : a + 2]).named(ids[a : a + 2]) for a in (2, 0)]
    assert merge(parts, 3).indices.tolist() == ["10", "a", "b"]
    assert merge([part._replace(indices=part.indices.astype(str)) for part in parts], 3).indices.tolist() == [
        "10", "a", "b",
    ]  # fmt: skip


def test_integer_ids_stay_integers_when_they_name_a_selection() -> None:
    found = topk(np.array([1.0, 2.0]), 2).named([7, 5])
    assert (found.indices.dtype, found.indices.tolist()) == (np.dtype(np.int64), [5, 7])


def test_a_selection_is_named_by_an_order_and_leaves_its_device() -> None:
    found = topk(torch.tensor([1.0, 2.0]).bfloat16(), 1).named(IdOrder(["x", "y"]))
    assert (found.values.tolist(), found.indices.tolist()) == ([2.0], ["y"])
    assert isinstance(found.values, np.ndarray)


def test_integers_are_merged_as_integers() -> None:
    scores = np.array([2**60, 2**60 + 1])
    assert merge(cut(scores, [1], 1), 1).indices.tolist() == [1]


FIRST = topk(np.array([1.0, 2.0]), 2)


@pytest.mark.parametrize(
    ("parts", "k", "message"),
    [
        ([], 0, "merge needs at least one selection, got none"),
        ([FIRST], 3, "k must be between 0 and 2, got 3"),
        ([FIRST], 1.0, r"k must be an integer, got 1\.0"),
        ([FIRST, FIRST], 2, "each item must come from one part, got 0 from two"),
        ([FIRST, topk(np.ones(1, np.float32), 1)], 1, "parts must agree in dtype, got float32 and float64"),
        ([FIRST, topk(torch.ones(1), 1)], 1, "all be numpy arrays or all be torch tensors, got both"),
        ([topk(torch.ones(1), 1), FIRST], 1, "all be numpy arrays or all be torch tensors, got both"),
        ([FIRST, FIRST.named(["a", "b"])], 1, "parts must agree in dtype, got int64 and text"),
        ([TopK(np.ones(1), np.array([None]))], 1, "IDs must be text or integers, got None"),
        ([TopK(np.ones(2), np.arange(3))], 1, r"values and indices must pair up, got shapes \(2,\) and \(3,\)"),
        ([TopK(np.array([np.nan]), np.arange(1))], 1, "scores must be finite, got nan"),
    ],
    ids=["no parts", "k too large", "k not an int", "twice", "dtypes", "libraries", "libraries the other way",
         "text and integers", "objects", "lengths", "not finite"],
)  # fmt: skip
def test_parts_that_do_not_make_a_whole_are_refused(parts: list[TopK], k: Any, message: str) -> None:
    with pytest.raises(ContractError, match=message):
        merge(parts, k)


@given(
    row=st.lists(st.integers(0, 4), min_size=1, max_size=60),
    borders=st.lists(st.integers(0, 60), max_size=6),
    k=st.integers(0, 60),
    seed=st.randoms(use_true_random=False),
)
@settings(max_examples=300, deadline=None)
def test_shards_of_any_size_in_any_order(row: list[int], borders: list[int], k: int, seed: Any) -> None:
    scores = np.array(row, np.float32)
    k = min(k, len(row))
    parts = cut(scores, sorted(min(border, len(row)) for border in borders), k)
    seed.shuffle(parts)
    assert merge(parts, k).indices.tolist() == contract(row, k)


@pytest.mark.parametrize("library", [np.asarray, torch.from_numpy], ids=["numpy", "torch"])
@pytest.mark.parametrize("chunk", [1, 7, 100, 1000])
def test_a_stream_gives_the_whole_s_selection(library: Any, chunk: int) -> None:
    scores = library(np.random.default_rng(2).integers(0, 9, (2, 300)).astype(np.float32))
    for k in (0, 1, 20, 300):
        assert Stream.of(scores, k, chunk=chunk).result().indices.tolist() == topk(scores, k).indices.tolist()


def test_chunks_may_come_out_of_turn() -> None:
    scores = np.random.default_rng(3).integers(0, 3, 90).astype(np.float64)
    stream = Stream(10)
    for start in (60, 0, 30):
        stream.add(scores[start : start + 30], start=start)
    assert stream.result().indices.tolist() == contract(scores.tolist(), 10)


def test_a_chunk_that_comes_twice_is_refused_when_its_items_are_kept() -> None:
    stream = Stream(3)
    stream.add(np.array([1.0, 2.0]), start=0)
    with pytest.raises(ContractError, match="each item must come from one part, got 0 from two"):
        stream.add(np.array([1.0, 2.0]), start=0)


@pytest.mark.parametrize("k", [-1, 1.5, True])
def test_a_stream_refuses_k_outside_the_contract(k: Any) -> None:
    with pytest.raises(ContractError, match="k must be"):
        Stream(k)


def test_a_stream_with_fewer_than_k_scores_has_no_result() -> None:
    stream = Stream(2)
    with pytest.raises(ContractError, match="k must be between 0 and 0, the scores seen, got 2"):
        stream.result()
    stream.add(np.ones(1))
    with pytest.raises(ContractError, match="k must be between 0 and 1, the scores seen, got 2"):
        stream.result()


def test_a_stream_over_a_memory_mapped_file_holds_a_chunk_not_the_file(tmp_path: Path) -> None:
    n, chunk = 4_000_000, 100_000
    path = tmp_path / "scores.f4"
    np.random.default_rng(4).integers(0, 1000, n).astype(np.float32).tofile(path)
    mapped = np.memmap(path, np.float32, "r")
    Stream.of(mapped[:1000], 10)
    tracemalloc.start()
    found = Stream.of(mapped, 10, chunk=chunk).result()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found.indices.tolist() == topk(np.fromfile(path, np.float32), 10).indices.tolist()
    assert peak < 4 * chunk
