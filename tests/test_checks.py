"""The eleven checks hold for the reference, and each is seen failing on a ranker that has its one fault."""

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import permutations
from typing import Any

import pytest

from rankwork.contract import checks
from rankwork.contract.checks import CHECKS, SIX, Check, by_scores, member_sets, over_arrivals, recall, run_checks
from rankwork.contract.reference import rank
from tests import brute

REFUSALS = {"k_above_n_is_refused", "a_duplicate_is_refused", "nan_is_refused"}


def names_of_failing(ranker: checks.Ranker) -> list[str]:
    return [result.name for result in run_checks(ranker) if not result.holds]


def test_there_are_eight_checks_of_answers_and_three_of_refusals() -> None:
    names = [check.name for check in CHECKS]
    assert len(set(names)) == 11
    assert {check.name for check in CHECKS if check.expected == checks.REFUSED} == REFUSALS


def test_the_reference_passes_all_of_them() -> None:
    assert names_of_failing(rank) == []


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.name)
def test_each_broken_copy_is_noticed_by_its_own_check_and_by_no_other(check: Check) -> None:
    assert names_of_failing(check.broken) == [check.name]


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.name)
def test_a_check_reports_what_it_found_on_the_broken_copy(check: Check) -> None:
    found = check.run(check.broken).found
    assert found != check.expected
    assert "Error" not in str(found), "a fault is a wrong answer, not a crash"


def test_every_check_says_what_it_claims_and_every_broken_copy_what_its_fault_is() -> None:
    texts = [text for check in CHECKS for text in (check.claim, check.fault)]
    assert all(text.endswith(".") for text in texts)
    assert len(set(texts)) == 22


def test_a_ranker_that_raises_fails_every_answer_and_stops_no_check() -> None:
    def broken(rows: Any, k: int, *, policy: str = "by_id") -> tuple[str, ...]:
        raise ZeroDivisionError("no ranking today")

    results = run_checks(broken)
    assert [result.holds for result in results] == [False] * 11
    assert results[0].found == "ZeroDivisionError: no ranking today"


def test_a_ranker_that_refuses_everything_passes_the_refusals_alone() -> None:
    def refuses(rows: Any, k: int, *, policy: str = "by_id") -> tuple[str, ...]:
        raise ValueError("no")

    assert {result.name for result in run_checks(refuses) if result.holds} == REFUSALS


def test_lists_are_as_good_as_tuples() -> None:
    def lists(rows: Any, k: int, *, policy: str = "by_id") -> Sequence[Any]:
        return list(rank(rows, k, policy=policy))

    assert names_of_failing(lists) == []


@pytest.mark.parametrize("k", range(7))
def test_the_order_of_arrival_reaches_what_the_scores_allow_and_no_more(k: int) -> None:
    """Every order that the oracle finds, each equally often."""
    found = over_arrivals(SIX, lambda rows: rank(rows, k, policy="input"))
    allowed = Counter(order[:k] for order in brute.orders(SIX))
    assert {ids: count // 120 for ids, count in found.items()} == allowed
    assert sum(found.values()) == 720


def test_all_arrivals_are_tried_once() -> None:
    assert over_arrivals(SIX[:4], lambda rows: [row[0] for row in rows]) == Counter(permutations("ABCD"))


def test_a_ranker_by_scores_sees_no_id() -> None:
    seen: list[Any] = []
    ranker = by_scores(lambda scores: seen.append(scores) or [2, 0])  # type: ignore[func-returns-value]
    assert ranker(SIX) == ("C", "A")
    assert seen == [[9.0, 8.0, 8.0, 8.0, 7.0, 6.0]]


@pytest.mark.parametrize("stable", [True, False])
def test_what_sees_only_scores_gives_the_contract_in_one_arrival_of_six(stable: bool) -> None:
    """Whatever the sort does with ties, each naming of the tied documents arrives equally often."""
    torch = pytest.importorskip("torch")
    sort = by_scores(lambda scores: torch.tensor(scores).sort(descending=True, stable=stable).indices[:3])
    assert set(over_arrivals(SIX, sort).values()) == {120}


def test_member_sets_forget_the_order() -> None:
    assert member_sets(["BA", "AB", "CA"]) == (("A", "B"), ("A", "C"))


def test_recall_counts_a_document_once_and_ignores_others() -> None:
    assert recall(["A", "A", "X"], {"A", "B"}) == Fraction(1, 2)


def test_a_refusal_is_a_value_error_and_nothing_else() -> None:
    assert checks.refusal(lambda: int("1")) is None
    assert checks.refusal(lambda: int("x")) == "invalid literal for int() with base 10: 'x'"
    with pytest.raises(ZeroDivisionError):
        checks.refusal(lambda: 1 // 0)
