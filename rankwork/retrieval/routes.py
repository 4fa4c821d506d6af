"""The routes of a fusion: what several retrievers returned for one query, each as groups of equal score.

A route is a list of IDs, best first; or rows of (ID, score); or a mapping from ID to score. Only scores can tie: a bare
list of IDs says that its order is meant.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, chain, groupby, pairwise
from typing import Any, TypeAlias

from rankwork.contract.reference import Candidate, Id, candidates, checked_ids, kind, ordered
from rankwork.errors import ContractError
from rankwork.rankings import Ints, Rankings

Ranking: TypeAlias = Iterable[Any] | Mapping[Any, Any]
Several: TypeAlias = Mapping[str, Ranking] | Sequence[Ranking]
ORDERS = ("id_asc", "id_desc")


@dataclass(frozen=True)
class Route:
    """One retriever's list: its groups of equal score, best first, the IDs of a group ascending.

    `scores` holds a score for each group, None where the route came without scores.
    """

    name: str
    groups: tuple[tuple[Id, ...], ...]
    scores: tuple[Any, ...] | None = None

    def __len__(self) -> int:
        return self.starts[-1]

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """How many documents stand before each group, and at the end the number of all."""
        return tuple(accumulate(map(len, self.groups), initial=0))

    @cached_property
    def members(self) -> frozenset[Id]:
        """All of its documents."""
        return frozenset(chain.from_iterable(self.groups))

    def ordered(self, order: str = "id_asc") -> tuple[Id, ...]:
        """The documents by score, equal scores by ascending ID (the contract) or descending (`id_desc`).

        >>> read_routes({"bm25": {"b": 1.0, "a": 1.0}})[0].ordered("id_desc")
        ('b', 'a')
        """
        if order not in ORDERS:
            raise ContractError(f"order must be one of {', '.join(ORDERS)}, got {order!r}")
        if order == "id_asc":
            return tuple(chain.from_iterable(self.groups))
        return tuple(chain.from_iterable(group[::-1] for group in self.groups))

    def score_of(self) -> dict[Id, Any]:
        """Each document's score. ContractError where the route came without scores."""
        if self.scores is None:
            raise ContractError(f"{self.name}: scores are needed, and this route is a list of IDs")
        return {
            identifier: score for score, group in zip(self.scores, self.groups, strict=True) for identifier in group
        }


def read_routes(rankings: Several, *, allow_disjoint: bool = False) -> tuple[Route, ...]:
    """The routes of a mapping from names to rankings, or of a sequence, which are named "route 1", "route 2", ...

    Duplicates in a route keep the first: of rows, the one with the highest score. ContractError for what is no
    ranking, for IDs of two kinds, and for a route that shares no ID with any other: chunk IDs beside document IDs
    never merge. `allow_disjoint` accepts that; short lists of honest routes can be disjoint. An empty route is fine.

    >>> [route.groups for route in read_routes([["b", "a", "b"], [("a", 2.0), ("b", 2.0)]])]
    [(('b',), ('a',)), (('a', 'b'),)]
    """
    routes = tuple(_read(name, ranking) for name, ranking in _named(rankings))
    _check_one_kind(routes)
    if not allow_disjoint:
        check_shared(routes)
    return routes


def routes_by_query(runs: Mapping[str, Rankings]) -> Iterator[tuple[str, tuple[Route, ...]]]:
    """Each query of whole runs with its routes; a run without the query is an empty route.

    ContractError for no run, no query, and a run that shares no document with any other.

    >>> runs = {"bm25": Rankings.from_dicts({"q": {"b": 1.0, "a": 1.0}})}
    >>> [(query, [route.groups for route in routes]) for query, routes in routes_by_query(runs)]
    [('q', [(('a', 'b'),)])]
    """
    if not runs:
        raise ContractError("there must be at least one run, got none")
    check_shared([Route(name, (tuple(run.documents.tolist()),)) for name, run in runs.items() if len(run)])
    rows = {name: run.order("id_asc") for name, run in runs.items()}
    queries = dict.fromkeys(chain.from_iterable(run.queries for run in runs.values()))
    if not queries:
        raise ContractError(f"there is no query in {', '.join(runs)}")
    return ((query, tuple(_of_run(name, run, rows[name], query) for name, run in runs.items())) for query in queries)


def check_shared(routes: Sequence[Route]) -> None:
    """ContractError if a route with documents shares none of them with any other route that has some."""
    filled = [route for route in routes if len(route)]
    for route in filled if len(filled) > 1 else ():
        others = [other for other in filled if other is not route]
        if all(route.members.isdisjoint(other.members) for other in others):
            raise ContractError(_disjoint(route, others[0]))


def _disjoint(route: Route, other: Route) -> str:
    return (
        f"{route.name} shares no ID with any other route: it has {route.groups[0][0]!r}, {other.name} has "
        f"{other.groups[0][0]!r}. Is one of chunks, the other of documents? allow_disjoint=True fuses them all the same"
    )


def _named(rankings: Several) -> Iterator[tuple[str, Ranking]]:
    if isinstance(rankings, str | bytes) or not isinstance(rankings, Mapping | Iterable):
        raise ContractError(f"rankings must be a mapping from route to ranking or a sequence of them, got {rankings!r}")
    named = list(rankings.items() if isinstance(rankings, Mapping) else _numbered(rankings))
    if not named:
        raise ContractError("there must be at least one ranking, got none")
    for name, ranking in named:
        if not isinstance(name, str):
            raise ContractError(f"a route's name must be text, got {name!r}")
        if isinstance(ranking, str | bytes | set | frozenset) or not isinstance(ranking, Iterable):
            raise ContractError(
                f"{name}: a ranking must be a list of IDs, of (ID, score), or a mapping, got {ranking!r}"
            )
    return iter(named)


def _numbered(rankings: Iterable[Ranking]) -> Iterator[tuple[str, Ranking]]:
    return ((f"route {number}", ranking) for number, ranking in enumerate(rankings, 1))


def _read(name: str, ranking: Ranking) -> Route:
    rows = list(ranking.items() if isinstance(ranking, Mapping) else ranking)
    scored = [isinstance(row, tuple | list) for row in rows]
    if rows and any(scored) != all(scored):
        place = scored.index(not scored[0])
        raise ContractError(f"{name}: IDs and rows of (ID, score) are mixed: {rows[0]!r}, then {rows[place]!r}")
    try:
        return _of_rows(name, rows) if any(scored) else _of_ids(name, rows)
    except ContractError as error:
        raise ContractError(f"{name}: {error}") from None


def _of_ids(name: str, ids: Iterable[Any]) -> Route:
    return Route(name, tuple((identifier,) for identifier in dict.fromkeys(checked_ids(ids))))


def _of_rows(name: str, rows: Sequence[Any]) -> Route:
    order = ordered(_first_of_each(rows))
    groups = [(score, tuple(found.id for found in group)) for score, group in groupby(order, lambda row: row.score)]
    return Route(name, tuple(ids for _, ids in groups), tuple(score for score, _ in groups))


def _first_of_each(rows: Sequence[Any]) -> list[Candidate]:
    """The rows, checked, of duplicates the one that ranks first."""
    best: dict[Id, Candidate] = {}
    for layer in _without_duplicates(rows):
        for found in candidates(layer):
            if found.id not in best or found.score > best[found.id].score:
                best[found.id] = found
    checked_ids(best)  # the layers were checked one by one
    return list(best.values())


def _without_duplicates(rows: Sequence[Any]) -> list[list[Any]]:
    """The rows in layers: the first of each ID, the second ones, ..."""
    layers: list[list[Any]] = []
    seen: dict[Any, int] = {}
    for row in rows:
        layer = seen.get(row[0], 0) if row and isinstance(row[0], str | int) else 0
        if row and isinstance(row[0], str | int):
            seen[row[0]] = layer + 1
        if layer == len(layers):
            layers.append([])
        layers[layer].append(row)
    return layers


def _of_run(name: str, run: Rankings, order: Ints, query: str) -> Route:
    if query not in run.query_index:
        return Route(name, (), ())
    part = run.slice_of(query)
    rows = order[part]
    first, last = run.group_starts.searchsorted([part.start, part.stop])
    ids, scores = run.documents[run.codes[rows]].tolist(), run.scores[rows].tolist()
    bounds = (run.group_starts[first : last + 1] - part.start).tolist()
    groups = tuple(tuple(ids[start:end]) for start, end in pairwise(bounds))
    return Route(name, groups, tuple(scores[start] for start in bounds[:-1]))


def _check_one_kind(routes: Sequence[Route]) -> None:
    first = [(route, route.groups[0][0]) for route in routes if len(route)]
    for route, identifier in first[1:]:
        if kind(identifier) != kind(first[0][1]):
            both = f"{first[0][1]!r} is {kind(first[0][1])}, but {route.name}'s {identifier!r} is {kind(identifier)}"
            raise ContractError(f"IDs must be all text or all integers: {first[0][0].name}'s {both}")
