"""An unauthorised document is found and named in every layer; nothing found is a bound, and not a proof."""

from pathlib import Path
from typing import Any

import pytest

from rankwork.diagnosis.corpus import Corpus
from rankwork.diagnosis.funnel import funnel
from rankwork.diagnosis.leaks import LAYERS, Leaks, find_leaks, upper_bound
from rankwork.errors import ContractError
from rankwork.inputs.documents import Collection, Document
from rankwork.inputs.traces import write_traces
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
    Trace,
)

WHO = Identity(tenant="acme", role="dev")
SECRET = "The yearly pay of the chief engineer is four hundred thousand euros before tax."
COLLECTION = Collection(
    "kb",
    "1",
    (
        Document("fine", "text", tenant="acme"),
        Document("also", "text"),
        Document("salaries", SECRET, tenant="acme", roles=frozenset({"hr"})),
        Document("theirs", "text", tenant="globex"),
    ),
)


def kept(*ids: str, **fields: Any) -> tuple[Item, ...]:
    return tuple(Item(id=d, rank=rank, **fields) for rank, d in enumerate(ids, 1))


def staged(kind: Any, *ids: str, dropped: tuple[Item, ...] = (), **fields: Any) -> Stage:
    return Stage(kind=kind, returned=len(ids), items=(*kept(*ids, **fields), *dropped))


CLEAN = {
    "stages": (staged("retrieve", "fine"), staged("fuse", "fine"), staged("rerank", "fine"), staged("context", "fine")),
    "prompt": Prompt(ids=("fine",)),
    "citations": (Citation(id="fine"),),
    "events": Events(cache_hits=(CacheHit(key="k", tenant="acme", ids=("fine",)),)),
}
DENIED = (Item(id="salaries", kept=False, acl="denied", drop_reason="acl_filtered"),)
PLANTED: list[tuple[str, str, dict[str, Any]]] = [
    ("list", "salaries", {"stages": (staged("retrieve", "fine", "salaries"),)}),
    ("list", "theirs", {"stages": (staged("retrieve", "theirs"), staged("fuse", "theirs"))}),
    ("rerank_input", "salaries", {"stages": (staged("retrieve", "salaries"), staged("rerank", "salaries"))}),
    ("rerank_input", "salaries", {"stages": (staged("retrieve", "fine", "salaries"), Stage(kind="rerank", returned=0,
        items=(Item(id="salaries", kept=False, drop_reason="rerank_cut"),)))}),
    ("context", "theirs", {"stages": (staged("retrieve", "theirs"), staged("context", "theirs"))}),
    ("prompt", "salaries", {"prompt": Prompt(ids=("fine", "salaries"))}),
    ("citation", "theirs", {"citations": (Citation(id="theirs"),)}),
    ("cache", "salaries", {"events": Events(cache_hits=(CacheHit(key="k", tenant="acme", ids=("salaries",)),))}),
    ("cache", "fine", {"events": Events(cache_hits=(CacheHit(key="k", tenant="globex", ids=("fine",)),))}),
    ("cache", "the value of k", {"events": Events(cache_hits=(CacheHit(key="k", tenant="globex"),))}),
    ("trace", "salaries", {"events": Events(injected_ids=("salaries",))}),
    ("trace", "salaries", {"events": Events(signals=(Signal(kind="source_click", id="salaries"),))}),
    ("trace", "salaries", {"stages": (staged("retrieve", "fine",
        dropped=(Item(id="salaries", kept=False, drop_reason="below_route_k"),)),)}),
]  # fmt: skip


PLANTED += [
    ("trace", "salaries", {"answer": f"I looked it up. {SECRET.upper()} Anything else?"}),
    ("trace", "salaries", {"claims": (Claim(id="1", text=SECRET),)}),
]


def trace(**fields: Any) -> Trace:
    return Trace(case="q", identity=WHO, **fields)


@pytest.mark.parametrize(("layer", "identifier", "fields"), PLANTED)
def test_a_planted_leak_is_found_in_its_layer(layer: str, identifier: str, fields: dict[str, Any]) -> None:
    found = find_leaks([trace(**{**CLEAN, **fields})], Corpus(COLLECTION))
    assert identifier in {leak.id for leak in found.of(layer)}
    assert {leak.id for leak in found.found} == {identifier}
    assert found.lines[LAYERS.index(layer)].startswith(f"{layer}: {len(found.of(layer))} unauthorised document")


@pytest.mark.parametrize(("layer", "identifier", "fields"), PLANTED)
def test_the_columns_find_what_the_objects_show(
    layer: str, identifier: str, fields: dict[str, Any], tmp_path: Path
) -> None:
    """Among clean traces, with the collection and without it, from memory and from a file."""
    traces = [trace(**CLEAN).model_copy(update={"case": f"c{n}"}) for n in range(5)]
    traces.insert(3, trace(**{**CLEAN, **fields}))
    needs = (Requirement(any_of=(Evidence(id="fine"),)),)
    cases = [Case(id=each.case, query="?", identity=WHO, requires=needs) for each in traces]
    write_traces(tmp_path / "t.parquet", traces)
    for collection in (COLLECTION, None):
        direct = find_leaks(traces, Corpus(collection) if collection else None)
        for given in (traces, tmp_path / "t.parquet"):
            found = funnel(cases, given, collection=collection).leaks
            assert found.found == direct.found
            assert dict(found.looked_at) == {layer: direct.looked_at[layer] for layer in LAYERS}
    assert layer in {leak.layer for leak in find_leaks(traces, Corpus(COLLECTION)).found}
    assert identifier


def test_what_the_trace_itself_says_is_enough() -> None:
    """Another tenant's item, and one that was denied and kept, without any collection."""
    foreign = trace(stages=(staged("retrieve", "x", tenant="globex"),))
    denied = trace(stages=(staged("retrieve", "x", acl="denied"),))
    assert [leak.why for leak in find_leaks([foreign]).found] == ["it belongs to tenant 'globex'"]
    assert [leak.why for leak in find_leaks([denied]).found] == ["access was denied, and it was kept"]


def test_what_the_access_rule_dropped_is_on_record_and_is_no_leak() -> None:
    found = find_leaks([trace(stages=(staged("retrieve", "fine", dropped=DENIED),))], Corpus(COLLECTION))
    assert not found
    silent = tuple(item.model_copy(update={"drop_reason": None}) for item in DENIED)
    assert not find_leaks([trace(stages=(staged("retrieve", "fine", dropped=silent),))], Corpus(COLLECTION))


def test_nothing_found_is_a_bound_and_what_was_not_recorded_is_said() -> None:
    found = find_leaks([trace(stages=(staged("retrieve", "fine"),))] * 300, Corpus(COLLECTION))
    assert found.lines[0] == "list: none in 300 traces; at 95 % the share is at most 0.99 %"
    assert found.lines[LAYERS.index("prompt")] == "prompt: not recorded, so nothing is known"
    held = found.to_json()
    assert held["list"] == {"traces": 300, "upper_bound": upper_bound(300), "leaks": []}
    assert held["prompt"] == {"traces": 0, "upper_bound": None, "leaks": []}
    assert not Leaks((), {})


def test_a_text_that_open_documents_hold_too_is_no_leak() -> None:
    """And neither are fewer words than a passage."""
    both = Collection("kb", "1", (*COLLECTION.documents, Document("public", f"As all know: {SECRET}")))
    assert not find_leaks([trace(answer=SECRET)], Corpus(both))
    assert not find_leaks([trace(answer="four hundred thousand euros before tax.")], Corpus(COLLECTION))


def test_the_bound_is_the_exact_binomial_one() -> None:
    """The share at which no event in n has a chance of exactly 5 %."""
    for n in (1, 10, 299, 3000):
        assert (1 - upper_bound(n)) ** n == pytest.approx(0.05)
    with pytest.raises(ContractError, match="n must be at least 1, got 0"):
        upper_bound(0)
