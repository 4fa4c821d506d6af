"""The top k of shards, put together by the engine that selected from each of them."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from rankwork.engines.base import Engine, Positions
from rankwork.engines.registry import engine
from rankwork.engines.saved_scores import SavedScores
from rankwork.engines.settings import outcome

ARRIVALS = ("first shard first", "last shard first")


def merged(item: Engine, saved: SavedScores, shards: int, arrival: str = ARRIVALS[0]) -> Positions:
    """The positions that an engine selects from its own selections of `shards` parts, as they arrive.

    Each part holds at least k documents; the engine is told their IDs, which are their positions in the whole.

    >>> scores = SavedScores(np.array([1.0, 1.0, 1.0, 1.0], dtype=np.float32), k=1)
    >>> stable = engine("numpy.argsort stable")
    >>> [merged(stable, scores, 2, arrival).tolist() for arrival in ARRIVALS]
    [[0], [2]]
    """
    parts = np.array_split(np.arange(len(saved.scores)), shards)
    arrived = parts if arrival == ARRIVALS[0] else parts[::-1]
    best = np.concatenate([part[item.select(saved.scores[part], saved.k, ids=part)] for part in arrived])
    return np.asarray(best[item.select(saved.scores[best], saved.k, ids=best)])


def merged_and_whole(names: Sequence[str], saved: SavedScores, shards: int) -> list[dict[str, Any]]:
    """A row for each engine and arrival of the shards: what it merges beside what it selects from the whole."""
    return [
        {"engine": name, "arrival": arrival, **_beside_whole(engine(name), saved, shards, arrival)}
        for name in names
        for arrival in ARRIVALS
    ]


def _beside_whole(item: Engine, saved: SavedScores, shards: int, arrival: str) -> dict[str, Any]:
    whole, found = item.select(saved.scores, saved.k), merged(item, saved, shards, arrival)
    common = len(set(whole.tolist()) & set(found.tolist()))
    return {**outcome(saved.scores, found, whole)["same"], "members in common": common}
