"""Engines that misbehave in every way that the experiments have to survive, beside one that does not."""

import os
import signal
from typing import Any

import numpy as np

from rankwork.engines.base import Engine, Promise, Request
from rankwork.engines.layers import contract

PROMISE = Promise("promised", "lowest position", "by score", "none that was written", "this test", "0")
_random = np.random.default_rng(0)


def right(request: Request) -> Any:
    return contract(request.scores, request.k, request.ids)


def raises(request: Request) -> Any:
    raise MemoryError("no memory for /somewhere/deep/file")


def dies(request: Request) -> Any:
    os.abort()


def leaves(request: Request) -> Any:
    os._exit(7)


def too_short(request: Request) -> Any:
    return contract(request.scores, request.k - 1)


def out_of_range(request: Request) -> Any:
    return np.full(request.k, len(request.scores))


def twice(request: Request) -> Any:
    return np.zeros(request.k, dtype=np.int64)


def fractions(request: Request) -> Any:
    return contract(request.scores, request.k).astype(np.float64)


def varies(request: Request) -> Any:
    """Right, except that the order of what it selects is drawn anew each time."""
    return _random.permutation(contract(request.scores, request.k))


def backwards(request: Request) -> Any:
    """The right set in the wrong order."""
    return contract(request.scores, request.k)[::-1]


def fails_with_threads(request: Request) -> Any:
    if request.threads == 2:
        raise ValueError("two are too many")
    return contract(request.scores, request.k)


def follows_variable(request: Request) -> Any:
    """Reads a condition that holds for the whole process."""
    found = contract(request.scores, request.k)
    return found[::-1] if os.environ.get("RANKWORK_TEST_BACKWARDS") else found


def follows_length(request: Request) -> Any:
    """Right, in another order where the row has the length of a padded one."""
    found = contract(request.scores, request.k)
    return found[::-1] if len(request.scores) in (256, 10_240) else found


def follows_device(request: Request) -> Any:
    """The right set; on its other device the order among equal scores is another."""
    found = contract(request.scores, request.k, request.ids)
    ids = -request.ids[found] if request.device == "other" else request.ids[found]
    return found[np.lexsort((ids, -request.scores[found]))]


def lacks_device(request: Request) -> Any:
    """Right, and has another device in theory."""
    return contract(request.scores, request.k, request.ids)


def not_here(device: str) -> str:
    return f"no {device} here"


def is_interrupted(request: Request) -> Any:
    """As if somebody had pressed Ctrl-C."""
    os.kill(os.getpid(), signal.SIGINT)


def make(answer: Any, **facts: Any) -> Engine:
    fields: dict[str, Any] = {"modules": ("numpy",), "install": "part of the tests", "dtypes": ("float32",), **facts}
    return Engine(name=answer.__name__, package="numpy", promise=PROMISE, answer=answer, **fields)


ENGINES = (
    make(right, by_id=True),
    make(raises),
    make(dies),
    make(leaves),
    make(too_short),
    make(out_of_range),
    make(twice),
    make(fractions),
    make(varies),
    make(backwards),
    make(fails_with_threads, threaded=True),
    make(follows_length),
    make(follows_device, devices=("cpu", "other")),
    make(lacks_device, devices=("cpu", "other"), lacks=not_here),
    make(is_interrupted),
    make(follows_variable, restarts={"backwards": {"RANKWORK_TEST_BACKWARDS": "1"}}),
)
BY_NAME = {engine.name: engine for engine in ENGINES}
