"""Which queries a slice holds, and which of them count once.

A slice is a name that cases carry, or a field of theirs: `tenant=acme`, `role=`, `split=`, `origin=`, `expected=`;
`tenant=*` is one slice for each tenant. `all` holds every query.
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from rankwork.decision.policy import ALL
from rankwork.errors import InputError
from rankwork.trace import Case

Members = NDArray[np.int64]
_FIELDS: Mapping[str, Callable[[Case], str]] = {
    "tenant": lambda case: case.identity.tenant,
    "role": lambda case: case.identity.role,
    "split": lambda case: case.split,
    "origin": lambda case: case.origin,
    "expected": lambda case: case.expected,
}


def slices_of(name: str, queries: Sequence[str], cases: Mapping[str, Case]) -> dict[str, Members]:
    """The places of a slice's queries; more than one slice for `field=*`. InputError for one that matches nothing.

    >>> cases = {"a": Case(id="a", query="?", slices=("long tail",)), "b": Case(id="b", query="?")}
    >>> {name: places.tolist() for name, places in slices_of("long tail", ["b", "a"], cases).items()}
    {'long tail': [1]}
    """
    if name == ALL:
        return {ALL: np.arange(len(queries))}
    field, equals, value = name.partition("=")
    if equals and value == "*" and field in _FIELDS:
        values = sorted({_FIELDS[field](cases[query]) for query in queries if query in cases} - {""})
        found = {f"{field}={each}": _places(f"{field}={each}", queries, cases) for each in values}
    else:
        found = {name: _places(name, queries, cases)}
    if not any(len(places) for places in found.values()):
        raise InputError(f"slice {name!r} matches no query; {_there_are(queries, cases)}")
    return found


def _places(name: str, queries: Sequence[str], cases: Mapping[str, Case]) -> Members:
    return np.array([place for place, query in enumerate(queries) if query in cases and _in(name, cases[query])], int)


def _in(name: str, case: Case) -> bool:
    field, equals, value = name.partition("=")
    return name in case.slices or (bool(equals) and field in _FIELDS and _FIELDS[field](case) == value)


def _there_are(queries: Sequence[str], cases: Mapping[str, Case]) -> str:
    if not cases:
        return "without cases there is only the slice 'all'"
    names = sorted({name for query in queries if query in cases for name in cases[query].slices})
    return f"the cases have {', '.join(names) or 'no slices'}, and {', '.join(f'{field}=' for field in _FIELDS)}"


def clusters_of(queries: Sequence[str], cases: Mapping[str, Case]) -> list[str]:
    """What each query counts with: its case's cluster or, without one, all that ask in the same words.

    >>> cases = {name: Case(id=name, query="Why?  ", cluster=cluster) for name, cluster in (("a", ""), ("b", "c1"))}
    >>> clusters_of(["a", "b", "without a case"], cases)
    ['text why?', 'cluster c1', 'query without a case']
    """
    return [_cluster(query, cases.get(query)) for query in queries]


def _cluster(query: str, case: Case | None) -> str:
    if case is None:
        return f"query {query}"
    if case.cluster:
        return f"cluster {case.cluster}"
    words = " ".join(case.query.split()).casefold()
    return f"text {words}" if words else f"query {query}"
