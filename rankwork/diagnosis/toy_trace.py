"""One question whose evidence is lost by one rank, small enough to be followed by hand.

The dense route returns a, b and the gold g; BM25 returns c, b and d. RRF with c = 60 gives b 2/62, a and c 1/61, d and
g 1/63 each: the lower ID goes first, so g is fifth, and the reranker looks at four.
"""

from rankwork.retrieval.fusion import rrf
from rankwork.trace import Case, Evidence, Requirement, Stage, Trace

WINDOW = 4
_DENSE = {"a": 0.9, "b": 0.8, "g": 0.7}
_SPARSE = {"c": 5.0, "b": 4.0, "d": 3.0}


def toy_trace() -> tuple[Case, Trace]:
    """The case and its trace, with no drop reason written down.

    >>> case, trace = toy_trace()
    >>> list(case.gold), [(item.id, item.rank) for item in trace.stage("fuse").kept]
    (['g'], [('b', 1), ('a', 2), ('c', 3), ('d', 4), ('g', 5)])
    """
    case = Case(id="toy", query="which of them?", requires=(Requirement(any_of=(Evidence(id="g"),)),))
    fused = rrf({"bm25": _SPARSE, "dense": _DENSE}, c=60)
    scores = {str(name): score for name, score in zip(fused.ids, fused.scores, strict=True)}
    seen = {name: float(-place) for place, name in enumerate(list(scores)[:WINDOW])}
    stages = (
        _stage("retrieve", _SPARSE, route="bm25"),
        _stage("retrieve", _DENSE, route="dense"),
        _stage("fuse", scores, parameters={"rule": "rrf", "c": 60}),
        _stage("rerank", seen, window=WINDOW),
    )
    return case, Trace(case=case.id, query=case.query, stages=stages)


def _stage(kind: str, scores: dict[str, float], **fields: object) -> Stage:
    items = [{"id": name, "rank": rank, "score": score} for rank, (name, score) in enumerate(scores.items(), 1)]
    found = {"kind": kind, "requested": len(items), "returned": len(items), "complete": True, "items": items}
    return Stage.model_validate({**found, **fields})
