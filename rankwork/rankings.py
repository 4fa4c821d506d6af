"""Rankings and judgements in columns: what systems returned, and what people say is relevant.

Rows stand grouped by query, in order of first appearance; inside a query they keep their order of arrival. A document
is a code into a vocabulary, so that work on IDs is work on integers. Scores keep the type that took part in the
ranking: int64 is never turned into float64, and float32 stays float32, because both can create ties.

>>> run = Rankings.from_dicts({"q1": {"A": 9.0, "C": 8.0, "B": 8.0, "D": 7.0}})
>>> [str(run.documents[code]) for code in run.codes[run.order("id_asc")]]
['A', 'B', 'C', 'D']
>>> run.group_starts.tolist()
[0, 1, 3, 4]
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise, repeat
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankwork.digest import digest, digest_bytes
from rankwork.errors import ContractError

ORDERS = ("id_asc", "id_desc", "rank", "input")
Duplicates = Literal["refuse", "keep_first"]
Negatives = Literal["refuse", "unjudged"]
Ints = NDArray[np.int64]
Place = Callable[[int], str]

_ROWS_AT_ONCE = 2**16  # what a processor's cache holds


@dataclass(frozen=True)
class Columns:
    """Rows in order of arrival, with coded IDs: row i is `queries[query_codes[i]]`, `documents[codes[i]]`.

    Both vocabularies are unique. `place` names a row in messages: a reader of files gives lines.
    """

    queries: Sequence[str]
    query_codes: NDArray[Any]
    documents: Any
    codes: NDArray[Any]

    @classmethod
    def of(cls, queries: Iterable[str], documents: Iterable[Any], all_queries: Sequence[str] = ()) -> Self:
        """Columns of IDs as they are; `all_queries` names queries that may have no row."""
        given = list(queries)
        names: dict[str, int] = {}
        for query in (*all_queries, *given):
            if not isinstance(query, str):
                raise ContractError(f"query IDs must be text, got {query!r}: write {str(query)!r}")
            names.setdefault(str(query), len(names))
        query_codes = np.fromiter((names[query] for query in given), np.int64, len(given))
        return cls(list(names), query_codes, *_coded(documents))

    def __post_init__(self) -> None:
        if len(self.query_codes) != len(self.codes):
            raise ContractError(
                f"there are {len(self.query_codes)} queries and {len(self.codes)} documents: one row each"
            )

    def pair(self, row: int) -> tuple[str, Any]:
        """The query and the document of a row."""
        return self.queries[self.query_codes[row]], self.documents[[self.codes[row]]].tolist()[0]

    def place(self, row: int) -> str:
        """A row, for a message."""
        query, document = self.pair(row)
        return f"query {query!r}, document {document!r} (row {row})"

    def check(self, values: NDArray[Any], noun: str) -> None:
        """ContractError unless there is one finite number a row."""
        if len(values) != len(self.codes):
            raise ContractError(f"there are {len(self.codes)} documents and {len(values)} {noun}s: one each")
        if values.dtype.kind == "f" and not np.isfinite(values).all():
            row = int(np.argmin(np.isfinite(values)))
            raise ContractError(f"{noun} {values[row].item()!r} of {self.place(row)} is not finite")

    def kept(self, values: NDArray[Any], duplicates: Duplicates) -> Ints | slice:
        """The rows that stay: all, or of duplicates the first in the ranking, which is the one that scores highest."""
        if self._unique():
            return slice(None)
        pairs = self._pairs(slice(None))
        if duplicates == "refuse":
            raise ContractError(self._named_duplicate(pairs))
        best_first = np.lexsort((_descending(values), pairs))
        new = np.ones(len(pairs), bool)
        new[1:] = pairs[best_first][1:] != pairs[best_first][:-1]
        return np.sort(best_first[new])

    def _pairs(self, rows: slice) -> Ints:
        pairs: Ints = self.query_codes[rows].astype(np.int64)
        pairs *= max(len(self.documents), 1)
        pairs += self.codes[rows]
        return pairs

    def _unique(self) -> bool:
        """Whether no pair of query and document repeats; where queries stand together, a part of them at a time."""
        ends = np.arange(_ROWS_AT_ONCE, len(self.codes), _ROWS_AT_ONCE)
        if self.in_order and len(ends):
            ends = np.searchsorted(self.query_codes, self.query_codes[ends])
        else:
            ends = ends[:0]
        for start, end in pairwise([0, *ends.tolist(), len(self.codes)]):
            pairs = self._pairs(slice(start, end))
            pairs.sort()
            if (pairs[1:] == pairs[:-1]).any():
                return False
        return True

    @cached_property
    def in_order(self) -> bool:
        """Whether the rows of a query stand together, queries in the order of `queries`."""
        return bool((self.query_codes[1:] >= self.query_codes[:-1]).all())

    def _named_duplicate(self, pairs: Ints) -> str:
        repeats = np.ones(len(pairs), bool)
        repeats[np.unique(pairs, return_index=True)[1]] = False
        second = int(np.argmax(repeats))
        earlier = int(np.argmax(pairs == pairs[second]))
        query, document = self.pair(second)
        return f"query {query!r} holds document {document!r} twice, in rows {earlier} and {second}"

    def grouped(self, rows: Ints | slice) -> tuple[Ints | slice, Ints]:
        """These rows grouped by query, and the offsets of the groups."""
        kept = self.query_codes[rows]
        offsets = np.zeros(len(self.queries) + 1, np.int64)
        np.cumsum(np.bincount(kept, minlength=len(self.queries)), out=offsets[1:])
        if self.in_order:
            return rows, offsets
        return np.arange(len(self.codes))[rows][np.argsort(kept, kind="stable")], offsets


@dataclass(frozen=True, eq=False, repr=False)
class Lists:
    """What rankings and judgements share: for each query a list of documents.

    `queries` are text IDs; rows `offsets[i]` to `offsets[i + 1]` belong to `queries[i]`; `documents` is the vocabulary,
    unique IDs as an object array of text (or what behaves like one: `rankwork.inputs.packed_text`) or an int64 array;
    `codes` says for each row which of them it is.
    """

    queries: tuple[str, ...]
    offsets: Ints
    documents: Any
    codes: NDArray[Any]

    def __len__(self) -> int:
        return len(self.codes)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self.queries)} queries, {len(self)} rows, {self.id_kind} IDs)"

    @property
    def id_kind(self) -> str:
        """Whether document IDs are "text" or "integer": "10" sorts before "9", 10 after 9."""
        return "integer" if self.documents.dtype.kind == "i" else "text"

    @property
    def lengths(self) -> Ints:
        """The number of rows of each query, int64[Q]."""
        return np.diff(self.offsets)

    @cached_property
    def query_of_row(self) -> Ints:
        """For each row the position of its query in `queries`, int64[N]."""
        return np.repeat(np.arange(len(self.queries)), self.lengths)

    @cached_property
    def query_index(self) -> dict[str, int]:
        """Where each query stands in `queries`."""
        return {query: position for position, query in enumerate(self.queries)}

    @cached_property
    def id_ranks(self) -> Ints:
        """The position of each vocabulary entry in ascending ID order, int64[V].

        >>> Rankings.from_dicts({"q": {"b": 1, "B": 1, "a": 1}}).id_ranks.tolist()
        [2, 0, 1]
        """
        return _inverse(_ascending(self.documents))

    def id_ranks_of(self, rows: Ints) -> Ints:
        """The ascending ID order of some rows' documents, as integers to sort by; only their IDs are compared."""
        used = np.flatnonzero(np.bincount(self.codes[rows], minlength=len(self.documents)))
        ranks = np.zeros(len(self.documents), np.int64)
        ranks[used[_ascending(self.documents, used)]] = np.arange(len(used))
        in_order: Ints = ranks[self.codes[rows]]
        return in_order

    def codes_of(self, documents: NDArray[Any]) -> Ints:
        """The code of each of these unique IDs, -1 for those that the vocabulary lacks, int64[len(documents)]."""
        if hasattr(self.documents, "codes_of"):
            found: Ints = self.documents.codes_of(documents)
            return found
        wanted = {document: place for place, document in enumerate(documents.tolist())}
        places = np.fromiter(map(wanted.get, self.documents.tolist(), repeat(-1)), np.int64, len(self.documents))
        known = np.flatnonzero(places >= 0)
        codes = np.full(len(documents), -1, np.int64)
        codes[places[known]] = known
        return codes

    def slice_of(self, query: str) -> slice:
        """The rows of a query. ContractError if there is no such query."""
        if query not in self.query_index:
            raise ContractError(f"there is no query {query!r} among the {len(self.queries)} here")
        position = self.query_index[query]
        return slice(int(self.offsets[position]), int(self.offsets[position + 1]))

    def _pairs_in_order(self) -> tuple[list[int], Ints]:
        """The queries in ascending order, and the rows sorted by query and document ID."""
        by_id = sorted(range(len(self.queries)), key=self.queries.__getitem__)
        place = _inverse(np.array(by_id, np.int64))
        return by_id, np.lexsort((self.id_ranks[self.codes], place[self.query_of_row]))

    @cached_property
    def candidates_digest(self) -> str:
        """The SHA-256 of who was eligible: for each query in ascending order, its document IDs in ascending order.

        Arrival order and scores have no part in it.
        """
        queries, rows = self._pairs_in_order()
        documents = self.documents[self.codes[rows]].tolist()
        ends = [0, *np.cumsum(self.lengths[queries]).tolist()]
        parts = [documents[start:end] for start, end in pairwise(ends)]
        return digest([[self.queries[query], part] for query, part in zip(queries, parts, strict=True)])


@dataclass(frozen=True, eq=False, repr=False)
class Rankings(Lists):
    """The ranked output of one system: for each query, documents with finite scores, unique in their query.

    `scores` has the type that took part in the ranking, floating or integer; `ranks` is a file's rank column, if it was
    asked for.
    """

    scores: NDArray[Any]
    ranks: Ints | None = None

    @classmethod
    def from_dicts(cls, run: Mapping[str, Mapping[Any, Any]], *, duplicates: Duplicates = "refuse") -> Self:
        """Rankings of `{query: {document: score}}`; a query with no documents stays, as an empty list.

        ContractError for a score that is not a finite number (text is not read as one) and for mixed kinds of IDs.
        """
        queries, documents, scores = _flattened(run, "run")
        return cls.from_columns(queries, documents, scores, duplicates=duplicates, all_queries=list(run))

    @classmethod
    def from_rows(cls, rows: Iterable[Sequence[Any]], *, duplicates: Duplicates = "refuse") -> Self:
        """Rankings of rows of (query, document, score).

        >>> Rankings.from_rows([("q", "a", 1.0), ("q", "a", 2.0)])
        Traceback (most recent call last):
            ...
        rankwork.errors.ContractError: query 'q' holds document 'a' twice, in rows 0 and 1
        """
        queries, documents, scores = _transposed(rows)
        return cls.from_columns(queries, documents, scores, duplicates=duplicates)

    @classmethod
    def from_columns(
        cls,
        queries: Iterable[str],
        documents: Iterable[Any],
        scores: Iterable[Any],
        ranks: ArrayLike | None = None,
        *,
        duplicates: Duplicates = "refuse",
        all_queries: Sequence[str] = (),
    ) -> Self:
        """Rankings of equally long columns, in order of arrival. Integer arrays are taken as integer IDs.

        `all_queries` names queries that may have no row. Errors as for `from_dicts`, with the row.
        """
        columns = Columns.of(queries, documents, all_queries)
        return cls.of_columns(columns, numbers(scores, "score", columns.place), ranks, duplicates=duplicates)

    @classmethod
    def of_columns(
        cls,
        columns: Columns,
        scores: NDArray[Any],
        ranks: ArrayLike | None = None,
        *,
        duplicates: Duplicates = "refuse",
    ) -> Self:
        """Rankings of columns that are coded already: the way in for readers. Errors as for `from_dicts`."""
        columns.check(scores, "score")
        rows, offsets = columns.grouped(columns.kept(scores, duplicates))
        rank_column = None if ranks is None else np.asarray(ranks, np.int64)[rows]
        return cls(tuple(columns.queries), offsets, columns.documents, columns.codes[rows], scores[rows], rank_column)

    @cached_property
    def by_score(self) -> Ints:
        """The rows, query by query, by score descending; equal scores in order of arrival: int64[N]."""
        rows = np.arange(len(self))
        for query in self._queries_out_of_order:
            part = slice(self.offsets[query], self.offsets[query + 1])
            rows[part] = self.offsets[query] + np.argsort(_descending(self.scores[part]), kind="stable")
        return rows

    @cached_property
    def _queries_out_of_order(self) -> list[int]:
        rising = self.scores[1:] > self.scores[:-1]
        rising[self.offsets[(self.offsets > 0) & (self.offsets < len(self))] - 1] = False
        rows = np.flatnonzero(rising)
        return np.unique(np.searchsorted(self.offsets, rows, side="right") - 1).tolist() if len(rows) else []

    @cached_property
    def group_starts(self) -> Ints:
        """Where each tie group starts in the order of `by_score`, and the number of rows at the end: int64[G + 1]."""
        scores = self.scores[self.by_score] if self._queries_out_of_order else self.scores
        starts = np.ones(len(self) + 1, bool)
        starts[1:-1] = scores[1:] != scores[:-1]
        starts[self.offsets] = True
        return np.flatnonzero(starts)

    def order(self, policy: str) -> Ints:
        """The rows, query by query, by score descending and equal scores by `policy`: int64[N].

        `id_asc` is the contract, `id_desc` trec_eval's order, `rank` the file's rank column (equal ranks by ID
        ascending), `input` the order of arrival. ContractError for any other policy, and for `rank` without ranks.

        >>> run = Rankings.from_rows([("q", "b", 1.0), ("q", "a", 1.0), ("q", "c", 2.0)])
        >>> {policy: run.order(policy).tolist() for policy in ("id_asc", "id_desc", "input")}
        {'id_asc': [2, 1, 0], 'id_desc': [2, 0, 1], 'input': [2, 0, 1]}
        """
        check_order(policy, ORDERS)
        if policy == "input":
            return self.by_score
        return self._tied_rows_sorted(policy)

    def _tied_rows_sorted(self, policy: str) -> Ints:
        sizes = np.diff(self.group_starts)
        places = np.flatnonzero(np.repeat(sizes > 1, sizes))
        tied = self.by_score[places]
        group = np.repeat(np.arange(len(sizes)), sizes)[places]
        rows = self.by_score.copy()
        rows[places] = tied[np.lexsort((*self._tie_keys(policy, tied), group))]
        return rows

    def _tie_keys(self, policy: str, rows: Ints) -> tuple[Ints, ...]:
        by_id = self.id_ranks_of(rows)
        if policy == "rank":
            if self.ranks is None:
                raise ContractError("order 'rank' needs the rank column, and these rankings have none")
            return (by_id, self.ranks[rows])
        return (-by_id if policy == "id_desc" else by_id,)

    def rows(self, query: str) -> list[tuple[Any, Any]]:
        """The (document, score) of a query in order of arrival, as Python values."""
        part = self.slice_of(query)
        return list(zip(self.documents[self.codes[part]].tolist(), self.scores[part].tolist(), strict=True))

    def cast(self, dtype: Any) -> Self:
        """The same rankings with scores of another type: float32 or float16 can create ties, and that is the point.

        ContractError if a score is not finite in that type, or is an integer that it cannot hold.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            scores = self.scores.astype(dtype)
        if scores.dtype.kind in "iu" and not np.array_equal(scores, self.scores):
            raise ContractError(f"scores cannot be cast to {scores.dtype}: not all of them are integers that it holds")
        Columns(self.queries, self.query_of_row, self.documents, self.codes).check(scores, "score")
        return replace(self, scores=scores)

    @cached_property
    def scores_digest(self) -> str:
        """The SHA-256 of the type and the exact bits of the scores, by query and document ID ascending."""
        _, rows = self._pairs_in_order()
        little = self.scores[rows].astype(self.scores.dtype.newbyteorder("<"), copy=False)
        return digest_bytes(self.scores.dtype.name.encode() + b"\n" + little.tobytes())


@dataclass(frozen=True, eq=False, repr=False)
class Judgements(Lists):
    """The judged documents of each query with their grades, finite and not negative; int64 or float64.

    `negatives` counts the rows of a file whose grade was negative: they were left out as unjudged.
    """

    grades: NDArray[Any]
    negatives: int = 0

    @classmethod
    def from_dicts(
        cls,
        judgements: Mapping[str, Mapping[Any, Any]],
        *,
        negative: Negatives = "refuse",
        duplicates: Duplicates = "refuse",
    ) -> Self:
        """Judgements of `{query: {document: grade}}`; a query without documents stays: it has no relevant document.

        ContractError for a negative grade (or, with `negative="unjudged"`, left out and counted) and for one that is
        not a finite number.

        >>> Judgements.from_dicts({"q": {"a": -1}})
        Traceback (most recent call last):
            ...
        rankwork.errors.ContractError: grade -1 of query 'q', document 'a' (row 0) is negative
        """
        queries, documents, grades = _flattened(judgements, "judgements")
        return cls.from_columns(
            queries, documents, grades, negative=negative, duplicates=duplicates, all_queries=list(judgements)
        )

    @classmethod
    def from_rows(cls, rows: Iterable[Sequence[Any]], *, negative: Negatives = "refuse") -> Self:
        """Judgements of rows of (query, document, grade); errors as for `from_dicts`."""
        queries, documents, grades = _transposed(rows)
        return cls.from_columns(queries, documents, grades, negative=negative)

    @classmethod
    def from_columns(
        cls,
        queries: Iterable[str],
        documents: Iterable[Any],
        grades: Iterable[Any],
        *,
        negative: Negatives = "refuse",
        duplicates: Duplicates = "refuse",
        all_queries: Sequence[str] = (),
    ) -> Self:
        """Judgements of equally long columns; errors as for `from_dicts`."""
        columns = Columns.of(queries, documents, all_queries)
        values = numbers(grades, "grade", columns.place)
        return cls.of_columns(columns, values, negative=negative, duplicates=duplicates)

    @classmethod
    def of_columns(
        cls,
        columns: Columns,
        grades: NDArray[Any],
        *,
        negative: Negatives = "refuse",
        duplicates: Duplicates = "refuse",
    ) -> Self:
        """Judgements of columns that are coded already: the way in for readers. Errors as for `from_dicts`."""
        columns.check(grades, "grade")
        below = grades < 0
        if negative == "refuse" and below.any():
            row = int(np.argmax(below))
            raise ContractError(f"grade {grades[row].item()!r} of {columns.place(row)} is negative")
        kept = np.arange(len(grades))[columns.kept(grades, duplicates)]
        rows, offsets = columns.grouped(kept[~below[kept]])
        wide = grades[rows].astype(np.float64 if grades.dtype.kind == "f" else np.int64)
        negatives = int(below[kept].sum())
        return cls(tuple(columns.queries), offsets, columns.documents, columns.codes[rows], wide, negatives)

    def grades_of(self, query: str) -> dict[Any, Any]:
        """The `{document: grade}` of a query, as Python values."""
        part = self.slice_of(query)
        return dict(zip(self.documents[self.codes[part]].tolist(), self.grades[part].tolist(), strict=True))


def check_order(policy: str, known: Sequence[str]) -> None:
    """ContractError unless `policy` is one of the `known` orders."""
    if policy not in known:
        raise ContractError(f"order must be one of {', '.join(known)}, got {policy!r}")


def numbers(values: Iterable[Any], noun: str, place: Place) -> NDArray[Any]:
    """Scores or grades as an array of the type that they have: integers stay integers, float32 stays float32.

    Integers among floats become float64 where that is exact. ContractError for text, bool and what is no number.
    """
    if isinstance(values, np.ndarray) and values.dtype.kind != "O":
        return _numeric_array(values, noun)
    items = list(values)
    kinds = {type(item) for item in items}
    if len(kinds) == 1 and issubclass(kind := min(kinds, key=str), (np.floating, np.integer)):
        return _numeric_array(np.array(items, kind), noun)
    plain = [item.item() if isinstance(item, (np.floating, np.integer)) else item for item in items]
    if not kinds <= {int, float}:
        _check_numbers(plain, noun, place)
    return _fitted(plain, noun, place)


def _check_numbers(items: Sequence[Any], noun: str, place: Place) -> None:
    for row, item in enumerate(items):
        if isinstance(item, bool) or not isinstance(item, int | float):
            raise ContractError(f"{noun} {item!r} of {place(row)} is not a number but {_named_kind(item)}")


def _fitted(items: Sequence[int | float], noun: str, place: Place) -> NDArray[Any]:
    """Integers as int64; integers among floats as float64, which they must not lose a digit by."""
    whole = bool(items) and all(isinstance(item, int) for item in items)
    low, high = (-(2**63), 2**63 - 1) if whole else (-(2**53), 2**53)
    for row, item in enumerate(items):
        if isinstance(item, int) and not low <= item <= high:
            kind = "int64" if whole else "float64, which the other values need"
            raise ContractError(f"{noun} {item!r} of {place(row)} does not fit {kind}")
    return np.array(items, np.int64 if whole else np.float64)


def _named_kind(item: Any) -> str:
    return "text" if isinstance(item, str | bytes) else type(item).__name__


def _numeric_array(values: NDArray[Any], noun: str) -> NDArray[Any]:
    if values.dtype.kind not in "fiu" or values.dtype.itemsize > 8 or values.ndim != 1:
        raise ContractError(
            f"{noun}s must be a one-dimensional array of integers or floats up to 64 bits, "
            f"got {values.ndim} dimensions of {values.dtype}"
        )
    return values


def _descending(scores: NDArray[Any]) -> NDArray[Any]:
    """Keys whose ascending order is the scores' descending one; `~x` is `-x - 1` and cannot overflow."""
    return -scores if scores.dtype.kind == "f" else ~scores


def _ascending(vocabulary: Any, places: Ints | None = None) -> Ints:
    """The permutation that sorts all IDs, or those at some places: integers by value, text by code point."""
    if hasattr(vocabulary, "ascending"):
        found: Ints = vocabulary.ascending(places)
        return found
    documents = vocabulary if places is None else vocabulary[places]
    if documents.dtype.kind == "i":
        return np.argsort(documents).astype(np.int64, copy=False)
    values = documents.tolist()
    return np.array(sorted(range(len(values)), key=values.__getitem__), np.int64)


def _inverse(permutation: Ints) -> Ints:
    places = np.empty(len(permutation), np.int64)
    places[permutation] = np.arange(len(permutation))
    return places


def _flattened(nested: Mapping[str, Mapping[Any, Any]], noun: str) -> tuple[list[str], list[Any], list[Any]]:
    queries: list[str] = []
    documents: list[Any] = []
    values: list[Any] = []
    for query, inner in nested.items():
        if not isinstance(inner, Mapping):
            raise ContractError(
                f"{noun} must be {{query: {{document: number}}}}; {query!r} holds {type(inner).__name__}"
            )
        queries += [query] * len(inner)
        documents += inner.keys()
        values += inner.values()
    return queries, documents, values


def _transposed(rows: Iterable[Sequence[Any]]) -> tuple[list[Any], list[Any], list[Any]]:
    kept = list(rows)
    for number, row in enumerate(kept):
        if isinstance(row, str) or len(row) != 3:
            raise ContractError(f"row {number} must be (query, document, number), got {row!r}")
    return [row[0] for row in kept], [row[1] for row in kept], [row[2] for row in kept]


def _coded(documents: Iterable[Any]) -> tuple[NDArray[Any], Ints]:
    """The vocabulary, in order of first appearance (integers: ascending), and each document's code in it."""
    if isinstance(documents, np.ndarray) and documents.dtype.kind in "iu":
        return _integers_coded(documents)
    items = documents.tolist() if isinstance(documents, np.ndarray) else list(documents)
    integers = [isinstance(item, int | np.integer) and not isinstance(item, bool) for item in items]
    if items and all(integers):
        return _integers_coded(np.array(items))
    _check_text(items, integers)
    known: dict[str, int] = {}
    codes = np.fromiter((known.setdefault(str(item), len(known)) for item in items), np.int64, len(items))
    return text_array(known), codes


def _integers_coded(documents: NDArray[Any]) -> tuple[NDArray[Any], Ints]:
    if documents.dtype.kind not in "iu" or (documents.dtype.kind == "u" and (documents > np.iinfo(np.int64).max).any()):
        raise ContractError(f"integer document IDs must fit int64, got {documents.max()}")
    vocabulary, codes = np.unique(documents.astype(np.int64), return_inverse=True)
    return vocabulary, codes.astype(np.int64)


def _check_text(items: Sequence[Any], integers: Sequence[bool]) -> None:
    for row, item in enumerate(items):
        if integers[row] != integers[0]:
            raise ContractError(
                f"document IDs are text or integers, never both: {items[0]!r} in row 0, {item!r} in row {row}"
            )
        if not isinstance(item, str) and not integers[row]:
            raise ContractError(f"a document ID must be text or an integer, got {item!r} in row {row}")


def text_array(values: Iterable[str]) -> NDArray[Any]:
    """Text as an object array: unlike NumPy's own text types it keeps every character as it is."""
    items = list(values)
    array = np.empty(len(items), object)
    array[:] = items
    return array
