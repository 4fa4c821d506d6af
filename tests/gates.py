"""Two small systems and their cases, for the tests of the gate: each query has one piece of gold evidence."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from rankwork.decision.policy import Policy, read_policy
from rankwork.trace import (
    CacheHit,
    Case,
    Citation,
    Events,
    Evidence,
    Identity,
    Item,
    Prompt,
    Requirement,
    Stage,
    ToolCall,
    Trace,
    Usage,
)

__all__ = ["CacheHit", "Citation", "Events", "Identity", "Item", "Prompt", "Stage", "ToolCall", "Usage"]
RULE = "{measure: RR@10, stage: rerank, margin: 0.05}"
HEAD = "name: test\nalpha: 0.05\nminimum_clusters: 5\nresamples: 1000\n"


def policy(folder: Path, text: str, *, head: str = HEAD) -> Policy:
    """The policy with this text after the usual head."""
    path = folder / "policy.yaml"
    path.write_text(head + text)
    return read_policy(path)


def case(number: int, **more: Any) -> Case:
    """A case that needs the document `gold`; every third one is of the long tail."""
    fields: dict[str, Any] = {
        "id": f"c{number}",
        "query": f"question {number}",
        "requires": (Requirement(any_of=(Evidence(id="gold"),)),),
        "slices": ("long tail",) if number % 3 == 0 else ("frequent",),
        "identity": Identity(tenant=f"t{number % 2}"),
    }
    return Case(**{**fields, **more})


def stage(scores: Mapping[str, float | None], kind: Any = "rerank", **more: Any) -> Stage:
    """A stage that returned these documents in this order."""
    items = tuple(Item(id=name, rank=rank, score=score) for rank, (name, score) in enumerate(scores.items(), 1))
    return Stage(kind=kind, returned=len(items), items=items, **{"complete": True, **more})


def trace(number: int, place: int, **more: Any) -> Trace:
    """A trace in which the gold document stands at this place of five, in retrieval and after the reranker."""
    names = ["a", "b", "c", "d"]
    ranked = [*names[: place - 1], "gold", *names[place - 1 :]]
    scores: dict[str, float | None] = {name: 9.0 - rank for rank, name in enumerate(ranked)}
    fields: dict[str, Any] = {
        "case": f"c{number}",
        "query": f"question {number}",
        "identity": Identity(tenant=f"t{number % 2}"),
        "stages": (stage(scores, "retrieve", route="bm25"), stage(scores)),
        "refused": False,
        "latency_ms": 100.0 + number % 50,
        "usage": (Usage(model="m", calls=1, cost=0.002, currency="EUR"),),
        "events": Events(cache_hits=(), tools=()),
    }
    return Trace(**{**fields, **more})


def system(places: Iterable[int], **more: Any) -> list[Trace]:
    """A trace for each query, with the gold document at these places."""
    return [trace(number, place, **more) for number, place in enumerate(places)]


def cases(number: int) -> list[Case]:
    """So many cases."""
    return [case(each) for each in range(number)]
