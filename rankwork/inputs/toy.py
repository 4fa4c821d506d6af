"""The smallest rankings that show what a tie does, to be checked by hand.

>>> sorted(SIX_RELEVANT)
['A', 'B', 'D']
>>> run, judgements = six()
>>> run.rows("q")[:2], judgements.grades_of("q")
([('A', 9.0), ('B', 8.0)], {'A': 1, 'B': 1, 'D': 1})
"""

from rankwork.rankings import Judgements, Rankings

Rows = tuple[tuple[str, float], ...]

FOUR: Rows = (("A", 9.0), ("B", 8.0), ("C", 8.0), ("D", 7.0))
FOUR_RELEVANT = frozenset({"A", "C"})
SIX: Rows = (("A", 9.0), ("B", 8.0), ("C", 8.0), ("D", 8.0), ("E", 7.0), ("F", 6.0))
SIX_RELEVANT = frozenset({"A", "B", "D"})


def four() -> tuple[Rankings, Judgements]:
    """Four documents, B and C tied across k = 2, A and C relevant: recall is 1/2 with B and 1 with C."""
    return _as_set(FOUR, FOUR_RELEVANT)


def six() -> tuple[Rankings, Judgements]:
    """Six documents, B, C and D tied across k = 3, A, B and D relevant: three member sets, recall 2/3, 1 and 2/3."""
    return _as_set(SIX, SIX_RELEVANT)


def _as_set(rows: Rows, relevant: frozenset[str]) -> tuple[Rankings, Judgements]:
    grades = dict.fromkeys(sorted(relevant), 1)
    return Rankings.from_dicts({"q": dict(rows)}), Judgements.from_dicts({"q": grades})
