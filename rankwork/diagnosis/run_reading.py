"""The traces of one run, read batch after batch: each is checked, found to belong to the run, and added up."""

from collections import Counter
from typing import TYPE_CHECKING, Any

from rankwork.diagnosis.answers import answers_of
from rankwork.diagnosis.batch_funnel import BatchFunnel
from rankwork.diagnosis.column_checks import check
from rankwork.diagnosis.comparability import Frame, check_asked, one_snapshot
from rankwork.diagnosis.corpus import Corpus
from rankwork.diagnosis.facts import AnswerFacts, Facts
from rankwork.diagnosis.followed import Followed
from rankwork.diagnosis.gold import Gold
from rankwork.diagnosis.leak_columns import leaks_in, looked_at, named
from rankwork.diagnosis.leaks import Leak
from rankwork.diagnosis.losses import Losses, slices_of
from rankwork.diagnosis.matrix import Diagnosis, diagnose, diagnose_answer
from rankwork.diagnosis.mixed_revisions import MixedRevision, mixed_revisions
from rankwork.diagnosis.stage_table import StageTable, members_of
from rankwork.diagnosis.trace_columns import TraceColumns
from rankwork.errors import ContractError, InputError
from rankwork.protocol import Protocol
from rankwork.trace import Case, Identity

if TYPE_CHECKING:
    import pyarrow as pa


class RunReading:
    """Batch after batch of a run, until the funnel is finished."""

    def __init__(
        self, cases: dict[str, Case], corpus: Corpus | None, k: int | None, leaks: bool, independent: bool
    ) -> None:
        self.independent = independent
        self.cases, self.corpus, self.k, self.with_leaks = cases, corpus, k, leaks
        self.frames: dict[str, Frame] = {}
        self.first: Frame | None = None
        self.run: str | None = None
        self.stale: list[str] = []
        self.table = StageTable(slices_of(cases))
        self.losses = Losses()
        self.leaks: list[Leak] = []
        self.looked_at: Counter[str] = Counter()
        self.followed: list[Followed] = []
        self.answers: list[Diagnosis] = []
        self.mixed: list[MixedRevision] = []
        self.protocol: Protocol | None = None

    def add(self, batch: "pa.RecordBatch") -> None:
        """Check a batch, and add what it holds."""
        columns = TraceColumns.of(batch)
        check(columns)
        identities = self._framed(columns)
        found = leaks_in(columns, identities, self.corpus) if self.with_leaks else []
        self.leaks += found
        self.looked_at.update(looked_at(columns))
        self.mixed += mixed_revisions(columns)
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
        same = self.first.snapshot if self.first and self.first.snapshot == snapshot else snapshot
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
            self.protocol = _protocol(frame)
        if frame.protocol != self.protocol.name:
            both = f"{self.protocol.name!r} and {frame.protocol!r}"
            raise InputError(f"the traces are scored by two protocols, {both} (case {frame.case!r})")
        if self.first is None:
            self.first = frame
        elif frame.snapshot is not self.first.snapshot:
            one_snapshot((self.first, frame))

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


def _protocol(frame: Frame) -> Protocol:
    try:
        return Protocol.named(frame.protocol)
    except ContractError as error:
        raise InputError(f"trace of case {frame.case!r}: {error}") from error
