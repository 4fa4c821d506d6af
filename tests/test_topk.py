"""The selection equals the contract on every input, in every dtype and layout, compiled or not."""

import itertools
import math
import os
import subprocess
import sys
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis.extra import numpy as hnp

from rankwork.contract import accelerator, lemma
from rankwork.contract import topk as module
from rankwork.contract.reference import rank
from rankwork.contract.topk import IdOrder, Inclusive, TopK, topk
from rankwork.errors import ContractError
from tests.selections import NUMPY_DTYPES, TORCH_DTYPES, contract, contract_rows, host, random_rows, same_bits

SIX = np.array([3.0, 2.0, 2.0, 2.0, 2.0, 1.0])


@pytest.fixture(params=["compiled", "plain"])
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Each test that takes this runs with the compiled kernels and without them."""
    if request.param == "plain":
        monkeypatch.setattr(module, "kernel", lambda: None)
    return str(request.param)


def check(scores: Any, k: int, ids: Any = None) -> None:
    """A selection has the contract's positions, the scores found there, and the kind of what it was given."""
    names = ids.ids if isinstance(ids, IdOrder) else ids
    found = topk(scores, k, ids=ids)
    expected = contract_rows(host(scores), k, names)
    assert type(found.values) is type(scores)
    assert found.values.dtype == scores.dtype
    assert host(found.indices).dtype == np.int64
    assert tuple(found.values.shape) == (*scores.shape[:-1], k)
    np.testing.assert_array_equal(host(found.indices), expected)
    assert same_bits(found.values, np.take_along_axis(host(scores), expected, -1))


# ---------------------------------------------------------------------- small and complete


def test_the_six_documents_have_one_answer_over_all_720_arrivals(engine: str) -> None:
    order = list(itertools.permutations(range(6)))
    scores = SIX[np.array(order)]
    for k in range(7):
        for arrival, row in zip(order, scores, strict=True):
            found = topk(row, k, ids=[f"D{i}" for i in arrival]).indices
            assert [arrival[i] for i in found] == list(range(k))


def test_all_arrays_of_three_levels_up_to_seven_items_for_every_k(engine: str) -> None:
    for n in range(1, 8):
        rows = np.array(list(itertools.product((0.0, 1.0, 2.0), repeat=n)), np.float32)
        full = contract_rows(rows, n)
        for k in range(n + 1):
            np.testing.assert_array_equal(topk(rows, k).indices, full[:, :k])
            np.testing.assert_array_equal(topk(torch.from_numpy(rows), k).indices.numpy(), full[:, :k])


def test_each_top_k_is_a_prefix_of_the_next(engine: str) -> None:
    scores = np.random.default_rng(0).integers(0, 4, 200).astype(np.float32)
    full = topk(scores, 200).indices
    for k in range(200):
        np.testing.assert_array_equal(topk(scores, k).indices, full[:k])


# ----------------------------------------------------------------------------- reported


def test_case_1_the_top_k_is_a_prefix_of_the_top_k_plus_1(engine: str) -> None:
    for k in range(1, 6):
        assert topk(torch.tensor([1.0, 2, 5, 4, 5]), k).indices.tolist() == [2, 4, 3, 1, 0][:k]


def test_case_2_a_tie_across_the_cut_takes_the_lowest_position(engine: str) -> None:
    assert topk(torch.tensor([3, 2, 3, 2, 1, 1]), 2).indices.tolist() == [0, 2]


def test_case_3_the_first_of_four_equal_negative_scores(engine: str) -> None:
    assert topk(torch.tensor([-1.0] * 4), 1).indices.tolist() == [0]


def test_case_4_a_float16_row_alone_and_in_a_batch_gives_the_same(engine: str) -> None:
    rng = np.random.default_rng(4)
    rows = rng.uniform(0, 18, (9, 400)).astype(np.float16)
    rows[:, [120, 333]] = np.float16(18.3906)
    batch = topk(torch.from_numpy(rows), 5).indices
    for row, together in zip(rows, batch, strict=True):
        assert topk(torch.from_numpy(row), 5).indices.tolist() == together.tolist()
        assert together[:2].tolist() == [120, 333]


@pytest.mark.parametrize("bad", [math.nan, -math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("place", [0, 3, 63, 64, 299])
def test_case_5_a_score_that_is_not_finite_is_refused_with_its_position(engine: str, bad: float, place: int) -> None:
    scores = np.random.default_rng(5).standard_normal(300).astype(np.float32)
    scores[place] = bad
    with pytest.raises(ContractError, match=rf"scores must be finite, got {bad} at position {place}$"):
        topk(scores, 10)
    batch = torch.zeros(2, 300)
    batch[1] = torch.from_numpy(scores)
    with pytest.raises(ContractError, match=rf"got {bad} at row 1, position {place}$"):
        topk(batch, 0)


def test_case_6_three_of_four_zeros(engine: str) -> None:
    assert topk(np.zeros(4, np.int32), 3).indices.tolist() == [0, 1, 2]


def test_case_7_ties_of_large_numbers_do_not_depend_on_the_processor(engine: str) -> None:
    scores = np.array([1000] * 6 + [0, 1000])
    for k in range(9):
        assert topk(scores, k).indices.tolist() == [0, 1, 2, 3, 4, 5, 7, 6][:k]


def test_case_8_the_three_lowest_ids_of_five_identical_vectors(engine: str) -> None:
    scores = np.ones((1, 3)) @ np.ones((3, 5))
    assert topk(scores[0], 3, ids=["e", "a", "d", "c", "b"]).indices.tolist() == [1, 4, 3]


def test_case_9_pages_of_one_over_100_tied_documents_show_each_once(engine: str) -> None:
    scores = np.full(100, 0.5)
    pages = [int(topk(scores, page + 1).indices[page]) for page in range(100)]
    assert pages == list(range(100))


def test_case_12_scores_tie_in_the_dtype_they_have(engine: str) -> None:
    scores = np.array([1.0, 1.00000001])
    assert topk(scores, 1).indices.tolist() == [1]
    assert topk(scores.astype(np.float32), 1).indices.tolist() == [0]


# ------------------------------------------------------------------- kinds, dtypes, shapes


@pytest.mark.parametrize("shape", [(1,), (17,), (64,), (65,), (1000,), (5000,), (3, 1500), (2, 3, 257)], ids=str)
def test_every_kind_of_scores_for_small_and_large_k(engine: str, shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(len(shape) + shape[-1])
    ids = rng.permutation(shape[-1])
    for scores in random_rows(rng, shape).values():
        for k in {1, min(10, shape[-1]), shape[-1] // 7, shape[-1] // 2, shape[-1]}:
            check(torch.from_numpy(scores), k)
            check(scores, k, ids)


@pytest.mark.parametrize("name", NUMPY_DTYPES)
def test_every_numpy_dtype(engine: str, name: str) -> None:
    rng = np.random.default_rng(1)
    dtype = np.dtype(name)
    for n in (5, 200, 700):
        if dtype.kind == "f":
            scores = (rng.standard_normal((2, n)) * 4).round(1).astype(dtype)
        else:
            info = np.iinfo(dtype)
            scores = rng.integers(info.min, info.max, (2, n), dtype, endpoint=True)
            scores[:, ::3] = info.max
            scores[:, 1::3] = info.min
        for k in (1, 3, n // 4, n):
            check(scores, k)
            check(scores, k, rng.permutation(n))


@pytest.mark.parametrize("name", TORCH_DTYPES)
def test_every_torch_dtype(engine: str, name: str) -> None:
    rng = np.random.default_rng(2)
    for n in (5, 200, 700):
        scores = torch.from_numpy(rng.integers(0, 100, (2, n))).to(getattr(torch, name))
        for k in (1, 3, n // 4, n):
            check(scores, k)
            check(scores, k, rng.permutation(n))


def test_int64_never_passes_through_a_float(engine: str) -> None:
    scores = np.arange(2**60, 2**60 + 300)
    assert topk(scores, 3).indices.tolist() == [299, 298, 297]
    assert topk(torch.from_numpy(scores), 3).values.tolist() == [2**60 + 299, 2**60 + 298, 2**60 + 297]


def test_both_zeros_are_equal_and_come_back_as_they_were(engine: str) -> None:
    scores = np.array([-1.0, -0.0, 0.0, -0.0] + [-2.0] * 200)
    found = topk(scores, 3)
    assert found.indices.tolist() == [1, 2, 3]
    assert np.signbit(found.values).tolist() == [True, False, True]


def test_the_input_is_left_as_it_was(engine: str) -> None:
    for scores in random_rows(np.random.default_rng(3), (1500,)).values():
        before = scores.tobytes()
        topk(scores, 10)
        assert scores.tobytes() == before


@pytest.mark.parametrize(
    "view",
    [
        lambda x: x[:, ::2],
        lambda x: x[:, ::-1],
        lambda x: x[::-1],
        lambda x: x[::2],
        lambda x: x.T,
        lambda x: x[:, 7:],
        lambda x: np.broadcast_to(x[0], x.shape),
        lambda x: x.reshape(2, 2, 150)[:, :, 3:-3],
        lambda x: x.reshape(2, 2, 150).transpose(1, 2, 0),
    ],
    ids=["step", "reversed", "rows reversed", "row step", "turned", "offset", "broadcast", "3-D", "3-D turned"],
)  # fmt: skip
def test_layouts_that_are_not_contiguous(engine: str, view: Any) -> None:
    scores = view(np.random.default_rng(6).integers(0, 9, (4, 150)).astype(np.float32))
    check(scores, min(3, scores.shape[-1]))


def test_the_other_byte_order_is_read_as_the_numbers_it_holds(engine: str) -> None:
    scores = np.random.default_rng(6).integers(0, 9, (4, 150)).astype(">f4")
    found = topk(scores, 3)
    np.testing.assert_array_equal(found.indices, contract_rows(scores, 3))
    assert found.values.dtype == np.float32


def test_tensor_views_that_are_not_contiguous(engine: str) -> None:
    scores = torch.from_numpy(np.random.default_rng(7).integers(0, 9, (4, 150)).astype(np.float32))
    views = [scores[:, ::2], scores.T, scores[::2], scores[:, 7:], scores[0].expand(4, 150), scores.view(2, 2, 150)]
    for tensor in [*views, scores[0, ::3], scores.view(2, 2, 150).transpose(0, 2)]:
        check(tensor, 3 if tensor.shape[-1] >= 3 else 2)


def test_no_items_no_rows_and_k_of_0(engine: str) -> None:
    assert topk(np.empty(0), 0).indices.shape == (0,)
    assert topk(np.empty((0, 5)), 3).indices.shape == (0, 3)
    assert topk(torch.empty(0, 5), 3).values.shape == (0, 3)
    found = topk(torch.ones(2, 5), 0)
    assert found.values.shape == found.indices.shape == (2, 0)
    assert found.indices.dtype == torch.int64


def test_values_keep_the_gradient(engine: str) -> None:
    scores = torch.tensor([1.0, 3.0, 2.0], requires_grad=True)
    topk(scores, 2).values.sum().backward()
    assert scores.grad is not None
    assert scores.grad.tolist() == [0, 1, 1]


def test_a_list_is_read_as_an_array(engine: str) -> None:
    assert topk([1, 3, 3], 2).indices.tolist() == [1, 2]


# ---------------------------------------------------------------------------------- IDs


def test_text_ids_compare_by_code_point(engine: str) -> None:
    assert topk(np.ones(4), 4, ids=["9", "10", "é", "z"]).indices.tolist() == [1, 0, 3, 2]
    assert topk(np.ones(3), 3, ids=np.array(["b", "a", "B"])).indices.tolist() == [2, 1, 0]


def test_integer_ids_compare_as_numbers(engine: str) -> None:
    assert topk(np.ones(3), 3, ids=[10, 9, -1]).indices.tolist() == [2, 1, 0]
    assert topk(torch.ones(3), 3, ids=torch.tensor([10, 9, -1])).indices.tolist() == [2, 1, 0]


def test_an_order_made_once_serves_every_query(engine: str) -> None:
    rng = np.random.default_rng(8)
    for n in (40, 700, 3000):
        ids = [f"doc-{i}" for i in rng.permutation(n)]
        order = IdOrder(ids)
        for scores in random_rows(rng, (2, n)).values():
            for k in (1, 10, n // 3):
                found = topk(scores, k, ids=order).indices
                np.testing.assert_array_equal(found, contract_rows(scores, k, ids))


def test_an_order_knows_rank_and_position() -> None:
    order = IdOrder(["c", "a", "b"])
    assert order.order.tolist() == [1, 2, 0]
    assert order.rank.tolist() == [2, 0, 1]
    assert (order.kind, len(order), order.is_positional) == ("text", 3, False)
    assert IdOrder(np.array([3, 5, 9])).is_positional


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        (["a", "b", "a"], "ID 'a' stands at positions 0 and 2, but IDs must be unique"),
        (np.array([7, 7, 8]), "ID 7 stands at positions 0 and 1, but IDs must be unique"),
        (["a", 1, "b"], "IDs must be all text or all integers, got 'a' at position 0 and 1 at position 1"),
        ([1, "a", 2], "IDs must be all text or all integers, got 1 at position 0 and 'a' at position 1"),
        ([True, 2, 3], "True"),
        ([1.5, 2, 3], "1.5"),
        ("abc", "ids must be a sequence of text or of integers, got 'abc'"),
        (np.ones((3, 1), int), r"ids must be one row, got an array of shape \(3, 1\)"),
        (["a", "b"], "ids must name each of the 3 scores of a row, got 2 ids"),
    ],
    ids=[
        "duplicate text",
        "duplicate integer",
        "mixed",
        "mixed the other way",
        "bool",
        "float",
        "a string",
        "2-D",
        "too few",
    ],
)
def test_ids_that_cannot_decide_are_refused(ids: Any, message: str) -> None:
    with pytest.raises(ContractError, match=message):
        topk(np.ones(3), 2, ids=ids)


# ----------------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("k", "message"),
    [
        (7, "k must be between 0 and 6, got 7"),
        (-1, "k must be between 0 and 6, got -1"),
        (2.0, r"k must be an integer, got 2\.0"),
        (True, "k must be an integer, got True"),
        (np.True_, r"k must be an integer, got (np\.)?True_?"),
        (None, "k must be an integer, got None"),
    ],
)
def test_k_outside_the_contract_is_refused(k: Any, message: str) -> None:
    for scores in (SIX, torch.from_numpy(SIX)):
        with pytest.raises(ContractError, match=message):
            topk(scores, k)


def test_numpy_integers_serve_as_k() -> None:
    assert topk(SIX, np.int64(2)).indices.tolist() == [0, 1]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        (np.array([True, False]), "scores must be floats or integers, got an array of bool"),
        (np.array([1j, 2]), "got an array of complex128"),
        (np.array(["a", "b"]), "got an array of <U1"),
        (np.array([1, None]), "got an array of object"),
        (torch.tensor([True, False]), r"got torch\.bool"),
        (torch.tensor([1j, 2]), r"got torch\.complex64"),
        (torch.eye(2).to_sparse(), r"got torch\.float32 \(torch\.sparse_coo\)"),
        (np.float64(1), "scores must have at least one axis, got a single number"),
        (torch.tensor(1.0), "scores must have at least one axis, got a single number"),
    ],
    ids=str,
)
def test_scores_of_another_type_are_refused(scores: Any, message: str) -> None:
    with pytest.raises(ContractError, match=message):
        topk(scores, 1)


# ----------------------------------------------------------------------------- inclusive


def test_the_inclusive_policy_returns_every_score_at_or_above_the_kth(engine: str) -> None:
    found = topk(SIX, 2, policy="inclusive")
    assert isinstance(found, Inclusive)
    assert found.indices.tolist() == [0, 1, 2, 3, 4]
    assert (found.k, found.extra) == (2, 3)
    assert found.note == "inclusive: 5 items for k = 2, 3 more to rerank and to fit into a context"


def test_the_inclusive_policy_equals_the_strict_one_where_nothing_ties(engine: str) -> None:
    found = topk(torch.tensor([1.0, 3.0, 2.0]), 2, ids=["c", "b", "a"], policy="inclusive")
    assert isinstance(found, Inclusive)
    assert found.indices.tolist() == [1, 2]
    assert found.extra == 0


def test_the_inclusive_policy_of_nothing_is_nothing(engine: str) -> None:
    assert topk(SIX, 0, policy="inclusive").indices.tolist() == []


def test_the_inclusive_policy_takes_one_row_at_a_time() -> None:
    with pytest.raises(ContractError, match=r"one row at a time, got scores of shape \(2, 3\)"):
        topk(np.ones((2, 3)), 1, policy="inclusive")


def test_an_unknown_policy_is_refused() -> None:
    with pytest.raises(ContractError, match="policy must be one of by_id, id_asc, inclusive, got 'random'"):
        topk(SIX, 1, policy="random")


# --------------------------------------------------------------------- plain and batched ways


@pytest.mark.parametrize("way", accelerator.WAYS.values(), ids=accelerator.WAYS)
def test_each_way_for_an_accelerator_gives_the_contract(way: Any) -> None:
    rng = np.random.default_rng(9)
    for n in (10, 300, 20_000):
        for scores in random_rows(rng, (3, n)).values():
            for k in (1, 5, n // 40 or 1):
                found = way(torch.from_numpy(scores), k)
                np.testing.assert_array_equal(found.numpy(), contract_rows(scores, k))


def test_the_default_way_for_an_accelerator_gives_the_contract_for_long_rows() -> None:
    scores = torch.from_numpy(np.random.default_rng(10).integers(0, 50, (2, 100_001)).astype(np.float32))
    np.testing.assert_array_equal(accelerator.indices(scores, 7).numpy(), contract_rows(scores, 7))


def test_a_selection_of_other_positions_is_noticed_before_it_is_ordered() -> None:
    scores = torch.tensor([[1.0, 1, 1, 0]])
    assert accelerator._is_lowest(scores, torch.tensor([[0, 1]])).tolist() == [True]
    assert accelerator._is_lowest(scores, torch.tensor([[0, 2]])).tolist() == [False]


def test_the_lemma_in_numpy_and_torch_finds_what_lies_in_the_last_short_block() -> None:
    scores = np.zeros((1, 10_003), np.float32)
    scores[0, -1] = 1
    assert lemma.numpy_indices(scores, 2).tolist() == [[10_002, 0]]
    assert lemma.torch_indices(torch.from_numpy(scores), 2).tolist() == [[10_002, 0]]
    lowest = np.full((1, 10_003), np.iinfo(np.int8).min, np.int8)
    assert lemma.torch_indices(torch.from_numpy(lowest), 3).tolist() == [[0, 1, 2]]


def test_the_selection_works_where_numba_and_torch_are_missing() -> None:
    code = (
        "import sys; sys.modules['numba'] = sys.modules['llvmlite'] = sys.modules['torch'] = None\n"
        "import numpy as np; from rankwork.contract.topk import topk, kernel\n"
        "from rankwork.contract.certificate import certify\n"
        "scores = np.arange(50_000) % 7\n"
        "found = topk(scores, 3, ids=np.arange(50_000)[::-1])\n"
        "print(kernel(), found.indices.tolist(), bool(certify(scores, found.indices, ids=np.arange(50_000)[::-1])))"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    expected = contract([i % 7 for i in range(50_000)], 3, range(0, -50_000, -1))
    assert shown == f"None {expected} True\n"


def test_the_selection_works_where_compiling_is_turned_off() -> None:
    code = "import numpy as np; from rankwork.contract.topk import *; print(topk(np.ones(9), 2).indices)"
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    assert shown.stdout == "[0 1]\n"


# -------------------------------------------------------------------------- hypothesis


@st.composite
def cases(draw: st.DrawFn) -> tuple[Any, int, Any]:
    """Scores of any dtype, shape, layout and pattern of ties, k from 0 to n, and IDs in any order or none."""
    library = draw(st.sampled_from(["numpy", "torch"]))
    name = draw(st.sampled_from(TORCH_DTYPES if library == "torch" else NUMPY_DTYPES))
    n = draw(st.integers(1, 40) | st.integers(41, 600))
    rows = draw(st.integers(1, 3))
    wide = "float32" if name == "bfloat16" else name
    scores = draw(_values(np.dtype(wide), (rows, n)))
    if draw(st.booleans()):
        scores = np.sort(scores, axis=-1)[:, :: draw(st.sampled_from([1, -1]))]
    if library == "torch":
        scores = torch.from_numpy(scores.copy()).to(getattr(torch, name))
    if draw(st.booleans()):
        scores = scores[0]
    elif draw(st.booleans()):
        scores = scores[:, :: draw(st.integers(1, 3))]
    n = scores.shape[-1]
    k = draw(st.integers(0, n) | st.integers(0, min(n, 12)))
    ids = draw(st.none() | st.integers(0, 2**32 - 1).map(lambda seed: np.random.default_rng(seed).permutation(n)))
    return scores, k, ids


def _values(dtype: np.dtype[Any], shape: tuple[int, ...]) -> st.SearchStrategy[Any]:
    """Few levels, so that most scores tie, or anything finite that the dtype can hold."""
    few = hnp.arrays(np.int8, shape, elements=st.integers(0, 3), fill=st.integers(0, 3)).map(lambda x: x.astype(dtype))
    if dtype.kind == "f":
        width: Any = 8 * dtype.itemsize
        limit = {16: 65504.0, 32: 2.0**127, 64: 1e308}[width]
        elements: Any = st.floats(-limit, limit, width=width, allow_subnormal=True)
    else:
        info = np.iinfo(dtype)
        elements = st.integers(int(info.min), int(info.max))
    return few | hnp.arrays(dtype, shape, elements=elements, fill=elements)


@given(
    rows=st.dictionaries(st.text(max_size=3), st.sampled_from([0.5, -0.0, 0.0, 2.0, 1e300]), max_size=30),
    data=st.data(),
)
def test_the_selection_is_what_rank_returns(rows: dict[str, float], data: st.DataObject) -> None:
    k = data.draw(st.integers(0, len(rows)))
    found = topk(np.array(list(rows.values()), float), k, ids=list(rows)).named(list(rows))
    assert tuple(found.indices.tolist()) == rank(rows, k)


@given(case=cases())
@settings(max_examples=300, deadline=None)
def test_the_selection_is_the_contract(case: tuple[Any, int, Any]) -> None:
    check(*case)


@pytest.mark.exhaustive
@given(case=cases())
@settings(max_examples=100_000, deadline=None)
def test_the_selection_is_the_contract_in_100_000_cases(case: tuple[Any, int, Any]) -> None:
    check(*case)


def test_a_wrong_position_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    right = module._from_numpy

    def last_of_the_tied(scores: Any, k: Any, ids: Any) -> TopK:
        return right(scores, k, range(scores.shape[-1], 0, -1))

    monkeypatch.setattr(module, "_from_numpy", last_of_the_tied)
    with pytest.raises(AssertionError):
        check(np.ones(4), 2)
