"""What one system gave for each query, by measure: read from traces, from an audit's JSON, or from a plain table.

A plain table is CSV with the columns `query,measure,value`, and where they are known `min`, `max` (over all orders of
ties) and `unit` (`ms`, or the currency of a cost). An empty value is undefined; a query without a row is an error.
"""

import csv
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from rankwork.errors import InputError
from rankwork.measures.values import Floats, examples
from rankwork.trace import Case, Trace

_COLUMNS = ("query", "measure", "value")
_KNOWN_COLUMNS = {*_COLUMNS, "min", "max", "unit"}


@dataclass(frozen=True, eq=False)
class Column:
    """One measure: its value for each query, float64[Q], with what ties leave open; NaN where it is not known.

    `low` and `high` are the minimum and the maximum over all orders of ties, the value itself where it has no range.
    `unit` is empty for a measure without one. `ranged` is False where nobody looked for ties.
    """

    value: Floats
    low: Floats
    high: Floats
    unit: str = ""
    ranged: bool = True

    @property
    def known(self) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """The queries that have a value."""
        return ~np.isnan(self.value)

    def of(self, places: Any) -> "Column":
        """The same column for these queries, in this order."""
        return replace(self, value=self.value[places], low=self.low[places], high=self.high[places])


@dataclass(frozen=True, eq=False)
class Outcomes:
    """A system's columns by name, one place a query; `traces` are in the order of `queries`, empty for a table."""

    name: str
    queries: tuple[str, ...]
    columns: Mapping[str, Column]
    traces: tuple[Trace, ...] = ()

    def __post_init__(self) -> None:
        if not self.queries:
            raise InputError(f"{self.name} holds no query")
        if len(set(self.queries)) < len(self.queries):
            twice = [query for query in self.queries if self.queries.count(query) > 1]
            raise InputError(f"{self.name}: query {twice[0]!r} stands twice")

    def ordered(self, queries: Sequence[str]) -> "Outcomes":
        """The same outcomes in another order of queries. InputError for queries that are missing, and for others."""
        missing, others = set(queries) - set(self.queries), set(self.queries) - set(queries)
        if missing or others:
            said = f"lacks {examples(sorted(missing))}" if missing else f"has also {examples(sorted(others))}"
            raise InputError(f"{self.name} {said}: both systems must have answered the same queries")
        at = {query: place for place, query in enumerate(self.queries)}
        places = np.array([at[query] for query in queries])
        traces = tuple(self.traces[place] for place in places) if self.traces else ()
        return Outcomes(
            self.name, tuple(queries), {name: column.of(places) for name, column in self.columns.items()}, traces
        )


def read_outcomes(path: str | os.PathLike[str]) -> Outcomes:
    r"""What a file holds: traces (JSON lines or parquet), the JSON of `rankwork audit`, or CSV; told by content.

    InputError, with file and line or field, for what is none of them, for a value that is no finite number, a range
    that does not hold its value, a query and measure that stand twice, and a query that lacks a measure.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     table = Path(folder, "table.csv")
    ...     _ = table.write_text("query,measure,value,min,max\nq1,R@10,0.5,0.25,0.5\nq2,R@10,,,\n")
    ...     found = read_outcomes(table)
    >>> found.queries, found.columns["R@10"].low.tolist()
    (('q1', 'q2'), [0.25, nan])
    """
    path = Path(path)
    try:
        with path.open("rb") as file:
            first = file.readline().lstrip(b"\xef\xbb\xbf \t\r\n")
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from None
    if first.startswith(b"{") and _begins_an_audit(first, path):
        return _of_audit(path)
    if first.startswith((b"{", b"PAR1", b"\x1f\x8b")):
        from rankwork.inputs.traces import read_traces

        return of_traces(path.name, list(read_traces(path)))
    return _of_csv(path)


def _begins_an_audit(first: bytes, path: Path) -> bool:
    """Whether JSON is an audit: one object, over many lines or on one, where traces have an object on each line."""
    try:
        return "per_query" in json.loads(first)
    except ValueError:
        return b'"per_query"' in path.read_bytes()


def of_traces(name: str, traces: Sequence[Trace]) -> Outcomes:
    """The outcomes of traces, one for each case; their columns are taken when a policy asks for them.

    InputError for no trace, and for two traces of one case.

    >>> of_traces("new", [Trace(case="a"), Trace(case="b")]).queries
    ('a', 'b')
    """
    return Outcomes(name, tuple(trace.case for trace in traces), {}, tuple(traces))


def _of_audit(path: Path) -> Outcomes:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        if "systems" in found:
            raise InputError(f"{path.name}: the audit of several runs; a gate takes one of each system")
        queries: Mapping[str, Any] = found["per_query"]
        names = list(dict.fromkeys(name for entries in queries.values() for name in entries))
        columns = {name: _audited(path, name, queries) for name in names}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{path.name}: not the JSON of an audit of one run: {error}") from None
    return Outcomes(path.name, tuple(queries), columns)


def _audited(path: Path, name: str, queries: Mapping[str, Any]) -> Column:
    rows = []
    for query, entries in queries.items():
        if name not in entries:
            raise InputError(f"{path.name}: per_query.{query} lacks {name!r}, which other queries have")
        entry = entries[name] or {}
        value = entry.get("contract")
        ends = [entry.get(f"outer_{end}", entry.get(end)) for end in ("min", "max")]
        rows.append(tuple(_number(f"{path.name}: per_query.{query}.{name}", each) for each in (value, *ends)))
    return _column(rows, "", True)


def _of_csv(path: Path) -> Outcomes:
    cells: dict[str, dict[str, tuple[float, float, float]]] = {}
    units: dict[str, dict[str, int]] = {}
    ranged = False
    for line, row in _rows(path):
        where = f"{path.name} line {line}"
        column = cells.setdefault(row["measure"], {})
        if row["query"] in column:
            raise InputError(f"{where}: query {row['query']!r} has two values of {row['measure']!r}")
        value = _number(where, row["value"])
        ends = [_number(where, row.get(end)) for end in ("min", "max")]
        ranged |= not np.isnan(ends).all()
        column[row["query"]] = _checked_range(where, value, *ends)
        units.setdefault(row["measure"], {}).setdefault(row.get("unit") or "", line)
    queries = tuple(dict.fromkeys(query for column in cells.values() for query in column))
    return Outcomes(
        path.name,
        queries,
        {n: _whole(path, n, column, queries, _unit(path, n, units[n]), ranged) for n, column in cells.items()},
    )


def _rows(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """The lines of a table with their numbers."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file, strict=True)
            _check_header(path, reader.fieldnames)
            for row in reader:
                if None in row or None in row.values():
                    fields = len(reader.fieldnames or ())
                    raise InputError(f"{path.name} line {reader.line_num}: expected {fields} fields")
                if not row["query"] or not row["measure"]:
                    raise InputError(f"{path.name} line {reader.line_num}: query and measure must not be empty")
                yield reader.line_num, row
    except (UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{path.name} is not a table in UTF-8 text: {error}") from None


def _check_header(path: Path, header: Sequence[str] | None) -> None:
    names = list(header or ())
    if not {*_COLUMNS} <= {*names} or not {*names} <= _KNOWN_COLUMNS:
        raise InputError(
            f"{path.name} line 1: expected the columns query,measure,value and perhaps min,max,unit, "
            f"got {','.join(names) or 'an empty file'}; traces are JSON lines or parquet"
        )


def _checked_range(where: str, value: float, low: float, high: float) -> tuple[float, float, float]:
    if np.isnan(low) != np.isnan(high):
        raise InputError(f"{where}: min and max belong together")
    if np.isnan(low):
        return value, value, value
    if not low <= high or (not np.isnan(value) and not low - 1e-9 <= value <= high + 1e-9):
        raise InputError(f"{where}: value {value:g} lies outside its range from {low:g} to {high:g}")
    return value, low, high


def _unit(path: Path, name: str, units: Mapping[str, int]) -> str:
    if len(units) > 1:
        (one, first), (other, second) = list(units.items())[:2]
        raise InputError(
            f"{path.name} lines {first} and {second}: {name!r} in two units, {one or 'none'} and {other or 'none'}"
        )
    return next(iter(units))


def _whole(
    path: Path,
    name: str,
    column: Mapping[str, tuple[float, float, float]],
    queries: tuple[str, ...],
    unit: str,
    ranged: bool,
) -> Column:
    missing = [query for query in queries if query not in column]
    if missing:
        raise InputError(
            f"{path.name}: {name!r} has no row for {examples(missing)}; an undefined value has an empty one"
        )
    return _column([column[query] for query in queries], unit, ranged)


def _column(rows: Sequence[tuple[float, ...]], unit: str, ranged: bool) -> Column:
    value, low, high = (np.array(part, np.float64) for part in zip(*rows, strict=True))
    return Column(value, np.where(np.isnan(low), value, low), np.where(np.isnan(high), value, high), unit, ranged)


def _number(where: str, value: Any) -> float:
    """A finite number, NaN for an empty value."""
    if value is None or value == "":
        return float("nan")
    try:
        number = float(value) if not isinstance(value, bool) else float("nan")
    except (TypeError, ValueError):
        number = float("nan")
    if not np.isfinite(number):
        raise InputError(f"{where}: {value!r} is not a finite number")
    return number


def of_values(
    name: str, values: Mapping[str, Sequence[float | None]], *, queries: Sequence[str] | None = None
) -> Outcomes:
    """A system's outcomes from plain numbers: for each measure a value a query, None where it is undefined.

    `queries` are the IDs in the same order (None: q0, q1, ...). Nothing is known of ties, so no verdict is tie-proof or
    not. InputError for measures of different lengths, and for a value that is no finite number.

    >>> found = of_values("mine", {"R@10": [1, 0.5, None]})
    >>> found.queries, found.columns["R@10"].known.tolist()
    (('q0', 'q1', 'q2'), [True, True, False])
    """
    lengths = {measure: len(column) for measure, column in values.items()}
    asked = tuple(queries) if queries is not None else tuple(f"q{n}" for n in range(max(lengths.values(), default=0)))
    wrong = next((measure for measure, length in lengths.items() if length != len(asked)), None)
    if wrong:
        raise InputError(f"{name}: {wrong!r} has {lengths[wrong]} values for {len(asked)} queries")
    columns = {
        measure: _column([(_number(f"{name}: {measure}", each),) * 3 for each in column], "", False)
        for measure, column in values.items()
    }
    return Outcomes(name, asked, columns)


def cases_by_id(cases: Sequence[Case]) -> dict[str, Case]:
    """The cases by their IDs. InputError for one that stands twice.

    >>> list(cases_by_id([Case(id="a", query="?"), Case(id="b", query="?")]))
    ['a', 'b']
    """
    found = {case.id: case for case in cases}
    if len(found) < len(cases):
        ids = [case.id for case in cases]
        raise InputError(f"case {next(each for each in ids if ids.count(each) > 1)!r} stands twice")
    return found
