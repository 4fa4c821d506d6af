"""The release scenario: both systems hold all the evidence, see the same questions, and differ where they should."""

from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from rankwork.diagnosis.scenario import System, baseline, candidate, save
from rankwork.errors import InputError
from rankwork.inputs.documents import Collection
from rankwork.inputs.knowledge_base import knowledge_base
from rankwork.inputs.traces import read_cases, read_traces
from rankwork.trace import Case, Trace

SYSTEMS = [baseline(), candidate()]
FEW = knowledge_base(tenants=6)


@cache
def chunks(system: System) -> Collection:
    return system.chunks(FEW)


@cache
def traces(system: System) -> list[Trace]:
    return system.run(chunks=chunks(system))


@pytest.mark.slow
@pytest.mark.parametrize("system", SYSTEMS, ids=lambda system: system.name)
def test_every_case_finds_its_evidence_on_the_chunks(system: System) -> None:
    """By its place, since no source was revised: none is stale, and every piece stands on an existing chunk."""
    collection, found = system.anchored()
    assert not found.stale
    assert set(found.found) <= {"by_place", "split"}
    assert len(collection.cases) == len(knowledge_base().cases)
    for case in collection.cases:
        for name, evidence in case.gold.items():
            chunk = collection.by_id[name]
            assert (chunk.source, chunk.revision) == (evidence.source, evidence.revision)


@pytest.mark.parametrize("system", SYSTEMS, ids=lambda system: system.name)
def test_a_chunk_is_the_text_at_its_place(system: System) -> None:
    whole = FEW
    for chunk in chunks(system).documents:
        parent = whole.by_id[chunk.id.rpartition("#")[0]]
        assert chunk.text == parent.text[chunk.start : chunk.end]
        assert (chunk.tenant, chunk.roles, chunk.valid_until) == (parent.tenant, parent.roles, parent.valid_until)


def test_both_answer_the_same_questions_of_the_same_people_at_the_same_time() -> None:
    first, second = ([(t.case, t.query, t.identity, t.time, t.protocol) for t in traces(s)] for s in SYSTEMS)
    assert first == second


def test_the_snapshots_differ_in_chunker_embedding_and_reranker_alone() -> None:
    first, second = (traces(system)[0].snapshot for system in SYSTEMS)
    differing = {name for name in first if first[name] != second[name]}
    assert {"chunker", "embedding", "reranker"} <= differing
    assert "data" not in differing
    assert differing <= {"chunker", "embedding", "reranker", "index", "retriever", "generator"}


def test_nobody_is_shown_what_he_may_not_read_or_what_does_not_hold() -> None:
    for system in SYSTEMS:
        held = chunks(system).by_id
        for trace in traces(system):
            kept = {item.id for stage in trace.stages for item in stage.kept}
            assert all(held[name].is_open_to(trace.identity) for name in kept)
            assert all(held[name].holds_at(trace.time) for name in kept)


def test_the_answers_stand_in_the_traces() -> None:
    for trace in traces(candidate()):
        assert trace.refused is not None
        assert trace.usage is not None
        assert (trace.claims == ()) == trace.refused


def test_two_runs_agree_but_for_their_times() -> None:
    cases: tuple[Case, ...] = chunks(candidate()).cases[:5]
    collection = replace(chunks(candidate()))
    again = candidate().run(cases, chunks=collection)
    assert [without_times(trace) for trace in again] == [without_times(trace) for trace in traces(candidate())[:5]]


def without_times(trace: Trace) -> Trace:
    stages = tuple(stage.model_copy(update={"latency_ms": None}) for stage in trace.stages)
    events = trace.events.model_copy(update={"index_build_s": None})
    return trace.model_copy(update={"stages": stages, "events": events, "latency_ms": None})


def test_one_split_is_answered_alone() -> None:
    found = SYSTEMS[0].answered(FEW, split="holdout")
    assert {case.split for case in found.cases} == {"holdout"}
    assert [trace.case for trace in found.traces] == [case.id for case in found.cases]


def test_what_is_saved_is_read_back(tmp_path: Path) -> None:
    files = save(tmp_path, FEW)
    names = ["baseline.jsonl", "baseline.cases.jsonl", "candidate.jsonl", "candidate.cases.jsonl"]
    assert [path.name for path in files] == names
    old, new = ([trace.case for trace in read_traces(path)] for path in files[::2])
    asked = [[case.id for case in read_cases(path)] for path in files[1::2]]
    assert old == new == asked[0] == asked[1]


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"baseline\.jsonl cannot be written: No such file or directory"):
        save(tmp_path / "missing", FEW)
