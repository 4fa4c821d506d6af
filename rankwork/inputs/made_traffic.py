"""Requests that nobody sent: a stream of traces made from a seed, with the rare things in it that monitoring is for.

It is synthetic, and every trace says so in its run and its snapshot. Nothing about a real service follows from it; it
shows what the figures do where the truth is known: how many calls time out, which answers are right, who is pleased.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any, Literal

from rankwork.errors import ContractError
from rankwork.trace import (
    CacheHit,
    Claim,
    Events,
    Identity,
    Item,
    Prompt,
    Signal,
    Stage,
    StageKind,
    ToolCall,
    Trace,
    Usage,
)

RUN = "synthetic"
TENANTS = ("north", "south", "east", "west")
_START = datetime(2026, 3, 2, tzinfo=UTC)
_EVERY = timedelta(seconds=20)
_STAGES: tuple[tuple[StageKind, str, float], ...] = (
    ("retrieve", "bm25", 6.0), ("retrieve", "dense", 18.0), ("fuse", "", 0.4), ("rerank", "", 70.0),
    ("context", "", 2.0),
)  # fmt: skip
LIMIT_MS = 400.0
_CENTS_FOR_A_TOKEN = 0.0002


@dataclass(frozen=True)
class Rates:
    """How a version of the made service behaves: shares of requests, but for the counts and the factor.

    `slower` multiplies every latency. `stopped` rerankers time out at `LIMIT_MS`, and the request then goes on without.
    `right` answers are right; of the wrong ones `fluent` read as well as right ones do, and please.
    """

    index: str = "2026-02"
    slower: float = 1.0
    stopped: float = 0.02
    candidates: int = 20
    refused: float = 0.06
    right: float = 0.85
    fluent: float = 0.5
    voting: float = 0.08
    cached: float = 0.2
    forbidden_tool: float = 0.01


OLD = Rates()
NEW = Rates(index="2026-03", slower=1.25, stopped=0.05, candidates=16, right=0.75, fluent=0.95)


def made_traffic(
    requests: int, *, seed: int = 0, versions: tuple[Rates, ...] = (OLD, NEW), foreign_hits: int = 1
) -> Iterator[Trace]:
    """So many traces, the versions one after the other in equal parts; the same ones for the same seed.

    `foreign_hits` requests of the last version get a cached answer that was made for another tenant. ContractError for
    fewer requests than versions, and for more foreign hits than the last version has requests.

    >>> first, last = list(made_traffic(2, seed=1))
    >>> first.run, first.snapshot["data"], [stage.name for stage in first.stages]
    ('synthetic', 'synthetic', ['retrieve:bm25', 'retrieve:dense', 'fuse', 'rerank', 'context'])
    >>> [trace.events.cache_hits[0].tenant == trace.identity.tenant for trace in (first, last)]
    [True, False]
    """
    part = requests // max(len(versions), 1)
    if not versions or part < 1:
        raise ContractError(f"there must be a request for each of the {len(versions)} versions, got {requests}")
    if not 0 <= foreign_hits <= part:
        raise ContractError(f"foreign_hits must be between 0 and {part}, got {foreign_hits}")
    random = Random(seed)
    last = range((len(versions) - 1) * part, requests)
    foreign = set(random.sample(last, foreign_hits))
    for number in range(requests):
        rates = versions[min(number // part, len(versions) - 1)]
        yield _request(number, rates, random, foreign=number in foreign)


def _request(number: int, rates: Rates, random: Random, *, foreign: bool) -> Trace:
    tenant = random.choice(TENANTS)
    stages = _stages(rates, random)
    right, refused = random.random() < rates.right, random.random() < rates.refused
    tokens = random.randint(900, 2400)
    return Trace(
        case=f"request {number}",
        run=RUN,
        time=_START + number * _EVERY,
        identity=Identity(tenant=tenant, role="agent"),
        snapshot={"data": RUN, "index": rates.index, "generator": "7"},
        stages=stages,
        prompt=Prompt(ids=tuple(item.id for item in stages[-1].kept), tokens=tokens),
        refused=refused,
        claims=None if refused else (Claim(id="1", correct=right, label="supported" if right else "contradicted"),),
        usage=_usage(tokens, random),
        events=_events(tenant, rates, random, pleased=right or random.random() < rates.fluent, foreign=foreign),
        latency_ms=round(sum(stage.latency_ms or 0.0 for stage in stages) + _latency(900.0, rates, random), 1),
    )


def _stages(rates: Rates, random: Random) -> tuple[Stage, ...]:
    """Two routes, fusion, a reranker that can be stopped, and a context of five; documents in a fixed order."""
    stages = []
    for kind, route, typical in _STAGES:
        count = {"retrieve": rates.candidates, "context": 5}.get(kind, 10)
        stopped = kind == "rerank" and random.random() < rates.stopped
        status: Literal["ok", "timeout"] = "timeout" if stopped else "ok"
        latency = LIMIT_MS if stopped else min(_latency(typical, rates, random), LIMIT_MS)
        items = tuple(Item(id=f"document {rank}", rank=rank, acl="allowed") for rank in range(1, count + 1))
        fields: dict[str, Any] = {"requested": max(count, 20 if kind == "retrieve" else count), "returned": count}
        stages.append(Stage(kind=kind, route=route, **fields, latency_ms=latency, status=status, items=items))
    return tuple(stages)


def _latency(typical: float, rates: Rates, random: Random) -> float:
    """Around the typical one in milliseconds, with the long tail that latencies have."""
    return round(typical * rates.slower * random.lognormvariate(0.0, 0.5), 1)


def _usage(tokens: int, random: Random) -> tuple[Usage, ...]:
    """One answer by one model; now and then the provider sends no price."""
    cost = None if random.random() < 0.03 else round(tokens * _CENTS_FOR_A_TOKEN, 6)
    return (Usage(model="generator", calls=1, input_tokens=tokens, cost=cost, currency="EUR"),)


def _events(tenant: str, rates: Rates, random: Random, *, pleased: bool, foreign: bool) -> Events:
    other = TENANTS[(TENANTS.index(tenant) + 1) % len(TENANTS)]
    hit = random.random() < rates.cached
    hits = (CacheHit(key="answer", tenant=other if foreign else tenant),) if hit or foreign else ()
    called = random.random() < rates.forbidden_tool
    return Events(
        cache_hits=hits,
        cache_lookups=1,
        tools=(ToolCall(tool="refund", permitted=False, executed=False),) if called else (),
        injection_flagged=random.random() < 0.004,
        signals=tuple(_signals(rates, random, pleased=pleased)),
    )


def _signals(rates: Rates, random: Random, *, pleased: bool) -> Iterator[Signal]:
    """Few vote; who is pleased votes for it, right or not, and who is not asks again."""
    if random.random() < rates.voting:
        yield Signal(kind="thumbs_up" if pleased else "thumbs_down")
    if random.random() < (0.1 if pleased else 0.35):
        yield Signal(kind="follow_up")
    if random.random() < 0.25:
        yield Signal(kind="source_click", id="document 1")
