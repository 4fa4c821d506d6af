"""Text IDs one behind the other in a single array of bytes: a million strings that need not become Python objects.

Equal IDs are found by a fingerprint of 64 bits and then compared byte by byte, so that an unlucky fingerprint costs
time and never the answer.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from rankwork.rankings import Ints, text_array

WORD = 8  # bytes that are looked at together
_MASKS = np.array([(1 << 8 * length) - 1 for length in range(WORD + 1)], np.uint64)  # keep the first bytes of a word
_ODD = np.uint64(0x9E3779B97F4A7C15)  # near 2^64 over the golden ratio
_CHUNK = 2**16  # rows compared at a time: what a processor's cache holds
_LONG = 64  # bytes; sorting word by word pays below


class PackedText:
    """Text IDs in UTF-8, with as much of an object array's ways as rankings use.

    >>> ids = PackedText.of(["b", "a", "c"])
    >>> ids[np.array([2, 0])].tolist(), len(ids), ids.codes_of(np.array(["a", "x"], object)).tolist()
    (['c', 'b'], 3, [1, -1])
    >>> ids.ascending().tolist()
    [1, 0, 2]
    """

    dtype = np.dtype(object)

    def __init__(self, data: NDArray[np.uint8], offsets: NDArray[Any]) -> None:
        """ID i is the UTF-8 text `data[offsets[i]:offsets[i + 1]]`; 8 bytes of any kind follow the last one."""
        self.data, self.offsets = data, offsets

    @classmethod
    def of(cls, texts: Iterable[str]) -> "PackedText":
        """These texts, packed."""
        encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
        data = np.frombuffer(b"".join((*encoded, bytes(WORD))), np.uint8)
        return cls(data, offsets_of(np.fromiter(map(len, encoded), np.int64, len(encoded))))

    @classmethod
    def joined(cls, parts: Sequence["PackedText"]) -> "PackedText":
        """The IDs of several, one after the other."""
        offsets = offsets_of(np.concatenate([part.lengths for part in parts] or [np.zeros(0, np.int32)]))
        data = np.zeros(int(offsets[-1]) + WORD, np.uint8)
        end = 0
        for part in parts:
            data[end : end + len(part.text)] = part.text
            end += len(part.text)
        return cls(data, offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, places: Any) -> NDArray[Any]:
        ends = self.offsets[1:][places].tolist()
        pieces, text = zip(self.offsets[:-1][places].tolist(), ends, strict=True), self.data.data
        return text_array(_decoded(bytes(text[start:end])) for start, end in pieces)

    def tolist(self) -> list[str]:
        """All IDs as Python text."""
        raw = self.data.tobytes()
        return [_decoded(raw[start:end]) for start, end in pairwise(self.offsets.tolist())]

    def codes_of(self, documents: Any) -> Ints:
        """The place of each of some unique IDs, -1 for those that are not here; int64[len(documents)]."""
        wanted = documents if isinstance(documents, PackedText) else PackedText.of(documents.tolist())
        theirs = wanted.fingerprints()
        candidates = np.flatnonzero(_marked(theirs, self.fingerprints()))
        both = PackedText.joined([self.selected(candidates), wanted])
        found = Coding.of(both, both.fingerprints()).codes[len(candidates) :]
        return np.where(found < len(candidates), np.append(candidates, -1).take(found, mode="clip"), -1)

    def ascending(self, places: Ints | None = None) -> Ints:
        """The permutation that sorts the IDs at these places, or all, by code point: the order of UTF-8 bytes."""
        chosen = np.arange(len(self)) if places is None else places
        lengths = self.lengths[chosen]
        longest = int(lengths.max(initial=0))
        if longest > _LONG:
            texts = self[chosen].tolist()
            return np.array(sorted(range(len(texts)), key=texts.__getitem__), np.int64)
        words = [self.words(chosen, at).byteswap() for at in range(0, longest, WORD)]
        return np.lexsort((lengths, *reversed(words)))

    @property
    def lengths(self) -> NDArray[Any]:
        """The bytes of each ID, int[V]."""
        lengths: NDArray[Any] = self.offsets[1:] - self.offsets[:-1]
        return lengths

    @property
    def text(self) -> NDArray[np.uint8]:
        """The bytes of all IDs, one behind the other."""
        return self.data[self.offsets[0] : self.offsets[-1]]

    def selected(self, places: Ints) -> "PackedText":
        """The IDs at these places, packed."""
        lengths = self.lengths[places]
        offsets = offsets_of(lengths)
        data = np.zeros(int(offsets[-1]) + WORD, np.uint8)
        for part in chunks(len(places)):
            start, stop = offsets[part.start], offsets[part.stop]
            at = np.repeat(self.offsets[:-1][places[part]] - offsets[part], lengths[part])
            data[start:stop] = self.data[at + np.arange(start, stop, dtype=at.dtype)]
        return PackedText(data, offsets)

    def words(self, places: Ints | slice, at: int) -> NDArray[np.uint64]:
        """Eight bytes of the IDs at these places from byte `at` on, as little-endian numbers; 0 behind the end."""
        last = len(self.data) - WORD
        every_byte = np.ndarray(last + 1, "<u8", self.data.data, 0, (1,))
        starts = self.offsets[:-1][places]
        left = self.offsets[1:][places] - starts - at
        words: NDArray[np.uint64] = every_byte[np.minimum(starts + at, last)].astype(np.uint64, copy=False)
        if left.min(initial=WORD) < WORD:
            words &= _MASKS.take(left, mode="clip")
        return words

    def fingerprints(self) -> NDArray[np.uint64]:
        """64 bits for each ID, the same for equal IDs, uint64[V]."""
        prints = [fingerprints(self, part) for part in chunks(len(self))]
        return np.concatenate(prints) if prints else np.zeros(0, np.uint64)


class Texts(Protocol):
    """Text IDs in any form that can be coded."""

    def __len__(self) -> int: ...

    @property
    def lengths(self) -> NDArray[Any]:
        """The bytes of each ID."""

    def words(self, places: Ints | slice, at: int) -> NDArray[np.uint64]:
        """Eight bytes of some IDs from a byte on."""

    def selected(self, places: Ints) -> PackedText:
        """Some IDs, packed."""


def fingerprints(texts: Texts, part: slice) -> NDArray[np.uint64]:
    """64 bits for each ID of a range of rows, the same for equal IDs in any form."""
    lengths = texts.lengths[part]
    prints, at = _mixed(lengths.astype(np.uint64) ^ texts.words(part, 0)), WORD
    while (lengths > at).all() and len(lengths):
        prints = _mixed(prints ^ texts.words(part, at))
        at += WORD
    live = np.flatnonzero(lengths > at)
    while len(live):
        prints[live] = _mixed(prints[live] ^ texts.words(live + part.start, at))
        at += WORD
        live = live[lengths[live] > at]
    return prints


@dataclass(frozen=True)
class Coding:
    """Which rows hold the same text: the unique IDs, in order of first appearance, and each row's code."""

    vocabulary: PackedText
    codes: NDArray[np.int32]

    @classmethod
    def of(cls, texts: Texts, prints: NDArray[np.uint64]) -> "Coding":
        """The coding of texts with their fingerprints, which are overwritten."""
        first = _first_with_print(prints)
        coding = cls._by_first(texts, first)
        unlike = coding._unlike(texts)
        return cls._by_first(texts, _told_apart(texts, first, unlike)) if len(unlike) else coding

    @classmethod
    def _by_first(cls, texts: Texts, first: NDArray[np.int32]) -> "Coding":
        new = first == np.arange(len(first), dtype=np.int32)
        numbers = np.cumsum(new, dtype=np.int32)
        numbers -= 1
        return cls(texts.selected(np.flatnonzero(new)), numbers.take(first))

    def _unlike(self, texts: Texts) -> Ints:
        """The rows whose text is not that of their code."""
        known = self.vocabulary
        lengths, given = known.lengths, texts.lengths
        columns = [known.words(slice(None), at) for at in range(0, min(int(lengths.max(initial=0)), _LONG), WORD)]
        found = []
        for part in chunks(len(texts)):
            codes = self.codes[part]
            same = lengths.take(codes) == given[part]
            for number, column in enumerate(columns):
                same &= column.take(codes) == texts.words(part, number * WORD)
            found.append(np.flatnonzero(~same) + part.start)
        return np.concatenate([*found, self._unlike_behind(texts)])

    def _unlike_behind(self, texts: Texts) -> Ints:
        """The same for what long IDs hold behind their first words."""
        rows = np.flatnonzero(texts.lengths > _LONG)
        pairs = zip(texts.selected(rows).tolist(), self.vocabulary[self.codes[rows]].tolist(), strict=True)
        return rows[[text != known for text, known in pairs]]


def _marked(wanted: NDArray[np.uint64], prints: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Which fingerprints may be among the wanted ones: a table of marks drops nearly all others."""
    bits = min(max((16 * len(wanted)).bit_length(), 10), 26)
    shift = np.uint64(64 - bits)
    marks = np.zeros(1 << bits, bool)
    marks[wanted >> shift] = True
    found: NDArray[np.bool_] = marks[prints >> shift]
    return found


def _first_with_print(prints: NDArray[np.uint64]) -> NDArray[np.int32]:
    """For each row the first one with the same upper bits of its fingerprint.

    The lower bits make room for the row's number, so that a single sort of plain integers does it.
    """
    shift = np.uint64(max(len(prints) - 1, 1).bit_length())
    for part in chunks(len(prints)):
        prints[part] = prints[part] >> shift << shift | np.arange(part.start, part.stop, dtype=np.uint64)
    prints.sort()
    order, opens = np.empty(len(prints), np.int32), np.ones(len(prints), bool)
    low = (np.uint64(1) << shift) - np.uint64(1)
    for part in chunks(len(prints)):
        order[part] = prints[part] & low
        upper = prints[max(part.start - 1, 0) : part.stop] >> shift
        opens[max(part.start, 1) : part.stop] = upper[1:] != upper[:-1]
    starts = np.flatnonzero(opens)
    first = np.empty(len(order), np.int32)
    first[order] = np.repeat(order[starts], np.diff(starts, append=len(order)))
    return first


def _told_apart(texts: Texts, first: NDArray[np.int32], unlike: Ints) -> NDArray[np.int32]:
    """For each row the first one with the same text, where some rows are unlike the first with their fingerprint."""
    rows = np.flatnonzero(np.isin(first, first[unlike]))
    earliest: dict[str, int] = {}
    first = first.copy()
    first[rows] = [
        earliest.setdefault(text, row) for text, row in zip(texts.selected(rows).tolist(), rows.tolist(), strict=True)
    ]
    return first


def chunks(size: int) -> Iterator[slice]:
    """Ranges of rows, one after the other, that a processor's cache holds."""
    return (slice(start, min(start + _CHUNK, size)) for start in range(0, size, _CHUNK))


def offsets_of(lengths: NDArray[Any]) -> NDArray[Any]:
    """Where texts of these lengths begin and end; int32 where that holds them."""
    total = int(lengths.sum(dtype=np.int64))
    offsets = np.zeros(len(lengths) + 1, np.int32 if total < 2**31 else np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets


def _mixed(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The values with their bits spread, in place."""
    for shift in (np.uint64(32), np.uint64(29)):
        values *= _ODD
        values ^= values >> shift
    return values


def _decoded(text: bytes) -> str:
    return text.decode("utf-8", "surrogatepass")
