"""Reciprocal rank fusion, with ties of the fused score decided in exact arithmetic.

G. V. Cormack, C. L. A. Clarke and S. Buettcher, "Reciprocal Rank Fusion outperforms Condorcet and individual Rank
Learning Methods", SIGIR 2009.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import groupby, islice, takewhile
from typing import TYPE_CHECKING, Any

from rankwork.contract.reference import Id, checked_k
from rankwork.contract.ties import Boundary, boundary
from rankwork.errors import ContractError
from rankwork.retrieval.rank_values import Exact, Rule, Weights
from rankwork.retrieval.routes import Route, Several, read_routes

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class Fused:
    """One list out of several routes: by exact score descending, equal scores by ascending ID.

    `totals` are exact scores times `scale`; `parts` holds for each route what it gave to each document, times `scale`,
    and `ranks` the rank that the document has there, None where the route did not return it.
    """

    ids: tuple[Id, ...]
    totals: tuple[Exact, ...]
    parts: Mapping[str, tuple[Exact, ...]]
    ranks: Mapping[str, tuple[int | None, ...]]
    scale: int = 1

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        return f"Fused({len(self)} documents of {', '.join(self.parts)}: {', '.join(map(str, self.ids[:10]))})"

    @cached_property
    def exact(self) -> tuple[Fraction, ...]:
        """The scores as exact fractions."""
        return tuple(Fraction(total, self.scale) for total in self.totals)

    @cached_property
    def scores(self) -> tuple[float, ...]:
        """The scores, each the float nearest to the exact one: equal scores are equal floats."""
        return tuple(float(total / self.scale) for total in self.totals)

    @cached_property
    def levels(self) -> tuple[int, ...]:
        """How many different scores lie below each document's: integers that tie exactly where the scores do."""
        places = {total: place for place, total in enumerate(dict.fromkeys(reversed(self.totals)))}
        return tuple(places[total] for total in self.totals)

    @cached_property
    def rows(self) -> tuple[tuple[Id, int], ...]:
        """(ID, level), to be ranked and audited as any list is: its ties are the fused ones."""
        return tuple(zip(self.ids, self.levels, strict=True))

    @property
    def ties(self) -> tuple[tuple[Id, ...], ...]:
        """The documents that share their exact score with others, group by group, best first."""
        found = (tuple(identifier for identifier, _ in group) for _, group in groupby(self.rows, lambda row: row[1]))
        return tuple(group for group in found if len(group) > 1)

    def top(self, k: int) -> tuple[Id, ...]:
        """The first k documents; fewer where there are fewer."""
        return self.ids[: checked_k(k, max(k, 0))]

    def head(self, k: int) -> tuple[tuple[Id, int], ...]:
        """(ID, level) of the first k documents and of those that tie with the k-th: all that a cut at k depends on."""
        size = len(self.top(k))
        last = self.totals[size - 1] if size else None
        return self.rows[: size + len(list(takewhile(lambda total: total == last, self.totals[size:])))]

    def boundary(self, k: int) -> Boundary:
        """The cut at rank k: who is above and who is tied by the fused score; a k beyond the list is clipped."""
        return boundary(self.head(k), len(self.top(k)))

    def contributions(self, identifier: Id) -> dict[str, Fraction]:
        """What each route gave to a document. ContractError for one that is not in the list."""
        if identifier not in self.ids:
            raise ContractError(f"there is no document {identifier!r} among the {len(self)} fused ones")
        place = self.ids.index(identifier)
        return {route: Fraction(parts[place], self.scale) for route, parts in self.parts.items()}

    def to_pandas(self) -> "pd.DataFrame":
        """One row a document: rank, ID, score, and for each route its rank there and what it gave."""
        import pandas as pd

        columns: dict[str, Any] = {"rank": range(1, len(self) + 1), "id": self.ids, "score": self.scores}
        for route, parts in self.parts.items():
            columns[f"rank in {route}"] = pd.array(self.ranks[route], dtype="Int64")
            columns[f"from {route}"] = [float(part / self.scale) for part in parts]
        return pd.DataFrame(columns)


def rrf(
    rankings: Several,
    *,
    c: Any = 60,
    weights: Weights | None = None,
    depth: int | None = None,
    orders: Mapping[str, str] | None = None,
    allow_disjoint: bool = False,
) -> Fused:
    """Reciprocal rank fusion: a document's score is the sum over the routes of weight / (c + rank).

    `rankings` is a mapping from route name to ranking, or a sequence of rankings; a ranking is a list of IDs, or rows
    of (ID, score), or a mapping from ID to score. Ranks count from 1: as the IDs stand, or by the contract (score
    descending, ID ascending; `orders` may name `id_desc` for a route). Of duplicates the first counts, and the ranks
    close up. A document that a route lacks gets 0 from it. `depth` reads only so many of each list. A route of weight
    0 takes no part: it brings no documents.

    `c` and the weights are finite, not negative and taken as they are written (0.1 is one tenth). Equal fused scores
    are found in exact arithmetic and resolved by ascending ID.

    Edges: an empty route adds nothing; if all are empty, so is the result. ContractError for IDs of two kinds, a route
    that shares no ID with any other (unless `allow_disjoint`), and for whatever else cannot be a ranking, a constant,
    a weight, a depth or an order.

    >>> fused = rrf({"dense": ["X", "a", "Y"], "sparse": ["b", "c", "Y"]})
    >>> fused.ids
    ('Y', 'X', 'b', 'a', 'c')
    >>> str(fused.exact[0]), fused.ties
    ('2/63', (('X', 'b'), ('a', 'c')))
    """
    routes = read_routes(rankings, allow_disjoint=allow_disjoint)
    rule = Rule.of([route.name for route in routes], c=c, weights=weights, depth=depth)
    return fuse(routes, rule, _checked_orders(orders or {}, routes))


def fuse(routes: Sequence[Route], rule: Rule, orders: Mapping[str, str] | None = None) -> Fused:
    """Reciprocal rank fusion of routes that were read already.

    >>> fuse(read_routes([["a", "b"], ["b"]]), Rule.of(["one", "other"], c=0)).ids
    ('b', 'a')
    """
    values = rule.values(max(map(len, routes), default=0))
    ranks = [_ranks(route, rule, place, orders or {}) for place, route in enumerate(routes)]
    totals: dict[Id, Exact] = {}
    for table, found in zip(values.tables, ranks, strict=True):
        for identifier, rank in found.items():
            totals[identifier] = totals.get(identifier, 0) + table[rank - 1]
    ids = in_order(totals)
    names = [route.name for route in routes]
    parts = (
        tuple(table[found[identifier] - 1] if identifier in found else 0 for identifier in ids)
        for table, found in zip(values.tables, ranks, strict=True)
    )
    return Fused(
        ids,
        tuple(map(totals.__getitem__, ids)),
        dict(zip(names, parts, strict=True)),
        {name: tuple(map(found.get, ids)) for name, found in zip(names, ranks, strict=True)},
        values.scale,
    )


def in_order(totals: Mapping[Id, Any]) -> tuple[Id, ...]:
    """The IDs by total descending, equal totals by ascending ID."""
    return tuple(sorted(sorted(totals), key=totals.__getitem__, reverse=True))


def _ranks(route: Route, rule: Rule, place: int, orders: Mapping[str, str]) -> dict[Id, int]:
    """The rank of each document that the fusion reads from a route."""
    if not rule.weights[place]:
        return {}
    order = route.ordered(orders.get(route.name, "id_asc"))
    return {identifier: rank for rank, identifier in enumerate(islice(order, rule.depth), 1)}


def _checked_orders(orders: Mapping[str, str], routes: Sequence[Route]) -> Mapping[str, str]:
    names = [route.name for route in routes]
    for name in orders:
        if name not in names:
            raise ContractError(f"orders names the route {name!r}, but the routes are {', '.join(names)}")
    return orders
