"""A list on its way through the pipeline: IDs, best first, with the scores that ordered them."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rankwork.errors import ContractError


@dataclass(frozen=True)
class Ranked:
    """IDs by (score descending, ID ascending), with their scores."""

    names: list[str]
    scores: list[float]

    def within(self, number: int) -> "Ranked":
        """The first of them."""
        return Ranked(self.names[:number], self.scores[:number])

    def scored(self, scores: NDArray[np.float64]) -> "Ranked":
        """The same IDs by other scores, one for each in its place; ContractError for other numbers of finite scores.

        >>> Ranked(["b", "a"], [2.0, 1.0]).scored(np.array([3.0, 3.0])).names
        ['a', 'b']
        """
        if scores.shape != (len(self.names),) or not np.isfinite(scores).all():
            wanted = f"one finite score for each of {len(self.names)} candidates"
            raise ContractError(f"a reranker must give {wanted}, got {scores.tolist()}")
        rows = sorted(zip(scores.tolist(), self.names, strict=True), key=lambda row: (-row[0], row[1]))
        return Ranked([name for _, name in rows], [score for score, _ in rows])
