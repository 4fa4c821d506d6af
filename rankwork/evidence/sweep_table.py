"""The numbers of a sweep side by side: one row a combination, one column a recorded number.

Numbers are found in what a notebook recorded: single ones, ranges (min, expected, max and the contract's value), the
means of an audit, and those inside mappings. Rankings, arrays and tables stay in their records.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankwork.errors import EvidenceError
from rankwork.evidence.store import read_manifest

if TYPE_CHECKING:
    import pandas as pd

FORMAT = "rankwork-sweep/1"
RANGE = ("contract", "min", "expected", "max")
_DEEPEST = 3
_MOST = 60


@dataclass(frozen=True)
class Row:
    """One execution: its values of the grid's names, what became of it, and its numbers by name."""

    values: Mapping[str, Any]
    status: str
    recipe_digest: str
    result_digest: str
    numbers: Mapping[str, Any]
    measured: Mapping[str, Any]


@dataclass(frozen=True)
class SweepTable:
    """All rows of a sweep of `notebook` over the parameters `names`."""

    notebook: str
    names: tuple[str, ...]
    rows: tuple[Row, ...]

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> "SweepTable":
        """A table from what `content` wrote; EvidenceError for another format."""
        if content.get("format") != FORMAT:
            raise EvidenceError(f"a file of format {FORMAT} was expected, got {content.get('format')!r}")
        return cls(content["notebook"], tuple(content["names"]), tuple(Row(**row) for row in content["rows"]))

    @property
    def complete(self) -> int:
        """How many of the executions are complete."""
        return sum(row.status == "complete" for row in self.rows)

    @property
    def varied(self) -> tuple[str, ...]:
        """The names of the grid that take more than one value."""
        return tuple(name for name in self.names if len({_text(row.values[name]) for row in self.rows}) > 1)

    def changing(self) -> list[str]:
        """The numbers that are not the same in all executions, in order of appearance, each once whatever its names."""
        texts: dict[str, list[str | None]] = {}
        for place, row in enumerate(self.rows):
            for name, value in {**row.numbers, **row.measured}.items():
                texts.setdefault(name, [None] * len(self.rows))[place] = _text(value)
        different = {tuple(values): name for name, values in reversed(texts.items()) if len(set(values)) > 1}
        return [name for name in texts if name in different.values()]

    def to_pandas(self, *, measured: bool = False) -> "pd.DataFrame":
        """One row an execution: the grid's values, the status, the numbers (or the measured ones), the digests."""
        import pandas as pd

        cells = [self._apart(_cells(row, measured)) for row in self.rows]
        rows = [{**_values(row), **found, **_digests(row)} for row, found in zip(self.rows, cells, strict=True)]
        columns = dict.fromkeys(name for found in cells for name in found)
        return pd.DataFrame(rows, columns=[*self.names, "status", *columns, "recipe", "result"])

    def _apart(self, cells: Mapping[str, Any]) -> dict[str, Any]:
        """The numbers under names that no other column of the table has."""
        taken = {*self.names, "status", "recipe", "result"}
        return {f"recorded {name}" if name in taken else name: value for name, value in cells.items()}

    @property
    def conclusion(self) -> str:
        """What the sweep shows in one sentence."""
        done = f"{self.complete} of {len(self.rows)} executions of {self.notebook} are complete"
        distinct = len({row.result_digest for row in self.rows if row.status == "complete"})
        return f"{done}; over {', '.join(self.names)} they give {distinct} different results."


def content(notebook: str, names: Sequence[str], records: Sequence[Path]) -> dict[str, Any]:
    """What the file of a sweep says, from the folders of its records in the order of the grid."""
    rows = [_row(folder, names) for folder in records]
    return {"format": FORMAT, "notebook": notebook, "names": list(names), "rows": rows}


def _row(folder: Path, names: Sequence[str]) -> dict[str, Any]:
    kept = read_manifest(folder)
    results = json.loads((folder / "results.json").read_bytes())
    return {
        "values": {name: kept["recipe"]["parameters"][name] for name in names},
        "status": kept["status"],
        "recipe_digest": kept["recipe_digest"],
        "result_digest": kept["result_digest"],
        "numbers": _numbers_of(results, measured=False),
        "measured": _numbers_of(results, measured=True),
    }


def _numbers_of(results: Mapping[str, Any], *, measured: bool) -> dict[str, Any]:
    chosen = {name: entry["value"] for name, entry in results.items() if entry["measured"] is measured}
    found = [pair for name, value in chosen.items() for pair in numbers(name, value)]
    return dict(found[:_MOST])


def numbers(name: str, value: Any, depth: int = 0) -> Iterator[tuple[str, Any]]:
    """The numbers and ranges inside a recorded value, each under the words that lead to it.

    >>> dict(numbers("x", {"a": 1, "R@2": {"min": 0.5, "max": 1.0}, "b": {"kind": "fraction", "value": "1/4"}}))
    {'x a': 1, 'x R@2': {'min': 0.5, 'max': 1.0}, 'x b': 0.25}
    """
    if type(value) in (int, float, bool):
        yield name, value
    if not isinstance(value, Mapping) or depth > _DEEPEST:
        return
    kind = value.get("kind")
    if kind == "fraction":
        yield name, float(Fraction(value["value"]))
    elif kind == "audit":
        yield from numbers(name, value["measures"], depth)
    elif kind is None and {"min", "max"} <= set(value):
        yield name, {key: value[key] for key in RANGE if isinstance(value.get(key), (int, float))}
    elif kind is None:
        for key, item in value.items():
            yield from numbers(f"{name} {key}", item, depth + 1)


def _values(row: Row) -> dict[str, Any]:
    plain = {name: value if _is_plain(value) else _text(value) for name, value in row.values.items()}
    return plain | {"status": row.status}


def _cells(row: Row, measured: bool) -> dict[str, Any]:
    """The numbers of a row by column; a range stands in one column for each of its parts."""
    cells: dict[str, Any] = {}
    for name, value in (row.measured if measured else row.numbers).items():
        parts = {f"{name} {key}": value[key] for key in RANGE if key in value} if isinstance(value, Mapping) else None
        cells |= {name: value} if parts is None else parts
    return cells


def _digests(row: Row) -> dict[str, str]:
    return {"recipe": row.recipe_digest, "result": row.result_digest}


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, (str, int, float))


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True)
