"""An answer in its three layers, the contract's answer beside it, and counts of both.

Score sequence: the scores in the order returned. Member set: which documents. Full order: which document at which
place. Answers that differ in one of the first two differ in the full order. Answers in score order that differ in the
score sequence differ in the member set as well; an engine that returns its winners in any order can shuffle the scores
of one set.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankwork.engines.base import Positions, Scores

LAYERS = ("score sequence", "member set", "full order")

Layers = Mapping[str, bytes]


def contract(scores: Scores, k: int, ids: NDArray[np.int64] | None = None) -> Positions:
    """The k positions by score descending, then ID ascending; without IDs, by position.

    >>> contract(np.array([1.0, 2.0, 2.0]), 2).tolist()
    [1, 2]
    >>> contract(np.array([1.0, 2.0, 2.0]), 2, ids=np.array([0, 9, 5])).tolist()
    [2, 1]
    """
    keys = (-scores,) if ids is None else (ids, -scores)
    return np.lexsort(keys)[:k]


def layers(scores: Scores, positions: Positions, ids: NDArray[np.int64] | None = None) -> Layers:
    """The three layers as bytes that can be compared; a negative zero counts as zero."""
    documents = positions if ids is None else ids[positions]
    found = (scores[positions] + 0, np.sort(documents), documents)
    return {layer: np.ascontiguousarray(values).tobytes() for layer, values in zip(LAYERS, found, strict=True)}


def agreement(answer: Layers, expected: Layers) -> dict[str, bool]:
    """For each layer, whether two answers are equal in it.

    >>> row = np.array([2.0, 2.0, 1.0])
    >>> agreement(layers(row, np.array([1, 0])), layers(row, np.array([0, 1])))
    {'score sequence': True, 'member set': True, 'full order': False}
    """
    return {layer: answer[layer] == expected[layer] for layer in LAYERS}


def in_words(same: Mapping[str, bool]) -> str:
    """The deepest layer in which two answers agree, in words.

    >>> in_words({"score sequence": True, "member set": True, "full order": False})
    'same members, other order'
    """
    words = ("same order", "same members, other order", "same scores, other members", "other scores")
    return words[3 - sum(same[layer] for layer in LAYERS)]


@dataclass
class Tally:
    """Answers to what should be one question: how many, how many different ones, how many right, layer by layer."""

    answers: int = 0
    _seen: dict[str, set[bytes]] = field(default_factory=lambda: {layer: set() for layer in LAYERS})
    _right: dict[str, int] = field(default_factory=lambda: dict.fromkeys(LAYERS, 0))
    _right_by_position: int = 0
    _digest: Any = field(default_factory=sha256)

    def add(self, answer: Layers, expected: Layers, *, by_position: bool | None = None) -> None:
        """Count one answer against the contract's; `by_position` if it is also judged by where the documents stood."""
        self.answers += 1
        self._digest.update(answer["full order"])
        self._right_by_position += bool(by_position)
        for layer, right in agreement(answer, expected).items():
            self._seen[layer].add(answer[layer])
            self._right[layer] += right

    def to_dict(self) -> dict[str, Any]:
        """Counts for each layer, and the digest of all the answers in their order."""
        return {
            "answers": self.answers,
            "distinct": {layer: len(seen) for layer, seen in self._seen.items()},
            "right": dict(self._right),
            "right by position": self._right_by_position,
            "digest": self._digest.hexdigest(),
        }
