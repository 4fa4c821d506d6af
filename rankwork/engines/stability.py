"""Three experiments, kept apart, because three different things are called "not deterministic".

1. `repeated`: the same input again. What differs here has no reason that the caller can see: threads, atomics, chance.
2. `rearranged`: the same documents in another order of arrival. What differs here is decided by where documents stand.
3. `settings`, a module of its own: the same input under other conditions: device, number format, threads, batch,
   padding, k and n.

Each answer is taken in three layers and counted; `counterexamples` looks for the smallest input that breaks a promise.
"""

from collections.abc import Mapping, Sequence
from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankwork.engines.base import Engine
from rankwork.engines.counterexamples import counterexamples
from rankwork.engines.layers import LAYERS, Tally, agreement, contract, layers
from rankwork.engines.saved_scores import LARGE, LEVELS, SIX, ZEROS, Book, SavedScores, with_large
from rankwork.engines.settings import settings

IDs = NDArray[np.int64]

REPEATS_LARGE = 5
ARRIVALS_SAMPLED = 12


def observe(engine: Engine, book: Book, *, seed: int) -> dict[str, Any]:
    """All three experiments on one engine, with the smallest counterexamples, as plain values for a report."""
    inputs = with_large(book)
    repeats = repeated(engine, inputs)
    return {
        "repeated": repeats,
        "rearranged": rearranged(engine, inputs, seed=seed),
        "settings": settings(engine, inputs),
        "smallest": counterexamples(engine, inputs, varies=varying(repeats)),
        "answers": answers(engine, inputs),
    }


def varying(repeats: Mapping[str, Mapping[str, Any]]) -> str | None:
    """The name of the first input on which the repetitions differed, or None."""
    return next((name for name, tally in repeats.items() if tally["distinct"]["full order"] > 1), None)


def repeated(engine: Engine, inputs: Book) -> dict[str, Any]:
    """Experiment 1: each input asked again and again, under the same conditions."""
    times = dict.fromkeys((SIX, ZEROS, LEVELS), engine.repeats)
    if engine.largest >= len(inputs[LARGE].scores):
        times[LARGE] = REPEATS_LARGE
    return {name: _repeat(engine, inputs[name], count) for name, count in times.items()}


def _repeat(engine: Engine, saved: SavedScores, times: int) -> dict[str, Any]:
    right = layers(saved.scores, contract(saved.scores, saved.k))
    tally = Tally()
    for _ in range(times):
        tally.add(layers(saved.scores, engine.select(saved.scores, saved.k)), right)
    return tally.to_dict()


def rearranged(engine: Engine, book: Book, *, seed: int) -> dict[str, Any]:
    """Experiment 2: the six documents in all 720 orders of arrival, the levels in a sample of orders.

    The documents keep their IDs. "right" is the contract by ID, which no arrival may change; "right by position" counts
    the answers that would be right if the arrival were the order of the IDs. The 720 are asked twice: "not repeated"
    counts, layer by layer, those that got another answer the second time: their change is no doing of the arrival.
    """
    six, levels = book[SIX], book[LEVELS]
    random = np.random.default_rng(seed)
    every = [np.array(order) for order in permutations(range(len(six.scores)))]
    sample = [random.permutation(len(levels.scores)) for _ in range(min(ARRIVALS_SAMPLED, engine.repeats))]
    first, second = _documents(engine, six, every), _documents(engine, six, every)
    return {
        SIX: {**_count(six, every, first), "not repeated": _changed(six, first, second)},
        LEVELS: _count(levels, sample, _documents(engine, levels, sample)),
    }


def _documents(engine: Engine, saved: SavedScores, arrivals: Sequence[IDs]) -> list[IDs]:
    """For each arrival the documents that were selected, by their IDs, which are their places in the saved scores."""
    return [ids[engine.select(saved.scores[ids], saved.k, ids=ids)] for ids in arrivals]


def _changed(saved: SavedScores, first: Sequence[IDs], second: Sequence[IDs]) -> dict[str, int]:
    """In each layer, how many of the first answers differ from the second ones."""
    pairs = zip(first, second, strict=True)
    same = [agreement(layers(saved.scores, one), layers(saved.scores, other)) for one, other in pairs]
    return {layer: sum(not found[layer] for found in same) for layer in LAYERS}


def _count(saved: SavedScores, arrivals: Sequence[IDs], selected: Sequence[IDs]) -> dict[str, Any]:
    right = layers(saved.scores, contract(saved.scores, saved.k))
    tally = Tally()
    for ids, documents in zip(arrivals, selected, strict=True):
        by_position = np.array_equal(documents, ids[contract(saved.scores[ids], saved.k)])
        tally.add(layers(saved.scores, documents), right, by_position=by_position)
    return tally.to_dict()


def answers(engine: Engine, book: Book) -> dict[str, list[int]]:
    """One answer to each input that has ties: what a process under other conditions sends back."""
    return {name: engine.select(book[name].scores, book[name].k).tolist() for name in (SIX, LEVELS)}
