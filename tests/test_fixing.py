"""A fixed run is ordered by the contract whatever an evaluator does with ties."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankwork.errors import ContractError
from rankwork.measures.fixing import fixed
from rankwork.rankings import Rankings

RUNS = st.dictionaries(
    st.sampled_from(["q1", "q2"]),
    st.dictionaries(st.sampled_from("aBbcé"), st.sampled_from([0.0, 1e-12, 1.0, 1.00000001])),
    min_size=1,
)


@given(RUNS, st.sampled_from(["id_asc", "id_desc", "input"]))
def test_every_order_of_the_fixed_run_is_the_order_it_was_fixed_in(
    run: dict[str, dict[str, float]], order: str
) -> None:
    """By ID ascending, descending, rank or arrival, in float64, float32 or float16: there is nothing left to decide."""
    rankings = Rankings.from_dicts(run)
    expected = rankings.codes[rankings.order(order)].tolist()
    result = fixed(rankings, order=order)
    for dtype in (np.int64, np.float64, np.float32, np.float16):
        for policy in ("id_asc", "id_desc", "rank", "input"):
            narrow = result.cast(dtype)
            assert narrow.codes[narrow.order(policy)].tolist() == expected


@given(RUNS)
def test_an_order_that_was_strict_never_changes(run: dict[str, dict[str, float]]) -> None:
    result = fixed(Rankings.from_dicts(run))
    for query, inner in run.items():
        after = dict(result.rows(query))
        assert all(after[a] > after[b] for a in inner for b in inner if inner[a] > inner[b])


def test_scores_and_ranks_count_down_and_up() -> None:
    result = fixed(Rankings.from_dicts({"q": {"b": 5.0, "a": 5.0}, "p": {"x": -1.0}}))
    assert (result.rows("q"), result.rows("p")) == ([("a", 2), ("b", 1)], [("x", 1)])
    assert result.ranks is not None
    assert result.ranks.tolist() == [1, 2, 1]


def test_a_list_that_float32_cannot_count_is_refused() -> None:
    size = 2**24 + 1
    run = Rankings(("q",), np.array([0, size]), np.array(["a"], object), np.zeros(size, np.int64), np.zeros(size))
    with pytest.raises(ContractError, match="at most 16777216 documents to be fixed, got 16777217"):
        fixed(run)


def test_inclusive_is_no_order() -> None:
    with pytest.raises(ContractError, match="order must be one of id_asc, id_desc, rank, input"):
        fixed(Rankings.from_dicts({"q": {"a": 1.0}}), order="inclusive")
