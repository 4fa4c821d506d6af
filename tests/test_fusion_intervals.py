"""Intervals after fusion: nothing is called certain or excluded that some order contradicts, and witnesses select."""

from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from rankwork.errors import ContractError
from rankwork.retrieval import fusion_intervals
from rankwork.retrieval.fusion_bounds import least_above, most_above
from rankwork.retrieval.fusion_intervals import FusionIntervals, fused_intervals
from rankwork.retrieval.fusion_witness import dropping, selecting
from rankwork.retrieval.open_orders import OpenOrders
from rankwork.retrieval.rank_values import Rule
from rankwork.retrieval.routes import read_routes
from tests import fused_orders

IDS = "abcdefgh"


def drawn(seed: int, *, longest: int = 6, cut: bool = False) -> dict[str, Any]:
    """Two or three short routes of few different scores, a rule and a k."""
    draw = np.random.default_rng(seed)
    count = 2 if cut or draw.random() < 0.7 else 3
    most = longest if count == 2 else longest - 1
    depth = int(draw.integers(1, 4)) if cut else None if draw.random() < 0.6 else int(draw.integers(1, most + 1))
    routes = {}
    for place in range(count):
        length = int(draw.integers(1, (depth + 1 if depth and cut else most) + 1))
        if depth is not None and length == depth and not cut:
            length += 1
        names = draw.permutation(list(IDS[: 5 if cut else most + 1]))[:length].tolist()
        routes[f"r{place}"] = [(name, float(draw.integers(1, 4))) for name in names]
    weights = [Fraction(int(draw.integers(1, 3))) for _ in routes]
    return {"routes": routes, "weights": weights, "c": int(draw.choice([0, 1, 60])), "depth": depth,
            "k": int(draw.integers(1, 5))}  # fmt: skip


def found_for(case: dict[str, Any], **options: Any) -> FusionIntervals:
    given = {name: case[name] for name in ("c", "weights", "depth")}
    return fused_intervals(case["routes"], case["k"], **given, allow_disjoint=True, **options)


def truth(case: dict[str, Any]) -> list[tuple[str, ...]]:
    lists = fused_orders.all_orders(list(case["routes"].values()), case["depth"])
    return [fused_orders.top(each, case["k"], case["c"], case["weights"]) for each in lists]


def check_sound(case: dict[str, Any], found: FusionIntervals) -> Counter[str]:
    """Every claim against all orders; returns how many documents of each true kind got each status."""
    tops = truth(case)
    always, ever = set(tops[0]).intersection(*tops), set().union(*tops)
    seen: Counter[str] = Counter()
    for document in found.documents:
        true = "certain" if document.id in always else "possible" if document.id in ever else "excluded"
        assert document.status in (true, "undecided", *(["possible"] if true == "certain" else [])), (case, document)
        if document.witness is not None:
            chosen = fused_orders.replayed(document.witness.orders, case["k"], case["c"], case["weights"])
            assert all(document.id in each for each in chosen), (case, document)
        seen[f"{true} {document.status}"] += 1
    shown = {name for rows in case["routes"].values() for name, _ in rows}
    assert (ever & shown) <= {document.id for document in found.documents}
    return seen


def test_all_cases_tried_is_the_truth() -> None:
    """Where the open documents' places are enumerated, statuses and shares are those over all orders."""
    complete = 0
    for seed in range(200):
        case = drawn(seed)
        found = found_for(case)
        seen = check_sound(case, found)
        complete += found.complete
        if not found.complete:
            continue
        assert {kind.split()[0] == kind.split()[1] for kind in seen} <= {True}, case
        tops = truth(case)
        for document in found.documents:
            assert document.share == Fraction(sum(document.id in each for each in tops), len(tops)), (case, document)
    assert complete > 190


def test_without_enumeration_the_bounds_are_sound_and_witnesses_hold() -> None:
    """Counting and search alone: never wrong, and undecided or not proved certain in few cases only."""
    seen: Counter[str] = Counter()
    for seed in range(250):
        case = drawn(seed)
        seen += check_sound(case, found_for(case, cases=0))
    undecided = sum(count for kind, count in seen.items() if kind.endswith("undecided"))
    unproved = seen["certain possible"]
    assert seen["possible possible"] > 100
    assert undecided + unproved < 0.03 * sum(seen.values()), seen


def test_cut_lists_are_sound_too() -> None:
    """Hidden places may belong to documents that the route does not show, or to some that nobody shows."""
    seen: Counter[str] = Counter()
    for seed in range(60):
        case = drawn(seed, cut=True)
        seen += check_sound(case, found_for(case))
    assert seen["certain certain"] > 5
    assert seen["possible possible"] > 30


@pytest.mark.exhaustive
@pytest.mark.parametrize("cut", [False, True])
def test_thousands_of_cases_are_sound(cut: bool) -> None:
    seen: Counter[str] = Counter()
    for seed in range(1000, 2000 if cut else 6000):
        case = drawn(seed, cut=cut)
        seen += check_sound(case, found_for(case, cases=0))
    print(dict(seen))


def shuffled(rows: dict[str, int], draw: np.random.Generator) -> tuple[str, ...]:
    """One order that the scores allow, drawn at random."""
    groups = fused_orders.groups(list(rows.items()))
    return tuple(name for group in groups for name in draw.permutation(group).tolist())


def test_longer_lists_are_never_contradicted_by_orders_drawn_at_random() -> None:
    """Forty documents of few scores, more orders than can be tried: draws stay within statuses, intervals and ranks."""
    for seed in range(12):
        draw = np.random.default_rng(seed)
        names = [f"d{number:02}" for number in range(40)]
        routes = {
            route: {name: int(draw.integers(8)) for name in draw.permutation(names)[:25].tolist()} for route in "AB"
        }
        depth = None if seed % 2 else 15
        found = fused_intervals(routes, 10, depth=depth)
        bounds = {document.id: (document, found.ranks(document.id)) for document in found.documents}
        for _ in range(150):
            lists = [shuffled(rows, draw)[:depth] for rows in routes.values()]
            scores = fused_orders.scores(lists, 60, [Fraction(1)] * 2)
            order = fused_orders.top(lists, 80, 60, [Fraction(1)] * 2)
            assert set(found.certain) <= set(order[:10])
            assert set(order[:10]) <= set(found.certain) | set(found.open)
            for place, name in enumerate(order, 1):
                document, ranks = bounds[name]
                assert document.low <= float(scores[name]) <= document.high
                assert ranks.best <= place
                assert ranks.worst is None or place <= ranks.worst


def test_intervals_are_attained_and_expected_scores_are_means_over_all_orders() -> None:
    for seed in range(120):
        case = drawn(seed, longest=5)
        lists = list(fused_orders.all_orders(list(case["routes"].values()), case["depth"]))
        tried = [fused_orders.scores(each, case["c"], case["weights"]) for each in lists]
        for document in found_for(case).documents:
            values = [each.get(str(document.id), Fraction(0)) for each in tried]
            assert (document.low, document.high) == (float(min(values)), float(max(values)))
            assert document.expected == float(sum(values) / len(values))
            assert document.width == document.high - document.low


def test_bounds_on_rivals_hold_and_are_attained_where_one_route_ties() -> None:
    """With ties in one route only, the matching is exact: some order has so many rivals above."""
    for seed in range(150):
        case = drawn(seed)
        first, *others = case["routes"]
        strict = {name: [(each, -place) for place, (each, _) in enumerate(case["routes"][name])] for name in others}
        routes = {first: case["routes"][first], **strict}
        rule = Rule.of(list(routes), c=case["c"], weights=case["weights"], depth=case["depth"])
        orders = OpenOrders.of(read_routes(routes, allow_disjoint=True), rule)
        rows = list(routes.values())
        tried = [
            fused_orders.scores(each, case["c"], case["weights"])
            for each in fused_orders.all_orders(rows, case["depth"])
        ]
        for number, name in enumerate(orders.ids):
            above = [
                sum((-score, other) < (-each.get(str(name), Fraction(0)), name) for other, score in each.items())
                for each in tried
                if name in each
            ]
            if len(above) == len(tried):
                assert most_above(orders, number) == max(above), (case, name)
            assert least_above(orders, number) == min(above), (case, name)


def test_a_search_also_finds_an_order_that_drops_a_document() -> None:
    routes = {"bm25": {"a": 2.0, "b": 1.0, "c": 1.0}, "dense": ["a", "c", "b"]}
    orders = OpenOrders.of(read_routes(routes), Rule.of(list(routes)))
    witness = dropping(orders, orders.ids.index("b"), 2)
    assert witness is not None
    assert "b" not in fused_orders.replayed(witness.orders, 2, 60, [Fraction(1)] * 2)[0]
    assert selecting(orders, orders.ids.index("b"), 2) is not None
    assert dropping(orders, orders.ids.index("a"), 2) is None


def test_equality_counts_for_smaller_ids_only() -> None:
    """Without any tie in a route, X and b tie in the fused score: by ID one is certain and the other excluded."""
    found = fused_intervals({"dense": ["X", "a", "Y"], "sparse": ["b", "c", "Y"]}, 2)
    assert found.certain == ("Y", "X")
    assert found.by_status("excluded") == ("b", "a", "c")
    assert found.complete


def test_a_cut_list_gives_absent_documents_the_place_that_they_may_have_had() -> None:
    """The list of two was cut inside its tie: c, which it does not show, may have stood at its first place."""
    found = fused_intervals({"bm25": {"a": 1.0, "b": 1.0}, "dense": ["c", "a", "b"]}, 1, depth=2, c=0)
    assert found.cut == ("bm25",)
    assert (found["c"].low, found["c"].high) == (1.0, 2.0)
    assert (found["a"].low, found["a"].high, found["a"].expected) == (0.5, 1.5, None)
    complete = fused_intervals({"bm25": {"a": 1.0, "b": 1.0}, "dense": ["c", "a", "b"]}, 1, c=0)
    assert (complete["c"].high, complete.cut) == (1.0, ())


def test_two_cut_lists_have_one_open_place_each() -> None:
    """Only the last rank of each list is open, so at most two documents can rise: eight of ten are certain."""
    lists = {"one": {f"a{n}": -n for n in range(10)}, "other": {f"b{n}": -n for n in range(10)}}
    found = fused_intervals(lists, 10, depth=10, allow_disjoint=True)
    assert len(found.certain) == 8
    assert found.cut == ("one", "other")


def test_routes_can_be_declared_as_cut_at_lengths_of_their_own() -> None:
    """As by a depth where all have that length; a list that goes on beyond what is read has no open end."""
    for seed in range(40):
        case = drawn(seed, cut=True)
        by_depth = found_for(case)
        named = (
            found_for(case | {"depth": None}, cut=by_depth.cut)
            if len(by_depth.cut) == len(case["routes"])
            else by_depth
        )
        assert [(d.id, d.low, d.high, d.status) for d in named.documents] == [
            (d.id, d.low, d.high, d.status) for d in by_depth.documents
        ]
    lists = {"one": {"a": 3.0, "b": 2.0, "c": 1.0}, "other": {"c": 3.0, "b": 2.0}}
    assert fused_intervals(lists, 1, cut=["one"]).cut == ("one",)
    assert fused_intervals(lists, 1, cut=["one"], depth=2).cut == ()
    assert fused_intervals(lists, 1, cut=[], depth=2).cut == ()
    assert fused_intervals(lists, 1, cut=["other"])["a"].high == float(Fraction(1, 61) + Fraction(1, 62))


def test_a_checker_that_lost_a_rival_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The comparison with all orders is not blind: one rival fewer, and it fails."""
    monkeypatch.setattr(fusion_intervals, "most_above", lambda orders, number: most_above(orders, number) - 1)
    with pytest.raises(AssertionError):
        _check_all(60)


def _check_all(count: int) -> None:
    for seed in range(count):
        case = drawn(seed)
        check_sound(case, found_for(case, cases=0))


def test_refusals_name_what_is_wrong() -> None:
    routes = {"bm25": {"a": 1.0}}
    with pytest.raises(ContractError, match="k must be at least 1, got 0"):
        fused_intervals(routes, 0)
    for cut in ("bm25", ["splade"]):
        with pytest.raises(ContractError, match="cut must name some of the routes bm25, got "):
            fused_intervals(routes, 1, cut=cut)
    with pytest.raises(ContractError, match="no order brings a document 'z'"):
        fused_intervals(routes, 1)["z"]
    with pytest.raises(ContractError, match="status must be one of certain, possible, undecided, excluded, got 'sure'"):
        fused_intervals(routes, 1).by_status("sure")
    with pytest.raises(ContractError, match="shorter lists, a depth, or a constant and weights of fewer digits"):
        fused_intervals([list(range(20_000)), [1]], 1)


def test_tables_and_counts() -> None:
    found = fused_intervals({"bm25": {"a": 2.0, "b": 1.0, "c": 1.0}, "dense": ["a", "c", "b"]}, 2)
    table = found.to_pandas().set_index("id")
    assert list(table["status"]) == ["certain", "possible", "possible"]
    assert list(table["share"]) == [1.0, 0.5, 0.5]
    assert repr(found) == "FusionIntervals(k = 2: 1 certain, 2 possible, 0 undecided, 0 excluded)"
    assert found.open == ("b", "c")
    assert fused_intervals([[]], 3).documents == ()
