"""Two systems: free and common ranges equal an enumeration, and a robust win is one under every order."""

import json
import math
from fractions import Fraction
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rankwork.errors import ContractError
from rankwork.measures import common_order
from rankwork.measures.names import parse
from rankwork.measures.systems import Difference, Systems, systems
from rankwork.statistics import bootstrap_mean
from tests.brute import spread
from tests.test_measures import IDS, NAMES, SCORES, defined, oracle

Pairs = list[tuple[dict[str, float], dict[str, float], dict[str, Any]]]


def drawn(count: int, seed: int = 3) -> Pairs:
    """Two lists with ties over the same few documents, and judgements; every fourth pair is one list twice."""
    draw = np.random.default_rng(seed)
    found = []
    for number in range(count):
        runs = [
            {name: SCORES[draw.integers(2)] for name in draw.permutation(IDS[:5])[: draw.integers(2, 6)].tolist()}
            for _ in range(2)
        ]
        judged = {name: int(draw.integers(4)) for name in draw.permutation(IDS[:6])[: draw.integers(1, 6)].tolist()}
        found.append((runs[0], runs[0] if number % 4 == 0 else runs[1], judged))
    return found


def compared(pairs: Pairs, names: Any, **options: Any) -> Systems:
    runs = {system: {f"q{n}": pair[place] for n, pair in enumerate(pairs)} for place, system in enumerate("AB")}
    return systems(runs, {f"q{n}": judged for n, (_, _, judged) in enumerate(pairs)}, names, **options)


def common(first: dict[str, float], second: dict[str, float], measure: Any) -> tuple[float, float]:
    """The extremes over every order of the IDs, which breaks the ties of both."""
    differences = []
    for order in permutations(sorted(first.keys() | second.keys())):
        place = {name: n for n, name in enumerate(order)}
        lists = [tuple(sorted(run, key=lambda d: (-run[d], place[d]))) for run in (first, second)]
        differences.append(Fraction(measure(lists[1])) - Fraction(measure(lists[0])))
    return float(min(differences)), float(max(differences))


PAIRS = drawn(70)
FOUND = compared(PAIRS, NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_free_and_common_ranges_are_those_of_the_enumeration(name: str) -> None:
    """Free: every order of each. Common: every order of the IDs, exact for all of these small lists."""
    difference = FOUND.difference(name, "A", "B")
    assert difference.common_exact.all()
    assert len(difference.queries) > 20
    for index, query in enumerate(difference.queries):
        first, second, judged = PAIRS[int(query[1:])]
        assert defined(parse(name), judged)
        measure = oracle(name, judged)
        spreads = [spread(list(run.items()), measure) for run in (first, second)]
        free = (float(spreads[1].min - spreads[0].max), float(spreads[1].max - spreads[0].min))
        assert np.allclose((difference.min[index], difference.max[index]), free, atol=1e-9), query
        assert math.isclose(difference.expected[index], float(spreads[1].mean - spreads[0].mean), abs_tol=1e-9)
        truth = common(first, second, measure)
        both = (difference.common_min[index], difference.common_max[index])
        assert np.allclose(both, truth, atol=1e-9), (query, first, second, judged)
        assert difference.min[index] <= both[0] <= difference.contract[index] <= both[1] <= difference.max[index]
        if first == second:
            assert both == (0, 0)


@pytest.mark.parametrize("name", NAMES)
def test_verdicts_are_those_of_the_free_range(name: str) -> None:
    """Win: above 0 under every order; loss: below; equal: always 0; else undecided. Together they are all queries."""
    found = FOUND.difference(name, "A", "B")
    table = found.to_pandas()
    counts = table["verdict"].value_counts().to_dict()
    expected = {"win": found.wins, "loss": found.losses, "equal": found.equal, "undecided": found.undecided}
    assert {verdict: counts.get(verdict, 0) for verdict in expected} == expected
    assert sum(expected.values()) == len(found.queries)
    for row in table.to_dict("records"):
        signs = {"win": row["min"] > 0, "loss": row["max"] < 0, "equal": row["min"] == row["max"] == 0}
        assert [verdict for verdict, holds in signs.items() if holds] == (
            [row["verdict"]] if row["verdict"] in signs else []
        )
    back = FOUND.difference(name, "B", "A")
    assert (back.wins, back.losses, back.equal) == (found.losses, found.wins, found.equal)
    assert np.array_equal(back.common_min, -found.common_max)


def test_the_means_bounds_are_the_means_of_the_bounds_and_variances_add() -> None:
    found = FOUND.difference("AP(rel=1)", "A", "B")
    mean = found.mean()
    columns = {name: getattr(found, name).mean() for name in ("contract", "min", "expected", "max", "common_min")}
    assert all(math.isclose(getattr(mean, name), value) for name, value in columns.items())
    stds = []
    for query in found.queries:
        first, second, judged = PAIRS[int(query[1:])]
        stds += [spread(list(run.items()), oracle("AP(rel=1)", judged)).variance for run in (first, second)]
    assert mean.std is not None
    assert math.isclose(mean.std, math.sqrt(sum(stds)) / len(found.queries))


def test_the_sampling_interval_stands_apart_and_can_be_had_again() -> None:
    """The same seed gives the same interval; it is that of the contract's differences, whatever the ties leave."""
    found = FOUND.difference("P(rel=2)@3", "A", "B")
    first, again, other = (found.mean(seed=seed).interval for seed in (1, 1, 2))
    assert first == again != other
    assert first == bootstrap_mean(found.contract, seed=1)


def test_more_orders_than_the_limit_keep_the_free_bounds_and_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(common_order, "LIMIT", 1)
    exact = FOUND.difference("AP(rel=1)", "A", "B")
    bounded = compared(PAIRS, ["AP(rel=1)"]).difference("AP(rel=1)", "A", "B")
    loose = ~bounded.common_exact
    assert loose.any()
    assert (bounded.common_min <= exact.common_min + 1e-12).all()
    assert (bounded.common_max >= exact.common_max - 1e-12).all()
    assert not bounded.mean().common_exact
    assert f"(free bounds in {loose.sum()} queries)" in str(bounded)


def test_one_query_that_ties_hide_and_one_that_they_do_not() -> None:
    """B wins q whatever the ties do; on r the scores of A allow both signs: the contract's win there is reversible."""
    runs = {
        "A": {"q": {"a": 1.0, "b": 2.0}, "r": {"a": 1.0, "b": 1.0}},
        "B": {"q": {"a": 2.0}, "r": {"b": 2.0, "a": 1.0}},
    }
    found = systems(runs, {"q": {"a": 1}, "r": {"a": 1}}, ["RR"]).difference("RR", "A", "B")
    assert (found.wins, found.losses, found.equal, found.undecided, found.reversible) == (1, 0, 0, 1, 1)
    assert found.contract.tolist() == [0.5, -0.5]
    assert (found.min.tolist(), found.max.tolist()) == ([0.5, -0.5], [0.5, 0.0])
    assert "won whatever ties do: 1, lost: 0, equal: 0, undecided: 1" in str(found)


def test_one_order_for_both_leaves_identical_runs_no_difference() -> None:
    """Free, each resolves its ties on its own, and the sign is open; the two ranges are two questions."""
    run = {"q": {"a": 1.0, "b": 1.0}}
    found = systems({"A": run, "B": run}, {"q": {"a": 1}}, ["P@1", "RR"])
    for name in ("P@1", "RR"):
        difference = found.difference(name, "A", "B")
        assert (difference.common_min.tolist(), difference.common_max.tolist()) == ([0], [0])
        assert difference.max[0] == -difference.min[0] > 0


def test_two_documents_shared_by_circles_of_ties_are_not_free() -> None:
    """A ties x, y and z, w; B ties y, z and w, x. No ID order is best for A and worst for B."""
    runs = {"A": {"q": {"x": 2.0, "y": 2.0, "z": 1.0, "w": 1.0}}, "B": {"q": {"y": 2.0, "z": 2.0, "w": 1.0, "x": 1.0}}}
    judged = {"q": {"x": 3, "y": 1, "z": 3, "w": 1}}
    found = systems(runs, judged, ["nDCG"]).difference("nDCG", "A", "B")
    truth = common(runs["A"]["q"], runs["B"]["q"], oracle("nDCG(dcg='log2')", judged["q"]))
    assert np.allclose((found.common_min[0], found.common_max[0]), truth)
    assert found.min[0] < found.common_min[0] or found.common_max[0] < found.max[0]


def test_the_leaderboard_has_the_ranks_that_ties_allow() -> None:
    """A is between B and C by the contract and may be first or second; C is last whatever the ties do."""
    judged = {"q": {"a": 1}, "r": {"a": 1}}
    runs = {
        "A": {"q": {"a": 1.0, "b": 1.0}, "r": {"b": 1.0, "a": 0.5}},
        "B": {"q": {"a": 2.0, "b": 1.0}, "r": {"b": 1.0, "c": 0.5, "a": 0.2}},
        "C": {"q": {"b": 2.0}, "r": {"b": 1.0}},
    }
    standings = systems(runs, judged, ["RR"], order="id_desc").leaderboard("RR")
    assert [(s.system, s.best_rank, s.worst_rank) for s in standings] == [("B", 1, 2), ("A", 1, 2), ("C", 3, 3)]
    assert [s.min for s in standings] == [2 / 3, 0.5, 0]
    alike = systems({"A": runs["B"], "B": runs["B"]}, judged, ["RR"]).leaderboard("RR")
    assert [(s.best_rank, s.worst_rank) for s in alike] == [(1, 1), (1, 1)]


def test_queries_without_a_value_in_one_system_are_left_out_and_named() -> None:
    runs = {"A": {"q": {"a": 1.0}, "r": {"a": 1.0}}, "B": {"q": {"a": 1.0}}}
    judged = {"q": {"a": 1}, "r": {"a": 1}}
    kept = systems(runs, judged, ["RR"]).difference("RR", "A", "B")
    assert (kept.queries, kept.losses) == (("q", "r"), 1)
    dropped = systems(runs, judged, ["RR"], protocol="trec").difference("RR", "A", "B")
    assert (dropped.queries, dropped.left_out, dropped.equal) == (("q",), ("r",), 1)
    assert "left out, without a value in one of them: r" in str(dropped)


def test_a_cut_list_bounds_the_difference() -> None:
    """What the cut of A hides can bring back a document: the win is not robust, the contract's value not known."""
    runs = {"A": {"q": {"b": 1.0, "c": 1.0}}, "B": {"q": {"a": 2.0, "b": 1.0}}}
    plain = systems(runs, {"q": {"a": 1}}, ["RR"]).difference("RR", "A", "B")
    cut = systems(runs, {"q": {"a": 1}}, ["RR"], depth=2).difference("RR", "A", "B")
    assert (plain.wins, cut.wins, cut.undecided, cut.censored) == (1, 0, 1, 1)
    assert (cut.min[0], cut.max[0]) == (0, 1)
    mean = cut.mean()
    assert (mean.contract, mean.interval, mean.reason) == (None, None, "censored")
    assert "unknown by the contract" in str(cut)


def test_the_json_is_complete_and_finite() -> None:
    found = compared(drawn(6), ["P@2", "ERR"]).to_json()
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert list(found) == ["systems", "leaderboards", "differences"]
    assert [entry["measure"] for entry in found["differences"]] == ["P@2", "ERR"]


def test_names_that_are_not_there_are_refused() -> None:
    run = {"q": {"a": 1.0}}
    with pytest.raises(ContractError, match="at least two systems, got 1"):
        systems({"A": run}, {"q": {"a": 1}}, ["RR"])
    found = systems({"A": run, "B": run}, {"q": {"a": 1}}, ["RR"])
    with pytest.raises(ContractError, match="the systems are A, B; there is no 'C'"):
        found.difference("RR", "A", "C")
    with pytest.raises(ContractError, match="this audit has RR, not 'AP'"):
        found.difference("AP", "A", "B")
    with pytest.raises(ContractError, match="A and B have no query in common that has a value"):
        systems({"A": run, "B": run}, {"q": {"a": 0}}, ["RR"]).difference("RR", "A", "B").mean()


def test_a_large_pair_of_tied_runs_is_exact_for_hits() -> None:
    """1,000 documents tied in both, k = 100: identical but for one document that only B has above."""
    run = {f"d{n:04d}": 1.0 for n in range(1000)}
    other = {**run, "d0999": 2.0}
    judged = {f"d{n:04d}": 1 for n in range(0, 1000, 100)}
    found: Difference = systems({"A": {"q": run}, "B": {"q": other}}, {"q": judged}, ["R@100"]).difference(
        "R@100", "A", "B"
    )
    assert found.common_exact.all()
    assert (found.common_min[0], found.common_max[0]) == (-0.1, 0)
    assert found.min[0] == -1


def test_files_and_dicts_give_one_comparison(tmp_path: Path) -> None:
    """Runs and judgements of TREC files, whatever holds their IDs, are compared as dicts are."""
    pairs = [pair for pair in drawn(12) if any(pair[2].values())]
    for place, system in enumerate("AB"):
        lines = (f"q{n} Q0 {d} 1 {s} t\n" for n, pair in enumerate(pairs) for d, s in pair[place].items())
        (tmp_path / system).write_text("".join(lines))
    (tmp_path / "qrels").write_text(
        "".join(f"q{n} 0 {d} {g}\n" for n, pair in enumerate(pairs) for d, g in pair[2].items())
    )
    names = ["R@2", "AP", "nDCG@3", "Bpref"]
    found = systems({name: tmp_path / name for name in "AB"}, tmp_path / "qrels", names)
    assert found.to_json()["differences"] == compared(pairs, names).to_json()["differences"]
