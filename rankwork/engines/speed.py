"""What the contract costs: `rankwork.topk` beside `torch.topk`, cell by cell, with one thread and in one process.

Each cell rotates several tensors (repeats on one tensor train the branch predictor), takes turns between what is
compared, so that a slow moment of the machine meets all alike, and reports medians. The floor is one read of the
scores: `amax`.
"""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

Record = dict[str, Any]

SHAPES = (
    (1, 10_000), (1, 100_000), (1, 1_000_000), (1, 10_000_000),
    (8, 1_048_576), (64, 131_072), (1024, 4096), (4096, 1024),
)  # fmt: skip
KS = (10, 100, 1000)
INPUTS = ("random", "16 levels", "1,000 levels", "bfloat16-rounded", "all equal", "ascending", "descending")
IN_ORDER = ("ascending", "descending")
TENSORS = 16
EXTRA = 0.1  # the goal for memory beyond the scores, by that of the scores
MEMORY = 2 << 30  # bytes that the rotated tensors of one cell may take together


# ------------------------------------------------------------------------------ the grid


def grid(
    *, shapes: Iterable[tuple[int, int]] = SHAPES, ks: Sequence[int] = KS, inputs: Iterable[str] = INPUTS, dtype: str
    = "float32", shuffled_ids: bool = False, seconds: float = 1.0, on_record: Callable[[Record], object] = dict,
) -> list[Record]:  # fmt: skip
    """Measure every cell (shape, input, k up to n/4) for about `seconds` each; one record a cell, missed ones marked.

    `on_record` is called with each record as it is made. Times are in seconds and are medians.

    >>> record, = grid(shapes=[(1, 64)], ks=[10], inputs=["random"], seconds=0)
    >>> record["shape"], record["k"], record["input"], record["limit"]
    ('1 x 64', 10, 'random', 0.85)
    """
    records = []
    with one_thread():
        for rows, n in shapes:
            for name in inputs:
                tensors = make_inputs(name, rows, n, dtype)
                for k in (k for k in ks if 4 * k <= n):
                    records.append(_cell(tensors, rows, n, k, name, dtype, shuffled_ids, seconds))
                    on_record(records[-1])
    return records


def _cell(
    tensors: Sequence[Any], rows: int, n: int, k: int, name: str, dtype: str, shuffled_ids: bool, seconds: float
) -> Record:
    import torch

    from rankwork.contract.topk import topk

    ids = _shuffled(n) if shuffled_ids else None
    theirs, ours, floor = take_turns(
        [lambda x: torch.topk(x, k), lambda x: topk(x, k, ids=ids), lambda x: x.amax()], tensors, seconds
    )
    bound = limit(rows, n, k, name, dtype, shuffled_ids)
    return {
        "shape": f"{rows} x {n}", "rows": rows, "n": n, "k": k, "input": name, "dtype": dtype,
        "ids": "shuffled" if shuffled_ids else "by position",
        "torch.topk": theirs, "rankwork.topk": ours, "floor": floor,
        "ratio": ours / theirs, "limit": bound, "missed": ours / theirs > bound,
        "floor ratio": floor / theirs, "over the floor": ours / floor, "tensors": len(tensors),
    }  # fmt: skip


def limit(rows: int, n: int, k: int, name: str, dtype: str = "float32", shuffled_ids: bool = False) -> float:
    """The highest ratio to torch.topk that the cell may have.

    >>> limit(1, 10**7, 10, "random"), limit(1, 10**7, 10, "ascending"), limit(4096, 1024, 10, "random")
    (0.05, 0.5, 0.85)
    >>> limit(1, 10**4, 1000, "all equal"), limit(1, 10**6, 100, "16 levels", shuffled_ids=True)
    (1.25, 0.1875)
    """
    bounds = [1.25 if k == 1000 and n <= 10_000 else 1.05]
    if dtype == "float32":
        if rows == 1 and name not in IN_ORDER:
            bounds.append({10**6: 0.15, 10**7: 0.05}.get(n, 1.25))
        if k == 10:
            bounds.append(0.5 if n >= 10_000 else 0.85)
    return min(bounds) * (1.25 if shuffled_ids else 1)


def parse_shapes(shapes: Iterable[str]) -> list[tuple[int, int]]:
    """Shapes as `grid` takes them, from texts.

    >>> parse_shapes(["1 x 10000", "64 x 1024"])
    [(1, 10000), (64, 1024)]
    """
    return [(int(rows), int(n)) for rows, n in (shape.split(" x ") for shape in shapes)]


def in_variants(
    measure: Callable[..., list[Record]], formats: Sequence[str], *, shuffled: bool = False, **cells: Any
) -> list[Record]:
    """The records of `grid` or `verified` for each format, and, where asked, for the first one with shuffled IDs.

    >>> cells = {"shapes": [(1, 64)], "ks": [10], "inputs": ["random"]}
    >>> found = in_variants(verified, ["float32", "bfloat16"], shuffled=True, **cells)
    >>> [(record["dtype"], record["ids"]) for record in found]
    [('float32', 'by position'), ('bfloat16', 'by position'), ('float32', 'shuffled')]
    """
    variants = [(dtype, False) for dtype in formats] + ([(formats[0], True)] if shuffled else [])
    return [record for dtype, ids in variants for record in measure(dtype=dtype, shuffled_ids=ids, **cells)]


def plain(records: Iterable[Record], dtype: str) -> list[Record]:
    """The records of one format whose IDs stand in the order of positions: those of one figure."""
    return [record for record in records if record["dtype"] == dtype and record["ids"] == "by position"]


def beside_random(records: Sequence[Record]) -> list[float]:
    """Our time for every other kind of scores by our time for random ones, shape, k, format and IDs being the same.

    >>> cell = {"shape": "1 x 64", "k": 9, "dtype": "float32", "ids": "by position"}
    >>> beside_random([{**cell, "input": "random", "rankwork.topk": 2.0},
    ...                {**cell, "input": "all equal", "rankwork.topk": 1.0}])
    [0.5]
    """
    random = {_place(record): record["rankwork.topk"] for record in records if record["input"] == "random"}
    others = [record for record in records if record["input"] != "random" and _place(record) in random]
    return [record["rankwork.topk"] / random[_place(record)] for record in others]


def _place(record: Record) -> tuple[Any, ...]:
    return tuple(record[name] for name in ("shape", "k", "dtype", "ids"))


def missed(records: Iterable[Record]) -> list[str]:
    """Every cell that missed its limit, by name and with its figure.

    >>> missed([{"shape": "1 x 64", "k": 9, "input": "random", "dtype": "float32", "ids": "by position",
    ...          "ratio": 1.2345, "limit": 1.05, "missed": True}])
    ['1 x 64, k = 9, random, float32, IDs by position: 1.234 (limit 1.05)']
    """
    return [
        f"{r['shape']}, k = {r['k']}, {r['input']}, {r['dtype']}, IDs {r['ids']}: "
        f"{r['ratio']:.3f} (limit {r['limit']:.4g})"
        for r in records
        if r["missed"]
    ]


# ------------------------------------------------------------------ right before fast


def verified(
    *, shapes: Iterable[tuple[int, int]] = SHAPES, ks: Sequence[int] = KS, inputs: Iterable[str] = INPUTS,
    dtype: str = "float32", shuffled_ids: bool = False, ranked: int = 20_000,
) -> list[Record]:  # fmt: skip
    """For the first tensor of every cell of the grid, whether `topk` is right, and whether a wrong answer is noticed.

    `certified`: the certificate holds for all rows. `equals rank`: the first row is what the reference ranker selects;
    None where a row has more than `ranked` scores, which would take it seconds. `wrong noticed`: the certificate
    refuses the same selection with one selected position exchanged for one that was left out.

    >>> record, = verified(shapes=[(1, 64)], ks=[10], inputs=["16 levels"])
    >>> record["certified"], record["equals rank"], record["wrong noticed"]
    (True, True, True)
    """
    cells = [(rows, n, name) for rows, n in shapes for name in inputs]
    return [
        _verified(scores, k, name, shuffled_ids, ranked)
        for rows, n, name in cells
        for scores in [make_inputs(name, rows, n, dtype, number=1)[0]]
        for k in (k for k in ks if 4 * k <= n)
    ]


def _verified(scores: Any, k: int, name: str, shuffled_ids: bool, ranked: int) -> Record:
    from rankwork.contract.certificate import certify
    from rankwork.contract.topk import topk

    n = scores.shape[-1]
    ids = _shuffled(n) if shuffled_ids else None
    found = topk(scores, k, ids=ids).indices
    return {
        "shape": tuple(scores.shape), "k": k, "input": name, "dtype": str(scores.dtype).removeprefix("torch."),
        "ids": "shuffled" if shuffled_ids else "by position",
        "certified": bool(certify(scores, found, k=k, ids=ids)),
        "equals rank": _equals_rank(scores.view(-1, n)[0], found.view(-1, k)[0], k, ids) if n <= ranked else None,
        "wrong noticed": not certify(scores, _one_exchanged(found, n), k=k, ids=ids),
    }  # fmt: skip


def _equals_rank(scores: Any, found: Any, k: int, ids: Any) -> bool:
    from rankwork.contract.reference import rank

    names = range(len(scores)) if ids is None else ids.ids.tolist()
    selected = rank(zip(names, scores.tolist(), strict=True), k)
    return selected == tuple(names[position] for position in found.tolist())


def _one_exchanged(found: Any, n: int) -> Any:
    """The selection with the last position of the first row exchanged for the lowest one that was left out."""
    wrong = found.clone().view(-1, found.shape[-1])
    taken = set(wrong[0].tolist())
    wrong[0, -1] = next(position for position in range(n) if position not in taken)
    return wrong.view(found.shape)


# ------------------------------------------------------------------------------- inputs


def make_inputs(
    name: str, rows: int, n: int, dtype: str = "float32", device: str = "cpu", *, number: int = TENSORS
) -> list[Any]:
    """Different tensors of one kind of scores, `number` or as many as MEMORY holds, from the seeds 0, 1, 2, ..."""
    import torch

    number = max(1, min(number, MEMORY // (4 * rows * n)))
    tensors = [_scores(name, rows, n, seed).to(getattr(torch, dtype)).to(device) for seed in range(number)]
    return [tensor[0] for tensor in tensors] if rows == 1 else tensors


def _scores(name: str, rows: int, n: int, seed: int) -> Any:
    import torch

    generator = torch.Generator().manual_seed(seed)
    if name.endswith("levels"):
        levels = int(name.removesuffix(" levels").replace(",", ""))
        return torch.randint(0, levels, (rows, n), generator=generator).float()
    if name == "all equal":
        return torch.full((rows, n), float(seed + 1))
    normal = torch.randn(rows, n, generator=generator)
    if name == "bfloat16-rounded":
        return normal.bfloat16().float()
    if name in IN_ORDER:
        return normal.sort(dim=-1, descending=name == "descending").values
    if name == "nearly ascending":
        return torch.cat([normal.sort(dim=-1).values[:, 1:], normal[:, :1]], dim=-1)
    return normal


def _shuffled(n: int) -> Any:
    """The order of n IDs that stand in no relation to the positions."""
    from rankwork.contract.topk import IdOrder

    order = IdOrder(np.random.default_rng(0).permutation(n))
    order.rank  # noqa: B018 - computed once per corpus, so not part of what is timed
    return order


# ------------------------------------------------------------------------------- timing


@contextmanager
def one_thread() -> Iterator[None]:
    """Run torch with one thread, and then with as many as before."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def take_turns(
    functions: Sequence[Callable[[Any], Any]], tensors: Sequence[Any], seconds: float, after: Callable[[], Any] = int
) -> list[float]:
    """The median time of each function over about `seconds`, in 1 to 300 rounds.

    They take turns in rounds. In each a function goes through all tensors twice and is timed the second time: the first
    time it pays for what the one before has left in the caches (torch.topk leaves four times its input to be written
    back). `after` is called before a clock is read: a device's synchronization.
    """
    once = 0.0
    for function in functions:
        _time(function, tensors[0], after)
        once += _time(function, tensors[-1], after)
    rounds = max(1, min(300, round(seconds / (2 * once * len(tensors)))))
    times: list[list[float]] = [[] for _ in functions]
    for _ in range(rounds):
        for place, function in enumerate(functions):
            for tensor in tensors:
                function(tensor)
            times[place] += [_time(function, tensor, after) for tensor in tensors]
    return [median(one) for one in times]


def _time(function: Callable[[Any], Any], tensor: Any, after: Callable[[], Any]) -> float:
    after()
    start = time.perf_counter()
    function(tensor)
    after()
    return time.perf_counter() - start


def order_cost(n: int = 1_000_000) -> Record:
    """The seconds that building an `IdOrder` takes, once per corpus, for integer and for text IDs."""
    from rankwork.contract.topk import IdOrder

    numbers = np.random.default_rng(0).permutation(n)
    texts = [f"doc-{number}" for number in numbers.tolist()]
    return {
        "n": n,
        "integer IDs": _time(lambda ids: IdOrder(ids).rank, numbers, int),
        "text IDs": _time(lambda ids: IdOrder(ids).rank, texts, int),
    }


# ------------------------------------------------------------------- what else it costs


def other_costs(n: int, k: int, *, compiling: bool = False) -> Record:
    """What a selection costs beside its time: memory (on Linux), the first call of a process, the order of the IDs.

    `compiling` adds the first call of an installation.
    """
    first = {"first call, seconds": first_call()}
    if compiling:
        first["first call of an installation, seconds"] = first_call(compiling=True)
    return {"memory": extra_memory(n, k) if sys.platform == "linux" else {}, **first, "orders": order_cost(n)}


def cost_rows(costs: Record) -> list[Record]:
    """The other costs as the rows of a table: what it is, how much, and the unit.

    >>> costs = {"memory": {"n": 10, "k": 1, "input": 40, "torch.topk": 160}, "first call, seconds": 0.5,
    ...          "orders": {"n": 10, "integer IDs": 0.1, "text IDs": 0.2}}
    >>> for row in cost_rows(costs):
    ...     print(*row.values(), sep=" | ")
    extra memory of torch.topk for 10 scores | 4.0 | times the scores
    first call | 0.5 | s
    IdOrder of 10 integer IDs | 0.1 | s
    IdOrder of 10 text IDs | 0.2 | s
    """
    memory, orders = costs["memory"], costs["orders"]
    shares = [(f"extra memory of {name} for {memory['n']:,} scores", share) for name, share in _shares(memory).items()]
    first = [(name.removesuffix(", seconds"), costs[name]) for name in costs if name.endswith(", seconds")]
    built = [(f"IdOrder of {orders['n']:,} {kind}", orders[kind]) for kind in orders if kind != "n"]
    units = ["times the scores"] * len(shares) + ["s"] * (len(first) + len(built))
    rows = zip([*shares, *first, *built], units, strict=True)
    return [{"cost": what, "measured": value, "unit": unit} for (what, value), unit in rows]


def _shares(memory: Record) -> dict[str, float]:
    """The extra memory of each selector, by that of the scores."""
    return {name: memory[name] / memory["input"] for name in memory if "topk" in name}


def missed_memory(costs: Record) -> list[str]:
    """The goal for memory, where it was missed; it is declared for rows of ten million and more.

    >>> missed_memory({"memory": {"n": 10**7, "input": 4 * 10**7, "rankwork.topk": 5 * 10**6}})
    ['extra memory: 0.125 of the scores (goal 0.1)']
    """
    share = _shares(costs["memory"]).get("rankwork.topk", 0.0)
    large = costs["memory"].get("n", 0) >= 10_000_000
    return [f"extra memory: {share:.3f} of the scores (goal {EXTRA:g})"] if large and share > EXTRA else []


# --------------------------------------------------------------- in a process of its own

_SELECTORS = {
    "torch.topk": "select = torch.topk",
    "rankwork.topk": "from rankwork.contract.topk import topk as select",
    "rankwork.topk without numba": (
        "import sys; sys.modules['numba'] = None; from rankwork.contract.topk import topk as select"
    ),
}
_MEMORY = """
import os, re, sys, torch
from pathlib import Path
n, k, status = int(sys.argv[1]), int(sys.argv[2]), Path("/proc/self/status")
torch.set_num_threads(1)
size = lambda name: 1024 * int(re.search(name + r":\\s+(\\d+)", status.read_text())[1])
for selector in sys.argv[3:]:
    if os.fork():  # torch is imported once, and each selection has a process of its own
        os.wait()
        continue
    exec(selector)
    select(torch.rand(1000), min(k, 1000))  # small, so that it leaves no memory to be used again
    scores = torch.rand(n)
    Path("/proc/self/clear_refs").write_text("5")  # the peak counts from here
    before = size("VmRSS")
    select(scores, k)
    print(size("VmHWM") - before, flush=True)
    os._exit(0)
"""
_FIRST = """
import time, torch
scores = torch.rand(10_000)
start = time.perf_counter()
from rankwork.contract.topk import topk
topk(scores, 10)
print(time.perf_counter() - start)
"""


def extra_memory(n: int = 10_000_000, k: int = 1000) -> Record:
    """The bytes beyond a float32 input of n that a selection takes at its peak, in a process of its own (Linux)."""
    printed = _run(_MEMORY, str(n), str(k), *_SELECTORS.values()).split()
    return {"n": n, "k": k, "input": 4 * n, **dict(zip(_SELECTORS, map(int, printed), strict=True))}


def first_call(*, compiling: bool = False) -> float:
    """The seconds of the first selection of a process, torch being loaded: imports, and reading the compiled kernel.

    `compiling` is the first selection of an installation: the kernel is compiled as well, into a cache that is empty.
    """
    if not compiling:
        return float(_run(_FIRST))
    with TemporaryDirectory() as folder:
        return float(_run(_FIRST, NUMBA_CACHE_DIR=folder))


def _run(code: str, *arguments: str, **variables: str) -> str:
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(command, env={**os.environ, **variables}, capture_output=True, text=True, check=True).stdout


# ------------------------------------------------------------------------ accelerators


def compare_ways(
    device: str = "cuda", *, shapes: Iterable[tuple[int, int]] = SHAPES, ks: Sequence[int] = KS,
    inputs: Iterable[str] = ("random", "16 levels", "all equal"), dtype: str = "float32", seconds: float = 0.3,
) -> list[Record]:  # fmt: skip
    """Time torch.topk, the four ways for an accelerator and one read, on a device; say whether each way is right.

    >>> record, = compare_ways("cpu", shapes=[(2, 64)], ks=[3], inputs=["16 levels"], seconds=0)
    >>> [name for name, right in record["right"].items() if not right]
    []
    """
    return [
        _ways(make_inputs(name, rows, n, dtype, device), rows, n, k, name, dtype, device, seconds)
        for rows, n in shapes
        for name in inputs
        for k in ks
        if 4 * k <= n
    ]


def _ways(
    tensors: Sequence[Any], rows: int, n: int, k: int, name: str, dtype: str, device: str, seconds: float
) -> Record:
    import torch

    from rankwork.contract.accelerator import WAYS
    from rankwork.contract.certificate import certify

    tensors = [tensor.view(rows, n) for tensor in tensors]
    functions: dict[str, Callable[[Any], Any]] = {"torch.topk": lambda x: torch.topk(x, k), "floor": lambda x: x.amax()}
    functions |= {way: _with_k(function, k) for way, function in WAYS.items()}
    wait = torch.cuda.synchronize if device.startswith("cuda") else int
    times = dict(zip(functions, take_turns(list(functions.values()), tensors, seconds, wait), strict=True))
    return {
        "shape": f"{rows} x {n}", "rows": rows, "n": n, "k": k, "input": name, "dtype": dtype, "device": device,
        "seconds": times, "ratio": {way: times[way] / times["torch.topk"] for way in WAYS},
        "fastest": min(WAYS, key=times.__getitem__),
        "right": {way: bool(certify(tensors[0], function(tensors[0], k))) for way, function in WAYS.items()},
    }  # fmt: skip


def _with_k(function: Callable[[Any, int], Any], k: int) -> Callable[[Any], Any]:
    return lambda scores: function(scores, k)


def on_cuda(**cells: Any) -> list[Record]:
    """`compare_ways` on the CUDA device; no records where torch sees none."""
    import torch

    return compare_ways("cuda", **cells) if torch.cuda.is_available() else []


def told_ways(records: Sequence[Record]) -> list[str]:
    """Lines that say which way was the fastest, in how many cells, and how it stands to torch.topk in the median.

    >>> cell = {"device": "cuda", "fastest": "by repair", "ratio": {"by repair": 0.5}}
    >>> told_ways([cell, cell])
    ['by repair on cuda: the fastest in 2 of 2 cells; there, a median of 0.5 of torch.topk']
    >>> told_ways([])
    ['The selection on CUDA: not run here, torch sees no CUDA device.']
    """
    won: dict[str, list[float]] = {}
    for record in records:
        won.setdefault(record["fastest"], []).append(record["ratio"][record["fastest"]])
    if not records:
        return ["The selection on CUDA: not run here, torch sees no CUDA device."]
    of, device = len(records), records[0]["device"]
    return [
        f"{way} on {device}: the fastest in {len(ratios)} of {of} cells; "
        f"there, a median of {median(ratios):.2g} of torch.topk"
        for way, ratios in won.items()
    ]
