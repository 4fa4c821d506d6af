"""What an exercise is, and what an answer to it is worth."""

from collections.abc import Callable
from dataclasses import dataclass
from math import isclose
from typing import Any

NOT_ANSWERED, RIGHT, WRONG = "not answered yet", "right", "not right yet"
A_NUMBER = "a number, such as 0.25 or Fraction(1, 4)"


@dataclass(frozen=True, repr=False)
class Mark:
    """What an answer is worth; true where it is right."""

    exercise: str
    verdict: str

    def __bool__(self) -> bool:
        return self.verdict == RIGHT

    def __repr__(self) -> str:
        return f"exercise {self.exercise}: {self.verdict}"


@dataclass(frozen=True)
class Exercise:
    """How an answer must look, the question whether it is right, and hints, each going further than the one before.

    `is_right` raises where the answer does not look as it must.
    """

    form: str
    is_right: Callable[[Any], bool]
    hints: tuple[str, ...] = ()


def same_number(answer: Any, right: float | None) -> bool:
    """Whether the answer is that number; TypeError where it is no number."""
    if isinstance(answer, bool) or right is None:
        raise TypeError("no number")
    return isclose(float(answer), right)
