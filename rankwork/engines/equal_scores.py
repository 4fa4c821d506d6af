"""Who wins where nothing but the place of a document can decide: n equal scores, and one slot."""

import numpy as np

from rankwork.engines.registry import engine


def winners(name: str, most: int = 130) -> list[int]:
    """The position to which an engine gives the one slot among n equal scores, for n from 1 to `most`.

    >>> winners("numpy.argsort stable", 5), winners("numpy.argsort stable reversed", 5)
    ([0, 0, 0, 0, 0], [0, 1, 2, 3, 4])
    """
    asked = engine(name)
    return [int(asked.select(np.zeros(n, dtype=np.float32), 1)[0]) for n in range(1, most + 1)]
