"""What the tests of the selection share: the contract in three lines of plain Python, and scores of every kind."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

NUMPY_DTYPES = ("float16", "float32", "float64", *(f"{u}int{bits}" for u in ("", "u") for bits in (8, 16, 32, 64)))
TORCH_DTYPES = ("bfloat16", *NUMPY_DTYPES)


def contract(row: Sequence[Any], k: int, ids: Sequence[Any] | None = None) -> list[int]:
    """The positions of the top k: score descending, then ID ascending."""
    names = range(len(row)) if ids is None else ids
    return sorted(range(len(row)), key=lambda i: (-row[i], names[i]))[:k]


def contract_rows(scores: Any, k: int, ids: Sequence[Any] | None = None) -> NDArray[np.int64]:
    """The same for each row of a batch."""
    flat = scores.reshape(-1, scores.shape[-1]).tolist()
    return np.array([contract(row, k, ids) for row in flat], np.int64).reshape(*scores.shape[:-1], k)


def host(array: Any) -> NDArray[Any]:
    """An array or tensor as an array; bfloat16 as float32, which holds it exactly."""
    if isinstance(array, torch.Tensor):
        array = array.detach().cpu()
        array = (array.float() if array.dtype == torch.bfloat16 else array).numpy()
    return np.asarray(array)


def same_bits(a: Any, b: Any) -> bool:
    """Whether two arrays hold the same numbers, -0.0 told from 0.0."""
    return host(a).tobytes() == host(b).tobytes()


def random_rows(rng: np.random.Generator, shape: tuple[int, ...]) -> dict[str, NDArray[np.float32]]:
    """Scores of every kind that has its own path: ties of all sizes, order, tails, both zeros, tiny numbers."""
    normal = rng.standard_normal(shape).astype(np.float32)
    levels: Callable[[int], NDArray[np.float32]] = lambda n: rng.integers(0, n, shape).astype(np.float32)  # noqa: E731
    spike = np.zeros(shape, np.float32)
    spike[..., -1] = 1
    return {
        "normal": normal,
        "2 levels": levels(2),
        "16 levels": levels(16),
        "1000 levels": levels(1000),
        "rounded": normal.round(1),
        "equal": np.full(shape, 7, np.float32),
        "rising": np.sort(normal.round(2), -1),
        "falling": -np.sort(normal.round(2), -1),
        "nearly rising": np.concatenate([np.sort(normal, -1)[..., 1:], normal[..., :1] - 9], -1),
        "best at the end": spike,
        "zeros of both signs": np.where(rng.random(shape) < 0.5, np.float32(-0.0), np.float32(0.0)),
        "negative": -np.abs(normal) - 1,
        "tiny": (normal * np.float32(1e-42)).astype(np.float32),
        "rising blocks": np.sort(levels(50).reshape(-1)).reshape(shape),
    }
