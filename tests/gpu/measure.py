"""Writes what a GPU machine answers and how fast: run by run.sh, `python -m tests.gpu.measure FOLDER`."""

import json
import sys
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import torch

from rankwork.contract.topk import topk
from rankwork.engines import speed
from tests.selections import random_rows

SECONDS = 0.1
CARDS = ("nvidia_cutlass_dsl", "apache_tvm_ffi", "triton", "numba", "numpy")


def machine() -> dict[str, Any]:
    """What the figures belong to."""
    found = {name: metadata.version(name) for name in CARDS if find_spec(name)}
    return {"torch": torch.__version__, "cuda": torch.version.cuda, "device": torch.cuda.get_device_name(), **found}


def observed() -> list[dict[str, Any]]:
    """For each kind of scores, whether torch.topk on this GPU chooses the contract's set, and its order."""
    facts = []
    rng = np.random.default_rng(0)
    for shape in ((1, 6), (1, 64), (4, 4096), (2, 1_000_000)):
        for kind, rows in random_rows(rng, shape).items():
            scores = torch.from_numpy(rows).cuda()
            for k in {3, min(32, shape[1]), min(100, shape[1])}:
                ours, theirs = topk(scores, k).indices, torch.topk(scores, k).indices
                facts.append(
                    {
                        "shape": shape, "kind": kind, "k": k,
                        "same order": torch.equal(ours, theirs),
                        "same set": torch.equal(ours.sort(-1).values, theirs.sort(-1).values),
                    }
                )  # fmt: skip
    return facts


def main(folder: Path) -> None:
    """Write observed.json first, then ways.json after each cell, so that a run that is cut short leaves what it has."""
    (folder / "observed.json").write_text(json.dumps({"machine": machine(), "observed": observed()}, indent=1))
    records: list[dict[str, Any]] = []
    for dtype in ("float32", "bfloat16"):
        for shape in speed.SHAPES:
            records += speed.compare_ways("cuda", shapes=[shape], dtype=dtype, seconds=SECONDS)
            (folder / "ways.json").write_text(json.dumps({"machine": machine(), "records": records}, indent=1))
    wrong = [(r["shape"], r["k"], r["input"], way) for r in records for way, right in r["right"].items() if not right]
    print(f"{len(records)} cells, {len(wrong)} wrong answers", *wrong, sep="\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
