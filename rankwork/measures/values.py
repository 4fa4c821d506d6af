"""What a measure gives for every judged query, and how a protocol turns that into means."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankwork.errors import InputError
from rankwork.measures.joining import Joined
from rankwork.protocol import Protocol

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

NO_RELEVANT = "no relevant document"
MISSING = "missing from the run"
CENSORED = "censored"
EMPTY = "empty requirement"
FIELDS = ("contract", "min", "expected", "max", "std")


@dataclass(frozen=True, eq=False)
class Setting:
    """What a measure is evaluated on: the joined run, the protocol, the order of ties, and the declared depth."""

    joined: Joined
    protocol: Protocol
    order: str = "id_asc"
    depth: int | None = None


@dataclass(frozen=True, eq=False)
class Values:
    """The five numbers of every judged query, float64[J]; NaN is an unknown value, with its `reason`.

    `relevant` int64[J] counts a query's relevant documents. `outer_min` and `outer_max` bound what a cut list hides;
    without a cut they are the minimum and the maximum. `details` are further columns of the table by query.
    `left_out` queries are not evaluated at all.
    """

    contract: Floats
    min: Floats
    expected: Floats
    max: Floats
    variance: Floats
    outer_min: Floats
    outer_max: Floats
    relevant: NDArray[np.int64]
    reason: NDArray[Any]
    details: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    left_out: Bools | None = None

    @property
    def std(self) -> Floats:
        """The standard deviation over all orders that the scores allow."""
        return np.sqrt(self.variance)

    @property
    def undefined(self) -> Bools:
        """The queries without a value, by the protocol."""
        return np.isin(self.reason, (NO_RELEVANT, MISSING, EMPTY))

    @property
    def censored(self) -> Bools:
        """The queries of which a cut list hides something."""
        return np.asarray(self.reason == CENSORED)

    @property
    def bounded(self) -> Bools:
        """The queries of which more is known by the outer bounds than by the range."""
        return self.censored | (~self.undefined & (np.isnan(self.min) | np.isnan(self.max)))

    @property
    def averaged(self) -> Bools:
        """The queries that a mean is taken over."""
        return ~self.undefined if self.left_out is None else ~self.undefined & ~self.left_out

    def filled(self, queries: Bools, value: float, reason: str | None) -> "Values":
        """The same values with these queries set to one value."""
        texts = self.reason.copy()
        texts[queries] = reason
        return replace(
            self,
            contract=np.where(queries, value, self.contract),
            min=np.where(queries, value, self.min),
            expected=np.where(queries, value, self.expected),
            max=np.where(queries, value, self.max),
            outer_min=np.where(queries, value, self.outer_min),
            outer_max=np.where(queries, value, self.outer_max),
            variance=np.where(queries, value * 0, self.variance),
            reason=texts,
        )


def by_protocol(
    values: Values, measure: str, cutoff: int | None, setting: Setting, *, always_defined: bool = False
) -> Values:
    """The values with the protocol's conventions for k beyond the list, missing queries and no relevant document.

    An `always_defined` measure needs no relevant document. InputError, with the query, for what the protocol refuses.
    """
    protocol, joined = setting.protocol, setting.joined
    missing = joined.retrieved == 0
    without = (values.relevant == 0) & (not always_defined)
    _refuse(protocol.no_relevant, without, joined, f"{measure}: the protocol refuses a query without relevant document")
    _refuse(protocol.missing_query, missing, joined, "the protocol refuses a judged query that is missing from the run")
    if protocol.beyond_list == "refuse" and cutoff is not None:
        _refuse_beyond_list(measure, cutoff, joined, missing)
    values = values.filled(missing, 0.0, None)
    if protocol.missing_query == "undefined":
        values = values.filled(missing, np.nan, MISSING)
    undefined = protocol.no_relevant == "undefined"
    values = values.filled(without, np.nan if undefined else 0.0, NO_RELEVANT if undefined else None)
    return replace(values, left_out=missing if protocol.missing_query == "left_out" else None)


def _refuse(convention: str, queries: Bools, joined: Joined, sentence: str) -> None:
    if convention == "refuse" and queries.any():
        raise InputError(f"{sentence}: {_named(queries, joined)}")


def _refuse_beyond_list(measure: str, cutoff: int, joined: Joined, missing: Bools) -> None:
    short = (joined.retrieved < cutoff) & ~missing
    if short.any():
        first = int(np.argmax(short))
        query, length = joined.judgements.queries[first], joined.retrieved[first]
        raise InputError(f"{measure}: k must be between 1 and {length} for query {query!r}, got {cutoff}")


def _named(queries: Bools, joined: Joined) -> str:
    return examples([joined.judgements.queries[place] for place in np.flatnonzero(queries)])


def known_where(column: Floats, known: Bools) -> Floats:
    """The column, NaN where it is not known."""
    return np.where(known, column, np.nan)


def reasons(queries: Bools, reason: str) -> NDArray[Any]:
    """One reason for these queries, None for the others, [J]."""
    texts = np.full(len(queries), None, object)
    texts[queries] = reason
    return texts


def examples(names: Sequence[str], most: int = 5) -> str:
    """The first few names, and how many more there are.

    >>> examples(["1", "2", "3"], most=2)
    '1, 2 and 1 more'
    """
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"
