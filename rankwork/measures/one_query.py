"""One query of an audit, whole: its tie groups, and the two lists that attain the ends of its range."""

from typing import TYPE_CHECKING

import numpy as np

from rankwork.contract.ties import TieGroup, tie_groups
from rankwork.errors import ContractError
from rankwork.measures.auditing import Audit, audit
from rankwork.measures.tie_orders import by_grade, without_ties

if TYPE_CHECKING:
    import pandas as pd


def widest(audit: Audit, measure: str) -> str:
    """The query with the widest range of a measure that is known exactly; the first query where none has one.

    ContractError for a measure that the audit does not have.

    >>> run = {"p": {"a": 2.0, "b": 1.0}, "q": {"a": 1.0, "b": 1.0}}
    >>> from rankwork.measures.auditing import audit as audited
    >>> widest(audited(run, {"p": {"a": 1}, "q": {"a": 1}}, "RR"), "RR")
    'q'
    """
    result = audit.result(measure)
    return audit.queries[int(np.argmax(np.where(result.values.bounded, 0.0, result.widths)))]


def groups(audit: Audit, query: str) -> "pd.DataFrame":
    """The query's tie groups that hold a document of positive grade, best first: ranks, score and counts.

    ContractError for a query that is not judged; a query without a list has no groups.

    >>> from rankwork.inputs.toy import six
    >>> from rankwork.measures.auditing import audit as audited
    >>> print(groups(audited(*six(), "R@3"), "q").to_string(index=False))
     from rank  to rank  score  documents  relevant
             1        1    9.0          1         1
             2        4    8.0          3         2
    """
    import pandas as pd

    scores, grades = _of(audit, query)
    rows = [_group_row(group, grades) for group in tie_groups(scores)]
    found = pd.DataFrame(rows, columns=["from rank", "to rank", "score", "documents", "relevant"])
    return found[found["relevant"] > 0].reset_index(drop=True)


def _group_row(group: TieGroup, grades: dict[str, float]) -> tuple[float, ...]:
    relevant = sum(grades.get(str(document), 0) > 0 for document in group.ids)
    return group.start + 1, group.start + len(group.ids), group.score, len(group.ids), relevant


def ends(audit: Audit, measure: str, query: str) -> dict[str, tuple[float, float]]:
    """Minimum and maximum of a query's range, each beside the measure of a list without ties that attains it.

    The lists put each tie group into ascending and into descending order of grade. Empty where the range is not known:
    the query is undefined, left out or missing from the run, or its list was cut. ContractError for a measure or a
    query that the audit does not have.

    >>> from rankwork.inputs.toy import six
    >>> from rankwork.measures.auditing import audit as audited
    >>> ends(audited(*six(), "P@2"), "P@2", "q")
    {'min': (0.5, 0.5), 'max': (1.0, 1.0)}
    """
    scores, grades = _of(audit, query)
    values, place = audit.result(measure).values, audit.queries.index(query)
    if not scores or values.bounded[place] or not values.averaged[place]:
        return {}
    return {
        end: (float(getattr(values, end)[place]), _of_order(audit, measure, scores, grades, best=end == "max"))
        for end in ("min", "max")
    }


def _of_order(audited: Audit, measure: str, scores: dict[str, float], grades: dict[str, float], *, best: bool) -> float:
    listed = without_ties(by_grade(scores, grades, best=best))
    resolved, protocol = audited.result(measure).resolved, audited.setting.protocol
    found = audit({"q": listed}, {"q": grades}, resolved, protocol=protocol, order="id_asc")
    return float(found.result(str(resolved)).values.contract[0])


def _of(audit: Audit, query: str) -> tuple[dict[str, float], dict[str, float]]:
    """The scores and the grades of a query's documents."""
    joined = audit.setting.joined
    if query not in joined.judgements.query_index:
        raise ContractError(f"query {query!r} is not judged")
    rows = joined.run.rows(query) if query in joined.run.query_index else []
    return dict(rows), joined.judgements.grades_of(query)
