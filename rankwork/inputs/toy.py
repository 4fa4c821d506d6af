"""The smallest rankings that show what a tie does, to be checked by hand.

>>> sorted(SIX_RELEVANT)
['A', 'B', 'D']
>>> run, judgements = six()
>>> run.rows("q")[:2], judgements.grades_of("q")
([('A', 9.0), ('B', 8.0)], {'A': 1, 'B': 1, 'D': 1})
"""

from rankwork.contract.checks import SIX, SIX_RELEVANT, Rows
from rankwork.rankings import Judgements, Rankings

__all__ = [
    "CONVENTIONS", "CONVENTIONS_GRADES", "EVIDENCE_GRADES", "EVIDENCE_LISTS", "EVIDENCE_NEEDED", "FOUR",
    "FOUR_RELEVANT", "JAVA", "JAVA_GRADES", "SEVEN", "SIX", "SIX_GRADES", "SIX_RELEVANT", "SUPPORT", "SUPPORT_GRADES",
    "SUPPORT_SLICES", "SUPPORT_TRAFFIC", "TEN", "TEN_RELEVANT", "four", "six",
]  # fmt: skip

FOUR: Rows = (("A", 9.0), ("B", 8.0), ("C", 8.0), ("D", 7.0))
FOUR_RELEVANT = frozenset({"A", "C"})

TEN: Rows = (
    ("A", 0.9), ("B", 0.8004), ("C", 0.8002), ("D", 0.8), ("E", 0.8), ("F", 0.7503), ("G", 0.75), ("H", 0.75),
    ("I", 0.7), ("J", 0.6),
)  # fmt: skip
TEN_RELEVANT = frozenset({"A", "D", "E", "H"})
"""Ten documents whose scores lie so close that a narrower number format makes more of them equal."""

SEVEN: dict[str, Rows] = {
    "bm25": (("C", 9.0), ("A", 7.0), ("E", 7.0), ("F", 7.0), ("D", 5.0), ("G", 5.0)),
    "dense": (("G", 0.94), ("B", 0.91), ("D", 0.88), ("A", 0.83), ("F", 0.8), ("E", 0.72)),
}
"""Two routes over seven documents, to be fused. BM25 has two ties, and the fused list by ID has none: A, G and D are
its top three. With BM25's ties the other way round they are G, F and A."""

SIX_GRADES = {"A": 1, "B": 2, "C": 0, "D": 3}
"""Grades for the six documents: those of `SIX_RELEVANT` are positive, C was judged and found not relevant."""

CONVENTIONS: dict[str, dict[str, float]] = {
    "found": {"i": 2.0, "j": 1.0},
    "tied": {"a": 3.0, "c": 2.0, "b": 2.0, "d": 2.0},
    "late": {"e": 4.0, "f": 3.0, "g": 2.0, "h": 1.0},
    "empty": {"a": 1.0},
}
CONVENTIONS_GRADES: dict[str, dict[str, float]] = {
    "found": {"i": 1},
    "tied": {"b": 0.5, "c": 3, "d": 1},
    "late": {"h": 2},
    "empty": {"a": 0},
    "missing": {"x": 1},
}
"""A run and judgements in which the conventions of a protocol decide something: a relevant document on top; three tied
documents of different grade, one of them between 0 and 1; a relevant document at rank 4; a list of one document without
a relevant one; and a query without a result."""

JAVA: dict[str, dict[str, float]] = {
    "q-1": {"c-noise": 4.0, "c-g1": 3.0, "c-zgc": 2.0, "c-other": 1.0},
    "q-2": {"c-virtual-thread": 2.0, "c-noise": 1.0},
}
JAVA_GRADES = {"q-1": {"c-g1": 3, "c-zgc": 2, "c-jdk21": 1}, "q-2": {"c-virtual-thread": 3}}
"""Two questions about Java; under the protocol `java` Hit@3 is 1.000, Recall@3 .833, MRR .750 and nDCG@3 .815."""

_HIT, _MISS, _TIED = {"right": 2.0, "wrong": 1.0}, {"right": 1.0, "wrong": 2.0}, {"right": 1.0, "wrong": 1.0}
_QUESTIONS = ("opening hours", "refund", "error 619", "form 12b")
SUPPORT: dict[str, dict[str, dict[str, float]]] = {
    "A": dict(zip(_QUESTIONS, (_HIT, _HIT, _MISS, _MISS), strict=True)),
    "B": dict(zip(_QUESTIONS, (_TIED, _HIT, _HIT, _HIT), strict=True)),
}
SUPPORT_GRADES = {question: {"right": 1} for question in _QUESTIONS}
SUPPORT_TRAFFIC = {"opening hours": 800, "refund": 120, "error 619": 50, "form 12b": 30, "not judged yet": 500}
SUPPORT_SLICES = {"head": _QUESTIONS[:1], "tail": _QUESTIONS[1:]}
"""Two systems of a support desk and four questions, one of which is asked day and night: A answers it and one more, B
answers the three others, and its right and its wrong answer to the frequent one tie."""

EVIDENCE_LISTS: dict[str, dict[str, float]] = {
    "repeats itself": {"p1": 4.0, "p2": 3.0, "d": 2.0, "n": 1.0},
    "covers": {"p1": 4.0, "d": 3.0, "l1": 2.0, "n": 1.0},
    "ties at the end": {"p1": 3.0, "d": 2.0, "l1": 1.0, "n": 1.0},
}
EVIDENCE_NEEDED = {name: {"price": ["p1", "p2"], "date": ["d"], "limit": ["l1", "l2"]} for name in EVIDENCE_LISTS}
EVIDENCE_GRADES = {name: dict.fromkeys(("p1", "p2", "d", "l1", "l2"), 1) for name in EVIDENCE_LISTS}
"""An answer that needs a price, a date and a limit, each from any of its documents, and three lists for it: two that
hold three relevant documents each among the first three, and one whose third document ties with another."""


def four() -> tuple[Rankings, Judgements]:
    """Four documents, B and C tied across k = 2, A and C relevant: recall is 1/2 with B and 1 with C."""
    return _as_set(FOUR, FOUR_RELEVANT)


def six() -> tuple[Rankings, Judgements]:
    """Six documents, B, C and D tied across k = 3, A, B and D relevant: three member sets, recall 2/3, 1 and 2/3."""
    return _as_set(SIX, SIX_RELEVANT)


def _as_set(rows: Rows, relevant: frozenset[str]) -> tuple[Rankings, Judgements]:
    grades = dict.fromkeys(sorted(relevant), 1)
    return Rankings.from_dicts({"q": dict(rows)}), Judgements.from_dicts({"q": grades})
