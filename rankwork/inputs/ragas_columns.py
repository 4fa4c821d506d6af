"""Cases and traces from the columns that ragas works on: `user_input`, `retrieved_contexts`, `response` and the others.

Older names (`question`, `contexts`, `answer`, `ground_truth`) are known too. Contexts carry neither scores nor stages:
they become one list without scores. A reference answer is a variant of the answer, not a list of points: those would
have to be told apart by a person.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from rankwork.errors import InputError
from rankwork.inputs.imported import Imported, content_id, counted
from rankwork.inputs.json_lines import objects
from rankwork.trace import Case, Evidence, Item, Origin, Requirement, Split, Stage, Trace

NAMES = {
    "id": ("id", "case_id"),
    "query": ("user_input", "question"),
    "contexts": ("retrieved_contexts", "contexts"),
    "context_ids": ("retrieved_context_ids",),
    "references": ("reference_contexts",),
    "reference_ids": ("reference_context_ids",),
    "answer": ("response", "answer"),
    "reference": ("reference", "ground_truth"),
}
_WAYS = ("to_dicts", "to_pylist")  # how polars and pyarrow hand out rows
Need = Literal["any", "each"]


def cases_and_traces(
    table: Any, *, need: Need, run: str = "", split: Split = "dev", origin: Origin = "synthetic"
) -> Imported:
    """A case and a trace for every row of a table.

    It is a path of JSON lines, a dict of columns, rows, a dataset, or a table of pandas, polars or pyarrow. `need` says
    what the reference contexts are to an answer: `any` one of them is enough, or `each` is needed. IDs are used where
    both sides have them; otherwise a digest of the text stands for the context, and a note says so. A row is named by
    its `id`, or by its number from 0. InputError for a table without questions, a row whose fields are of another type,
    and IDs that are not as many as the contexts.

    >>> found = cases_and_traces({"user_input": ["why?"], "retrieved_contexts": [["so"]]}, need="any")
    >>> found.traces[0].query, found.cases[0].requires, found.notes
    ('why?', (), ('a context had no ID on both sides: a digest of its text serves',))
    """
    rows = list(_rows(table))
    columns = {role: _column(role, rows) for role in NAMES}
    if columns["query"] is None:
        there = ", ".join(sorted({str(name) for row in rows for name in row})) or "none"
        raise InputError(f"there is no column of questions: expected {' or '.join(NAMES['query'])}, got {there}")
    by_id = _ids_on_both_sides(columns)
    made = [_Row(number, row, columns, by_id) for number, row in enumerate(rows)]
    cases = tuple(row.case(need, split, origin) for row in made)
    _check_names(cases)
    traces = tuple(row.trace(run) for row in made)
    return Imported(traces, cases, counted(note for row in made for note in row.notes))


def _rows(table: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(table, str | os.PathLike):
        yield from (row for _, row in objects(table))
    elif isinstance(table, Mapping):
        yield from _transposed(table)
    elif rows := next((way for way in _WAYS if hasattr(table, way)), None):
        yield from getattr(table, rows)()
    elif hasattr(table, "to_dict") and hasattr(table, "columns"):  # pandas
        yield from table.to_dict(orient="records")
    elif isinstance(table, Sequence) or hasattr(table, "__iter__"):
        for number, row in enumerate(table):
            yield _mapping(f"row {number}", row)
    else:
        raise InputError(
            f"a table must be a path, a dict of columns, rows, pandas or a dataset, got {type(table).__name__}"
        )


def _mapping(place: str, row: Any) -> Mapping[str, Any]:
    if hasattr(row, "model_dump"):  # a sample of ragas
        row = row.model_dump()
    if not isinstance(row, Mapping):
        raise InputError(f"{place}: expected an object with columns as names, got {type(row).__name__}")
    return row


def _transposed(columns: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        raise InputError(f"columns must be equally long, got {', '.join(f'{n} of {k}' for k, n in lengths.items())}")
    for values in zip(*columns.values(), strict=True):
        yield dict(zip(columns, values, strict=True))


def _column(role: str, rows: list[Mapping[str, Any]]) -> str | None:
    found = [name for name in NAMES[role] if any(name in row for row in rows)]
    if len(found) > 1:
        raise InputError(f"columns {' and '.join(map(repr, found))} mean the same: keep one of them")
    return found[0] if found else None


def _ids_on_both_sides(columns: Mapping[str, str | None]) -> bool:
    """IDs on one side only share nothing with digests on the other, so that nothing would ever be found."""
    sides = [("contexts", "context_ids"), ("references", "reference_ids")]
    used = [(text, name) for text, name in sides if columns[text] or columns[name]]
    return bool(used) and all(columns[name] for _, name in used)


class _Row:
    def __init__(self, number: int, row: Mapping[str, Any], columns: Mapping[str, str | None], by_id: bool) -> None:
        self.notes: list[str] = []
        self._row, self._columns, self._by_id = row, columns, by_id
        self._place = f"row {number}"
        given = self._value("id")
        self.name = str(number) if given is None else str(given)

    def case(self, need: Need, split: Split, origin: Origin) -> Case:
        pieces = dict.fromkeys(self._evidence())
        groups = [tuple(pieces)] if need == "any" and pieces else [(piece,) for piece in pieces]
        answer = self._text("reference")
        return Case(
            id=self.name,
            query=self._query,
            requires=tuple(Requirement(any_of=group) for group in groups),
            variants=() if answer is None else (answer,),
            split=split,
            origin=origin,
        )

    def trace(self, run: str) -> Trace:
        contexts = self._pairs("contexts", "context_ids")
        ids = [name for name, _ in contexts or ()]
        if len(set(ids)) < len(ids):
            self.notes.append("a context was retrieved more than once: its first place was kept")
        items = tuple(Item(id=name, rank=rank) for rank, name in enumerate(dict.fromkeys(ids), 1))
        stages = () if contexts is None else (Stage(kind="retrieve", returned=len(items), items=items),)
        return Trace(case=self.name, run=run, query=self._query, stages=stages, answer=self._text("answer"))

    @property
    def _query(self) -> str:
        query = self._text("query")
        if query is None:
            raise InputError(f"{self._place}: its question is missing")
        return query

    def _evidence(self) -> Iterator[Evidence]:
        for name, text in self._pairs("references", "reference_ids") or ():
            yield Evidence(id=name, quote=text or "")

    def _pairs(self, texts: str, names: str) -> list[tuple[str, str | None]] | None:
        """ID and text of every context; None if there is no such column, or nothing in it."""
        found, ids = self._list(texts), self._list(names) if self._by_id else None
        if self._by_id and ids is not None:
            if found is not None and len(found) != len(ids):
                raise InputError(f"{self._place}: {len(found)} contexts and {len(ids)} IDs in {self._columns[names]!r}")
            return [(name, found[place] if found else None) for place, name in enumerate(ids)]
        if found:
            self.notes.append("a context had no ID on both sides: a digest of its text serves")
        return None if found is None else [(content_id(text), text) for text in found]

    def _list(self, role: str) -> list[str] | None:
        value = self._value(role)
        if value is None:
            return None
        if isinstance(value, str) or not hasattr(value, "__iter__"):
            raise InputError(f"{self._place}: {self._columns[role]!r} must be a list of texts, got {value!r:.60}")
        kinds = str if role in ("contexts", "references") else str | int
        wrong = [held for held in value if not isinstance(held, kinds) or held == ""]
        if wrong:
            raise InputError(f"{self._place}: {self._columns[role]!r} must hold texts, got {wrong[0]!r:.60}")
        return [str(held) for held in value]

    def _text(self, role: str) -> str | None:
        value = self._value(role)
        if value is not None and not isinstance(value, str):
            raise InputError(f"{self._place}: {self._columns[role]!r} must be text, got {value!r:.60}")
        return value

    def _value(self, role: str) -> Any:
        """The value; None where there is none, which pandas writes as NaN."""
        value = self._row.get(self._columns[role] or "")
        return None if isinstance(value, float) and value != value else value


def _check_names(cases: Sequence[Case]) -> None:
    seen: dict[str, int] = {}
    for number, case in enumerate(cases):
        earlier = seen.setdefault(case.id, number)
        if earlier != number:
            raise InputError(f"row {number}: case {case.id!r} stands in row {earlier} already")
