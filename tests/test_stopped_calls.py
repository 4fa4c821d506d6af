"""Stopped calls: what leaving them out, or taking the limit for them, does to a quantile."""

from hypothesis import given
from hypothesis import strategies as st

from rankwork.decision.quantiles import quantile
from rankwork.decision.stage_figures import Timings
from rankwork.decision.stopped_calls import ways_to_count

LIMIT = 400.0
latencies = st.lists(st.floats(0.1, LIMIT - 1), min_size=20, max_size=60)


@given(latencies, st.integers(0, 20))
def test_left_out_is_never_the_slowest_and_as_longer_than_all_never_the_fastest(
    ended: list[float], stopped: int
) -> None:
    found = ways_to_count(Timings(ended=ended, stopped=stopped), 0.9, LIMIT)
    out, capped, longest = (found[way].value for way in ("left out", "as the limit", "as longer than all"))
    assert out is not None
    assert capped is not None
    assert out <= capped <= LIMIT
    assert longest == (capped if capped < LIMIT else None)
    assert found["as longer than all"] == quantile(ended, 0.9, stopped=stopped)


def test_without_stopped_calls_all_ways_agree() -> None:
    found = ways_to_count(Timings(ended=[float(number) for number in range(100)]), 0.95, LIMIT)
    assert len({str(each) for each in found.values()}) == 1
