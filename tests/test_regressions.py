"""Regressions: what was reviewed and failed becomes a case; what is known, held out or unreviewed is refused."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rankwork.decision.near_duplicates import likeness, near_duplicate, numbers, wording
from rankwork.decision.pseudonyms import Privacy
from rankwork.decision.regression_checks import check, check_all, lost_after
from rankwork.decision.regressions import Review, add, case_of, ledger, refusal, reviews
from rankwork.decision.replay import Package, pack
from rankwork.errors import ContractError, InputError
from rankwork.evidence.tokens import Tokens
from rankwork.inputs.traces import read_cases, write_cases
from rankwork.trace import (
    Case,
    Citation,
    Claim,
    Evidence,
    Identity,
    Item,
    Prompt,
    Requirement,
    Stage,
    Trace,
)
from tests.traces import CASES, TRACES

KEY = Tokens("a key of sixteen or more")
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
REVIEW = Review(by="search team", why="the release note was not shown")
NEEDED = (Requirement(any_of=(Evidence(id="gold"),)),)
AGENT = Identity(role="agent")


def case(query: str = "What changed in the March release?", **fields: Any) -> Case:
    return Case(**{"id": "q", "query": query, "identity": AGENT, "requires": NEEDED, **fields})


def lost(query: str = "What changed in the March release?", **fields: Any) -> Trace:
    items = (Item(id="other", rank=1, score=2.0), Item(id="gold", kept=False, score=1.0, drop_reason="rerank_cut"))
    stages = (
        Stage(kind="retrieve", returned=2, items=(Item(id="other", rank=1), Item(id="gold", rank=2))),
        Stage(kind="rerank", returned=1, items=items),
    )
    return Trace(**{"case": "q", "query": query, "identity": AGENT, "stages": stages, **fields})


def package(query: str = "What changed in the March release?", **fields: Any) -> Package:
    return pack(lost(query), case(query, **fields), privacy=Privacy(texts="redacted"))


def test_a_reviewed_failure_becomes_a_case_with_its_origin_and_its_review(tmp_path: Path) -> None:
    target, found = tmp_path / "cases.jsonl", package()
    assert refusal(found, target, REVIEW) is None
    added = add(found, target, REVIEW, now=NOW)
    assert read_cases(target) == (added,)
    assert (added.origin, added.split, added.id[:7]) == ("replay", "dev", "replay-")
    entry = reviews(target)[added.id]
    assert (entry.by, entry.why, entry.package, entry.time) == (
        "search team", REVIEW.why, found.digest, "2026-03-01T12:00:00+00:00"
    )  # fmt: skip
    assert entry.failed == ("not shown to the model: 'gold' (rank 2 of retrieve, dropped by rerank (rerank_cut))",)


def test_the_same_failure_has_one_name_in_every_package() -> None:
    slower = pack(lost(latency_ms=9.0), case(), privacy=Privacy(texts="redacted"))
    assert slower.digest != package().digest
    assert case_of(slower, REVIEW).id == case_of(package(), REVIEW).id != case_of(package("Why?"), REVIEW).id


def test_the_case_fails_on_the_trace_that_it_came_from_and_passes_once_repaired(tmp_path: Path) -> None:
    added = add(package(), tmp_path / "cases.jsonl", REVIEW)
    again = lost(case=added.id)
    repaired = lost(case=added.id, prompt=Prompt(ids=("gold",)))
    assert [outcome.verdict for outcome in check_all([added], [again])] == ["fail"]
    assert [outcome.verdict for outcome in check_all([added], [repaired])] == ["pass"]


@pytest.mark.parametrize("review", [Review(by="", why="x"), Review(by="x", why=" "), Review(by=" ", why="")])
def test_what_nobody_reviewed_is_refused(review: Review, tmp_path: Path) -> None:
    refused(package(), tmp_path, "when a person has reviewed it", review)


def refused(found: Package, tmp_path: Path, message: str, review: Review = REVIEW, **options: Any) -> None:
    """Refused with these words, and nothing written."""
    target = tmp_path / "cases.jsonl"
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(InputError) as caught:
        add(found, target, review, **options)
    assert message in str(caught.value)
    assert refusal(found, target, review, **options) == str(caught.value)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_what_did_not_fail_is_refused(tmp_path: Path) -> None:
    fine = pack(lost(prompt=Prompt(ids=("gold",))), case(), privacy=Privacy(texts="redacted"))
    refused(fine, tmp_path, "nothing failed here")
    assert add(fine, tmp_path / "c.jsonl", Review("me", "must refuse", expected="refuse")).expected == "refuse"


def test_a_stale_answer_key_is_refused(tmp_path: Path) -> None:
    stale = case(time=NOW, valid_until=datetime(2026, 2, 1, tzinfo=UTC))
    refused(pack(lost(), stale, privacy=Privacy(texts="redacted")), tmp_path, "its evidence was not gold at that time")


def test_traffic_without_an_answer_key_needs_one_from_the_review(tmp_path: Path) -> None:
    traffic = pack(lost(), privacy=Privacy(texts="redacted"))
    refused(traffic, tmp_path, "nothing to check: name the evidence")
    added = add(traffic, tmp_path / "cases.jsonl", Review("me", "missed", evidence=("gold", "second")))
    assert [need.any_of[0].id for need in added.requires] == ["gold", "second"]


@pytest.mark.parametrize(
    ("again", "message"),
    [
        ("what changed in the March release", "the set asks this already"),
        ("What  changed, in the MARCH release ?", "the set asks this already"),
        ("What changed in the March releases?", "the set asks this already"),
    ],
)
def test_near_duplicates_in_the_set_are_refused(again: str, message: str, tmp_path: Path) -> None:
    add(package(), tmp_path / "cases.jsonl", REVIEW)
    refused(package(again), tmp_path, message)
    refused(package(), tmp_path, "the set holds this failure already")


@pytest.mark.parametrize(
    "other",
    [
        package("How do I rotate the signing key?"),
        package(identity=Identity(role="guest")),
        pack(lost(refused=False), case(expected="refuse"), privacy=Privacy(texts="redacted")),
    ],
)
def test_another_question_identity_or_behaviour_is_another_case(other: Package, tmp_path: Path) -> None:
    add(package(), tmp_path / "cases.jsonl", REVIEW)
    if other.case is not None and other.case.identity != AGENT:
        other = pack(lost(identity=other.case.identity), other.case, privacy=Privacy(texts="redacted"))
    add(other, tmp_path / "cases.jsonl", REVIEW)
    assert len(read_cases(tmp_path / "cases.jsonl")) == 2


def test_numbers_make_another_question_in_the_set_and_not_against_a_held_out_one(tmp_path: Path) -> None:
    one, other = "Why does the export stop with error 500?", "Why does the export stop with error 502?"
    add(package(one), tmp_path / "cases.jsonl", REVIEW)
    held_out = [case(other, id="h", split="holdout")]
    refused(package(other), tmp_path, "give away a held-out question", held_out=held_out)
    add(package(other), tmp_path / "cases.jsonl", REVIEW)
    assert len(read_cases(tmp_path / "cases.jsonl")) == 2


@pytest.mark.parametrize("split", ["holdout", "blind"])
def test_held_out_questions_are_refused(split: Any, tmp_path: Path) -> None:
    hidden = case("what changed in the march release", id="h", split=split)
    refused(package(), tmp_path, "it would give away a held-out question", held_out=[hidden])
    cluster = case("Something else entirely", id="h", split=split, cluster="release notes")
    clustered = package(cluster="release notes")
    refused(clustered, tmp_path, f"case 'h' of the {split} split is of the same cluster", held_out=[cluster])
    refused(package(split=split), tmp_path, f"the case is of the {split} split")
    write_cases(tmp_path / "cases.jsonl", [hidden])
    refused(package(), tmp_path, "it would give away a held-out question")


def test_cases_to_work_with_are_no_held_out_ones(tmp_path: Path) -> None:
    add(package(cluster="c"), tmp_path / "cases.jsonl", REVIEW, held_out=[case(cluster="c", split="dev")])


def test_a_query_that_is_a_digest_must_be_given_and_is_checked(tmp_path: Path) -> None:
    hidden = pack(lost(), case(), tokens=KEY)
    refused(hidden, tmp_path, "the package holds a digest of the query")
    given = Review("me", "missed", query="What changed in the March release?")
    refused(hidden, tmp_path, "cannot be checked without the key", given)
    refused(hidden, tmp_path, "this is not the question", Review("me", "missed", query="Another?"), tokens=KEY)
    assert add(hidden, tmp_path / "cases.jsonl", given, tokens=KEY).query == given.query
    refused(pack(Trace(case="q"), tokens=KEY), tmp_path, "the package holds no query")


def test_a_hidden_tenant_can_be_given_another_to_ask_as(tmp_path: Path) -> None:
    acme = Identity(tenant="Acme", role="agent")
    hidden = pack(lost(identity=acme), case(identity=acme), privacy=Privacy(texts="redacted"))
    added = add(hidden, tmp_path / "cases.jsonl", Review("me", "missed", tenant="test"))
    assert added.identity == Identity(tenant="test", role="agent")
    assert case_of(hidden, REVIEW).identity.tenant == "tenant 1"


def test_a_damaged_ledger_is_named_with_its_line(tmp_path: Path) -> None:
    target = tmp_path / "cases.jsonl"
    assert reviews(target) == {}
    ledger(target).write_text(json.dumps({"case": "a"}) + "\n")
    with pytest.raises(InputError, match=r"cases\.reviews\.jsonl line 1 is no review"):
        reviews(target)


SHOWN = Prompt(ids=("gold",))


@pytest.mark.parametrize(
    ("trace", "reason"),
    [
        (lost(prompt=SHOWN, refused=True), "it refused, and an answer was expected"),
        (lost(prompt=SHOWN, claims=(Claim(id="1", label="contradicted"),)), "claim '1' is contradicted"),
        (lost(prompt=SHOWN, citations=(Citation(id="x"),)), "it cites 'x', which was not in the prompt"),
        (lost(prompt=SHOWN, citations=(Citation(id="gold", supports="no"),)), "'gold' does not support the claim"),
        (lost(prompt=Prompt(ids=())), "not shown to the model: 'gold'"),
        (Trace(case="q", identity=AGENT), "not shown to the model: 'gold' (no stages)"),
    ],
)
def test_each_fault_fails_with_its_reason(trace: Trace, reason: str) -> None:
    outcome = check(case(), trace)
    assert outcome.verdict == "fail"
    assert reason in str(outcome)


def test_a_refusal_that_was_expected() -> None:
    asked = case(expected="refuse")
    outcomes = [check(asked, lost(refused=refused)) for refused in (True, False, None)]
    assert [outcome.verdict for outcome in outcomes] == ["pass", "fail", "fail"]


def test_a_hard_event_fails_whatever_was_answered() -> None:
    leaked = (Item(id="gold", rank=1, acl="denied"),)
    trace = Trace(case="q", identity=AGENT, stages=(Stage(kind="retrieve", returned=1, items=leaked),))
    assert check(case(), trace).reasons == ("unauthorised in case 'q': gold in retrieve",)


def test_what_cannot_be_scored_is_neither_passed_nor_failed() -> None:
    stale = case(valid_until=datetime(2026, 2, 1, tzinfo=UTC))
    assert check(stale, lost(time=NOW)).verdict == "not scored"
    assert check(case(), lost("Another question?")).verdict == "not scored"
    assert check(case(), lost(identity=Identity(role="guest"))).verdict == "not scored"


def test_a_case_that_was_not_run_fails_and_traces_of_two_runs_are_refused() -> None:
    assert str(check_all([case()], [])[0]) == "fail: q: no trace: it was not run"
    with pytest.raises(InputError, match="case 'q' has traces of the runs 'a' and 'b'"):
        check_all([case()], [lost(run="a"), lost(run="b")])
    with pytest.raises(InputError, match="the trace is of case 'other', not of 'q'"):
        check(case(), lost(case="other"))


def test_a_pass_by_a_tie_alone_says_so() -> None:
    kept, rival = Item(id="gold", rank=1, score=1.0), Item(id="h", kept=False, score=1.0, drop_reason="tie_cut")
    routes = (Stage(kind="retrieve", returned=2, items=(Item(id="gold", rank=1), Item(id="h", rank=2))),)
    trace = lost(stages=(*routes, Stage(kind="rerank", requested=1, returned=1, items=(kept, rival))))
    outcome = check(case(), trace)
    assert (outcome.verdict, outcome.by_ties) == ("pass", ("'gold' has the score of 'h', which rerank cut off",))
    either = case(requires=(Requirement(any_of=(Evidence(id="gold"), Evidence(id="sure"))),))
    assert check(either, trace.model_copy(update={"prompt": Prompt(ids=("gold", "sure"))})).by_ties == ()


def test_likeness_against_counting_by_hand() -> None:
    """Of abcd, bcde and bcdx, the two texts have one in common."""
    assert likeness(wording("abcde"), wording("abcdx")) == 1 / 3


@given(text=st.text(max_size=30))
def test_spelling_does_not_count(text: str) -> None:
    assert likeness(wording(text), wording(f"  {text} ?")) == 1.0


def test_texts_without_spaces_between_words_are_compared_too() -> None:
    asked = Case(id="a", query="如何重置管理员密码")
    assert near_duplicate(asked, [Case(id="b", query="如何重置管理员密码？")]) is not None
    assert near_duplicate(asked, [Case(id="b", query="发票在哪里下载")]) is None


def test_numbers_of_a_text_and_a_threshold_outside() -> None:
    assert numbers("A320 and 1,000.5") == ("320", "1,000.5")
    for threshold in (0, 1.5, True):
        with pytest.raises(ContractError, match="threshold must be above 0 and at most 1"):
            near_duplicate(case(), [], threshold=threshold)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], max_examples=60)
@given(trace=TRACES, held=CASES, same=st.booleans(), expected=st.sampled_from(["answer", "refuse", None]))
def test_whatever_is_packed_it_becomes_a_case_that_fails_on_it_or_nothing_is_written(
    trace: Trace, held: Case, same: bool, expected: Any, tmp_path: Path
) -> None:
    """Of cases and traces of every shape."""
    held = held.model_copy(update={"id": trace.case})
    if same:
        trace = trace.model_copy(update={"query": held.query, "identity": held.identity})
    found = pack(trace, held, privacy=Privacy(texts="plain", tenants=False))
    for path in tmp_path.iterdir():
        path.unlink()
    try:
        added = add(found, tmp_path / "c.jsonl", Review("me", "wrong", expected=expected, evidence=("x",)))
    except InputError:
        assert list(tmp_path.iterdir()) == []
        return
    assert read_cases(tmp_path / "c.jsonl") == (added,)
    again = trace.model_copy(update={"case": added.id, "query": added.query, "identity": added.identity})
    assert check(added, again).verdict == "fail"


def test_failures_that_a_stage_still_held_are_found_and_held_out_ones_are_passed_over() -> None:
    one = case()
    found = list(lost_after([one], [lost()], "rerank"))
    assert found == []
    assert list(lost_after([one], [lost()], "retrieve")) == [(one, lost())]
    assert list(lost_after([case(split="holdout")], [lost()], "retrieve")) == []
    assert list(lost_after([one], [lost(prompt=Prompt(ids=("gold",)))], "retrieve")) == []
    assert list(lost_after([one], [lost().model_copy(update={"case": "another"})], "retrieve")) == []
    two = (*NEEDED, Requirement(any_of=(Evidence(id="more"),)))
    assert list(lost_after([case(requires=two)], [lost()], "retrieve")) == []
