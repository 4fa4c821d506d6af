"""Answered or refused: the two-by-two, its errors by name, and their exact intervals."""

import json

import pytest

from rankwork.diagnosis.refusals import refusals
from rankwork.errors import ContractError
from rankwork.inputs.answers import answers
from rankwork.trace import Case, Trace


def test_the_shipped_answers_hold_one_error_of_each_kind() -> None:
    found = refusals(*answers())
    assert (found.false_answers, found.false_refusals) == (("false-answer",), ("false-refusal",))
    assert found.table == ((10, 1), (1, 1))
    assert found.false_refusal_rate.value == pytest.approx(1 / 11)
    told = found.to_json()
    assert json.loads(json.dumps(told, allow_nan=False)) == told


def test_a_trace_that_does_not_say_whether_it_refused_bounds_its_own_rate_alone() -> None:
    cases = [Case(id="a", query="?"), Case(id="b", query="?", expected="refuse"), Case(id="c", query="?")]
    traces = [Trace(case="a", refused=True), Trace(case="b", refused=True), Trace(case="c")]
    found = refusals(cases, traces)
    assert (found.false_refusal_rate.value, found.false_refusal_rate.share.min) == (None, 0.5)
    assert found.false_answer_rate.value == 0
    assert "1 in 1, 1 unknown" in str(found)


def test_no_case_of_a_kind_leaves_its_rate_undefined() -> None:
    found = refusals([Case(id="a", query="?")], [Trace(case="a", refused=False)])
    assert (found.false_answer_rate.value, str(found.false_answer_rate)) == (None, "no trials")


def test_a_level_that_is_none_is_refused() -> None:
    with pytest.raises(ContractError, match="level must be above"):
        str(refusals([Case(id="a", query="?")], [Trace(case="a", refused=False)], level=0.3))
