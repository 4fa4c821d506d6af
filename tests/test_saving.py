"""A notebook that runs is saved whole, and saving takes a small share of the time."""

import itertools
from pathlib import Path

import pytest

from rankwork.evidence import saving
from rankwork.evidence.saving import SCHEME, Sparing, WholeFiles


class Clock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(saving, "time", clock)
    return clock


def test_quick_saves_always_happen(clock: Clock) -> None:
    saved: list[float] = []
    sparing = Sparing(lambda: saved.append(clock.now))
    for _ in range(50):
        sparing()
    assert len(saved) == 50


def test_slow_saves_wait_until_they_are_a_twentieth_of_the_time(clock: Clock) -> None:
    saved: list[float] = []

    def slow() -> None:
        saved.append(clock.now - 100)
        clock.now += 1

    sparing = Sparing(slow)
    for _ in range(100):
        sparing()
        clock.now += 1
    assert saved[0] == 0
    assert len(saved) <= 1 + (clock.now - 100) * saving._SHARE + 1
    assert all(later - earlier >= 15 for earlier, later in itertools.pairwise(saved))


def test_a_reader_finds_the_old_notebook_or_the_new_one(tmp_path: Path) -> None:
    files = WholeFiles(tmp_path)
    files.write("the first", f"{SCHEME}output.ipynb")
    with pytest.raises(UnicodeEncodeError):
        files.write("not text: \ud800", f"{SCHEME}output.ipynb")
    assert (tmp_path / "output.ipynb").read_text() == "the first"
    files.write("the second, é", f"{SCHEME}output.ipynb")
    assert (tmp_path / "output.ipynb").read_text(encoding="utf-8") == "the second, é"
