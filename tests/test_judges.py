"""Agreement of judges: the libraries' coefficients equal those computed by hand, and undefined is never NaN."""

import json
import os
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankwork.diagnosis.calibration import calibration, kappa_interval, kappas
from rankwork.diagnosis.judges import ONE_VALUE, Agreement, agreement, alpha, confusion, kappa
from rankwork.diagnosis.ratings import Ratings, by_judge, check_comparable, paired
from rankwork.errors import ContractError, InputError
from rankwork.inputs.invented_judges import JUDGE, PEOPLE, SCALE, invented_answers
from rankwork.inputs.verdicts import JudgeKey, Scale, Verdict, read_verdicts, trec_verdicts
from rankwork.statistics import bootstrap_mean

FOUR = Scale((0, 1, 2, 3))
GRADES = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=12)


def rated(grades: Sequence[int | None], model: str = "m", **more: object) -> Ratings:
    verdicts = [
        Verdict.model_validate(
            {"item": str(n), "model": model, **({"failure": "x"} if grade is None else {"value": grade}), **more}
        )
        for n, grade in enumerate(grades)
    ]
    return Ratings.of(verdicts, FOUR)


def compared(first: Sequence[int | None], second: Sequence[int | None]) -> Agreement:
    return agreement(rated(first), rated(second, "people"), across=("model",))


def kappa_by_hand(pairs: list[tuple[int, int]], power: int) -> Fraction | None:
    """1 - seen / chance, in exact fractions; power 0 is unweighted."""

    def cost(a: int, b: int) -> int:
        return int(a != b) if power == 0 else abs(a - b) ** power

    seen = Fraction(sum(cost(a, b) for a, b in pairs))
    chance = Fraction(sum(cost(a, b) for a, _ in pairs for _, b in pairs), len(pairs))
    return 1 - seen / chance if chance else None


def alpha_by_hand(units: list[list[int]]) -> Fraction | None:
    """Krippendorff's ordinal alpha from its definition, in exact fractions."""
    kept = [unit for unit in units if len(unit) > 1]
    values = sorted(value for unit in kept for value in unit)

    def cost(a: int, b: int) -> Fraction:
        low, high = min(a, b), max(a, b)
        between = sum(low <= value <= high for value in values)
        return (between - Fraction(values.count(low) + values.count(high), 2)) ** 2 if low != high else Fraction(0)

    seen = sum((Fraction(sum(cost(a, b) for a in u for b in u), 1) / (len(u) - 1) for u in kept), Fraction(0))
    chance = Fraction(sum(cost(a, b) for a in values for b in values))
    return 1 - seen * (len(values) - 1) / chance if chance else None


@given(GRADES)
def test_kappas_are_those_computed_by_hand(pairs: list[tuple[int, int]]) -> None:
    first, second = np.array([a for a, _ in pairs], np.int64), np.array([b for _, b in pairs], np.int64)
    for power, weights in ((0, None), (1, "linear"), (2, "quadratic")):
        found = kappa(first, second, FOUR, weights=weights)  # type: ignore[arg-type]
        truth = kappa_by_hand(pairs, power) if pairs else None
        assert (found.value is None) == (truth is None)
        if truth is not None:
            assert found.value == pytest.approx(float(truth))
            table = confusion(first, second, 4).astype(float)[None]
            assert kappas(table, weights)[0] == pytest.approx(float(truth))  # type: ignore[arg-type]


@given(st.lists(st.lists(st.one_of(st.none(), st.integers(0, 3)), min_size=3, max_size=3), max_size=8))
def test_alpha_is_that_computed_by_hand(units: list[list[int | None]]) -> None:
    rows = [[unit[judge] for unit in units] for judge in range(3)]
    found = alpha(rows, FOUR)
    truth = alpha_by_hand([[place for place in unit if place is not None] for unit in units])
    assert (found.value is None) == (truth is None)
    if truth is not None:
        assert found.value == pytest.approx(float(truth))


@given(GRADES)
def test_the_confusion_matrix_counts_every_pair_once(pairs: list[tuple[int, int]]) -> None:
    first, second = np.array([a for a, _ in pairs], np.int64), np.array([b for _, b in pairs], np.int64)
    found = confusion(first, second, 4)
    assert [[sum((a, b) == (j, i) for a, b in pairs) for j in range(4)] for i in range(4)] == found.tolist()


def test_rows_are_the_reference_and_columns_the_judge() -> None:
    found = compared([1, 0], [0, 0])
    assert found.matrix == ((1, 1, 0, 0), (0, 0, 0, 0), (0, 0, 0, 0), (0, 0, 0, 0))
    assert found.to_pandas().loc[0, 1] == 1


def test_one_class_data_are_undefined_and_not_nan() -> None:
    """Everybody always says 2: full agreement, of which nothing can be said to be more than chance."""
    found = compared([2, 2, 2], [2, 2, 2])
    assert found.agreed.value == 1
    for coefficient in (found.kappa, found.linear_kappa, found.quadratic_kappa, found.alpha):
        assert (coefficient.value, coefficient.reason) == (None, ONE_VALUE)
    assert "undefined: all verdicts have one value" in str(found)
    json.dumps(found.to_json(), allow_nan=False)


def test_one_constant_judge_agrees_by_chance_alone() -> None:
    assert compared([2, 2, 2, 2], [0, 1, 2, 2]).kappa.value == 0


def test_failed_verdicts_bound_the_agreement() -> None:
    """Half of the verdicts failed and the rest agree: between .5 and 1, whatever the coefficients say of the rest."""
    found = compared([0, 1, None, None], [0, 1, 2, 3])
    assert (found.agreed.min, found.agreed.max, found.agreed.value) == (0.5, 1, None)
    assert (found.items, found.failed, found.kappa.value) == (2, 2, 1)
    nothing = compared([None], [1])
    assert (nothing.agreed.min, nothing.agreed.max, nothing.within_one) == (0, 1, None)
    assert nothing.kappa.reason == "no item has a verdict of both"


def test_items_that_one_judge_alone_was_asked_about_are_left_out_and_counted() -> None:
    found = compared([0, 1, 2], [0, 1])
    assert (found.items, found.alone) == (2, 1)
    elsewhere = Ratings.of([Verdict(item="x", value=1, model="people")], FOUR)
    with pytest.raises(InputError, match="m and people share no item: the first are '0' and 'x'"):
        agreement(rated([0]), elsewhere, across=("model",))


def test_within_one_counts_steps_of_the_scale() -> None:
    assert compared([0, 1, 3], [1, 1, 1]).within_one == pytest.approx(2 / 3)


def test_a_scale_without_an_order_has_no_weighted_kappa() -> None:
    scale = Scale(("no", "yes"), "nominal")
    sides = [
        Ratings.of([Verdict(item=str(n), value=value, model=model) for n, value in enumerate(given)], scale)
        for model, given in (("m", ("no", "yes")), ("people", ("yes", "yes")))
    ]
    found = agreement(*sides, across=("model",))
    assert found.quadratic_kappa.reason == "the scale has no order"
    assert found.within_one is None
    assert found.agreed.value == 0.5


def test_an_interval_scale_gives_alpha_its_numbers() -> None:
    """0, 1 and 10: one step more is nine units more."""
    scale = Scale((0, 1, 10), "interval")
    assert (
        alpha([[0, 1, 2], [0, 1, 1]], scale).value != alpha([[0, 1, 2], [0, 1, 1]], Scale((0, 1, 2), "interval")).value
    )


# ------------------------------------------------------------------------------ what may be compared


def test_a_difference_of_keys_is_refused_unless_it_is_asked_for() -> None:
    old, new = rated([0], version="1"), rated([0], version="2")
    with pytest.raises(ContractError, match=r"differ in version; to compare across it, say so: across=\('version',\)"):
        agreement(new, old)
    assert agreement(new, old, across=("version",)).agreed.value == 1
    with pytest.raises(ContractError, match=r"differ in model, rubric"):
        check_comparable(JudgeKey("m", rubric="a"), JudgeKey("n", rubric="b"), ())
    with pytest.raises(ContractError, match="there is no 'temperature'"):
        agreement(new, old, across=("temperature",))
    other = Ratings.of([Verdict(item="0", value=0, model="m", version="1")], Scale((0, 1)))
    with pytest.raises(ContractError, match="two scales"):
        agreement(new, other, across=("version",))


def test_sets_that_are_not_one_judges_are_refused_by_name() -> None:
    one, again = Verdict(item="a", value=1, model="m"), Verdict(item="a", value=1, model="m", version="2")
    with pytest.raises(InputError, match=r"verdicts of two judges stand together, m and m \(version 2\)"):
        Ratings.of([one, again], FOUR)
    assert list(by_judge([one, again])) == [one.key, again.key]
    with pytest.raises(InputError, match=r"m has two verdicts on item 'a' \(repetition 1\)"):
        Ratings.of([one, one], FOUR)
    with pytest.raises(InputError, match=r"item 'a': 7 of m is off the scale \[0, 1, 2, 3\]"):
        Ratings.of([Verdict(item="a", value=7, model="m")], FOUR)
    with pytest.raises(InputError, match=r"no verdict of repetition 2; the repetitions are \[1\]"):
        Ratings.of([one], FOUR, repetition=2)
    assert Ratings.of([one, one.model_copy(update={"repetition": 2})], FOUR).key == one.key


def test_failed_items_are_named() -> None:
    assert rated([0, None]).failed == ("1",)


def test_rows_of_different_length_are_refused() -> None:
    with pytest.raises(InputError, match="judges have rows of 1, 2 items"):
        alpha([[0], [0, 1]], FOUR)


# ------------------------------------------------------------------------------ beside people

_, ANSWERS = invented_answers(60, seed=0)
MODEL, PERSONS = (Ratings.of(judge.grades(ANSWERS, seed=1), SCALE) for judge in (JUDGE, PEOPLE))


def test_the_planted_weak_slice_is_found() -> None:
    found = calibration(MODEL, PERSONS)
    shares = {each.slice: each.agreement.agreed.among_known or 0 for each in found.slices[1:]}
    assert min(shares, key=lambda name: shares[name]) == "several passages"
    assert [each.slice for each in found.slices] == ["all", "limits", "procedures", "several passages"]


def test_intervals_are_those_of_resampled_clusters() -> None:
    """The agreement's is `bootstrap_mean`'s; kappa's is a percentile of kappas of whole clusters, one by one."""
    pair = paired(MODEL, PERSONS, across=("model", "prompt"))
    found = calibration(MODEL, PERSONS, seed=4, resamples=500).slice("all")
    equal = (pair.places[0] == pair.places[1]).astype(float)
    assert found.agreed_interval == bootstrap_mean(equal, clusters=pair.clusters, resamples=500, seed=4)
    labels = sorted(set(pair.clusters))
    draws = np.random.default_rng(4).multinomial(len(labels), [1 / len(labels)] * len(labels), 500)
    values = []
    for counts in draws:
        take = [n for n, name in enumerate(pair.clusters) for _ in range(counts[labels.index(name)])]
        values.append(kappa(pair.places[0][take], pair.places[1][take], SCALE, weights="quadratic").value)
    interval, undefined = kappa_interval(pair, weights="quadratic", resamples=500, seed=4)
    assert interval == found.kappa_interval
    assert interval is not None
    assert undefined == 0
    assert (interval.low, interval.high) == pytest.approx(tuple(np.quantile(np.array(values, float), [0.025, 0.975])))


def test_clusters_widen_the_interval_where_items_go_wrong_together() -> None:
    """Ten questions of ten items, each all right or all wrong."""
    judged = [Verdict(item=f"{q} {n}", value=q % 2, model="m", cluster=str(q)) for q in range(20) for n in range(10)]
    people = [v.model_copy(update={"model": "people", "value": 1}) for v in judged]
    by_question = calibration(Ratings.of(judged, FOUR), Ratings.of(people, FOUR)).slice("all").agreed_interval
    alone = [v.model_copy(update={"cluster": ""}) for v in (*judged, *people)]
    by_item = calibration(Ratings.of(alone[:200], FOUR), Ratings.of(alone[200:], FOUR)).slice("all").agreed_interval
    assert by_question is not None
    assert by_item is not None
    assert by_question.high - by_question.low > 2 * (by_item.high - by_item.low)


def test_bias_is_the_mean_of_judge_minus_people() -> None:
    found = calibration(rated([1, 2, 3], cluster="q"), rated([0, 2, 2], "people", cluster="q")).slice("all")
    assert found.bias == pytest.approx(2 / 3)
    assert found.reason == "1 clusters of items, fewer than 10: no interval"
    assert (found.agreed_interval, found.kappa_interval, found.bias_interval) == (None, None, None)


def test_kappa_is_undefined_in_resamples_of_one_value_and_they_are_counted() -> None:
    grades = [0] * 11 + [1]
    found = calibration(rated(grades), rated(grades, "people"), resamples=400).slice("all")
    assert found.undefined == pytest.approx(400 * (11 / 12) ** 12, abs=40)
    assert found.kappa_interval is not None
    assert found.kappa_interval.low == 1
    constant = calibration(rated([1] * 12), rated([1] * 12, "people"), resamples=100).slice("all")
    assert (constant.kappa_interval, constant.undefined, constant.reason) == (None, 100, ONE_VALUE)


def test_a_calibration_is_complete_as_json_and_as_a_table() -> None:
    found = calibration(MODEL, PERSONS)
    told = found.to_json()
    assert json.loads(json.dumps(told, allow_nan=False)) == told
    table = found.to_pandas().set_index("slice")
    assert table.loc["all", "kappa"] == found.kappa("all").value
    assert (table["kappa_low"] <= table["kappa"]).all()
    assert "several passages" in str(found)


def test_slices_and_options_that_match_nothing_are_refused() -> None:
    with pytest.raises(ContractError, match="slice 'x' has no item with a verdict of both"):
        calibration(MODEL, PERSONS, slices={"x": ["nowhere"]})
    with pytest.raises(ContractError, match="'all' is the name of all items"):
        calibration(MODEL, PERSONS, slices={"all": []})
    with pytest.raises(ContractError, match="minimum must be an integer of at least 2, got 1"):
        calibration(MODEL, PERSONS, minimum=1)
    with pytest.raises(ContractError, match="there is no 'x'"):
        calibration(MODEL, PERSONS).slice("x")
    with pytest.raises(ContractError, match="weights must be None, 'linear' or 'quadratic', got 'cubic'"):
        calibration(MODEL, PERSONS, weights="cubic")  # type: ignore[arg-type]
    with pytest.raises(ContractError, match="differ in rubric"):
        calibration(rated([0]), rated([0], "people", rubric="r2"))


DATA = os.environ.get("RANKWORK_DATA")


@pytest.mark.skipif(not DATA, reason="RANKWORK_DATA names no folder with the LLMJudge files")
@pytest.mark.parametrize("name", ["Olz-gpt4o", "TREMA-nuggets", "willia-umbrela1"])
def test_real_judges_beside_people(name: str) -> None:
    """4,423 pairs: the matrix and kappa equal those of plain counting, and the interval over questions holds kappa."""
    folder = Path(str(DATA)) / "llmjudge"
    people = Ratings.of(trec_verdicts(folder / "human_test_qrel.txt", model="people"), FOUR)
    judge = Ratings.of(read_verdicts(folder / f"{name}.txt"), FOUR)
    found = calibration(judge, people, weights=None).slice("all")
    pairs = [(judge.place(item) or 0, people.place(item) or 0) for item in people.verdicts]
    assert found.agreement.items == len(pairs) == 4423
    assert found.clusters == 25
    counted = [[sum(pair == (j, i) for pair in pairs) for j in range(4)] for i in range(4)]
    assert [list(row) for row in found.agreement.matrix] == counted
    truth = kappa_by_hand_of_counts(counted)
    assert found.agreement.kappa.value == pytest.approx(float(truth))
    assert found.kappa_interval is not None
    assert found.kappa_interval.low < float(truth) < found.kappa_interval.high


def kappa_by_hand_of_counts(counts: list[list[int]]) -> Fraction:
    total = sum(map(sum, counts))
    seen = Fraction(sum(counts[n][n] for n in range(4)), total)
    chance = Fraction(sum(sum(counts[n]) * sum(row[n] for row in counts) for n in range(4)), total**2)
    return (seen - chance) / (1 - chance)
