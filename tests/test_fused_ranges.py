"""Ranges after fusion: own and inherited apart, each equal to an enumeration, or bounds that hold and say so."""

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import permutations, product
from typing import Any

import numpy as np
import pytest

from rankwork.errors import ContractError
from rankwork.rankings import Judgements, Rankings
from rankwork.retrieval.fused_audit import fused_audit
from rankwork.retrieval.fused_ranges import FusedRanges, fused_ranges
from rankwork.retrieval.tie_rule import flipped_tie_rule
from tests import fused_orders
from tests.test_fusion_intervals import IDS, drawn, truth


def relevant_of(seed: int) -> list[str]:
    draw = np.random.default_rng(seed)
    return sorted(draw.permutation(list(IDS))[: draw.integers(1, 5)].tolist())


def found_for(case: dict[str, Any], relevant: list[str], **options: Any) -> FusedRanges:
    given = {name: case[name] for name in ("c", "weights", "depth")}
    return fused_ranges(case["routes"], relevant, case["k"], **given, allow_disjoint=True, **options)


def recalls(case: dict[str, Any], relevant: list[str]) -> list[Fraction]:
    return [Fraction(len(set(relevant) & set(each)), len(relevant)) for each in truth(case)]


@pytest.mark.parametrize("cases", [0, 5000])
def test_the_inherited_range_holds_all_orders_and_its_ends_are_attained(cases: int) -> None:
    """All orders tried: minimum, maximum and mean. Otherwise bounds that hold, and values that occur."""
    exact: Counter[bool] = Counter()
    for seed in range(150):
        case, relevant = drawn(seed), relevant_of(seed)
        inherited, values = found_for(case, relevant, cases=cases).inherited, recalls(case, relevant)
        low, high = float(min(values)), float(max(values))
        assert inherited.low is not None
        assert inherited.high is not None
        assert inherited.low <= low <= high <= inherited.high, (case, relevant)
        assert {inherited.attained_low, inherited.attained_high} <= {float(value) for value in values}, (case, relevant)
        if inherited.exact:
            assert (inherited.low, inherited.high) == (low, high)
        if inherited.expected is not None:
            assert np.isclose(inherited.expected, float(sum(values) / len(values)))
        exact[inherited.exact] += 1
    assert exact[True] > (145 if cases else 130), exact


@pytest.mark.parametrize("cut", [False, True])
def test_ranks_and_reciprocal_ranks_lie_within_their_bounds(cut: bool) -> None:
    """Over all orders; a document without a worst rank is missing from some list, or its list was cut."""
    attained: Counter[bool] = Counter()
    for seed in range(30 if cut else 100):
        case, relevant = drawn(seed, cut=cut), relevant_of(seed)
        found = found_for(case | {"k": 4}, relevant)
        tried = truth(case | {"k": 100})
        for name in map(str, found.intervals.orders.ids):
            places = [order.index(name) + 1 if name in order else None for order in tried]
            known = [place for place in places if place is not None]
            bounds = found.intervals.ranks(name)
            assert all(bounds.best <= place for place in known)
            assert (None in places) == (bounds.worst is None), (case, name)
            assert bounds.worst is None or max(known) <= bounds.worst
            attained[bounds.best == min(known) and bounds.worst in (None, max(known))] += 1
        values = [
            max([1 / (each.index(name) + 1) for name in relevant if name in each[:4]], default=0) for each in tried
        ]
        low, high = found.reciprocal_rank(relevant)
        assert low <= min(values) <= max(values) <= high
    assert attained[True] > 10 * attained[False]


def test_bounds_of_cut_lists_hold_too() -> None:
    for seed in range(40):
        case, relevant = drawn(seed, cut=True), relevant_of(seed)
        inherited, values = found_for(case, relevant).inherited, recalls(case, relevant)
        assert inherited.low is not None
        assert inherited.high is not None
        assert inherited.low <= float(min(values)) <= float(max(values)) <= inherited.high, (case, relevant)
        assert {inherited.attained_low, inherited.attained_high} <= {float(value) for value in values}, (case, relevant)


def test_the_own_range_is_that_of_the_final_lists_exact_ties() -> None:
    """The routes stand by the contract; documents of equal fused score change places."""
    for seed in range(120):
        case, relevant = drawn(seed), relevant_of(seed)
        lists = [by_contract(rows)[: case["depth"]] for rows in case["routes"].values()]
        scores = fused_orders.scores(lists, case["c"], case["weights"])
        groups = fused_orders.groups([(name, score) for name, score in scores.items()])  # type: ignore[misc]
        values = []
        for parts in product(*(permutations(group) for group in groups)):
            top = [name for part in parts for name in part][: case["k"]]
            values.append(Fraction(len(set(relevant) & set(top)), len(relevant)))
        own = found_for(case, relevant).own
        assert (own.min, own.max) == (float(min(values)), float(max(values)))
        assert own.expected is not None
        assert np.isclose(own.expected, float(sum(values) / len(values)))


def test_a_final_list_without_a_tie_can_inherit_a_range() -> None:
    """BM25's a and b tie. The fused scores all differ, and still that tie decides between them."""
    found = fused_ranges({"bm25": {"a": 1.0, "b": 1.0}, "dense": ["c", "b", "a"]}, ["b"], k=1)
    assert found.intervals.fused.ties == ()
    assert (found.contract, found.own.min, found.own.max) == (0.0, 0.0, 0.0)
    assert (found.inherited.low, found.inherited.expected, found.inherited.high) == (0.0, 0.5, 1.0)
    assert found.inherited.exact


def test_without_a_relevant_document_nothing_is_known_and_the_reason_is_said() -> None:
    found = fused_ranges([{"a": 1.0}], [], k=1)
    assert (found.contract, found.own.min, found.inherited.low, found.reason) == (
        None,
        None,
        None,
        "no relevant document",
    )
    assert fused_ranges([{"a": 1.0}], ["z"], k=3).inherited.high == 0.0
    with pytest.raises(ContractError, match="relevant must be a collection of IDs, got 'a'"):
        fused_ranges([{"a": 1.0}], "a", k=1)
    with pytest.raises(ContractError, match="relevant ID 1 is an integer"):
        fused_ranges([{"a": 1.0}], [1], k=1)
    with pytest.raises(ContractError, match="k must be at least 1, got 0"):
        fused_ranges([{"a": 1.0}], ["a"], k=0)


def by_contract(rows: Sequence[tuple[str, float]], way: int = 1) -> tuple[str, ...]:
    return tuple(name for name, _ in sorted(rows, key=lambda row: (-row[1], way * ord(row[0]))))


BM25 = {"q1": {"a": 1.0, "b": 1.0}, "q2": {"a": 2.0, "b": 1.0}, "q3": {"c": 3.0, "a": 1.0, "b": 1.0}}
DENSE = {"q1": {"b": 0.9, "c": 0.5, "a": 0.25}, "q2": {"a": 0.5}, "q3": {"b": 0.75}}
RUNS = {"bm25": Rankings.from_dicts(BM25), "dense": Rankings.from_dicts(DENSE)}


def test_turning_one_tie_rule_round_is_the_fusion_of_the_lists_turned_round() -> None:
    judgements = Judgements.from_dicts({"q1": {"a": 1}, "q3": {"b": 1, "z": 1}})
    found = flipped_tie_rule(RUNS, "bm25", k=1, depths=[1, 2, 3], judgements=judgements)
    for row in found.rows:
        changed, tied, unseen = [], 0, 0
        recalls: dict[int, list[float]] = {1: [], -1: []}
        for query in BM25:
            tops, shows = {}, False
            for way in recalls:
                lists = [by_contract(list(BM25[query].items()), way), by_contract(list(DENSE[query].items()))]
                scores = fused_orders.scores([each[: row.depth] for each in lists], 60, [Fraction(1)] * 2)
                tops[way] = fused_orders.top([each[: row.depth] for each in lists], 1, 60, [Fraction(1)] * 2)[0]
                shows = shows or (way == 1 and sorted(scores.values())[-2:-1] == [scores[tops[way]]])
            tied += shows
            changed += [query] if tops[1] != tops[-1] else []
            unseen += tops[1] != tops[-1] and not shows
            relevant = set(judgements.grades_of(query)) if query in judgements.query_index else set()
            for way, values in recalls.items():
                values += [len(relevant & {tops[way]}) / len(relevant)] if relevant else []
        assert found.changed[row.depth] == tuple(changed)
        assert (row.queries, row.members_changed, row.tied_at_cut, row.unseen) == (
            3,
            len(changed) / 3,
            tied / 3,
            unseen / 3,
        )
        assert (row.recall, row.recall_flipped) == (sum(recalls[1]) / 2, sum(recalls[-1]) / 2)
    assert list(found.to_pandas()["depth"]) == [1, 2, 3]
    assert repr(found) == "Flips(bm25, k = 1, depths 1, 2, 3)"


def test_whole_runs_have_the_means_of_their_queries() -> None:
    """A judged query without relevant documents is counted apart; one that no run has gets 0."""
    judgements = Judgements.from_dicts({"q1": {"a": 1}, "q3": {"b": 2, "c": 0}, "q2": {"a": 0}, "q9": {"a": 1}})
    found = fused_audit(RUNS, judgements, k=1, depth=2)
    alone = {
        query: fused_ranges({"bm25": BM25[query], "dense": DENSE[query]}, relevant, 1, depth=2, allow_disjoint=True)
        for query, relevant in (("q1", ["a"]), ("q3", ["b"]))
    }
    for query, ranges in alone.items():
        assert (found.per_query[query].own, found.per_query[query].inherited) == (ranges.own, ranges.inherited)
    means = found.means
    assert (means.queries, means.undefined) == (3, 1)
    assert means.contract == sum(ranges.contract or 0 for ranges in alone.values()) / 3
    assert means.inherited_max == sum(ranges.inherited.high or 0 for ranges in alone.values()) / 3
    assert means.inherited_open == sum(bool(ranges.intervals.open) for ranges in alone.values()) / 3
    assert found.per_query["q9"].contract == 0.0
    assert list(found.to_pandas()["query"]) == ["q1", "q3", "q2", "q9"]
    assert repr(found) == "FusedAudit(Recall@1, depth 2, 4 queries)"
    assert {query: fused.ids for query, fused in found.lists.items()}["q3"] == alone["q3"].intervals.fused.ids
    assert means.own_width == means.own_max - means.own_min
    assert means.inherited_width == means.inherited_max - means.inherited_min
    widths = {query: (ranges.inherited.high or 0) - (ranges.inherited.low or 0) for query, ranges in alone.items()}
    assert max(widths.values()) > 0
    assert found.widest == max(widths, key=widths.__getitem__)
    with pytest.raises(ContractError, match="no query has a relevant document"):
        _ = fused_audit(RUNS, Judgements.from_dicts({"q1": {"a": 0}})).means
    with pytest.raises(ContractError, match="no query has a relevant document"):
        _ = fused_audit(RUNS, Judgements.from_dicts({"q1": {"a": 0}})).widest


def test_a_route_without_ties_changes_nothing() -> None:
    assert [row.order_changed for row in flipped_tie_rule(RUNS, "dense", depths=[1, 2]).rows] == [0.0, 0.0]
    assert flipped_tie_rule(RUNS, "dense", depths=[2]).rows[0].recall is None


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((RUNS, "splade"), {}, "there is no route 'splade' among bm25, dense"),
        ((RUNS, "bm25"), {"depths": []}, "there must be at least one depth, got none"),
        ((RUNS, "bm25"), {"depths": [None]}, "depth must be an integer, got None"),
        ((RUNS, "bm25"), {"depths": [0]}, "depth must be at least 1, got 0"),
        ((RUNS, "bm25"), {"k": 0}, "k must be at least 1, got 0"),
        (({"bm25": Rankings.from_dicts({})}, "bm25"), {}, "there is no query in bm25"),
        (
            (RUNS | {"dense": Rankings.from_dicts({"q1": {"b#1": 1.0}})}, "bm25"),
            {},
            "shares no ID with any other route",
        ),
    ],
)
def test_what_cannot_be_turned_round_is_refused(arguments: Any, options: Any, message: str) -> None:
    with pytest.raises(ContractError, match=message):
        flipped_tie_rule(*arguments, **options)
