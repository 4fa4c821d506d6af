"""What is odd about a trace is told, kind by kind; what is in order is silent."""

from datetime import UTC, datetime
from typing import Any

import pytest

from rankwork.diagnosis.remarks import remarks, revisions
from rankwork.trace import Case, Identity, Item, Prompt, Stage, Trace


def route(*ids: str, scores: Any = None, items: Any = (), **fields: Any) -> Stage:
    kept = [Item(id=name, rank=rank, score=scores and scores[rank - 1]) for rank, name in enumerate(ids, 1)]
    fields = {"kind": "retrieve", "route": "x", "returned": len(ids) + len(items), **fields}
    return Stage(**fields, items=(*kept, *items))


def kinds(*stages: Stage, **fields: Any) -> list[str]:
    return [remark.kind for remark in remarks(Trace(case="c", stages=stages, **fields))]


def versions(*held: str, **fields: Any) -> list[Item]:
    ranked = {"rank": None, "kept": False, **fields} if fields else {}
    return [
        Item(**{"id": f"d{n}", "rank": n, "source": "s", "revision": name, **ranked}) for n, name in enumerate(held, 1)
    ]


def test_a_clean_trace_is_silent() -> None:
    stage = route("a", "b", scores=[2, 1], requested=2, order="id_asc")
    assert kinds(stage) == []


def test_one_source_at_two_revisions_is_told() -> None:
    (found,) = remarks(Trace(case="c", stages=(route(items=versions("v2", "v1", "v2")),)))
    assert (found.kind, str(found)) == ("mixed_revisions", "source 's' stands in revisions v1, v2")


def test_a_revision_that_was_dropped_as_superseded_is_no_mixture() -> None:
    old = versions("v1", drop_reason="superseded_revision")
    new = Item(id="n", rank=1, source="s", revision="v2")
    trace = Trace(case="c", stages=(route(items=[new, *old], returned=1),))
    assert revisions(trace) == {"s": ("v2",)}
    assert remarks(trace) == ()


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({}, True),
        ({"complete": True}, False),
        ({"status": "timeout"}, False),
        ({"requested": 2}, False),
        ({"requested": None}, False),
    ],
)
def test_a_list_shorter_than_asked_is_told(fields: Any, told: bool) -> None:
    assert kinds(route("a", "b", **{"requested": 5, **fields})) == ["shorter_than_asked"] * told


@pytest.mark.parametrize(("order", "told"), [("id_asc", True), ("id_desc", False), ("input", False), (None, False)])
def test_ties_against_the_declared_order_are_told(order: Any, told: bool) -> None:
    assert kinds(route("z", "b", "a", scores=[2, 1, 1], order=order)) == ["order_contradicted"] * told


def test_a_constant_list_is_told() -> None:
    assert kinds(route("a", "b", scores=[1, 1])) == ["constant_scores"]
    assert kinds(route("a", scores=[1])) == kinds(route("a", "b")) == []


@pytest.mark.parametrize(
    ("shown", "detail"),
    [
        (["a", "b"], None),
        (["b", "a"], "the prompt has the context in another order"),
        (["a", "x"], "the prompt adds 'x' and lacks 'b' against the context"),
        (["a", "b", "v", "w", "x", "y"], "the prompt adds 'v', 'w', 'x' and 1 more against the context"),
    ],
)
def test_a_prompt_that_is_not_the_context_is_told(shown: list[str], detail: str | None) -> None:
    stages = route("a", "b"), route("a", "b", kind="context", route="")
    found = remarks(Trace(case="c", stages=stages, prompt=Prompt(ids=tuple(shown))))
    assert [remark.detail for remark in found] == ([detail] if detail else [])
    assert kinds(*stages) == []


def test_a_trace_of_another_question_identity_or_time_is_told() -> None:
    case = Case(id="c", query="?", identity=Identity(role="hr"), time=datetime(2026, 1, 1, tzinfo=UTC))
    same = Trace(case="c", query="?", identity=case.identity, time=case.time)
    assert remarks(same, case) == ()
    other = same.model_copy(update={"query": "!", "identity": Identity(), "time": None})
    assert [remark.kind for remark in remarks(other, case)] == ["case_differs"] * 3
