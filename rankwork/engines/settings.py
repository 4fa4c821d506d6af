"""Experiment 3: the same scores under other conditions, one changed at a time.

Each arm says whether the answer changed, layer by layer, and whether it is the contract's. An arm that casts the scores
says first how many scores that changed and how many ties it made: a new tie is no fault of the selection.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from rankwork.engines.base import Engine, Positions, Scores, note
from rankwork.engines.layers import agreement, contract, layers
from rankwork.engines.saved_scores import LEVELS, NORMAL, SIX, Book

Arm = dict[str, Any]

THREADS = (1, 2, 4)
ROWS = (8, 64)
PADDED_TO = 256


def recast(arm: Mapping[str, Any]) -> bool:
    """Whether an arm changed scores before anybody was asked to select: it asks another question then."""
    return bool(arm.get("score changes", {}).get("changed"))


def settings(engine: Engine, book: Book) -> list[Arm]:
    """Every arm that this engine has, run or with the reason why not."""
    arms = (devices, threads, dtypes, batches, paddings, other_n, other_k)
    base = Base(engine, book)
    return [arm for arms_of in arms for arm in arms_of(base)]


class Base:
    """An engine, the inputs, and its own answer to each under no special condition, asked once."""

    def __init__(self, engine: Engine, book: Book) -> None:
        self.engine, self.book = engine, book
        self._answers: dict[str, Positions] = {}

    def answer(self, name: str) -> Positions:
        """The answer that every arm on this input is compared with."""
        if name not in self._answers:
            self._answers[name] = self.engine.select(self.book[name].scores, self.book[name].k)
        return self._answers[name]

    def beside(self, name: str, positions: Positions) -> dict[str, Any]:
        """An answer of an arm that asks for the same k of the same scores."""
        return outcome(self.book[name].scores, positions, self.answer(name))


def _arm(kind: str, condition: str, name: str, run: Callable[[], dict[str, Any]]) -> Arm:
    """The record of one arm. What an engine cannot do under a condition is that arm's error, and the others go on."""
    arm: Arm = {"kind": kind, "condition": condition, "scores": name}
    try:
        return {**arm, "status": "run", **run()}
    except Exception as error:
        return {**arm, "status": "error", "note": note(error)}


def _not_run(kind: str, condition: str, name: str, reason: str) -> Arm:
    return {"kind": kind, "condition": condition, "scores": name, "status": "not run here", "note": reason}


def outcome(scores: Scores, positions: Positions, base: Positions) -> dict[str, Any]:
    """An answer beside the engine's own answer under no special condition, and beside the contract's."""
    found = layers(scores, positions)
    return {
        "same": agreement(found, layers(scores, base)),
        "right": agreement(found, layers(scores, contract(scores, len(positions)))),
        "answer": positions.tolist(),
    }


def devices(base: Base) -> Iterator[Arm]:
    """The engine's other devices."""
    for device in base.engine.devices[1:]:
        for name in (SIX, LEVELS):
            if reason := base.engine.lacks(device):
                yield _not_run("device", device, name, reason)
            else:
                yield _with_options(base, "device", device, name, device=device)


def threads(base: Base) -> Iterator[Arm]:
    """Other thread counts, where the engine takes one for a call."""
    for count in THREADS if base.engine.threaded else ():
        yield _with_options(base, "threads", f"{count} threads" if count > 1 else "1 thread", LEVELS, threads=count)


def _with_options(base: Base, kind: str, condition: str, name: str, **options: Any) -> Arm:
    saved = base.book[name]
    return _arm(kind, condition, name, lambda: base.beside(name, base.engine.select(saved.scores, saved.k, **options)))


def dtypes(base: Base) -> Iterator[Arm]:
    """The other number formats that the engine takes: floats on scores with hardly a tie, all of them on the levels."""
    for dtype in base.engine.dtypes:
        for name in (NORMAL, LEVELS):
            if dtype != base.book[name].scores.dtype.name and not (name == NORMAL and dtype.startswith("int")):
                yield _cast(base, name, dtype)


def _cast(base: Base, name: str, dtype: str) -> Arm:
    saved = base.book[name]

    def run() -> dict[str, Any]:
        changed = cast(saved.scores, dtype)
        found = base.engine.select(changed, saved.k, dtype=dtype)
        changes = score_changes(saved.scores, changed, saved.k)
        return {"score changes": changes, **outcome(changed, found, base.answer(name))}

    return _arm("dtype", dtype, name, run)


def cast(scores: Scores, dtype: str) -> Scores:
    """The scores in another number format; bfloat16, which numpy lacks, as the float32 values that it can hold.

    >>> cast(np.array([1.00390625], dtype=np.float32), "bfloat16").tolist()
    [1.0]
    """
    if dtype != "bfloat16":
        return scores.astype(dtype)
    bits = scores.astype(np.float32).view(np.uint32)
    # Round the 16 bits that bfloat16 drops to the nearest, ties to even.
    rounded = bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))
    return (rounded & np.uint32(0xFFFF0000)).view(np.float32)


def score_changes(before: Scores, after: Scores, k: int) -> dict[str, int]:
    """How many scores a cast changed, how many distinct ones it left, and how many are tied across the cut at k.

    >>> row = np.array([3.0, 2.0, 1.0])
    >>> score_changes(row, np.array([3.0, 2.0, 2.0]), k=2)
    {'changed': 1, 'distinct before': 3, 'distinct after': 2, 'tied at the cut before': 1, 'tied at the cut after': 2}
    """
    return {
        "changed": int((before.astype(np.float64) != after.astype(np.float64)).sum()),
        "distinct before": len(np.unique(before)),
        "distinct after": len(np.unique(after)),
        "tied at the cut before": _tied(before, k),
        "tied at the cut after": _tied(after, k),
    }


def _tied(scores: Scores, k: int) -> int:
    return int((scores == np.sort(scores)[-k]).sum())


def batches(base: Base) -> Iterator[Arm]:
    """The row as the first and as the last of a batch whose other rows are the same scores, rotated."""
    for rows in ROWS if base.engine.batches else ():
        for name in (SIX, LEVELS):
            for place, index in (("first", 0), ("last", rows - 1)):
                yield _in_batch(base, name, f"{place} of {rows} rows", rows, index)


def _in_batch(base: Base, name: str, condition: str, rows: int, index: int) -> Arm:
    saved = base.book[name]

    def run() -> dict[str, Any]:
        batch = np.stack([np.roll(saved.scores, row - index) for row in range(rows)])
        return base.beside(name, base.engine.select(batch, saved.k)[index])

    return _arm("batch", condition, name, run)


def paddings(base: Base) -> Iterator[Arm]:
    """Losing documents appended, as a batch of ragged rows is padded."""
    for name in (SIX, LEVELS):
        scores = base.book[name].scores
        padded = np.append(scores, np.full(-len(scores) % PADDED_TO, scores.min() - 1, dtype=scores.dtype))
        yield _same_winners(base, "padding", f"padded to {len(padded)}", name, padded, np.arange(len(scores)))


def other_n(base: Base) -> Iterator[Arm]:
    """Losing documents left out: those below the k-th score, which no right answer contains."""
    for name in (SIX, LEVELS):
        scores, k = base.book[name].scores, base.book[name].k
        kept = np.flatnonzero(scores >= np.sort(scores)[-k])
        yield _same_winners(base, "n", f"{len(kept)} candidates", name, scores[kept], kept)


def _same_winners(base: Base, kind: str, condition: str, name: str, asked: Scores, places: Positions) -> Arm:
    """Ask for the top k of other scores, whose documents stand at `places` of the saved ones; the rest is padding."""

    def run() -> dict[str, Any]:
        found = base.engine.select(asked, base.book[name].k)
        if found.max() >= len(places):
            raise ValueError(f"selected the padding at position {found.max()}, expected 0 to {len(places) - 1}")
        return base.beside(name, places[found])

    return _arm(kind, condition, name, run)


def other_k(base: Base) -> Iterator[Arm]:
    """Other values of k: the shorter of two answers should be the beginning of the longer one."""
    for name in (SIX, LEVELS):
        n, k = len(base.book[name].scores), base.book[name].k
        for other in dict.fromkeys(min(other, n) for other in (1, k - 1, k + 1, 4 * k, 16 * k)):
            yield _with_k(base, name, other)


def _with_k(base: Base, name: str, other: int) -> Arm:
    saved = base.book[name]

    def run() -> dict[str, Any]:
        length = min(other, saved.k)
        found = base.engine.select(saved.scores, other)
        return outcome(saved.scores, found[:length], base.answer(name)[:length])

    return _arm("k", f"k = {other}", name, run)
