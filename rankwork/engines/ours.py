"""rankwork's own selection, observed like any other engine: its promise is the contract."""

from typing import Any

import numpy as np

from rankwork.engines.base import Engine, Promise, Request, Scores
from rankwork.engines.torch_topk import lacks, tensor


def topk(request: Request) -> Scores:
    """rankwork.topk on a numpy array, or on a torch tensor where the number format or the device asks for one."""
    from rankwork.contract.topk import topk as select

    scores: Any = request.scores
    if request.dtype == "bfloat16" or request.device != "cpu":
        scores = tensor(request)
    indices = select(scores, request.k, ids=request.ids).indices
    return np.asarray(indices if isinstance(indices, np.ndarray) else indices.cpu())


def _version() -> str:
    import rankwork

    return rankwork.__version__


ENGINES = (
    Engine(
        name="rankwork.topk",
        package="rankwork",
        promise=Promise(
            "promised",
            "lowest ID",
            "by score",
            "score descending, then unique ID ascending",
            "rankwork.topk, docstring",
            "0.1.0",
        ),
        answer=topk,
        modules=("rankwork.contract.topk",),
        install="part of rankwork",
        dtypes=("float16", "bfloat16", "float32", "float64", "int32", "int64"),
        devices=("cpu", "cuda"),
        lacks=lacks,
        by_id=True,
        batches=True,
        version_of=_version,
    ),
)
