"""No score is made of quality, latency and cost: a system is off the front only if another one is better or as good."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankwork.decision.pareto import Axis, Front, Point
from rankwork.errors import ContractError

AXES = (Axis("nDCG@10", "", 1), Axis("P95 latency", "ms", -1))


def point(value: float | None, half: float = 0.0) -> Point:
    return Point(None, None, None) if value is None else Point(value, value - half, value + half)


def front(half: float = 0.0, /, **systems: tuple[float | None, float | None]) -> Front:
    return Front(AXES, {name: (point(a, half), point(b, 100 * half)) for name, (a, b) in systems.items()})


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=6))
def test_the_front_holds_whom_nobody_beats(values: list[tuple[int, int]]) -> None:
    systems = {f"s{place}": (float(a), float(b)) for place, (a, b) in enumerate(values)}
    found = front(**systems)
    beaten = {
        name
        for (name, (a, b)), (c, d) in product(systems.items(), systems.values())
        if c >= a and d <= b and (c, d) != (a, b)
    }
    assert set(found.best) == set(systems) - beaten


def test_better_and_slower_beats_nobody() -> None:
    assert front(old=(0.4, 100.0), new=(0.5, 200.0)).best == ("old", "new")


def test_better_and_faster_is_clear_only_if_the_intervals_lie_apart() -> None:
    apart, close = front(0.01, old=(0.4, 100.0), new=(0.5, 90.0)), front(0.1, old=(0.4, 100.0), new=(0.5, 90.0))
    assert apart.dominates("new", "old")
    assert (apart.clearly("new", "old"), close.clearly("new", "old")) == (True, False)
    assert "old: nDCG@10 0.4 [0.39, 0.41], P95 latency 100 [99, 101] ms: clearly dominated by new" in str(apart)
    assert "dominated by new" in str(close)
    assert "clearly" not in str(close)


def test_what_is_not_known_beats_nobody_and_is_not_beaten() -> None:
    found = front(old=(0.4, 100.0), new=(0.5, None))
    assert found.best == ("old", "new")
    assert "P95 latency unknown ms: on the front" in str(found)


def test_a_system_without_a_point_for_an_axis_is_refused() -> None:
    with pytest.raises(ContractError, match="system 'a' has 1 points for 2 axes"):
        Front(AXES, {"a": (point(1.0),)})
