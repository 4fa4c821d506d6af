"""The figure of latencies shows every quantile that is known, its limits, and in words what is not."""

from typing import Any

import numpy as np
import pytest

from rankwork import plots
from rankwork.decision.monitoring import Monitored, monitor
from rankwork.errors import ContractError
from rankwork.plots.canvas import as_png
from rankwork.trace import Stage, Trace


def window(count: int, *, stopped: int = 0) -> Monitored:
    """So many calls of 1, 2, 3, ... ms, the last of them stopped."""
    stages = [
        Stage(kind="retrieve", returned=0, latency_ms=1.0 + n, status="timeout" if n >= count - stopped else "ok")
        for n in range(count)
    ]
    return monitor([Trace(case=str(n), stages=(stage,)) for n, stage in enumerate(stages)])


def texts(axes: Any) -> list[str]:
    return [text.get_text() for text in axes.texts]


def test_every_known_quantile_has_a_mark_at_its_value_and_a_bar_between_its_limits() -> None:
    found = window(1000)
    axes = plots.latencies(found).axes[0]
    lines = [np.atleast_1d(line.get_xdata()).tolist() for line in axes.lines]
    for quantile in found.stage("retrieve").latency:
        assert [quantile.value] in lines
        assert [quantile.low, quantile.high] in lines
    assert texts(axes) == []
    assert [label.get_text() for label in axes.get_yticklabels()] == ["retrieve\n1,000 calls"]


def test_what_the_calls_cannot_tell_is_written_out() -> None:
    assert texts(plots.latencies(window(50)).axes[0]) == ["P99: it takes 100 values, and there are 50"]
    axes = plots.latencies(window(200, stopped=40)).axes[0]
    assert texts(axes) == [f"{name}: it lies among the 40 that were stopped" for name in ("P95", "P99")]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["retrieve\n200 calls, 40 stopped"]


def test_a_missing_upper_limit_is_an_arrow() -> None:
    axes = plots.latencies(window(100)).axes[0]
    assert [line.get_marker() for line in axes.lines].count(">") == 1


def test_the_same_numbers_give_the_same_picture() -> None:
    assert as_png(plots.latencies(window(60))) == as_png(plots.latencies(window(60)))


def test_latencies_that_nobody_measured_are_no_figure() -> None:
    with pytest.raises(ContractError, match="no stage has a latency that can be told"):
        plots.latencies(monitor([Trace(case="q", stages=(Stage(kind="retrieve", returned=0),))]))
