"""A sweep: one notebook over a grid of parameter values, each combination a record, and one more record over them all.

A sweep's file is a parameters file with a `grid`: `k: [1, 5, 10]` under it makes three executions; with a second list
the combinations are all pairs. What is stored already, complete and verified, is not run again.
"""

import itertools
import json
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from rankwork.digest import canonical_json, digest
from rankwork.errors import ParameterError
from rankwork.evidence import manifest, parameters, runner, sweep_table
from rankwork.evidence.runner import GRID, Finished, Request
from rankwork.evidence.store import Store, read_manifest
from rankwork.evidence.verifying import verify

NOTEBOOK = Path(__file__).with_name("sweep.ipynb")
_SCHEMA = Path(__file__).with_name("sweep.schema.json")
_MOST = 10_000

Done = Callable[[int, int], None]
"""Called with how many combinations have a record, and how many there are."""


class Place(Protocol):
    """Where the executions of a sweep take place."""

    def surroundings(self) -> Mapping[str, Any]:
        """The library, versions and device there, which belong to a recipe."""

    def execute(self, requests: Sequence[Request], stored: Callable[[Finished], None]) -> Sequence[Finished]:
        """Execute requests; their records in the same order. `stored` is called with each as it is stored."""


@dataclass(frozen=True)
class Here:
    """Processes of this machine, `jobs` at a time."""

    store: Store
    jobs: int = 1
    timeout: float | None = None

    def surroundings(self) -> Mapping[str, Any]:
        """Those of this process."""
        return manifest.surroundings()

    def execute(self, requests: Sequence[Request], stored: Callable[[Finished], None]) -> list[Finished]:
        """Execute requests as `runner.run` does."""
        return runner.run(requests, self.store, jobs=self.jobs, timeout=self.timeout, stored=stored)


@dataclass(frozen=True)
class Grid:
    """The content of a sweep's file: values that stay, and the lists whose combinations are run."""

    fixed: dict[str, Any]
    lists: dict[str, list[Any]]

    @property
    def combinations(self) -> list[dict[str, Any]]:
        """The values of each execution; the last list changes fastest.

        >>> Grid({"n": 0}, {"k": [1, 2], "s": ["a"]}).combinations
        [{'n': 0, 'k': 1, 's': 'a'}, {'n': 0, 'k': 2, 's': 'a'}]
        """
        return [
            {**self.fixed, **dict(zip(self.lists, values, strict=True))}
            for values in itertools.product(*self.lists.values())
        ]


@dataclass(frozen=True)
class Sweep:
    """A checked sweep: the names that vary, and a request for each combination."""

    notebook: str
    names: tuple[str, ...]
    requests: tuple[Request, ...]


def load_grid(path: Path) -> Grid:
    """Read a sweep's file. ParameterError for a file without a grid of lists, or one of too many combinations."""
    fixed = parameters.load_set(path)
    lists = fixed.pop(GRID, None)
    if not isinstance(lists, dict) or not lists:
        raise ParameterError(f"{path.name}: '{GRID}:' with a list of values for each of its names was expected")
    count = 1
    for name, values in lists.items():
        _check_list(name, values, fixed, path.name)
        count *= len(values)
    if count > _MOST:
        raise ParameterError(f"{path.name}: the grid has {count} combinations, at most {_MOST} are run")
    return Grid(fixed, lists)


def _check_list(name: str, values: Any, fixed: Mapping[str, Any], where: str) -> None:
    if not isinstance(values, list) or not values:
        raise ParameterError(f"{where}: {GRID}: {name} must be a list of values, got {values!r}")
    if name in fixed:
        raise ParameterError(f"{where}: {name} stands in the grid and beside it")
    texts = [canonical_json(value) for value in values]
    if repeated := [text for text in texts if texts.count(text) > 1]:
        raise ParameterError(f"{where}: {GRID}: {name} names {repeated[0]} twice")


def prepare(notebook: Path, grid_file: Path, assignments: tuple[str, ...] = (), privacy: str | None = None) -> Sweep:
    """Check every combination before anything runs; `assignments` hold for all of them."""
    grid = load_grid(grid_file)
    source = runner.read_notebook(notebook)
    typed = parameters.from_text(assignments, source.schema)
    if clash := sorted(set(typed) & set(grid.lists)):
        raise ParameterError(f"-p {clash[0]}: {clash[0]} stands in the grid of {grid_file.name}")
    base = grid_file.resolve().parent
    requests = tuple(source.request(values, base, typed, privacy) for values in grid.combinations)
    values = [canonical_json(request.values) for request in requests]
    if len(set(values)) < len(values):
        raise ParameterError(f"{grid_file.name}: two combinations of the grid are the same values")
    return Sweep(source.name, tuple(grid.lists), requests)


def run(sweep: Sweep, store: Store, place: Place, done: Done | None = None) -> list[Finished]:
    """A record of each combination, in the order of the grid: those that are stored already, and those run now."""
    found = stored(sweep.requests, store, place.surroundings())
    missing = [request for request, record in zip(sweep.requests, found, strict=True) if record is None]
    count = len(found) - len(missing)

    def one_more(_: Finished) -> None:
        nonlocal count
        count += 1
        if done:
            done(count, len(found))

    if done:
        done(count, len(found))
    ran = iter(place.execute(missing, one_more) if missing else ())
    return [record or next(ran) for record in found]


def stored(requests: Sequence[Request], store: Store, machine: Mapping[str, Any]) -> list[Finished | None]:
    """The complete and verified record of each request, the latest where there are several, else None."""
    complete = {entry.recipe_digest: Path(entry.path) for entry in store.entries() if entry.status == "complete"}
    return [_verified(complete.get(digest(runner.asked(request, machine)[1]))) for request in requests]


def _verified(folder: Path | None) -> Finished | None:
    if folder is None or not verify(folder):
        return None
    kept = read_manifest(folder)
    return Finished(kept["notebook"], folder.name, folder, kept["status"], kept["reason"])


def over_all(sweep: Sweep, records: Sequence[Finished], store: Store) -> Finished:
    """The record over a whole sweep: a table and a figure, made by a notebook that came with rankwork.

    What the notebook is given names each execution by its recipe and result digests, so the same sweep on another
    machine asks the same. It is not run again when it is stored already.
    """
    with tempfile.TemporaryDirectory(prefix="rankwork-sweep-") as folder:
        path = Path(folder) / "sweep.json"
        content = sweep_table.content(sweep.notebook, sweep.names, [record.path for record in records])
        path.write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")
        request = runner.read_notebook(NOTEBOOK, _SCHEMA).request({"sweep": path.name}, path.parent, {})
        return stored([request], store, manifest.surroundings())[0] or runner.run([request], store)[0]


def load(path: str | Path) -> "sweep_table.SweepTable":
    """The table that the file of a sweep holds; what the sweep's notebook begins with."""
    return sweep_table.SweepTable.from_json(json.loads(Path(path).read_bytes()))
