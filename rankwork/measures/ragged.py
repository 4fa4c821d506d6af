"""Rows of different lengths, worked on as matrices: those of similar length together, in blocks of bounded size."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from rankwork.rankings import Ints

_CELLS = 2**20  # of one block; a matrix of float64 of this size is 8 MiB


def blocks(lengths: Ints) -> Iterator[tuple[Ints, Ints]]:
    """Rows of positive length with the columns 0, 1, ... that hold the longest of them, a block at a time.

    Rows of one block differ in length by less than a factor of two, so at most half of its cells are padding.

    >>> [(rows.tolist(), columns.tolist()) for rows, columns in blocks(np.array([3, 0, 1, 2]))]
    [([2], [0]), ([0, 3], [0, 1, 2])]
    """
    sizes = np.frexp(lengths.astype(np.float64))[1]
    for size in np.flatnonzero(np.bincount(sizes[lengths > 0])).tolist():  # np.unique would load numpy.ma
        rows = np.flatnonzero((sizes == size) & (lengths > 0))
        width = int(lengths[rows].max())
        step = max(_CELLS // width, 1)
        for start in range(0, len(rows), step):
            yield rows[start : start + step], np.arange(width)


def sums_by(index: Ints, values: NDArray[np.float64], count: int) -> NDArray[np.float64]:
    """For 0, 1, ... `count` - 1 the sum of the values with that index, added in their order.

    >>> sums_by(np.array([0, 2, 0]), np.array([1.0, 2.0, 3.0]), 3).tolist()
    [4.0, 0.0, 2.0]
    """
    sums: NDArray[np.float64] = np.bincount(index, values, minlength=count).astype(np.float64, copy=False)
    return sums
