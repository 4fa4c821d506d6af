"""Short text IDs as columns of eight bytes: what is compared most lies side by side, and is never looked for again.

>>> ids = ShortText.of(PackedText.of(["doc1", "a-longer-id", ""]))
>>> ids[np.array([1, 2])].tolist(), ids.lengths.tolist(), len(ids.columns)
(['a-longer-id', ''], [4, 11, 0], 2)
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankwork.inputs.packed_text import WORD, PackedText, chunks, offsets_of
from rankwork.rankings import Ints, text_array

LONGEST = 64  # bytes


@dataclass(frozen=True)
class ShortText:
    """IDs of up to `LONGEST` bytes of UTF-8: `columns[i][row]` are the bytes 8 i to 8 i + 7, 0 behind the end."""

    columns: Sequence[NDArray[np.uint64]]
    lengths: NDArray[np.uint8]

    @classmethod
    def of(cls, texts: PackedText) -> "ShortText":
        """The same IDs in columns. No ID may be longer than `LONGEST`."""
        lengths = texts.lengths
        columns = [texts.words(slice(None), at) for at in range(0, int(lengths.max(initial=0)), WORD)]
        return cls(columns, lengths.astype(np.uint8))

    def __len__(self) -> int:
        return len(self.lengths)

    def __getitem__(self, places: Ints) -> NDArray[Any]:
        return text_array(self.selected(places).tolist())

    def words(self, places: Ints | slice, at: int) -> NDArray[np.uint64]:
        """Eight bytes of the IDs at these places from byte `at` on, a multiple of 8, as little-endian numbers."""
        if at >= WORD * len(self.columns):
            return np.zeros(len(self.lengths[places]), np.uint64)
        return self.columns[at // WORD][places]

    def selected(self, places: Ints) -> PackedText:
        """The IDs at these places, packed."""
        lengths = self.lengths[places]
        offsets = offsets_of(lengths)
        data = np.zeros(int(offsets[-1]) + WORD, np.uint8)
        for part in chunks(len(places)):
            rows = [column[places[part]].astype("<u8", copy=False) for column in self.columns]
            bytes_of = np.stack(rows, axis=1).view(np.uint8) if rows else np.zeros((len(places[part]), 0), np.uint8)
            inside = np.arange(bytes_of.shape[1]) < lengths[part, None]
            data[offsets[part.start] : offsets[part.stop]] = bytes_of[inside]
        return PackedText(data, offsets)
