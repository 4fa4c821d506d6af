"""The path of one piece of evidence through the stages of a trace: its rank at each, and where and why it was lost."""

from collections.abc import Iterable
from dataclasses import dataclass

from rankwork.trace import Item, Stage, Trace


@dataclass(frozen=True)
class Step:
    """What one stage did with it: `rank` and `score` where it was kept; where it was dropped, the reason written down.

    `id` is the name that the stage knows it by: a parent's, once that took the place of its chunk. `seen` is False
    where the stage does not list it at all.
    """

    stage: str
    id: str
    seen: bool
    rank: int | None = None
    score: float | None = None
    reason: str | None = None

    @property
    def kept(self) -> bool:
        """Whether it goes on from here."""
        return self.rank is not None

    def __str__(self) -> str:
        if self.kept:
            return f"rank {self.rank} of {self.stage}"
        return f"dropped by {self.stage} ({self.reason or 'no reason given'})" if self.seen else f"not in {self.stage}"


def path(name: str, trace: Trace) -> tuple[Step, ...]:
    """The steps of a piece of evidence, one a stage that ran.

    >>> kept, gone = Item(id="a", rank=1), Item(id="a", kept=False, drop_reason="quota")
    >>> stages = (Stage(kind="retrieve", returned=1, items=(kept,)), Stage(kind="context", returned=0, items=(gone,)))
    >>> print(*path("a", Trace(case="q", stages=stages)), sep=", ")
    rank 1 of retrieve, dropped by context (quota)
    """
    steps = []
    for stage in trace.stages:
        step = _step(name, stage)
        name = step.id if stage.kind != "retrieve" else name
        steps.append(step)
    return tuple(steps)


def _step(name: str, stage: Stage) -> Step:
    item = _first(item for item in stage.kept if name in (item.id, item.previous_id)) or _first(
        item for item in stage.items if not item.kept and name in (item.id, item.previous_id)
    )
    if item is None:
        return Step(stage.name, name, seen=False)
    goes_on = item.id if item.kept else name
    return Step(stage.name, goes_on, True, item.rank, item.score, item.drop_reason)


def _first(items: Iterable[Item]) -> Item | None:
    return next(iter(items), None)


def shown(name: str, trace: Trace) -> bool:
    """Whether a piece of evidence reached the model: it is in the prompt or, where none was recorded, in what is left.

    >>> from rankwork.trace import Prompt
    >>> shown("a", Trace(case="q", prompt=Prompt(ids=("a",)))), shown("a", Trace(case="q"))
    (True, False)
    """
    steps = path(name, trace)
    if trace.prompt is not None:
        return bool({name, *(step.id for step in steps)} & set(trace.prompt.ids))
    return bool(steps) and steps[-1].kept


def told(steps: Iterable[Step]) -> str:
    """A path in words: where it was last kept, and what happened next.

    >>> told([])
    'no stages'
    """
    listed = list(steps)
    last = max((place for place, step in enumerate(listed) if step.kept), default=None)
    if last is None:
        reasons = [str(step) for step in listed if step.seen]
        return ", ".join(reasons) or (
            f"in none of {', '.join(step.stage for step in listed)}" if listed else "no stages"
        )
    later = [step for step in listed[last + 1 :] if not step.stage.startswith("retrieve")]
    after = next((step for step in later if step.seen), None) or next(iter(later), None)
    return f"{listed[last]}, {after}" if after else str(listed[last])
