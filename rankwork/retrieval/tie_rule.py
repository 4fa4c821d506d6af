"""What turning round one route's tie rule does to the fused lists, and whether the fused lists let it be seen.

Two correct systems can differ in nothing but the order of equal BM25 scores. Where that changes who is in the final top
k, a check of the final list finds it only if the final list shows a tie at its cut. Mostly it does not.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from rankwork.contract.reference import Id, integer
from rankwork.errors import ContractError
from rankwork.rankings import Judgements, Rankings
from rankwork.retrieval.fusion import Fused, fuse
from rankwork.retrieval.fusion_intervals import checked_cut
from rankwork.retrieval.rank_values import Rule, Weights
from rankwork.retrieval.routes import Route, routes_by_query

if TYPE_CHECKING:
    import pandas as pd

DEPTHS = (10, 20, 50, 100, 1000)


@dataclass(frozen=True)
class Flip:
    """One depth: over how many queries, and the shares of them.

    `members_changed`: another set in the fused top k; `order_changed`: another list there. `tied_at_cut`: the fused
    list has a tie across its cut; `tied_in_top`: a tie anywhere that reaches into its top k. `unseen`: the set changes
    and the fused list shows no tie across its cut. `recall` and `recall_flipped` are means over the queries that have
    relevant documents; None without judgements.
    """

    depth: int
    queries: int
    members_changed: float
    order_changed: float
    tied_at_cut: float
    tied_in_top: float
    unseen: float
    recall: float | None = None
    recall_flipped: float | None = None


@dataclass(frozen=True, repr=False)
class Flips:
    """One row for each depth, and the queries whose top k changes at each."""

    route: str
    k: int
    rows: tuple[Flip, ...]
    changed: Mapping[int, tuple[str, ...]]

    def __repr__(self) -> str:
        return f"Flips({self.route}, k = {self.k}, depths {', '.join(str(row.depth) for row in self.rows)})"

    def to_pandas(self) -> "pd.DataFrame":
        """One row for each depth."""
        import pandas as pd

        names = [field.name for field in fields(Flip)]
        return pd.DataFrame([{name: getattr(row, name) for name in names} for row in self.rows], columns=names)


def flipped_tie_rule(
    runs: Mapping[str, Rankings],
    route: str,
    *,
    k: int = 10,
    depths: Iterable[int] = DEPTHS,
    c: Any = 60,
    weights: Weights | None = None,
    judgements: Judgements | None = None,
) -> Flips:
    """Reciprocal rank fusion with one route's equal scores by ascending ID, and again by descending ID.

    `runs` holds a whole run for each route; all other routes, and equal fused scores, stay with the contract. The lists
    should go further than the depth: a list that was cut inside a tie has lost what the other rule would bring in.

    Edges: a query that a run lacks is an empty route there. ContractError for a route that there is not, no depth, a k
    or depth below 1, runs that share no document, and as `rrf` raises it for `c` and `weights`.

    >>> bm25 = Rankings.from_dicts({"q": {"a": 1.0, "b": 1.0}})
    >>> dense = Rankings.from_dicts({"q": {"b": 0.75, "c": 0.5, "a": 0.25}})
    >>> found = flipped_tie_rule({"bm25": bm25, "dense": dense}, "bm25", k=1, depths=[1, 3])
    >>> [(row.depth, row.members_changed, row.tied_at_cut) for row in found.rows]
    [(1, 1.0, 1.0), (3, 0.0, 0.0)]
    """
    if route not in runs:
        raise ContractError(f"there is no route {route!r} among {', '.join(runs)}")
    rules = {integer(depth, "depth"): Rule.of(runs, c=c, weights=weights, depth=depth) for depth in depths}
    if not rules:
        raise ContractError("there must be at least one depth, got none")
    cut = checked_cut(k)
    relevant = _relevant(judgements)
    seen: dict[int, list[_Seen]] = {depth: [] for depth in rules}
    for query, routes in routes_by_query(runs):
        for depth, rule in rules.items():
            seen[depth].append(_look(query, routes, rule, route, cut, relevant.get(query, frozenset())))
    rows = tuple(_row(depth, found, judgements is not None) for depth, found in seen.items())
    changed = {depth: tuple(each.query for each in found if each.members) for depth, found in seen.items()}
    return Flips(route, cut, rows, changed)


@dataclass(frozen=True)
class _Seen:
    query: str
    members: bool
    order: bool
    at_cut: bool
    in_top: bool
    recalls: tuple[float, float] | None


def _look(query: str, routes: Sequence[Route], rule: Rule, flipped: str, k: int, relevant: frozenset[Id]) -> _Seen:
    fused = fuse(routes, rule)
    top, other = fused.top(k), fuse(routes, rule, {flipped: "id_desc"}).top(k)
    recalls = (
        (len(relevant & set(top)) / len(relevant), len(relevant & set(other)) / len(relevant)) if relevant else None
    )
    return _Seen(query, set(top) != set(other), top != other, *_ties(fused, k), recalls)


def _ties(fused: Fused, k: int) -> tuple[bool, bool]:
    """Whether the k-th total is also the next one, and whether any of the first k is shared with its neighbour."""
    totals = fused.totals[: k + 1]
    pairs = [one == other for one, other in pairwise(totals)]
    return len(pairs) == k and pairs[-1], any(pairs)


def _relevant(judgements: Judgements | None) -> dict[str, frozenset[Id]]:
    if judgements is None:
        return {}
    return {
        query: frozenset(document for document, grade in judgements.grades_of(query).items() if grade >= 1)
        for query in judgements.queries
    }


def _row(depth: int, seen: Sequence[_Seen], judged: bool) -> Flip:
    count = len(seen)
    recalls = [each.recalls for each in seen if each.recalls is not None] if judged else []
    before, after = ([pair[place] for pair in recalls] for place in (0, 1))
    return Flip(
        depth=depth,
        queries=count,
        members_changed=sum(each.members for each in seen) / count,
        order_changed=sum(each.order for each in seen) / count,
        tied_at_cut=sum(each.at_cut for each in seen) / count,
        tied_in_top=sum(each.in_top for each in seen) / count,
        unseen=sum(each.members and not each.at_cut for each in seen) / count,
        recall=sum(before) / len(before) if before else None,
        recall_flipped=sum(after) / len(after) if after else None,
    )
