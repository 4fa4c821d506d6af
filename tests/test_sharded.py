"""What is selected from shards is the whole's selection only where the shards and their merge keep one order."""

import numpy as np
import pytest

from rankwork.engines import engine
from rankwork.engines.equal_scores import winners
from rankwork.engines.layers import LAYERS
from rankwork.engines.saved_scores import LEVELS, NORMAL, make
from rankwork.engines.sharded import ARRIVALS, merged, merged_and_whole

BOOK = make(seed=0)


@pytest.mark.parametrize("shards", [2, 4, 16])
def test_with_ids_shards_give_the_whole_in_every_arrival_and_without_them_they_depend_on_it(shards: int) -> None:
    rows = merged_and_whole(["numpy.argsort stable", "rankwork.topk"], BOOK[LEVELS], shards)
    assert [(row["engine"], row["arrival"], row["full order"]) for row in rows] == [
        ("numpy.argsort stable", ARRIVALS[0], True),
        ("numpy.argsort stable", ARRIVALS[1], False),
        ("rankwork.topk", ARRIVALS[0], True),
        ("rankwork.topk", ARRIVALS[1], True),
    ]
    assert all(row["score sequence"] for row in rows)


def test_a_row_counts_the_members_that_both_have() -> None:
    stable = engine("numpy.argsort stable")
    saved = BOOK[LEVELS]
    row = merged_and_whole([stable.name], saved, 4)[1]
    mine = set(merged(stable, saved, 4, ARRIVALS[1]).tolist()) & set(stable.select(saved.scores, saved.k).tolist())
    assert row["members in common"] == len(mine)


def test_without_ties_any_engine_merges_to_the_whole() -> None:
    (first, last) = merged_and_whole(["torch.topk"], BOOK[NORMAL], 4)
    assert all(row[layer] for row in (first, last) for layer in LAYERS)


def test_a_part_is_asked_with_the_ids_that_its_documents_have_in_the_whole() -> None:
    found = merged(engine("sqlite ORDER BY with ID"), BOOK[LEVELS], 4, ARRIVALS[1])
    assert np.array_equal(found, engine("rankwork.topk").select(BOOK[LEVELS].scores, BOOK[LEVELS].k))


def test_the_winners_of_equal_scores_are_one_for_each_n() -> None:
    assert winners("numpy.argsort stable", 20) == [0] * 20
    found = winners("torch.topk", 20)
    assert len(found) == 20
    assert all(0 <= position < n for n, position in enumerate(found, 1))
