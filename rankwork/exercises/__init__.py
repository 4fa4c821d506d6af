"""The notebooks' exercises: `check` says whether an answer is right, `hint` how to go on; neither says what is right.

The right answers are computed here by the library, so that they cannot drift from it. Solutions stand in
`notebooks/solutions`, where the tests run them.
"""

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from rankwork.errors import InputError
from rankwork.exercises.base import NOT_ANSWERED, RIGHT, WRONG, Exercise, Mark

__all__ = ["NOT_ANSWERED", "RIGHT", "WRONG", "Exercise", "Mark", "check", "every", "hint"]
# A notebook's exercises are loaded when one of them is asked for: the first notebook needs no retrieval.
_MODULES = {
    "00": "start", "01": "order", "02": "engines", "03": "ranges", "04": "conventions", "05": "audits", "06": "fusion",
    "07": "funnel", "08": "answers", "09": "release", "10": "monitoring", "11": "speed",
}  # fmt: skip


def check(name: str, answer: Any) -> Mark:
    """The mark of an answer to the exercise of that name, such as "00.1"; None is no answer yet.

    InputError for an exercise that does not exist.

    >>> check("00.1", None)
    exercise 00.1: not answered yet
    >>> check("00.1", "a half")
    exercise 00.1: the answer should be a number, such as 0.25 or Fraction(1, 4)
    """
    exercise = _exercise(name)
    if answer is None:
        return Mark(name, NOT_ANSWERED)
    try:
        return Mark(name, RIGHT if exercise.is_right(answer) else WRONG)
    except Exception:  # an answer can be anything, a ranker that raises among it
        return Mark(name, f"the answer should be {exercise.form}")


def hint(name: str, step: int = 1) -> str:
    """A hint for the exercise of that name; each step goes further, and none says the answer.

    InputError for an exercise, or a step, that does not exist.

    >>> print(hint("00.3", 2))
    Hint 2 of 2: A and D tie with nobody, so it does not matter where they stand.
    """
    hints = _exercise(name).hints
    if isinstance(step, bool) or not isinstance(step, int) or not 1 <= step <= len(hints):
        raise InputError(f"exercise {name} has the hints 1 to {len(hints)}, got {step!r}")
    return f"Hint {step} of {len(hints)}: {hints[step - 1]}"


def every() -> dict[str, Exercise]:
    """All exercises by their names."""
    return {name: exercise for number in _MODULES for name, exercise in _of(number).items()}


def _exercise(name: str) -> Exercise:
    found = _of(name.partition(".")[0]).get(name)
    if found is None:
        raise InputError(f"no exercise {name!r}; there are {', '.join(every())}")
    return found


def _of(number: str) -> Mapping[str, Exercise]:
    if number not in _MODULES:
        return {}
    exercises: Mapping[str, Exercise] = import_module(f"rankwork.exercises.{_MODULES[number]}").EXERCISES
    return exercises
