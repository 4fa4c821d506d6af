"""Answered or refused, against what was right: false answers and false refusals, which a single rate would mix."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rankwork.diagnosis.generation import paired_answers
from rankwork.diagnosis.rates import Rate
from rankwork.trace import Case, Trace

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Refusals:
    """The two-by-two of what was expected and what was done; `unknown_*`: nobody recorded whether it was refused.

    The cases behind the two errors are named, so that they can be read.
    """

    answered: int
    false_refusals: tuple[str, ...]
    false_answers: tuple[str, ...]
    refused: int
    unknown_answerable: int = 0
    unknown_unanswerable: int = 0
    level: float = 0.95

    @property
    def false_answer_rate(self) -> Rate:
        """Answers among the cases that should be refused."""
        events = len(self.false_answers)
        return Rate(events, events + self.refused, self.unknown_unanswerable, self.level)

    @property
    def false_refusal_rate(self) -> Rate:
        """Refusals among the cases that should be answered."""
        events = len(self.false_refusals)
        return Rate(events, events + self.answered, self.unknown_answerable, self.level)

    @property
    def table(self) -> tuple[tuple[int, int], tuple[int, int]]:
        """Rows: answer expected, refusal expected; columns: answered, refused."""
        return (self.answered, len(self.false_refusals)), (len(self.false_answers), self.refused)

    def to_pandas(self) -> "pd.DataFrame":
        """The two-by-two as a table.

        >>> found = Refusals(answered=7, false_refusals=("a",), false_answers=(), refused=2)
        >>> found.to_pandas().loc["should be answered"].tolist()
        [7, 1]
        """
        import pandas as pd

        rows, columns = ["should be answered", "should be refused"], ["answered", "refused"]
        return pd.DataFrame(self.table, index=rows, columns=columns)

    def to_json(self) -> dict[str, Any]:
        """What JSON holds of it."""
        rates = {name: getattr(self, name).to_json() for name in ("false_answer_rate", "false_refusal_rate")}
        named = {name: list(getattr(self, name)) for name in ("false_answers", "false_refusals")}
        return {"table": [list(row) for row in self.table], **rates, **named}

    def __str__(self) -> str:
        return f"false answers: {self.false_answer_rate}\nfalse refusals: {self.false_refusal_rate}"


def refusals(cases: Iterable[Case], traces: Iterable[Trace], *, level: float = 0.95) -> Refusals:
    """The two-by-two of all traces, with the exact intervals of both rates at `level`.

    InputError as `answers_report`.

    >>> cases = [Case(id="a", query="?"), Case(id="b", query="?", expected="refuse")]
    >>> print(refusals(cases, [Trace(case="a", refused=True), Trace(case="b", refused=True)]))
    false answers: none in 1; the 95% upper bound is 0.9500
    false refusals: 1 in 1 (95% interval 0.0250 to 1.0000)
    """
    found: dict[tuple[str, bool | None], list[str]] = {}
    for case, trace in paired_answers(cases, traces):
        found.setdefault((case.expected, trace.refused), []).append(case.id)
    return Refusals(
        answered=len(found.get(("answer", False), [])),
        false_refusals=tuple(found.get(("answer", True), [])),
        false_answers=tuple(found.get(("refuse", False), [])),
        refused=len(found.get(("refuse", True), [])),
        unknown_answerable=len(found.get(("answer", None), [])),
        unknown_unanswerable=len(found.get(("refuse", None), [])),
        level=level,
    )
