"""Recorded answers of engines, and whether the installed ones still give them.

A new release that breaks ties in another way is to be noticed, not averaged away: `check` asks again and says so.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

import numpy as np

from rankwork.engines.base import Request, Scores
from rankwork.engines.machine import cpu_instructions, package_version
from rankwork.engines.registry import engine
from rankwork.errors import InputError

_FILE = Path(__file__).with_name("deviations.yaml")
_REQUIRED = {"engine", "title", "k", "right", "versions", "reason", "source"}
_OUTCOMES = {"seen", "raises", "varies"}
_OPTIONAL = {"dtype", "cpu", "threads", "scores", "levels"}

Status = Literal["as recorded", "changed", "varies", "another CPU", "not here"]


@dataclass(frozen=True)
class Deviation:
    """One recorded answer; the fields are those of deviations.yaml."""

    engine: str
    title: str
    scores: Scores
    k: int
    right: list[int] | None
    versions: Mapping[str, str]
    reason: str
    source: str
    seen: list[int] | None = None
    raises: str | None = None
    varies: bool = False
    cpu: list[str] | None = None
    threads: int | None = None

    @property
    def recorded(self) -> list[int] | str | None:
        """The recorded positions, or the name of the recorded error."""
        return self.raises or self.seen


@dataclass(frozen=True)
class Finding:
    """What came of asking again: the status, whether the installed versions are the recorded ones, and a sentence."""

    status: Status
    same_versions: bool
    text: str


@cache
def load() -> tuple[Deviation, ...]:
    """The entries of deviations.yaml, in its order."""
    import yaml

    return tuple(parse(entry, place) for place, entry in enumerate(yaml.safe_load(_FILE.read_text()), start=1))


def parse(entry: Mapping[str, Any], place: int) -> Deviation:
    """One entry as a Deviation. InputError for a field that is missing, unknown, or one too many."""
    where = f"deviations.yaml, entry {place} ({entry.get('title', 'without title')})"
    if missing := _REQUIRED - set(entry):
        raise InputError(f"{where} lacks {', '.join(sorted(missing))}")
    if unknown := set(entry) - _REQUIRED - _OUTCOMES - _OPTIONAL:
        raise InputError(f"{where} has unknown fields {', '.join(sorted(unknown))}")
    for choice in (_OUTCOMES, {"scores", "levels"}):
        if len(choice & set(entry)) != 1:
            raise InputError(f"{where} must have exactly one of {', '.join(sorted(choice))}")
    fields = {name: value for name, value in entry.items() if name not in {"scores", "levels", "dtype", "versions"}}
    versions = {name: str(version) for name, version in entry["versions"].items()}
    return Deviation(**fields, scores=_row(entry), versions=versions)


def _row(entry: Mapping[str, Any]) -> Scores:
    dtype = entry.get("dtype", "float32")
    if "scores" in entry:
        return np.array(entry["scores"], dtype=dtype)
    levels = entry["levels"]
    drawn: Scores = np.random.default_rng(levels["seed"]).integers(0, levels["levels"], levels["n"])
    return drawn.astype(dtype)


def check(deviation: Deviation) -> Finding:
    """Ask the installed engine again and compare with what was recorded."""
    available = engine(deviation.engine).available()
    if not available:
        return Finding("not here", False, f"{deviation.engine}: {available.note}")
    installed = {name: package_version(name) for name in deviation.versions}
    same = all(_matches(version, installed[name]) for name, version in deviation.versions.items())
    status, text = _compare(deviation)
    return Finding(
        status,
        same,
        f"{deviation.engine} {_spelled(installed)}, {deviation.title}: {text}{_advice(status, same, deviation)}",
    )


def _compare(deviation: Deviation) -> tuple[Status, str]:
    if deviation.cpu is not None and sorted(deviation.cpu) != cpu_instructions():
        return "another CPU", f"recorded with {deviation.cpu}, here {cpu_instructions()}"
    if deviation.varies:
        return "varies", "recorded as varying, not asserted"
    answer = _ask(deviation)
    if answer == deviation.recorded:
        return "as recorded", str(answer)
    return "changed", f"answers {answer}, recorded was {deviation.recorded}"


def _ask(deviation: Deviation) -> list[int] | str:
    """The positions, or the name of the error. The adapter is called without its guards: an error may be the record."""
    scores = deviation.scores
    request = Request(scores, deviation.k, np.arange(len(scores)), scores.dtype.name, threads=deviation.threads)
    try:
        return [int(position) for position in np.asarray(engine(deviation.engine).answer(request))]
    except Exception as error:
        return type(error).__name__


def _advice(status: Status, same: bool, deviation: Deviation) -> str:
    if same:
        return (
            "; the versions are the recorded ones, so the build or the machine differs" if status == "changed" else ""
        )
    recorded = f"recorded in {_spelled(deviation.versions)}"
    if status == "changed":
        return f"; {recorded}: the release changed its behaviour, record it in deviations.yaml"
    return f"; {recorded}"


def _matches(recorded: str, installed: str | None) -> bool:
    """Whether the installed version is the recorded one, as far as that was written.

    >>> _matches("3.11", "3.11.7"), _matches("2.1", "2.13.0")
    (True, False)
    """
    wanted = recorded.split(".")
    return (installed or "").split(".")[: len(wanted)] == wanted


def _spelled(versions: Mapping[str, str | None]) -> str:
    return ", ".join(f"{name} {version}" for name, version in versions.items())
