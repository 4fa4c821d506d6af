"""jax.lax.top_k."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from rankwork.engines.base import Engine, Promise, Request, Scores


@contextmanager
def _wide_numbers(dtype: str) -> Iterator[None]:
    """64-bit numbers where the request has them: jax would otherwise narrow them without a word."""
    import jax

    config: Any = jax.config
    before = config.jax_enable_x64
    config.update("jax_enable_x64", before or dtype.endswith("64"))
    try:
        yield
    finally:
        config.update("jax_enable_x64", before)


def lacks(device: str) -> str:
    """Why jax cannot use a device here, or the empty text."""
    import jax

    try:
        jax.devices("gpu" if device == "cuda" else "cpu")
    except RuntimeError:
        return f"jax sees no {device} device"
    return ""


def top_k(request: Request) -> Scores:
    """The indices of jax.lax.top_k along the last axis."""
    import jax

    with _wide_numbers(request.dtype):
        device = jax.devices("gpu" if request.device == "cuda" else "cpu")[0]
        row = jax.device_put(jax.numpy.asarray(request.scores).astype(request.dtype), device)
        return np.asarray(jax.lax.top_k(row, request.k)[1])


ENGINES = (
    Engine(
        name="jax.lax.top_k",
        package="jax",
        promise=Promise(
            "promised",
            "lowest position",
            "by score",
            "of two equal elements the one with the lower index appears first",
            "jax.lax.top_k, docstring",
            "0.10.2",
        ),
        answer=top_k,
        modules=("jax", "jaxlib"),
        install="pip install jax",
        dtypes=("float16", "bfloat16", "float32", "float64", "int32", "int64"),
        devices=("cpu", "cuda"),
        batches=True,
        lacks=lacks,
    ),
)
