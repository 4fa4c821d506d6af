"""Development, holdout and blind cases: drawn by cluster, and checked for what leaks from one to another.

Cases of one cluster share text or source: tuning on one of them teaches the others. So a cluster has one split. Near
duplicates are looked for beyond the clusters that people named.
"""

import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

from rankwork.digest import digest
from rankwork.errors import ContractError, InputError
from rankwork.trace import Case, Split

SHINGLE = 4  # characters: longer than most words in Chinese, shorter than most in English
_ROWS_AT_ONCE = 256
_BITS = 2**64


@dataclass(frozen=True)
class NearDuplicate:
    """Two cases whose questions share so many shingles, and whether their splits differ."""

    first: str
    second: str
    similarity: float
    splits: tuple[Split, Split]

    @property
    def leaks(self) -> bool:
        """Whether one of them tells about the other across splits."""
        return self.splits[0] != self.splits[1]

    def __str__(self) -> str:
        where = f"in {self.splits[0]} and {self.splits[1]}" if self.leaks else f"both in {self.splits[0]}"
        return f"{self.first} and {self.second}, {where}: {self.similarity:.2f} of their shingles are the same"


def assigned(cases: Iterable[Case], shares: Mapping[str, float], *, seed: int = 0) -> tuple[Case, ...]:
    """The cases with a split each, by cluster (a case without one is its own), in about these shares.

    A cluster's split follows from its name and `seed` alone, so that it stays when cases are added. ContractError for
    a split that is unknown, and shares that are negative or do not sum to 1.

    >>> [case.split for case in assigned([Case(id="a", query="?", cluster="x")], {"holdout": 1.0})]
    ['holdout']
    """
    unknown = sorted(set(shares) - set(get_args(Split)))
    if unknown:
        raise ContractError(f"splits are {', '.join(get_args(Split))}; there is no {unknown[0]!r}")
    if (
        not shares or min(shares.values()) < 0 or not abs(sum(shares.values()) - 1) <= 1e-9
    ):  # what sums of decimals lose
        raise ContractError(f"shares must not be negative and sum to 1, got {dict(shares)}")
    return tuple(case.model_copy(update={"split": _drawn(cluster_of(case), shares, seed)}) for case in cases)


def cluster_of(case: Case) -> str:
    """The cluster of a case: the one it names, or itself.

    >>> cluster_of(Case(id="c1", query="?"))
    'case c1'
    """
    return f"cluster {case.cluster}" if case.cluster else f"case {case.id}"


def check_clusters(cases: Iterable[Case]) -> None:
    """InputError for a cluster with cases in two splits: all of them are named by the first two."""
    first: dict[str, Case] = {}
    for case in cases:
        other = first.setdefault(cluster_of(case), case)
        if other.split != case.split:
            places = f"case {other.id!r} in {other.split}, {case.id!r} in {case.split}"
            raise InputError(f"{cluster_of(case)} stands in two splits: {places}")


def near_duplicates(cases: Sequence[Case], *, similarity: float = 0.8) -> tuple[NearDuplicate, ...]:
    """The pairs of cases whose questions share at least this much (Jaccard) of their shingles, the closest first.

    A shingle is four characters of the question, letters alone: case, width, accents of form, spaces and punctuation
    make no difference. Questions shorter than that are one shingle. Time and space grow with the pairs that share one.
    ContractError for a `similarity` that is not above 0 and at most 1.

    >>> cases = [Case(id="a", query="How long is leave?"), Case(id="b", query="how long is  LEAVE")]
    >>> near_duplicates(cases)[0].similarity
    1.0
    """
    found = [
        NearDuplicate(cases[first].id, cases[second].id, share, (cases[first].split, cases[second].split))
        for first, second, share in _checked(cases, similarity)
    ]
    return tuple(sorted(found, key=lambda pair: (-pair.similarity, pair.first, pair.second)))


def clustered(cases: Sequence[Case], *, similarity: float = 0.8) -> tuple[Case, ...]:
    """The cases with near duplicates in one cluster, joined with what was one already: to be split by `assigned`.

    A chain of near duplicates is one cluster, though its ends may differ. A cluster has the name of its first case's,
    or is called after that case; a case that is like no other keeps none. ContractError as for `near_duplicates`.

    >>> pair = [Case(id="a", query="How long is leave?"), Case(id="b", query="how long is leave")]
    >>> [case.cluster for case in clustered(pair)]
    ['like a', 'like a']
    """
    pairs = [*_named(cases), *(pair[:2] for pair in _checked(cases, similarity))]
    groups = _groups(len(cases), pairs)
    sizes = Counter(groups)
    names: dict[int, str] = {}
    for case, group in zip(cases, groups, strict=True):
        names.setdefault(group, case.cluster or (f"like {case.id}" if sizes[group] > 1 else ""))
    return tuple(case.model_copy(update={"cluster": names[group]}) for case, group in zip(cases, groups, strict=True))


def leaks(cases: Sequence[Case], *, similarity: float = 0.8) -> tuple[NearDuplicate, ...]:
    """The near duplicates that stand in different splits."""
    return tuple(pair for pair in near_duplicates(cases, similarity=similarity) if pair.leaks)


def shingles(text: str) -> frozenset[str]:
    """The shingles of a question, as `near_duplicates` compares them.

    >>> sorted(shingles("To be!")), sorted(shingles("Why?"))
    (['tobe'], ['why'])
    """
    letters = "".join(sign for sign in unicodedata.normalize("NFKC", text).casefold() if sign.isalnum())
    places = range(max(1, len(letters) - SHINGLE + 1))
    return frozenset(letters[place : place + SHINGLE] for place in places)


def _named(cases: Sequence[Case]) -> Iterator[tuple[int, int]]:
    """The pairs of places that a cluster's name joins."""
    first: dict[str, int] = {}
    for place, case in enumerate(cases):
        yield first.setdefault(cluster_of(case), place), place


def _groups(count: int, pairs: Sequence[tuple[int, int]]) -> list[int]:
    """For each place the number of the group that these pairs, and chains of them, put it in."""
    import numpy as np
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    if not count:
        return []
    first, second = zip(*pairs, strict=True)
    graph = coo_matrix((np.ones(len(pairs)), (first, second)), shape=(count, count))
    labels: list[int] = connected_components(graph, directed=False)[1].tolist()
    return labels


def _checked(cases: Sequence[Case], similarity: float) -> Iterator[tuple[int, int, float]]:
    if not 0 < similarity <= 1:
        raise ContractError(f"similarity must be above 0 and at most 1, got {similarity!r}")
    return _similar([case.query for case in cases], similarity)


def _drawn(cluster: str, shares: Mapping[str, float], seed: int) -> Split:
    point = int(digest([seed, cluster])[:16], 16) / _BITS
    reached = 0.0
    ordered: list[Split] = [name for name in get_args(Split) if shares.get(name)]
    for split in ordered:
        reached += shares[split]
        if point < reached:
            return split
    return ordered[-1]


def _similar(texts: Sequence[str], similarity: float) -> Iterator[tuple[int, int, float]]:
    """The pairs of places, the lower first, with their Jaccard similarity."""
    import numpy as np

    if not texts:
        return
    matrix = _matrix(texts)
    sizes = np.asarray(matrix.sum(axis=1)).ravel()
    columns = matrix.T.tocsr()
    for start in range(0, len(texts), _ROWS_AT_ONCE):
        shared = (matrix[start : start + _ROWS_AT_ONCE] @ columns).tocoo()
        first, second, common = shared.row + start, shared.col, shared.data
        jaccard = common / (sizes[first] + sizes[second] - common)
        for place in np.flatnonzero((first < second) & (jaccard >= similarity)):
            yield int(first[place]), int(second[place]), float(jaccard[place])


def _matrix(texts: Sequence[str]) -> Any:
    """Which text has which shingle: a sparse matrix of ones, texts by shingles."""
    import numpy as np
    from scipy import sparse

    codes: dict[str, int] = {}
    held = [[codes.setdefault(shingle, len(codes)) for shingle in sorted(shingles(text))] for text in texts]
    offsets = np.cumsum([0, *map(len, held)])
    places = np.concatenate([np.array(row, np.int64) for row in held])
    return sparse.csr_matrix((np.ones(len(places), np.int64), places, offsets), shape=(len(texts), len(codes)))
