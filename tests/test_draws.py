"""A drawn order is one that the scores allow; a seed repeats it, for the same arrival."""

from fractions import Fraction

import pytest

from rankwork.contract.checks import SIX, SIX_RELEVANT
from rankwork.contract.draws import shuffled_recall
from rankwork.contract.ties import recall_distribution
from rankwork.errors import ContractError


def test_draws_are_the_recalls_that_the_scores_allow_in_about_their_shares() -> None:
    exact = recall_distribution(SIX, SIX_RELEVANT, 3)
    drawn = [shuffled_recall(SIX, SIX_RELEVANT, 3, seed=seed) for seed in range(600)]
    assert set(drawn) == set(exact)
    assert all(abs(drawn.count(recall) / 600 - share) < Fraction(1, 10) for recall, share in exact.items())


def test_a_seed_repeats_a_draw_while_the_rows_arrive_alike() -> None:
    again = [shuffled_recall(SIX, SIX_RELEVANT, 3, seed=seed) for seed in range(20)]
    assert again == [shuffled_recall(SIX, SIX_RELEVANT, 3, seed=seed) for seed in range(20)]
    assert again != [shuffled_recall(SIX[::-1], SIX_RELEVANT, 3, seed=seed) for seed in range(20)]


def test_without_a_relevant_document_nothing_is_drawn() -> None:
    with pytest.raises(ContractError, match="there is no relevant document"):
        shuffled_recall(SIX, [], 3, seed=1)
