"""Documents where they must not be: by layer, what an identity may not read and what appeared all the same.

A document is unauthorised if the collection does not open it to the identity that asks, if it is marked as another
tenant's, or if it was denied and kept. The layers are the lists of routes and fusion, the input of the reranker, the
context, the prompt, the citations, the caches (whose hit may be another tenant's), and the rest of the trace: what is
dropped for another reason than access, what was injected, what users clicked, and an answer that has ten words in a row
of a text that only closed documents hold. A document that the access rule dropped
is on record by its ID, and is no leak.

Zero events in n traces do not prove that there are none: the one-sided 95 % upper bound of the share is
1 - .05^(1/n) (C. J. Clopper and E. S. Pearson, Biometrika 1934, for no event).
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from rankwork.diagnosis.corpus import Corpus, passages
from rankwork.errors import ContractError
from rankwork.trace import Identity, Stage, Trace

LAYERS = ("list", "rerank_input", "context", "prompt", "citation", "cache", "trace")
_LAYER_OF = {"retrieve": "list", "fuse": "list", "rerank": "rerank_input", "context": "context"}
_BY_ACCESS = ("acl_filtered", "acl_filtered_wrongly")
LEVEL = 0.95


@dataclass(frozen=True, slots=True)
class Leak:
    """One unauthorised document in one layer of one trace, and where in it."""

    case: str
    layer: str
    id: str
    where: str
    why: str

    def __str__(self) -> str:
        return f"case {self.case}: {self.id} in {self.where}: {self.why}"


@dataclass(frozen=True)
class Leaks:
    """All leaks, and for each layer in how many traces it could be looked at: what was not recorded proves nothing."""

    found: tuple[Leak, ...]
    looked_at: Mapping[str, int]

    def __bool__(self) -> bool:
        return bool(self.found)

    def of(self, layer: str) -> tuple[Leak, ...]:
        """The leaks of a layer."""
        return tuple(leak for leak in self.found if leak.layer == layer)

    @property
    def lines(self) -> list[str]:
        """A sentence for each layer."""
        return [self._line(layer) for layer in LAYERS]

    def _line(self, layer: str) -> str:
        n, found = self.looked_at.get(layer, 0), self.of(layer)
        if found:
            traces = len({leak.case for leak in found})
            many = "s" if len(found) > 1 else ""
            return f"{layer}: {len(found)} unauthorised document{many} in {traces} of {n} traces; {found[0]}"
        if not n:
            return f"{layer}: not recorded, so nothing is known"
        return f"{layer}: none in {n} traces; at 95 % the share is at most {100 * upper_bound(n):.2g} %"

    def to_json(self) -> dict[str, Any]:
        """The layers, each with its number of traces, its bound where nothing was found, and its leaks."""
        return {layer: self._layer_json(layer) for layer in LAYERS}

    def _layer_json(self, layer: str) -> dict[str, Any]:
        n, found = self.looked_at.get(layer, 0), self.of(layer)
        leaks = [{name: getattr(leak, name) for name in ("case", "id", "where", "why")} for leak in found]
        return {"traces": n, "upper_bound": upper_bound(n) if n and not found else None, "leaks": leaks}


def upper_bound(n: int) -> float:
    """The one-sided 95 % upper bound of a share of which no event was seen in n independent trials.

    ContractError for no trial.

    >>> [round(upper_bound(n), 4) for n in (300, 3000)]
    [0.0099, 0.001]
    """
    if n < 1:
        raise ContractError(f"n must be at least 1, got {n}")
    return float(1 - (1 - LEVEL) ** (1 / n))


def find_leaks(traces: Iterable[Trace], corpus: Corpus | None = None) -> Leaks:
    """Every unauthorised document in every layer of the traces.

    Without a corpus only what the traces themselves say is known: who owns an item, and what was denied.

    >>> from rankwork.trace import Item
    >>> kept = Item(id="salaries", rank=1, tenant="globex")
    >>> stage = Stage(kind="retrieve", route="bm25", returned=1, items=(kept,))
    >>> print(*find_leaks([Trace(case="c", identity=Identity(tenant="acme"), stages=(stage,))]).found)
    case c: salaries in retrieve:bm25: it belongs to tenant 'globex'
    """
    found: list[Leak] = []
    looked_at: Counter[str] = Counter()
    for trace in traces:
        rule = Rule.of(trace.identity, corpus)
        found += leaks_of(trace, rule)
        looked_at.update(recorded(trace))
    return Leaks(tuple(found), looked_at)


@dataclass(frozen=True)
class Rule:
    """Who asks, and what the collection closes to them."""

    identity: Identity
    closed: frozenset[str] = frozenset()
    passages: Mapping[tuple[str, ...], frozenset[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, identity: Identity, corpus: Corpus | None) -> "Rule":
        """The rule for an identity."""
        if corpus is None or not corpus.closed_to(identity):
            return cls(identity)
        return cls(identity, corpus.closed_to(identity), corpus.restricted_passages)

    def why(self, identifier: str, *, tenant: str | None = None, denied: bool = False) -> str | None:
        """Why a document must not be there; None where it may."""
        if identifier in self.closed:
            return f"not open to {_who(self.identity)}"
        if tenant and tenant != self.identity.tenant:
            return f"it belongs to tenant {tenant!r}"
        return "access was denied, and it was kept" if denied else None

    def held_by_closed_alone(self, text: str) -> list[str]:
        """The documents that hold a passage of this text which nothing that is open holds; one for each passage."""
        holders = (self.passages.get(passage, frozenset()) for passage in passages(text))
        return sorted({min(held) for held in holders if held and held <= self.closed})


def leaks_of(trace: Trace, rule: Rule) -> Iterator[Leak]:
    """The leaks of one trace, layer by layer; a document is named once in each place."""
    for stage in trace.stages:
        yield from _in_stage(trace.case, stage, rule)
    for layer, where, identifier, tenant in _mentions(trace):
        why = rule.why(identifier, tenant=tenant)
        if why:
            yield Leak(trace.case, layer, identifier, where, why)
    for where, text in _texts(trace) if rule.passages else ():
        for identifier in rule.held_by_closed_alone(text):
            yield Leak(trace.case, "trace", identifier, where, f"its text, {rule.why(identifier)}")


def _texts(trace: Trace) -> Iterator[tuple[str, str]]:
    """What the trace holds in words of its own: the answer and its claims."""
    if trace.answer:
        yield "the answer", trace.answer
    for claim in trace.claims or ():
        yield f"claim {claim.id}", claim.text


def _in_stage(case: str, stage: Stage, rule: Rule) -> Iterator[Leak]:
    for item in stage.items:
        denied = item.acl == "denied"
        why = rule.why(item.id, tenant=item.tenant, denied=denied and (item.kept or stage.kind == "rerank"))
        if not why:
            continue
        if item.kept or stage.kind == "rerank":
            yield Leak(case, _LAYER_OF[stage.kind], item.id, stage.name, why)
        elif item.drop_reason not in _BY_ACCESS and not denied:
            yield Leak(case, "trace", item.id, f"what {stage.name} dropped for another reason", why)


def _mentions(trace: Trace) -> Iterator[tuple[str, str, str, str | None]]:
    """Every other place where a trace names documents: layer, place, ID and owner."""
    for identifier in trace.prompt.ids if trace.prompt else ():
        yield "prompt", "the prompt", identifier, None
    for citation in trace.citations or ():
        yield "citation", "a citation", citation.id, None
    for hit in trace.events.cache_hits or ():
        for identifier in hit.ids or (f"the value of {hit.key}",):
            yield "cache", f"cache entry {hit.key}", identifier, hit.tenant
    for identifier in trace.events.injected_ids or ():
        yield "trace", "the injected text", identifier, None
    for signal in trace.events.signals or ():
        if signal.id:
            yield "trace", f"the signal {signal.kind}", signal.id, None


def recorded(trace: Trace) -> list[str]:
    """The layers that a trace recorded."""
    kinds = {_LAYER_OF[stage.kind] for stage in trace.stages}
    there = {
        "prompt": trace.prompt is not None,
        "citation": trace.citations is not None,
        "cache": trace.events.cache_hits is not None or trace.events.cache_lookups == 0,
        "trace": True,
    }
    return [layer for layer in LAYERS if layer in kinds or there.get(layer)]


def _who(identity: Identity) -> str:
    return f"tenant {identity.tenant!r}, role {identity.role!r}"
