"""Questions that are the same but for spelling: shingles of characters, and the share of them that two have in common.

Numbers are looked at apart. Two questions that differ only in them ask two things ("error 500", "error 502"), so both
may stand in one set. Between a set that one works with and a held-out one they count as the same: the wording would
tell what is asked there.
"""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

from rankwork.diagnosis.splits import shingles
from rankwork.errors import ContractError
from rankwork.trace import Case

THRESHOLD = 0.8
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


def numbers(text: str) -> tuple[str, ...]:
    """The numbers of a text in their order.

    >>> numbers("error 502 in 2.13")
    ('502', '2.13')
    """
    return tuple(_NUMBER.findall(unicodedata.normalize("NFKC", text)))


def wording(text: str) -> frozenset[str]:
    """The shingles of a text without its numbers.

    >>> wording("Error 500?") == wording("error 502")
    True
    """
    return shingles(_NUMBER.sub(" ", unicodedata.normalize("NFKC", text)))


def likeness(one: frozenset[str], other: frozenset[str]) -> float:
    """The share of all shingles of two texts that both have (Jaccard), from 0 to 1.

    >>> likeness(frozenset("abc"), frozenset("bcd"))
    0.5
    """
    return len(one & other) / len(one | other)


@dataclass(frozen=True)
class Likeness:
    """Two cases that ask nearly the same, in these words."""

    first: str
    second: str
    value: float
    texts: tuple[str, str]

    def __str__(self) -> str:
        return f"{self.texts[0]!r} and {self.texts[1]!r} of case {self.second!r} (likeness {self.value:.2f})"


def near_duplicate(
    case: Case, others: Iterable[Case], *, threshold: float = THRESHOLD, numbers_count: bool = True
) -> Likeness | None:
    """The other case that asks most nearly the same; None below the threshold.

    With `numbers_count`, texts with different numbers are different questions. ContractError for a threshold outside
    0..1.

    >>> asked = Case(id="a", query="What does error 500 mean?")
    >>> others = [Case(id="b", query="what does error 502 mean")]
    >>> near_duplicate(asked, others) is None, near_duplicate(asked, others, numbers_count=False).second
    (True, 'b')
    """
    if isinstance(threshold, bool) or not 0 < threshold <= 1:
        raise ContractError(f"threshold must be above 0 and at most 1, got {threshold!r}")
    ours = wording(case.query)
    found = (
        Likeness(case.id, other.id, likeness(ours, wording(other.query)), (case.query, other.query))
        for other in others
        if not numbers_count or numbers(case.query) == numbers(other.query)
    )
    return max((each for each in found if each.value >= threshold), key=lambda each: each.value, default=None)
