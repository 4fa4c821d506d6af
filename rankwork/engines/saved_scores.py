"""The scores of the experiments: made once, kept as exact bits, and read back, never recomputed.

A score that is computed twice may differ twice, and then nothing can be said about ties. So every arm of an experiment,
and every machine that repeats it, starts from these bytes.
"""

import base64
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankwork.digest import digest_bytes
from rankwork.engines.base import Scores
from rankwork.errors import InputError

SIX = "six documents"
ZEROS = "signed zeros"
LEVELS = "10,000 documents, 5 levels"
NORMAL = "10,000 documents, normal"
TIMES_LARGE = 100
LARGE = f"{LEVELS}, repeated {TIMES_LARGE} times"


@dataclass(frozen=True)
class SavedScores:
    """One input of the experiments: a row of scores and the k that it is asked for."""

    scores: Scores
    k: int

    def __post_init__(self) -> None:
        self.scores.flags.writeable = False

    def to_dict(self) -> dict[str, Any]:
        """Dtype, n, k, the SHA-256 of the bytes, and the bytes themselves (little-endian, deflated, base64).

        >>> saved = SavedScores(np.array([2.0, 1.0], dtype=np.float32), k=1)
        >>> SavedScores.from_dict(saved.to_dict()).scores.tolist()
        [2.0, 1.0]
        """
        data = self.scores.astype(self.scores.dtype.newbyteorder("<")).tobytes()
        return {
            "dtype": self.scores.dtype.name,
            "n": len(self.scores),
            "k": self.k,
            "sha256": digest_bytes(data),
            "bits": base64.b64encode(zlib.compress(data, 9)).decode(),
        }

    @staticmethod
    def from_dict(saved: dict[str, Any]) -> "SavedScores":
        """The scores of `to_dict`. InputError if the bytes are not those that the digest names."""
        data = zlib.decompress(base64.b64decode(saved["bits"]))
        if digest_bytes(data) != saved["sha256"]:
            raise InputError(f"saved scores have digest {digest_bytes(data)}, expected {saved['sha256']}")
        little_endian = np.dtype(saved["dtype"]).newbyteorder("<")
        return SavedScores(np.frombuffer(data, little_endian).astype(saved["dtype"]), int(saved["k"]))


# The inputs by name: those of `make`, and the large one that `with_large` derives from them.
Book = Mapping[str, SavedScores]


def with_large(book: Book) -> Book:
    """The inputs, and the levels a hundred times over: large enough for several threads, and the same bits again."""
    levels = book[LEVELS]
    return {**book, LARGE: SavedScores(np.tile(levels.scores, TIMES_LARGE), levels.k)}


def make(seed: int) -> Book:
    """The inputs of the experiments: the six documents, zeros of both signs, five levels, and hardly any ties.

    >>> make(seed=0)["six documents"].scores.tolist()
    [9.0, 8.0, 8.0, 8.0, 7.0, 6.0]
    """
    random = np.random.default_rng(seed)
    rows = {
        SIX: ([9, 8, 8, 8, 7, 6], 3),
        ZEROS: ([-0.0, 0.0, -0.0, 0.0, -0.0, 0.0], 3),
        LEVELS: (random.integers(0, 5, 10_000), 50),
        NORMAL: (random.standard_normal(10_000), 50),
    }
    return {name: SavedScores(np.array(values, dtype=np.float32), k) for name, (values, k) in rows.items()}
