"""A certificate holds for the contract's selection and for no other."""

import itertools
import re
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
import torch
from hypothesis import given, settings

from rankwork.contract import certificate
from rankwork.contract.certificate import certify
from rankwork.contract.topk import IdOrder, topk
from rankwork.errors import ContractError
from tests.selections import NUMPY_DTYPES, TORCH_DTYPES, contract, host, random_rows

SCORES = np.array([3.0, 2.0, 2.0, 2.0, 2.0, 1.0])


def test_of_all_selections_of_all_small_arrays_only_the_contracts_is_certified() -> None:
    for n in range(1, 5):
        for row in itertools.product((0.0, 1.0, 2.0), repeat=n):
            scores = np.array(row)
            for k in range(n + 1):
                for chosen in itertools.product(range(n), repeat=k):
                    held = bool(certify(scores, np.array(chosen, int)))
                    assert held == (list(chosen) == contract(row, k)), (row, chosen)


def test_the_same_with_ids_in_another_order() -> None:
    ids = ["c", "a", "d", "b"]
    for row in itertools.product((0.0, 1.0), repeat=4):
        for k in range(5):
            for chosen in itertools.permutations(range(4), k):
                held = bool(certify(torch.tensor(row), torch.tensor(chosen, dtype=torch.int64), ids=ids))
                assert held == (list(chosen) == contract(row, k, ids)), (row, chosen)


@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_what_topk_selects_is_certified_for_every_kind_of_scores(library: str) -> None:
    rng = np.random.default_rng(1)
    order = IdOrder(rng.permutation(900))
    for rows in random_rows(rng, (2, 900)).values():
        scores: Any = rows if library == "numpy" else torch.from_numpy(rows)
        for k in (0, 1, 30, 900):
            assert certify(scores, topk(scores, k).indices, k=k)
            assert certify(scores, topk(scores, k, ids=order).indices, ids=order)


@pytest.mark.parametrize("name", TORCH_DTYPES)
def test_every_dtype(name: str) -> None:
    tensor = (torch.arange(60) % 7).to(getattr(torch, name))
    right = topk(tensor, 20).indices
    assert certify(tensor, right)
    assert not certify(tensor, right.flip(0))
    if name in NUMPY_DTYPES:
        assert certify(host(tensor), right)
        assert not certify(host(tensor), right.flip(0))


def test_integers_are_compared_as_integers() -> None:
    scores = np.array([2**60, 2**60 + 1])
    assert certify(scores, [1])
    assert not certify(scores, [0])


def test_scores_are_compared_piece_by_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(certificate, "PIECE", 4)
    for library in (np.asarray, torch.from_numpy):
        scores = library(np.random.default_rng(2).integers(0, 5, (3, 23)))
        for ids in (None, np.random.default_rng(3).permutation(23)):
            right = topk(scores, 9, ids=ids).indices
            assert certify(scores, right, ids=ids)
            wrong = host(right).copy()
            wrong[2, 8] = next(i for i in range(23) if i not in wrong[2])
            assert not certify(scores, wrong, ids=ids)


@pytest.mark.parametrize(
    ("indices", "failed", "message"),
    [
        ([0, 1, 2, 3, 4, 5, 0], "length", "at most 6 indices were expected for each row, got 7"),
        ([[0, 1]], "length", r"indices of shape \(1, 2\) do not belong to scores of \(6,\)"),
        ([0, 6], "range", "index 6 at position 1 is not between 0 and 5"),
        ([-1, 0], "range", "index -1 at position 0 is not between 0 and 5"),
        ([0, 1, 1], "duplicate", "position 1 was selected twice"),
        ([0, 1, 0], "duplicate", "position 0 was selected twice"),
        ([1, 0], "order", r"position 1 \(2.0\) stands before 0 \(3.0\)"),
        ([0, 2, 1], "order", r"position 2 \(2.0\) stands before 1 \(2.0\)"),
        ([1, 2], "above", "1 scores lie above 2.0, 0 of them were selected"),
        ([0, 5], "above", "5 scores lie above 1.0, 1 of them were selected"),
        ([0, 1, 3], "tied", "3 scores equal 2.0 up to the last selected ID, 2 of them were selected"),
        ([0, 4], "tied", "4 scores equal 2.0 up to the last selected ID, 1 of them were selected"),
    ],
)
@pytest.mark.parametrize("library", [np.asarray, torch.from_numpy], ids=["numpy", "torch"])
def test_each_way_to_be_wrong_is_named(library: Any, indices: Any, failed: str, message: str) -> None:
    found = certify(library(SCORES), library(np.array(indices)))
    assert not found
    assert found.failed == failed
    assert re.fullmatch(message, found.message)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_scores_that_are_not_finite_fail(bad: float) -> None:
    scores = np.array([[1.0, 2.0], [3.0, bad]])
    for library in (np.asarray, torch.from_numpy):
        found = certify(library(scores), np.array([[1], [0]]))
        assert (found.failed, found.message) == ("finite", f"score {bad} at position 1 of row 1 is not finite")


def test_the_row_that_fails_is_named() -> None:
    scores = torch.tensor([[1.0, 1.0], [1.0, 1.0]])
    found = certify(scores, torch.tensor([[0], [1]]))
    assert found.message == "2 scores equal 1.0 up to the last selected ID, 1 of them were selected of row 1"
    assert certify(scores, torch.tensor([[0, 1], [0, 0]])).message == "position 0 was selected twice of row 1"


def test_a_length_that_was_not_asked_for_fails() -> None:
    found = certify(SCORES, [0, 1], k=3)
    assert (found.failed, found.message) == ("length", "3 indices were expected for each row, got 2")
    assert certify(SCORES, [0, 1], k=2)


def test_nothing_selected_holds_for_any_finite_scores() -> None:
    assert certify(SCORES, [])
    assert certify(torch.from_numpy(SCORES), torch.empty(0, dtype=torch.int64), k=0)
    assert not certify(np.array([np.nan]), [])


@pytest.mark.parametrize("scores", [SCORES, torch.from_numpy(SCORES)], ids=["numpy", "torch"])
def test_indices_that_are_not_integers_are_refused(scores: Any) -> None:
    with pytest.raises(ContractError, match=r"indices must be integers, got (torch\.)?float"):
        certify(scores, np.array([0.0, 1.0]))


@given(
    levels=st.lists(st.integers(0, 3), min_size=2, max_size=40),
    data=st.data(),
    library=st.sampled_from([np.asarray, torch.from_numpy]),
)
@settings(max_examples=300, deadline=None)
def test_one_changed_index_or_two_exchanged_ones_are_always_noticed(levels: list[int], data: Any, library: Any) -> None:
    n = len(levels)
    k = data.draw(st.integers(1, n))
    ids = data.draw(st.none() | st.permutations(range(n)))
    scores = library(np.array(levels, np.float32))
    right = contract(levels, k, ids)
    assert certify(scores, np.array(right), ids=ids)
    wrong = list(right)
    place = data.draw(st.integers(0, k - 1))
    if data.draw(st.booleans()) and k > 1:
        other = data.draw(st.integers(0, k - 1).filter(lambda i: i != place))
        wrong[place], wrong[other] = wrong[other], wrong[place]
    else:
        wrong[place] = data.draw(st.integers(-1, n).filter(lambda i: i != right[place]))
    assert not certify(scores, np.array(wrong), ids=ids)


def test_of_all_verdicts_on_a_row_one_holds_and_the_others_name_their_condition() -> None:
    for row in itertools.product((0.0, 1.0, 2.0), repeat=4):
        found = certificate.verdicts(np.array(row), 2)
        assert len(found) == 12
        assert [list(chosen) for chosen, verdict in found.items() if verdict == "holds"] == [contract(row, 2)]
        assert set(found.values()) <= {"holds", "order", "above", "tied"}
