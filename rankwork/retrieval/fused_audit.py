"""Ranges after fusion for whole runs: for each judged query its own and its inherited range, and their means."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from rankwork.contract.reference import Id
from rankwork.errors import ContractError
from rankwork.rankings import Judgements, Rankings
from rankwork.retrieval.fused_ranges import FusedRanges, ranges_of
from rankwork.retrieval.fusion import Fused
from rankwork.retrieval.fusion_intervals import CASES, checked_cut
from rankwork.retrieval.open_orders import OpenOrders
from rankwork.retrieval.rank_values import Rule, Weights
from rankwork.retrieval.routes import Route, routes_by_query

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class MeanRanges:
    """Means over the queries that have a relevant document; the mean of the bounds is the bound of the mean.

    `inherited_exact` counts the queries whose inherited bounds are both attained. `own_open` is the share of queries
    whose fused list has a tie across its cut, `inherited_open` that of queries whose top k hangs on the routes' ties.
    """

    queries: int
    undefined: int
    contract: float
    own_min: float
    own_max: float
    inherited_min: float
    inherited_max: float
    inherited_exact: int
    own_open: float
    inherited_open: float

    @property
    def own_width(self) -> float:
        """How far the mean moves by the fused list's own ties."""
        return self.own_max - self.own_min

    @property
    def inherited_width(self) -> float:
        """How far the bounds of the mean lie apart by the routes' ties."""
        return self.inherited_max - self.inherited_min


@dataclass(frozen=True, repr=False)
class FusedAudit:
    """Recall@k after fusion, for each judged query."""

    k: int
    depth: int | None
    per_query: Mapping[str, FusedRanges]

    def __repr__(self) -> str:
        return f"FusedAudit(Recall@{self.k}, depth {self.depth}, {len(self.per_query)} queries)"

    @cached_property
    def means(self) -> MeanRanges:
        """The means. ContractError where no query has a relevant document."""
        defined = list(self._defined.values())

        def mean(value: Callable[[FusedRanges], Any]) -> float:
            return float(sum(value(found) for found in defined) / len(defined))

        return MeanRanges(
            queries=len(defined),
            undefined=len(self.per_query) - len(defined),
            contract=mean(lambda found: found.contract),
            own_min=mean(lambda found: found.own.min),
            own_max=mean(lambda found: found.own.max),
            inherited_min=mean(lambda found: found.inherited.low),
            inherited_max=mean(lambda found: found.inherited.high),
            inherited_exact=sum(found.inherited.exact for found in defined),
            own_open=mean(lambda found: found.intervals.fused.boundary(self.k).crosses),
            inherited_open=mean(lambda found: bool(found.intervals.open)),
        )

    @property
    def widest(self) -> str:
        """The query with the widest inherited range, the first of those that are equally wide.

        ContractError where no query has a relevant document.
        """
        widths = {query: found.inherited.high - found.inherited.low for query, found in self._defined.items()}
        return max(widths, key=widths.__getitem__)

    @property
    def lists(self) -> dict[str, Fused]:
        """The fused list of each query, by the contract."""
        return {query: found.intervals.fused for query, found in self.per_query.items()}

    @property
    def _defined(self) -> dict[str, Any]:
        defined = {query: found for query, found in self.per_query.items() if found.reason is None}
        if not defined:
            raise ContractError("no query has a relevant document")
        return defined

    def to_pandas(self) -> "pd.DataFrame":
        """One row a query."""
        import pandas as pd

        rows = [
            {
                "query": query,
                "contract": found.contract,
                "own min": found.own.min,
                "own max": found.own.max,
                "inherited min": found.inherited.low,
                "inherited max": found.inherited.high,
                "exact": found.inherited.exact,
                "open members": len(found.intervals.open),
            }
            for query, found in self.per_query.items()
        ]
        return pd.DataFrame(rows)


def fused_audit(
    runs: Mapping[str, Rankings],
    judgements: Judgements,
    *,
    k: int = 10,
    depth: int | None = None,
    c: Any = 60,
    weights: Weights | None = None,
    relevant_from: float = 1,
    cases: int = CASES,
) -> FusedAudit:
    """Recall@k of the fusion of whole runs, with what each query's ties leave open; options as for `fused_ranges`.

    Documents of grade `relevant_from` or more are relevant. Edges: a judged query that a run lacks has an empty route
    there; one that all runs lack has recall 0; queries without judgements are left out. ContractError for runs that
    share no document, and as `fused_ranges` raises it.

    >>> runs = {"bm25": Rankings.from_dicts({"q": {"a": 1.0, "b": 1.0}})}
    >>> found = fused_audit(runs, Judgements.from_dicts({"q": {"b": 1}}), k=1).means
    >>> (found.own_min, found.own_max), (found.inherited_min, found.inherited_max)
    ((0.0, 0.0), (0.0, 1.0))
    """
    rule = Rule.of(runs, c=c, weights=weights, depth=depth)
    cut = checked_cut(k)
    relevant = {query: _relevant(judgements, query, relevant_from) for query in judgements.queries}
    nothing = OpenOrders.of([Route(name, ()) for name in runs], rule)
    found = {query: ranges_of(nothing, documents, cut) for query, documents in relevant.items()}
    for query, routes in routes_by_query(runs):
        if query in relevant:
            found[query] = ranges_of(OpenOrders.of(routes, rule), relevant[query], cut, cases=cases)
    return FusedAudit(cut, depth, found)


def _relevant(judgements: Judgements, query: str, relevant_from: float) -> list[Id]:
    return [document for document, grade in judgements.grades_of(query).items() if grade >= relevant_from]
