"""The block lemma: the top k lies in the first k blocks, and in no fewer."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankwork.contract.lemma import surviving
from rankwork.contract.reference import rank


@given(st.lists(st.integers(0, 4), min_size=1, max_size=40), st.data())
def test_the_top_k_survives_whatever_ties(scores: list[int], data: st.DataObject) -> None:
    k = data.draw(st.integers(1, len(scores)))
    size = data.draw(st.integers(1, len(scores)))
    left = surviving(np.array(scores), k, size).tolist()
    assert set(rank(list(enumerate(scores)), k)) <= set(left)
    assert left == sorted(set(left))
    assert len(left) <= k * size


@pytest.mark.parametrize("k", [2, 3])
def test_fewer_than_k_blocks_do_not_suffice(k: int) -> None:
    """Among all rows of six scores out of 0 and 1, some lose a member."""
    rows = [np.array(row) for row in product(range(2), repeat=6)]
    lost = [row for row in rows if not set(rank(list(enumerate(row.tolist())), k)) <= set(surviving(row, k - 1, 2))]
    assert lost


def test_both_zeros_are_one_score() -> None:
    assert surviving(np.array([-0.0, -1.0, 0.0, -1.0]), 1, 2).tolist() == [0, 1]
