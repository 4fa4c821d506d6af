"""What every engine says of itself, and the one question that it is asked: the positions of the top k.

An engine is observed, never trusted. Its promise is a fact about a text that its maker published, kept apart from what
it does; its answer is checked for shape and range only, because whether it is right is the experiment.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import metadata
from importlib.util import find_spec
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankwork.errors import ContractError, RankworkError

Scores = NDArray[Any]
Positions = NDArray[np.int64]

TieBreak = Literal["lowest position", "lowest ID", "highest position", "none"]


class EngineError(RankworkError, RuntimeError):
    """An engine that is not here, or whose answer is no selection of k positions."""


@dataclass(frozen=True)
class Promise:
    """Three promises that are often taken for one, and where they were read.

    `determinism` is about the same input asked twice, `tie_break` about who wins among equal scores, `ordering` about
    the order in which the winners are returned. "not mentioned" means that the text says nothing either way.
    """

    determinism: Literal["promised", "refused", "not mentioned"]
    tie_break: TieBreak
    ordering: Literal["by score", "any"]
    text: str
    source: str
    version: str

    def to_dict(self) -> dict[str, str]:
        """The promise as plain values, for a report."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


@dataclass(frozen=True)
class Availability:
    """Whether an engine can answer here: its version if it can, else what is missing and how to get it."""

    here: bool
    version: str | None
    note: str = ""

    def __bool__(self) -> bool:
        return self.here


@dataclass(frozen=True)
class Request:
    """One question to an engine: the scores as saved, k, an integer ID for each document, and the conditions.

    `dtype` is the engine's own number format; bfloat16, which numpy lacks, arrives as float32 that it holds exactly.
    """

    scores: Scores
    k: int
    ids: NDArray[np.int64]
    dtype: str
    device: str = "cpu"
    threads: int | None = None


def note(error: Exception) -> str:
    """An error as one short line for a report, without the paths of this machine.

    >>> note(FileNotFoundError("no file /opt/models/model.bin"))
    'FileNotFoundError: no file PATH'
    """
    return without_paths(f"{type(error).__name__}: {error}")


def without_paths(text: str) -> str:
    """At most 300 characters, on one line, with absolute paths blotted out."""
    return re.sub(r"(?:\b[A-Za-z]:)?(?:[/\\][^\s/\\:'\"]+){2,}", "PATH", " ".join(text.split()))[:300]


def _nothing_missing() -> str:
    return ""


def _lacks_no_device(device: str) -> str:
    return ""


@dataclass(frozen=True)
class Engine:
    """One way to select the top k. `answer` does the work; the other fields are facts that the experiments need.

    `modules` must be importable; `missing` says what else keeps it from answering, and `lacks` why one of its `devices`
    cannot be used here. `by_id`: the ID is a key of its ordering. `batches`: it
    takes a row per query on the first axis. `threaded`: its thread count can be set for one call. `restarts` are
    conditions that hold for a whole process, as environment variables. `largest` is the n above which it takes seconds,
    `repeats` how often an experiment asks it the same.
    `version_of` reads a version that no installed package states.
    """

    name: str
    package: str
    promise: Promise
    answer: Callable[[Request], ArrayLike]
    modules: tuple[str, ...]
    install: str
    dtypes: tuple[str, ...] = ("float32", "float64")
    devices: tuple[str, ...] = ("cpu",)
    by_id: bool = False
    batches: bool = False
    threaded: bool = False
    restarts: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    largest: int = 1_000_000
    repeats: int = 15
    missing: Callable[[], str] = _nothing_missing
    lacks: Callable[[str], str] = _lacks_no_device
    version_of: Callable[[], str] | None = None

    @property
    def home(self) -> str:
        """The module that holds the engine."""
        return self.answer.__module__

    def available(self) -> Availability:
        """Whether it can answer on this machine, and in which version; looks, and imports only to find a device."""
        absent = [name for name in self.modules if not _importable(name)]
        if absent:
            return Availability(False, None, f"{' and '.join(absent)} not installed: {self.install}")
        version = self.version_of() if self.version_of else _version(self.package)
        if reason := self.missing():
            return Availability(False, version, f"not run here: {reason}")
        return Availability(True, version)

    def select(
        self,
        scores: Scores,
        k: int,
        *,
        ids: ArrayLike | None = None,
        dtype: str | None = None,
        device: str = "cpu",
        threads: int | None = None,
    ) -> Positions:
        """The k positions that the engine selects, in its order: shape (k,), or (rows, k) for a batch.

        Without `ids` the positions are the IDs. k = 0 selects nothing and asks nobody. Raises ContractError for a
        question that cannot be asked, EngineError for an answer that is no selection, and what the engine raises.
        """
        request = self._request(scores, k, ids, dtype, device, threads)
        if k == 0:
            return np.empty((*request.scores.shape[:-1], 0), dtype=np.int64)
        return _checked(np.asarray(self.answer(request)), request, self.name)

    def _request(
        self, scores: Scores, k: int, ids: ArrayLike | None, dtype: str | None, device: str, threads: int | None
    ) -> Request:
        n = _length(scores, batches=self.batches, name=self.name)
        _check_k(k, n)
        own = dtype or scores.dtype.name
        if own not in self.dtypes:
            raise ContractError(f"{self.name} takes {', '.join(self.dtypes)}, got {own}")
        if device not in self.devices:
            raise ContractError(f"{self.name} runs on {', '.join(self.devices)}, got {device}")
        if threads is not None and not self.threaded:
            raise ContractError(f"the thread count of {self.name} cannot be set for one call, got {threads}")
        documents = np.arange(n) if ids is None else np.asarray(ids)
        if documents.shape != (n,):
            raise ContractError(f"ids must be one for each of the {n} scores, got shape {documents.shape}")
        return Request(scores, k, documents.astype(np.int64), own, device, threads)


def _length(scores: Scores, *, batches: bool, name: str) -> int:
    if not isinstance(scores, np.ndarray) or scores.dtype.kind not in "fiu":
        raise ContractError(f"scores must be a numpy array of numbers, got {type(scores).__name__}")
    if scores.ndim not in ((1, 2) if batches else (1,)):
        raise ContractError(f"{name} takes scores with {'1 or 2 axes' if batches else '1 axis'}, got {scores.ndim}")
    return int(scores.shape[-1])


def _check_k(k: int, n: int) -> None:
    if isinstance(k, bool) or not isinstance(k, int):
        raise ContractError(f"k must be an integer, got {k!r}")
    if not 0 <= k <= n:
        raise ContractError(f"k must be between 0 and {n}, got {k}")


def _checked(answer: Scores, request: Request, name: str) -> Positions:
    """The answer as int64 positions, once its shape, range and uniqueness hold."""
    expected = (*request.scores.shape[:-1], request.k)
    if answer.shape != expected or answer.dtype.kind not in "iu":
        raise EngineError(
            f"{name} answered with {answer.dtype} of shape {answer.shape}, expected positions of shape {expected}"
        )
    n = request.scores.shape[-1]
    if answer.size and (int(answer.min()) < 0 or int(answer.max()) >= n):
        raise EngineError(f"{name} answered with position {_outside(answer, n)}, expected 0 to {n - 1}")
    for row in answer.reshape(-1, request.k):
        if len(np.unique(row)) != request.k:
            raise EngineError(f"{name} answered with a position twice: {row.tolist()[:10]}")
    return answer.astype(np.int64)


def _outside(answer: Scores, n: int) -> int:
    return int(answer[(answer < 0) | (answer >= n)][0])


def _importable(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except (ImportError, ValueError):
        return False


def _version(package: str) -> str | None:
    """The installed version without its local part: 2.13.0, not 2.13.0+cpu."""
    try:
        return metadata.version(package).partition("+")[0]
    except metadata.PackageNotFoundError:
        return None
