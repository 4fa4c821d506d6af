"""The planted faults: before each the evidence reaches the context, after it it is lost, with the declared reason."""

from collections.abc import Callable
from functools import cache
from typing import Any

import pytest

from rankwork.diagnosis.scenario import candidate
from rankwork.inputs.documents import Collection, Document
from rankwork.inputs.knowledge_base import knowledge_base
from rankwork.retrieval.pipeline import Pipeline
from rankwork.trace import Case, Evidence, Trace
from tests import faults
from tests.faults import FAULTS, Fault, Situation

SETTINGS = candidate().settings.model_copy(update={"reranker": None, "budget": None, "near": None})


@cache
def chunks() -> Collection:
    """The chunks of three tenants and of the platform."""
    return candidate().chunks(knowledge_base(tenants=3))


def sound(case: Case) -> Situation:
    """A pipeline without a reranker that finds the evidence of the case."""
    return Situation(chunks(), SETTINGS, case, chunks())


@cache
def sound_traces() -> dict[str, Trace]:
    return {trace.case: trace for trace in Pipeline(chunks(), SETTINGS).traces(chunks().cases)}


@cache
def victim(need: str = "") -> Case:
    """A case with one piece of evidence, which is in the context.

    `revised`: its source has an older revision. `behind source`: another chunk of its source comes before it. `behind`:
    anything comes before it.
    """
    for case in chunks().cases:
        evidence = next(iter(case.gold.values()), None)
        ids = shown(sound_traces()[case.id])
        if case.expected == "answer" and evidence and len(case.gold) == 1 and evidence.id in ids:
            before = ids[: ids.index(evidence.id)]
            if _serves(need, evidence, before):
                return case
    raise AssertionError(f"no case for {need!r}")


def _serves(need: str, evidence: Evidence, before: tuple[str, ...]) -> bool:
    if need == "behind source":
        return any(chunks().by_id[name].source == evidence.source for name in before)
    return {"revised": evidence.revision > "r1", "behind": bool(before), "": True}[need]


def shown(trace: Trace) -> tuple[str, ...]:
    return trace.prompt.ids if trace.prompt else ()


NEEDS = {
    "outdated_revision": "revised",
    "quota_too_small": "behind source",
    "narrow_window": "behind",
    "reranker_timeout": "behind",
}


def planted(fault: Fault) -> Situation:
    return fault.plant(sound(victim(NEEDS.get(fault.name, ""))))


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_the_evidence_is_lost_for_the_declared_reason(fault: Fault) -> None:
    situation = planted(fault)
    trace = situation.trace()
    lost = [
        item for stage in trace.stages for item in stage.items if item.id == situation.evidence.id and not item.kept
    ]
    assert situation.evidence.id not in shown(trace)
    assert {item.drop_reason for item in lost} == {fault.reason}


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_without_the_fault_the_evidence_reaches_the_context(fault: Fault) -> None:
    situation = sound(victim(NEEDS.get(fault.name, "")))
    assert situation.evidence.id in shown(sound_traces()[situation.case.id])


def test_a_fault_leaves_the_sound_collection_as_it_was() -> None:
    before = chunks().documents
    for fault in FAULTS:
        planted(fault)
    assert chunks().documents == before


def test_every_leak_puts_the_document_where_it_says() -> None:
    case = victim()
    trace = sound_traces()[case.id]
    stolen = next(d for d in chunks().documents if not d.is_open_to(case.identity))
    assert stolen.id not in trace.model_dump_json()
    for kind in ("retrieve", "fuse", "context"):
        leaky = Trace.model_validate(faults.leak_into_stage(trace, kind, stolen).model_dump())
        assert stolen.id in {item.id for stage in leaky.stages if stage.kind == kind for item in stage.kept}
    for leak in (faults.leak_into_prompt, faults.leak_into_citations, faults.leak_into_cache, faults.leak_into_trace):
        leaky = Trace.model_validate(leak(trace, stolen).model_dump())
        assert stolen.id in leaky.model_dump_json()
        assert stolen.id not in {item.id for stage in leaky.stages for item in stage.kept}


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_the_diagnosis_names_the_fault(fault: Fault) -> None:
    """With what the pipeline wrote down, the row and the cause; with every reason erased, the same or unknown."""
    funnel = pytest.importorskip("rankwork.diagnosis.funnel").funnel
    situation = planted(fault)
    trace = situation.trace()
    found = diagnosed(funnel([situation.case], [trace], collection=situation.corpus), situation)
    assert found == [(fault.row, fault.cause)]
    erased = diagnosed(funnel([situation.case], [without_reasons(trace)], collection=situation.corpus), situation)
    assert erased in ([(fault.row, fault.cause)], [(fault.row, "unknown")], [("unknown", "unknown")])


def diagnosed(found: Any, situation: Situation) -> list[tuple[str, str]]:
    """Row and cause of the evidence that is followed."""
    return [(each.row, each.cause) for each in found.diagnoses() if each.evidence == situation.evidence.id]


def without_reasons(trace: Trace) -> Trace:
    stages = (
        stage.model_copy(update={"items": tuple(i.model_copy(update={"drop_reason": None}) for i in stage.items)})
        for stage in trace.stages
    )
    return trace.model_copy(update={"stages": tuple(stages)})


LEAKS: dict[str, tuple[Callable[[Trace, Document], Trace], set[str]]] = {
    "list": (lambda trace, stolen: faults.leak_into_stage(trace, "fuse", stolen), {"list"}),
    "context": (lambda trace, stolen: faults.leak_into_stage(trace, "context", stolen), {"list", "context"}),
    "prompt": (faults.leak_into_prompt, {"prompt"}),
    "citation": (faults.leak_into_citations, {"citation"}),
    "cache": (faults.leak_into_cache, {"cache"}),
    "trace": (faults.leak_into_trace, {"trace"}),
}


@pytest.mark.parametrize("name", LEAKS)
def test_a_leak_is_found_and_named_by_its_layer(name: str) -> None:
    module = pytest.importorskip("rankwork.diagnosis.leaks")
    corpus = pytest.importorskip("rankwork.diagnosis.corpus").Corpus(chunks())
    case, (leak, layers) = victim(), LEAKS[name]
    stolen = next(d for d in chunks().documents if not d.is_open_to(case.identity))
    found = module.find_leaks([leak(sound_traces()[case.id], stolen)], corpus).found
    assert {(each.layer, each.id) for each in found} == {(layer, stolen.id) for layer in layers}
    assert not module.find_leaks([sound_traces()[case.id]], corpus).found
