"""ONNX TopK, run by onnxruntime on the CPU."""

from functools import cache
from typing import Any

import numpy as np

from rankwork.engines.base import Engine, Promise, Request, Scores

_ONNX_TYPES = {"float16": "FLOAT16", "float32": "FLOAT", "float64": "DOUBLE", "int32": "INT32", "int64": "INT64"}


@cache
def _session(dtype: str, axes: int, threads: int | None) -> Any:
    """A session over a model of one node: scores and k in, values and positions out."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    if threads is not None:
        options.intra_op_num_threads = threads
    return onnxruntime.InferenceSession(_model(dtype, axes), options, providers=["CPUExecutionProvider"])


def _model(dtype: str, axes: int) -> bytes:
    import onnx
    from onnx import helper

    kind = getattr(onnx.TensorProto, _ONNX_TYPES[dtype])
    shape = [None] * axes
    whole = onnx.TensorProto.INT64
    graph = helper.make_graph(
        [helper.make_node("TopK", ["scores", "k"], ["values", "positions"], axis=-1)],
        "selection",
        [helper.make_tensor_value_info("scores", kind, shape), helper.make_tensor_value_info("k", whole, [1])],
        [
            helper.make_tensor_value_info("values", kind, shape),
            helper.make_tensor_value_info("positions", whole, shape),
        ],
    )
    # Version 11 of the operator and version 8 of the format are old enough for every runtime that we may meet.
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 11)], ir_version=8)
    return bytes(model.SerializeToString())


def topk(request: Request) -> Scores:
    """The positions that the TopK node returns."""
    session = _session(request.dtype, request.scores.ndim, request.threads)
    (positions,) = session.run(["positions"], {"scores": request.scores, "k": np.array([request.k], dtype=np.int64)})
    return np.asarray(positions)


ENGINES = (
    Engine(
        name="onnxruntime TopK",
        package="onnxruntime",
        promise=Promise(
            "promised",
            "lowest position",
            "by score",
            "of two equal values the one with the lower index appears first",
            "ONNX operator TopK, version 24",
            "onnx 1.23.2",
        ),
        answer=topk,
        modules=("onnxruntime", "onnx"),
        install="pip install onnxruntime onnx",
        dtypes=("float32", "float64", "int32", "int64"),
        batches=True,
        threaded=True,
    ),
)
