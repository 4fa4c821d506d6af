"""All engines through all experiments: one report of plain values, which another machine can repeat and compare."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

import numpy as np

from rankwork.engines.base import Engine, Scores
from rankwork.engines.isolation import Result, from_dicts, in_processes, to_dicts
from rankwork.engines.machine import environment
from rankwork.engines.registry import all_engines, engine
from rankwork.engines.saved_scores import LEVELS, SIX, Book, make
from rankwork.engines.settings import Arm, outcome

FORMAT = "rankwork-engines/1"

Report = dict[str, Any]


def run_experiments(
    engines: Sequence[str | Engine] | None = None, *, seed: int = 0, scores: Mapping[str, dict[str, Any]] | None = None
) -> Report:
    """Observe the engines (all by default) and report: scores, environment, and for each engine what it did or why not.

    The scores are made from `seed` once, or taken bit for bit from another report: `scores=report["scores"]`. Values
    under "seconds" are measured; all others are to be compared. Raises InputError for an unknown engine or for scores
    whose bytes do not match their digest. An engine that fails or dies is an error of that engine.
    """
    book = make(seed) if scores is None else from_dicts(scores)
    chosen = _chosen(engines)
    return {
        "format": FORMAT,
        "seed": seed,
        "environment": environment(),
        "scores": to_dicts(book),
        "engines": _entries(chosen, book, seed),
    }


def _chosen(engines: Sequence[str | Engine] | None) -> tuple[Engine, ...]:
    if engines is None:
        return all_engines()
    return tuple(engine(item) if isinstance(item, str) else item for item in engines)


def _by_home(engines: Sequence[Engine]) -> list[list[Engine]]:
    ordered = sorted(engines, key=lambda item: item.home)
    return [list(group) for _, group in groupby(ordered, key=lambda item: item.home)]


def _entries(chosen: Sequence[Engine], book: Book, seed: int) -> dict[str, dict[str, Any]]:
    """Each engine's entry in the report: what it is, and what was observed or why nothing was."""
    here = [item for item in chosen if item.available()]
    results: dict[str, Result] = {}
    for group in _by_home(here):
        results |= in_processes(group, book, "observe", seed=seed)
    for name, arms in _restarted(here, book, results):
        results[name]["outcome"]["settings"] += arms
    return {item.name: {**_facts(item), **results.get(item.name, {"status": "not here"})} for item in chosen}


def _facts(item: Engine) -> dict[str, Any]:
    found = item.available()
    return {
        "package": item.package,
        "version": found.version,
        "promise": item.promise.to_dict(),
        "by ID": item.by_id,
        "dtypes": list(item.dtypes),
        "devices": list(item.devices),
        "note": found.note,
    }


def _restarted(here: Sequence[Engine], book: Book, results: Mapping[str, Result]) -> Iterator[tuple[str, list[Arm]]]:
    """The arms whose condition holds for a whole process, beside the answers of a process without conditions.

    A condition of one name has the same variables in every adapter, so one process serves all engines that have it.
    """
    ran = [item for item in here if results[item.name]["status"] == "run"]
    for condition in dict.fromkeys(name for item in ran for name in item.restarts):
        under = [item for item in ran if condition in item.restarts]
        found = in_processes(under, book, "answers", variables=under[0].restarts[condition])
        for item in under:
            yield item.name, process_arms(condition, book, results[item.name]["outcome"]["answers"], found[item.name])


def process_arms(condition: str, book: Book, base: Mapping[str, list[int]], found: Result) -> list[Arm]:
    """One arm for each input: the answers of a process under a condition, or why there are none."""
    heads = [{"kind": "process", "condition": condition, "scores": name} for name in (SIX, LEVELS)]
    if found["status"] == "error":
        return [{**head, "status": "error", "note": found["note"]} for head in heads]
    return [
        {**head, "status": "run", **_beside(book[head["scores"]].scores, found["outcome"], base, head["scores"])}
        for head in heads
    ]


def _beside(scores: Scores, found: Mapping[str, list[int]], base: Mapping[str, list[int]], name: str) -> dict[str, Any]:
    return outcome(scores, np.array(found[name]), np.array(base[name]))
