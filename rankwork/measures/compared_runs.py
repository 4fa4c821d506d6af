"""A run with its judgements, and a second run to compare it with: from files, or the handwritten digits in their place.

>>> from rankwork.rankings import Judgements, Rankings
>>> runs = compared_runs(queries=2)
>>> runs.names
('agreement', 'cosine')
"""

from collections.abc import Mapping
from dataclasses import dataclass

from rankwork.errors import RankworkError
from rankwork.inputs.digits import digits
from rankwork.measures.auditing import Judged, Run, read_judged, read_ranked
from rankwork.measures.origins import as_type
from rankwork.protocol import Protocol
from rankwork.rankings import Judgements, Rankings


@dataclass(frozen=True, eq=False)
class ComparedRuns:
    """Two runs by name, and the judgements of both.

    `given` are those that were computed on their own: a second run that is the first one in another type is not.
    `note` says why the rank column of the first run is not known, if it has one that cannot be used.
    """

    first: Rankings
    second: Rankings
    names: tuple[str, str]
    judgements: Judgements
    given: Mapping[str, Rankings]
    note: str | None = None

    @property
    def by_name(self) -> dict[str, Rankings]:
        """Both runs."""
        return dict(zip(self.names, (self.first, self.second), strict=True))

    def __str__(self) -> str:
        lines = [f"{name}: {run}, scores compared as {run.scores.dtype.name}" for name, run in self.by_name.items()]
        return "\n".join([*lines, str(self.judgements), *([self.note] if self.note else [])])


def compared_runs(
    run: Run = "",
    judgements: Judged = "",
    other: Run = "",
    *,
    queries: int = 100,
    protocol: str | Protocol = "rankwork",
    order: str | None = None,
) -> ComparedRuns:
    """The runs named, read as the protocol reads them; without a run, the digits by two scores, `queries` of them.

    Without an `other`, the second run is the first one in bfloat16. The rank column is read where there is a usable
    one. Errors as `rankwork.audit` raises them.

    >>> compared_runs({"q": {"a": 1.001, "b": 1.0}}, {"q": {"a": 1}}).second.scores.tolist()
    [1.0, 1.0]
    """
    if isinstance(run, str) and not run:
        return _digits(queries)
    first, note = _with_ranks(run, protocol, order)
    judged = read_judged(judgements, protocol)
    if isinstance(other, str) and not other:
        names = ("run", "run (bfloat16)")
        return ComparedRuns(first, as_type(first, "bfloat16"), names, judged, {"run": first}, note)
    second = read_ranked(other, protocol, order)
    return ComparedRuns(first, second, ("run", "other"), judged, {"run": first, "other": second}, note)


def _digits(queries: int) -> ComparedRuns:
    (first, judged), (second, _) = digits(queries=queries), digits(queries=queries, likeness="cosine")
    names = ("agreement", "cosine")
    return ComparedRuns(first, second, names, judged, dict(zip(names, (first, second), strict=True)))


def _with_ranks(run: Run, protocol: str | Protocol, order: str | None) -> tuple[Rankings, str | None]:
    """The run with its rank column; without it where that cannot be used and the order does not ask for it."""
    try:
        return read_ranked(run, protocol, "rank"), None
    except RankworkError as error:
        return read_ranked(run, protocol, order), f"the rank column is left out: {error}"
