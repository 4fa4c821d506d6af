"""The whole's top k from its parts: shards and chunks in any order of arrival, streams in little memory."""

from collections.abc import Iterable
from typing import Any, Self

import numpy as np

from rankwork.contract.lemma import taken
from rankwork.contract.reference import checked_ids, checked_k
from rankwork.contract.topk import TopK, topk
from rankwork.errors import ContractError


def merge(parts: Iterable[TopK], k: int) -> TopK:
    """The top k of a whole from the selections of its shards or chunks, whatever the order in which they arrive.

    Each part holds values and, as its indices, positions in the whole (`TopK.shifted`) or IDs (`TopK.named`), all
    text or all integers; parts hold min(k, its items) items or more, in any order. Rows of a batch are merged each on
    their own. ContractError: fewer than k items in all, one position or ID twice, parts of different dtypes, scores
    not finite.

    >>> left, right = np.array([3.0, 1.0]), np.array([3.0, 2.0])
    >>> merge([topk(right, 2).shifted(2), topk(left, 2)], 2)
    TopK(values=array([3., 3.]), indices=array([0, 2]))
    """
    parts = list(parts)
    if not parts:
        raise ContractError("merge needs at least one selection, got none")
    values, indices = _joined([part.values for part in parts]), _joined([part.indices for part in parts])
    if tuple(values.shape) != tuple(indices.shape):
        raise ContractError(
            f"values and indices must pair up, got shapes {tuple(values.shape)} and {tuple(indices.shape)}"
        )
    k = checked_k(k, values.shape[-1])
    by_id = np.argsort(indices, axis=-1) if isinstance(indices, np.ndarray) else indices.argsort(dim=-1)
    indices = _taken(indices, by_id)
    _refuse_repeated(indices)
    best = topk(_taken(values, by_id), k)
    return TopK(best.values, _taken(indices, best.indices))


def _taken(array: Any, positions: Any) -> Any:
    """The items at the positions of each row."""
    return np.take_along_axis(array, positions, -1) if isinstance(array, np.ndarray) else taken(array, positions)


def _joined(arrays: list[Any]) -> Any:
    """Arrays joined on the last axis; of one library and, text apart, of one dtype."""
    if hasattr(arrays[0], "detach"):
        import torch

        if all(isinstance(array, torch.Tensor) for array in arrays):
            _refuse_mixture({str(array.dtype) for array in arrays})
            return torch.cat(arrays, dim=-1)
    if any(hasattr(array, "detach") for array in arrays):
        raise ContractError("parts must all be numpy arrays or all be torch tensors, got both")
    arrays = [_without_objects(np.asarray(array)) for array in arrays]
    _refuse_mixture({"text" if array.dtype.kind == "O" else str(array.dtype) for array in arrays})
    return np.concatenate(arrays, axis=-1)


def _without_objects(array: Any) -> Any:
    """Text as an array of Python strings, integers as integers; other objects are refused."""
    if array.dtype.kind not in "OU":
        return array
    ids = checked_ids(array.ravel().tolist())
    kind = object if ids and isinstance(ids[0], str) else np.int64
    return np.array(ids, kind).reshape(array.shape)


def _refuse_mixture(dtypes: set[str]) -> None:
    if len(dtypes) > 1:
        raise ContractError(f"parts must agree in dtype, got {' and '.join(sorted(dtypes))}")


def _refuse_repeated(indices: Any) -> None:
    """Raise for an ID that two parts claim; `indices` rise in each row."""
    same = indices[..., 1:] == indices[..., :-1]
    if bool(same.any()):
        twice = indices[..., 1:][same][0]
        raise ContractError(f"each item must come from one part, got {twice.item()!r} from two")


class Stream:
    """The top k of scores that come in chunks: holds k items and the chunk at hand.

    Chunks are arrays or tensors of one dtype with the scores on the last axis (a batch keeps its other axes). Positions
    count on from the first chunk; a chunk that comes out of turn says where it begins: `add(chunk, start=...)`.

    >>> stream = Stream(2)
    >>> for chunk in np.array([1.0, 5.0]), np.array([5.0, 3.0]):
    ...     stream.add(chunk)
    >>> stream.result().indices
    array([1, 2])
    """

    def __init__(self, k: int) -> None:
        self.k = checked_k(k, 2**63)
        self._held: TopK | None = None
        self._seen = 0

    def add(self, chunk: Any, *, start: int | None = None) -> None:
        """Take a chunk in; `start` is the position of its first score in the whole."""
        n = chunk.shape[-1]
        found = topk(chunk, min(self.k, n)).shifted(self._seen if start is None else start)
        self._seen = (self._seen if start is None else start) + n
        if self._held is not None:
            found = merge([self._held, found], min(self.k, self._held.values.shape[-1] + min(self.k, n)))
        self._held = found

    def result(self) -> TopK:
        """The top k of all chunks; ContractError while there were fewer than k scores."""
        held = 0 if self._held is None else self._held.values.shape[-1]
        if self._held is None or held < self.k:
            raise ContractError(f"k must be between 0 and {held}, the scores seen, got {self.k}")
        return self._held

    @classmethod
    def of(cls, scores: Any, k: int, *, chunk: int = 1 << 20) -> Self:
        """A stream that has read `scores`, an array (memory-mapped, too), `chunk` at a time.

        >>> Stream.of(np.arange(10), 2, chunk=3).result().indices
        array([9, 8])
        """
        stream = cls(k)
        for start in range(0, max(scores.shape[-1], 1), chunk):
            stream.add(scores[..., start : start + chunk])
        return stream
