"""What a number format does to scores before anybody selects, and what an engine then returns.

Two questions that are easily taken for one: is the answer that of the scores as they were saved, and is it right for
the scores that the engine saw?
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from rankwork.engines.layers import in_words
from rankwork.engines.registry import engine
from rankwork.engines.saved_scores import SavedScores
from rankwork.engines.settings import cast, outcome, score_changes

FORMATS = ("float64", "float32", "float16", "bfloat16")


def in_formats(name: str, saved: SavedScores, formats: Sequence[str] = FORMATS) -> list[dict[str, Any]]:
    """A row for each format: distinct scores and ties at the cut, and the engine's answer beside two others.

    "beside the saved" compares with the engine's own answer to the scores as saved, "beside the contract" with the
    right answer to the scores that it saw.

    >>> close = SavedScores(np.array([1.0, 1.00390625, 1.0], dtype=np.float32), k=1)
    >>> for row in in_formats("torch.sort stable", close, ["float32", "bfloat16"]):
    ...     print(row["distinct scores"], row["beside the saved"], "/", row["beside the contract"])
    2 same order / same order
    1 same scores, other members / same order
    """
    before = engine(name).select(saved.scores, saved.k)
    return [{"format": dtype, **_in_format(name, saved, before, dtype)} for dtype in formats]


def _in_format(name: str, saved: SavedScores, before: Any, dtype: str) -> dict[str, Any]:
    scores = np.asarray(cast(saved.scores, dtype))
    changes = score_changes(saved.scores, scores, saved.k)
    found = outcome(scores, engine(name).select(scores, saved.k, dtype=dtype), before)
    return {
        "distinct scores": changes["distinct after"],
        "tied at the cut": changes["tied at the cut after"],
        "beside the saved": in_words(found["same"]),
        "beside the contract": in_words(found["right"]),
    }
