"""Scores of different routes brought to one scale, by a declared rule and without an invented value.

`min-max`: the list's lowest score becomes 0, its highest 1. `z-score`: minus the list's mean, over its population
standard deviation. `bounds`: as min-max, with the lowest and highest score that are possible in place of those that
were seen (the theoretical bounds of S. Bruch, S. Gai and A. Ingber, "An Analysis of Fusion Functions for Hybrid
Retrieval", TOIS 2023). `none`: as they are. All but the z-score are exact; a z-score is a float.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

from rankwork.contract.reference import Id, is_finite_number, plain
from rankwork.errors import ContractError, InputError
from rankwork.retrieval.routes import Route

Bounds: TypeAlias = Mapping[str, Sequence[Any]]
Scaled: TypeAlias = dict[Id, Fraction]


def normalised(route: Route, how: str, bounds: Bounds | None = None) -> Scaled:
    """Each document's score on the new scale.

    `bounds` gives for each route (lowest, highest); None in place of one of them takes the list's own.
    InputError for a list whose scores are all equal, which min-max and z-score cannot scale, and for a score outside
    of its bounds; ContractError for an unknown rule, and for bounds that are missing or not two numbers.

    >>> from rankwork.retrieval.routes import read_routes
    >>> [route] = read_routes({"bm25": {"a": 12.0, "b": 9.0, "c": 8.0}})
    >>> [str(value) for value in normalised(route, "min-max").values()]
    ['1', '1/4', '0']
    >>> [str(value) for value in normalised(route, "bounds", {"bm25": (0, None)}).values()]
    ['1', '3/4', '2/3']
    """
    if how not in RULES:
        raise ContractError(f"normalise must be one of {', '.join(RULES)}, got {how!r}")
    if (how == "bounds") != (bounds is not None):
        raise ContractError(f"normalise={how!r} {'needs' if how == 'bounds' else 'takes no'} bounds")
    if not len(route):
        return {}
    return RULES[how](route, bounds or {})


def _as_they_are(route: Route, _: Bounds) -> Scaled:
    return {identifier: Fraction(score) for identifier, score in route.score_of().items()}


def _min_max(route: Route, _: Bounds) -> Scaled:
    return _scaled(route, *_extremes(route, "min-max"))


def _by_bounds(route: Route, bounds: Bounds) -> Scaled:
    scores = _as_they_are(route, {}).values()
    given = _checked_bounds(route, bounds)
    low, high = (own(scores) if bound is None else bound for bound, own in zip(given, (min, max), strict=True))
    if low >= high:
        raise InputError(f"{route.name}: the lowest possible score must be below the highest, got {low} and {high}")
    for identifier, score in route.score_of().items():
        if not low <= score <= high:
            raise InputError(
                f"{route.name}: score {score} of {identifier!r} is outside of its bounds {float(low)} and {float(high)}"
            )
    return _scaled(route, low, high)


def _z_score(route: Route, _: Bounds) -> Scaled:
    _extremes(route, "z-score")
    scores = _as_they_are(route, {})
    mean = sum(scores.values(), Fraction(0)) / len(scores)
    deviation = math.sqrt(sum(((score - mean) ** 2 for score in scores.values()), Fraction(0)) / len(scores))
    return {identifier: Fraction(float(score - mean) / deviation) for identifier, score in scores.items()}


def _extremes(route: Route, how: str) -> tuple[Fraction, Fraction]:
    scores = _as_they_are(route, {}).values()
    if min(scores) == max(scores):
        alike = f"all {len(route)} scores are {float(min(scores))}" if len(route) > 1 else "it has a single document"
        raise InputError(f"{route.name}: {how} cannot scale a constant list, and {alike}")
    return min(scores), max(scores)


def _scaled(route: Route, low: Fraction, high: Fraction) -> Scaled:
    return {identifier: (score - low) / (high - low) for identifier, score in _as_they_are(route, {}).items()}


def _checked_bounds(route: Route, bounds: Bounds) -> list[Fraction | None]:
    pair = bounds.get(route.name)
    if not isinstance(pair, Sequence) or isinstance(pair, str) or len(pair) != 2:
        raise ContractError(f"bounds must hold (lowest, highest) for {route.name}, got {pair!r}")
    for bound in map(plain, pair):
        if bound is not None and not is_finite_number(bound):
            raise ContractError(f"{route.name}: a bound must be a finite number or None, got {bound!r}")
    return [None if bound is None else Fraction(plain(bound)) for bound in pair]


RULES: Mapping[str, Callable[[Route, Bounds], Scaled]] = {
    "min-max": _min_max,
    "z-score": _z_score,
    "bounds": _by_bounds,
    "none": _as_they_are,
}
