"""Staged traces drawn at random: two routes with ties, RRF, a reranker with a window, a context with a budget.

Nothing here is taken from the library but the schema: what a stage does is written out in a line or two.
"""

import random
from fractions import Fraction
from typing import Any

from rankwork.trace import Case, Evidence, Item, Requirement, Stage, Trace

IDS = [f"d{number:02d}" for number in range(14)]


def drawn_case(draw: random.Random, name: str) -> Case:
    """A case of up to three requirements, which may share evidence, and now and then an empty one."""
    groups = [draw.sample(IDS, draw.randint(1, 3)) for _ in range(draw.randint(0, 3))]
    if groups and draw.random() < 0.1:
        groups.append([])
    grades = {document: draw.randint(1, 3) for document in IDS}
    needs = tuple(Requirement(any_of=tuple(Evidence(id=d, grade=grades[d]) for d in group)) for group in groups)
    slices = tuple(slice_ for slice_ in ("frequent", "multi-hop") if draw.random() < 0.5)
    return Case(id=name, query=f"what is {name}?", requires=needs, slices=slices)


def drawn_trace(draw: random.Random, case: Case, *, reasons: bool = True) -> Trace:
    """A run of four kinds of stages; `reasons` says whether it wrote down why it dropped things."""
    routes = [_route(draw, name) for name in ("bm25", "dense")]
    fused = _fuse(draw, routes)
    reranked = _rerank(draw, fused)
    stages = (*routes, fused, reranked, _context(draw, reranked))
    trace = Trace(case=case.id, query=case.query, stages=stages)
    return trace if reasons else without_reasons(trace)


def drawn(count: int, seed: int = 0, **options: Any) -> tuple[list[Case], list[Trace]]:
    """So many cases, and a trace of each."""
    draw = random.Random(seed)
    cases = [drawn_case(draw, f"c{number}") for number in range(count)]
    return cases, [drawn_trace(draw, case, **options) for case in cases]


def without_reasons(trace: Trace) -> Trace:
    """The same trace with no reason written down."""
    stages = [
        stage.model_copy(update={"items": tuple(item.model_copy(update={"drop_reason": None}) for item in stage.items)})
        for stage in trace.stages
    ]
    return trace.model_copy(update={"stages": tuple(stages)})


def kept_items(scores: dict[str, Any]) -> list[Item]:
    """The items of a list in its order."""
    return [Item(id=d, rank=rank, score=float(s)) for rank, (d, s) in enumerate(scores.items(), 1)]


def _route(draw: random.Random, name: str) -> Stage:
    status = "timeout" if draw.random() < 0.1 else "ok"
    found = [] if status == "timeout" else draw.sample(IDS, draw.randint(0, 12))
    scores = dict(sorted(((d, draw.randint(1, 4)) for d in found), key=lambda row: (-row[1], row[0])))
    return _cut(draw, "retrieve", name, scores, "below_route_k", status=status)


def _cut(draw: random.Random, kind: Any, name: str, scores: dict[str, Any], reason: Any, **fields: Any) -> Stage:
    """The first few; what lies below is listed, or only known to be there, or all that there is has been returned."""
    k = draw.randint(1, 8)
    kept = kept_items(dict(list(scores.items())[:k]))
    below = list(scores.items())[k:] if draw.random() < 0.5 else []
    dropped = [Item(id=d, score=float(s), kept=False, drop_reason=reason) for d, s in below]
    complete = len(scores) <= k and fields.get("status", "ok") == "ok" and draw.random() < 0.5
    return Stage(
        kind=kind, route=name, requested=k, returned=len(kept), complete=complete, items=(*kept, *dropped), **fields
    )


def _fuse(draw: random.Random, routes: list[Stage]) -> Stage:
    sums: dict[str, Fraction] = {}
    for route in routes:
        for item in route.kept:
            sums[item.id] = sums.get(item.id, Fraction(0)) + Fraction(1, 60 + (item.rank or 0))
    scores = dict(sorted(sums.items(), key=lambda row: (-row[1], row[0])))
    parameters = {"method": "rrf", "c": 60, "weights": {"bm25": 1.0, "dense": 1.0}}
    return _cut(draw, "fuse", "rrf", scores, "fusion_cut", parameters=parameters)


def _rerank(draw: random.Random, fused: Stage) -> Stage:
    window = draw.randint(1, 8)
    seen = [item.id for item in fused.kept][:window]
    scores = dict(sorted(((d, draw.randint(1, 4)) for d in seen), key=lambda row: (-row[1], row[0])))
    return _cut(draw, "rerank", "", scores, "rerank_cut", window=window)


def _context(draw: random.Random, reranked: Stage) -> Stage:
    """Without scores; some chunks are replaced by their parent, others dropped for the budget."""
    kept: list[Item] = []
    dropped: list[Item] = []
    for item in reranked.kept:
        fate = draw.random()
        if fate < 0.2:
            dropped.append(Item(id=item.id, kept=False, drop_reason=draw.choice(["token_budget", "quota"])))
        elif fate < 0.3:
            kept.append(Item(id=f"parent of {item.id}", previous_id=item.id, rank=len(kept) + 1))
        else:
            kept.append(Item(id=item.id, rank=len(kept) + 1))
    return Stage(kind="context", returned=len(kept), items=(*kept, *dropped))
