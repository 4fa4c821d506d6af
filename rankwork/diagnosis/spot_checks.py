"""Diagnoses to check by eye: one of each row, the ranks in a sentence against the trace, rows beside rows."""

import re
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

from rankwork.diagnosis.matrix import ROWS, Diagnosis
from rankwork.diagnosis.sentences import ordinal
from rankwork.errors import InputError
from rankwork.trace import Trace

if TYPE_CHECKING:
    import pandas as pd


def one_of_each_row(diagnoses: Iterable[Diagnosis]) -> list[Diagnosis]:
    """For each row that holds, in the order of the matrix, the diagnosis with the most ranks, the first of several."""
    found: dict[str, Diagnosis] = {}
    for each in diagnoses:
        if each.row not in found or _ranks(each) > _ranks(found[each.row]):
            found[each.row] = each
    return [found[row] for row in ROWS if row in found]


def _ranks(found: Diagnosis) -> int:
    return sum(standing.rank is not None for standing in found.facts.standings)


def ranks_left_out(found: Diagnosis, traces: Iterable[Trace]) -> tuple[str, ...]:
    """The stages whose rank of the evidence, looked up in the trace of its case, the sentence does not state.

    InputError where no trace is of that case.

    >>> from rankwork.diagnosis.funnel import funnel
    >>> from rankwork.diagnosis.toy_trace import toy_trace
    >>> case, trace = toy_trace()
    >>> found = funnel([case], [trace], k=4).diagnosis("toy", "g")
    >>> found.sentence
    'gold g: absent from bm25, 3rd of dense top 3, 5th after RRF, outside the rerank window of 4'
    >>> ranks_left_out(found, [trace])
    ()
    """
    trace = next((trace for trace in traces if trace.case == found.case), None)
    if trace is None:
        raise InputError(f"no trace is of case {found.case!r}")
    ranks = {stage.name: item.rank for stage in trace.stages for item in stage.kept if item.id == found.evidence}
    return tuple(name for name, rank in ranks.items() if rank is not None and not _states(found.sentence, rank))


def _states(sentence: str, rank: int) -> bool:
    return re.search(rf"(?<!\d){ordinal(rank)} (?:of|after|in) ", sentence) is not None


def rows_beside(diagnoses: Iterable[Diagnosis], others: Iterable[Diagnosis]) -> "pd.DataFrame":
    """How many pieces of evidence have which row in the one and which in the other, the most frequent pair first.

    InputError where the two are not of the same evidence in the same order.
    """
    import pandas as pd

    first, second = list(diagnoses), list(others)
    if [(each.case, each.evidence) for each in first] != [(each.case, each.evidence) for each in second]:
        raise InputError(f"{len(first)} and {len(second)} diagnoses are not of the same evidence in the same order")
    pairs = Counter((one.row, other.row) for one, other in zip(first, second, strict=True))
    return pd.DataFrame([(*pair, count) for pair, count in pairs.most_common()], columns=["row", "other", "count"])
