"""The smallest input on which an engine breaks a rule, for each rule that it breaks.

A rule is a question with two answers that should be the same. Which rules an engine promised is its own matter: the
report sets the promise beside what was found.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from rankwork.engines.base import Engine, Scores
from rankwork.engines.layers import contract
from rankwork.engines.saved_scores import LEVELS, SIX, ZEROS, Book
from rankwork.engines.shrink import Case, Smallest, shrink, smallest

Documents = list[int]
# A rule asks for two answers to a case, each as the documents in their order.
Ask = Callable[[Scores, int], Documents]
Rule = Callable[[Engine, Case, Ask], tuple[Documents, Documents]]

REPEATS = 6
ROWS = 8
REPETITION = "the same again"
PROMISE = "its own promise"
# A repetition that varies needs many documents, and each question is asked six times.
TRIES_FOR_REPETITION = 40


def by_position(engine: Engine, case: Case, ask: Ask) -> tuple[Documents, Documents]:
    """The engine's answer and the contract's, the arrival being the order of the IDs."""
    return ask(case.scores, case.k), contract(case.scores, case.k).tolist()


def as_promised(engine: Engine, case: Case, ask: Ask) -> tuple[Documents, Documents]:
    """The engine's answer and the one that its own promise about ties asks for."""
    lowest_wins = engine.promise.tie_break != "highest position"
    ids = np.arange(len(case.scores)) if lowest_wins else -np.arange(len(case.scores))
    return ask(case.scores, case.k), contract(case.scores, case.k, ids).tolist()


def from_the_end(engine: Engine, case: Case, ask: Ask) -> tuple[Documents, Documents]:
    """The documents in their order of arrival, and in the opposite one."""
    ids = np.arange(len(case.scores))[::-1].copy()
    backwards = engine.select(case.scores[::-1].copy(), case.k, ids=ids)
    return ask(case.scores, case.k), ids[backwards].tolist()


def one_more(engine: Engine, case: Case, ask: Ask) -> tuple[Documents, Documents]:
    """The top k, and the first k of the top k + 1."""
    longer = ask(case.scores, min(case.k + 1, len(case.scores)))
    return ask(case.scores, case.k), longer[: case.k]


def one_loser(engine: Engine, case: Case, ask: Ask) -> tuple[Documents, Documents]:
    """The top k, and the top k once a document with the lowest score of all is appended."""
    padded = np.append(case.scores, case.scores.min() - 1).astype(case.scores.dtype)
    return ask(case.scores, case.k), ask(padded, case.k)


def in_a_batch(engine: Engine, case: Case, ask: Ask) -> tuple[Documents, Documents]:
    """The row alone, and as the first of eight rows."""
    rows = np.stack([np.roll(case.scores, shift) for shift in range(ROWS)])
    return ask(case.scores, case.k), engine.select(rows, case.k)[0].tolist()


def again(engine: Engine, case: Case) -> tuple[Documents, Documents]:
    """The first answer, and the first later one that differs from it."""
    first = engine.select(case.scores, case.k).tolist()
    later = (engine.select(case.scores, case.k).tolist() for _ in range(REPEATS - 1))
    return first, next((answer for answer in later if answer != first), first)


def remembering(engine: Engine) -> Ask:
    """The engine, asked once for each row and k: rules share their small cases, and are to see the same answers."""
    known: dict[tuple[bytes, int], Documents] = {}

    def ask(scores: Scores, k: int) -> Documents:
        key = (scores.tobytes(), k)
        if key not in known:
            known[key] = engine.select(scores, k).tolist()
        return known[key]

    return ask


RULES: dict[str, Rule] = {
    "contract by position": by_position,
    "any arrival": from_the_end,
    "top k begins top k + 1": one_more,
    "a losing document changes nothing": one_loser,
}


def counterexamples(engine: Engine, book: Book, *, varies: str | None) -> dict[str, Any]:
    """For each rule the smallest case that breaks it, or None; `varies` names an input whose repetitions differed."""
    rules = dict(RULES)
    if engine.promise.tie_break != "none":
        rules[PROMISE] = as_promised
    if engine.batches:
        rules["a batch changes nothing"] = in_a_batch
    ask = remembering(engine)
    found = {name: _counterexample(partial(_asked, rule, engine, ask), book) for name, rule in rules.items()}
    found[REPETITION] = _repetition(engine, book, varies)
    return found


def _asked(rule: Rule, engine: Engine, ask: Ask, case: Case) -> tuple[Documents, Documents]:
    return rule(engine, case, ask)


def _counterexample(question: Callable[[Case], tuple[Documents, Documents]], book: Book) -> dict[str, Any] | None:
    def breaks(case: Case) -> bool:
        one, other = question(case)
        return one != other

    starts = (Case(book[name].scores, book[name].k) for name in (SIX, ZEROS, LEVELS))
    found = smallest(breaks, next((case for case in starts if breaks(case)), None))
    if found is None:
        return None
    return {"scores": found.case.scores.tolist(), **_record(found, question(found.case))}


def _record(found: Smallest, answers: tuple[Documents, Documents]) -> dict[str, Any]:
    return {
        "n": len(found.case.scores),
        "k": found.case.k,
        "answers": list(answers),
        "how": found.how,
        "tries": found.tries,
    }


def _repetition(engine: Engine, book: Book, varies: str | None) -> dict[str, Any] | None:
    """The smallest case seen to vary. It may not vary when asked once more, so what was seen is kept."""
    if varies is None:
        return None
    seen: list[tuple[Documents, Documents]] = []

    def breaks(case: Case) -> bool:
        one, other = again(engine, case)
        if one != other:
            seen.append((one, other))
        return one != other

    found = shrink(breaks, Case(book[varies].scores, book[varies].k), tries=TRIES_FOR_REPETITION)
    return None if found is None else _record(found, seen[-1])
