"""Engines run in processes of their own.

An engine that dies takes nobody with it; libraries that bring their own threads do not meet; and conditions that a
process can only start with can be varied. `python -m rankwork.engines.isolation JOB RESULTS` is the process.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

from rankwork.engines.base import Engine, note, without_paths
from rankwork.engines.registry import engines_of
from rankwork.engines.saved_scores import Book, SavedScores
from rankwork.engines.stability import answers, observe

Result = dict[str, Any]

# Threads that wait give up their core: on a small machine, spinning ones take most of the time.
WAIT_POLICY = {"OMP_WAIT_POLICY": "PASSIVE"}


def in_processes(
    engines: Sequence[Engine],
    book: Book,
    task: str,
    *,
    seed: int = 0,
    variables: Mapping[str, str] | None = None,
    timeout: float = 120.0,
) -> dict[str, Result]:
    """What each engine sends back, by name: status "run" with outcome and seconds, or status "error" with a note.

    `task` is "observe" or "answers". The engines share a process, which is started again after each death until every
    engine has its result; the engine that was being asked when it died gets the blame.
    """
    results: dict[str, Result] = {}
    waiting = [(engine.name, engine.home) for engine in engines]
    while waiting:
        job = {"engines": waiting, "task": task, "seed": seed, "scores": to_dicts(book)}
        done, death = _process(job, variables or {}, timeout)
        results |= done
        waiting = [(name, home) for name, home in waiting if name not in done]
        if death and waiting:
            results[waiting.pop(0)[0]] = {"status": "error", "note": death}
    return results


def to_dicts(book: Book) -> dict[str, dict[str, Any]]:
    """The saved scores as plain values."""
    return {name: saved.to_dict() for name, saved in book.items()}


def from_dicts(saved: Mapping[str, dict[str, Any]]) -> Book:
    """The scores of `to_dicts`, bit for bit."""
    return {name: SavedScores.from_dict(entry) for name, entry in saved.items()}


def _process(job: dict[str, Any], variables: Mapping[str, str], timeout: float) -> tuple[dict[str, Result], str]:
    """The results that one process wrote before it ended, and how it died, if it did."""
    with tempfile.TemporaryDirectory() as folder:
        asked, answered = Path(folder, "job.json"), Path(folder, "results.jsonl")
        asked.write_text(json.dumps(job))
        death = _run(
            [sys.executable, "-m", "rankwork.engines.isolation", str(asked), str(answered)], variables, timeout
        )
        lines = answered.read_text().splitlines(keepends=True) if answered.exists() else []
        complete = [json.loads(line) for line in lines if line.endswith("\n")]
    results = {line.pop("engine"): line for line in complete}
    missing = len(results) < len(job["engines"])
    return results, death or ("the process ended without an answer" if missing else "")


def _run(command: list[str], variables: Mapping[str, str], timeout: float) -> str:
    """Run a process to its end; how it died, or the empty text."""
    paths = os.pathsep.join(os.path.abspath(path) for path in sys.path)
    surroundings = {**WAIT_POLICY, **os.environ, "PYTHONPATH": paths, **variables}
    try:
        ended = subprocess.run(command, env=surroundings, capture_output=True, timeout=timeout, text=True)
    except subprocess.TimeoutExpired:
        return f"no answer within {timeout:g} s"
    if ended.returncode == -signal.SIGINT:
        raise KeyboardInterrupt  # the user's, which reached the process too: it is no death of an engine
    if ended.returncode < 0:
        return f"the process died of signal {-ended.returncode}"
    last = (ended.stderr.strip().splitlines() or [""])[-1]
    return f"the process ended with code {ended.returncode}: {without_paths(last)}" if ended.returncode else ""


def _answer(job: dict[str, Any]) -> Iterator[Result]:
    """Inside the process: the result of each engine, as soon as it is there."""
    book = from_dicts(job["scores"])
    for name, home in job["engines"]:
        start = perf_counter()
        result = _attempt(name, home, book, job)
        yield {"engine": name, **result, "seconds": round(perf_counter() - start, 3)}


def _attempt(name: str, home: str, book: Book, job: dict[str, Any]) -> Result:
    try:
        engine = next(engine for engine in engines_of(home) if engine.name == name)
        outcome = observe(engine, book, seed=job["seed"]) if job["task"] == "observe" else answers(engine, book)
    except Exception as error:
        return {"status": "error", "note": note(error)}
    return {"status": "run", "outcome": outcome}


def main(job: str, results: str) -> None:
    """Do the job and write a line for each engine; a line is complete before the next engine starts."""
    with open(results, "w") as file:
        for line in _answer(json.loads(Path(job).read_text())):
            file.write(json.dumps(line) + "\n")
            file.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
