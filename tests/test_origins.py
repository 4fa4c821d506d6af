"""Ties have origins: a narrower type, a rounding, steps that hide them; and other orders make other numbers of them."""

import math
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from rankwork.contract import tolerance
from rankwork.errors import ContractError
from rankwork.inputs.trec import read_run
from rankwork.measures.auditing import audit
from rankwork.measures.origins import (
    as_type,
    audits_by_order,
    by_evaluator,
    by_form,
    by_order,
    forms,
    hidden_steps,
    notes,
    rounded,
    ties_made_by,
)
from rankwork.rankings import Rankings

DATA = os.environ.get("RANKWORK_DATA")
SCORES = st.floats(-1e6, 1e6, allow_nan=False, width=32)


def run_of(*scores: float, dtype: Any = np.float64) -> Rankings:
    documents = [f"d{number}" for number in range(len(scores))]
    return Rankings.from_columns(["q"] * len(scores), documents, np.array(scores, dtype))


@given(st.lists(st.one_of(SCORES, st.integers(-999, 999).map(lambda n: n / 200)), min_size=1), st.integers(0, 6))
def test_rounding_a_run_is_the_declared_rounding_of_its_rows(scores: list[float], digits: int) -> None:
    expected = [float(score) for _, score in tolerance.rounded(list(enumerate(scores)), digits).rows]
    assert rounded(run_of(*scores), digits).scores.tolist() == expected


def test_rounding_goes_half_to_even_on_the_printed_decimal() -> None:
    assert rounded(run_of(2.675, 0.125, 0.375), 2).scores.tolist() == [2.68, 0.12, 0.38]


def test_integers_are_round_already() -> None:
    assert rounded(run_of(3, 2, dtype=np.int64), 1).scores.dtype == np.int64


@pytest.mark.parametrize("digits", [-1, 1.0, True])
def test_digits_that_are_no_count_are_refused(digits: Any) -> None:
    with pytest.raises(ContractError, match="digits must be an integer of at least 0"):
        rounded(run_of(1.0), digits)


@given(st.lists(SCORES, min_size=1))
def test_bfloat16_rounds_as_torch_does(scores: list[float]) -> None:
    expected = torch.tensor(scores, dtype=torch.float32).to(torch.bfloat16).float().tolist()
    assert as_type(run_of(*scores), "bfloat16").scores.tolist() == expected


def test_int8_spreads_each_list_over_256_values() -> None:
    run = Rankings.from_dicts({"p": {"a": 1.0, "b": 0.5, "c": 0.0}, "q": {"a": 7.0}, "r": {}})
    found = as_type(run, "int8").scores
    assert found.dtype == np.int8
    assert found.tolist() == [127, 0, -128, -128]


def test_a_type_that_cannot_hold_the_scores_is_refused_and_so_is_another_name() -> None:
    with pytest.raises(ContractError, match="not finite"):
        as_type(run_of(1e10), "float16")
    with pytest.raises(ContractError, match="the type must be one of float64, float32, float16, bfloat16, int8"):
        as_type(run_of(1.0), "float8")


def test_ties_that_only_float32_makes_are_counted_and_told() -> None:
    run = run_of(1.00000001, 1.0, 0.5)
    assert ties_made_by(run, run.cast("float32")) == 1
    assert "more neighbours tie: 1 (--dtype float32)" in notes(run)[0]
    assert notes(run_of(1.0, 1.0, 0.5)) == []


def test_scores_beyond_float32_are_no_reason_to_stop() -> None:
    assert "more neighbours tie: 1" in notes(run_of(1e300, 1e299, 0.5))[0]


def test_steps_that_hide_ties_are_found_with_the_rounding_that_undoes_them() -> None:
    scores = [round(9 - i // 3 * 0.01 - i % 3 * 1e-6, 6) for i in range(90)]
    found = hidden_steps(run_of(*scores))
    assert found is not None
    assert (found.step, found.digits) == (1e-6, 4)
    assert ties_made_by(run_of(*scores), rounded(run_of(*scores), 4)) == 60


@pytest.mark.parametrize(
    "scores",
    [
        np.sort(np.round(np.random.default_rng(1).random(500), 6))[::-1],
        np.arange(500, 0, -1) * 1e-6,
        np.arange(500, 0, -1.0),
        np.ones(500),
        np.array([1.0]),
    ],
    ids=["random decimals", "every score a step", "ranks", "all tied", "one score"],
)
def test_runs_without_hidden_steps_are_left_in_peace(scores: Any) -> None:
    assert hidden_steps(run_of(*scores.tolist())) is None


def test_forms_are_the_run_its_types_its_steps_undone_and_its_decimals() -> None:
    scores = [round(9 - i // 3 * 0.01 - i % 3 * 1e-6, 6) for i in range(90)]
    found = forms("run", run_of(*scores), types=("bfloat16",), digits=1)
    assert list(found) == ["run", "run (bfloat16)", "run (steps undone)", "run (1 decimals)"]
    assert [len(set(form.scores.tolist())) for form in found.values()] == [90, 6, 30, 4]


def test_the_table_of_forms_counts_the_first_measure_and_has_a_width_for_each() -> None:
    """Two pairs that two decimals tie: one across rank 1, with a relevant document; the other one without."""
    run = Rankings.from_dicts({"q": {"a": 0.121, "b": 0.122}, "r": {"a": 0.121, "b": 0.122}})
    judged = {"q": {"a": 1}, "r": {"a": 1, "b": 1}}
    table = by_form({name: audit(form, judged, ["P@1", "RR"]) for name, form in forms("x", run, types=()).items()})
    assert table.to_numpy().tolist() == [[2, 0, 0, 0, 0], [1, 2, 1, 0.5, 0.25]]


def test_the_width_of_a_mean_that_is_not_known_is_left_open() -> None:
    table = by_form({"x": audit({"q": {"a": 1.0}}, {"q": {}}, "RR")})
    assert math.isnan(table["width of RR"]["x"])
    with pytest.raises(ContractError, match="at least one audit"):
        by_form({})


def test_audits_by_order_have_the_rank_column_where_there_is_one() -> None:
    found = audit({"q": {"b": 1.0, "a": 1.0}}, {"q": {"a": 1}}, "RR")
    assert {name: each.mean("RR").contract for name, each in audits_by_order(found).items()} == {
        "id_asc": 1, "id_desc": 0.5, "input": 0.5,
    }  # fmt: skip


def test_integers_hide_no_steps() -> None:
    assert hidden_steps(run_of(3, 2, 1, dtype=np.int64)) is None


def test_other_orders_are_those_of_an_audit_by_each() -> None:
    run, judged = {"q": {"c": 1.0, "a": 1.0, "b": 1.0}}, {"q": {"a": 1}}
    found = by_order(audit(run, judged, ["RR", "R@3"]))
    assert found == {
        "RR": {"id_asc": 1.0, "id_desc": 1 / 3, "input": 1 / 2},
        "R@3": {"id_asc": 1.0, "id_desc": 1.0, "input": 1.0},
    }


@pytest.mark.skipif(DATA is None, reason="RANKWORK_DATA does not name the folder of real runs")
@pytest.mark.parametrize(
    ("name", "hides"),
    [("round5.r5.qqabs.gz", True), ("round2.ielab-rbp-baseline.gz", False), ("round2.UPrrf16lgbert50-r2.gz", False),
     ("round5.DoRA_NO_Judgments_6k.gz", False)],
)  # fmt: skip
def test_of_the_real_runs_one_hides_its_ties(name: str, hides: bool) -> None:
    found = hidden_steps(read_run(Path(str(DATA)) / "covid" / name))
    assert (found is not None) == hides
    if found is not None:
        assert (found.step, found.digits) == (1e-6, 4)


def test_evaluators_differ_by_order_and_by_the_type_in_which_they_compare() -> None:
    """The relevant document has the lower ID, comes last, and is better by less than float32 holds."""
    run, judged = {"q": {"b": 1.0, "c": 0.5, "a": 1.0 + 1e-9}}, {"q": {"a": 1}}
    found = by_evaluator(audit(run, judged, ["RR", "RR@10", "MRR@10"]))
    assert {name: tuple(values.values()) for name, values in found.items()} == {
        "the contract": (1, 1, 1),
        "trec_eval": (1, 1, 1),
        "pytrec_eval": (0.5, 0.5, 0.5),
        "ir_measures": (0.5, 1, 1),  # RR@10 is the contract's
        "the file": (1, 1, 1),
    }


def test_the_order_of_evaluators_is_what_the_peers_do() -> None:
    """pytrec_eval and ir_measures themselves, on runs with ties in float64 and others that float32 makes."""
    import ir_measures
    import pytrec_eval

    draw = np.random.default_rng(4)
    run = {
        f"q{n}": {
            f"d{i}": float(score) for i, score in enumerate(draw.integers(0, 4, 12) + draw.integers(0, 2, 12) * 1e-9)
        }
        for n in range(30)
    }
    judged = {query: {f"d{i}": int(grade) for i, grade in enumerate(draw.integers(0, 3, 12))} for query in run}
    found = by_evaluator(audit(run, judged, ["nDCG@5", "RR", "RR@5", "P@5"]))
    asked = [ir_measures.parse_measure(name) for name in found["ir_measures"]]
    theirs = ir_measures.calc_aggregate(asked, judged, run)
    assert {str(name): round(value, 9) for name, value in theirs.items()} == {
        name: round(value or 0, 9) for name, value in found["ir_measures"].items()
    }
    scored = pytrec_eval.RelevanceEvaluator(judged, {"ndcg_cut_5", "recip_rank", "P_5"}).evaluate(run)
    for key, name in (("ndcg_cut_5", "nDCG@5"), ("recip_rank", "RR"), ("P_5", "P@5")):
        assert math.isclose(np.mean([each[key] for each in scored.values()]), found["pytrec_eval"][name] or 0)
    assert found["the contract"] != found["pytrec_eval"] != found["trec_eval"]
