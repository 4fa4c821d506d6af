"""When two recorded results say the same: one rule for each kind of result, with its reason.

Two executions in the same environment (versions, device, processor) must agree bit for bit. In another environment
some numbers are computed in another order; a rule says which, how far they may move, and why no farther.
"""

from dataclasses import dataclass
from typing import Any, Literal

Demand = Literal["bit for bit", "members", "tolerance", "reported", "not compared"]
"""`reported`: a difference is told and decides nothing."""

NUMBER_TOLERANCE = 1e-12
_SUMMED = 512
_ROUNDING = {"float64": 2.0**-52, "float32": 2.0**-23, "float16": 2.0**-10, "bfloat16": 2.0**-7}
_SUMMED_IN_FLOAT32 = ("float16", "bfloat16")


@dataclass(frozen=True)
class Rule:
    """What is compared, what is demanded in the same environment and in another one, and why."""

    what: str
    here: Demand
    elsewhere: Demand
    words_elsewhere: str
    reason: str

    def demand(self, elsewhere: bool) -> Demand:
        """What holds between two environments that are the same or not."""
        return self.elsewhere if elsewhere else self.here


EXACT = Rule(
    "counts, texts, fractions, judgements; k, policy, keys and dtype of a ranking",
    "bit for bit",
    "bit for bit",
    "bit for bit",
    "nothing in them is rounded",
)
RANKING = Rule(
    "rankings",
    "bit for bit",
    "members",
    "equal in members; the scores within the tolerance of arrays, the order is reported",
    "scores that differ by a rounding may change places; whoever is selected must stay selected",
)
ARRAY = Rule(
    "scores and other arrays of floats",
    "bit for bit",
    "tolerance",
    "within 512 roundings of the largest value: 1.1e-13 of it in float64, 6.1e-5 in float32; one rounding in float16 "
    "(9.8e-4) and bfloat16 (7.8e-3)",
    "a score is a sum of products; added in another order, each of its terms, 512 at most, moves it by a rounding. "
    "The 16-bit types are summed in float32 and rounded once",
)
NUMBER = Rule(
    "measures and other single floats, the cells of tables among them",
    "bit for bit",
    "tolerance",
    "within 1e-12, relative where a value exceeds 1",
    "a mean adds up some thousand terms in double precision, and another order of addition moves it by 1.1e-16 a term; "
    "one relevant document more, of a hundred in one query of a thousand, moves a mean recall by 1e-5",
)
FIGURE = Rule(
    "figures",
    "bit for bit",
    "reported",
    "reported, not required",
    "another version of the drawing libraries writes other pixels for equal numbers; the numbers are compared",
)
FINGERPRINT = Rule(
    "digests of the candidates and their scores",
    "bit for bit",
    "reported",
    "reported, not required",
    "a digest changes with the last bit of any score, selected or not",
)
MEASURED = Rule(
    "times and other values declared as measured",
    "not compared",
    "not compared",
    "not compared",
    "they differ between any two executions, and are no part of the result digest",
)
RULES = (EXACT, RANKING, ARRAY, NUMBER, FIGURE, FINGERPRINT, MEASURED)


def close(a: float, b: float) -> bool:
    """Whether two single numbers agree within the tolerance of `NUMBER`.

    >>> close(0.5, 0.5 + 1e-13), close(0.5, 0.5 + 1e-11), close(2e6, 2e6 + 1e-7)
    (True, False, True)
    """
    return abs(a - b) <= NUMBER_TOLERANCE * max(1.0, abs(a), abs(b))


def array_tolerance(dtype: str, largest: float) -> float:
    """How far an element of an array may move whose largest magnitude is `largest`; integers may not move.

    >>> array_tolerance("float32", 2.0) == 2 * 512 * 2.0**-23, array_tolerance("int64", 2.0)
    (True, 0.0)
    """
    terms = 1 if dtype in _SUMMED_IN_FLOAT32 else _SUMMED
    return terms * _ROUNDING.get(dtype, 0.0) * largest


def table() -> str:
    """The rules as the table of the README."""
    rows: list[tuple[Any, ...]] = [(rule.what, rule.here, rule.words_elsewhere, rule.reason) for rule in RULES]
    head = ("result", "in the same environment", "in another one", "why")
    lines = [head, ("---",) * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
