"""Fusion by scores: the convex combination, CombSUM and CombMNZ.

E. A. Fox and J. A. Shaw, "Combination of Multiple Searches", TREC-2, 1994. Sums are exact, so that equal sums tie.
"""

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from rankwork.contract.reference import Id
from rankwork.errors import ContractError
from rankwork.retrieval.fusion import Fused, in_order
from rankwork.retrieval.normalisation import Bounds, Scaled, normalised
from rankwork.retrieval.rank_values import Weights, checked_weights
from rankwork.retrieval.routes import Route, Several, read_routes

MISSING = ("minimum", "zero")


def convex(
    rankings: Several,
    *,
    weights: Weights,
    normalise: str = "min-max",
    bounds: Bounds | None = None,
    missing: str = "minimum",
    allow_disjoint: bool = False,
) -> Fused:
    """The weighted mean of the normalised scores; the weights add up to 1 and are taken as they are written.

    A document that a route lacks counts there as its lowest (`missing="minimum"`) or as 0 (`"zero"`); after min-max
    that is the same. `normalise` and `bounds` are those of `normalised`. Edges and errors as for `rrf` and
    `normalised`; ContractError, too, for weights that do not add up to 1.

    >>> routes = {"bm25": {"a": 9.0, "b": 5.0, "c": 1.0}, "dense": {"b": 0.75, "c": 0.25}}
    >>> fused = convex(routes, weights={"bm25": 0.5, "dense": 0.5})
    >>> list(zip(fused.ids, map(str, fused.exact)))
    [('b', '3/4'), ('a', '1/2'), ('c', '0')]
    """
    routes = read_routes(rankings, allow_disjoint=allow_disjoint)
    shares = checked_weights(weights, [route.name for route in routes])
    if sum(shares) != 1:
        raise ContractError(f"the weights of a convex combination add up to 1, got {float(sum(shares))}")
    return _summed(routes, shares, normalise, bounds, missing)


def comb_sum(
    rankings: Several,
    *,
    normalise: str = "min-max",
    bounds: Bounds | None = None,
    missing: str = "minimum",
    allow_disjoint: bool = False,
) -> Fused:
    """CombSUM: the sum of the normalised scores; options and errors as for `convex`.

    >>> comb_sum({"bm25": {"a": 9.0, "b": 5.0, "c": 1.0}, "dense": {"b": 0.75, "c": 0.25}}).scores
    (1.5, 1.0, 0.0)
    """
    routes = read_routes(rankings, allow_disjoint=allow_disjoint)
    return _summed(routes, (Fraction(1),) * len(routes), normalise, bounds, missing)


def comb_mnz(
    rankings: Several,
    *,
    normalise: str = "min-max",
    bounds: Bounds | None = None,
    missing: str = "minimum",
    allow_disjoint: bool = False,
) -> Fused:
    """CombMNZ: CombSUM times the number of routes that return the document; options and errors as for `convex`.

    ContractError, too, for a normalised score below 0: there, more routes would lower a document.

    >>> comb_mnz({"bm25": {"a": 9.0, "b": 5.0, "c": 1.0}, "dense": {"b": 0.75, "c": 0.25}}).scores
    (3.0, 1.0, 0.0)
    """
    routes = read_routes(rankings, allow_disjoint=allow_disjoint)
    found = {identifier: sum(identifier in route.members for route in routes) for identifier in _all(routes)}
    return _summed(routes, (Fraction(1),) * len(routes), normalise, bounds, missing, times=found)


def _summed(
    routes: Sequence[Route],
    weights: Sequence[Fraction],
    normalise: str,
    bounds: Bounds | None,
    missing: str,
    times: Mapping[Id, int] | None = None,
) -> Fused:
    if missing not in MISSING:
        raise ContractError(f"missing must be one of {', '.join(MISSING)}, got {missing!r}")
    scales = [normalised(route, normalise, bounds) for route in routes]
    if times is not None:
        _check_not_negative(routes, scales)
    lacks = [min(scale.values(), default=Fraction(0)) if missing == "minimum" else Fraction(0) for scale in scales]

    def part(place: int, identifier: Id) -> Fraction:
        factor = weights[place] * (1 if times is None else times[identifier])
        return factor * scales[place].get(identifier, lacks[place])

    return _fused(routes, part)


def _fused(routes: Sequence[Route], part: Callable[[int, Id], Fraction]) -> Fused:
    """The list of what `part` gives to each document by the place of a route."""
    places = range(len(routes))
    totals = {
        identifier: sum((part(place, identifier) for place in places), Fraction(0)) for identifier in _all(routes)
    }
    ids = in_order(totals)
    ranks = [{identifier: rank for rank, identifier in enumerate(route.ordered(), 1)} for route in routes]
    names = [route.name for route in routes]
    parts: dict[str, Any] = {
        name: tuple(part(place, identifier) for identifier in ids) for place, name in enumerate(names)
    }
    found = {name: tuple(map(ranks[place].get, ids)) for place, name in enumerate(names)}
    return Fused(ids, tuple(totals[identifier] for identifier in ids), parts, found)


def _all(routes: Sequence[Route]) -> list[Id]:
    return list(dict.fromkeys(identifier for route in routes for identifier in route.ordered()))


def _check_not_negative(routes: Sequence[Route], scales: Sequence[Scaled]) -> None:
    for route, scale in zip(routes, scales, strict=True):
        for identifier, value in scale.items():
            if value < 0:
                raise ContractError(
                    f"{route.name}: CombMNZ needs scores of at least 0, got {float(value)} for {identifier!r} after "
                    "normalisation; min-max and bounds give such"
                )
