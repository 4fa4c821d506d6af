"""torch.sort, with and without `stable=True`."""

from collections.abc import Callable

from rankwork.engines.base import Engine, Promise, Request, Scores
from rankwork.engines.torch_topk import DTYPES, lacks, tensor, threads


def default(request: Request) -> Scores:
    """A descending sort that does not ask for stability."""
    return _sorted(request, stable=False)


def stable(request: Request) -> Scores:
    """A descending stable sort: the contract by position."""
    return _sorted(request, stable=True)


def _sorted(request: Request, *, stable: bool) -> Scores:
    import torch

    with threads(request.threads):
        ordered = torch.sort(tensor(request), dim=-1, descending=True, stable=stable)
    return ordered.indices[..., : request.k].cpu().numpy()


_SOURCE = "torch.sort, docstring"


def _engine(name: str, promise: Promise, answer: Callable[[Request], Scores]) -> Engine:
    return Engine(
        name=name,
        package="torch",
        promise=promise,
        answer=answer,
        modules=("torch",),
        install="pip install torch",
        dtypes=DTYPES,
        devices=("cpu", "cuda"),
        batches=True,
        threaded=True,
        lacks=lacks,
        restarts={"torch without vector instructions": {"ATEN_CPU_CAPABILITY": "default"}},
    )


ENGINES = (
    _engine(
        "torch.sort",
        Promise("not mentioned", "none", "by score", "stability holds only when it is asked for", _SOURCE, "2.13.0"),
        default,
    ),
    _engine(
        "torch.sort stable",
        Promise("promised", "lowest position", "by score", "equivalent elements keep their order", _SOURCE, "2.13.0"),
        stable,
    ),
)
