"""Quantiles and shares: their limits against exact binomial sums and against draws."""

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rankwork.decision.chances import chances, looked, with_few_values
from rankwork.decision.quantiles import (
    bounded_from,
    budget,
    exact,
    limits,
    minimum,
    name,
    quantile,
    quantile_difference,
    quantiles,
)
from rankwork.decision.shares import share, share_difference
from rankwork.errors import ContractError, InputError

levels = st.sampled_from([0.1, 0.25, 0.5, 0.9, 0.95, 0.99])


def at_most(count: int, n: int, share: Fraction) -> Fraction:
    """The oracle: the exact probability of at most `count` events in n trials."""
    return sum((comb(n, k) * share**k * (1 - share) ** (n - k) for k in range(count + 1)), Fraction(0))


@example(n=1, level=0.95, confidence=0.9)  # the chance is .05 exactly, and floats say a little more
@given(n=st.integers(1, 40), level=levels, confidence=st.sampled_from([0.8, 0.9, 0.95]))
def test_limits_are_the_closest_ranks_whose_exact_error_is_allowed(n: int, level: float, confidence: float) -> None:
    tail, q = Fraction(repr(1 - confidence)) / 2, exact(level)
    low, high = limits(n, level, confidence)
    lows = [rank for rank in range(1, n + 1) if float(at_most(rank - 1, n, q)) <= float(tail) + 1e-12]
    highs = [rank for rank in range(1, n + 1) if float(1 - at_most(rank - 1, n, q)) <= float(tail) + 1e-12]
    assert (low, high) == (max(lows, default=None), min(highs, default=None))


def test_limits_cover_the_true_quantile_as_often_as_they_say() -> None:
    """Uniform draws, whose quantiles are known; and rolled dice, whose values repeat."""
    generator = np.random.default_rng(3)
    for drawn, truth in ((generator.random((2000, 80)), 0.9), (1.0 + generator.integers(0, 6, (2000, 80)), 6)):
        covered = 0
        for values in drawn.tolist():
            found = quantile(values, 0.9)
            assert found.low is not None
            covered += found.low <= truth and (found.high is None or truth <= found.high)
        assert covered / 2000 >= 0.95 - 0.015


@given(values=st.lists(st.floats(-1e6, 1e6), min_size=20, max_size=60), level=st.sampled_from([0.1, 0.5, 0.95]))
def test_a_quantile_is_an_observed_value_with_the_right_share_below(values: list[float], level: float) -> None:
    found = quantile(values, level)
    assert found.value in values
    assert sum(value <= found.value for value in values) >= exact(level) * len(values)
    assert sum(value < found.value for value in values) < exact(level) * len(values)
    assert found.value == np.quantile(values, float(level), method="inverted_cdf")
    assert found.low is None or found.low <= found.value
    assert found.high is None or found.value <= found.high


@given(values=st.lists(st.floats(0, 1e6), max_size=80), stopped=st.integers(0, 80), level=levels)
def test_stopped_requests_count_as_longer_than_all_that_ended(values: list[float], stopped: int, level: float) -> None:
    found, padded = quantile(values, level, stopped=stopped), quantile([*values, *[1e9] * stopped], level)
    for one, other in ((found.value, padded.value), (found.low, padded.low), (found.high, padded.high)):
        assert one == (None if other == 1e9 else other)


def test_no_p99_from_fewer_than_a_hundred_values() -> None:
    assert quantile([1.0] * 99, 0.99).value is None
    assert quantile([1.0] * 99, 0.99).reason == "it takes 100 values, and there are 99"
    assert quantile([1.0] * 100, 0.99).value == 1.0
    assert [minimum(level) for level in (0.5, 0.95, 0.99, 0.01)] == [2, 20, 100, 100]
    assert quantile([], 0.5).reason == "it takes 2 values, and there are 0"


@given(level=st.sampled_from([0.5, 0.9, 0.95]), above=st.integers(0, 4))
def test_a_budget_takes_the_first_n_that_shows_it(level: float, above: int) -> None:
    values = [1.0] * 200 + [9.0] * above
    found, tail = budget(values, level, 5.0).needed, 1 - exact(level)
    assert at_most(above, found, tail) <= Fraction(5, 100) < at_most(above, found - 1, tail)


def test_the_numbers_of_values_that_a_budget_needs() -> None:
    slow = ([1.0, *[9.0] * count] for count in range(3))
    assert [(budget(v, 0.99, 5.0).needed, budget(v, 0.95, 5.0).needed) for v in slow] == [
        (299, 59), (473, 93), (628, 124)
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("values", "stopped", "verdict"),
    [
        ([1.0] * 298, 0, "refused"),
        ([1.0] * 299, 0, "within"),
        ([1.0] * 471 + [9.0], 0, "undecided"),
        ([1.0] * 472 + [9.0], 0, "within"),
        ([1.0] * 472, 1, "within"),
        ([1.0] * 627, 2, "within"),
        ([1.0] * 626, 2, "within"),
        ([1.0] * 625, 2, "undecided"),
        ([1.0] * 290, 10, "exceeded"),
    ],
)
def test_a_budget_is_kept_broken_open_or_refused(values: list[float], stopped: int, verdict: str) -> None:
    assert budget(values, 0.99, 5.0, stopped=stopped).verdict == verdict


def test_a_budget_holds_at_its_limit_and_says_what_it_takes() -> None:
    assert budget([5.0] * 299, 0.99, 5.0).verdict == "within"
    assert str(budget([9.0, *[1.0] * 300], 0.99, 5.0)) == "P99 <= 5: undecided (1 of 301 above 5; it takes 473)"


@given(of=st.integers(1, 40), data=st.data(), confidence=st.sampled_from([0.9, 0.95]))
def test_the_limits_of_a_share_leave_the_exact_tails(of: int, data: st.DataObject, confidence: float) -> None:
    count = data.draw(st.integers(0, of))
    found, tail = share(count, of, confidence=confidence), (1 - confidence) / 2
    assert found.low is not None
    assert found.high is not None
    above = 1 - float(at_most(count - 1, of, Fraction(found.low))) if count else 0.0
    assert above == pytest.approx(tail if count else 0.0, abs=1e-9)
    assert float(at_most(count, of, Fraction(found.high))) == pytest.approx(tail if count < of else 1.0, abs=1e-9)


def test_no_event_tells_n_and_what_it_rules_out() -> None:
    assert str(share(0, 300)) == "0 of 300, at most 0.99%"
    assert share(0, 3000).upper == pytest.approx(1 - 0.05 ** (1 / 3000))
    assert share(0, 0, unknown=3).value is None


def test_two_shares_without_an_event_still_leave_room_for_a_difference() -> None:
    found = share_difference(share(0, 50), share(0, 50))
    assert found.low is not None
    assert found.high is not None
    assert (found.low < 0, found.value, found.high > 0) == (True, 0, True)
    assert not found.clear
    assert share_difference(share(0, 0), share(1, 2)).reason == "a share is unknown"


def test_a_difference_of_quantiles_covers_the_truth() -> None:
    generator = np.random.default_rng(5)
    covered = 0
    for _ in range(400):
        found = quantile_difference(generator.random(150), generator.random(150) + 0.2, 0.5)
        assert found.low is not None
        assert found.high is not None
        covered += found.low <= 0.2 <= found.high
    assert covered / 400 >= 0.95


def test_a_quantile_that_one_window_cannot_tell_has_no_difference() -> None:
    found = quantile_difference([1.0] * 200, [2.0] * 50, 0.99)
    assert (found.value, found.reason, found.clear) == (None, "it takes 100 values, and there are 50", False)


@pytest.mark.parametrize("level", [0.0, 1.0, 1.5, True, 1, float("nan")])
def test_a_level_outside_is_refused(level: float) -> None:
    with pytest.raises(ContractError, match="level must be between 0 and 1, got"):
        quantile([1.0], level)


def test_what_is_no_confidence_or_no_count_is_refused() -> None:
    with pytest.raises(ContractError, match=r"confidence must be between 0 and 1, got 95"):
        quantiles([1.0], confidence=95)
    for stopped in (-1, 0.5, True):
        with pytest.raises(ContractError, match="stopped must be a count, got"):
            quantile([1.0] * 9, 0.5, stopped=stopped)  # type: ignore[arg-type]
    with pytest.raises(ContractError, match="5 events in 3 units"):
        share(5, 3)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_latency_that_is_not_finite_is_refused(value: float) -> None:
    with pytest.raises(InputError, match="which is not finite"):
        quantile([1.0, value], 0.5)


def test_names_of_levels() -> None:
    assert [name(level) for level in (0.5, 0.95, 0.999)] == ["P50", "P95", "P99.9"]


@pytest.mark.parametrize(("n", "level"), [(20, 0.95), (100, 0.95), (100, 0.99), (150, 0.98)])
def test_chances_at_the_limit_are_exact(n: int, level: float) -> None:
    """Counted over every number of values above the true quantile, by the verdict itself."""
    tail, found = 1 - exact(level), chances(n, level)
    each = [at_most(above, n, tail) - (at_most(above - 1, n, tail) if above else 0) for above in range(n + 1)]
    windows = [[1.0] * (n - above) + [9.0] * above for above in range(n + 1)]
    kept = [quantile(values, level).value == 1.0 for values in windows]
    shown = [budget(values, level, 5.0).verdict == "within" for values in windows]
    assert found.observed == pytest.approx(float(sum(p for p, holds in zip(each, kept, strict=True) if holds)))
    assert found.shown == pytest.approx(float(sum(p for p, holds in zip(each, shown, strict=True) if holds)))


def test_chances_need_the_values_that_tell_the_quantile() -> None:
    with pytest.raises(ContractError, match="it takes 100 values to tell this quantile, got 99"):
        chances(99, 0.99)


@pytest.mark.parametrize(("level", "confidence"), [(0.5, 0.95), (0.9, 0.8), (0.95, 0.95), (0.99, 0.9)])
def test_the_upper_limit_begins_where_it_is_said_to(level: float, confidence: float) -> None:
    first = bounded_from(level, confidence)
    assert limits(first, level, confidence)[1] is not None
    assert quantile(range(first), level, confidence=confidence).high is not None
    assert quantile(range(first - 1), level, confidence=confidence).high is None


@pytest.mark.parametrize(("n", "level"), [(100, 0.99), (299, 0.99), (473, 0.99), (60, 0.95)])
def test_the_number_that_is_allowed_is_the_last_with_which_a_budget_is_kept(n: int, level: float) -> None:
    allowed = chances(n, level).allowed
    verdicts = [budget([1.0] * (n - above) + [9.0] * above, level, 5.0).verdict for above in range(4)]
    assert [verdict == "within" for verdict in verdicts] == [
        allowed is not None and above <= allowed for above in range(4)
    ]


@pytest.mark.parametrize(("level", "confidence"), [(0.99, 0.95), (0.95, 0.99), (0.95, 0.8), (0.5, 0.8)])
def test_few_values_are_the_fewest(level: float, confidence: float) -> None:
    found = with_few_values(level, most=3, confidence=confidence)
    assert found[0].n == minimum(level)
    for each in found[1:]:
        assert each.allowed is not None
        before = chances(each.n - 1, level, confidence=confidence).allowed
        assert before == (each.allowed - 1 if each.allowed else None)


@pytest.mark.parametrize(("n", "level"), [(100, 0.99), (120, 0.95), (40, 0.5)])
def test_drawn_windows_agree_with_the_exact_chance(n: int, level: float) -> None:
    found = looked(n, level, looks=2000, seed=3, confidence=0.9999)
    assert found.of == 2000
    assert (found.low or 0.0) <= chances(n, level).observed <= (found.high or 1.0)


def test_windows_that_tell_nothing_are_not_drawn() -> None:
    with pytest.raises(ContractError, match="looks must be at least 1, got 0"):
        looked(100, 0.99, looks=0, seed=1)
    with pytest.raises(ContractError, match="it takes 100 values to tell this quantile, got 99"):
        looked(99, 0.99, looks=10, seed=1)
