"""A slice is what its cases say, and what shares text or source counts once."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankwork.decision.slices import clusters_of, slices_of
from rankwork.errors import InputError
from rankwork.trace import Case, Identity

CASES = {
    "a": Case(id="a", query="one", slices=("x", "y"), identity=Identity(tenant="t1", role="r"), expected="refuse"),
    "b": Case(id="b", query="two", slices=("y",), identity=Identity(tenant="t2"), split="holdout", cluster="k"),
    "c": Case(
        id="c", query="One ", identity=Identity(tenant="t1"), origin="replay", time=datetime(2026, 1, 1, tzinfo=UTC)
    ),
}
QUERIES = ["c", "a", "b", "without a case"]


@pytest.mark.parametrize(
    ("name", "members"),
    [
        ("all", {"all": [0, 1, 2, 3]}),
        ("y", {"y": [1, 2]}),
        ("tenant=t1", {"tenant=t1": [0, 1]}),
        ("tenant=*", {"tenant=t1": [0, 1], "tenant=t2": [2]}),
        ("role=*", {"role=r": [1]}),
        ("split=holdout", {"split=holdout": [2]}),
        ("origin=replay", {"origin=replay": [0]}),
        ("expected=refuse", {"expected=refuse": [1]}),
    ],
)
def test_a_slice_holds_its_queries(name: str, members: dict[str, list[int]]) -> None:
    assert {part: places.tolist() for part, places in slices_of(name, QUERIES, CASES).items()} == members


@pytest.mark.parametrize("name", ["z", "tenant=", "tenant=t3", "colour=*", "colour=red", "x "])
def test_a_slice_that_matches_nothing_is_refused_with_what_there_is(name: str) -> None:
    with pytest.raises(InputError, match="matches no query; the cases have x, y, and tenant=, role="):
        slices_of(name, QUERIES, CASES)


def test_clusters_are_by_name_then_by_text_then_by_query() -> None:
    assert clusters_of(QUERIES, CASES) == ["text one", "text one", "cluster k", "query without a case"]


@given(st.lists(st.sampled_from(["", "k", "l"]), min_size=1, max_size=8))
def test_two_queries_share_a_cluster_where_their_cases_say_so(names: list[str]) -> None:
    cases = {f"q{n}": Case(id=f"q{n}", query=f"text {n}", cluster=name) for n, name in enumerate(names)}
    found = clusters_of(list(cases), cases)
    for a, name in enumerate(names):
        for b, other in enumerate(names):
            assert (found[a] == found[b]) == (a == b or (name == other != ""))
