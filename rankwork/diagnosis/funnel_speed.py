"""How long a funnel takes against what pyarrow takes to read the same file, and how much memory each of them needs.

The file is made here: two routes, their fusion, a reranker, each with a list of `items`, and two pieces of gold a
case. Both times are taken in this process, one after the other, on one thread of pyarrow.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Thread
from time import perf_counter, process_time
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwork.diagnosis.funnel import funnel
from rankwork.trace import Case, Evidence, Requirement

if TYPE_CHECKING:
    import pyarrow as pa

GROUP_TRACES = 1000
DOCUMENTS = 100_000
_SAMPLED_EVERY_S = 0.02


@dataclass(frozen=True)
class FunnelSpeed:
    """Seconds to read the file and to take it through the funnel, and the peak of memory in between, in MiB.

    The peaks count what was added to the process while each ran. `file_mib` is the size of the file.
    """

    traces: int
    stages: int
    items: int
    file_mib: float
    read_s: float
    funnel_s: float
    read_cpu_s: float
    funnel_cpu_s: float
    read_peak_mib: float
    funnel_peak_mib: float
    gold: int

    @property
    def ratio(self) -> float:
        """Funnel over reading, by the clock."""
        return self.funnel_s / self.read_s

    @property
    def cpu_ratio(self) -> float:
        """Funnel over reading, by processor time: what other processes take does not count."""
        return self.funnel_cpu_s / self.read_cpu_s


def measure_funnel(
    traces: int = 100_000, items: int = 100, *, seed: int = 1, folder: Path | None = None
) -> FunnelSpeed:
    """Make a file of so many traces with four stages of `items` each, read it with pyarrow, and take its funnel.

    The first of the read is not counted: it brings the file into memory for both. `folder` is where the file is made
    and removed again; None is the system's place for such.
    """
    with TemporaryDirectory(dir=folder) as scratch:
        path = Path(scratch) / "traces.parquet"
        write_drawn(path, traces, items, seed)
        _read(path)
        (read_s, read_cpu), read_peak, _ = _timed(lambda: _read(path))
        cases = drawn_cases(traces, seed)
        (funnel_s, funnel_cpu), funnel_peak, found = _timed(lambda: funnel(cases, path))
        gold = sum(count for (name, _), count in found.losses.rows.items() if name == "all")
        size = path.stat().st_size / 2**20
    return FunnelSpeed(traces, 4, items, size, read_s, funnel_s, read_cpu, funnel_cpu, read_peak, funnel_peak, gold)


def write_drawn(path: Path, traces: int, items: int, seed: int) -> None:
    """A file of drawn traces, a row group for each thousand."""
    from pyarrow import parquet

    from rankwork.inputs.trace_tables import trace_schema

    options: dict[str, Any] = {"compression": "zstd", "dictionary_pagesize_limit": 2**24}
    with parquet.ParquetWriter(path, trace_schema(), **options) as file:
        for batch in drawn_batches(traces, items, seed):
            file.write_batch(batch)


def drawn_cases(traces: int, seed: int) -> list[Case]:
    """The cases of the drawn traces: two requirements each, a document that the routes may find."""
    draw = np.random.default_rng(seed)
    gold = draw.integers(0, DOCUMENTS, (traces, 2))
    return [
        Case(
            id=f"q{number}",
            query="?",
            requires=tuple(Requirement(any_of=(Evidence(id=_name(d)),)) for d in dict.fromkeys(row)),
            slices=("even",) if number % 2 == 0 else ("odd",),
        )
        for number, row in enumerate(gold.tolist())
    ]


def drawn_batches(traces: int, items: int, seed: int) -> "Iterator[pa.RecordBatch]":
    """The traces as record batches of the schema: half of the gold is found by a route, now and then by both."""
    draw = np.random.default_rng(seed)
    gold = draw.integers(0, DOCUMENTS, (traces, 2))
    for start in range(0, traces, GROUP_TRACES):
        part = gold[start : start + GROUP_TRACES]
        routes = [_route(draw, part, items) for _ in range(2)]
        yield _batch(start, *_staged(draw, routes, items))


def _route(draw: np.random.Generator, gold: Any, items: int) -> Any:
    """Documents without repetition: a stride through the vocabulary from a drawn start, gold set at a drawn place."""
    start = draw.integers(0, DOCUMENTS, (len(gold), 1))
    found = (start + 997 * np.arange(items)) % DOCUMENTS
    for column in range(2):
        rows = np.flatnonzero(draw.random(len(gold)) < 0.5)
        absent = rows[~(found[rows] == gold[rows, column, None]).any(axis=1)]
        found[absent, draw.integers(0, items, len(absent))] = gold[absent, column]
    return found


def _staged(draw: np.random.Generator, routes: list[Any], items: int) -> tuple[Any, Any]:
    """IDs and scores [traces, 4, items]: both routes, their fusion by ranks, and the same items in a drawn order."""
    scores = -np.sort(-draw.random((2, *routes[0].shape)), axis=2)
    both = np.concatenate(routes, axis=1)
    order = np.argsort(both, axis=1, kind="stable")
    ids = np.take_along_axis(both, order, axis=1)
    value = np.take_along_axis(np.tile(1.0 / (61 + np.arange(items)), (len(both), 2)), order, axis=1)
    again = ids[:, 1:] == ids[:, :-1]
    value[:, :-1] += np.where(again, value[:, 1:], 0)
    value[:, 1:][again] = -1
    best = np.argsort(-value, axis=1, kind="stable")[:, :items]
    fused, sums = np.take_along_axis(ids, best, axis=1), np.take_along_axis(value, best, axis=1)
    shuffled = np.argsort(draw.random(fused.shape), axis=1)
    reranked = np.take_along_axis(fused, shuffled, axis=1)
    last = -np.sort(-draw.random(fused.shape), axis=1)
    return np.stack([*routes, fused, reranked], axis=1), np.stack([*scores, sums, last], axis=1)


def _batch(start: int, ids: Any, scores: Any) -> "pa.RecordBatch":
    import pyarrow as pa

    from rankwork.inputs.trace_tables import trace_schema

    traces, stages, items = ids.shape
    n = traces * stages
    schema = trace_schema()
    stage_type = schema.field("stages").type.value_type
    used, codes = np.unique(ids.ravel(), return_inverse=True)
    names = pa.array([_name(d) for d in used.tolist()])
    columns = {
        "id": pa.DictionaryArray.from_arrays(pa.array(codes.ravel().astype(np.int32)), names),
        "rank": pa.array(np.tile(np.arange(1, items + 1), n)),
        "score": pa.array(scores.ravel()),
        "kept": pa.array(np.ones(n * items, bool)),
    }
    listed = pa.ListArray.from_arrays(
        pa.array(np.arange(n + 1, dtype=np.int32) * items),
        _struct(stage_type.field("items").type.value_type, columns, n * items),
    )
    held = {
        "kind": _repeated(["retrieve", "retrieve", "fuse", "rerank"], traces),
        "route": _repeated(["bm25", "dense", "rrf", ""], traces),
        "requested": pa.array(np.full(n, items)),
        "returned": pa.array(np.full(n, items)),
        "complete": pa.array(np.zeros(n, bool)),
        "parameters": pa.array(["{}", "{}", '{"c":60,"method":"rrf"}', "{}"] * traces),
        "items": listed,
    }
    rows = pa.ListArray.from_arrays(
        pa.array(np.arange(traces + 1, dtype=np.int32) * stages), _struct(stage_type, held, n)
    )
    cases = pa.array([f"q{number}" for number in range(start, start + traces)])
    given = {"case": cases, "stages": rows}
    return pa.record_batch([given.get(f.name, pa.nulls(traces, f.type)) for f in schema], schema=schema)


def _struct(kind: Any, columns: dict[str, Any], n: int) -> Any:
    import pyarrow as pa

    children = [columns[field.name] if field.name in columns else pa.nulls(n, field.type) for field in kind]
    return pa.StructArray.from_arrays(children, fields=list(kind))


def _repeated(words: list[str], times: int) -> Any:
    import pyarrow as pa

    return pa.array(words * times).dictionary_encode()


def _name(document: int) -> str:
    return f"doc{document:06d}#1"


def _read(path: Path) -> int:
    """What pyarrow takes: every row group in memory once, one at a time."""
    from pyarrow import parquet

    with parquet.ParquetFile(path) as file:
        return sum(file.read_row_group(group, use_threads=False).num_rows for group in range(file.num_row_groups))


def _timed(work: Any) -> tuple[tuple[float, float], float, Any]:
    """Seconds by the clock and of the processor, the peak of memory above where it began in MiB, and what came out."""
    import psutil

    process = psutil.Process(os.getpid())
    before = process.memory_info().rss
    peak, done = [before], Event()

    def watch() -> None:
        while not done.wait(_SAMPLED_EVERY_S):
            peak[0] = max(peak[0], process.memory_info().rss)

    watcher = Thread(target=watch, daemon=True)
    watcher.start()
    start, start_cpu = perf_counter(), process_time()
    found = work()
    seconds = (perf_counter() - start, process_time() - start_cpu)
    done.set()
    watcher.join()
    return seconds, (max(peak[0], process.memory_info().rss) - before) / 2**20, found
