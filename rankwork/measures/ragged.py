"""Rows of different lengths, worked on as matrices: those of similar length together, in blocks of bounded size."""

from collections.abc import Iterator

import numpy as np

from rankwork.rankings import Ints

_CELLS = 2**20  # of one block; a matrix of float64 of this size is 8 MiB


def blocks(lengths: Ints) -> Iterator[tuple[Ints, Ints]]:
    """Rows of positive length with the columns 0, 1, ... that hold the longest of them, a block at a time.

    Rows of one block differ in length by less than a factor of two, so at most half of its cells are padding.

    >>> [(rows.tolist(), columns.tolist()) for rows, columns in blocks(np.array([3, 0, 1, 2]))]
    [([2], [0]), ([0, 3], [0, 1, 2])]
    """
    sizes = np.frexp(lengths.astype(np.float64))[1]
    for size in np.unique(sizes[lengths > 0]).tolist():
        rows = np.flatnonzero((sizes == size) & (lengths > 0))
        width = int(lengths[rows].max())
        step = max(_CELLS // width, 1)
        for start in range(0, len(rows), step):
            yield rows[start : start + step], np.arange(width)
