"""The reference ranker. `rank` and `ordered` are the specification; all the rest of this file refuses bad input.

Every faster selection must return what this one returns. Positions in messages count from 0.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import takewhile
from typing import Any, NamedTuple, TypeAlias

from rankwork.errors import ContractError

Id: TypeAlias = str | int
Number: TypeAlias = int | float
Rows: TypeAlias = Iterable[Sequence[Any]] | Mapping[Any, Any]

POLICIES = ("by_id", "id_asc", "id_desc", "input", "inclusive")


class Candidate(NamedTuple):
    """A checked row. `standing` is its score and then its secondary keys: rows with equal standing are tied."""

    id: Id
    standing: tuple[Any, ...]

    @property
    def score(self) -> Number:
        """The score, an int or a float."""
        return self.standing[0]  # type: ignore[no-any-return]


def rank(rows: Rows, k: int, *, keys: Sequence[str] = (), policy: str = "by_id") -> tuple[Id, ...]:
    """The IDs of the `k` best rows, best first: higher score, then the secondary keys, last the unique ID.

    `rows` yields (id, score, *key values), or is a mapping from ID to score. IDs are all text (compared by code point)
    or all integers (9 before 10). Scores are finite ints, floats, or numpy or torch scalars; integers are compared as
    integers, and -0.0 equals 0.0. `keys` names the values after the score, in priority: "views" or "views desc" puts
    more first, "price asc" less first; a column holds numbers or text.

    Policies: `by_id` (also called `id_asc`) is the contract; `id_desc` resolves ties by descending ID; `input` leaves
    them as they arrived; `inclusive` returns every row whose score and keys are at or above the k-th, so it can return
    more than `k` rows: never put its measures beside those of strict `k` without saying so.

    Edges: `k` is an integer from 0 to the number of rows; 0 selects nothing.
    Raises ContractError, with the position and the value, for duplicate or mixed IDs, a score or key that is not
    finite, a row of another length, a `k` outside its limits, an unknown policy.

    >>> rank([("A", 9), ("C", 8), ("B", 8), ("D", 8)], 3)
    ('A', 'B', 'C')
    >>> rank([("A", 9), ("C", 8), ("B", 8), ("D", 8)], 3, policy="inclusive")
    ('A', 'B', 'C', 'D')
    >>> rank([("A", 8, 5), ("B", 8, 3), ("C", 8, 3)], 2, keys=["price asc"])
    ('B', 'C')
    """
    order = ordered(candidates(rows, keys), keys, policy)
    k = checked_k(k, len(order))
    if policy == "inclusive":
        k += surplus(order, k)
    return tuple(candidate.id for candidate in order[:k])


def ordered(found: Iterable[Candidate], keys: Sequence[str] = (), policy: str = "by_id") -> list[Candidate]:
    """All candidates in the full order of a policy; sorts are stable, so the least important criterion sorts first.

    >>> [candidate.id for candidate in ordered(candidates({"B": 1, "A": 1, "C": 2}))]
    ['C', 'A', 'B']
    """
    order = list(found)
    if checked_policy(policy) != "input":
        order.sort(key=lambda candidate: candidate.id, reverse=policy == "id_desc")
    more_is_better = [True, *(descending for _, descending in map(direction, checked_keys(keys)))]
    for column in reversed(range(len(more_is_better))):
        order.sort(key=lambda candidate: candidate.standing[column], reverse=more_is_better[column])
    return order


def surplus(order: Sequence[Candidate], k: int) -> int:
    """How many candidates after the first `k` of a full order share the standing of the k-th; 0 where `k` is 0."""
    if k == 0:
        return 0
    return sum(1 for _ in takewhile(lambda candidate: candidate.standing == order[k - 1].standing, order[k:]))


def candidates(rows: Rows, keys: Sequence[str] = ()) -> tuple[Candidate, ...]:
    """The rows, checked and with plain Python values, in the order in which they arrived.

    Raises ContractError for whatever `rank` refuses in rows and keys.

    >>> candidates([("A", 9), ("B", 8.5)])
    (Candidate(id='A', standing=(9,)), Candidate(id='B', standing=(8.5,)))
    >>> candidates([("A", 9), ("A", 8)])
    Traceback (most recent call last):
        ...
    rankwork.errors.ContractError: ID 'A' stands at positions 0 and 1, but IDs must be unique
    """
    names = [direction(key)[0] for key in checked_keys(keys)]
    found = tuple(_candidate(row, position, names) for position, row in enumerate(_each_row(rows)))
    _check_one_kind([candidate.id for candidate in found], "IDs")
    _check_unique(found)
    for column, name in enumerate(names, start=1):
        _check_column(found, column, name)
    return found


def checked_k(k: Any, n: int) -> int:
    """`k` as an int from 0 to `n`. ContractError for anything else, a bool or a float among it.

    >>> checked_k(7, 6)
    Traceback (most recent call last):
        ...
    rankwork.errors.ContractError: k must be between 0 and 6, got 7
    """
    count = integer(k, "k")
    if not 0 <= count <= n:
        raise ContractError(f"k must be between 0 and {n}, got {count}")
    return count


def checked_ids(ids: Iterable[Any], *, what: str = "IDs") -> tuple[Id, ...]:
    """The IDs as plain text or plain integers. ContractError if they are neither, or of both kinds.

    >>> checked_ids(["10", 9])
    Traceback (most recent call last):
        ...
    rankwork.errors.ContractError: IDs must be all text or all integers, got '10' at position 0 and 9 at position 1
    """
    found = tuple(_id(value, position, what) for position, value in enumerate(ids))
    _check_one_kind(found, what)
    return found


def checked_keys(keys: Sequence[str]) -> tuple[str, ...]:
    """The secondary keys as a tuple. ContractError for a bare text, a key that is no name, a name given twice."""
    if isinstance(keys, str) or not all(isinstance(key, str) for key in keys):
        raise ContractError(f"keys must be a list of names, such as ['price asc'], got {keys!r}")
    names = [direction(key)[0] for key in keys]
    if len(set(names)) < len(names):
        raise ContractError(f"keys must have different names, got {list(keys)!r}")
    return tuple(keys)


def checked_policy(policy: str) -> str:
    """The policy, if rows can be ordered by it; else ContractError."""
    if policy == "rank":
        raise ContractError(
            "policy 'rank' needs a file's rank column, and rows carry none; rows that stand in rank order need 'input'"
        )
    if policy not in POLICIES:
        raise ContractError(f"policy must be one of {', '.join(POLICIES)}, got {policy!r}")
    return policy


def direction(key: str) -> tuple[str, bool]:
    """The name of a secondary key, and whether more is better.

    >>> direction("price asc"), direction("views desc"), direction("views")
    (('price', False), ('views', True), ('views', True))
    """
    match key.split():
        case [name] | [name, "desc"]:
            return name, True
        case [name, "asc"]:
            return name, False
    raise ContractError(f"a key must be a name, alone or with 'asc' or 'desc' after it, got {key!r}")


def integer(value: Any, what: str) -> int:
    """The value as an int; numpy and torch integers are converted. ContractError for anything else, a bool too."""
    number = plain(value)
    if isinstance(number, bool) or not isinstance(number, int):
        raise ContractError(f"{what} must be an integer, got {value!r}")
    return number


def is_finite_number(value: Any) -> bool:
    """Whether a plain value is an int or a finite float; a bool is neither."""
    if isinstance(value, int):
        return not isinstance(value, bool)  # an int may be too large for math.isfinite
    return isinstance(value, float) and math.isfinite(value)


def plain(value: Any) -> Any:
    """The Python value of a numpy or torch scalar, exact; any other value as it is, numpy's `masked` among them."""
    is_scalar = getattr(value, "shape", None) == ()
    return value.item() if is_scalar and not hasattr(value, "mask") else value  # masked.item() would be 0.0


def kind(value: Id) -> str:
    """What an ID is, in words: 'text' or 'an integer'."""
    return "text" if isinstance(value, str) else "an integer"


def _each_row(rows: Rows) -> Iterator[tuple[Any, ...]]:
    if not isinstance(rows, Iterable):
        raise ContractError(f"rows must be (id, score) pairs or a mapping from ID to score, got {rows!r}")
    for position, row in enumerate(rows.items() if isinstance(rows, Mapping) else rows):
        if not isinstance(row, tuple | list) or not row:
            raise ContractError(f"position {position}: a row must be a tuple (id, score), got {row!r}")
        yield tuple(row)


def _candidate(row: tuple[Any, ...], position: int, names: Sequence[str]) -> Candidate:
    identifier = _id(row[0], position)
    place = f"position {position} (ID {identifier!r})"
    if len(row) != 2 + len(names):
        wanted = ", ".join(["an ID", "a score", *names])
        raise ContractError(f"{place}: a row must hold {wanted}, got {len(row)} values")
    standing = tuple(map(plain, row[1:]))
    if not is_finite_number(standing[0]):
        raise ContractError(f"{place}: a score must be a finite number, got {row[1]!r}")
    for name, value in zip(names, standing[1:], strict=True):
        if not (isinstance(value, str) or is_finite_number(value)):
            raise ContractError(f"{place}: key {name!r} must be a finite number or text, got {value!r}")
    return Candidate(identifier, standing)


def _id(value: Any, position: int, what: str = "IDs") -> Id:
    identifier = plain(value)
    if isinstance(identifier, bool) or not isinstance(identifier, str | int):
        raise ContractError(f"{what} must be text or integers, got {value!r} at position {position}")
    return identifier


def _check_one_kind(ids: Sequence[Id], what: str) -> None:
    for position, value in enumerate(ids):
        if isinstance(value, str) != isinstance(ids[0], str):
            both = f"{ids[0]!r} at position 0 and {value!r} at position {position}"
            raise ContractError(f"{what} must be all text or all integers, got {both}")


def _check_unique(found: Sequence[Candidate]) -> None:
    first: dict[Id, int] = {}
    for position, candidate in enumerate(found):
        earlier = first.setdefault(candidate.id, position)
        if earlier != position:
            raise ContractError(
                f"ID {candidate.id!r} stands at positions {earlier} and {position}, but IDs must be unique"
            )


def _check_column(found: Sequence[Candidate], column: int, name: str) -> None:
    for position, candidate in enumerate(found):
        value, first = candidate.standing[column], found[0].standing[column]
        if isinstance(value, str) != isinstance(first, str):
            both = f"{first!r} at position 0 and {value!r} at position {position}"
            raise ContractError(f"key {name!r} must be all numbers or all text, got {both}")
