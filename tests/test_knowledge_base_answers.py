"""Answers made with labels: each behaviour leaves exactly the traces in claims and citations that it stands for."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import pytest

from rankwork.errors import ContractError, InputError
from rankwork.inputs.documents import Collection, Document
from rankwork.inputs.knowledge_base import injections, knowledge_base
from rankwork.inputs.knowledge_base.answers import AnswerParts, System, answer_traces, answered, labelled_answers
from rankwork.inputs.knowledge_base.behaviours import BEHAVIOURS, NEAREST
from rankwork.inputs.knowledge_base.catalogue import catalogue
from rankwork.trace import Case, Item, Prompt, Stage, Trace

BASE = knowledge_base()
BY_ID = {case.id: case for case in BASE.cases}
SYSTEMS: tuple[System, ...] = ("baseline", "candidate")
ALL = [(BY_ID[name], answer) for system in SYSTEMS for name, answer in labelled_answers(system).items()]


def made_as(behaviour: str) -> list[tuple[Case, AnswerParts]]:
    """The answers of that behaviour, of which there must be some."""
    found = [(case, answer) for case, answer in ALL if answer.behaviour == behaviour]
    assert found, behaviour
    return found


def labels(answer: AnswerParts) -> set[str | None]:
    return {claim.label for claim in answer.claims}


def points(answer: AnswerParts) -> set[str | None]:
    parts = [part for claim in answer.claims for part in (claim, *claim.parts)]
    return {part.point for part in parts} - {None}


def revisions_apart(case: Case, answer: AnswerParts) -> bool:
    """Whether a citation names a source of the gold in another revision."""
    gold = {evidence.source: evidence.revision for evidence in case.gold.values()}
    return any(one.source in gold and gold[one.source] != one.revision for one in answer.citations)


WAYS: dict[str, Callable[[Case, AnswerParts], bool]] = {
    "right": lambda case, a: points(a) == set(case.points) and {c.supports for c in a.citations} == {"full"},
    "compound": lambda case, a: points(a) == set(case.points) and {c.supports for c in a.citations} == {"partial"},
    "piled": lambda case, a: points(a) == set(case.points) and {c.claim for c in a.citations} == {None},
    "incomplete": lambda case, a: points(a) < set(case.points) and labels(a) == {"supported"},
    "unsupported": lambda case, a: points(a) == set(case.points) and "not_enough_information" in labels(a),
    "contradicted": lambda case, a: "contradicted" in labels(a) and {c.supports for c in a.citations} >= {"no"},
    "outdated": lambda case, a: revisions_apart(case, a) and any(c.correct is False for c in a.claims),
    "stale_notes": lambda case, a: any(c.id.endswith(".notes@r1") for c in a.citations) and labels(a) == {"supported"},
    "makers_default": lambda case, a: any((c.source or "").startswith("platform.manual.") for c in a.citations),
    "beside": lambda case, a: labels(a) == {"supported"} and {c.relevant for c in a.claims} == {False},
    "wrong_citation": lambda case, a: points(a) == set(case.points) and all(c.id in BASE.by_id for c in a.citations),
    "fabricated": lambda case, a: points(a) == set(case.points) and not any(c.id in BASE.by_id for c in a.citations),
    "false_refusal": lambda case, a: a.refused and case.expected == "answer",
    "refused": lambda case, a: a.refused and case.expected == "refuse",
    "invented": lambda case, a: case.expected == "refuse" and labels(a) == {"not_enough_information"},
    "obeys_injection": lambda case, a: "injection" in case.slices and labels(a) == {"contradicted"},
}


@pytest.mark.parametrize("behaviour", WAYS)
def test_each_behaviour_shows_in_claims_and_citations(behaviour: str) -> None:
    for case, answer in made_as(behaviour):
        assert WAYS[behaviour](case, answer), case.id


def test_each_behaviour_is_looked_at() -> None:
    """What is known from memory needs a prompt that lacks it, and is looked at with the traces."""
    assert set(BEHAVIOURS) == {*WAYS, "from_memory"}


def test_every_case_has_an_answer_of_each_system() -> None:
    assert [list(labelled_answers(system)) for system in SYSTEMS] == [list(BY_ID)] * 2
    assert [[trace.case for trace in answer_traces(system)] for system in SYSTEMS] == [list(BY_ID)] * 2


def test_a_refusal_claims_nothing_and_nothing_else_is_a_refusal() -> None:
    for case, answer in ALL:
        assert answer.refused == (not answer.claims) == (answer.behaviour in ("refused", "false_refusal")), case.id


def test_every_citation_stands_beside_a_claim_or_at_the_end_of_all() -> None:
    for case, answer in ALL:
        names = {claim.id for claim in answer.claims}
        assert {citation.claim for citation in answer.citations} <= names | {None}, case.id
        assert all(f"[{citation.id}]" in answer.answer for citation in answer.citations), case.id


def test_no_answer_quotes_what_the_asker_may_not_read() -> None:
    """None of the shipped answers leaks; leaks are planted in tests."""
    secret = {document.id for document in BASE.documents if document.roles}
    for case, answer in ALL:
        for citation in answer.citations:
            document = BASE.by_id.get(citation.id)
            assert document is None or document.is_open_to(case.identity), case.id
        if case.expected == "refuse":
            assert not secret & {citation.id for citation in answer.citations}, case.id
            assert not any(evidence.quote in answer.answer for evidence in case.gold.values()), case.id


def test_the_candidate_is_better_where_there_is_evidence_and_worse_at_refusing() -> None:
    """As declared; this is what a gate over slices has to see behind the mean."""
    right = {s: sum(a.behaviour == "right" for a in labelled_answers(s).values()) for s in SYSTEMS}
    false = {s: sum(a.behaviour == "invented" for a in labelled_answers(s).values()) for s in SYSTEMS}
    assert right["candidate"] > right["baseline"]
    assert false["candidate"] > false["baseline"] > 0


def test_the_declared_shares_add_up() -> None:
    for situation in ("covered", "missed", "uncovered"):
        for system in SYSTEMS:
            assert sum(share[system] for share in catalogue("answers")[situation].values()) == 100


def test_every_behaviour_that_may_fail_has_a_nearest_one_that_does_not_lead_back() -> None:
    for behaviour in NEAREST:
        trail = [behaviour]
        while trail[-1] in NEAREST:
            trail.append(NEAREST[trail[-1]])
        assert len(set(trail)) == len(trail)


def test_most_questions_are_answered_alike_by_both() -> None:
    pairs = Counter(one.behaviour == two.behaviour for one, two in zip(*map(_answers, SYSTEMS), strict=True))
    assert 0.5 < pairs[True] / pairs.total() < 0.9


def _answers(system: System) -> list[AnswerParts]:
    return list(labelled_answers(system).values())


def test_usage_names_three_models_with_tokens_and_cost_in_one_currency() -> None:
    for case, answer in ALL:
        assert len(answer.usage) == 3, case.id
        assert {use.currency for use in answer.usage} == {"EUR"}
        assert all(use.cost is not None and use.input_tokens is not None for use in answer.usage)
    cost = {
        system: sum(use.cost or 0 for a in labelled_answers(system).values() for use in a.usage) for system in SYSTEMS
    }
    assert cost["candidate"] > cost["baseline"]


def test_the_answers_are_the_same_on_every_call() -> None:
    assert [answer for _, answer in ALL] == [answer for system in SYSTEMS for answer in _answers(system)]


# --------------------------------------------------------------------------- answers to traces


def halves() -> Collection:
    """Each document as two chunks of half its text."""
    chunks = [part for document in BASE.documents for part in _halves(document)]
    return Collection("halves", "1", tuple(chunks))


def _halves(document: Document) -> list[Document]:
    middle, end = len(document.text) // 2, len(document.text)
    spans = enumerate(((0, middle), (middle, end)))
    return [
        replace(document, id=f"{document.id}#{at}", text=document.text[a:b], start=a, end=b) for at, (a, b) in spans
    ]


CHUNKS = halves()


def trace_of(case: Case, names: tuple[str, ...]) -> Trace:
    items = tuple(Item(id=name, rank=rank) for rank, name in enumerate(names, 1))
    stage = Stage(kind="retrieve", route="all", returned=len(items), items=items)
    return Trace(case=case.id, query=case.query, stages=(stage,), prompt=Prompt(ids=names))


def holding(case: Case) -> tuple[str, ...]:
    """The chunks that hold the whole of a piece of evidence of the case."""
    return tuple(
        dict.fromkeys(
            chunk.id
            for evidence in case.gold.values()
            for chunk in CHUNKS.documents
            if (chunk.source, chunk.revision) == (evidence.source, evidence.revision)
            and chunk.start <= (evidence.start or 0)
            and (evidence.end or 0) <= (chunk.end or 0)
        )
    )


SOME = [
    case for case in BASE.cases if case.identity.tenant in ("brindlemoor", "qinghuai", "tarnwick", "jiye", "cantavera")
]


def test_what_the_prompt_held_is_cited_by_its_chunk() -> None:
    traces = [trace_of(case, holding(case)) for case in SOME if case.expected == "answer"]
    for trace in answered(traces, CHUNKS, "candidate"):
        assert trace.prompt is not None
        for citation in trace.citations or ():
            known = citation.id in CHUNKS.by_id
            claim = next((claim for claim in trace.claims or () if claim.id == citation.claim), None)
            if known and citation.supports == "full" and claim is not None and claim.label == "supported":
                assert citation.id in trace.prompt.ids


def test_without_evidence_in_the_prompt_it_refuses_invents_or_remembers() -> None:
    traces = answered([trace_of(case, ()) for case in BASE.cases], CHUNKS, "candidate")
    found = Counter(trace.refused for trace in traces)
    assert found[True] > found[False] > 0
    claims = [(trace.case, claim) for trace in traces for claim in trace.claims or ()]
    assert {claim.label for _, claim in claims} == {"not_enough_information"}
    assert {claim.correct for _, claim in claims} == {True, False}
    for case, claim in claims:
        assert claim.correct == (claim.point in BY_ID[case].points) == (claim.point is not None)


def test_a_trace_with_an_answer_is_a_trace() -> None:
    for trace in answered([trace_of(case, holding(case)) for case in SOME], CHUNKS, "baseline"):
        assert Trace.model_validate_json(trace.model_dump_json()) == trace


def test_the_events_name_the_injections_that_the_prompt_held() -> None:
    case = next(case for case in BASE.cases if "injection" in case.slices)
    ticket = next(iter(case.gold.values())).source
    names = tuple(chunk.id for chunk in CHUNKS.documents if chunk.source == ticket)
    words = injections()[f"{ticket}@r1"]
    trace = answered([trace_of(case, names)], CHUNKS, "baseline")[0]
    assert trace.events.injected_ids == tuple(name for name in names if words in CHUNKS.by_id[name].text)


def test_another_system_is_refused() -> None:
    with pytest.raises(ContractError, match="the system must be baseline or candidate, got 'third'"):
        labelled_answers("third")  # type: ignore[arg-type]


def test_a_trace_of_another_case_is_refused() -> None:
    with pytest.raises(InputError, match="trace of case 'other': it is no case of the knowledge base"):
        answered([Trace(case="other")], CHUNKS, "baseline")


def test_a_prompt_with_an_unknown_chunk_is_refused() -> None:
    case = SOME[0]
    with pytest.raises(InputError, match=f"trace of case '{case.id}': its prompt holds 'elsewhere#1'"):
        answered([trace_of(case, ("elsewhere#1",))], CHUNKS, "baseline")
