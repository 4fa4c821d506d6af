"""One likeness in five types: the exact cosine as floats of three widths, and as what quantised vectors make of it.

Vectors are scaled to length 1 and rounded to multiples of 2**-20. Every product of two such numbers is a multiple of
2**-40 and every sum of them is below 2, so float64 holds each sum exactly: the score does not depend on the order in
which a library or its threads add, and only the last step, into the type, rounds.
"""

from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from rankwork.errors import ContractError

Dtype = Literal["float32", "float16", "bfloat16", "int8", "binary"]
Floats = NDArray[np.float64]
GRID = 2.0**20


def unit(vectors: NDArray[np.floating], noun: str = "vector") -> Floats:
    """Each row at length 1, rounded to multiples of 2**-20; rows on the last axis.

    ContractError, with the row, for a number that is not finite and for a vector of length 0, which has no direction.

    >>> unit(np.array([[3.0, 4.0]])).round(3).tolist()
    [[0.6, 0.8]]
    """
    rows = np.atleast_2d(np.asarray(vectors, np.float64))
    _refuse(np.asarray(~np.isfinite(rows).all(axis=1)), noun, "holds a number that is not finite")
    lengths = np.sqrt((rows * rows).sum(axis=1))
    _refuse(lengths == 0, noun, "has length 0, so it has no direction")
    return np.asarray(np.rint(rows / lengths[:, None] * GRID) / GRID)


def _refuse(wrong: NDArray[np.bool_], noun: str, what: str) -> None:
    if wrong.any():
        raise ContractError(f"{noun} {int(wrong.argmax())} {what}")


def cosine(a: NDArray[np.floating], b: NDArray[np.floating]) -> float:
    """The cosine of the angle between two vectors, to about six decimals.

    ContractError for vectors of different dimensions, of none, of length 0, or with a number that is not finite.

    >>> cosine(np.array([1.0, 0.0]), np.array([1.0, 1.0])) == round(0.5**0.5 * GRID) / GRID
    True
    """
    shapes = np.shape(a), np.shape(b)
    if shapes[0] != shapes[1] or len(shapes[0]) != 1 or not shapes[0][0]:
        raise ContractError(f"two vectors of one dimension are expected, got shapes {shapes[0]} and {shapes[1]}")
    return float(unit(a)[0] @ unit(b)[0])


class Vectors:
    """Unit vectors, and the scores that a query vector has with them in one type.

    `float32`, `float16`, `bfloat16`: the exact sum of products, rounded once (bfloat16 in a float32 array). `int8`:
    each number as an integer of -127 to 127, 127 being the largest of all documents; the score is the sum of products,
    int32. `binary`: one bit a number, whether it is positive; the score is how many bits agree, int32.

    >>> documents = unit(np.array([[1.0, 0.0], [1.0, 1.0], [-1.0, 0.5]]))
    >>> Vectors(documents, "binary").scores(unit(np.array([2.0, 1.0]))[0]).tolist()
    [1, 2, 1]
    """

    def __init__(self, rows: Floats, dtype: Dtype = "float32") -> None:
        if dtype not in get_args(Dtype):
            raise ContractError(f"dtype must be one of {', '.join(get_args(Dtype))}, got {dtype!r}")
        self.dtype: Dtype = dtype
        self._scale = 127 / max(float(np.abs(rows).max(initial=0.0)), 1 / GRID)
        self._rows = self._quantised(rows)

    @property
    def nbytes(self) -> int:
        """The size in bytes as they are held here, which is not what they would take in their type."""
        return self._rows.nbytes

    def scores(self, query: Floats) -> NDArray[np.floating] | NDArray[np.int32]:
        """One score for each vector; ContractError for a query of another dimension."""
        if query.shape != self._rows.shape[1:]:
            raise ContractError(f"the query has dimension {query.shape[0]}, the documents {self._rows.shape[1]}")
        exact = self._rows @ self._quantised(query)
        if self.dtype == "int8":
            return exact.astype(np.int32)
        if self.dtype == "binary":
            return ((exact + len(query)) // 2).astype(np.int32)
        return bfloat16(exact) if self.dtype == "bfloat16" else exact.astype(self.dtype)

    def _quantised(self, rows: Floats) -> Floats:
        if self.dtype == "int8":
            return np.rint(rows * self._scale).clip(-127, 127)
        return np.where(rows > 0, 1.0, -1.0) if self.dtype == "binary" else rows


def bfloat16(values: NDArray[np.floating]) -> NDArray[np.float32]:
    """The nearest bfloat16 of each number, half to even, in a float32 array (numpy has no such type).

    >>> bfloat16(np.array([1.001, 1.005])).tolist()
    [1.0, 1.0078125]
    """
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
    even = (bits >> 16) & 1
    return ((bits + 0x7FFF + even) & 0xFFFF0000).astype(np.uint32).view(np.float32)
