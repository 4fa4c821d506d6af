"""All engines through all experiments: one report of plain values, which another machine can repeat and compare."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np

from rankwork.engines.base import Engine, Scores
from rankwork.engines.isolation import Result, from_dicts, in_processes, to_dicts
from rankwork.engines.machine import environment, processors
from rankwork.engines.registry import all_engines, engine
from rankwork.engines.saved_scores import LEVELS, SIX, Book, make
from rankwork.engines.settings import Arm, outcome

FORMAT = "rankwork-engines/1"

Report = dict[str, Any]
# Told the name of what has been asked, how many processes have ended, and of how many.
Progress = Callable[[str, int, int], None]
_Ask = Callable[[str, list[Engine]], dict[str, Result]]

# More of them at once would need memory rather than processors: each loads its library.
MOST_PROCESSES = 4


def run_experiments(
    engines: Sequence[str | Engine] | None = None,
    *,
    seed: int = 0,
    scores: Mapping[str, dict[str, Any]] | None = None,
    like: Report | None = None,
    progress: Progress | None = None,
) -> Report:
    """Observe the engines (all by default) and report: scores, environment, and for each engine what it did or why not.

    The scores are made from `seed` once, or taken bit for bit from another report: `scores=report["scores"]`; `like` is
    a report whose scores and seed are both taken, so that the same questions are asked again. Values
    under "seconds" are measured; all others are to be compared. Raises InputError for an unknown engine or for scores
    whose bytes do not match their digest. An engine that fails or dies is an error of that engine. `progress` is told
    of each process that has ended.
    """
    if like is not None:
        seed, scores = like["seed"], like["scores"]
    book = make(seed) if scores is None else from_dicts(scores)
    chosen = _chosen(engines)
    return {
        "format": FORMAT,
        "seed": seed,
        "environment": environment(),
        "scores": to_dicts(book),
        "engines": _entries(chosen, book, seed, progress or _nobody),
    }


def _chosen(engines: Sequence[str | Engine] | None) -> tuple[Engine, ...]:
    if engines is None:
        return all_engines()
    return tuple(engine(item) if isinstance(item, str) else item for item in engines)


def _nobody(name: str, ended: int, of: int) -> None:
    """Nobody looks."""


def _entries(chosen: Sequence[Engine], book: Book, seed: int, progress: Progress) -> dict[str, dict[str, Any]]:
    """Each engine's entry in the report: what it is, and what was observed or why nothing was."""
    here = [item for item in chosen if item.available()]
    homes, conditions = _by_home(here), _by_condition(here)
    processes = _Processes(progress, len(homes) + len(conditions))
    results: dict[str, Result] = {}
    for _, found in processes.results(partial(_observed, book, seed), homes):
        results |= found
    for condition, found in processes.results(partial(_restarted, book, results), conditions):
        for name, result in found.items():
            arms = process_arms(condition, book, results[name]["outcome"]["answers"], result)
            results[name]["outcome"]["settings"] += arms
    return {item.name: {**_facts(item), **results.get(item.name, {"status": "not here"})} for item in chosen}


def _by_home(engines: Sequence[Engine]) -> dict[str, list[Engine]]:
    """The engines of each module: they share a process."""
    homes = sorted({item.home for item in engines})
    return {home.rpartition(".")[2]: [item for item in engines if item.home == home] for home in homes}


def _by_condition(engines: Sequence[Engine]) -> dict[str, list[Engine]]:
    """The engines that have each condition that holds for a whole process."""
    conditions = dict.fromkeys(name for item in engines for name in item.restarts)
    return {name: [item for item in engines if name in item.restarts] for name in conditions}


class _Processes:
    """Results of processes, of which a few run at a time; they come in the order in which they were asked for."""

    def __init__(self, progress: Progress, total: int) -> None:
        self.progress, self.total, self.ended = progress, total, 0

    def results(self, ask: _Ask, jobs: Mapping[str, list[Engine]]) -> Iterator[tuple[str, dict[str, Result]]]:
        """The name of each job, and what came of asking its engines."""
        with ThreadPoolExecutor(min(MOST_PROCESSES, processors())) as pool:
            for name, found in zip(jobs, pool.map(ask, jobs, jobs.values()), strict=True):
                self.ended += 1
                self.progress(name, self.ended, self.total)
                yield name, found


def _observed(book: Book, seed: int, home: str, engines: list[Engine]) -> dict[str, Result]:
    return in_processes(engines, book, "observe", seed=seed)


def _restarted(book: Book, results: Mapping[str, Result], condition: str, engines: list[Engine]) -> dict[str, Result]:
    """The answers of a process under a condition, for those engines that answered in one without.

    A condition of one name has the same variables in every adapter, so one process serves all engines that have it.
    """
    ran = [item for item in engines if results[item.name]["status"] == "run"]
    return in_processes(ran, book, "answers", variables=engines[0].restarts[condition])


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
