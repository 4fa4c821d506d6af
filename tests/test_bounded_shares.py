"""Shares with unknown parts: every way of filling them in lies between the bounds, and both bounds are attained."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta

from rankwork.diagnosis.bounded_shares import BoundedShare, MeanShare
from rankwork.diagnosis.rates import Rate
from rankwork.errors import ContractError

Parts = list[tuple[bool | None, float]]
PARTS = st.lists(st.tuples(st.sampled_from([True, False, None]), st.sampled_from([0.0, 0.5, 1.0, 2.0])), max_size=5)


def filled(parts: list[tuple[bool | None, float]]) -> list[float]:
    """The share for every way of filling in what is unknown, each computed from nothing but the definition."""
    total = sum(weight for _, weight in parts)
    ways = product(*([holds] if holds is not None else [True, False] for holds, _ in parts))
    return [sum(w for (_, w), holds in zip(parts, way, strict=True) if holds) / total for way in ways]


@given(PARTS)
def test_the_bounds_are_the_extremes_of_all_ways_to_fill_in_what_is_unknown(
    parts: list[tuple[bool | None, float]],
) -> None:
    share = BoundedShare.of(parts)
    if not sum(weight for _, weight in parts):
        assert (share.value, share.min, share.max, share.coverage) == (None,) * 4
        assert share.reason
        return
    every = filled(parts)
    assert share.min == pytest.approx(min(every))
    assert share.max == pytest.approx(max(every))
    if share.value is not None:
        assert max(every) - min(every) < 1e-12
        assert share.reason is None


def test_half_of_the_verdicts_failed_and_the_rest_are_all_supported() -> None:
    """The share lies between one half and one at a coverage of one half, and is not known: it is not 1."""
    share = BoundedShare(holds=2, fails=0, unknown=2)
    assert (share.min, share.max, share.coverage, share.value) == (0.5, 1.0, 0.5, None)
    assert str(share) == "0.5000 to 1.0000 (known: 50.0%)"
    assert share.to_json()["reason"] == "some labels are missing: see min and max"


@given(st.lists(PARTS, max_size=4))
def test_a_mean_counts_what_is_undefined_and_lies_between_its_bounds(
    answers: list[list[tuple[bool | None, float]]],
) -> None:
    shares = [BoundedShare.of(parts, why="empty") for parts in answers]
    mean = MeanShare.of(shares)
    assert mean.answers + mean.undefined.get("empty", 0) == len(shares)
    defined = [share for share in shares if share.total]
    if not defined:
        assert (mean.value, mean.min, mean.max) == (None,) * 3
        return
    assert mean.min is not None
    assert mean.max is not None
    assert mean.min == pytest.approx(sum(share.min or 0 for share in defined) / len(defined))
    assert mean.min <= mean.max
    assert (mean.value is None) == any(share.value is None for share in defined)


def test_a_mean_of_nothing_says_why() -> None:
    assert str(MeanShare.of([BoundedShare(0, 0, why="no claims")])) == "undefined in 1: no claims"
    assert str(MeanShare.of([])) == "undefined: there are no answers"


@given(st.integers(0, 12), st.integers(0, 12))
def test_the_exact_interval_is_that_of_the_beta_quantiles(events: int, others: int) -> None:
    rate = Rate(events, events + others)
    if not events + others:
        assert (rate.interval, rate.bound, rate.value) == (None, None, None)
        return
    assert rate.interval is not None
    low = beta.ppf(0.025, events, others + 1) if events else 0
    high = beta.ppf(0.975, events + 1, others) if others else 1
    assert rate.interval == pytest.approx((low, high))
    assert rate.bound == pytest.approx(beta.ppf(0.95, events + 1, others) if others else 1)


def test_no_event_prints_the_trials_and_the_bound() -> None:
    """300 trials without an event: at most 1.0 %, and 3,000: .1 %."""
    assert str(Rate(0, 300)) == "none in 300; the 95% upper bound is 0.0099"
    assert str(Rate(0, 3000)) == "none in 3000; the 95% upper bound is 0.0010"
    assert str(Rate(0, 0)) == "no trials"
    assert str(Rate(0, 0, unknown=2)) == "no trials, 2 unknown"


def test_unknown_trials_bound_the_share_and_are_named() -> None:
    rate = Rate(1, 2, unknown=2)
    assert (rate.value, rate.share.min, rate.share.max) == (None, 0.25, 0.75)
    assert "2 unknown" in str(rate)


@pytest.mark.parametrize(("events", "trials", "unknown"), [(2, 1, 0), (-1, 1, 0), (0, 1, -1)])
def test_counts_that_contradict_each_other_are_refused(events: int, trials: int, unknown: int) -> None:
    with pytest.raises(ContractError, match="events must be among the trials"):
        Rate(events, trials, unknown)


@pytest.mark.parametrize("level", [0.5, 1.0, 95])
def test_a_level_that_is_none_is_refused(level: float) -> None:
    with pytest.raises(ContractError, match=r"level must be above \.5 and below 1"):
        Rate(0, 1, level=level)
