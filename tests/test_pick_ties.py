"""Ties of MMR over many queries are those of each query alone."""

import pytest

from rankwork.errors import ContractError
from rankwork.retrieval.fusion import rrf
from rankwork.retrieval.mmr import diversify
from rankwork.retrieval.pick_ties import pick_ties

VECTORS = {"a": [1.0, 0.0], "b": [1.0, 0.0], "c": [0.0, 1.0], "d": [0.5, 0.5]}
LISTS = {
    "swapped": rrf([["a", "b", "c"], ["b", "a", "d"]]),
    "copies later": rrf([["c", "a"], ["c", "b"]]),
    "short": rrf([["d"], ["d"]]),
    "empty": rrf([[], []]),
}


def test_each_pick_counts_the_queries_at_which_it_was_tied() -> None:
    found = pick_ties(LISTS, VECTORS, 3, window=4, balance=0.7)
    alone = [diversify(fused, VECTORS, 3, window=4, balance=0.7) for fused in LISTS.values() if len(fused)]
    assert found.queries == 3
    assert found.by_pick == {place: sum(place in each.tied_picks for each in alone) for place in (1, 2, 3)}
    assert (found.first, found.later) == (1, sum(found.by_pick.values()) - 1)
    assert found.later > 0
    assert found.to_pandas().set_index("pick")["tied queries"].to_dict() == found.by_pick


def test_without_a_document_there_is_no_pick() -> None:
    found = pick_ties({"empty": LISTS["empty"]}, VECTORS, 3)
    assert (found.queries, found.by_pick, found.first, found.later) == (0, {}, 0, 0)


def test_a_document_without_a_vector_is_refused() -> None:
    with pytest.raises(ContractError, match="no vector for document 'd'"):
        pick_ties(LISTS, {name: VECTORS[name] for name in "abc"}, 3)
