"""A proof, in three reads and without a sort, that a selection is the contract's; or which condition it breaks.

Why the conditions suffice: `order` makes the selected items distinct and puts them as the contract would. Let T be
the last selected score. `above` says that no better item was left out, so the rest of the k slots belongs to items
equal to T, and `tied` says that those up to the last selected ID are exactly the selected ones: no lower ID was
passed over.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import permutations
from typing import Any

import numpy as np

from rankwork.contract.identifiers import IdOrder, as_order
from rankwork.contract.lemma import comparable
from rankwork.errors import ContractError

PIECE = 1 << 20  # scores compared at a time, so that the proof needs little memory of its own


@dataclass(frozen=True)
class Certificate:
    """What a selection was found to be: true where it is the contract's, else the condition it fails and how.

    `failed` is None or one of "length", "range", "finite", "duplicate", "order", "above", "tied".
    """

    failed: str | None
    message: str

    def __bool__(self) -> bool:
        return self.failed is None


def certify(scores: Any, indices: Any, *, k: int | None = None, ids: Any = None) -> Certificate:
    """Whether `indices` are the contract's top k of `scores`, and if not, which condition they break.

    `scores` is a numpy array or torch tensor with rows on the last axis, `indices` the selected positions with k in
    place of n (an array or tensor of integers, taken to the device of the scores); `ids` as for `topk`. With `k`, the
    length has to be that. Takes O(n): the selected scores do not rise and IDs rise within equal ones (`order`, or
    `duplicate`), as many scores lie above the last as were selected above it (`above`), those equal to it up to the
    last selected ID are the selected ones (`tied`). Nothing is raised for a wrong selection, only for indices that
    are not integers.

    >>> certify(np.array([2.0, 2.0, 1.0, 2.0]), [0, 1])
    Certificate(failed=None, message='the selection is the top 2 of the contract')
    >>> certify(np.array([2.0, 2.0, 1.0, 2.0]), [0, 3]).message
    '3 scores equal 2.0 up to the last selected ID, 2 of them were selected'
    >>> bool(certify(np.array([2.0, 2.0, 1.0, 2.0]), [0, 2]))
    False
    """
    scores, indices = _together(scores, indices)
    order = None if ids is None else as_order(ids, scores.shape[-1])
    for refusal in _refusals(scores, indices, order, k):
        if refusal is not None:
            return refusal
    return Certificate(None, f"the selection is the top {indices.shape[-1]} of the contract")


def verdicts(scores: Any, k: int) -> dict[tuple[int, ...], str]:
    """For every order of every choice of k positions of a short row, the condition that it breaks, or "holds".

    >>> verdicts(np.array([1, 1]), 1)
    {(0,): 'holds', (1,): 'tied'}
    """
    chosen = permutations(range(scores.shape[-1]), k)
    return {each: certify(scores, np.array(each, np.int64)).failed or "holds" for each in chosen}


def _refusals(scores: Any, indices: Any, order: IdOrder | None, k: int | None) -> Iterator[Certificate | None]:
    """The conditions, one after the other: each rests on those before it."""
    yield _wrong_length(scores, indices, k)
    yield _wrong_range(scores, indices)
    yield _infinite(scores)
    if indices.shape[-1]:
        yield _wrong_order(scores, indices, order)
        yield _wrong_set(scores, indices, order)


def _together(scores: Any, indices: Any) -> tuple[Any, Any]:
    """Scores and int64 indices in one library, on one device."""
    if hasattr(scores, "detach"):
        import torch

        indices = torch.as_tensor(indices)
        _refuse_fractions(indices.dtype.is_floating_point or indices.dtype == torch.bool, indices.dtype, indices)
        return comparable(scores.detach()), indices.to(scores.device, torch.int64)
    if hasattr(indices, "detach"):
        indices = indices.detach().cpu()
    indices = np.asarray(indices)
    _refuse_fractions(indices.dtype.kind not in "iu", indices.dtype, indices)
    return np.asarray(scores), indices.astype(np.int64)


def _refuse_fractions(wrong: bool, dtype: Any, indices: Any) -> None:
    if wrong and indices.shape[-1:] != (0,):
        raise ContractError(f"indices must be integers, got {dtype}")


def _wrong_length(scores: Any, indices: Any, k: int | None) -> Certificate | None:
    n, found = scores.shape[-1], indices.shape
    if tuple(found[:-1]) != tuple(scores.shape[:-1]):
        return Certificate(
            "length", f"indices of shape {tuple(found)} do not belong to scores of {tuple(scores.shape)}"
        )
    if found[-1] > n or (k is not None and found[-1] != k):
        expected = f"at most {n}" if k is None else f"{k}"
        return Certificate("length", f"{expected} indices were expected for each row, got {found[-1]}")
    return None


def _wrong_range(scores: Any, indices: Any) -> Certificate | None:
    n = scores.shape[-1]
    where = _first((indices < 0) | (indices >= n))
    if where is None:
        return None
    return Certificate("range", f"index {int(indices[where])} at {_place(where)} is not between 0 and {n - 1}")


def _infinite(scores: Any) -> Certificate | None:
    where = _first(~_finite(scores))
    return (
        None
        if where is None
        else Certificate("finite", f"score {float(scores[where])} at {_place(where)} is not finite")
    )


def _finite(scores: Any) -> Any:
    if isinstance(scores, np.ndarray):
        return np.isfinite(scores)
    import torch

    return torch.isfinite(scores)


def _wrong_order(scores: Any, indices: Any, order: IdOrder | None) -> Certificate | None:
    values, ranks = _taken(scores, indices), _ranks(indices, order)
    left, right = values[..., :-1], values[..., 1:]
    where = _first((left < right) | ((left == right) & (ranks[..., :-1] >= ranks[..., 1:])))
    if where is None:
        return None
    row, i = where[:-1], where[-1]
    twice = _repeated(indices[row])
    if twice is not None:
        return Certificate("duplicate", f"position {twice} was selected twice{_of_row(row)}")
    here, there = (*row, i), (*row, i + 1)
    return Certificate(
        "order",
        f"position {int(indices[here])} ({values[here].item()}) stands before {int(indices[there])} "
        f"({values[there].item()}){_of_row(row)}",
    )


def _wrong_set(scores: Any, indices: Any, order: IdOrder | None) -> Certificate | None:
    values = _taken(scores, indices)
    last, last_rank = values[..., -1:], _ranks(indices, order)[..., -1:]
    above, tied = _counted(scores, last, last_rank, order)
    selected_above, selected_tied = (values > last).sum(-1), (values == last).sum(-1)
    where = _first(above != selected_above)
    if where is not None:
        text = f"{int(above[where])} scores lie above {last[where].item()}"
        return Certificate("above", f"{text}, {int(selected_above[where])} of them were selected{_of_row(where)}")
    where = _first(tied != selected_tied)
    if where is not None:
        text = f"{int(tied[where])} scores equal {last[where].item()} up to the last selected ID"
        return Certificate("tied", f"{text}, {int(selected_tied[where])} of them were selected{_of_row(where)}")
    return None


def _counted(scores: Any, last: Any, last_rank: Any, order: IdOrder | None) -> tuple[Any, Any]:
    """For each row, how many scores lie above the last one, and how many equal it with an ID up to the last one's."""
    above, tied = 0, 0
    for start in range(0, scores.shape[-1], PIECE):
        piece = scores[..., start : start + PIECE]
        above = above + (piece > last).sum(-1)
        tied = tied + ((piece == last) & (_ranks_of_piece(piece, start, order) <= last_rank)).sum(-1)
    return above, tied


# ------------------------------------------------------ the same in numpy and in torch


def _taken(scores: Any, indices: Any) -> Any:
    return np.take_along_axis(scores, indices, -1) if isinstance(scores, np.ndarray) else scores.gather(-1, indices)


def _ranks(indices: Any, order: IdOrder | None) -> Any:
    """The rank of the ID at each of the positions."""
    if order is None:
        return indices
    return order.rank[indices] if isinstance(indices, np.ndarray) else order.rank_on(indices.device)[indices]


def _ranks_of_piece(piece: Any, start: int, order: IdOrder | None) -> Any:
    stop = start + piece.shape[-1]
    if isinstance(piece, np.ndarray):
        return np.arange(start, stop) if order is None else order.rank[start:stop]
    if order is not None:
        return order.rank_on(piece.device)[start:stop]
    import torch

    return torch.arange(start, stop, device=piece.device)


def _first(flags: Any) -> tuple[int, ...] | None:
    """The place of the first flag that is set, or None."""
    if not bool(flags.any()):
        return None
    host = flags if isinstance(flags, np.ndarray | np.generic) else flags.cpu().numpy()
    return tuple(int(i) for i in np.unravel_index(int(np.argmax(host)), host.shape))


def _repeated(row: Any) -> int | None:
    """A position that a row of indices holds more than once, or None."""
    values, counts = np.unique(row if isinstance(row, np.ndarray) else row.cpu().numpy(), return_counts=True)
    return int(values[counts > 1][0]) if (counts > 1).any() else None


def _place(where: tuple[int, ...]) -> str:
    return f"position {where[-1]}{_of_row(where[:-1])}"


def _of_row(row: tuple[int, ...]) -> str:
    return f" of row {', '.join(map(str, row))}" if row else ""
