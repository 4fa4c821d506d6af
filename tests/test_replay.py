"""Replay packages: everything that a funnel needs survives, what is hidden stays hidden, and damage is noticed."""

import json
import typing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from rankwork.decision.paths import path, shown, told
from rankwork.decision.pseudonyms import ROLES, Privacy, pseudonyms
from rankwork.decision.redaction import redacted
from rankwork.decision.replay import Package, fault, gaps, load, pack, save
from rankwork.decision.replayed import replayed
from rankwork.diagnosis.funnel import Funnel, funnel
from rankwork.digest import digest
from rankwork.errors import InputError
from rankwork.evidence.tokens import Tokens
from rankwork.trace import (
    CacheHit,
    Case,
    Claim,
    Events,
    Evidence,
    Identity,
    Item,
    Prompt,
    Requirement,
    Stage,
    Trace,
)
from tests.traces import CASES, JSON, TRACES

KEY = Tokens("a key of sixteen or more")
OTHER = Tokens("another key of sixteen")
PRIVACIES = st.builds(
    Privacy, texts=st.sampled_from(["digest", "redacted", "plain"]), tenants=st.booleans(), ids=st.booleans()
)
SECRET = "Why was ann@example.org locked out of plan 7?"
CASE = Case(
    id="q",
    query=SECRET,
    identity=Identity(tenant="Acme", role="agent"),
    requires=(Requirement(any_of=(Evidence(id="gold", quote="Acme is locked"),)),),
    points=("Acme is locked",),
)
RETRIEVED = (Item(id="other", rank=1, score=2.0, tenant="Acme"), Item(id="gold", rank=2, score=1.0))
TRACE = Trace(
    case="q",
    query=SECRET,
    identity=Identity(tenant="Acme", role="agent"),
    snapshot={"index": "2026-03"},
    stages=(
        Stage(kind="retrieve", route="bm25", requested=2, returned=2, items=RETRIEVED, latency_ms=3.5),
        Stage(
            kind="rerank",
            returned=1,
            order="id_asc",
            parameters={"rewritten": SECRET, "model": "small"},
            items=(Item(id="other", rank=1, score=9.0), Item(id="gold", kept=False, drop_reason="rerank_cut")),
        ),
    ),
    prompt=Prompt(ids=("other",), tokens=20),
    answer="Acme paid late.",
    claims=(Claim(id="1", text="Acme paid late.", label="contradicted", point="Acme is locked"),),
    events=Events(cache_hits=(CacheHit(key=SECRET, tenant="Acme"),), cache_lookups=1),
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], max_examples=60)
@given(trace=TRACES, case=CASES, privacy=PRIVACIES, sealed=st.booleans())
def test_a_package_keeps_every_rank_score_and_reason(
    trace: Trace, case: Case, privacy: Privacy, sealed: bool, tmp_path: Path
) -> None:
    case = case.model_copy(update={"id": trace.case})
    package = pack(trace, case, privacy=privacy, tokens=KEY)
    save(package, tmp_path / "p.json", tokens=KEY if sealed else None)
    found = load(tmp_path / "p.json")
    assert (found.case, found.trace, found.digest) == (package.case, package.trace, package.digest)
    assert found.seal == ("not checked" if sealed else "none")
    assert facts(found.trace) == facts(trace)
    if not privacy.ids:
        assert names(found.trace) == names(trace)
    assert len(set(names(found.trace))) == len(set(names(trace)))


def facts(trace: Trace) -> list[Any]:
    """All of a trace that is no text and no ID."""
    fields = ("name", "requested", "returned", "complete", "order", "latency_ms", "status")
    stages = [[getattr(stage, field) for field in fields] for stage in trace.stages]
    items = [item for stage in trace.stages for item in stage.items]
    return [stages, [(item.rank, item.score, item.kept, item.drop_reason, item.acl) for item in items]]


def names(trace: Trace) -> list[tuple[str, str | None]]:
    return [(item.id, item.previous_id) for stage in trace.stages for item in stage.items]


@pytest.mark.parametrize("texts", ["digest", "redacted"])
def test_nothing_hidden_is_in_the_file(texts: Any, tmp_path: Path) -> None:
    package = pack(TRACE, CASE, privacy=Privacy(texts=texts), tokens=KEY, words=("Acme",))
    save(package, tmp_path / "p.json")
    text = (tmp_path / "p.json").read_text()
    assert "Acme" not in text
    assert "ann@" not in text
    assert KEY.key not in text
    assert ("plan 7" in text) == (texts == "redacted")
    assert '"role": "agent"' in text
    assert '"model": "small"' in text


@pytest.mark.parametrize("texts", ["digest", "plain"])
def test_ids_are_hidden_where_that_is_asked_for(texts: Any, tmp_path: Path) -> None:
    """Also where the parameters of a stage name them."""
    context = Stage(kind="context", returned=0, parameters={"stand_in": {"gold": "other"}})
    trace = TRACE.model_copy(update={"stages": (*TRACE.stages, context), "answer": None, "claims": None})
    case = CASE.model_copy(update={"requires": (Requirement(any_of=(Evidence(id="gold"),)),)})
    package = pack(trace, case, privacy=Privacy(texts=texts, ids=True), tokens=KEY)
    save(package, tmp_path / "p.json")
    assert "gold" not in (tmp_path / "p.json").read_text()
    assert package.case is not None
    gold = next(iter(package.case.gold))
    assert [step.rank for step in path(gold, package.trace)] == [2, None, None]


def test_equal_texts_stay_equal_under_one_key_and_differ_under_another() -> None:
    one, again, other = (pack(TRACE, CASE, tokens=key) for key in (KEY, KEY, OTHER))
    assert one == again
    assert one.trace.query == KEY.of(SECRET)
    assert one.digest != other.digest
    assert one.trace.claims is not None
    assert one.case is not None
    assert one.trace.claims[0].point == one.case.points[0]


def test_tenants_without_a_key_are_numbered() -> None:
    found = pack(TRACE, privacy=Privacy(texts="redacted")).trace
    assert (found.identity.tenant, found.stages[0].items[0].tenant) == ("tenant 1", "tenant 1")
    kept = pack(TRACE, privacy=Privacy(texts="plain", tenants=False)).trace
    assert kept == TRACE


def test_a_digest_without_a_key_is_refused() -> None:
    for privacy in (Privacy(), Privacy(texts="plain", ids=True)):
        with pytest.raises(InputError, match="digests need a key"):
            pack(TRACE, privacy=privacy)
    with pytest.raises(InputError, match="the trace is of case 'q', not of 'r'"):
        pack(TRACE, Case(id="r", query="?"), tokens=KEY)


def test_every_field_that_can_hold_text_has_its_role() -> None:
    """A new field of the schema is hidden, or declared to be a name, before it can leave the house."""
    assert {place for model in (Case, Trace) for place in texts_of(model, set())} == set(ROLES)


def texts_of(model: type[BaseModel], seen: set[type[BaseModel]]) -> set[str]:
    """The fields of a model, and of those that it holds, whose type lets a text in."""
    if model in seen:
        return set()
    seen.add(model)
    found: set[str] = set()
    for name, field in model.model_fields.items():
        kinds = set(leaves(field.annotation))
        found |= {f"{model.__name__}.{name}"} if {str, Any} & kinds else set()
        for kind in kinds:
            if isinstance(kind, type) and issubclass(kind, BaseModel):
                found |= texts_of(kind, seen)
    return found


def leaves(annotation: Any) -> list[Any]:
    """The plain types that an annotation is made of; of a Literal none."""
    if typing.get_origin(annotation) is typing.Literal:
        return []
    parts = typing.get_args(annotation)
    return [leaf for part in parts for leaf in leaves(part)] if parts else [annotation]


def saved(tmp_path: Path, **options: Any) -> Path:
    target = tmp_path / "p.json"
    save(pack(TRACE, CASE, tokens=KEY), target, **options)
    return target


def edited(target: Path, change: Any, *, again: bool = False) -> Path:
    """The file with its object changed; with `again`, the digest is taken anew, as a forger would."""
    held = json.loads(target.read_text())
    change(held)
    if again:
        held["digest"] = digest({name: value for name, value in held.items() if name not in ("digest", "seal")})
    target.write_text(json.dumps(held))
    return target


def swap_ranks(held: Any) -> None:
    items = held["trace"]["stages"][0]["items"]
    items[0]["id"], items[1]["id"] = items[1]["id"], items[0]["id"]


@pytest.mark.parametrize(
    "change",
    [
        swap_ranks,
        lambda held: held["trace"].update(refused=True),
        lambda held: held["trace"]["stages"][1]["items"][1].update(drop_reason="quota"),
        lambda held: held["trace"]["snapshot"].update(index="2026-04"),
        lambda held: held["case"].update(expected="refuse"),
        lambda held: held["privacy"].update(texts="plain"),
        lambda held: held.pop("digest"),
        lambda held: held.update(digest="0" * 64),
    ],
)
def test_a_changed_package_is_noticed(change: Any, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"^p\.json: .*it was changed"):
        load(edited(saved(tmp_path), change))


def test_every_byte_that_changes_the_content_is_noticed(tmp_path: Path) -> None:
    """Every seventh byte in turn becomes another letter."""
    target = saved(tmp_path)
    whole, package = target.read_bytes(), load(target)
    for place in range(0, len(whole), 7):
        other = ord("x") if whole[place] != ord("x") else ord("y")
        target.write_bytes(whole[:place] + bytes([other]) + whole[place + 1 :])
        with pytest.raises(InputError, match=r"p\.json"):
            load(target)
    target.write_bytes(whole)
    assert load(target) == package


def test_a_forger_without_the_key_cannot_seal(tmp_path: Path) -> None:
    target = saved(tmp_path, tokens=KEY)
    assert load(target, tokens=KEY).seal == "right"
    assert fault(target, tokens=KEY) is None
    assert load(target, tokens=OTHER).seal == "not checked"
    forged = edited(target, swap_ranks, again=True)
    assert load(forged).seal == "not checked"
    assert fault(forged, tokens=KEY) == "p.json: its seal is not of this content: it was changed"
    with pytest.raises(InputError, match="its seal is not of this content: it was changed"):
        load(forged, tokens=KEY)
    with pytest.raises(InputError, match="its seal is missing"):
        load(edited(forged, lambda held: held.update(seal=None)), tokens=KEY)
    with pytest.raises(InputError, match="sealed with the key that it was made with"):
        save(pack(TRACE, tokens=KEY), target, tokens=OTHER)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda held: held.update(format="rankwork replay 2"), "is no replay package"),
        (lambda held: held.update(path="../../etc/passwd"), "path: there is no such field"),
        (lambda held: held["privacy"].update(names=True), "privacy"),
        (lambda held: held["trace"].update(extra=1), "trace.extra: there is no such field"),
        (lambda held: held["trace"]["stages"][0]["items"].reverse(), "has rank"),
        (lambda held: held["trace"].update(case="r"), "the trace is of case 'r', not of 'q'"),
        (lambda held: held.pop("trace"), "trace: this field must be there"),
        (lambda held: held.update(trace=[]), "trace"),
    ],
)
def test_what_is_no_package_is_refused_though_its_digest_is_right(change: Any, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"p\.json") as caught:
        load(edited(saved(tmp_path), change, again=True))
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is no JSON"),
        (b"PK\x03\x04", "is no JSON"),
        (b"\xff\xfe{", "is no JSON"),
        (b"[1]", "is no replay package"),
        (b"null", "is no replay package"),
        (b'{"format": 1, "format": 2}', "the key 'format' stands twice"),
        (b'{"format": NaN}', "NaN is no number of JSON"),
        (b'{"format": ' + b"[" * 100_000, "nested too deeply"),
        (b'{"format": "rankwork replay 1", "privacy": {}, "trace": {"case": "\\ud800"}}', "p.json"),
        (b'{"format": "rankwork replay 1", "key": ' + b"9" * 5000 + b"}", "p.json"),
    ],
)
def test_what_cannot_be_read_is_refused_by_name(content: bytes, message: str, tmp_path: Path) -> None:
    target = tmp_path / "p.json"
    target.write_bytes(content)
    with pytest.raises(InputError, match=r"p\.json") as caught:
        load(target)
    assert message in str(caught.value)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(body=st.dictionaries(st.sampled_from(["privacy", "key", "case", "trace", "x"]), JSON))
def test_any_object_with_the_right_digest_is_read_or_refused(body: dict[str, Any], tmp_path: Path) -> None:
    held = {"format": "rankwork replay 1", **body}
    (tmp_path / "p.json").write_text(json.dumps({**held, "digest": digest(held)}))
    assert (fault(tmp_path / "p.json") or "p.json").startswith("p.json")


def test_files_that_are_missing_huge_or_cannot_be_written_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        load(tmp_path / "none.json")
    huge = tmp_path / "huge.json"
    with huge.open("wb") as file:
        file.truncate((1 << 26) + 1)
    with pytest.raises(InputError, match="a package has"):
        load(huge)
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="cannot be written"):
        save(pack(TRACE, tokens=KEY), tmp_path / "file" / "p.json")
    assert [each.name for each in tmp_path.iterdir() if each.name.startswith(".")] == []


def test_gaps_say_what_a_replay_cannot_show() -> None:
    empty = gaps(pack(Trace(case="q"), tokens=KEY))
    assert [gap.partition(":")[0] for gap in empty] == [
        "no case", "no time", "no role", "no versions", "no stages", "no prompt", "no output"
    ]  # fmt: skip
    assert gaps(pack(TRACE, CASE, tokens=KEY))[-1].startswith("no rule for ties in retrieve:bm25:")


def test_a_path_names_every_stage_and_follows_a_parent() -> None:
    parent = Item(id="page", previous_id="gold", rank=1)
    stages = (TRACE.stages[0], Stage(kind="context", returned=1, items=(parent, Item(id="gold", kept=False))))
    trace = Trace(case="q", stages=stages)
    assert [(step.stage, step.id, step.rank) for step in path("gold", trace)] == [
        ("retrieve:bm25", "gold", 2), ("context", "page", 1)
    ]  # fmt: skip
    assert shown("gold", trace)
    assert told(path("gold", TRACE)) == "rank 2 of retrieve:bm25, dropped by rerank (rerank_cut)"
    assert told(path("none", TRACE)) == "in none of retrieve:bm25, rerank"
    assert told(()) == "no stages"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("write to a.b+c@mail.example.com.", "write to [email]."),
        ("see https://example.org/u/17?x=1 now", "see [url] now"),
        ("IBAN DE89 3704 0044 0532 0130 00 please", "IBAN [account] please"),
        ("call +49 (0)30 123-4567", "call [number]"),
        ("customer 12345678", "customer [number]"),
        ("key sk-a1b2c3d4e5f6g7h8i9j0k1l2", "key [secret]"),
        ("error 502 in 2.13.0 on 2026-03-01 at 12:30", "error 502 in 2.13.0 on 2026-03-01 at 12:30"),
        ("numpy.linalg.norm of a long_function_name_without_digits", None),
        ("", None),
    ],
)
def test_redaction_takes_what_points_at_a_person_and_leaves_the_question(text: str, expected: str | None) -> None:
    assert redacted(text) == (text if expected is None else expected)


@pytest.mark.parametrize("text", ["a" * 300_000, "a@" * 100_000, "1 " * 100_000, "DE89" + "A" * 300_000, "-" * 300_000])
def test_long_texts_without_an_end_are_redacted_too(text: str) -> None:
    """In a time that grows with their length and not with its square."""
    assert len(redacted(text)) <= len(text)


def test_words_are_redacted_whole_and_in_any_case() -> None:
    assert redacted("ANN and Anna", ["ann", " "]) == "[name] and Anna"
    assert redacted("Ann Lee, Ann", ["Ann", "Ann Lee"]) == "[name], [name]"


@given(text=st.text(max_size=40))
def test_redaction_is_done_once(text: str) -> None:
    assert redacted(redacted(text)) == redacted(text)


def test_pseudonyms_of_nothing_are_nothing() -> None:
    assert pseudonyms(Privacy(), KEY).of(Trace(case="q")) == Trace(case="q")
    assert isinstance(pack(Trace(case="q"), tokens=KEY), Package)


@pytest.mark.parametrize("texts", ["digest", "redacted", "plain"])
@pytest.mark.parametrize("ids", [True, False])
def test_the_funnel_of_a_package_is_that_of_its_trace(texts: Any, ids: bool) -> None:
    """Same ranks, same row of the matrix, whatever was hidden."""
    found = replayed(pack(TRACE, CASE, privacy=Privacy(texts=texts, ids=ids), tokens=KEY)).funnel
    assert found is not None
    assert rows(found) == rows(funnel([CASE], [TRACE])) != []


@pytest.mark.slow
@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much], max_examples=30)
@given(trace=TRACES, case=CASES, privacy=PRIVACIES)
def test_so_is_the_funnel_of_a_package_of_any_shape(trace: Trace, case: Case, privacy: Privacy) -> None:
    """Whatever the funnel makes of it; what it refuses, it refuses in a package too."""
    assume(trace.routes)
    shared = {"query": case.query, "identity": case.identity, "time": case.time, "protocol": "rankwork"}
    trace, case = trace.model_copy(update=shared), case.model_copy(update={"id": trace.case})
    found = replayed(pack(trace, case, privacy=privacy, tokens=KEY))
    try:
        expected = funnel([case], [trace])
    except InputError:
        assert found.funnel is None
        return
    assert found.funnel is not None
    assert rows(found.funnel) == rows(expected)


def rows(found: Funnel) -> list[Any]:
    return [(each.row, each.cause, [standing.rank for standing in each.facts.standings]) for each in found.diagnoses()]
