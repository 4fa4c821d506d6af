"""A cluster has one split, drawn so that it stays; near duplicates across splits are found."""

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankwork.diagnosis.splits import (
    assigned,
    check_clusters,
    cluster_of,
    clustered,
    leaks,
    near_duplicates,
    shingles,
)
from rankwork.errors import ContractError, InputError
from rankwork.trace import Case

SHARES = {"dev": 0.5, "holdout": 0.3, "blind": 0.2}


def asked(*queries: str, splits: Any = ("dev",), **fields: Any) -> list[Case]:
    return [
        Case(id=f"c{place}", query=query, split=splits[place % len(splits)], **fields)
        for place, query in enumerate(queries)
    ]


def test_cases_are_split_by_cluster_in_about_these_shares() -> None:
    cases = [Case(id=f"c{number}", query="?", cluster=f"k{number // 2}") for number in range(4000)]
    drawn = assigned(cases, SHARES)
    check_clusters(drawn)
    counts = Counter(case.split for case in drawn)
    for name, share in SHARES.items():
        assert abs(counts[name] / len(cases) - share) < 0.03  # type: ignore[index]  # 2,000 clusters: four standard errors


def test_a_cluster_keeps_its_split_when_cases_are_added() -> None:
    cases = asked(*"abcdefgh")
    assert assigned(cases, SHARES)[:4] == assigned(cases[:4], SHARES)
    assert assigned(cases, SHARES) != assigned(cases, SHARES, seed=1)


def test_a_share_of_nothing_gets_nothing() -> None:
    drawn = assigned(asked(*"abcdefgh"), {"dev": 1.0, "blind": 0.0})
    assert {case.split for case in drawn} == {"dev"}


@pytest.mark.parametrize(
    ("shares", "message"),
    [
        ({"test": 1.0}, "splits are dev, holdout, blind; there is no 'test'"),
        ({"dev": 0.5}, "shares must not be negative and sum to 1, got {'dev': 0.5}"),
        ({"dev": 1.5, "blind": -0.5}, "shares must not be negative and sum to 1"),
        ({}, "shares must not be negative and sum to 1, got {}"),
        ({"dev": float("nan")}, "shares must not be negative and sum to 1, got {'dev': nan}"),
    ],
)
def test_shares_that_are_none_are_refused(shares: dict[str, float], message: str) -> None:
    with pytest.raises(ContractError) as raised:
        assigned([], shares)
    assert str(raised.value).startswith(message)


def test_a_cluster_in_two_splits_is_refused() -> None:
    cases = asked("a", "b", splits=("dev", "blind"), cluster="k")
    with pytest.raises(InputError, match=r"^cluster k stands in two splits: case 'c0' in dev, 'c1' in blind$"):
        check_clusters(cases)
    check_clusters(asked("a", "b", splits=("dev", "blind")))


def test_a_case_is_its_own_cluster_and_no_other_can_take_its_name() -> None:
    assert cluster_of(Case(id="x", query="?")) != cluster_of(Case(id="y", query="?", cluster="x"))


@given(st.lists(st.text("abcd ?", max_size=9), max_size=6), st.sampled_from([0.1, 0.5, 0.8, 1.0]))
def test_near_duplicates_are_those_of_every_pair(queries: list[str], similarity: float) -> None:
    """Against the definition, pair by pair."""
    cases = asked(*queries)
    expected = {}
    for place, one in enumerate(cases):
        for two in cases[place + 1 :]:
            first, second = shingles(one.query), shingles(two.query)
            if (share := len(first & second) / len(first | second)) >= similarity:
                expected[one.id, two.id] = share
    assert {
        (pair.first, pair.second): pair.similarity for pair in near_duplicates(cases, similarity=similarity)
    } == expected


def test_more_cases_than_are_compared_at_once() -> None:
    cases = asked(*[f"question number {number * 7919} of many" for number in range(300)], "question number 0 of many")
    assert near_duplicates(cases, similarity=1.0)[0].second == "c300"


@pytest.mark.parametrize(
    ("one", "two", "same"),
    [
        ("How long is leave?", "how long  IS leave", True),
        ("Ｌｅａｖｅ days", "leave days", True),
        ("年假有多少天？", "年假有多少天", True),
        ("How long is parental leave?", "Who approves travel?", False),
        ("err 1001", "err 1002", False),
    ],
)
def test_form_makes_no_difference_and_content_does(one: str, two: str, same: bool) -> None:
    assert bool(near_duplicates(asked(one, two))) is same


def test_leaks_are_near_duplicates_in_two_splits() -> None:
    cases = asked("How long is leave?", "how long is leave", "HOW LONG IS LEAVE", splits=("dev", "holdout", "dev"))
    assert [(pair.first, pair.second) for pair in leaks(cases)] == [("c0", "c1"), ("c1", "c2")]
    assert str(leaks(cases)[0]) == "c0 and c1, in dev and holdout: 1.00 of their shingles are the same"
    assert [str(pair) for pair in near_duplicates(cases) if not pair.leaks] == [
        "c0 and c2, both in dev: 1.00 of their shingles are the same"
    ]


@given(st.lists(st.text("abcd", min_size=3, max_size=7), max_size=8), st.integers(0, 99))
def test_clusters_of_near_duplicates_leave_nothing_to_leak(queries: list[str], seed: int) -> None:
    cases = assigned(clustered(asked(*queries), similarity=0.3), SHARES, seed=seed)
    check_clusters(cases)
    assert leaks(cases, similarity=0.3) == ()


def test_clusters_that_people_named_are_joined_and_keep_a_name() -> None:
    cases = [
        Case(id="a", query="How long is leave?", cluster="k"),
        Case(id="b", query="Who?", cluster="k"),
        Case(id="c", query="how long is leave"),
        Case(id="d", query="Something else entirely"),
    ]
    assert [case.cluster for case in clustered(cases)] == ["k", "k", "k", ""]


@pytest.mark.parametrize("similarity", [0, 1.1, float("nan")])
def test_a_similarity_that_is_none_is_refused(similarity: float) -> None:
    with pytest.raises(ContractError, match=r"^similarity must be above 0 and at most 1, got "):
        near_duplicates([], similarity=similarity)


def test_no_cases_have_no_duplicates() -> None:
    assert near_duplicates([]) == ()
