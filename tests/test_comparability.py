"""Runs that did not ask the same thing are refused before any number; the first difference is named."""

import datetime
from typing import Any

import pytest

from rankwork.diagnosis.comparability import check_comparable
from rankwork.diagnosis.funnel import funnel
from rankwork.diagnosis.run_changes import run_changes
from rankwork.errors import InputError
from rankwork.trace import Case, Evidence, Identity, Item, Requirement, Stage, Trace

NOON = datetime.datetime(2026, 1, 1, 12, tzinfo=datetime.UTC)
BASE: dict[str, Any] = {"query": "why?", "identity": Identity(tenant="a", role="dev"), "time": NOON}


def runs(**change: Any) -> tuple[list[Trace], list[Trace]]:
    one = [Trace(case=name, snapshot={"data": "1", "reranker": "a"}, **BASE) for name in ("p", "q")]
    return one, [one[0], one[1].model_copy(update=change)]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"query": "how?"}, "case 'q': query 'why\\?' and 'how\\?' differ"),
        ({"identity": Identity(tenant="a", role="hr")}, "case 'q': identity .*role 'dev'.* and .*role 'hr'.* differ"),
        ({"time": NOON.replace(hour=13)}, "case 'q': time '2026-01-01 12:00:00"),
        ({"time": None}, "case 'q': time .* and none differ"),
        ({"unit": "document"}, "case 'q': unit 'chunk' and 'document' differ"),
        ({"protocol": "trec"}, "case 'q': protocol 'rankwork' and 'trec' differ"),
        ({"snapshot": {"data": "1", "reranker": "b"}}, "the run mixes snapshots: reranker is 'a' for case 'p' and 'b'"),
        ({"case": "r"}, "case 'q' is in the baseline alone"),
        ({"case": "p"}, "case 'p' has two traces"),
    ],
)
def test_the_first_difference_is_named(change: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        check_comparable(*runs(**change), may_differ=["reranker"])


def test_only_versions_that_are_compared_may_differ() -> None:
    one, _ = runs()
    other = [trace.model_copy(update={"snapshot": {"data": "1", "reranker": "b"}}) for trace in one]
    found = check_comparable(one, other, may_differ=["reranker"])
    assert (found.cases, dict(found.differs)) == (("p", "q"), {"reranker": ("a", "b")})
    with pytest.raises(InputError, match="the snapshots differ in reranker: 'a' and 'b'"):
        check_comparable(one, other)
    newer = [trace.model_copy(update={"snapshot": {"data": "2", "reranker": "b"}}) for trace in one]
    with pytest.raises(InputError, match="the snapshots differ in data: '1' and '2'"):
        check_comparable(one, newer, may_differ=["reranker"])
    without = [trace.model_copy(update={"snapshot": {"data": "1"}}) for trace in one]
    assert str(check_comparable(one, without, may_differ=["reranker"])).endswith("reranker 'a' -> none")
    assert str(check_comparable(one, one)) == "2 cases; versions that differ: none"


def test_what_was_lost_and_found_between_two_runs() -> None:
    """Evidence that arrived before and not now is named with its diagnosis in the candidate."""
    needs = tuple(Requirement(any_of=(Evidence(id=d),)) for d in ("a", "b"))
    cases = [Case(id="q", query="why?", requires=needs)]
    baseline, candidate = (
        funnel(cases, [Trace(case="q", stages=(listing("bm25", *first), listing("dense", *second)))])
        for first, second in ((("a", "x"), ("x",)), (("b", "x"), ("x",)))
    )
    found = run_changes(baseline, candidate)
    assert dict(found.moves) == {("arrived", "retrieve"): 1, ("retrieve", "arrived"): 1}
    assert [each.evidence for each in found.lost] == ["a"]
    assert [each.evidence for each in found.found] == ["b"]
    assert found.to_pandas().to_dict() == {
        "arrived": {"arrived": 0, "retrieve": 1},
        "retrieve": {"arrived": 1, "retrieve": 0},
    }
    other = funnel(cases, [Trace(case="q", query="why?", unit="document", stages=(listing("bm25", "a"),))])
    with pytest.raises(InputError, match="query '' and 'why\\?' differ"):
        run_changes(baseline, other)


def listing(name: str, *ids: str) -> Stage:
    items = tuple(Item(id=d, rank=rank) for rank, d in enumerate(ids, 1))
    return Stage(kind="retrieve", route=name, returned=len(ids), items=items)
