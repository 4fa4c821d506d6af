"""The funnel of a run: where each piece of gold evidence stands in every stage, where it was lost, and why.

Traces come in batches of columns, from memory or from a file, and only the gold is kept of them: a long run takes no
more memory than a short one, but for its gold. Each trace is checked as `Trace` checks it, before any number is made.
"""

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwork.diagnosis.answers import answers_of
from rankwork.diagnosis.batch_funnel import BatchFunnel
from rankwork.diagnosis.column_checks import check
from rankwork.diagnosis.comparability import Frame, check_asked, one_snapshot
from rankwork.diagnosis.corpus import Corpus
from rankwork.diagnosis.facts import AnswerFacts, Facts
from rankwork.diagnosis.followed import Followed
from rankwork.diagnosis.gold import Gold
from rankwork.diagnosis.leak_columns import leaks_in, looked_at, named
from rankwork.diagnosis.leaks import Leak, Leaks
from rankwork.diagnosis.losses import Losses, slices_of
from rankwork.diagnosis.matrix import Diagnosis, diagnose, diagnose_answer
from rankwork.diagnosis.stage_table import StageTable, members_of
from rankwork.diagnosis.trace_columns import TraceColumns, batches_of
from rankwork.errors import ContractError, InputError
from rankwork.inputs.documents import Collection
from rankwork.protocol import Protocol
from rankwork.trace import Case, Identity, Trace

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

Traces = Iterable[Trace] | str | os.PathLike[str]
Cases = Iterable[Case] | str | os.PathLike[str]


@dataclass(frozen=True, eq=False)
class Funnel:
    """What `funnel` found.

    `table` holds the means of the stages, `losses` the counts of gold evidence, `leaks` what was where it must not be.
    `missing` are cases without a trace, `stale` those asked when their gold does not hold: counted, not scored.
    """

    cases: Mapping[str, Case]
    frames: Mapping[str, Frame]
    table: StageTable
    losses: Losses
    leaks: Leaks
    followed: tuple[Followed, ...]
    missing: tuple[str, ...]
    stale: tuple[str, ...]
    protocol: Protocol
    k: int | None
    answers: tuple[Diagnosis, ...] = ()
    notes: tuple[str, ...] = field(default=())

    def facts(self) -> Iterator[Facts]:
        """What the traces show about each piece of gold evidence."""
        return chain.from_iterable(part.facts() for part in self.followed)

    def diagnoses(self, *rows: str) -> Iterator[Diagnosis]:
        """The diagnosis of each piece of gold evidence; with `rows`, only those rows of the matrix."""
        found = map(diagnose, self.facts())
        return (each for each in found if each.row in rows) if rows else found

    def diagnosis(self, case: str, evidence: str) -> Diagnosis:
        """The diagnosis of one piece of evidence. ContractError where there is no such."""
        for part in self.followed:
            if case in part.cases:
                wanted = part.cases.index(case)
                for facts in part.facts(np.flatnonzero(part.trace == wanted)):
                    if facts.evidence == evidence:
                        return diagnose(facts)
        raise ContractError(f"there is no gold evidence {evidence!r} of a case {case!r} that was scored")

    @property
    def evidence(self) -> "pd.DataFrame":
        """One row a piece of gold evidence: its rank in every stage, where it was lost, the diagnosis and its cause."""
        import pandas as pd

        rows = [_evidence_row(found, self.table.stages) for found in self.diagnoses()]
        return pd.DataFrame(rows, columns=[*_EVIDENCE[:2], *self.table.stages, *_EVIDENCE[2:]])

    def to_json(self) -> dict[str, Any]:
        """Stages, losses, diagnoses and leaks as JSON holds them."""
        return {
            "protocol": self.protocol.name,
            "k": self.k,
            "traces": len(self.frames),
            "missing": list(self.missing),
            "stale": list(self.stale),
            "stages": [vars(mean) for mean in self.table.means()],
            "losses": self.losses.to_json(),
            "diagnoses": [_diagnosis_json(found) for found in self.diagnoses()],
            "answers": [_diagnosis_json(found) for found in self.answers],
            "leaks": self.leaks.to_json(),
            "notes": list(self.notes),
        }

    def __str__(self) -> str:
        from rankwork.diagnosis.funnel_text import text_of

        return text_of(self)


_EVIDENCE = ("case", "evidence", "lost_at", "row", "cause")


def funnel(
    cases: Cases,
    traces: Traces,
    *,
    collection: Collection | None = None,
    k: int | None = None,
    leaks: bool = True,
    independent: bool = False,
) -> Funnel:
    """Follow the gold evidence of `cases` through the stages of `traces`, of one run.

    Both are objects or the path of a file (JSON lines or parquet, `rankwork.inputs.traces`). `k` cuts every stage for
    its measures; None takes each stage's own cut. With the `collection`, the diagnosis also knows what is in the corpus
    and who may read it; without it such questions are answered from what was written down, or left unknown.
    `independent` declares that the reranker scores a document by itself and the query alone, as a cross-encoder does:
    then it inherits nothing where it was given the same documents.

    InputError for a trace that contradicts itself, that names no case, another question, identity or time than its
    case, or another protocol, run or snapshot than the traces before it; ContractError for a k below 1.

    >>> from rankwork.trace import Evidence, Item, Requirement, Stage
    >>> case = Case(id="c", query="why?", requires=(Requirement(any_of=(Evidence(id="d2"),)),))
    >>> items = (Item(id="d1", rank=1, score=2.0), Item(id="d2", score=2.0, kept=False))
    >>> found = funnel([case], [Trace(case="c", stages=(Stage(kind="retrieve", route="bm25", requested=1, returned=1,
    ...                                                       items=items),))])
    >>> [each.sentence for each in found.diagnoses()]
    ['gold d2: tied with the last of bm25 top 1']
    >>> mean = found.table.mean("retrieve:bm25", "R")
    >>> mean.observed, mean.own_outer_min, mean.own_outer_max
    (0.0, 0.0, 1.0)
    """
    if k is not None and (isinstance(k, bool) or not isinstance(k, int) or k < 1):
        raise ContractError(f"k must be an integer of at least 1, got {k!r}")
    known = _cases(cases)
    corpus = Corpus(collection) if collection else None
    builder = _Builder(known, corpus, k, leaks, independent)
    for batch in _batches(traces):
        builder.add(batch)
    return builder.finished()


def _cases(cases: Cases) -> dict[str, Case]:
    if isinstance(cases, str | os.PathLike):
        from rankwork.inputs.traces import read_cases

        cases = read_cases(cases)
    known: dict[str, Case] = {}
    for case in cases:
        if case.id in known:
            raise InputError(f"case {case.id!r} stands twice")
        known[case.id] = case
    if not known:
        raise InputError("there are no cases")
    return known


def _batches(traces: Traces) -> "Iterator[pa.RecordBatch]":
    if not isinstance(traces, str | os.PathLike):
        return batches_of(traces)
    from rankwork.inputs.text_blocks import opening
    from rankwork.inputs.traces import read_tables, read_traces

    path = Path(traces)
    return read_tables(path) if opening(path, 4).startswith(b"PAR1") else batches_of(read_traces(path))


class _Builder:
    """Batch after batch of a run, until the funnel is finished."""

    def __init__(
        self, cases: dict[str, Case], corpus: Corpus | None, k: int | None, leaks: bool, independent: bool
    ) -> None:
        self.independent = independent
        self.cases, self.corpus, self.k, self.with_leaks = cases, corpus, k, leaks
        self.frames: dict[str, Frame] = {}
        self.run: str | None = None
        self.stale: list[str] = []
        self.table = StageTable(slices_of(cases))
        self.losses = Losses()
        self.leaks: list[Leak] = []
        self.looked_at: Counter[str] = Counter()
        self.followed: list[Followed] = []
        self.answers: list[Diagnosis] = []
        self.protocol: Protocol | None = None

    def add(self, batch: "pa.RecordBatch") -> None:
        """Check a batch, and add what it holds."""
        columns = TraceColumns.of(batch)
        check(columns)
        identities = self._framed(columns)
        found = leaks_in(columns, identities, self.corpus) if self.with_leaks else []
        self.leaks += found
        self.looked_at.update(looked_at(columns))
        self._score(self._without_stale(columns), named(found))

    def _framed(self, columns: TraceColumns) -> list[Identity]:
        """Note the frame of each trace, and refuse what does not belong here."""
        names = ("run", "query", "time", "identity", "unit", "protocol", "snapshot")
        identities = []
        for case, run, *held in zip(columns.cases, *map(columns.texts, names), strict=True):
            frame = self._frame(case, *held)
            self._check(frame, run or "")
            self.frames[case] = frame
            identities.append(Identity(tenant=frame.identity[0], role=frame.identity[1]))
        return identities

    def _frame(self, case: str, query: Any, time: Any, identity: Any, unit: Any, protocol: Any, pairs: Any) -> Frame:
        who = (identity or {}).get("tenant") or "", (identity or {}).get("role") or ""
        snapshot = dict(pairs or ())
        first = next(iter(self.frames.values())).snapshot if self.frames else snapshot
        same = first if first == snapshot else snapshot
        return Frame(case, query or "", who, time, unit or "chunk", protocol or "rankwork", same)

    def _check(self, frame: Frame, run: str) -> None:
        if frame.case not in self.cases:
            raise InputError(f"trace of case {frame.case!r}: there is no such case among the {len(self.cases)}")
        if frame.case in self.frames:
            raise InputError(f"case {frame.case!r} has two traces; a funnel is of one run")
        if self.run is not None and run != self.run:
            raise InputError(f"the traces are of two runs, {self.run!r} and {run!r} (case {frame.case!r})")
        self.run = run
        check_asked(frame, self.cases[frame.case])
        if self.protocol is None:
            self.protocol = Protocol.named(frame.protocol)
        if frame.protocol != self.protocol.name:
            both = f"{self.protocol.name!r} and {frame.protocol!r}"
            raise InputError(f"the traces are scored by two protocols, {both} (case {frame.case!r})")
        if self.frames:
            one_snapshot((next(iter(self.frames.values())), frame))

    def _without_stale(self, columns: TraceColumns) -> TraceColumns:
        import pyarrow as pa

        times = [self.frames[case].time or self.cases[case].time for case in columns.cases]
        holds = [self.cases[case].holds_at(time) for case, time in zip(columns.cases, times, strict=True)]
        if all(holds):
            return columns
        self.stale += [case for case, held in zip(columns.cases, holds, strict=True) if not held]
        return TraceColumns.of(columns.batch.filter(pa.array(holds)))

    def _score(self, columns: TraceColumns, leaking: set[str]) -> None:
        if not len(columns) or self.protocol is None:
            return
        gold = Gold.of(columns, self.cases)
        batch = BatchFunnel.of(columns, gold, self.k, self.protocol, independent=self.independent)
        slices = {case: self.cases[case].slices for case in columns.cases}
        members = members_of(self.table.slices, slices, columns.cases)
        for stage in batch.stages:
            for name, own, inherited in stage.measures:
                self.table.add(stage.columns.name, name, own, inherited, members[:, stage.columns.stages.trace])
        answers = answers_of(columns, self.cases, gold, batch.arrived, leaking)
        followed = batch.followed(self.corpus, answers, [self.frames[case] for case in columns.cases])
        self.followed.append(followed)
        for found in map(diagnose, followed.facts()):
            self.losses.add(found, self.cases[found.case].slices)
        self._answered(columns.cases, answers)

    def _answered(self, cases: list[str], answers: tuple[AnswerFacts, ...]) -> None:
        for case, answer in zip(cases, answers, strict=False):
            found = diagnose_answer(Facts(case, "", (), answer=answer))
            if found:
                self.answers.append(found)

    def finished(self) -> Funnel:
        """The funnel. InputError where there was no trace."""
        if self.protocol is None:
            raise InputError("there are no traces")
        missing = tuple(case for case in self.cases if case not in self.frames)
        return Funnel(
            self.cases,
            self.frames,
            self.table,
            self.losses,
            Leaks(tuple(self.leaks), self.looked_at if self.with_leaks else {}),
            tuple(self.followed),
            missing,
            tuple(self.stale),
            self.protocol,
            self.k,
            tuple(self.answers),
        )


def _evidence_row(found: Diagnosis, stages: Iterable[str]) -> dict[str, Any]:
    ranks = {standing.name: standing.rank for standing in found.facts.standings}
    row = {"case": found.case, "evidence": found.evidence, "lost_at": found.facts.lost_at, "row": found.row}
    return {**row, "cause": found.cause, **{stage: ranks.get(stage) for stage in stages}}


def _diagnosis_json(found: Diagnosis) -> dict[str, Any]:
    ranks = {standing.name: standing.rank for standing in found.facts.standings}
    where = {"lost_at": found.facts.lost_at, "ranks": ranks}
    told = {"row": found.row, "cause": found.cause, "look_at": found.look_at, "sentence": found.sentence}
    return {"case": found.case, "evidence": found.evidence, **where, **told}
