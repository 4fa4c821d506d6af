"""When are two scores "the same"? Declared redefinitions, and the habits that only look like one.

A bucket or a rounding is honest: it says which scores it makes equal, and equality stays transitive. An epsilon is not
one: added to scores it inverts real differences, and "closer than epsilon" is no equality at all. Neither is the text
on a screen, nor sorting a list that some engine has already cut.

Scores count as the decimal that Python prints for them: 0.3 is 3/10 here, and not the binary fraction just below it.
A float32 is first converted to float64, without rounding, and prints all of its digits: 0.7 becomes 0.699999988079071.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import combinations
from typing import Any, TypeAlias

from rankwork.contract.reference import (
    Candidate,
    Id,
    Number,
    Rows,
    candidates,
    checked_k,
    integer,
    is_finite_number,
    ordered,
    plain,
)
from rankwork.errors import ContractError

Row: TypeAlias = tuple[Id, Number]


@dataclass(frozen=True)
class Redefinition:
    """A declared change of what counts as a tie: the `rule` in words, the `rows` under it, and the `original` rows."""

    rule: str
    rows: tuple[Row, ...]
    original: tuple[Row, ...]

    @property
    def merged(self) -> tuple[tuple[Id, ...], ...]:
        """The groups of IDs, best first, that tie under the rule and had different scores before it."""
        new = dict(self.rows)
        return tuple(tuple(i for i, _ in group) for group in _unequal_groups(self.original, lambda i, _: new[i]))


def bucketed(rows: Rows, width: float) -> Redefinition:
    """Rows with the number of their bucket as score: number * width <= score < (number + 1) * width.

    Exact: a score on an edge belongs to the bucket that starts there. The numbers are ints, so they tie and differ
    exactly. Raises ContractError for rows that `rank` refuses and a width that is not a positive finite number.

    >>> bucketed({"A": 0.31, "B": 0.3, "C": 0.29}, width=0.1).rows
    (('A', 3), ('B', 3), ('C', 2))
    """
    size = _positive(width, "width")
    rule = f"scores in buckets of {plain(width)!r}: the bucket number is floor(score / {plain(width)!r})"
    return _redefined(rows, rule, lambda score: written(score) // size)


def rounded(rows: Rows, digits: int) -> Redefinition:
    """Rows with scores rounded to `digits` decimals, at least 0; halves go to the even neighbour.

    Exact on the decimal that is printed, so 0.825 and 0.835 become 0.82 and 0.84. Integers stay as they are.
    Raises ContractError for rows that `rank` refuses and digits that are not an integer of at least 0.

    >>> rounded({"A": 0.824, "B": 0.821, "C": 0.825, "D": 0.835}, digits=2).rows
    (('A', 0.82), ('B', 0.82), ('C', 0.82), ('D', 0.84))
    """
    places = _checked_digits(digits)
    rule = f"scores rounded to {places} decimals, halves to even"
    return _redefined(rows, rule, lambda s: s if isinstance(s, int) else float(round(written(s), places)))


def nudged(rows: Rows, epsilon: float) -> tuple[Row, ...]:
    """The bad habit, to be looked at: epsilon times the place of its ID (from 0, ascending) is taken from each score.

    It orders exact ties by ID, and it inverts every difference that is smaller than what was taken: see `inversions`.
    Raises ContractError for rows that `rank` refuses and an epsilon that is not a positive finite number.

    >>> nudged({"A": 0.5, "B": 0.5, "C": 0.75}, epsilon=0.125)
    (('A', 0.5), ('B', 0.375), ('C', 0.5))
    """
    step = float(_positive(epsilon, "epsilon"))
    found = candidates(rows)
    place = {identifier: number for number, identifier in enumerate(sorted(row.id for row in found))}
    return tuple((row.id, _as_float(row) - step * place[row.id]) for row in found)


def inversions(before: Rows, after: Rows) -> tuple[tuple[Id, Id], ...]:
    """The pairs (better, worse) of really different scores that stand the other way round afterwards.

    Pairs come in the order of `before`; every pair is looked at, so the cost grows with the square of the rows.
    Raises ContractError for rows that `rank` refuses and if the two do not hold the same IDs.

    >>> before = {"A": 1.0, "B": 1.0, "C": 1.000001}
    >>> inversions(before, nudged(before, epsilon=0.00001))
    (('C', 'A'), ('C', 'B'))
    """
    order = ordered(candidates(before))
    new = {row.id: row.score for row in candidates(after)}
    different = {row.id for row in order} ^ set(new)
    if different:
        raise ContractError(f"before and after must hold the same IDs, but {min(different, key=str)!r} is in one only")
    pairs = combinations(order, 2)
    return tuple((a.id, b.id) for a, b in pairs if a.score > b.score and new[a.id] < new[b.id])


def close_pairs(values: Iterable[Number], epsilon: float) -> tuple[tuple[Number, Number], ...]:
    """The pairs of different values that are closer than epsilon, each pair and the list of pairs ascending.

    Raises ContractError for a value that is not a finite number and an epsilon that is not positive.

    >>> close_pairs([0, 0.75, 1.5], epsilon=1)
    ((0, 0.75), (0.75, 1.5))
    """
    limit = _positive(epsilon, "epsilon")
    return tuple((low, high) for low, high in combinations(_distinct(values), 2) if _close(low, high, limit))


def intransitive(values: Iterable[Number], epsilon: float) -> tuple[Number, Number, Number] | None:
    """Three values, ascending, whose neighbours are closer than epsilon and whose ends are not; None if there are none.

    Such a triple shows that "closer than epsilon" is not an equality: no ranking can treat both pairs as ties and the
    ends as different. Raises ContractError as `close_pairs` does.

    >>> intransitive([0, 0.75, 1.5], epsilon=1)
    (0, 0.75, 1.5)
    """
    limit = _positive(epsilon, "epsilon")
    distinct = _distinct(values)
    for middle in distinct:
        near = [value for value in distinct if _close(value, middle, limit)]
        if not _close(near[0], near[-1], limit):
            return near[0], middle, near[-1]
    return None


def displayed(score: Number, digits: int) -> str:
    """The text that a log shows: the stored value itself, correctly rounded to `digits` decimals.

    This is about the bits that are stored, so 2.675 (stored just below) shows 2.67, while `rounded` makes it 2.68.
    Raises ContractError for a score that is not a finite number and digits that are not an integer of at least 0.

    >>> displayed(0.821, 2), displayed(0.824, 2)
    ('0.82', '0.82')
    """
    return format(Decimal(_checked_number(score, "score")), f".{_checked_digits(digits)}f")


def hidden_differences(rows: Rows, digits: int) -> tuple[tuple[Row, ...], ...]:
    """The groups of rows, best first, that show the same text at `digits` decimals though their scores differ.

    Raises ContractError for rows that `rank` refuses, and as `displayed` does.

    >>> hidden_differences({"A": 0.821, "B": 0.824, "C": 0.83}, digits=2)
    ((('B', 0.824), ('A', 0.821)),)
    """
    original = tuple((row.id, row.score) for row in candidates(rows))
    return tuple(_unequal_groups(original, lambda _, score: displayed(score, digits)))


def contract_of_truncated(rows: Rows, k: int, *, complete: bool = False) -> tuple[Id, ...]:
    """The contract's top `k` from a list that an engine may have cut, if the list proves it; else ContractError.

    It does where the list is `complete`, or where its lowest score lies strictly below the k-th: whatever an engine
    cut by score lies no higher than the lowest score that it kept. Otherwise a document with the k-th score and a lower
    ID may have been cut, and sorting what is left by ID cannot bring it back. k = 0 is always proved.

    >>> contract_of_truncated([("C", 9), ("D", 8), ("B", 8), ("E", 7)], 3)
    ('C', 'B', 'D')
    >>> contract_of_truncated([("C", 9), ("D", 8), ("B", 8)], 3)
    Traceback (most recent call last):
        ...
    rankwork.errors.ContractError: the top 3 cannot be proved: the list ends at the k-th score, 8, so documents with
        that score and a lower ID may have been cut, and sorting by ID cannot restore them; ask for more rows, or
        declare the list complete
    """
    order = ordered(candidates(rows))
    k = checked_k(k, len(order))
    if k and not complete and order[-1].score == order[k - 1].score:
        raise ContractError(
            f"the top {k} cannot be proved: the list ends at the k-th score, {order[k - 1].score!r}, so documents with "
            "that score and a lower ID may have been cut, and sorting by ID cannot restore them; ask for more rows, "
            "or declare the list complete"
        )
    return tuple(row.id for row in order[:k])


def written(value: Number) -> Fraction:
    """The decimal that Python prints for a number, as an exact fraction.

    >>> written(0.1)
    Fraction(1, 10)
    """
    return Fraction(value) if isinstance(value, int) else Fraction(repr(value))


def _redefined(rows: Rows, rule: str, score_of: Callable[[Number], Number]) -> Redefinition:
    original = tuple((row.id, row.score) for row in candidates(rows))
    return Redefinition(rule, tuple((identifier, score_of(score)) for identifier, score in original), original)


def _unequal_groups(rows: Iterable[Row], label: Callable[[Id, Number], Any]) -> list[tuple[Row, ...]]:
    """Rows with one label and at least two different scores, in the contract's order."""
    groups: dict[Any, list[Row]] = {}
    for row in ordered(candidates(rows)):
        groups.setdefault(label(row.id, row.score), []).append((row.id, row.score))
    return [tuple(group) for group in groups.values() if len({score for _, score in group}) > 1]


def _as_float(row: Candidate) -> float:
    try:
        return float(row.score)
    except OverflowError:
        raise ContractError(f"ID {row.id!r}: the score is too large for a float, got {row.score!r}") from None


def _close(a: Number, b: Number, limit: Fraction) -> bool:
    return abs(written(a) - written(b)) < limit


def _distinct(values: Iterable[Number]) -> list[Number]:
    return sorted({_checked_number(value, "value") for value in values})


def _positive(value: Any, what: str) -> Fraction:
    number = _checked_number(value, what)
    if number <= 0:
        raise ContractError(f"{what} must be above 0, got {value!r}")
    return written(number)


def _checked_number(value: Any, what: str) -> Number:
    number = plain(value)
    if not is_finite_number(number):
        raise ContractError(f"{what} must be a finite number, got {value!r}")
    return number  # type: ignore[no-any-return]


def _checked_digits(digits: Any) -> int:
    places = integer(digits, "digits")
    if places < 0:
        raise ContractError(f"digits must be at least 0, got {places}")
    return places
