"""The selection by the block lemma, in plain numpy and plain torch on any device: what serves without compiled kernels.

Cut the positions into blocks of neighbours and order the blocks by (maximum descending, index ascending). Every
selected item lies in the first k blocks: an item of a later block loses to the leftmost maximum of each of those k,
by score or by position. So k blocks go back into the order of positions, and a stable sort of k times B items
finishes.
"""

from math import isqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray


def block_size(n: int, k: int) -> int:
    """About the square root of 4n/k, from 64 to 1024: what balances reading the maxima against sorting k blocks.

    >>> block_size(1_000_000, 10)
    632
    """
    return min(1024, max(64, isqrt(4 * n // max(k, 1))))


# --------------------------------------------------------------------------- numpy


def descending(scores: NDArray[Any]) -> NDArray[Any]:
    """Integers that rise as the scores fall; both zeros get the same one. No integer passes through a float.

    >>> descending(np.array([0.5, -0.0, 0.0])).argsort(kind="stable")
    array([0, 1, 2])
    """
    if scores.dtype.kind in "iu":
        return ~scores
    bits: NDArray[Any] = (scores + scores.dtype.type(0)).view(f"i{scores.dtype.itemsize}")
    keys: NDArray[Any] = ~(bits ^ ((bits >> (8 * bits.itemsize - 1)) & np.iinfo(bits.dtype).max))
    return keys


def numpy_indices(scores: NDArray[Any], k: int) -> NDArray[np.int64]:
    """The positions of the contract's top k of each row of a 2-D array of finite scores."""
    rows = np.empty((scores.shape[0], k), np.int64)
    for row, target in zip(scores, rows, strict=True):
        target[:] = _row_indices(row, k)
    return rows


def _row_indices(row: NDArray[Any], k: int) -> NDArray[np.int64]:
    size = block_size(row.size, k)
    if row.size < 2 * k * size:
        return np.argsort(descending(row), kind="stable")[:k]
    positions = surviving(row, k, size)
    return positions[np.argsort(descending(row[positions]), kind="stable")[:k]]


def surviving(row: NDArray[Any], k: int, size: int) -> NDArray[np.int64]:
    """The positions in the first k blocks of `size` neighbours, rising: among them is the row's top k.

    >>> surviving(np.array([1, 3, 0, 3, 2, 1, 0]), 2, 2)
    array([0, 1, 2, 3])
    """
    starts = np.arange(0, row.size, size)
    maxima = np.maximum.reduceat(row, starts)
    chosen = np.sort(np.argsort(descending(maxima), kind="stable")[:k])
    positions = (starts[chosen, None] + np.arange(size)).ravel()
    return positions[positions < row.size]


# --------------------------------------------------------------------------- torch


def comparable(scores: Any) -> Any:
    """A tensor with the order of `scores` that torch can compare: it knows few operations on wide unsigned integers."""
    import torch

    wider = {torch.uint16: torch.int32, torch.uint32: torch.int64}
    if scores.dtype in wider:
        return scores.to(wider[scores.dtype])
    if scores.dtype == torch.uint64:
        return scores.view(torch.int64) ^ torch.iinfo(torch.int64).min
    return scores


def taken(scores: Any, indices: Any) -> Any:
    """`scores.gather(-1, indices)` for every dtype; wide unsigned integers are gathered as signed ones."""
    import torch

    signed = {torch.uint16: torch.int16, torch.uint32: torch.int32, torch.uint64: torch.int64}.get(scores.dtype)
    if signed is None:
        return scores.gather(-1, indices)
    return scores.view(signed).gather(-1, indices).view(scores.dtype)


def ordered(scores: Any, positions: Any, k: int) -> Any:
    """The first k of `positions` (2-D, rising in each row), by score descending, equal scores in their order.

    Adding 0 makes -0.0 the same as 0.0 where a device sorts bits.
    """
    found = (scores.gather(-1, positions) + 0).sort(dim=-1, descending=True, stable=True).indices[:, :k]
    return positions.gather(-1, found)


def torch_indices(scores: Any, k: int) -> Any:
    """The positions of the contract's top k of each row of a 2-D tensor of finite scores, on the tensor's device."""
    import torch

    n = scores.shape[1]
    size = block_size(n, k)
    if n < 2 * k * size:
        return (scores + 0).sort(dim=-1, descending=True, stable=True).indices[:, :k]
    maxima = block_maxima(scores, size)
    chosen = (maxima + 0).sort(dim=-1, descending=True, stable=True).indices[:, :k].sort(dim=-1).values
    positions = (chosen.unsqueeze(-1) * size + torch.arange(size, device=scores.device)).flatten(1)
    return _finish(scores, positions, k)


def block_maxima(scores: Any, size: int) -> Any:
    """The maximum of each block of `size` neighbours, the last one shorter."""
    import torch

    whole = scores.shape[1] // size
    body = scores[:, : whole * size].unflatten(-1, (whole, size)).amax(-1)
    if whole * size == scores.shape[1]:
        return body
    return torch.cat([body, scores[:, whole * size :].amax(-1, keepdim=True)], dim=-1)


def _finish(scores: Any, positions: Any, k: int) -> Any:
    """Order the candidates; positions behind the end of the row are worth the least score, and stand last."""
    import torch

    beyond = positions >= scores.shape[1]
    info = torch.finfo(scores.dtype) if scores.dtype.is_floating_point else torch.iinfo(scores.dtype)
    values = scores.gather(-1, positions.clamp(max=scores.shape[1] - 1)).masked_fill(beyond, info.min)
    found = (values + 0).sort(dim=-1, descending=True, stable=True).indices[:, :k]
    return positions.gather(-1, found)
