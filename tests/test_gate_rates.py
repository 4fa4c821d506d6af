"""The table's errors are as rare as it says: simulated where the truth is known, with seeds.

Each rate may differ from the nominal one by three standard errors of the simulation, and by the hundredth that a
percentile bootstrap of so few clusters is known to be off (Efron & Tibshirani 1993, 13.7).
"""

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from rankwork.decision.verdicts import Verdict, verdict
from rankwork.statistics import holm, paired_columns

pytestmark = pytest.mark.slow
TIMES = 600
OFF = 0.01


def found(draw: Callable[[np.random.Generator], Any], times: int = TIMES, **options: Any) -> list[Verdict]:
    generator = np.random.default_rng(20)
    table = {"alpha": 0.05, "largest_drop": None, "resamples": 500, **options}
    return [verdict(draw(generator), seed=seed, **table) for seed in range(times)]


def rates(verdicts: list[Verdict]) -> Counter[str]:
    return Counter({word: n / len(verdicts) for word, n in Counter(each.word for each in verdicts).items()})


def at_most(nominal: float, times: int = TIMES) -> float:
    return nominal + OFF + 3 * float(np.sqrt(nominal * (1 - nominal) / times))


def test_without_a_difference_better_and_worse_are_rare() -> None:
    """Two-sided limits of 95 %: each side fails in 2.5 %."""
    seen = rates(found(lambda g: g.normal(size=60)))
    assert seen["better"] <= at_most(0.025)
    assert seen["worse"] <= at_most(0.025)
    assert seen["better"] + seen["worse"] >= 0.02, "limits that never fail are too wide"


def test_skewed_differences_do_not_make_them_frequent() -> None:
    """Mostly small gains and a few large losses, 0 on average."""
    seen = rates(found(lambda g: 0.1 - 0.1 * g.exponential(size=120)))
    assert seen["better"] <= at_most(0.05)
    assert seen["worse"] <= at_most(0.05)


def test_resampling_by_cluster_keeps_the_rate_and_by_query_loses_it() -> None:
    """Eight queries of one text share most of their difference."""
    labels = np.repeat(np.arange(30), 8)

    def draw(generator: np.random.Generator) -> Any:
        return np.repeat(generator.normal(size=30), 8) + 0.3 * generator.normal(size=240)

    by_cluster, by_query = rates(found(draw, clusters=labels)), rates(found(draw, times=200))
    assert by_cluster["better"] + by_cluster["worse"] <= at_most(0.05) + OFF
    assert by_query["better"] + by_query["worse"] > 0.3


@pytest.mark.parametrize("changed", [0.02, 0.05, 0.1])
def test_few_changes_without_a_difference_are_no_verdict(changed: float) -> None:
    """Of 300 queries some flip from right to wrong, and as many the other way."""

    def draw(generator: np.random.Generator) -> Any:
        return generator.choice([-1.0, 0.0, 1.0], 300, p=[changed / 2, 1 - changed, changed / 2])

    seen = rates(found(draw))
    assert seen["better"] <= at_most(0.025)
    assert seen["worse"] <= at_most(0.025)


def test_a_loss_as_large_as_the_margin_passes_as_rarely_as_it_may() -> None:
    """L90 > -d is a one-sided test at 5 %."""
    verdicts = found(lambda g: g.normal(-0.05, 0.2, 100), margin=0.05)
    passed = np.mean([bool(each.non_inferior) for each in verdicts])
    assert 0.02 <= passed <= at_most(0.05)
    assert rates(verdicts)["equivalent"] <= at_most(0.05)


@pytest.mark.parametrize("queries", [50, 299, 1000])
def test_rare_and_total_losses_pass_as_rarely_as_they_may(queries: int) -> None:
    """One query in a hundred is lost altogether: exactly the margin. Few samples show it, and those pass at most."""

    def draw(generator: np.random.Generator) -> Any:
        return -(generator.random(queries) < 0.01).astype(float)

    passed = np.mean([each.passes for each in found(draw, margin=0.01, largest_drop=1.0)])
    assert passed <= at_most(0.05)


def test_of_ten_claims_without_a_difference_one_is_made_as_rarely_as_it_may() -> None:
    """Holm over the slices, as the gate does it: any claim of "better" needs both the limits and the adjusted p."""
    generator, claimed = np.random.default_rng(7), 0
    for seed in range(200):
        estimates = paired_columns(list(generator.normal(size=(10, 40))), resamples=500, seed=seed)
        adjusted = holm([each.p for each in estimates])
        claimed += any(e.low95 > 0 and p is not None and p <= 0.05 for e, p in zip(estimates, adjusted, strict=True))
    assert claimed / 200 <= at_most(0.05, 200)
