"""Every engine is timed for one question; what is not timed says why. No test asserts a time."""

import pytest

from rankwork.engines import engine_times as times
from rankwork.engines.registry import engine


def test_the_engines_that_ran_come_first_and_the_others_say_why() -> None:
    found = times.engine_times(["heapq.nlargest of", "sqlite ORDER BY with"], n=10_001, k=3, seconds=0)
    assert [record["engine"] for record in found] == ["heapq.nlargest of pairs", "sqlite ORDER BY with ID"]
    assert found[0]["seconds"] > 0
    assert (found[1]["seconds"], found[1]["note"]) == (None, "takes seconds beyond n = 10,000")


def test_an_engine_that_is_not_here_has_no_time() -> None:
    item = engine("torch.topk on CUDA")
    if item.available():
        pytest.skip("there is a CUDA device")
    (found,) = times.engine_times(["torch.topk on CUDA"], n=100, k=3)
    assert (found["seconds"], found["note"]) == (None, item.available().note)


def test_what_an_engine_raises_is_its_note() -> None:
    """Here for a k that no row has; in earnest it is an engine that can't take these scores."""
    found = times.time_engine("torch.topk", 10, 11, 0)
    assert "seconds" not in found
    assert found["note"].startswith("RuntimeError: ")


def test_a_process_that_does_not_end_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(times, "_PROGRAM", "import time; time.sleep(60)")
    (found,) = times.engine_times(["heapq.nlargest of"], n=100, k=3, timeout=0.2)
    assert (found["seconds"], found["note"]) == (None, "no answer within 0.2 s")


def test_a_process_that_dies_tells_its_last_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(times, "_PROGRAM", "raise SystemExit('no memory left in /opt/somewhere/data')")
    (found,) = times.engine_times(["heapq.nlargest of"], n=100, k=3)
    assert found["note"] == "the process ended with code 1: no memory left in PATH"


def test_our_own_engine_is_asked_with_an_order_made_before() -> None:
    assert times.time_engine("rankwork.topk", 1000, 3, 0)["seconds"] > 0
