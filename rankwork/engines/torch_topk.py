"""torch.topk, on the CPU and on a CUDA device. Two engines, because they are two algorithms with one name."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING

from rankwork.engines.base import Engine, Promise, Request, Scores

if TYPE_CHECKING:
    import torch

DTYPES = ("float16", "bfloat16", "float32", "float64", "int32", "int64")


def tensor(request: Request) -> "torch.Tensor":
    """The saved scores as a tensor of the requested dtype on the requested device."""
    import torch

    return torch.tensor(request.scores).to(device=request.device, dtype=getattr(torch, request.dtype))


@contextmanager
def threads(count: int | None) -> Iterator[None]:
    """Torch with `count` threads for the time being; None leaves it as it is."""
    import torch

    before = torch.get_num_threads()
    if count is not None:
        torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def topk(request: Request) -> Scores:
    """The indices of torch.topk along the last axis."""
    import torch

    with threads(request.threads):
        return torch.topk(tensor(request), request.k, dim=-1).indices.cpu().numpy()


def topk_cuda(request: Request) -> Scores:
    """The same call on a CUDA device."""
    return topk(Request(request.scores, request.k, request.ids, request.dtype, "cuda", request.threads))


def no_cuda() -> str:
    """Why no CUDA device can be used here, or the empty text."""
    if find_spec("torch") is None:
        return "torch is not installed"
    import torch

    return "" if torch.cuda.is_available() else "torch sees no CUDA device"


def lacks(device: str) -> str:
    """Why a device cannot be used here, or the empty text."""
    return no_cuda() if device == "cuda" else ""


PROMISE = Promise(
    "refused",
    "none",
    "by score",
    "tied elements are not guaranteed to be stable and may vary across invocations",
    "torch.topk, docstring",
    "2.13.0",
)

ENGINES = (
    Engine(
        name="torch.topk",
        package="torch",
        promise=PROMISE,
        answer=topk,
        modules=("torch",),
        install="pip install torch",
        dtypes=DTYPES,
        devices=("cpu", "cuda"),
        batches=True,
        threaded=True,
        lacks=lacks,
    ),
    Engine(
        name="torch.topk on CUDA",
        package="torch",
        promise=PROMISE,
        answer=topk_cuda,
        modules=("torch",),
        install="pip install torch, on a machine with an NVIDIA GPU",
        dtypes=DTYPES,
        batches=True,
        missing=no_cuda,
    ),
)
