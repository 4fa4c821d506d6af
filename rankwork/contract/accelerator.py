"""Selection on an accelerator: four ways in torch operations, batched, without a round trip to the host for each row.

Each takes a 2-D tensor of finite scores and k >= 1 and returns the positions of the contract's top k of each row. All
four give the same answer on any device; which is fastest is a matter of measurement
(`rankwork.engines.speed.compare_ways`). None has been timed on a GPU yet, so `indices` takes the block lemma for long
rows and the repair for short ones.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

from rankwork.contract.lemma import ordered, torch_indices


def indices(scores: Any, k: int) -> Any:
    """The positions of the contract's top k of each row, by the way that is expected to read least."""
    long = scores.shape[1] >= 100_000 and scores.shape[1] >= 1000 * k
    return torch_indices(scores, k) if long else by_repair(scores, k)


def by_reordering(scores: Any, k: int) -> Any:
    """`torch.topk(sorted=False)`, then the order of k items; repaired where its set was not the lowest positions.

    CUDA's selection takes the lowest positions at the boundary, though nothing promises it, so the set is checked: one
    flag for the whole batch. `sorted=False` also keeps away from kernels whose boundary ties vary.
    """
    found = (scores + 0).topk(k, dim=-1, sorted=False).indices.sort(dim=-1).values
    if not bool(_is_lowest(scores, found).all()):
        return by_repair(scores, k)
    return ordered(scores, found, k)


def _is_lowest(scores: Any, found: Any) -> Any:
    """For each row, whether no equal score stands left of a selected one at the boundary without being selected."""
    import torch

    values = scores.gather(-1, found)
    boundary = values.amin(-1, keepdim=True)
    tied = values == boundary
    last = torch.where(tied, found, -1).amax(-1, keepdim=True)
    before = torch.arange(scores.shape[1], device=scores.device) <= last
    return ((scores == boundary) & before).sum(-1) == tied.sum(-1)


def by_repair(scores: Any, k: int) -> Any:
    """The k-th score by `torch.topk`; all above it and the lowest positions equal to it; then the order of k items."""
    boundary = scores.topk(k, dim=-1, sorted=False).values.amin(-1, keepdim=True)
    return _taken(scores, _mask(scores, boundary, k), k)


def by_blocks(scores: Any, k: int) -> Any:
    """The block lemma: one read for the block maxima, then k blocks."""
    return torch_indices(scores, k)


def by_fused_kernel(scores: Any, k: int) -> Any:
    """The repair with its comparisons, counts and running sums compiled into fewer reads by `torch.compile`."""
    boundary = scores.topk(k, dim=-1, sorted=False).values.amin(-1, keepdim=True)
    return _taken(scores, _fused_mask()(scores, boundary, k), k)


def _taken(scores: Any, taken: Any, k: int) -> Any:
    """The k positions that a mask holds in each row, in order of score."""
    return ordered(scores, taken.nonzero()[:, 1].view(scores.shape[0], k), k)


def _mask(scores: Any, boundary: Any, k: int) -> Any:
    """What lies above the boundary, and the first of what equals it, k in each row."""
    above, tied = scores > boundary, scores == boundary
    slots = k - above.sum(-1, keepdim=True)
    return above | (tied & (tied.cumsum(-1) <= slots))


@cache
def _fused_mask() -> Callable[[Any, Any, int], Any]:
    """`_mask` compiled where torch can (a GPU with triton), as it is elsewhere."""
    import importlib.util

    import torch

    if torch.cuda.is_available() and importlib.util.find_spec("triton"):
        compiled: Callable[[Any, Any, int], Any] = torch.compile(_mask, dynamic=True)
        return compiled
    return _mask


WAYS: dict[str, Callable[[Any, int], Any]] = {
    "topk(sorted=False), then order": by_reordering,
    "repair": by_repair,
    "block lemma": by_blocks,
    "fused kernel": by_fused_kernel,
}
