"""The fast selection: the contract's top k of numpy arrays and torch tensors, where they lie.

Positions are taken to stand in the order of IDs, so "lowest position" is "lowest ID"; where they do not, `ids` says how
they stand. On a CPU compiled kernels do the work (kernels.py); without numba, and on other devices, the block lemma and
the repair in plain array operations do (lemma.py, accelerator.py), with the same results.
"""

import sys
from functools import cache
from typing import Any, NamedTuple, Self

import numpy as np

from rankwork.contract import lemma
from rankwork.contract.identifiers import IdOrder, as_order
from rankwork.contract.reference import checked_k
from rankwork.errors import ContractError

__all__ = ["IdOrder", "Inclusive", "TopK", "topk"]


class TopK(NamedTuple):
    """A selection: the scores taken, best first, and where each stands on the last axis (int64)."""

    values: Any
    indices: Any

    def shifted(self, offset: int) -> Self:
        """The same selection with `offset` added to its positions: where a shard begins in the whole.

        >>> topk(np.array([1, 3]), 1).shifted(100).indices
        array([101])
        """
        return self._replace(indices=self.indices + offset)

    def named(self, ids: Any) -> Self:
        """The same selection as numpy arrays, with IDs (an array of them or an IdOrder) in place of positions.

        >>> topk(np.array([1, 3]), 1).named(["a", "b"]).indices
        array(['b'], dtype=object)
        """
        names = ids.ids if isinstance(ids, IdOrder) else ids
        text = len(names) and isinstance(names[0], str)
        names = np.array(names, object if text else None)  # numpy's own text would lose a NUL at the end of an ID
        return self._replace(values=_on_host(self.values), indices=names[_on_host(self.indices)])


def _on_host(array: Any) -> Any:
    """A numpy array of the same numbers; bfloat16, which numpy lacks, as float32."""
    if not hasattr(array, "detach"):
        return array
    tensor = array.detach().cpu()
    return (tensor.float() if str(tensor.dtype) == "torch.bfloat16" else tensor).numpy()


class Inclusive(TopK):
    """A selection by the inclusive policy: every score at or above the k-th, `extra` more than the `k` asked for."""

    k: int

    @property
    def extra(self) -> int:
        """How many items were returned beyond k."""
        return len(self.indices) - self.k

    @property
    def note(self) -> str:
        """What has to stand beside such a selection wherever it is compared with strict ones."""
        items = f"inclusive: {len(self.indices)} items for k = {self.k}"
        return f"{items}, {self.extra} more to rerank and to fit into a context"


def topk(scores: Any, k: int, *, ids: Any = None, policy: str = "by_id") -> TopK:
    """The k best of each row by (score descending, ID ascending), exactly as `rank` orders them.

    `scores` is a numpy array or torch tensor (a list is read as an array), of float16, bfloat16, float32, float64 or
    any integer type, contiguous or not; rows lie on the last axis, all others are a batch. The result has the same
    kind, dtype and device, with k in place of n on the last axis; `indices` are int64 positions. Values are the
    scores as they were given; -0.0 equals 0.0. Integers are compared as integers.

    `ids` are the IDs of the positions, text or integers, or an `IdOrder` made from them once; without, the lowest
    position is the lowest ID. `policy="inclusive"` takes one row and returns every score at or above the k-th
    (`Inclusive`).

    k = 0 selects nothing. ContractError: k outside 0..n or not an int; NaN or an infinity, with its position;
    duplicate, mixed or too few IDs; scores of another type.

    >>> topk(np.array([2.0, 2.0, 1.0, 2.0]), 2)
    TopK(values=array([2., 2.]), indices=array([0, 1]))
    >>> topk(np.array([2.0, 2.0, 1.0, 2.0]), 2, ids=["D", "C", "B", "A"]).indices
    array([3, 1])
    >>> topk(np.array([2.0, 2.0, 1.0, 2.0]), 2, policy="inclusive").note
    'inclusive: 3 items for k = 2, 1 more to rerank and to fit into a context'
    """
    if policy not in ("by_id", "id_asc"):
        return _inclusive(scores, k, ids, policy)
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(scores, torch.Tensor):
        return _from_torch(torch, scores, k, ids)
    return _from_numpy(np.asarray(scores), k, ids)


def _inclusive(scores: Any, k: int, ids: Any, policy: str) -> TopK:
    if policy != "inclusive":
        raise ContractError(f"policy must be one of by_id, id_asc, inclusive, got {policy!r}")
    if len(scores.shape) != 1:
        raise ContractError(
            f"the inclusive policy selects from one row at a time, got scores of shape {tuple(scores.shape)}"
        )
    strict = topk(scores, k, ids=ids)
    number = int((scores >= strict.values[-1]).sum()) if k else 0
    selection = Inclusive(*(strict if number == k else topk(scores, number, ids=ids)))
    selection.k = k
    return selection


# ------------------------------------------------------------------------- checking


def _row_length(shape: Any) -> int:
    if not shape:
        raise ContractError("scores must have at least one axis, got a single number")
    return int(shape[-1])


def refuse_first(scores: Any, finite: Any) -> None:
    """Raise for the first score that is not finite; `finite` says of each whether it is."""
    flat = int(np.argmin(np.asarray(finite).reshape(-1)))
    place = [int(i) for i in np.unravel_index(flat, tuple(scores.shape))]
    value = float(scores[tuple(place)])
    where = (
        f"position {place[-1]}" if len(place) == 1 else f"row {', '.join(map(str, place[:-1]))}, position {place[-1]}"
    )
    raise ContractError(f"scores must be finite, got {value} at {where}")


# -------------------------------------------------------------------- how scores are read


class _Reading(NamedTuple):
    """How a kernel reads scores: as the integers of `like`, keys by `fold` and `flip`, finite within the bounds."""

    like: Any
    fold: int
    flip: int
    least: int
    greatest: int


def _float_reading(bits: int, infinity: int) -> _Reading:
    like = np.empty(0, f"i{bits // 8}")
    return _Reading(like, int(np.iinfo(like.dtype).max), 0, -infinity, infinity - 1)


def _integer_reading(bits: int, signed: bool) -> _Reading:
    like = np.empty(0, f"i{bits // 8}")
    info = np.iinfo(like.dtype)
    return _Reading(like, 0, 0 if signed else int(info.min), int(info.min), int(info.max))


_INFINITY = {"float16": 0x7C00, "bfloat16": 0x7F80, "float32": 0x7F800000, "float64": 0x7FF0000000000000}
_READINGS = {
    name: _float_reading(64 if "64" in name else 32 if "32" in name else 16, bits) for name, bits in _INFINITY.items()
}
_READINGS |= {f"{u}int{bits}": _integer_reading(bits, not u) for u in ("", "u") for bits in (8, 16, 32, 64)}
_NO_IDS = np.empty(0, np.int32)


@cache
def _torch_readings() -> dict[Any, _Reading]:
    import torch

    return {getattr(torch, name): reading for name, reading in _READINGS.items() if hasattr(torch, name)}


@cache
def kernel() -> Any:
    """The compiled selection, or None where numba is missing."""
    from rankwork.contract import kernels

    return kernels.select if kernels.AVAILABLE else None


# ------------------------------------------------------------------------------ torch


def _from_torch(torch: Any, scores: Any, k: Any, ids: Any) -> TopK:
    """The selection of a tensor. Short of the kernel every step here costs as much as reading a thousand scores."""
    shape = scores.shape
    n = _row_length(shape)
    k = k if type(k) is int and 0 <= k <= n else checked_k(k, n)
    reading = _torch_readings().get(scores.dtype)
    if reading is None or scores.layout != torch.strided:
        raise ContractError(
            f"scores must be floats or integers in a dense tensor, got {scores.dtype} ({scores.layout})"
        )
    order = None if ids is None else as_order(ids, n)
    number = scores.numel()
    if k == 0 or number == 0:
        return _torch_nothing(torch, scores, k, order)
    if not scores.is_cpu or kernel() is None:
        indices = _torch_plain(torch, scores, k, order)
        return TopK(lemma.taken(scores, indices), indices)
    rows = scores if len(shape) <= 2 and scores.stride(-1) == 1 else scores.contiguous()
    stride = rows.stride(0) if len(shape) == 2 else n
    out = (k,) if len(shape) == 1 else (*shape[:-1], k)
    indices = torch.from_numpy(np.empty(out, np.int64))  # numpy makes small arrays sooner than torch
    values = torch.from_numpy(np.empty(out, np.float32)) if scores.dtype == torch.float32 else rows.new_empty(out)
    _run(reading, rows.data_ptr(), stride, number // n, n, k, values.data_ptr(), indices.data_ptr(), order, scores)
    if scores.requires_grad and torch.is_grad_enabled():
        values = scores.gather(-1, indices)
    return TopK(values, indices)


def _torch_nothing(torch: Any, scores: Any, k: int, order: Any) -> TopK:
    """An empty selection, from scores that are still checked."""
    if scores.numel():
        _from_torch(torch, scores, 1, order)
    empty = scores[..., :k].clone()
    return TopK(empty, torch.empty(empty.shape, dtype=torch.int64, device=empty.device))


def _torch_plain(torch: Any, scores: Any, k: int, order: IdOrder | None) -> Any:
    """The positions by plain torch operations, on the tensor's device."""
    from rankwork.contract import accelerator

    _refuse_infinite(torch, scores)
    rows = lemma.comparable(scores.detach()).reshape(-1, scores.shape[-1])
    way = lemma.torch_indices if rows.is_cpu else accelerator.indices
    if order is None:
        indices = way(rows, k)
    else:
        by_id = order.order_on(rows.device)
        indices = by_id[way(rows.index_select(-1, by_id), k)]
    return indices.view(*scores.shape[:-1], k)


def _refuse_infinite(torch: Any, scores: Any) -> None:
    """Raise for a score that is not finite: one read for both extremes, one flag back from the device."""
    if scores.dtype.is_floating_point:
        low, high = torch.aminmax(scores.detach())
        if not bool(torch.isfinite(low) & torch.isfinite(high)):
            refuse_first(scores.detach(), torch.isfinite(scores).cpu().numpy())


def _run(reading: _Reading, address: int, stride: int, rows: int, n: int, k: int, values: int, indices: int,
         order: IdOrder | None, scores: Any) -> None:  # fmt: skip
    """Call the kernel on rows that begin at an address; raise for the score that it found not finite."""
    first, rank = (_NO_IDS, _NO_IDS) if order is None else (order.order, order.rank)
    like, fold, flip, least, greatest = reading
    bad = kernel()(like, address, stride, rows, n, k, fold, flip, least, greatest, values, indices, first, rank)
    if bad >= 0:
        finite = np.isfinite(scores) if isinstance(scores, np.ndarray) else scores.isfinite().numpy()
        refuse_first(scores, finite)


# ------------------------------------------------------------------------------ numpy


def _from_numpy(scores: Any, k: Any, ids: Any) -> TopK:
    shape = scores.shape
    n = _row_length(shape)
    k = checked_k(k, n)
    reading = _READINGS.get(scores.dtype.name)
    if reading is None:
        raise ContractError(f"scores must be floats or integers, got an array of {scores.dtype}")
    if not scores.dtype.isnative:
        scores = scores.astype(scores.dtype.newbyteorder("="))
    order = None if ids is None else as_order(ids, n)
    out = (*shape[:-1], k)
    indices = np.empty(out, np.int64)
    if k == 0 or scores.size == 0:
        if scores.size:
            _from_numpy(scores, 1, order)
        return TopK(np.empty(out, scores.dtype), indices)
    if kernel() is None:
        indices = _numpy_plain(scores, k, order)
        return TopK(np.take_along_axis(scores, indices, -1), indices)
    rows, stride = _rows_of(scores)
    values = np.empty(out, rows.dtype)
    _run(
        reading, rows.ctypes.data, stride, rows.size // n, n, k, values.ctypes.data, indices.ctypes.data, order, scores
    )
    return TopK(values, indices)


def _rows_of(scores: Any) -> tuple[Any, int]:
    """An array whose rows are contiguous and evenly spaced, and their distance in items; copied if they are not."""
    size, n = scores.itemsize, scores.shape[-1]
    if scores.flags.c_contiguous:
        return scores, n
    distance, odd = divmod(scores.strides[0], size) if scores.ndim == 2 else (n, 1)
    if scores.ndim == 2 and scores.strides[1] == size and distance >= 0 and not odd:
        return scores, distance
    return np.ascontiguousarray(scores), n


def _numpy_plain(scores: Any, k: int, order: IdOrder | None) -> Any:
    """The positions by plain numpy operations."""
    finite = np.isfinite(scores) if scores.dtype.kind == "f" else np.True_
    if not finite.all():
        refuse_first(scores, finite)
    rows = scores.reshape(-1, scores.shape[-1])
    if order is None:
        indices = lemma.numpy_indices(rows, k)
    else:
        indices = order.order[lemma.numpy_indices(rows[:, order.order], k)].astype(np.int64)
    return indices.reshape(*scores.shape[:-1], k)
