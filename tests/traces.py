"""Cases and traces of every shape, for the tests that write, read and check them."""

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

from hypothesis import strategies as st

from rankwork.trace import (
    CacheHit,
    Case,
    Citation,
    Claim,
    Events,
    Evidence,
    Identity,
    Item,
    Prompt,
    Requirement,
    Signal,
    Stage,
    ToolCall,
    Trace,
    Usage,
)

IDS = st.text("abc#/é", min_size=1, max_size=3)
WORDS = st.text("ab é\n\"'", max_size=4)
COUNTS = st.integers(0, 2**62)
REALS = st.floats(0, allow_nan=False, allow_infinity=False)
OFFSETS = st.integers(-12, 12).map(lambda hours: timezone(timedelta(hours=hours)))
ZONES: Any = st.none() | st.just(UTC) | OFFSETS
MOMENTS = st.datetimes(datetime(1970, 1, 2), datetime(2100, 1, 1), timezones=ZONES)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.floats(allow_nan=False, allow_infinity=False) | WORDS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(WORDS, inner, max_size=2),
    max_leaves=3,
)
IDENTITIES = st.builds(Identity, tenant=WORDS, role=WORDS)


def maybe(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | strategy


def some(strategy: st.SearchStrategy[Any], most: int = 2) -> st.SearchStrategy[Any]:
    return st.lists(strategy, max_size=most).map(tuple)


@st.composite
def evidence(draw: st.DrawFn) -> Evidence:
    quote = draw(st.text("ab", min_size=1, max_size=3))
    start = draw(st.integers(0, 9))
    anchor: dict[str, Any] = draw(
        st.sampled_from([{}, {"quote": quote}, {"start": start, "end": start + len(quote), "quote": quote}])
    )
    return Evidence(id=draw(IDS), source=draw(WORDS), revision=draw(WORDS), grade=draw(st.integers(0, 3)), **anchor)


@st.composite
def cases(draw: st.DrawFn) -> Case:
    golds = {found.id: found for found in draw(st.lists(evidence(), max_size=3))}  # one description an ID
    needs = st.builds(Requirement, any_of=some(st.sampled_from(list(golds.values()))) if golds else st.just(()))
    limits = sorted(draw(st.lists(MOMENTS.map(lambda t: t.replace(tzinfo=UTC)), min_size=2, max_size=2, unique=True)))
    return Case(
        id=draw(IDS),
        query=draw(WORDS),
        time=draw(maybe(MOMENTS)),
        identity=draw(IDENTITIES),
        requires=draw(some(needs)),
        points=draw(some(WORDS)),
        variants=draw(some(WORDS)),
        expected=draw(st.sampled_from(["answer", "refuse"])),
        slices=draw(some(WORDS)),
        split=draw(st.sampled_from(["dev", "holdout", "blind"])),
        origin=draw(st.sampled_from(["traffic", "expert", "replay", "support", "synthetic"])),
        cluster=draw(WORDS),
        excludes=draw(some(IDS)),
        valid_from=draw(maybe(st.just(limits[0]))),
        valid_until=draw(maybe(st.just(limits[1]))),
    )


@st.composite
def items(draw: st.DrawFn, known: list[str] | None) -> tuple[Item, ...]:
    """Kept items by rank and score, then some that were dropped; all from `known`, unless that is None."""
    names = IDS if known is None else st.sampled_from(known) if known else st.nothing()
    kept = draw(st.lists(names, max_size=3, unique=True)) if names is not st.nothing() else []
    scores = sorted(draw(st.lists(st.floats(-5, 5), min_size=len(kept), max_size=len(kept))), reverse=True)
    details = {"source": maybe(WORDS), "revision": maybe(WORDS), "tenant": maybe(WORDS)}
    acl = maybe(st.sampled_from(["allowed", "denied"]))

    def made(**fields: Any) -> Item:
        return Item(**fields, acl=draw(acl), **{name: draw(strategy) for name, strategy in details.items()})

    scored = draw(st.booleans())
    ranked = [
        made(id=name, rank=rank, score=score if scored else None)
        for rank, (name, score) in enumerate(zip(kept, scores, strict=True), 1)
    ]
    gone = [name for name in (known or []) if name not in kept]
    reasons = maybe(st.sampled_from(["quota", "unknown", "token_budget"]))
    return (*ranked, *(made(id=name, kept=False, drop_reason=draw(reasons)) for name in gone))


@st.composite
def stages(draw: st.DrawFn) -> tuple[Stage, ...]:
    known: list[str] = []
    made: list[Stage] = []
    kind: Any
    for kind, route in draw(
        st.lists(st.sampled_from(PLACES), max_size=4, unique=True).map(lambda found: sorted(found, key=PLACES.index))
    ):
        found = draw(items(None if kind == "retrieve" else known))
        kept = [item.id for item in found if item.kept]
        known = known + kept if kind == "retrieve" else kept
        made.append(
            Stage(
                kind=kind,
                route=route,
                requested=draw(maybe(st.integers(max(1, len(kept)), 99))),
                returned=len(kept),
                window=draw(maybe(st.integers(1, 99))),
                dtype=draw(maybe(st.sampled_from(["float32", "bfloat16"]))),
                order=draw(maybe(st.sampled_from(["id_asc", "input"]))),
                latency_ms=draw(maybe(REALS)),
                status=draw(st.sampled_from(["ok", "timeout", "degraded"])),
                parameters=draw(st.dictionaries(WORDS, JSON, max_size=2)),
                items=found,
            )
        )
    return tuple(made)


PLACES = [("retrieve", "bm25"), ("retrieve", "dense"), ("fuse", ""), ("rerank", ""), ("context", "")]
CLAIM_FIELDS: dict[str, Any] = {
    "id": IDS,
    "text": WORDS,
    "label": maybe(st.sampled_from(["supported", "contradicted", "not_enough_information"])),
    "weight": REALS,
    "needs_evidence": st.booleans(),
    "correct": maybe(st.booleans()),
    "relevant": maybe(st.booleans()),
    "point": maybe(WORDS),
}
CLAIMS = st.builds(Claim, **CLAIM_FIELDS, parts=some(st.builds(Claim, **CLAIM_FIELDS), 1))
EVENTS = st.builds(
    Events,
    injected_ids=maybe(some(IDS)),
    injection_flagged=maybe(st.booleans()),
    tools=maybe(some(st.builds(ToolCall, tool=IDS, permitted=st.booleans(), executed=st.booleans()))),
    cache_hits=maybe(some(st.builds(CacheHit, key=IDS, tenant=maybe(WORDS), ids=some(IDS)))),
    cache_lookups=maybe(COUNTS),
    signals=maybe(some(st.builds(Signal, kind=st.sampled_from(["source_click", "thumbs_up"]), id=maybe(WORDS)))),
    index_build_s=maybe(REALS),
    index_bytes=maybe(COUNTS),
)
TRACES = st.builds(
    Trace,
    case=IDS,
    run=WORDS,
    query=WORDS,
    time=maybe(MOMENTS),
    identity=IDENTITIES,
    unit=st.sampled_from(["chunk", "document"]),
    snapshot=st.dictionaries(WORDS, WORDS, max_size=2),
    protocol=WORDS,
    stages=stages(),
    prompt=maybe(st.builds(Prompt, ids=some(IDS), tokens=maybe(COUNTS))),
    answer=maybe(WORDS),
    refused=maybe(st.booleans()),
    claims=maybe(some(CLAIMS)),
    citations=maybe(some(st.builds(Citation, id=IDS, claim=maybe(WORDS), supports=maybe(st.just("partial"))))),
    usage=maybe(some(st.builds(Usage, model=IDS, calls=maybe(COUNTS), cost=maybe(REALS), currency=maybe(WORDS)))),
    events=EVENTS,
    latency_ms=maybe(REALS),
)
CASES = cases()
