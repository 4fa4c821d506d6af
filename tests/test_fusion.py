"""Reciprocal rank fusion by its definition, with exact ties; score fusions; what each of them refuses."""

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankwork
from rankwork import recall_range, rrf
from rankwork.contract.reference import Id
from rankwork.errors import ContractError, InputError
from rankwork.rankings import Rankings
from rankwork.retrieval import rank_values
from rankwork.retrieval.normalisation import normalised
from rankwork.retrieval.routes import read_routes, routes_by_query
from rankwork.retrieval.score_fusion import comb_mnz, comb_sum, convex

lists_of_ids = st.lists(st.lists(st.sampled_from("abcdefg"), unique=True, max_size=6), min_size=1, max_size=4)


def by_definition(
    lists: list[list[str]], c: Fraction, weights: list[Fraction], depth: int | None
) -> dict[Id, Fraction]:
    found: dict[Id, Fraction] = {}
    for names, weight in zip(lists, weights, strict=True):
        for rank, name in enumerate(names[:depth] if weight else [], 1):
            found[name] = found.get(name, Fraction(0)) + weight / (c + rank)
    return found


@given(
    lists_of_ids,
    st.one_of(st.integers(0, 100), st.sampled_from([0.1, 60.5, 1e-9])),
    st.lists(st.sampled_from([0, 1, 2, 0.1, 0.3]), min_size=4, max_size=4),
    st.one_of(st.none(), st.integers(1, 6)),
)
def test_scores_are_those_of_the_definition(lists: Any, c: Any, weights: Any, depth: Any) -> None:
    """Ranks from 1, a missing document adds 0, equal scores by ascending ID; floats are taken as written."""
    weights = weights[: len(lists)]
    exact = [Fraction(str(weight)) for weight in weights]
    if not any(exact):
        return
    fused = rrf(lists, c=c, weights=weights, depth=depth, allow_disjoint=True)
    wanted = by_definition(lists, Fraction(str(c)), exact, depth)
    assert dict(zip(fused.ids, fused.exact, strict=True)) == wanted
    assert list(fused.ids) == sorted(wanted, key=lambda name: (-wanted[name], name))
    assert fused.scores == tuple(float(wanted[name]) for name in fused.ids)
    for name in fused.ids:
        assert sum(fused.contributions(name).values()) == wanted[name]


def test_a_document_of_both_routes_comes_first_and_missing_adds_nothing() -> None:
    fused = rrf({"dense": ["X", "a", "Y"], "sparse": ["b", "c", "Y"]}, c=60)
    assert fused.ids[:3] == ("Y", "X", "b")
    assert fused.exact[:3] == (Fraction(2, 63), Fraction(1, 61), Fraction(1, 61))
    assert fused.contributions("X") == {"dense": Fraction(1, 61), "sparse": 0}
    assert fused.ranks == {"dense": (3, 1, None, 2, None), "sparse": (3, None, 1, None, 2)}


def test_rows_rank_by_the_contract_and_duplicates_keep_the_first() -> None:
    """A route's duplicates count once, where they rank best, and the ranks after them close up."""
    assert rrf([["a", "a", "b"]], c=0).scores == (1, 0.5)
    assert rrf([[("c", 1.0), ("b", 2.0), ("c", 3.0), ("a", 2.0)]], c=0).ids == ("c", "a", "b")
    assert rrf([{"b": 1, "a": 1}], c=0).ids == ("a", "b")
    assert rrf([{"b": 1, "a": 1}], c=0, orders={"route 1": "id_desc"}).ids == ("b", "a")
    assert rrf([[(10, 1.0), (9, 1.0)]], c=0).ids == (9, 10)


def test_three_routes_tie_exactly_where_float_sums_do_not() -> None:
    """Both a and b stand at ranks 1, 2 and 7. Added as floats in the order of the routes, b gets more."""
    places = {"a": (1, 7, 2), "b": (2, 1, 7)}
    floats = {name: sum(1 / (60 + rank) for rank in ranks) for name, ranks in places.items()}
    assert floats["b"] > floats["a"]
    fused = rrf([list("abpqrst"), list("bpqrsta"), list("paqrstb")])
    assert fused.ids[:3] == ("p", "a", "b")
    assert fused.ties[0] == ("a", "b")
    assert fused.scores[1] == fused.scores[2]
    assert fused.boundary(2).crosses


@pytest.mark.parametrize("longest", [4, 20_000])
def test_fractions_and_whole_numbers_give_the_same(longest: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a common denominator would be too long, fractions take its place."""
    lists = [list(range(longest)), list(range(longest - 1, -1, -1))]
    monkeypatch.setattr(rank_values, "_LONGEST", 2)
    rank_values._values.cache_clear()
    fused = rrf(lists, depth=40)
    assert fused.scale == 1
    monkeypatch.undo()
    rank_values._values.cache_clear()
    again = rrf(lists, depth=40)
    assert again.scale > 1
    assert (fused.ids, fused.exact, fused.levels) == (again.ids, again.exact, again.levels)


def test_weights_are_taken_as_written() -> None:
    """0.1 + 0.2 and 0.3 are equal weights, though not as floats."""
    fused = rrf([["a", "z"], ["a", "z"], ["b", "z"]], weights=[0.1, 0.2, 0.3])
    assert fused.ties[-1] == ("a", "b")
    assert rrf([["a"], ["a"]], weights={"route 1": Decimal("0.5"), "route 2": np.float64(0.5)}, c=0).scores == (1,)


def test_a_route_of_weight_0_takes_no_part() -> None:
    fused = rrf({"one": ["a", "b"], "other": ["z", "a"]}, weights={"one": 1, "other": 0})
    assert fused.ids == ("a", "b")


def test_depth_reads_so_many_of_each_list() -> None:
    assert rrf([["a", "b", "c"], ["c", "b"]], depth=1, allow_disjoint=True).ids == ("a", "c")


def test_empty_routes_add_nothing() -> None:
    assert rrf([[], ["a"]]).ids == ("a",)
    nothing = rrf([[], []])
    assert (len(nothing), nothing.ids, nothing.scores, nothing.ties, nothing.top(3)) == (0, (), (), (), ())
    assert nothing.boundary(3).tied == 0
    assert list(nothing.to_pandas()) == ["rank", "id", "score", "rank in route 1", "from route 1", "rank in route 2",
                                         "from route 2"]  # fmt: skip


def test_a_fused_list_is_a_ranking_whose_ties_are_the_exact_ones() -> None:
    fused = rrf({"dense": ["X", "a", "Y"], "sparse": ["b", "c", "Y"]})
    assert fused.rows == (("Y", 2), ("X", 1), ("b", 1), ("a", 0), ("c", 0))
    found = recall_range(fused.rows, ["X"], 2)
    assert (found.min, found.expected, found.max) == (0.0, 0.5, 1.0)
    assert fused.head(2) == fused.rows[:3]
    assert (fused.head(0), fused.head(9)) == ((), fused.rows)
    table = fused.to_pandas()
    assert list(table["rank in dense"].fillna(0)) == [3, 1, 0, 2, 0]
    assert math.isclose(table["from dense"].sum() + table["from sparse"].sum(), table["score"].sum())
    assert repr(fused) == "Fused(5 documents of dense, sparse: Y, X, b, a, c)"


def test_chunk_ids_beside_document_ids_are_refused() -> None:
    """Two routes that can never merge are no fusion."""
    chunks, documents = ["d1#0", "d2#3"], ["d1", "d2"]
    with pytest.raises(ContractError, match="bm25 shares no ID with any other route: it has 'd1#0', dense has 'd1'"):
        rrf({"bm25": chunks, "dense": documents})
    assert len(rrf({"bm25": chunks, "dense": documents}, allow_disjoint=True)) == 4
    with pytest.raises(ContractError, match="route 3 shares no ID"):
        rrf([["a", "b"], ["b"], ["c"]])


def test_whole_runs_are_checked_as_a_whole_and_short_lists_may_be_disjoint() -> None:
    one = Rankings.from_dicts({"q1": {"a": 2.0, "b": 1.0}, "q2": {"a": 1.0, "c": 1.0}})
    other = Rankings.from_dicts({"q1": {"c": 1.0}, "q3": {"b": 1.0}})
    found = dict(routes_by_query({"one": one, "other": other}))
    assert [route.groups for route in found["q2"]] == [(("a", "c"),), ()]
    assert [route.groups for route in found["q1"]] == [(("a",), ("b",)), (("c",),)]
    assert list(found) == ["q1", "q2", "q3"]
    chunks = Rankings.from_dicts({"q1": {"a#1": 1.0}})
    with pytest.raises(ContractError, match=r"one shares no ID"):
        dict(routes_by_query({"one": one, "other": chunks}))
    with pytest.raises(ContractError, match="at least one run, got none"):
        routes_by_query({})


@pytest.mark.parametrize(
    ("rankings", "options", "message"),
    [
        ([], {}, "there must be at least one ranking, got none"),
        ("ab", {}, "rankings must be a mapping from route to ranking or a sequence of them, got 'ab'"),
        (["ab"], {}, "route 1: a ranking must be a list of IDs, of .ID, score., or a mapping, got 'ab'"),
        ({"a": 1.0}, {}, "a: a ranking must be a list of IDs, of .ID, score., or a mapping, got 1.0"),
        ([{"a", "b"}], {}, "route 1: a ranking must be a list"),
        ({1: ["a"]}, {}, "a route's name must be text, got 1"),
        ([["a", ("b", 1.0)]], {}, "route 1: IDs and rows of .ID, score. are mixed: 'a', then .'b', 1.0."),
        ([[("a", math.nan)]], {}, "route 1: position 0 .ID 'a'.: a score must be a finite number, got nan"),
        ([[("a",)]], {}, "route 1: position 0"),
        ([["a", 1]], {}, "route 1: IDs must be all text or all integers"),
        (
            [["a"], [1]],
            {},
            "IDs must be all text or all integers: route 1's 'a' is text, but route 2's 1 is an integer",
        ),
        ([["a"]], {"c": -1}, "c must be finite and not negative, got -1"),
        ([["a"]], {"c": math.inf}, "c must be finite and not negative, got inf"),
        ([["a"]], {"c": "60"}, "c must be a number, got '60'"),
        ([["a"]], {"c": True}, "c must be a number, got True"),
        ([["a"]], {"weights": [math.nan]}, "the weight of route 1 must be finite and not negative, got nan"),
        ([["a"]], {"weights": [-0.5]}, "the weight of route 1 must be finite and not negative, got -0.5"),
        ([["a"]], {"weights": [0]}, "at least one weight must be above 0"),
        ([["a"]], {"weights": [1, 1]}, "there must be one weight for each of 1 routes"),
        ({"one": ["a"]}, {"weights": {"two": 1}}, "weights must name the routes one, got .'two'."),
        ([["a"]], {"depth": 0}, "depth must be at least 1, got 0"),
        ([["a"]], {"depth": 1.5}, "depth must be an integer, got 1.5"),
        ([["a"]], {"orders": {"bm25": "id_desc"}}, "orders names the route 'bm25', but the routes are route 1"),
        ([["a"]], {"orders": {"route 1": "random"}}, "order must be one of id_asc, id_desc, got 'random'"),
    ],
)
def test_what_is_no_fusion_is_refused(rankings: Any, options: Any, message: str) -> None:
    with pytest.raises(ContractError, match=message):
        rrf(rankings, **options)


def test_a_document_that_is_not_there_and_a_bad_k_are_refused() -> None:
    fused = rrf([["a"]])
    with pytest.raises(ContractError, match="no document 'z' among the 1 fused ones"):
        fused.contributions("z")
    with pytest.raises(ContractError, match="k must be between 0 and 0, got -1"):
        fused.top(-1)


ROUTES = {"bm25": {"a": 9.0, "b": 5.0, "c": 1.0}, "dense": {"b": 0.75, "c": 0.5, "d": 0.25}}


def test_min_max_and_the_convex_combination_by_hand() -> None:
    """a: .3; b: .3 × 1/2 + .7; c: .7 × 1/2; d: the lowest of its only route."""
    fused = convex(ROUTES, weights={"bm25": 0.3, "dense": 0.7})
    assert dict(zip(fused.ids, fused.exact, strict=True)) == {
        "b": Fraction(85, 100), "c": Fraction(35, 100), "a": Fraction(3, 10), "d": 0,
    }  # fmt: skip
    assert fused.ids == ("b", "c", "a", "d")
    assert fused.contributions("b") == {"bm25": Fraction(15, 100), "dense": Fraction(7, 10)}


def test_comb_sum_adds_and_comb_mnz_counts_the_routes() -> None:
    sums, mnz = comb_sum(ROUTES), comb_mnz(ROUTES)
    assert dict(zip(sums.ids, sums.scores, strict=True)) == {"b": 1.5, "a": 1.0, "c": 0.5, "d": 0.0}
    assert dict(zip(mnz.ids, mnz.scores, strict=True)) == {"b": 3.0, "a": 1.0, "c": 1.0, "d": 0.0}
    assert mnz.ties == (("a", "c"),)


def test_z_scores_have_mean_0_and_deviation_1_and_a_missing_one_is_the_lowest_or_0() -> None:
    [route] = read_routes({"bm25": ROUTES["bm25"]})
    values = [float(value) for value in normalised(route, "z-score").values()]
    assert math.isclose(sum(values), 0, abs_tol=1e-12)
    assert math.isclose(sum(value**2 for value in values) / 3, 1)
    low = comb_sum(ROUTES, normalise="z-score")
    zero = comb_sum(ROUTES, normalise="z-score", missing="zero")
    assert low.contributions("d")["bm25"] == min(low.parts["bm25"]) < 0
    assert zero.contributions("d")["bm25"] == 0


def test_bounds_do_not_depend_on_what_was_retrieved() -> None:
    [route] = read_routes({"dense": {"a": 0.5, "b": 0.5}})
    assert list(normalised(route, "bounds", {"dense": (-1, 1)}).values()) == [Fraction(3, 4)] * 2
    assert list(normalised(route, "none").values()) == [Fraction(1, 2)] * 2
    assert comb_sum([[]], normalise="min-max").ids == ()


@given(
    st.dictionaries(st.sampled_from("abcdef"), st.integers(-5, 5), min_size=2).filter(
        lambda d: len(set(d.values())) > 1
    ),
    st.sampled_from(["min-max", "z-score", "none"]),
)
def test_normalisation_keeps_order_and_ties(scores: Any, how: str) -> None:
    [route] = read_routes([scores])
    values = normalised(route, how)
    for one in scores:
        for other in scores:
            assert (scores[one] < scores[other]) == (values[one] < values[other])


@pytest.mark.parametrize(
    ("fuse", "error", "message"),
    [
        (lambda: comb_sum({"bm25": {"a": 2.0, "b": 2.0}}), InputError,
         "bm25: min-max cannot scale a constant list, and all 2 scores are 2.0"),
        (lambda: comb_sum({"bm25": {"a": 2.0}}, normalise="z-score"), InputError,
         "bm25: z-score cannot scale a constant list, and it has a single document"),
        (lambda: comb_sum({"bm25": {"a": 2.0}}, normalise="bounds", bounds={"bm25": (0, 1)}), InputError,
         "bm25: score 2.0 of 'a' is outside of its bounds 0.0 and 1.0"),
        (lambda: comb_sum({"bm25": {"a": 2.0}}, normalise="bounds", bounds={"bm25": (2, None)}), InputError,
         "bm25: the lowest possible score must be below the highest, got 2 and 2"),
        (lambda: comb_sum(ROUTES, normalise="bounds", bounds={"bm25": (0, 9)}), ContractError,
         "bounds must hold .lowest, highest. for dense, got None"),
        (lambda: comb_sum(ROUTES, normalise="bounds", bounds={"bm25": (0, math.nan), "dense": (0, 1)}), ContractError,
         "bm25: a bound must be a finite number or None, got nan"),
        (lambda: comb_sum(ROUTES, normalise="bounds"), ContractError, "normalise='bounds' needs bounds"),
        (lambda: comb_sum(ROUTES, bounds={}), ContractError, "normalise='min-max' takes no bounds"),
        (lambda: comb_sum(ROUTES, normalise="softmax"), ContractError, "normalise must be one of min-max, z-score"),
        (lambda: comb_sum(ROUTES, missing="mean"), ContractError, "missing must be one of minimum, zero, got 'mean'"),
        (lambda: comb_mnz(ROUTES, normalise="z-score"), ContractError, "CombMNZ needs scores of at least 0"),
        (lambda: convex(ROUTES, weights=[0.5, 0.6]), ContractError, "add up to 1, got 1.1"),
        (lambda: comb_sum([["a", "b"], ["b"]]), ContractError, "route 1: scores are needed"),
        (lambda: comb_sum({"bm25": {"a#1": 1.0, "b#1": 2.0}, "dense": {"a": 1.0, "b": 2.0}}), ContractError,
         "shares no ID"),
    ],
)  # fmt: skip
def test_what_cannot_be_scaled_or_added_is_refused(fuse: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        fuse()


def test_the_public_name_is_there() -> None:
    assert "rrf" in rankwork.__all__
    assert "Fused" in rankwork.__all__
