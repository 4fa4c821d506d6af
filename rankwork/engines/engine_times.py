"""The time that every engine takes for one question: a process for each, one thread where it can be set.

An engine is timed as its adapter asks it: a numpy array goes in, positions come out. What it has to build first (a
tensor of its own, a table, an index) is part of the time; the order of the IDs, which is made once per corpus, is not.
"""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from rankwork.engines.base import Engine, Request, note, without_paths
from rankwork.engines.registry import all_engines, engine
from rankwork.engines.speed import take_turns

Record = dict[str, Any]

ONE_THREAD = {
    f"{name}_NUM_THREADS": "1" for name in ("OMP", "MKL", "OPENBLAS", "NUMBA", "VECLIB")
} | {"POLARS_MAX_THREADS": "1", "RAYON_NUM_THREADS": "1"}  # fmt: skip
_PROGRAM = """
import json, sys
from rankwork.engines.engine_times import time_engine
print(json.dumps(time_engine(*json.loads(sys.argv[1]))))
"""


def engine_times(
    beginnings: Sequence[str] = (), *, n: int = 100_000, k: int = 10, seconds: float = 0.2, timeout: float = 120.0
) -> list[Record]:
    """The median seconds of each engine for the top k of n random float32 scores, the fastest first.

    `beginnings` of names choose the engines, none chooses all. One that is not here, that takes seconds at this n, or
    that fails has None for its seconds and says why in its `note`; these stand last.

    >>> record, = engine_times(["heapq.nlargest of"], n=100, k=3, seconds=0)
    >>> record["engine"], record["n"], record["k"], record["note"]
    ('heapq.nlargest of pairs', 100, 3, '')
    """
    asked = [item for item in all_engines() if not beginnings or item.name.startswith(tuple(beginnings))]
    found = [_timed(item, n, k, seconds, timeout) for item in asked]
    return sorted(found, key=lambda record: (record["seconds"] is None, record["seconds"]))


def untimed(records: Sequence[Record]) -> list[str]:
    """Lines that say why engines have no time.

    >>> untimed([{"engine": "a", "note": ""}, {"engine": "b", "note": "not here"}])
    ['b: not here']
    """
    return [f"{record['engine']}: {record['note']}" for record in records if record["note"]]


def _timed(item: Engine, n: int, k: int, seconds: float, timeout: float) -> Record:
    record = {"engine": item.name, "n": n, "k": k, "seconds": None, "note": _reason(item, n)}
    return record if record["note"] else record | _in_process(item.name, n, k, seconds, timeout)


def _reason(item: Engine, n: int) -> str:
    """Why an engine is not timed, or the empty text."""
    here = item.available()
    if not here:
        return here.note
    return f"takes seconds beyond n = {item.largest:,}" if n > item.largest else ""


def _in_process(name: str, n: int, k: int, seconds: float, timeout: float) -> Record:
    paths = os.pathsep.join(os.path.abspath(path) for path in sys.path)
    command = [sys.executable, "-c", _PROGRAM, json.dumps([name, n, k, seconds])]
    try:
        ended = subprocess.run(
            command,
            env={**os.environ, **ONE_THREAD, "PYTHONPATH": paths},
            capture_output=True,
            timeout=timeout,
            text=True,
        )
    except subprocess.TimeoutExpired:
        return {"note": f"no answer within {timeout:g} s"}
    if ended.returncode:
        last = (ended.stderr.strip().splitlines() or ["no message"])[-1]
        return {"note": f"the process ended with code {ended.returncode}: {without_paths(last)}"}
    return dict(json.loads(ended.stdout.splitlines()[-1]))


def time_engine(name: str, n: int, k: int, seconds: float) -> Record:
    """The median seconds of one engine in this process, over four arrays of scores from the seeds 0 to 3."""
    item = engine(name)
    ids: Any = np.arange(n)
    if item.package == "rankwork":
        from rankwork.contract.topk import IdOrder

        ids = IdOrder(ids)
        ids.is_positional  # noqa: B018 - once per corpus, so not part of what is timed
    threads = 1 if item.threaded else None
    arrays = [np.random.default_rng(seed).standard_normal(n, np.float32) for seed in range(4)]
    requests = [Request(array, k, ids, "float32", "cpu", threads) for array in arrays]
    try:
        (found,) = take_turns([item.answer], requests, seconds)
    except Exception as error:
        return {"note": note(error)}
    return {"seconds": found}
