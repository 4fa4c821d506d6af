"""A vocabulary of text that stays in Arrow's memory until somebody wants it as Python objects.

The IDs of a large run are a million strings of which a measure needs few; they are looked up and taken where they lie.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankwork.rankings import text_array


class ArrowText:
    """Unique text IDs in an Arrow array, with as much of an object array's ways as rankings use.

    >>> import pyarrow as pa
    >>> ids = ArrowText(pa.array(["b", "a", "c"]))
    >>> ids[np.array([2, 0])].tolist(), len(ids), ids.codes_of(np.array(["a", "x"], object)).tolist()
    (['c', 'b'], 3, [1, -1])
    """

    dtype = np.dtype(object)

    def __init__(self, values: Any) -> None:
        self._values = values

    def __len__(self) -> int:
        return len(self._values)

    def __getitem__(self, places: Any) -> NDArray[Any]:
        import pyarrow as pa

        wanted = np.ascontiguousarray(places, np.int64)
        at = pa.Array.from_buffers(pa.int64(), len(wanted), [None, pa.py_buffer(wanted)])  # pa.array imports pandas
        return text_array(self._values.take(at).to_pylist())

    def tolist(self) -> list[str]:
        """All IDs as Python text."""
        return list(self._values.to_pylist())

    def codes_of(self, documents: Any) -> NDArray[np.int64]:
        """The place of each of some unique IDs, -1 for those that are not here; int64[len(documents)]."""
        import pyarrow as pa
        from pyarrow import compute

        wanted = documents._values if isinstance(documents, ArrowText) else pa.array(documents.tolist(), pa.string())
        of_ours = compute.index_in(self._values, value_set=wanted)
        codes = np.full(len(documents), -1, np.int64)
        codes[numbers_of(of_ours.drop_null())] = np.flatnonzero(numbers_of(of_ours.is_valid().cast(pa.uint8())))
        return codes


def numbers_of(array: Any) -> NDArray[Any]:
    """An Arrow array of numbers without nulls as a numpy array, where it lies; its own way would import pandas."""
    found: NDArray[Any] = np.from_dlpack(array)
    return found
