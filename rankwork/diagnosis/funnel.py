"""The funnel of a run: where each piece of gold evidence stands in every stage, where it was lost, and why.

Traces come in batches of columns, from memory or from a file, and only the gold is kept of them: a long run takes no
more memory than a short one, but for its gold. Each trace is checked as `Trace` checks it, before any number is made.
"""

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwork.diagnosis.comparability import Frame
from rankwork.diagnosis.corpus import Corpus
from rankwork.diagnosis.facts import Facts
from rankwork.diagnosis.followed import Followed
from rankwork.diagnosis.leaks import Leaks
from rankwork.diagnosis.losses import Losses
from rankwork.diagnosis.matrix import Diagnosis, diagnose
from rankwork.diagnosis.mixed_revisions import note_on
from rankwork.diagnosis.run_reading import RunReading
from rankwork.diagnosis.stage_table import StageTable
from rankwork.diagnosis.trace_columns import batches_of
from rankwork.errors import ContractError, InputError
from rankwork.inputs.documents import Collection
from rankwork.protocol import Protocol
from rankwork.trace import Case, Trace

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

Traces = Iterable[Trace] | str | os.PathLike[str]
Cases = Iterable[Case] | str | os.PathLike[str]


@dataclass(frozen=True, eq=False)
class Funnel:
    """What `funnel` found.

    `table` holds the means of the stages, `losses` the counts of gold evidence, `leaks` what was where it must not be.
    `answers` are the diagnoses of whole answers, `notes` what else a reader must know.
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
    notes: tuple[str, ...] = ()

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
    reading = RunReading(known, corpus, k, leaks, independent)
    for batch in _batches(traces):
        reading.add(batch)
    return _finished(reading)


def _finished(reading: RunReading) -> Funnel:
    if reading.protocol is None:
        raise InputError("there are no traces")
    return Funnel(
        cases=reading.cases,
        frames=reading.frames,
        table=reading.table,
        losses=reading.losses,
        leaks=Leaks(tuple(reading.leaks), reading.looked_at if reading.with_leaks else {}),
        followed=tuple(reading.followed),
        missing=tuple(case for case in reading.cases if case not in reading.frames),
        stale=tuple(reading.stale),
        protocol=reading.protocol,
        k=reading.k,
        answers=tuple(reading.answers),
        notes=note_on(reading.mixed),
    )


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


def _evidence_row(found: Diagnosis, stages: Iterable[str]) -> dict[str, Any]:
    ranks = {standing.name: standing.rank for standing in found.facts.standings}
    row = {"case": found.case, "evidence": found.evidence, "lost_at": found.facts.lost_at, "row": found.row}
    return {**row, "cause": found.cause, **{stage: ranks.get(stage) for stage in stages}}


def _diagnosis_json(found: Diagnosis) -> dict[str, Any]:
    ranks = {standing.name: standing.rank for standing in found.facts.standings}
    where = {"lost_at": found.facts.lost_at, "ranks": ranks}
    told = {"row": found.row, "cause": found.cause, "look_at": found.look_at, "sentence": found.sentence}
    return {"case": found.case, "evidence": found.evidence, **where, **told}
