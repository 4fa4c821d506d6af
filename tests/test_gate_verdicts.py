"""The first row of the table that matches decides; an independent reading of the table agrees with it."""

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import beta

from rankwork.decision.verdicts import judge, verdict
from rankwork.errors import ContractError
from rankwork.statistics import Estimate, paired

ESTIMATE = Estimate(0.0, -0.01, 0.01, -0.005, 0.005, 0.5, 400, 400, 50, 20, -1.0, 10_000, 0)


def by_the_table(found: Estimate, margin: float | None, alpha: float, drop: float | None, p: float | None) -> str:
    """INTERFACES 8, row by row."""
    upper = (
        1.0 if found.degraded == found.clusters else beta(found.degraded + 1, found.clusters - found.degraded).ppf(0.95)
    )
    harmless = margin is not None and drop is not None and upper * drop <= margin
    rows = [
        ("inconclusive", found.differ < 10 and not harmless),
        ("equivalent", margin is not None and found.low90 > -margin and found.high90 < margin),
        ("worse", found.high95 < 0),
        ("better", found.low95 > 0 and p is not None and p <= alpha),
        ("inconclusive", True),
    ]
    return next(word for word, matches in rows if matches)


@st.composite
def estimates(draw: st.DrawFn) -> Estimate:
    low95, low90, mean, high90, high95 = sorted(draw(st.lists(st.integers(-8, 8), min_size=5, max_size=5)))
    clusters = draw(st.sampled_from([5, 40, 400]))
    differ = draw(st.sampled_from([0, 3, 9, 10, 30]).filter(lambda n: n <= clusters))
    degraded = draw(st.integers(0, differ))
    p = draw(st.none() | st.sampled_from([0.001, 0.05, 0.2]))
    lowest = -1.0 if degraded else 0.0
    return Estimate(
        mean / 100, low95 / 100, high95 / 100, low90 / 100, high90 / 100,
        p, clusters, clusters, differ, degraded, lowest, 10_000, 0,
    )  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(
    estimates(),
    st.none() | st.sampled_from([0.01, 0.05, 0.2]),
    st.sampled_from([0.01, 0.05]),
    st.none() | st.sampled_from([1.0, 4.0]),
    st.none() | st.sampled_from([0.04, 0.06]),
)
def test_the_verdict_is_the_first_row_that_matches(
    found: Estimate, margin: float | None, alpha: float, drop: float | None, p: float | None
) -> None:
    result = judge(found, margin=margin, alpha=alpha, largest_drop=drop, p=p)
    assert result.word == by_the_table(found, margin, alpha, drop, found.p if p is None else p)
    assert result.reason


@settings(max_examples=100, deadline=None)
@given(estimates(), st.sampled_from([0.01, 0.05, 0.2]))
def test_non_inferior_is_a_flag_of_its_own_and_needs_data(found: Estimate, margin: float) -> None:
    result = judge(found, margin=margin, alpha=0.05)
    too_few = by_the_table(replace(found, low95=-9, high95=9, low90=-9, high90=9), margin, 0.05, 1.0, None)
    enough = found.differ >= 10 or "fewer than 10" not in result.reason
    assert too_few == "inconclusive"
    assert result.non_inferior == (enough and found.low90 > -margin)
    assert result.passes == result.non_inferior


def test_without_a_margin_nothing_is_equivalent_and_only_better_passes() -> None:
    nothing = judge(ESTIMATE, margin=None, alpha=0.05)
    better = judge(replace(ESTIMATE, low95=0.001, low90=0.002, p=0.001), margin=None, alpha=0.05)
    assert (nothing.word, nothing.non_inferior, nothing.passes) == ("inconclusive", None, False)
    assert (better.word, better.non_inferior, better.passes) == ("better", None, True)
    assert "no margin is declared" in nothing.reason


def test_no_change_at_all_proves_what_its_number_proves() -> None:
    """298 queries leave room for a loss of a hundredth, 299 do not: .05 to the power of 1/299 is above .99."""
    words = {n: verdict(np.zeros(n), margin=0.01, alpha=0.05).word for n in (1, 50, 298, 299, 3000)}
    assert words == {1: "inconclusive", 50: "inconclusive", 298: "inconclusive", 299: "equivalent", 3000: "equivalent"}


def test_queries_of_one_text_count_once_where_nothing_changes() -> None:
    """400 queries of 40 texts are 40 units."""
    labels = np.arange(400) // 10
    assert verdict(np.zeros(400), margin=0.01, alpha=0.05).word == "equivalent"
    assert verdict(np.zeros(400), clusters=labels, margin=0.01, alpha=0.05).word == "inconclusive"


def test_a_measure_without_a_largest_drop_has_no_bound_where_little_changes() -> None:
    found = verdict(np.zeros(3000), margin=0.01, alpha=0.05, largest_drop=None)
    assert found.word == "inconclusive"
    assert "has no bound" in found.reason


def test_equivalent_says_so_if_nought_lies_outside() -> None:
    """A difference can be surely there and surely too small to matter."""
    found = verdict(np.tile([0.004, 0.002], 200), margin=0.01, alpha=0.05)
    assert found.word == "equivalent"
    assert "though not 0" in found.reason


def test_better_needs_the_limits_and_the_adjusted_p() -> None:
    gains = [0.5] * 30 + [-0.1] * 10 + [0.0] * 60
    assert verdict(gains, alpha=0.05).word == "better"
    assert judge(paired(gains), margin=None, alpha=0.05, p=0.06).word == "inconclusive"


def test_every_verdict_can_be_had_again() -> None:
    values = np.random.default_rng(1).normal(0.02, 0.2, 100)
    assert verdict(values, margin=0.05, alpha=0.05, largest_drop=None, seed=4) == verdict(
        values, margin=0.05, alpha=0.05, largest_drop=None, seed=4
    )


def test_a_verdict_that_ties_could_reverse_says_so() -> None:
    gains = np.array([0.3] * 20 + [0.0] * 80)
    proof = verdict(gains, alpha=0.05, margin=0.01, lowest=gains - 0.01, highest=gains + 0.01)
    open_ = verdict(gains, alpha=0.05, margin=0.01, lowest=gains - 0.2, highest=gains + 0.2)
    unknown = verdict(gains, alpha=0.05, margin=0.01)
    assert (proof.word, proof.tie_proof, proof.under_ties) == ("better", True, ("better", "better"))
    assert (open_.word, open_.tie_proof, open_.under_ties) == ("better", False, ("worse", "better"))
    assert "ties alone could make it worse" in open_.reason
    assert unknown.tie_proof is None


def test_a_pass_that_only_one_order_of_ties_grants_is_not_tie_proof() -> None:
    """The word is the same at both ends, yet the candidate is not inferior at one of them only."""
    spread = np.tile([0.3, -0.3], 100)
    found = verdict(spread, alpha=0.05, margin=0.03, lowest=spread - 0.01, highest=spread + 0.005)
    assert found.under_ties == ("inconclusive", "inconclusive")
    assert found.word == "inconclusive"
    assert found.tie_proof is (found.passes is False and not _passes(spread + 0.005))


def _passes(values: Any) -> bool:
    return verdict(values, alpha=0.05, margin=0.03).passes


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"margin": 0.0}, "a margin is greater than 0, got 0.0"),
        ({"margin": float("nan")}, "a margin is greater than 0, got nan"),
        ({"largest_drop": -1.0}, "a largest drop is greater than 0, got -1.0"),
        ({"alpha": 1.0}, "alpha must be between 0 and 1, got 1.0"),
        ({"largest_drop": 0.2}, "a query lost 0.5, more than the largest drop of 0.2"),
        ({"resamples": 5}, "resamples must be an integer of at least 100, got 5"),
    ],
)
def test_a_verdict_that_cannot_be_asked_for_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ContractError, match=re.escape(message)):
        verdict([-0.5, 0.5], **{"alpha": 0.05, **options})
