"""What the schema of cases and traces refuses, each with its reason, and what it lets pass."""

import json
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from pydantic import ValidationError

from rankwork.inputs.refusals import refusal
from rankwork.trace import Case, Claim, Evidence, Item, Stage, Trace, Usage, schema
from tests.workbooks import rankwork


def kept(*ids: str, scores: Any = None) -> list[dict[str, Any]]:
    return [
        {"id": name, "rank": rank, "score": None if scores is None else scores[rank - 1]}
        for rank, name in enumerate(ids, 1)
    ]


def stage(*ids: str, kind: str = "retrieve", **fields: Any) -> dict[str, Any]:
    return {"kind": kind, "returned": len(ids), "items": kept(*ids), **fields}


def said(model: Any, **fields: Any) -> str:
    with pytest.raises(ValidationError) as raised:
        model.model_validate(fields)
    return refusal(raised.value)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"id": ""}, "id: string should have at least 1 character, got ''"),
        ({"rank": None}, "item 'a' is kept and has no rank"),
        ({"rank": 0}, "rank: input should be greater than 0, got 0"),
        ({"drop_reason": "quota"}, "item 'a' is kept, yet has the drop reason 'quota'"),
        ({"kept": False}, "item 'a' is dropped, yet has rank 1"),
        ({"score": float("inf")}, "score: input should be a finite number, got inf"),
        ({"acl": "maybe"}, "acl: input should be 'allowed' or 'denied', got 'maybe'"),
        ({"colour": "red"}, "colour: there is no such field"),
    ],
)
def test_an_item_agrees_with_itself(fields: dict[str, Any], message: str) -> None:
    assert said(Item, **{"id": "a", "rank": 1, **fields}) == message


def test_an_unknown_reason_is_refused_and_unknown_is_a_reason() -> None:
    """Nobody wrote it down (None), and somebody wrote that it is unknown: both are allowed, inventions are not."""
    assert "drop_reason: input should be 'not_in_corpus'" in said(Item, id="a", kept=False, drop_reason="bored")
    assert Item(id="a", kept=False, drop_reason="unknown").drop_reason == "unknown"
    assert Item(id="a", kept=False).drop_reason is None


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"returned": 3}, "stage retrieve: 3 items claimed, 2 kept items listed"),
        ({"returned": 1}, "stage retrieve: 1 items claimed, 2 kept items listed"),
        ({"requested": 1}, "stage retrieve: 2 items returned where 1 were asked for"),
        ({"requested": 0}, "requested: input should be greater than 0, got 0"),
        ({"items": kept("b", "b")}, "stage retrieve: item 'b' stands at two ranks"),
        ({"items": kept("a", "b")[::-1]}, "stage retrieve: item 'b' at place 1 has rank 2"),
        (
            {"items": kept("a", "b", scores=[0.1, 0.2]), "route": "bm25"},
            "stage retrieve:bm25: item 'b' at rank 2 has score 0.2, more than 0.1 of rank 1",
        ),
        (
            {"complete": True, "status": "timeout"},
            "stage retrieve: it is said to be complete, yet its status is 'timeout'",
        ),
        ({"kind": "search"}, "kind: input should be 'retrieve', 'fuse', 'rerank' or 'context', got 'search'"),
        (
            {"order": "random"},
            "order: input should be 'id_asc', 'id_desc', 'rank', 'input' or 'inclusive', got 'random'",
        ),
        ({"latency_ms": float("inf")}, "latency_ms: input should be a finite number, got inf"),
        ({"latency_ms": -1}, "latency_ms: input should be greater than or equal to 0, got -1"),
        ({"parameters": {"c": float("nan")}}, "parameters: must be what JSON can hold: "),
        ({"parameters": {"model": object}}, "parameters: must be what JSON can hold: "),
    ],
)
def test_a_stage_agrees_with_its_items(fields: dict[str, Any], message: str) -> None:
    assert said(Stage, **{**stage("a", "b"), **fields}).startswith(message)


@pytest.mark.parametrize("reason", ["below_route_k", "tie_cut", "fusion_cut", "rerank_cut"])
def test_a_list_that_was_cut_is_not_complete(reason: str) -> None:
    dropped = {"id": "z", "kept": False, "drop_reason": reason}
    cut = {**stage("a", "b"), "items": [*kept("a", "b"), dropped]}
    assert said(Stage, **cut, complete=True) == (
        f"stage retrieve: it is said to be complete, yet item 'z' was cut off ({reason})"
    )
    assert not Stage.model_validate(cut).complete


def test_a_score_that_is_missing_between_two_hides_nothing() -> None:
    items = kept("a", "b", "c", scores=[0.1, None, 0.2])
    assert "item 'c' at rank 3 has score 0.2, more than 0.1" in said(Stage, **{**stage("a", "b", "c"), "items": items})


def test_an_inclusive_cut_may_return_more_than_was_asked_for() -> None:
    assert Stage.model_validate(stage("a", "b", requested=1, order="inclusive")).returned == 2


def test_equal_scores_are_no_contradiction() -> None:
    items = kept("b", "a", scores=[0.5, 0.5])
    assert Stage.model_validate({**stage("b", "a"), "items": items}).kept[0].id == "b"


def test_parameters_are_what_json_makes_of_them() -> None:
    found = Stage.model_validate(stage(parameters={"weights": (1, 2.5)}))
    assert found.parameters == {"weights": [1, 2.5]}
    assert Stage.model_validate_json(found.model_dump_json()) == found


BOTH = [stage("a", "b", route="bm25"), stage("b", "c", route="dense")]


@pytest.mark.parametrize(
    ("stages", "message"),
    [
        ([*BOTH, stage("z", kind="fuse")], "stage fuse holds 'z', which no stage before returned"),
        ([*BOTH, stage("a", kind="fuse"), stage("b", kind="rerank")], "stage rerank holds 'b', which no stage before"),
        ([stage("a"), stage("b")], "a stage stands twice: retrieve, retrieve"),
        ([stage("a", kind="rerank"), stage("a")], "stages out of their order: rerank, retrieve"),
        ([stage("a", kind="fuse")], "stage fuse holds 'a', which no stage before returned"),
    ],
)
def test_no_stage_invents(stages: list[dict[str, Any]], message: str) -> None:
    found = said(Trace, case="q", stages=stages)
    assert found.startswith("trace of case 'q': ")
    assert message in found


def test_a_dropped_item_can_be_invented_as_little_as_a_kept_one() -> None:
    invented = {"kind": "fuse", "returned": 0, "items": [{"id": "z", "kept": False, "drop_reason": "fusion_cut"}]}
    assert "stage fuse holds 'z'" in said(Trace, case="q", stages=[*BOTH, invented])


def test_a_route_may_list_what_it_never_returned() -> None:
    """Where the gold was filtered away before the ranking, the route is where that is written."""
    gone = {"id": "z", "kept": False, "drop_reason": "acl_filtered", "acl": "denied"}
    route = {"kind": "retrieve", "returned": 0, "items": [gone]}
    assert Trace.model_validate({"case": "q", "stages": [route]}).routes[0].items[0].acl == "denied"


def test_an_item_may_take_another_id_if_it_says_which_it_had() -> None:
    parent = {"id": "doc", "rank": 1, "previous_id": "b"}
    context = {"kind": "context", "returned": 1, "items": [parent]}
    trace = Trace.model_validate({"case": "q", "stages": [*BOTH, context]})
    found = trace.stage("context")
    assert found is not None
    assert found.kept[0].previous_id == "b"
    assert trace.stage("rerank") is None


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"start": 3}, "evidence 'e' has a start or an end, but not both"),
        ({"end": 3}, "evidence 'e' has a start or an end, but not both"),
        ({"start": 3, "end": 3}, "evidence 'e' ends at 3, where or before it starts (3)"),
        ({"start": 3, "end": 9, "quote": "four"}, "evidence 'e' spans 6 characters, its quote has 4"),
        ({"start": -1, "end": 9}, "start: input should be greater than or equal to 0, got -1"),
        ({"grade": -1}, "grade: input should be greater than or equal to 0, got -1"),
        ({"grade": 1.5}, "grade: input should be a valid integer, got a number with a fractional part, got 1.5"),
    ],
)
def test_evidence_is_anchored_or_not(fields: dict[str, Any], message: str) -> None:
    assert said(Evidence, id="e", **fields) == message


@pytest.mark.parametrize("field", ["source", "revision", "grade"])
def test_evidence_has_one_description(field: str) -> None:
    values = (1, 2) if field == "grade" else ("x", "y")
    needs = [{"any_of": [{"id": "e", field: value}]} for value in values]
    expected = f"case 'c' gives evidence 'e' two values of {field}: {values[0]!r} and {values[1]!r}"
    assert said(Case, id="c", query="?", requires=needs) == expected


def test_one_chunk_may_hold_two_pieces_of_evidence() -> None:
    needs = [{"any_of": [{"id": "e", "start": start, "end": start + 2}]} for start in (0, 5)]
    assert list(Case.model_validate({"id": "c", "query": "?", "requires": needs}).gold) == ["e"]


def test_an_empty_requirement_is_kept_as_one() -> None:
    """No document can meet it: that is for a measure to call undefined, not for the reader to drop."""
    assert Case.model_validate({"id": "c", "query": "?", "requires": [{"any_of": []}]}).requires[0].any_of == ()


def test_a_case_holds_in_order() -> None:
    day = datetime(2026, 1, 1, tzinfo=UTC)
    message = said(Case, id="c", query="?", valid_from=day, valid_until=day)
    assert message.startswith("case 'c' is valid until 2026-01-01 00:00:00+00:00, which is not after")


def test_a_case_holds_from_its_first_moment_up_to_its_last() -> None:
    first, last = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 2, 1, tzinfo=UTC)
    case = Case(id="c", query="?", valid_from=first, valid_until=last)
    second = timedelta(seconds=1)
    assert [case.holds_at(time) for time in (first - second, first, last - second, last, None)] == [
        False, True, True, False, True,
    ]  # fmt: skip


def test_times_are_in_utc_and_comparable() -> None:
    """One without an offset is UTC; one with another is the same moment there."""
    east = timezone(timedelta(hours=5))
    found = [
        Case(id="c", query="?", time=datetime(2026, 1, 1, hour, tzinfo=zone)).time
        for hour, zone in ((7, None), (12, east))
    ]
    assert found[0] == found[1] == datetime(2026, 1, 1, 7, tzinfo=UTC)
    assert Case(id="c", query="?").holds_at(datetime(2026, 1, 1))
    assert "time: 0001-01-01T00:00:00+05:00 lies outside the years 1 to 9999" in said(
        Case, id="c", query="?", time=datetime(1, 1, 1, tzinfo=east)
    )


def test_nothing_changes_after_it_was_read() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        Item(id="a", rank=1).id = "b"


def test_what_was_not_measured_is_none() -> None:
    trace = Trace(case="q")
    assert (trace.prompt, trace.answer, trace.refused, trace.claims, trace.usage, trace.latency_ms) == (None,) * 6
    assert set(trace.events.model_dump().values()) == {None}
    assert Usage(model="m").cost is None
    assert Claim(id="c").label is None


@pytest.mark.parametrize("kind", ["case", "trace"])
def test_the_json_schema_is_one_and_accepts_what_we_write(kind: Any) -> None:
    found = schema(kind)
    Draft202012Validator.check_schema(found)
    value: Any = Trace.model_validate({"case": "q", "stages": BOTH}) if kind == "trace" else Case(id="c", query="?")
    validator = Draft202012Validator(found)
    assert validator.is_valid(json.loads(value.model_dump_json()))
    assert not validator.is_valid({**json.loads(value.model_dump_json()), "colour": "red"})
    assert not validator.is_valid({})


def test_the_command_line_prints_the_schema(tmp_path: Path) -> None:
    done = rankwork("schema", "trace", folder=tmp_path)
    assert json.loads(done.stdout) == schema("trace")
    assert rankwork("schema", "run", folder=tmp_path).returncode == 2
