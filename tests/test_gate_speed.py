"""What the gate's time is measured on is a gate: as many queries, slices and resamples as were asked for."""

import pytest

from rankwork.decision.speed import measure_gate


@pytest.mark.parametrize("ties", [False, True])
def test_both_are_timed_in_one_run(ties: bool) -> None:
    found = measure_gate(queries=60, slices=3, resamples=1000, repeats=1, ties=ties)
    assert (found.queries, found.slices, found.resamples, found.repeats) == (60, 3, 1000, 1)
    assert found.gate_s > 0
    assert found.scipy_s > 0
    assert found.ratio == found.gate_s / found.scipy_s
