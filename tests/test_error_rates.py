"""A table that counts clusters errs as rarely as it says; one that counts their queries does not, and that is seen."""

import pytest

from rankwork.decision.error_rates import error_rates
from rankwork.errors import ContractError


def test_queries_counted_one_by_one_make_verdicts_of_chance() -> None:
    found = error_rates([8] * 30, simulations=100)
    assert found.by_query > 0.3
    assert found.by_cluster < 0.15
    assert str(found).endswith("of 100 comparisons")


def test_clusters_may_differ_in_size() -> None:
    found = error_rates([1] * 20 + [20] * 2, simulations=50)
    assert found.by_query > found.by_cluster


def test_a_seed_fixes_the_rates() -> None:
    assert error_rates([3] * 12, simulations=30, seed=2) == error_rates([3] * 12, simulations=30, seed=2)


@pytest.mark.parametrize(
    ("sizes", "options", "message"),
    [
        ([], {}, "each cluster holds at least one query, got sizes"),
        ([3, 0], {}, r"got sizes \[3, 0\]"),
        ([3], {"spread": -1.0}, r"a spread is a number of at least 0, got -1\.0"),
        ([3], {"spread": float("nan")}, "got nan"),
        ([3], {"simulations": 0}, "simulations must be at least 1, got 0"),
    ],
)
def test_a_design_that_cannot_be_simulated_is_refused(
    sizes: list[int], options: dict[str, float], message: str
) -> None:
    with pytest.raises(ContractError, match=message):
        error_rates(sizes, **options)  # type: ignore[arg-type]
