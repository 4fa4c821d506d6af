"""Coverage of evidence equals an enumeration, for groups apart and overlapping; an empty requirement is undefined."""

import math
from fractions import Fraction
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankwork.errors import ContractError
from rankwork.measures import evidence_coverage as module
from rankwork.measures.evidence_coverage import ALL_OF, ANY_OF, evidence_coverage
from tests.brute import spread

IDS = ("b", "B", "a", "10", "9", "é")
RUNS = st.dictionaries(st.sampled_from(IDS), st.sampled_from([-1.0, 0.0]), min_size=1, max_size=6)
GROUPS = st.lists(st.sets(st.sampled_from((*IDS, "x")), min_size=1, max_size=4), min_size=1, max_size=4)


def met(groups: list[set[str]], chosen: tuple[str, ...]) -> int:
    return sum(bool(group & set(chosen)) for group in groups)


def share(groups: list[set[str]], k: int) -> Any:
    return lambda order: Fraction(met(groups, order[:k]), len(groups))


def every(groups: list[set[str]], k: int) -> Any:
    return lambda order: Fraction(met(groups, order[:k]) == len(groups))


def entry(run: dict[str, float], groups: Any, k: int, name: str, **options: Any) -> dict[str, Any]:
    found: dict[str, Any] = evidence_coverage({"q": run}, {"q": groups}, k, **options).to_json()["per_query"]["q"]
    return found[f"{name}@{k}"]  # type: ignore[no-any-return]


@given(RUNS, GROUPS, st.integers(1, 7), st.sampled_from([ANY_OF, ALL_OF]))
def test_the_numbers_are_those_of_the_enumeration(
    run: dict[str, float], groups: list[set[str]], k: int, name: str
) -> None:
    """Alternatives that are not retrieved, groups that share documents, groups that are equal."""
    measure = (share if name == ANY_OF else every)(groups, k)
    found = spread(list(run.items()), measure)
    contract = tuple(sorted(sorted(run), key=lambda document: -run[document]))
    expected = {"contract": measure(contract), "min": found.min, "expected": found.mean, "max": found.max}
    expected["std"] = math.sqrt(found.variance)
    values = entry(run, groups, k, name)
    assert values["reason"] is None
    for field, value in expected.items():
        assert math.isclose(values[field], value, abs_tol=1e-9), field


@given(RUNS, GROUPS, st.integers(1, 4), st.sampled_from([ANY_OF, ALL_OF]))
def test_a_cut_list_says_what_it_knows_and_bounds_the_rest(
    run: dict[str, float], groups: list[set[str]], k: int, name: str
) -> None:
    """Against every list that could have been cut there."""
    values = entry(run, groups, k, name, depth=len(run))
    cutoff, last = min(k, len(run)), min(run.values())
    missing = sorted(set().union(*groups) - run.keys())
    measure = (share if name == ANY_OF else every)(groups, cutoff)
    means, lows, highs = set(), set(), set()
    for count in range(len(missing) + 1):
        for hidden in combinations(missing, count):
            for others in range(len(run) + 1):
                names = [*hidden, *(f"~{place}" for place in range(others))]
                whole = list({**run, **dict.fromkeys(names, last)}.items())
                if len(whole) > 7:
                    continue
                found = spread(whole, measure)
                means.add(found.mean)
                lows.add(found.min)
                highs.add(found.max)
    for field, truths in {"expected": means, "min": lows, "max": highs}.items():
        if values[field] is not None:
            assert all(math.isclose(values[field], truth, abs_tol=1e-9) for truth in truths)
    assert (values["reason"] == "censored") == (values["expected"] is None)
    if values["reason"]:
        assert values["outer_min"] <= float(min(lows))
        assert values["outer_max"] >= float(max(highs))


def test_many_overlapping_kinds_are_bounded_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """Mean and variance of the share stay exact; the true extremes lie inside the bounds."""
    run = dict.fromkeys("abcdef", 1.0)
    groups = [{"a", "b"}, {"b", "c"}, {"c", "d"}, {"d", "e", "f"}]
    exact = entry(run, groups, 2, ANY_OF)
    monkeypatch.setattr(module, "MOST_KINDS", 2)
    bounded = entry(run, groups, 2, ANY_OF)
    assert (bounded["min"], bounded["max"]) == (None, None)
    assert bounded["reason"] == "overlapping evidence groups: bounds only"
    assert [bounded[name] for name in ("contract", "expected", "std")] == [
        exact[n] for n in ("contract", "expected", "std")
    ]
    assert bounded["outer_min"] <= exact["min"]
    assert bounded["outer_max"] >= exact["max"]
    assert entry(run, groups, 2, ALL_OF)["expected"] is None


@pytest.mark.parametrize("needed", [[], [[]], [["a"], []]])
def test_an_empty_requirement_is_undefined(needed: Any) -> None:
    """Neither 1 nor 0: it is left out of the mean, and counted."""
    result = evidence_coverage({"q": {"a": 1.0}, "r": {"a": 1.0}}, {"q": needed, "r": {"claim": ["a"]}}, 1)
    for name in ("EvidenceCoverage@1", "EvidenceComplete@1"):
        assert result.to_json()["per_query"]["q"][name]["reason"] == "empty requirement"
        assert result.to_json()["per_query"]["q"][name]["contract"] is None
        mean = result.mean(name)
        assert (mean.queries, mean.undefined, mean.contract, mean.coverage) == (1, 1, 1.0, 0.5)


def test_a_query_missing_from_the_run_counts_as_the_protocol_declares() -> None:
    found = evidence_coverage({"r": {"a": 1.0}}, {"q": [["a"]], "r": [["a"]]}, 1)
    assert found.mean("EvidenceCoverage@1").contract == 0.5
    assert (
        evidence_coverage({"r": {"a": 1.0}}, {"q": [["a"]], "r": [["a"]]}, 1, protocol="trec")
        .mean("EvidenceCoverage@1")
        .contract
        == 1
    )


def test_inclusive_takes_the_whole_group_at_the_cut() -> None:
    run, groups = {"a": 1.0, "b": 1.0}, [["a"], ["b"]]
    assert entry(run, groups, 1, ANY_OF, order="inclusive")["contract"] == 1
    assert entry(run, groups, 1, ANY_OF)["contract"] == entry(run, groups, 1, ANY_OF)["max"] == 0.5


@pytest.mark.parametrize("k", [0, True, 1.0])
def test_a_cutoff_that_is_none_is_refused(k: Any) -> None:
    with pytest.raises(ContractError, match="k must be an integer of at least 1, got"):
        evidence_coverage({"q": {"a": 1.0}}, {"q": [["a"]]}, k)


@pytest.mark.parametrize(
    ("needed", "message"), [("a", "must need groups"), (3, "must need groups"), (["a"], "a list of")]
)
def test_groups_of_another_form_are_refused(needed: Any, message: str) -> None:
    with pytest.raises(ContractError, match=message):
        evidence_coverage({"q": {"a": 1.0}}, {"q": needed}, 1)


def test_one_group_of_twenty_thousand() -> None:
    """Two pieces of evidence among 20,000 tied, k = 1000: each is met with chance 1/20."""
    run = {f"d{place:05d}": 0.0 for place in range(20_000)}
    values = entry(run, [["d00001"], ["d00002"]], 1000, ALL_OF)
    assert math.isclose(values["expected"], 1000 * 999 / (20_000 * 19_999))
