"""What a rank is worth in reciprocal rank fusion, w / (c + rank), exactly.

Sums of such fractions tie, and float addition in another order splits the tie. So values are whole numbers over one
common denominator, which compare as fast as floats; where that denominator would get too long, they are fractions.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any, TypeAlias

from rankwork.contract.reference import integer, plain
from rankwork.errors import ContractError

Exact: TypeAlias = int | Fraction
Weights: TypeAlias = Mapping[str, Any] | Sequence[Any]
_MOST_BITS = 2**29  # of a table of whole numbers: 64 MiB
_LONGEST = 2**14


@dataclass(frozen=True)
class Values:
    """For each route what its ranks are worth, from rank 1 on: a value divided by `scale` is the contribution."""

    tables: tuple[tuple[Exact, ...], ...]
    scale: int


@dataclass(frozen=True)
class Rule:
    """Reciprocal rank fusion as asked for: the constant, a weight for each route, how many of each list are read."""

    c: Fraction
    weights: tuple[Fraction, ...]
    depth: int | None

    @classmethod
    def of(cls, routes: Iterable[str], *, c: Any = 60, weights: Weights | None = None, depth: Any = None) -> "Rule":
        """The rule, checked. ContractError for a constant or a weight that is negative or not finite, depth below 1."""
        reading = None if depth is None else integer(depth, "depth")
        if reading is not None and reading < 1:
            raise ContractError(f"depth must be at least 1, got {reading}")
        return cls(as_written(c, "c"), checked_weights(weights, list(routes)), reading)

    def values(self, longest: int) -> Values:
        """The values of the ranks up to `longest`, and perhaps some more; none of a rank beyond the depth."""
        rounded = 1 << max(longest - 1, 0).bit_length()  # so that lists of nearly the same length share a table
        return _values(self.c, self.weights, rounded if self.depth is None else min(rounded, self.depth))


def as_written(value: Any, what: str) -> Fraction:
    """A number that is finite and not negative, as it is written: 0.1 is one tenth, not the float beside it.

    >>> as_written(0.1, "c")
    Fraction(1, 10)
    """
    number = plain(value)
    if isinstance(number, bool) or not isinstance(number, int | float | Fraction | Decimal):
        raise ContractError(f"{what} must be a number, got {value!r}")
    if not math.isfinite(number) or number < 0:
        raise ContractError(f"{what} must be finite and not negative, got {value!r}")
    return Fraction(repr(number)) if isinstance(number, float) else Fraction(number)


def checked_weights(weights: Weights | None, routes: Sequence[str]) -> tuple[Fraction, ...]:
    """One weight a route, in their order; all 1 where none are given.

    >>> checked_weights({"dense": 2, "bm25": 0.5}, ["bm25", "dense"])
    (Fraction(1, 2), Fraction(2, 1))
    """
    if weights is None:
        return (Fraction(1),) * len(routes)
    if isinstance(weights, Mapping):
        if set(weights) != set(routes):
            raise ContractError(f"weights must name the routes {', '.join(routes)}, got {sorted(map(str, weights))}")
        weights = [weights[route] for route in routes]
    if isinstance(weights, str | bytes) or len(list(weights)) != len(routes):
        raise ContractError(f"there must be one weight for each of {len(routes)} routes, got {weights!r}")
    found = tuple(as_written(value, f"the weight of {route}") for route, value in zip(routes, weights, strict=True))
    if not any(found):
        raise ContractError("at least one weight must be above 0, got only zeros")
    return found


@lru_cache(maxsize=32)
def _values(c: Fraction, weights: tuple[Fraction, ...], length: int) -> Values:
    """Values as whole numbers where their common denominator is short enough, else as fractions."""
    ranks = range(1, length + 1)
    if length <= _LONGEST:
        scale = math.lcm(*(weight.denominator for weight in weights)) * math.lcm(
            *((c + rank).numerator for rank in ranks)
        )
        if scale.bit_length() * max(length, 1) <= _MOST_BITS:
            return Values(tuple(tuple(int(weight * scale / (c + rank)) for rank in ranks) for weight in weights), scale)
    return Values(tuple(tuple(weight / (c + rank) for rank in ranks) for weight in weights), 1)
