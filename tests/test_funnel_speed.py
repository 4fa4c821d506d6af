"""The measured file is a run like any other: what the funnel makes of it can be counted. No time is asserted."""

from pathlib import Path

from rankwork.diagnosis.funnel import funnel
from rankwork.diagnosis.funnel_speed import drawn_cases, measure_funnel, write_drawn
from rankwork.inputs.traces import read_traces


def test_the_measured_run_is_whole(tmp_path: Path) -> None:
    """All traces are valid, all gold is diagnosed, and what the file gives is what its objects give."""
    found = measure_funnel(30, 10, folder=tmp_path)
    assert (found.traces, found.stages, found.items) == (30, 4, 10)
    assert found.gold >= 59  # the two documents of a case can be the same
    assert min(found.read_s, found.funnel_s, found.ratio, found.cpu_ratio, found.file_mib) > 0
    assert list(tmp_path.iterdir()) == []
    write_drawn(tmp_path / "t.parquet", 30, 10, 1)
    cases, traces = drawn_cases(30, 1), list(read_traces(tmp_path / "t.parquet"))
    assert all(len(trace.stages) == 4 and {stage.returned for stage in trace.stages} == {10} for trace in traces)
    assert funnel(cases, traces).to_json() == funnel(cases, tmp_path / "t.parquet").to_json()
