"""Citations by claim: what each fault does to precision and recall, and what nobody can know."""

import json
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankwork.diagnosis.alce import alce_scores, both_precisions
from rankwork.diagnosis.citations import CitationRules, CitationScores, citation_scores, citations_report
from rankwork.errors import ContractError, InputError
from rankwork.inputs.answers import answers
from rankwork.trace import Case, Citation, Claim, Evidence, Item, Prompt, Requirement, Stage, StageKind, Trace

CASES, TRACES = answers()
CASE = Case(id="q", query="?")
TWO = (Claim(id="1"), Claim(id="2"))
KINDS: tuple[StageKind, StageKind] = ("retrieve", "context")


def cite(name: str, claim: str | None, supports: Any = "full", **more: Any) -> Citation:
    return Citation(id=name, claim=claim, supports=supports, **more)


def scores_of(
    *citations: Citation, claims: tuple[Claim, ...] = TWO, case: Case = CASE, rules: Any = None, **more: Any
) -> CitationScores:
    trace = Trace(case="q", claims=claims, citations=citations, **more)
    return citation_scores(case, trace, rules=rules or CitationRules())


def example(name: str) -> CitationScores:
    place = [case.id for case in CASES].index(name)
    return citation_scores(CASES[place], TRACES[place])


def test_precision_and_recall_by_hand() -> None:
    """Three citations, two support: 2/3. Two claims need evidence, one has it: 1/2."""
    found = scores_of(cite("a", "1"), cite("b", "1"), cite("c", "2", "no"))
    assert found.precision.value == pytest.approx(2 / 3)
    assert found.recall.value == 0.5
    assert found.faults == {"does_not_support": 1}


def test_a_fabricated_id_stays_in_the_denominator() -> None:
    found = scores_of(cite("a", "1"), cite("x", "2"), rules=CitationRules(known={"a"}))
    assert (found.precision.value, found.recall.value, found.faults) == (0.5, 0.5, {"fabricated": 1})


def test_without_a_corpus_the_trace_tells_what_is_fabricated() -> None:
    """And where neither knows any ID, nothing is held against a citation: it is counted as unchecked."""
    assert example("invented-source").faults == {"fabricated": 1, "not_in_prompt": 1}
    bare = scores_of(cite("a", "1"))
    assert (bare.faults, bare.precision.value) == ({}, 1)
    assert bare.unchecked == {"fabricated": 1, "unauthorised": 1, "in_prompt": 1, "outdated": 1}


def test_a_source_that_was_never_in_the_prompt_supports_and_is_not_valid() -> None:
    found = scores_of(cite("a", "1"), cite("b", "2"), prompt=Prompt(ids=("a",)), rules=CitationRules(known={"a", "b"}))
    assert (found.precision.value, found.precision_of_valid.value, found.recall.value) == (1, 0.5, 0.5)
    assert found.faults == {"not_in_prompt": 1}


def test_an_outdated_revision_supports_and_is_not_valid() -> None:
    found = example("faithful-but-wrong")
    assert (found.precision.value, found.precision_of_valid.value, found.recall.value) == (1, 0, 0)
    assert found.faults == {"outdated": 2}


def test_the_revision_of_a_citation_is_that_of_the_item_where_it_names_none() -> None:
    stage = Stage(kind="retrieve", returned=1, items=(Item(id="a", rank=1, source="s", revision="r1"),))
    case = Case(id="q", query="?", requires=(Requirement(any_of=(Evidence(id="g", source="s", revision="r2"),)),))
    assert scores_of(cite("a", "1"), case=case, stages=(stage,)).faults == {"outdated": 1}
    assert scores_of(cite("a", "1"), case=case, stages=(stage,), rules=CitationRules(current={"s": "r1"})).faults == {}


def test_a_source_that_the_asker_may_not_read_is_not_valid() -> None:
    stage = Stage(kind="retrieve", returned=1, items=(Item(id="a", rank=1, acl="denied"),))
    found = scores_of(cite("a", "1"), stages=(stage,))
    assert (found.faults, found.precision.value, found.recall.value) == ({"unauthorised": 1}, 1, 0)


def test_a_denial_at_any_stage_counts_whatever_a_later_stage_says() -> None:
    items = Item(id="a", rank=1, acl="denied"), Item(id="a", rank=1)
    stages = tuple(Stage(kind=kind, returned=1, items=(item,)) for kind, item in zip(KINDS, items, strict=True))
    assert scores_of(cite("a", "1"), stages=stages).faults == {"unauthorised": 1}
    allowed = Stage(kind="retrieve", returned=1, items=(Item(id="a", rank=1, acl="allowed"),))
    assert "unauthorised" not in scores_of(cite("a", "1"), stages=(allowed,)).unchecked


def test_citations_piled_at_the_end_bound_everything_and_decide_nothing() -> None:
    found = example("piled-citations")
    for share in (found.precision, found.recall):
        assert (share.min, share.max, share.value) == (0, 1, None)
    assert found.faults == {"ambiguous": 3}


def test_support_in_part_is_worth_what_was_declared() -> None:
    given_ = (cite("a", "1", "partial"), cite("b", "2"))
    assert scores_of(*given_).precision.value == 0.5
    half = scores_of(*given_, rules=CitationRules(partial=0.5))
    assert (half.precision.value, half.recall.value) == (0.75, 0.75)


def test_a_part_of_a_compound_claim_is_cited_on_its_own() -> None:
    """The citation of one part gives half; support in part of the whole may be support of either part."""
    whole = (Claim(id="1", parts=(Claim(id="1.a"), Claim(id="1.b"))),)
    assert scores_of(cite("a", "1.a"), claims=whole).recall.value == 0.5
    assert scores_of(cite("a", "1"), claims=whole).recall.value == 1
    open_ = scores_of(cite("a", "1", "partial"), claims=whole).recall
    assert (open_.min, open_.max) == (0, 1)
    assert scores_of(cite("a", "1.a"), claims=whole, rules=CitationRules(compound="whole")).recall.value == 0


def test_claims_that_need_no_evidence_are_not_asked_for_it() -> None:
    claims = (Claim(id="1"), Claim(id="2", needs_evidence=False))
    assert scores_of(cite("a", "1"), claims=claims).recall.value == 1
    none = scores_of(claims=claims[1:])
    assert (none.recall.reason, none.precision.reason) == ("no claim needs evidence", "the answer has no citations")


def test_citations_that_were_never_taken_from_the_answer_are_unknown() -> None:
    found = citation_scores(CASE, Trace(case="q", claims=TWO))
    assert found.precision.reason == "no citations were taken from the answer"
    assert (found.recall.min, found.recall.max) == (0, 1)


def test_the_same_citation_twice_counts_once() -> None:
    found = scores_of(cite("a", "1"), cite("a", "1"), cite("b", "2", "no"))
    assert (found.precision.value, found.repeated) == (0.5, 1)


def test_what_cannot_be_is_refused_by_name() -> None:
    with pytest.raises(InputError, match="citation 'a' stands for claim '3', which is not in the answer"):
        scores_of(cite("a", "3"))
    with pytest.raises(InputError, match="citation 'a' of claim '1' has two verdicts, full and no"):
        scores_of(cite("a", "1"), cite("a", "1", "no"))
    with pytest.raises(ContractError, match="partial must be between 0 and 1, got 2"):
        CitationRules(partial=2)
    with pytest.raises(ContractError, match="compound must be 'parts' or 'whole', got 'half'"):
        CitationRules(compound="half")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="the trace is of case 'r', the case is 'q'"):
        citation_scores(CASE, Trace(case="r"))


SUPPORTS = st.sampled_from(["full", "no", "partial", None])


@given(st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from(["1", "2", None]), SUPPORTS), max_size=4))
def test_whatever_claim_an_ambiguous_citation_stands_for_lies_between_the_bounds(
    drawn: list[tuple[str, str | None, Any]],
) -> None:
    """Brute force over the claim and the verdict of everything that is unknown."""
    unique = {(name, claim): supports for name, claim, supports in drawn}
    citations = [cite(name, claim, supports) for (name, claim), supports in unique.items()]
    found = scores_of(*citations)
    for way in ways(citations):
        names = [(c.id, c.claim) for c in way]
        if len(set(names)) < len(names):
            continue
        full = scores_of(*way)
        for name in ("precision", "recall"):
            share, truth = getattr(found, name), getattr(full, name)
            if truth.value is not None:
                assert share.min - 1e-9 <= truth.value <= share.max + 1e-9


def ways(citations: list[Citation]) -> list[list[Citation]]:
    done: list[list[Citation]] = [[]]
    for each in citations:
        claims = [each.claim] if each.claim else ["1", "2"]
        verdicts = [each.supports] if each.supports else ["full", "no", "partial"]
        options = [each.model_copy(update={"claim": c, "supports": v}) for c in claims for v in verdicts]
        done = [[*way, option] for way in done for option in options]
    return done


def test_a_report_adds_up_the_faults() -> None:
    report = citations_report(CASES, TRACES)
    assert report.faults["ambiguous"] == 3
    assert sum(report.faults.values()) <= report.citations
    assert report.mean("precision").undefined == {"the answer has no citations": 3}
    assert len(report.to_pandas()) == len(CASES)
    found = report.to_json()
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert "at fault: fabricated 1" in str(report)
    with pytest.raises(ContractError, match="there is no 'f1'"):
        report.mean("f1")


# ------------------------------------------------------------------------------ ALCE

FACTS = frozenset({"x", "y"})


def verdict(facts: frozenset[str]) -> Any:
    return "full" if facts >= FACTS else "partial" if facts else "no"


def by_the_programs_rules(cited: list[list[frozenset[str]]]) -> tuple[float, float | None]:
    """Recall and precision as ALCE's program counts them, of claims that rest on two facts each."""
    recalled, precise, total = 0, 0, 0
    for sources in cited:
        together = bool(sources) and frozenset().union(*sources) >= FACTS
        recalled += together
        total += len(sources)
        for place, facts in enumerate(sources):
            rest = frozenset().union(*sources[:place], *sources[place + 1 :])
            needless = not facts >= FACTS and rest >= FACTS
            precise += together and not needless
    return recalled / len(cited), precise / total if total else None


SOURCES = st.lists(st.sets(st.sampled_from("xy")).map(frozenset), max_size=3)


@given(st.lists(SOURCES, min_size=1, max_size=3))
def test_alce_equals_the_rules_of_its_program_where_labels_tell_enough(cited: list[list[frozenset[str]]]) -> None:
    """With the joint verdicts recall is exact; precision, where single labels leave it open, has it in its bounds."""
    claims = tuple(Claim(id=str(n)) for n in range(len(cited)))
    citations = tuple(
        cite(f"{n}.{m}", str(n), verdict(facts)) for n, sources in enumerate(cited) for m, facts in enumerate(sources)
    )
    joint = {str(n): frozenset().union(*sources) >= FACTS for n, sources in enumerate(cited)}
    trace = Trace(case="q", claims=claims, citations=citations)
    told, alone = alce_scores(CASE, trace, joint=joint), alce_scores(CASE, trace)
    recall, precision = by_the_programs_rules(cited)
    assert told.recall.value == pytest.approx(recall)
    for found in (told, alone):
        assert found.recall.min is not None
        assert found.recall.max is not None
        assert found.recall.min - 1e-9 <= recall <= found.recall.max + 1e-9
        if precision is None:
            assert found.precision.value is None
        else:
            assert found.precision.min is not None
            assert found.precision.max is not None
            assert found.precision.min - 1e-9 <= precision <= found.precision.max + 1e-9


def test_alce_forgives_an_invented_source_in_precision() -> None:
    """The statement is not recalled; its citation leaves the denominator, and precision is perfect."""
    place = [case.id for case in CASES].index("invented-source")
    found = alce_scores(CASES[place], TRACES[place])
    ours = citation_scores(CASES[place], TRACES[place])
    assert (found.precision.value, found.left_out) == (1, 1)
    assert ours.precision.value == pytest.approx(2 / 3)


def test_both_precisions_are_those_of_the_two_reports() -> None:
    for case, trace in zip(CASES, TRACES, strict=True):
        found = both_precisions(case, trace)
        assert found["of all given"] == citation_scores(case, trace).precision
        assert found["ALCE"] == alce_scores(case, trace).precision


def test_two_halves_are_a_whole_for_alce_alone() -> None:
    """Two citations that support half of the claim each: jointly they support it, and neither does."""
    halves = (cite("a", "1", "partial"), cite("b", "1", "partial"))
    trace = Trace(case="q", claims=TWO[:1], citations=halves)
    assert alce_scores(CASE, trace, joint={"1": True}).recall.value == 1
    assert citation_scores(CASE, trace).recall.value == 0


def test_a_joint_verdict_that_cannot_be_is_refused() -> None:
    trace = Trace(case="q", claims=TWO, citations=(cite("a", "1"), cite("b", "2", "no")))
    with pytest.raises(InputError, match="joint names claim '3', which is not in the answer"):
        alce_scores(CASE, trace, joint={"3": True})
    with pytest.raises(InputError, match="joint says False of claim '1', its citations say True"):
        alce_scores(CASE, trace, joint={"1": False})
    with pytest.raises(InputError, match="joint says True of claim '2', its citations say False"):
        alce_scores(CASE, trace, joint={"2": True})


def test_the_joint_verdict_of_every_pair_of_partial_labels_is_open() -> None:
    for first, second in combinations(["partial", "partial", "no"], 2):
        trace = Trace(case="q", claims=TWO[:1], citations=(cite("a", "1", first), cite("b", "1", second)))
        assert alce_scores(CASE, trace).recall.value is None
