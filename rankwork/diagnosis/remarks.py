"""What is odd about a trace without being a contradiction: to be read beside every number that comes from it.

A trace that contradicts itself is refused when it is read. What is told here can be right, and often is not.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from rankwork.trace import Case, Stage, Trace

Kind = Literal[
    "mixed_revisions", "shorter_than_asked", "order_contradicted", "constant_scores", "prompt_differs", "case_differs"
]  # fmt: skip
_MOST_IDS = 3


@dataclass(frozen=True)
class Remark:
    """Something odd: of which kind, in which stage ("" for the whole trace), and in words."""

    kind: Kind
    stage: str
    detail: str

    def __str__(self) -> str:
        return f"{self.stage}: {self.detail}" if self.stage else self.detail


def remarks(trace: Trace, case: Case | None = None) -> tuple[Remark, ...]:
    """What is odd about a trace, and about its fit to its case if that is given; nothing is the usual answer.

    `mixed_revisions`: one source at two revisions. `shorter_than_asked`: a list that is neither full nor said to be
    complete. `order_contradicted`: equal scores that stand against the declared order. `constant_scores`: a list that
    cannot be normalised. `prompt_differs`: the prompt is not the context. `case_differs`: another question, identity or
    time than the case has.

    >>> [str(remark) for remark in remarks(Trace(case="c", query="who?"), Case(id="c", query="why?"))]
    ["the query is 'who?', that of the case 'why?'"]
    """
    found = [*_mixed_revisions(trace), *_prompt(trace), *(_case(trace, case) if case else ())]
    return (*found, *(remark for stage in trace.stages for remark in _of_stage(stage)))


def revisions(trace: Trace) -> dict[str, tuple[str, ...]]:
    """The revisions of every source that the trace holds items of, in ascending order."""
    found: dict[str, set[str]] = {}
    for item in (item for stage in trace.stages for item in stage.items):
        if item.source and item.revision and item.drop_reason != "superseded_revision":
            found.setdefault(item.source, set()).add(item.revision)
    return {source: tuple(sorted(held)) for source, held in sorted(found.items())}


def _mixed_revisions(trace: Trace) -> Iterator[Remark]:
    for source, held in revisions(trace).items():
        if len(held) > 1:
            yield Remark("mixed_revisions", "", f"source {source!r} stands in revisions {', '.join(held)}")


def _prompt(trace: Trace) -> Iterator[Remark]:
    context = trace.stage("context")
    if trace.prompt is None or context is None:
        return
    shown, kept = list(trace.prompt.ids), [item.id for item in context.kept]
    added, missing = [name for name in shown if name not in kept], [name for name in kept if name not in shown]
    if added or missing:
        parts = [f"{text} {_named(ids)}" for text, ids in (("adds", added), ("lacks", missing)) if ids]
        yield Remark("prompt_differs", "", f"the prompt {' and '.join(parts)} against the context")
    elif shown != kept:
        yield Remark("prompt_differs", "", "the prompt has the context in another order")


def _named(ids: list[str]) -> str:
    more = f" and {len(ids) - _MOST_IDS} more" if len(ids) > _MOST_IDS else ""
    return f"{', '.join(map(repr, ids[:_MOST_IDS]))}{more}"


def _case(trace: Trace, case: Case) -> Iterator[Remark]:
    for field in ("query", "identity", "time"):
        one, two = getattr(trace, field), getattr(case, field)
        if one != two:
            yield Remark("case_differs", "", f"the {field} is {_shown(one)}, that of the case {_shown(two)}")


def _shown(value: object) -> str:
    return repr(value) if isinstance(value, str) else str(value)


def _of_stage(stage: Stage) -> Iterator[Remark]:
    full = stage.complete or stage.status != "ok" or stage.requested is None
    if not full and stage.requested is not None and stage.returned < stage.requested:
        asked = f"{stage.returned} of {stage.requested} returned, and nobody says that there were no more"
        yield Remark("shorter_than_asked", stage.name, asked)
    scores = {item.score for item in stage.kept}
    if len(stage.kept) > 1 and len(scores) == 1 and None not in scores:
        yield Remark("constant_scores", stage.name, f"all {stage.returned} scores are {scores.pop()}")
    yield from _against_the_order(stage)


def _against_the_order(stage: Stage) -> Iterator[Remark]:
    if stage.order not in ("id_asc", "id_desc"):
        return
    for before, after in pairwise(stage.kept):
        if before.score is None or before.score != after.score:
            continue
        if (before.id > after.id) == (stage.order == "id_asc"):
            tied = f"{before.id!r} stands before {after.id!r} at equal scores, against {stage.order}"
            yield Remark("order_contradicted", stage.name, tied)
            return
