"""Diagnoses to check by eye: one a row, ranks looked up in the trace, rows beside rows."""

from dataclasses import replace

import pytest

from rankwork.diagnosis.funnel import funnel
from rankwork.diagnosis.losses import STEPS, Losses
from rankwork.diagnosis.matrix import ROWS
from rankwork.diagnosis.reasons import without_reasons
from rankwork.diagnosis.spot_checks import one_of_each_row, ranks_left_out, rows_beside
from rankwork.diagnosis.toy_trace import toy_trace
from rankwork.errors import InputError
from rankwork.retrieval.digit_images import digit_images
from rankwork.retrieval.pipeline import run
from rankwork.retrieval.settings import Settings

DIGITS = digit_images(queries=24)
TRACES = run(DIGITS, Settings(depth=20, window=10, cut=5, budget=100))
FOUND = list(funnel(DIGITS.cases, TRACES, collection=DIGITS).diagnoses())
CASE, TRACE = toy_trace()
(TOY,) = funnel([CASE], [TRACE]).diagnoses()


def test_every_row_that_holds_has_one_diagnosis_in_the_order_of_the_matrix() -> None:
    chosen = one_of_each_row(iter(FOUND))
    assert [each.row for each in chosen] == [row for row in ROWS if row in {each.row for each in FOUND}]
    for each in chosen:
        ranks = [sum(s.rank is not None for s in other.facts.standings) for other in FOUND if other.row == each.row]
        assert sum(s.rank is not None for s in each.facts.standings) == max(ranks)
    assert one_of_each_row([]) == []


def test_every_sentence_states_the_ranks_that_stand_in_the_trace() -> None:
    assert {ranks_left_out(each, TRACES) for each in FOUND} == {()}


def test_a_rank_that_is_not_in_the_sentence_is_named_with_its_stage() -> None:
    moved = TRACE.stages[1].model_copy(
        update={
            "items": tuple(
                item.model_copy(update={"rank": 13 if item.id == "g" else item.rank}) for item in TRACE.stages[1].items
            )
        }
    )
    wrong = TRACE.model_copy(update={"stages": (TRACE.stages[0], moved, *TRACE.stages[2:])})
    assert ranks_left_out(TOY, [wrong]) == ("retrieve:dense",)


def test_a_rank_is_not_found_inside_another() -> None:
    """The 3rd is not stated where the sentence says 23rd."""
    standings = tuple(each._replace(rank=23) if each.rank == 3 else each for each in TOY.facts.standings)
    facts = replace(TOY.facts, standings=standings)
    assert ranks_left_out(replace(TOY, facts=facts), [TRACE]) == ("retrieve:dense",)


def test_a_diagnosis_without_its_trace_is_refused() -> None:
    with pytest.raises(InputError, match="no trace is of case 'toy'"):
        ranks_left_out(TOY, [])


def test_rows_are_counted_beside_each_other() -> None:
    silent = funnel(DIGITS.cases, map(without_reasons, TRACES), collection=DIGITS)
    table = rows_beside(FOUND, silent.diagnoses())
    assert table["count"].sum() == len(FOUND)
    assert table["count"].is_monotonic_decreasing
    assert list(rows_beside([TOY], [replace(TOY, row="unknown")]).itertuples(index=False, name=None)) == [
        (TOY.row, "unknown", 1)
    ]
    assert list(rows_beside([], []).columns) == ["row", "other", "count"]
    with pytest.raises(InputError, match="1 and 0 diagnoses are not of the same evidence"):
        rows_beside([TOY], [])


def test_the_steps_of_losses_are_those_that_gold_entered() -> None:
    assert Losses().steps == ()
    losses = funnel([CASE], [TRACE]).losses
    assert losses.steps == ("retrieve", "fuse", "rerank")
    assert [step for step in STEPS if losses.entered["all", step]] == list(losses.steps)
