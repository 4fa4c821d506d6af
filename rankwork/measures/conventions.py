"""What a protocol makes of a measure, and which of its conventions does it.

>>> run, judged = {"q": {"a": 1.0}}, {"q": {"a": 1}, "r": {"a": 1}}
>>> outcome(run, judged, "R@1", "rankwork"), outcome(run, judged, "R@1", "trec")
(0.5, 1.0)
>>> traced(run, judged, "R@1", "trec")
{'missing_query = left_out': 1.0}
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from rankwork.errors import RankworkError
from rankwork.measures.auditing import Judged, Run, audit
from rankwork.measures.names import parse
from rankwork.protocol import NAMES, Protocol

if TYPE_CHECKING:
    import pandas as pd

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


def outcomes(run: Run, judgements: Judged, measures: Iterable[str], protocols: Sequence[str] = NAMES) -> "pd.DataFrame":
    """The outcome of each measure under each protocol: a row a measure, a column a protocol.

    >>> outcomes({"q": {"a": 1.0}}, {"q": {"a": 1}, "r": {"a": 1}}, ["R@1"], ["rankwork", "trec"])
        rankwork  trec
    R@1      0.5   1.0
    """
    import pandas as pd

    rows = {measure: {name: outcome(run, judgements, measure, name) for name in protocols} for measure in measures}
    return pd.DataFrame.from_dict(rows, orient="index", columns=list(protocols))


def traces(run: Run, judgements: Judged, measures: Iterable[str], protocols: Sequence[str] = NAMES) -> "pd.DataFrame":
    """What each convention of these protocols makes of each measure on its own, from rankwork's protocol on.

    One row a protocol and convention, one column a measure; "refused" where there is no number, empty where the
    convention alone makes no difference.

    >>> print(traces({"q": {"a": 1.0}}, {"q": {"a": 1}, "r": {"a": 1}}, ["R@1"], ["trec"]).to_string())
                                      R@1
    towards one convention
    trec    missing_query = left_out  1.0
    """
    import pandas as pd

    asked = list(measures)
    alone = {name: {measure: traced(run, judgements, measure, name) for measure in asked} for name in protocols}
    rows = {
        (name, change): {measure: _number(changes.get(change, "")) for measure, changes in alone[name].items()}
        for name in protocols
        for change in _changes_of(name)
        if any(change in changes for changes in alone[name].values())
    }
    index = pd.MultiIndex.from_tuples(list(rows), names=["towards", "one convention"])
    return pd.DataFrame(list(rows.values()), index=index, columns=asked, dtype=object)


def _changes_of(protocol: str) -> list[str]:
    theirs = Protocol.named(protocol).to_dict()
    return [f"{field} = {theirs[field]}" for field in Protocol().to_dict() if field != "name"]


def _number(value: Outcome) -> Outcome:
    return "refused" if isinstance(value, str) and value else value


def unexplained(values: "pd.DataFrame", changes: "pd.DataFrame", protocol: str = "rankwork") -> list[tuple[str, str]]:
    """The measures and protocols whose value differs from the `protocol`'s, though no convention alone moves it.

    `values` is of `outcomes`, `changes` of `traces`.

    >>> run, judged = {"q": {"a": 1.0}}, {"q": {"a": 1}, "r": {"a": 1}}
    >>> unexplained(outcomes(run, judged, ["R@1"]), traces(run, judged, ["R@1"]))
    []
    """
    moved = {
        (str(measure), str(row[0]))
        for measure, column in changes.to_dict().items()
        for row, value in column.items()
        if value != ""
    }
    columns: dict[Any, dict[Any, Outcome]] = values.to_dict()
    return [
        (str(measure), str(name))
        for name, column in columns.items()
        for measure, value in column.items()
        if value != columns[protocol][measure] and (measure, name) not in moved
    ]


def resolved_names(
    run: Run, judgements: Judged, names: Iterable[str], protocols: Sequence[str] = ("rankwork", "java")
) -> "pd.DataFrame":
    """Each name of a measure as it is parsed, and by each protocol with every convention filled in.

    The run and the judgements are needed for what a measure takes from them, as ERR does its scale of grades.

    >>> print(resolved_names({"q": {"a": 1.0}}, {"q": {"a": 1}}, ["MRR@10"]).to_string())
            parsed      rankwork          java
    MRR@10  MRR@10  RR(rel=1)@10  RR(rel='>0')
    """
    import pandas as pd

    typed = list(names)
    columns = {"parsed": {name: str(parse(name)) for name in typed}}
    for protocol in protocols:
        found = audit(run, judgements, typed, protocol=protocol).results
        columns[protocol] = {name: str(result.resolved) for name, result in found.items()}
    return pd.DataFrame(columns, index=typed)
