"""What a protocol makes of a measure, and which of its conventions does it.

>>> run, judged = {"q": {"a": 1.0}}, {"q": {"a": 1}, "r": {"a": 1}}
>>> outcome(run, judged, "R@1", "rankwork"), outcome(run, judged, "R@1", "trec")
(0.5, 1.0)
>>> traced(run, judged, "R@1", "trec")
{'missing_query = left_out': 1.0}
"""

from rankwork.errors import RankworkError
from rankwork.measures.auditing import Judged, Run, audit
from rankwork.protocol import Protocol

Outcome = float | str


def outcome(run: Run, judgements: Judged, measure: str, protocol: str | Protocol) -> Outcome:
    """The mean of a measure in the protocol's own order of ties; if there is none, the sentence that says why.

    What `audit` refuses is returned as the sentence of its error.

    >>> outcome({"q": {"a": 1.0}}, {"q": {"a": 1}}, "R@2", "article")
    "R(rel='>0')@2: k must be between 1 and 1 for query 'q', got 2"
    """
    try:
        mean = audit(run, judgements, measure, protocol=protocol).result(measure).mean
    except RankworkError as error:
        return str(error)
    return str(mean.reason) if mean.contract is None else mean.contract


def traced(run: Run, judgements: Judged, measure: str, protocol: str) -> dict[str, Outcome]:
    """What each convention of a named protocol makes of the measure on its own, all others being rankwork's.

    Only those that make a difference are named, as "field = value".
    """
    ours, theirs = Protocol(), Protocol.named(protocol)
    before = outcome(run, judgements, measure, ours)
    changes = {field: value for field, value in theirs.to_dict().items() if value != ours.to_dict()[field]}
    changes.pop("name", None)
    alone = {
        f"{field} = {value}": outcome(run, judgements, measure, ours.replace(**{field: value}))
        for field, value in changes.items()
    }
    return {change: after for change, after in alone.items() if after != before}
