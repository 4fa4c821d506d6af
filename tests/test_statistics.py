"""The bootstrap resamples what belongs together, can be had again, and covers as it says."""

import re
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from operator import mul
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankwork import statistics
from rankwork.errors import ContractError
from rankwork.statistics import (
    bootstrap_mean,
    holm,
    mcnemar,
    minimum_values,
    paired,
    paired_columns,
    quantile_interval,
    resampled_means,
    share,
    sign_flip,
)


def test_the_limits_are_those_of_the_exact_distribution_of_the_resampled_mean() -> None:
    """Of n zeros and ones the resampled sum is binomial: the percentile limits are its quantiles."""
    from scipy.stats import binom

    values = [1.0] * 12 + [0.0] * 28
    found = bootstrap_mean(values, resamples=100_000, level=0.9, seed=4)
    exact = binom(40, 0.3).ppf([0.05, 0.95]) / 40
    assert np.allclose((found.low, found.high), exact, atol=1 / 40)
    assert (found.level, found.resamples, found.clusters, found.seed) == (0.9, 100_000, 40, 4)


def test_clusters_are_drawn_whole() -> None:
    """Ten copies of each value are no more evidence than one: the interval is that of the single values."""
    values = np.random.default_rng(0).normal(size=25)
    single = bootstrap_mean(values, seed=2)
    copies = bootstrap_mean(np.repeat(values, 10), clusters=np.repeat(np.arange(25), 10), seed=2)
    naive = bootstrap_mean(np.repeat(values, 10), seed=2)
    assert np.allclose((copies.low, copies.high), (single.low, single.high))
    assert copies.clusters == 25
    assert naive.high - naive.low < 0.5 * (copies.high - copies.low)


def test_clusters_of_different_size_give_the_mean_of_queries() -> None:
    """Sum of sums over sum of sizes, not the mean of cluster means."""
    found = bootstrap_mean([1.0, 1.0, 1.0, 0.0], clusters=["a", "a", "a", "b"], resamples=20_000, level=0.4)
    assert (found.low, found.high) == (0.75, 0.75)


def test_the_interval_covers_the_mean_about_as_often_as_it_says() -> None:
    draw = np.random.default_rng(9)
    found = [bootstrap_mean(draw.normal(size=60), resamples=500, seed=seed) for seed in range(200)]
    assert 0.88 <= np.mean([interval.low <= 0 <= interval.high for interval in found]) <= 0.99


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"values": []}, "at least one, got shape"),
        ({"values": [[1.0]]}, "one number a query"),
        ({"values": [1.0, float("nan")]}, "value nan at position 1 is not finite"),
        ({"values": [1.0], "clusters": [1, 2]}, "there are 1 values and clusters of shape"),
        ({"values": [1.0], "level": 1.0}, "level must be between 0 and 1, got 1.0"),
        ({"values": [1.0], "resamples": 10}, "resamples must be an integer of at least 100, got 10"),
    ],
)
def test_what_cannot_be_resampled_is_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ContractError, match=message):
        bootstrap_mean(**arguments)


def enumerated_p(sums: list[float]) -> float:
    """The two-sided p over all signs, in exact fractions."""
    exact = [Fraction(value) for value in sums]
    observed = abs(sum(exact))
    totals = [abs(sum(map(mul, signs, exact))) for signs in product((1, -1), repeat=len(exact))]
    return float(sum(total >= observed for total in totals) / len(totals))


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(-4, 4).filter(bool), min_size=6, max_size=11))
def test_the_sign_flip_p_is_that_of_all_signs(sums: list[int]) -> None:
    """Equal totals count, also where floats would split them: a third each."""
    found = sign_flip([value / 3 for value in sums], resamples=20_000)
    assert found is not None
    assert found == pytest.approx(enumerated_p([float(value) for value in sums]), abs=0.02)


def test_ties_of_floats_count_as_reaching_the_observed_mean() -> None:
    """0.1 + 0.2 - 0.3 is not 0 in floats: without a tolerance half of the equal totals would not count."""
    sums = [0.1, 0.2, -0.3, 0.1, 0.2, -0.3, 0.3, 0.3]
    assert sign_flip(sums, resamples=20_000) == pytest.approx(
        enumerated_p([round(10 * value) for value in sums]), abs=0.02
    )


def test_no_sign_flip_with_fewer_than_six_clusters_that_differ() -> None:
    assert sign_flip([1.0] * 5 + [0.0] * 100) is None
    assert sign_flip([1.0] * 6 + [0.0] * 100) == pytest.approx(2 / 64, abs=0.01)


def test_p_is_never_zero() -> None:
    assert sign_flip([1.0] * 60, resamples=100) == 1 / 101


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.integers(-3, 3), st.integers(0, 4)), min_size=1, max_size=12))
def test_an_estimate_counts_clusters_as_a_loop_would(rows: list[tuple[int, int]]) -> None:
    values, labels = [value / 7 for value, _ in rows], [label for _, label in rows]
    found = paired(values, clusters=labels, resamples=200)
    exact = {label: sum(Fraction(value) for value, other in rows if other == label) for label in labels}
    assert (found.queries, found.clusters) == (len(rows), len(exact))
    assert found.differ == sum(total != 0 for total in exact.values())
    assert found.degraded == sum(total < 0 for total in exact.values())
    assert found.mean == pytest.approx(float(sum(exact.values())) / 7 / len(rows))
    assert found.lowest == min(*values, 0.0)
    assert found.low95 <= found.low90 <= found.high90 <= found.high95


def test_the_limits_of_an_estimate_are_those_of_the_bootstrap() -> None:
    """One set of resamples for both levels, the very one that `bootstrap_mean` draws."""
    values = np.random.default_rng(3).normal(size=80)
    labels = np.arange(80) // 3
    found = paired(values, clusters=labels, seed=5)
    for level, limits in ((0.95, (found.low95, found.high95)), (0.9, (found.low90, found.high90))):
        interval = bootstrap_mean(values, clusters=labels, level=level, seed=5)
        assert limits == pytest.approx((interval.low, interval.high), abs=1e-15)


def test_columns_that_share_their_draws_get_the_limits_of_each_alone() -> None:
    values = np.random.default_rng(3).normal(size=(3, 50))
    labels = np.arange(50) // 2
    together = paired_columns(list(values), clusters=labels, seed=2)
    assert together == [paired(column, clusters=labels, seed=2) for column in values]
    with pytest.raises(ContractError, match="columns of 50, 49 values: as many each"):
        paired_columns([values[0], values[1, :49]])


def test_the_draws_do_not_depend_on_how_many_are_held_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.random.default_rng(3).normal(size=70)
    held = resampled_means(values, np.ones(70), 500, 3)
    monkeypatch.setattr(statistics, "_DRAWS_AT_ONCE", 2**22)
    assert (resampled_means(values, np.ones(70), 500, 3) == held).all()


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 400), st.data(), st.sampled_from([0.9, 0.95, 0.99]))
def test_a_share_has_the_bounds_of_clopper_and_pearson(units: int, data: st.DataObject, level: float) -> None:
    from scipy.stats import binomtest
    from statsmodels.stats.proportion import proportion_confint

    events = data.draw(st.integers(0, units))
    found = share(events, units, level=level)
    if units == 0:
        assert (found.share, found.low, found.high) == (None, 0.0, 1.0)
        return
    both = binomtest(events, units).proportion_ci(confidence_level=2 * level - 1, method="exact")
    assert (found.low, found.high) == pytest.approx((both.low, both.high), abs=1e-9)
    assert (found.low, found.high) == pytest.approx(
        tuple(map(float, proportion_confint(events, units, alpha=2 * (1 - level), method="beta"))), abs=1e-9
    )


def test_no_event_leaves_a_bound_by_the_number_of_units() -> None:
    """1 - .05^(1/n): near 3/n, and never 0."""
    assert share(0, 300).high == pytest.approx(1 - 0.05 ** (1 / 300))
    assert share(0, 3000).high == pytest.approx(0.001, abs=2e-6)
    assert str(share(2, 100)) == "2 of 100 (0.36% to 6.16%, 95% bounds)"


@pytest.mark.parametrize("quantile", [0.5, 0.9, 0.95, 0.99])
@pytest.mark.parametrize("above", [0, 1, 2, 5])
def test_the_fewest_values_are_the_first_that_suffice(quantile: float, above: int) -> None:
    """By trying one after the other; 299, 473, 628 for a P99, 59, 93, 124 for a P95."""
    first = next(n for n in range(above + 1, 3000) if share(above, n).high <= 1 - quantile)
    assert minimum_values(quantile, above=above) == first


def test_the_fewest_values_of_the_usual_budgets() -> None:
    assert [minimum_values(0.95, above=above) for above in (0, 1, 2)] == [59, 93, 124]


def test_the_limits_of_a_quantile_hold_as_often_as_they_say() -> None:
    """For a distribution that is anything but normal; each limit fails in at most 5 % of the draws."""
    draws = np.random.default_rng(2).exponential(size=(600, 80))
    true = -np.log(1 - 0.9)
    limits = [quantile_interval(draw, 0.9) for draw in draws]
    assert np.mean([low is not None and low > true for low, _ in limits]) <= 0.05 + 0.02
    assert np.mean([high is not None and high < true for _, high in limits]) <= 0.05 + 0.02


def test_mcnemar_is_the_binomial_test_of_what_differs() -> None:
    from scipy.stats import binomtest

    assert mcnemar(3, 11) == pytest.approx(binomtest(3, 14).pvalue)
    assert mcnemar(0, 0) is None


def test_holm_agrees_with_statsmodels() -> None:
    from statsmodels.stats.multitest import multipletests

    p_values = np.random.default_rng(1).random(30) ** 3
    assert holm(p_values.tolist()) == pytest.approx(multipletests(p_values, method="holm")[1].tolist())


@settings(max_examples=40, deadline=None)
@given(st.lists(st.none() | st.floats(0, 1), max_size=8))
def test_holm_multiplies_step_by_step(p_values: list[float | None]) -> None:
    found = holm(p_values)
    known = sorted((p, place) for place, p in enumerate(p_values) if p is not None)
    largest = 0.0
    for step, (p, place) in enumerate(known):
        largest = max(largest, min(1.0, (len(known) - step) * p))
        assert found[place] == pytest.approx(largest)
    assert [p is None for p in found] == [p is None for p in p_values]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: share(-1, 3), "events must be a count, got -1"),
        (lambda: share(1, 2.0), "units must be a count, got 2.0"),  # type: ignore[arg-type]
        (lambda: share(True, 2), "events must be a count, got True"),
        (lambda: share(4, 3), "there are 4 events in 3 units: a unit counts once"),
        (lambda: share(1, 3, level=1.0), "level must be between 0 and 1, got 1.0"),
        (lambda: minimum_values(1.0), "a quantile lies between 0 and 1, got 1.0"),
        (lambda: minimum_values(0.9, above=-1), "above must be a count, got -1"),
        (lambda: quantile_interval([1.0], 0.0), "a quantile lies between 0 and 1, got 0.0"),
        (lambda: mcnemar(-1, 2), "gained must be a count, got -1"),
        (lambda: holm([0.5, 1.5]), "p-values lie between 0 and 1, got 1.5"),
        (lambda: sign_flip([]), "at least one, got shape"),
        (lambda: paired([1.0, float("inf")]), "value inf at position 1 is not finite"),
        (lambda: paired([1.0], clusters=["a", "b"]), "there are 1 values and clusters of shape"),
    ],
)
def test_a_statistic_of_what_is_no_count_or_number_is_refused(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(ContractError, match=re.escape(message)):
        call()
