"""The gold evidence of the cases that a batch of traces answers, a row each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rankwork.diagnosis.trace_columns import Bools, Ints, TraceColumns
from rankwork.trace import Case, Evidence


@dataclass(frozen=True, eq=False)
class Gold:
    """Gold evidence of n rows, trace by trace.

    `trace` is the trace in the batch, `number` which piece of its case it is, `code` its ID among those of the batch
    (-1 where no item bears it), `grade` its grade. A piece that meets several requirements is one row; `need_row` and
    `need` are its pairs with the requirements, which are numbered over the batch; `need_trace` says whose each is.
    """

    trace: Ints
    number: Ints
    code: Ints
    grade: Ints
    need_row: Ints
    need: Ints
    need_trace: Ints
    empty_need: Bools
    evidence: tuple[Evidence, ...]

    @classmethod
    def of(cls, columns: TraceColumns, cases: Mapping[str, Case]) -> "Gold":
        """The gold of each trace's case; evidence of grade 0 was judged to be none."""
        rows: list[tuple[int, int, Evidence]] = []
        pairs: list[tuple[int, int]] = []
        need_trace: list[int] = []
        empty: list[bool] = []
        for trace, name in enumerate(columns.cases):
            places: dict[str, int] = {}
            for requirement in cases[name].requires:
                for evidence in requirement.any_of:
                    if evidence.grade and evidence.id not in places:
                        places[evidence.id] = len(rows)
                        rows.append((trace, len(places) - 1, evidence))
                wanted = [places[evidence.id] for evidence in requirement.any_of if evidence.grade]
                pairs += [(row, len(need_trace)) for row in dict.fromkeys(wanted)]
                need_trace.append(trace)
                empty.append(not wanted)
        pieces = tuple(row[2] for row in rows)
        return cls(
            trace=_ints([row[0] for row in rows]),
            number=_ints([row[1] for row in rows]),
            code=columns.codes_of([piece.id for piece in pieces]),
            grade=_ints([piece.grade for piece in pieces]),
            need_row=_ints([pair[0] for pair in pairs]),
            need=_ints([pair[1] for pair in pairs]),
            need_trace=_ints(need_trace),
            empty_need=np.array(empty, bool),
            evidence=pieces,
        )

    def __len__(self) -> int:
        return len(self.trace)

    @cached_property
    def overlapping(self) -> Bools:
        """The requirements that share a piece of evidence with another."""
        shared = np.bincount(self.need_row, minlength=len(self)) > 1
        marks = np.zeros(len(self.need_trace), bool)
        marks[self.need[shared[self.need_row]]] = True
        return marks


def _ints(values: Sequence[int]) -> Ints:
    return np.array(values, np.int64)
