"""The order of the IDs of a corpus, worked out once: who comes first among equal scores."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankwork.contract.reference import checked_ids
from rankwork.errors import ContractError


class IdOrder:
    """The place of each position in the order of its ID; make it once per corpus, not once per query.

    `ids` are all text, compared by code point as Python's `sorted` does, or all integers, compared as numbers; unique.
    `order[r]` is the position of the r-th lowest ID, `rank[p]` the place of position p in that order (both int32, int64
    beyond 2^31 IDs); `kind` is "text" or "integer". Mixed, duplicate or other IDs raise ContractError.

    >>> IdOrder(["C", "A", "B"]).rank
    array([2, 0, 1], dtype=int32)
    >>> IdOrder(["10", "9"]).kind, IdOrder([10, 9]).order
    ('text', array([1, 0], dtype=int32))
    """

    def __init__(self, ids: Any) -> None:
        self.ids, self.kind = _read(ids)
        order = _sorted_positions(self.ids)
        _refuse_duplicates(self.ids, order)
        self.order: NDArray[np.signedinteger] = order.astype(np.int32 if order.size < 2**31 else np.int64)
        self._on_devices: dict[tuple[str, Any], Any] = {}

    @cached_property
    def rank(self) -> NDArray[np.signedinteger]:
        """The place of each position's ID in the order of IDs."""
        rank = np.empty_like(self.order)
        rank[self.order] = np.arange(self.order.size, dtype=self.order.dtype)
        return rank

    @cached_property
    def is_positional(self) -> bool:
        """Whether the positions stand in the order of IDs already, so that the lowest position is the lowest ID."""
        return bool((self.order[1:] > self.order[:-1]).all())

    def __len__(self) -> int:
        return self.order.size

    def order_on(self, device: Any) -> Any:
        """`order` as an int64 tensor on a torch device, moved there once."""
        return self._moved("order", device)

    def rank_on(self, device: Any) -> Any:
        """`rank` as an int64 tensor on a torch device, moved there once."""
        return self._moved("rank", device)

    def _moved(self, name: str, device: Any) -> Any:
        import torch

        if (name, device) not in self._on_devices:
            self._on_devices[name, device] = torch.from_numpy(getattr(self, name).astype(np.int64)).to(device)
        return self._on_devices[name, device]

    def __repr__(self) -> str:
        return f"IdOrder({len(self)} {self.kind} IDs)"


def as_order(ids: Any, count: int) -> IdOrder | None:
    """`ids` as an IdOrder for `count` scores; None where positions stand in the order of IDs (or there are no `ids`).

    >>> as_order(["B", "A"], 2)
    IdOrder(2 text IDs)
    >>> as_order([1, 2], 2) is None
    True
    """
    if ids is None:
        return None
    order = ids if isinstance(ids, IdOrder) else IdOrder(ids)
    if len(order) != count:
        raise ContractError(f"ids must name each of the {count} scores of a row, got {len(order)} ids")
    return None if order.is_positional else order


def _read(ids: Any) -> tuple[Any, str]:
    """IDs as an integer array or a sequence of text, and which of both."""
    if hasattr(ids, "detach"):
        ids = ids.detach().cpu().numpy()
    if isinstance(ids, np.ndarray) and ids.ndim != 1:
        raise ContractError(f"ids must be one row, got an array of shape {ids.shape}")
    if isinstance(ids, np.ndarray) and ids.dtype.kind in "iu":
        return ids, "integer"
    if isinstance(ids, np.ndarray) and ids.dtype.kind == "U":
        return ids, "text"
    if isinstance(ids, str | bytes) or not hasattr(ids, "__iter__"):
        raise ContractError(f"ids must be a sequence of text or of integers, got {ids!r}")
    ids = list(ids)
    if set(map(type, ids)) not in ({str}, {int}):  # a million plain IDs need no look at each
        ids = checked_ids(ids)
    return ids, "text" if len(ids) and isinstance(ids[0], str) else "integer"


def _sorted_positions(ids: Sequence[Any] | NDArray[Any]) -> NDArray[np.int64]:
    """The positions in the order of their IDs."""
    if isinstance(ids, np.ndarray):
        return np.argsort(ids, kind="stable")
    return np.fromiter(sorted(range(len(ids)), key=ids.__getitem__), np.int64, len(ids))


def _refuse_duplicates(ids: Any, order: NDArray[np.int64]) -> None:
    if isinstance(ids, np.ndarray):
        same = np.flatnonzero(ids[order[1:]] == ids[order[:-1]])
        where = int(same[0]) if same.size else None
    elif len(set(ids)) == len(ids):
        where = None
    else:
        where = next(i for i in range(len(order) - 1) if ids[order[i]] == ids[order[i + 1]])
    if where is not None:
        first, second = int(order[where]), int(order[where + 1])
        value = ids[first].item() if isinstance(ids, np.ndarray) else ids[first]
        raise ContractError(f"ID {value!r} stands at positions {first} and {second}, but IDs must be unique")
