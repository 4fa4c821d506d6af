"""An audit of a run that memory need not hold: its queries are evaluated some at a time, as they are read.

Only the values of the judged queries are kept. They are those of `audit`, to the last bit.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from rankwork.errors import ContractError
from rankwork.measures import auditing
from rankwork.measures.auditing import Audit, Judged, Result
from rankwork.measures.evaluating import evaluated
from rankwork.measures.joining import Joined, check_joined
from rankwork.measures.means import mean_of
from rankwork.measures.names import Measure, definition_of
from rankwork.measures.values import Setting, Values, by_protocol
from rankwork.protocol import Protocol
from rankwork.rankings import Duplicates, Ints, Judgements, Rankings


def audit_in_parts(
    run: str | os.PathLike[str],
    judgements: Judged,
    measures: Iterable[str | Measure] | str | Measure,
    *,
    protocol: str | Protocol = "rankwork",
    order: str | None = None,
    depth: int | None = None,
    rows: int = 2**20,
) -> Audit:
    """What `audit` gives for a TREC run of any size, with about `rows` rows in memory at a time.

    The lines of a query must stand together in the file. The audit has every value, mean, slice and note; what needs
    the rows again, such as another order of ties, raises a ContractError. Errors as for `audit` and `run_parts`.
    """
    from rankwork.inputs.trec_parts import run_parts

    conventions, chosen = auditing.conventions_of(protocol, order)
    asked = auditing.parsed(measures)
    judged = auditing.read_judged(judgements, conventions)
    duplicates: Duplicates = "keep_first" if conventions.duplicates == "keep_first" else "refuse"
    gathered = _Gathered(judged, conventions, chosen, depth, asked)
    for part in run_parts(run, rows=rows, ranks=chosen == "rank", duplicates=duplicates):
        gathered.add(part)
    return gathered.audit()


class RowsGone(Rankings):
    """Rankings whose rows were looked at and given up: queries and lengths are known, scores and documents are not."""

    @classmethod
    def of(cls, queries: Sequence[str], lengths: Sequence[int], example: Rankings) -> "RowsGone":
        """Rankings of these queries; `example` gives the type of scores and one document for messages."""
        offsets = np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)
        codes = np.broadcast_to(np.zeros(1, np.int32), int(offsets[-1]))
        scores = np.broadcast_to(np.full(1, np.nan, example.scores.dtype), int(offsets[-1]))
        return cls(tuple(queries), offsets, example.documents[example.codes[:1]], codes, scores)

    def _gone(self) -> NoReturn:
        raise ContractError("this run was audited in parts, and its rows are gone: audit it whole for this")

    @property
    def by_score(self) -> Any:
        """ContractError: there are no scores."""
        self._gone()

    @property
    def group_starts(self) -> Any:
        """ContractError: there are no scores."""
        self._gone()


@dataclass
class _Gathered:
    """The values of the queries seen so far, and where they stand among the judged ones."""

    judged: Judgements
    protocol: Protocol
    order: str
    depth: int | None
    asked: Mapping[str, Measure]

    def __post_init__(self) -> None:
        self.queries: list[str] = []
        self.lengths: list[int] = []
        self.places: list[Ints] = []
        self.hits: list[tuple[Ints, Ints, Ints]] = []
        self.values: dict[str, list[Values]] = {name: [] for name in self.asked}
        self.example = Rankings.from_dicts({})
        unread = RowsGone.of((), (), self.example)
        nothing = np.zeros(0, np.int64)
        everything = Joined(unread, self.judged, np.full(len(self.judged.queries), -1), nothing, nothing, nothing)
        setting = Setting(everything, self.protocol, self.order, self.depth)
        self.resolved = {name: definition_of(m).resolve(m, setting) for name, m in self.asked.items()}

    def add(self, part: Rankings) -> None:
        """Evaluate the judged queries of a part."""
        places = np.array([self.judged.query_index.get(query, -1) for query in part.queries], np.int64)
        places = places[places >= 0]
        if len(places):
            judged, rows = _of_queries(self.judged, places)
            joined = Joined.of(part, judged)
            self._evaluate(joined, places)
            start = sum(self.lengths)
            self.hits.append((places[joined.hit_query], joined.hit_row + start, rows[joined.hit_judged]))
        self.queries += part.queries
        self.lengths += part.lengths.tolist()
        self.example = self.example if len(self.example) else part

    def _evaluate(self, joined: Joined, places: Ints) -> None:
        setting = Setting(joined, self.protocol, self.order, self.depth)
        for name, measure in self.resolved.items():
            self.values[name].append(evaluated(measure, setting))
        self.places.append(places)

    def audit(self) -> Audit:
        """The audit of all parts."""
        run = RowsGone.of(self.queries, self.lengths, self.example)
        lists = np.array([run.query_index.get(query, -1) for query in self.judged.queries], np.int64)
        check_joined(run, self.judged, lists)
        self._evaluate_missing(np.flatnonzero(lists < 0))
        hits = (np.concatenate(columns) for columns in zip(*self.hits, strict=True))
        setting = auditing.setting_of(Joined(run, self.judged, lists, *hits), self.protocol, self.order, self.depth)
        return Audit(setting, {name: self._result(name, setting) for name in self.asked})

    def _evaluate_missing(self, places: Ints) -> None:
        """The judged queries that the run lacks have values too, such as how much of them is relevant."""
        if len(places):
            nothing = np.zeros(0, np.int64)
            judged, _ = _of_queries(self.judged, places)
            self._evaluate(Joined(self.example, judged, np.full(len(places), -1), nothing, nothing, nothing), places)

    def _result(self, name: str, setting: Setting) -> Result:
        resolved = self.resolved[name]
        values = _joined_values(self.values[name], np.argsort(np.concatenate(self.places)))
        always = definition_of(resolved).always_defined
        values = by_protocol(values, str(resolved), resolved.cutoff, setting, always_defined=always)
        return Result(name, resolved, values, mean_of(values))


def _of_queries(judged: Judgements, places: Ints) -> tuple[Judgements, Ints]:
    """The judgements of some queries, and which rows of all judgements they are."""
    lengths = judged.lengths[places]
    offsets = np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)
    rows = np.repeat(judged.offsets[places] - offsets[:-1], lengths) + np.arange(offsets[-1])
    queries = tuple(judged.queries[place] for place in places.tolist())
    return Judgements(queries, offsets, judged.documents, judged.codes[rows], judged.grades[rows]), rows


def _joined_values(parts: Sequence[Values], order: Ints) -> Values:
    """The values of all parts in one, in the order of the judged queries."""
    columns: dict[str, Any] = {}
    for field in fields(Values):
        found = [getattr(part, field.name) for part in parts]
        columns[field.name] = _joined_column(found, order)
    return Values(**columns)


def _joined_column(found: Sequence[Any], order: Ints) -> Any:
    if isinstance(found[0], Mapping):
        return {name: _joined_column([part[name] for part in found], order) for name in found[0]}
    if found[0] is None:
        return None
    column: NDArray[Any] = np.concatenate(found)[order]
    return column
