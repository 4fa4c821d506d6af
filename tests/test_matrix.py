"""Each fault that is planted in a corpus or a pipeline is diagnosed right, and without reasons never otherwise."""

import datetime
from typing import Any

import pytest

from rankwork.diagnosis.facts import AnswerFacts, Facts, Place, Standing
from rankwork.diagnosis.funnel import Funnel, funnel
from rankwork.diagnosis.matrix import LOOK_AT, ROWS, Diagnosis, diagnose, diagnose_answer
from rankwork.inputs.documents import Collection, Document
from rankwork.trace import Case, Citation, Claim, Evidence, Identity, Item, Prompt, Requirement, Stage, Trace
from tests.staged import drawn, without_reasons

WHO = Identity(tenant="acme", role="dev")
GOLD = Evidence(id="guide#2", source="guide", revision="2", start=100, end=200)
DOCUMENTS = tuple(
    Document(f"{source}#{n}", "text", source=source, revision="2", start=100 * (n - 1), end=100 * n, tenant="acme")
    for source in ("guide", "other")
    for n in range(1, 6)
)


def collection(*documents: Document, without: str = "") -> Collection:
    kept = tuple(document for document in DOCUMENTS if document.id != without)
    return Collection("kb", "2", (*kept, *documents))


def route(name: str, ids: list[str], *, k: int = 4, **fields: Any) -> Stage:
    items = tuple(Item(id=d, rank=r, score=10.0 - r, source=d.partition("#")[0]) for r, d in enumerate(ids, 1))
    dropped = fields.pop("dropped", ())
    return Stage(kind="retrieve", route=name, requested=k, returned=len(ids), items=(*items, *dropped), **fields)


def rrf(routes: list[Stage], *, k: int = 8) -> Stage:
    sums: dict[str, float] = {}
    for stage in routes:
        for item in stage.kept:
            sums[item.id] = sums.get(item.id, 0) + 1 / (60 + (item.rank or 0))
    top = sorted(sums, key=lambda d: (-sums[d], d))[:k]
    items = tuple(Item(id=d, rank=r, score=sums[d]) for r, d in enumerate(top, 1))
    return Stage(kind="fuse", requested=k, returned=len(top), items=items, parameters={"method": "rrf", "c": 60})


def rerank(ids: list[str], *, k: int = 4, **fields: Any) -> Stage:
    items = tuple(Item(id=d, rank=r, score=1.0 / r) for r, d in enumerate(ids[:k], 1))
    below = tuple(Item(id=d, score=1.0 / r, kept=False, drop_reason="rerank_cut") for r, d in enumerate(ids[k:], k + 1))
    return Stage(kind="rerank", requested=k, returned=len(items), items=(*items, *below), **fields)


def context(ids: list[str], dropped: tuple[Item, ...] = (), **fields: Any) -> Stage:
    items = tuple(Item(id=d, rank=r, source=d.partition("#")[0]) for r, d in enumerate(ids, 1))
    return Stage(kind="context", returned=len(ids), items=(*items, *dropped), **fields)


def run(*stages: Stage, corpus: Collection | None = None, gold: Evidence = GOLD, **fields: Any) -> Funnel:
    case = Case(id="q", query="how?", identity=WHO, requires=(Requirement(any_of=(gold,)),))
    return funnel([case], [Trace(case="q", identity=WHO, stages=stages, **fields)], collection=corpus)


def diagnosed(*stages: Stage, **fields: Any) -> tuple[str, str, str]:
    (found,) = run(*stages, **fields).diagnoses()
    return found.row, found.cause, found.sentence


OTHERS = ["other#1", "other#2", "other#3", "other#4"]
BOTH = [route("bm25", ["guide#2", *OTHERS[:3]]), route("dense", [*OTHERS[:3], "guide#2"])]


def test_a_document_that_is_missing_from_the_corpus() -> None:
    """Parsing, revision or time: nothing of its source is there."""
    gone = Evidence(id="lost#1", source="lost")
    routes = [route("bm25", OTHERS), route("dense", OTHERS)]
    assert diagnosed(*routes, corpus=collection(), gold=gone) == (
        "not_in_corpus",
        "not_in_corpus",
        "gold lost#1: not in the corpus, absent from bm25, absent from dense",
    )


def test_a_source_of_which_only_another_revision_is_indexed() -> None:
    """The outdated revision stays in the index; the evidence stands in the new one."""
    old = tuple(Document(d.id, d.text, source=d.source, revision="1", start=d.start, end=d.end) for d in DOCUMENTS)
    fresh = Evidence(id="guide@3#2", source="guide", revision="3", start=100, end=200)
    row, cause, sentence = diagnosed(route("bm25", OTHERS), corpus=Collection("kb", "1", old), gold=fresh)
    assert (row, cause) == ("not_in_corpus", "superseded_revision")
    assert "in the corpus only as revision 1" in sentence


def test_evidence_that_does_not_hold_at_the_time_of_the_question() -> None:
    until = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)
    late = datetime.datetime(2026, 6, 1, tzinfo=datetime.UTC)
    ended = Document("guide#2", "text", source="guide", revision="2", start=100, end=200, valid_until=until)
    corpus = collection(ended, without="guide#2")
    assert diagnosed(route("bm25", OTHERS), corpus=corpus, time=late)[:2] == ("not_in_corpus", "time_filtered")


def test_a_source_that_was_cut_into_other_chunks() -> None:
    """The span is there, under IDs that the evidence does not know."""
    cut = tuple(
        Document(f"guide/{n}", "t", source="guide", revision="2", start=50 * n, end=50 * n + 50) for n in range(9)
    )
    row, cause, sentence = diagnosed(route("bm25", OTHERS), corpus=Collection("kb", "2", cut))
    assert (row, cause) == ("id_unmapped", "id_unmapped")
    assert sentence.startswith("gold guide#2: its source is in the corpus under other IDs, such as guide/2, absent")


def test_a_permission_that_is_right_and_one_that_is_wrong() -> None:
    """The same trace; what the collection opens decides."""
    denied = (Item(id="guide#2", kept=False, acl="denied", drop_reason="acl_filtered"),)
    filtered = route("bm25", OTHERS, dropped=denied)
    closed = Document("guide#2", "text", source="guide", revision="2", tenant="acme", roles=frozenset({"hr"}))
    rightly = diagnosed(filtered, corpus=collection(closed, without="guide#2"))
    assert rightly[:2] == ("filtered_rightly", "acl_filtered")
    wrongly = diagnosed(filtered, corpus=collection())
    assert wrongly[:2] == ("filtered_wrongly", "acl_filtered_wrongly")
    assert wrongly[2] == "gold guide#2: wrongly filtered by the access rule of bm25"


def test_a_denial_that_nobody_explains_is_unknown() -> None:
    denied = (Item(id="guide#2", kept=False, acl="denied"),)
    row, cause, sentence = diagnosed(route("bm25", OTHERS, dropped=denied))
    assert (row, cause) == ("unknown", "unknown")
    assert sentence.endswith("; whether rightly, only the collection can say")


def test_a_route_that_timed_out() -> None:
    timeout = route("dense", [], status="timeout")
    assert diagnosed(route("bm25", OTHERS), timeout, corpus=collection())[:2] == ("in_no_route", "route_timeout")
    fused = rrf([route("bm25", [*OTHERS[:3], "guide#2"])], k=3)
    row, cause, sentence = diagnosed(route("bm25", [*OTHERS[:3], "guide#2"]), timeout, fused)
    assert (row, cause) == ("in_one_route_only", "route_timeout")
    assert sentence == (
        "gold guide#2: 4th of bm25 top 4, absent from dense, which ended with timeout, not in RRF top 3"
    )


def test_a_broken_chunk_id_in_one_route() -> None:
    """Its text came back under an ID that no document bears, so the fusion had one vote instead of two."""
    routes = [route("bm25", [*OTHERS[:3], "guide#2"]), route("dense", ["guide#2-old", *OTHERS[:3]])]
    row, cause, sentence = diagnosed(*routes, rrf(routes, k=3), corpus=collection())
    assert (row, cause) == ("in_one_route_only", "id_unmapped")
    assert "absent from dense, which has its source as guide#2-old" in sentence


def test_found_by_no_route_although_it_is_there() -> None:
    below = (Item(id="guide#2", score=1.0, kept=False, drop_reason="below_route_k"),)
    tied = (Item(id="guide#2", score=6.0, kept=False, drop_reason="tie_cut"),)
    assert diagnosed(route("bm25", OTHERS), corpus=collection())[:2] == ("in_no_route", "not_retrieved")
    assert diagnosed(route("bm25", OTHERS, dropped=below))[:2] == ("in_no_route", "below_route_k")
    assert diagnosed(route("bm25", OTHERS, dropped=tied))[:2] == ("in_no_route", "tie_cut")


def test_lost_in_fusion_for_its_depth_its_weights_or_its_cut() -> None:
    fused = rrf([route("bm25", OTHERS), route("dense", OTHERS)], k=3)
    assert diagnosed(*BOTH, fused)[:2] == ("lost_in_fusion", "fusion_cut")
    for change, cause in (({"depth": 0}, "fusion_depth"), ({"weights": {"bm25": 0, "dense": 0}}, "fusion_weight")):
        stage = fused.model_copy(update={"parameters": {**fused.parameters, **change}})
        assert diagnosed(*BOTH, stage)[:2] == ("lost_in_fusion", cause)
    tied = fused.items[-1].score
    item = Item(id="guide#2", score=tied, kept=False, drop_reason="fusion_cut")
    stage = fused.model_copy(update={"items": (*fused.items, item)})
    assert diagnosed(*BOTH, stage)[:2] == ("lost_in_fusion", "tie_cut")


def test_lost_by_the_reranker() -> None:
    """Its window, its cut, its time, and a reranker that truncates what it is given."""
    fused = rrf(BOTH)
    ids = [item.id for item in fused.kept]
    rank = ids.index("guide#2") + 1
    others = [d for d in ids if d != "guide#2"]
    window = rerank(others[: rank - 1], window=rank - 1)
    assert diagnosed(*BOTH, fused, window)[:2] == ("lost_in_rerank", "rerank_window")
    assert diagnosed(*BOTH, fused, rerank([*others, "guide#2"], k=2, window=8))[:2] == ("lost_in_rerank", "rerank_cut")
    late = Stage(kind="rerank", requested=4, returned=0, status="timeout", window=8)
    assert diagnosed(*BOTH, fused, late)[:2] == ("lost_in_rerank", "rerank_timeout")


def test_a_quota_that_is_too_small() -> None:
    """With the reason, and without it where no other limit was set and the source has used it up."""
    first = context(["guide#1"], (Item(id="guide#2", kept=False, drop_reason="quota", source="guide"),))
    stages = [route("bm25", ["guide#1", "guide#2"])]
    limited = first.model_copy(update={"parameters": {"quota": 1}})
    row, cause, sentence = diagnosed(*stages, limited)
    assert (row, cause) == ("lost_in_context", "quota")
    assert sentence.endswith("left out of the context by the quota of 1 for each source")
    (silent,) = without_reasons(Trace(case="q", stages=(*stages, limited))).stages[1:]
    assert diagnosed(*stages, silent)[:2] == ("lost_in_context", "quota")
    both = silent.model_copy(update={"parameters": {"quota": 1, "token_budget": 100}})
    assert diagnosed(*stages, both)[:2] == ("lost_in_context", "unknown")


def test_what_the_context_holds_and_the_prompt_does_not() -> None:
    stages = [route("bm25", ["guide#2"]), context(["guide#2"])]
    assert diagnosed(*stages, prompt=Prompt(ids=("guide#1",)))[:2] == ("lost_in_context", "prompt")
    assert diagnosed(*stages, prompt=Prompt(ids=("guide#2",)))[0] == "reached"


ANSWERS: list[tuple[str, dict[str, Any]]] = [
    ("generation", {"claims": (Claim(id="1", label="supported"), Claim(id="2", label="contradicted"))}),
    ("generation", {"claims": (Claim(id="1", parts=(Claim(id="a", label="not_enough_information"),)),)}),
    ("citation_mapping", {"claims": (Claim(id="1", label="supported"),),
                          "citations": (Citation(id="guide#2", supports="no"),)}),
    ("citation_mapping", {"citations": (Citation(id="made-up"),), "prompt": Prompt(ids=("guide#2",))}),
    ("source_false", {"claims": (Claim(id="1", label="supported", correct=False),)}),
    ("over_refusal", {"refused": True}),
    ("reached", {"claims": (Claim(id="1", label="supported"),), "refused": False}),
    ("reached", {"claims": (Claim(id="1"),), "refused": False}),
]  # fmt: skip


@pytest.mark.parametrize(("row", "fields"), ANSWERS)
def test_evidence_that_arrived_is_diagnosed_by_the_answer(row: str, fields: dict[str, Any]) -> None:
    stages = [route("bm25", ["guide#2"]), context(["guide#2"])]
    found = run(*stages, **fields)
    (only,) = found.diagnoses()
    assert only.row == row
    assert [answer.row for answer in found.answers] == ([] if row == "reached" else [row])


def test_an_answer_without_its_evidence_is_false() -> None:
    """A case that asks for a refusal has no gold: the case itself is diagnosed."""
    case = Case(id="q", query="how?", expected="refuse")
    for refused in (False, True):
        found = funnel([case], [Trace(case="q", stages=(route("bm25", OTHERS),), refused=refused)])
        assert [answer.row for answer in found.answers] == ([] if refused else ["false_answer"])
    assert found.losses.rows.total() == 0
    uncovered = run(route("bm25", OTHERS), refused=False).answers
    assert [answer.sentence for answer in uncovered] == [
        "case q: not all that is needed was there, and an answer was given"
    ]


def test_a_document_that_may_not_be_read_stops_the_release() -> None:
    foreign = Item(id="other#1", rank=2, score=1.0, tenant="globex")
    stage = Stage(kind="retrieve", returned=2, items=(Item(id="guide#2", rank=1, score=2.0), foreign))
    found = run(stage)
    assert [each.row for each in found.diagnoses()] == ["unauthorised"]
    assert "stop the release" in str(found)


def test_the_sentence_of_the_project() -> None:
    """31st of one route, absent from the other, 43rd after the fusion, and so outside the window."""
    dense = [f"d{n:02d}" for n in range(50)]
    dense[30] = "numpy.linalg.norm#2"
    sparse = [f"s{n:02d}" for n in range(12)] + [f"x{n:02d}" for n in range(38)]
    routes = [route("dense", dense, k=50), route("bm25", sparse, k=50)]
    fused = rrf(routes, k=100)
    place = next(item.rank for item in fused.kept if item.id == "numpy.linalg.norm#2")
    shorter = route("bm25", sparse[:12], k=50)
    fused = rrf([routes[0], shorter], k=100)
    seen = [item.id for item in fused.kept][:40]
    gold = Evidence(id="numpy.linalg.norm#2")
    row, _, sentence = diagnosed(routes[0], shorter, fused, rerank(seen, k=10, window=40), gold=gold)
    assert (row, place) == ("in_one_route_only", 61)
    assert sentence == (
        "gold numpy.linalg.norm#2: 31st of dense top 50, absent from bm25, 43rd after RRF, "
        "outside the rerank window of 40"
    )


def test_every_row_says_what_to_look_at() -> None:
    assert all(LOOK_AT[row] for row in ROWS)
    assert diagnose(Facts("q", "d", ())).row == "unknown"
    found = Diagnosis(Facts("q", "d", ()), "reached", "none")
    assert (found.case, found.evidence, found.look_at) == ("q", "d", "nothing")


def test_an_order_of_rows_is_kept() -> None:
    """Not in the corpus comes before filtered, filtered before not found."""
    denied = Standing("retrieve:a", "retrieve", dropped=True, reason="acl_filtered", denied=True)
    closed = Place(True, open=False, holds=False)
    assert diagnose(Facts("q", "d", (denied,), closed)).row == "not_in_corpus"
    assert diagnose(Facts("q", "d", (denied,), Place(True, open=False))).row == "filtered_rightly"
    assert diagnose(Facts("q", "d", (denied,), Place(False, ("e",)))).row == "id_unmapped"
    unsupported = AnswerFacts(claims=1, supported=0, wrong_citations=("x",), incorrect=1)
    answered = diagnose_answer(Facts("q", "", (), answer=unsupported))
    assert answered is not None
    assert answered.row == "generation"


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("with_collection", [True, False])
def test_without_reasons_a_diagnosis_holds_or_is_unknown(seed: int, with_collection: bool) -> None:
    """Every drop reason erased; also every one replaced by another, which may not move a row that the lists show."""
    cases, traces = drawn(60, seed=seed)
    ids = [f"d{n:02d}" for n in range(0, 14, 2)]
    corpus = Collection("c", "1", tuple(Document(d, "t") for d in ids)) if with_collection else None
    given = list(funnel(cases, traces, collection=corpus).diagnoses())
    erased = list(funnel(cases, map(without_reasons, traces), collection=corpus).diagnoses())
    assert len(given) == len(erased) > 50
    for one, other in zip(given, erased, strict=True):
        assert other.row in (one.row, "unknown"), (one.sentence, other.sentence)
        assert other.cause in (one.cause, "unknown"), (one.sentence, other.sentence)
    assert sum(other.row != "unknown" for other in erased) > 20
