"""Every measure equals an enumeration of all orders that the scores allow: graded, unjudged and missing documents."""

import math
from fractions import Fraction
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from rankwork.contract.ties import recall_range
from rankwork.errors import ContractError
from rankwork.measures.auditing import Audit, audit
from rankwork.measures.names import Measure, definition_of, known, parse
from rankwork.measures.reading import reading
from tests import brute

IDS = ("b", "B", "a", "10", "9", "é", "x", "y")
SCORES = (-1.0, 0.0, 0.5)
QUERIES = 700
NAMES = (
    "P(rel=1)@1", "P(rel=2)@3", "P(rel=1)@7", "R(rel=1)@2", "R(rel='>0')@4", "R(rel=2)@7", "Success(rel=1)@1",
    "Success(rel=2)@3", "RR(rel=1)", "RR(rel=1)@2", "RR(rel=2)@4", "AP(rel=1)", "AP(rel=1)@2", "AP(rel=2)@4",
    "AP(rel='>0')@9", "nDCG(dcg='log2')", "nDCG(dcg='log2')@2", "nDCG(dcg='exp-log2')@3", "nDCG(dcg='exp-log2')@9",
    "F(beta=1,rel=1)@3", "F(beta=2,rel=2)@7", "F(beta=1,rel=1)", "Rprec(rel=1)", "Rprec(rel=2)", "Bpref(rel=1)",
    "Bpref(rel=2)", "Judged", "Judged@2", "Judged@7", "RBP(p=0.8,rel=1)", "RBP(p=0.5,rel=2)@3", "ERR(max_rel=3)",
    "ERR(max_rel=4)@2",
)  # fmt: skip
Nested = dict[str, dict[str, Any]]


@cache
def cases(grades: str) -> tuple[Nested, Nested]:
    """Runs of one to six documents with scores of three levels, and judgements of up to eight, from a fixed seed."""
    draw = np.random.default_rng(20261129)
    values: list[Any] = [0, 1, 2, 3] if grades == "whole" else [0.0, 0.5, 1.0, 1.5, 2.75]
    run: Nested = {}
    judged: Nested = {}
    for query in range(QUERIES):
        found = draw.permutation(IDS[:6])[: draw.integers(1, 6)].tolist()
        run[f"q{query}"] = {document: SCORES[draw.integers(draw.integers(1, 4))] for document in found}
        known_to = draw.permutation(IDS)[: draw.integers(1, 9)].tolist()
        judged[f"q{query}"] = {document: values[draw.integers(len(values))] for document in known_to}
    return run, judged


@cache
def audited(grades: str, order: str) -> Audit:
    return audit(*cases(grades), NAMES, order=order)


def oracle(name: str, grades: dict[str, Any]) -> brute.OfOrder:
    measure = parse(name)
    return brute.MEASURES[measure.name](grades, measure.cutoff, **dict(measure.parameters))


def defined(measure: Measure, grades: dict[str, Any]) -> bool:
    definition = definition_of(measure)
    counted = definition.counted(measure, np.array(list(grades.values())))
    return definition.always_defined or bool(counted.any())


def by_policy(rows: dict[str, Any], policy: str) -> tuple[str, ...]:
    """Plain Python: by ID in the policy's direction, then stable by score."""
    arrived = list(rows) if policy == "input" else sorted(rows, reverse=policy == "id_desc")
    return tuple(sorted(arrived, key=lambda document: -rows[document]))


@cache
def spreads(name: str, grades: str) -> dict[str, brute.Spread]:
    """What the enumeration gives for each defined query."""
    run, judged = cases(grades)
    queries = [query for query in run if defined(parse(name), judged[query])]
    return {query: brute.spread(list(run[query].items()), oracle(name, judged[query])) for query in queries}


def test_every_measure_has_an_oracle_and_is_tried() -> None:
    """A new file in the package is noticed here: it needs a definition of one order in `brute.MEASURES`."""
    names = {definition.name for definition in known().values()} - {"MRR"}
    assert names == set(brute.MEASURES) == {parse(name).name for name in NAMES}


@pytest.mark.parametrize("grades", ["whole", "float"])
@pytest.mark.parametrize("name", NAMES)
def test_the_five_numbers_are_those_of_the_enumeration(name: str, grades: str) -> None:
    """Minimum, mean, maximum and variance over every order, for hundreds of random queries at once."""
    entries = audited(grades, "id_asc").to_json()["per_query"]
    assert len(spreads(name, grades)) > QUERIES / 4
    for query in entries.keys() - spreads(name, grades).keys():
        assert (entries[query][name]["reason"], entries[query][name]["contract"]) == ("no relevant document", None)
    for query, found in spreads(name, grades).items():
        entry = entries[query][name]
        expected = {"min": found.min, "expected": found.mean, "max": found.max}
        if entry["std"] is None:
            assert (name[:3], entry["reason"]) == ("ERR", "the standard deviation of ERR is not computed")
            assert found.variance > 0
        else:
            assert entry["reason"] is None
            expected["std"] = math.sqrt(found.variance)  # type: ignore[assignment]
        for field, value in expected.items():
            assert math.isclose(entry[field], float(value), abs_tol=1e-9), (query, field)
        assert entry["min"] <= entry["contract"] <= entry["max"]
        assert entry["min"] <= entry["expected"] <= entry["max"]
        assert (entry["std"] == 0) == (entry["min"] == entry["max"])


@pytest.mark.parametrize("order", ["id_asc", "id_desc", "input"])
@pytest.mark.parametrize("name", NAMES)
def test_the_contract_is_the_measure_of_the_order_in_force(name: str, order: str) -> None:
    run, judged = cases("whole")
    entries = audited("whole", order).to_json()["per_query"]
    for query, rows in run.items():
        if defined(parse(name), judged[query]):
            value = oracle(name, judged[query])(by_policy(rows, order))
            assert math.isclose(entries[query][name]["contract"], float(value), abs_tol=1e-12), query


@pytest.mark.parametrize("name", NAMES)
def test_an_order_that_nothing_moves_has_no_width(name: str) -> None:
    """Where all orders give one value, minimum and maximum are the same number to the last bit."""
    entries = audited("float", "id_asc").to_json()["per_query"]
    still = [query for query, found in spreads(name, "float").items() if float(found.max - found.min) < 1e-12]
    assert len(still) > 10
    for query in still:
        entry = entries[query][name]
        assert entry["min"] == entry["expected"] == entry["max"], query


def completions(visible: dict[str, float], judged: dict[str, Any], extra: int) -> list[list[tuple[str, float]]]:
    """Lists that a cut could have come from: hidden documents, judged or not, share the last score."""
    last = min(visible.values())
    missing = sorted(judged.keys() - visible.keys())
    hidden = [names for count in range(len(missing) + 1) for names in combinations(missing, count)]
    return [
        [*visible.items(), *((name, last) for name in (*names, *(f"~{n}" for n in range(others))))]
        for names in hidden
        for others in range(extra + 1)
    ]


def shortened(measure: brute.OfOrder, depth: int) -> brute.OfOrder:
    return lambda order: measure(order[:depth])


@cache
def cut_cases() -> list[tuple[dict[str, float], dict[str, Any], dict[str, Any]]]:
    """Small lists, their judgements, and what an audit says of each if it was cut at its end."""
    draw = np.random.default_rng(7)
    found = []
    for _ in range(40):
        names = draw.permutation(IDS[:4]).tolist()
        run = {name: SCORES[draw.integers(2)] for name in names[: draw.integers(1, 4)]}
        judged = {name: int(draw.integers(4)) for name in draw.permutation(IDS[:4])[: draw.integers(1, 4)].tolist()}
        result = audit({"q": run}, {"q": judged}, NAMES, depth=len(run)).to_json()
        found.append((run, judged, result["per_query"]["q"]))
    return found


@pytest.mark.parametrize("name", NAMES)
def test_a_cut_list_says_what_it_knows_and_bounds_the_rest(name: str) -> None:
    """Against lists that could have been cut there: known numbers hold in all of them, the bounds in each."""
    unknown = 0
    for run, judged, entries in cut_cases():
        if not defined(parse(name), judged):
            continue
        entry, measure = entries[name], oracle(name, judged)
        truths = [brute.spread(rows, shortened(measure, len(run))) for rows in completions(run, judged, 2)]
        columns = {
            "min": [float(truth.min) for truth in truths],
            "expected": [float(truth.mean) for truth in truths],
            "max": [float(truth.max) for truth in truths],
            "std": [math.sqrt(truth.variance) for truth in truths],
        }
        for field, values in columns.items():
            if entry[field] is not None:
                assert all(math.isclose(entry[field], value, abs_tol=1e-9) for value in values), (run, judged, field)
        low, high = entry.get("outer_min", entry["min"]), entry.get("outer_max", entry["max"])
        assert low <= min(columns["min"]) + 1e-12
        assert high >= max(columns["max"]) - 1e-12
        if entry["reason"] == "censored":
            unknown += 1
            assert entry["contract"] is entry["expected"] is None
            assert math.isclose(high, max(columns["max"])), (run, judged)
    assert unknown or name in ("Judged@7", "Judged")


@pytest.mark.parametrize("name", NAMES)
def test_a_cut_above_the_last_group_hides_nothing(name: str) -> None:
    """With k documents above the last group: the declared depth changes no number. Full-list measures reach the end."""
    cutoff = parse(name).cutoff
    if cutoff is None or cutoff > 4:
        return
    run = {"a": 3.0, "b": 3.0, "c": 2.0, "d": 2.0, "é": 1.0}
    judged = {"a": 2, "b": 0, "c": 3, "é": 1, "x": 2}
    plain, cut = (audit({"q": run}, {"q": judged}, [name], depth=depth).to_json() for depth in (None, 5))
    assert cut["per_query"] == plain["per_query"]


@pytest.mark.parametrize("name", [name for name in NAMES if definition_of(parse(name)).of_hits])
def test_the_exact_distribution_is_that_of_all_orders(name: str) -> None:
    """Value by value, in fractions; its mean and variance are the ones reported."""
    run, judged = cases("whole")
    found = audited("whole", "id_asc")
    for query in list(spreads(name, "whole"))[:150]:
        values = [Fraction(oracle(name, judged[query])(order)) for order in brute.orders(list(run[query].items()))]
        exact = {value: Fraction(values.count(value), len(values)) for value in sorted(set(values))}
        assert found.distribution(name, query) == exact


@pytest.mark.parametrize(
    ("name", "query", "message"),
    [
        ("AP", "q", "AP.* depends on more than the number of hits"),
        ("P@1", "x", "query 'x' is not judged"),
        ("P@1", "r", "no distribution here: the query is no relevant document"),
        ("P@9", "q", "this audit has .*, not 'P@9'"),
        ("R@1", "q", "no distribution here: the query is censored"),
    ],
)
def test_a_distribution_that_is_not_known_is_refused(name: str, query: str, message: str) -> None:
    run, judged = {"q": {"a": 1.0, "b": 1.0}}, {"q": {"a": 1, "x": 1}, "r": {"a": 0}}
    with pytest.raises(ContractError, match=message):
        audit(run, judged, ["AP", "P@1", "R@1"], depth=2 if name == "R@1" else None).distribution(name, query)


def test_the_range_of_recall_is_also_its_closed_form() -> None:
    """Two orders here, counts at the boundary in `rankwork.recall_range`: the two agree for every query."""
    run, judged = cases("whole")
    entries = audited("whole", "id_asc").to_json()["per_query"]
    for query in spreads("R(rel=1)@2", "whole"):
        relevant = [document for document, grade in judged[query].items() if grade >= 1]
        closed = recall_range(list(run[query].items()), relevant, min(2, len(run[query])))
        entry = entries[query]["R(rel=1)@2"]
        for name in ("min", "expected", "max", "std"):
            assert math.isclose(entry[name], float(getattr(closed, name)), abs_tol=1e-12), (query, name)


def test_one_group_of_twenty_thousand_is_exact_for_the_hypergeometric_ones() -> None:
    """10 relevant of 20,000 tied: the known means, for every measure a finite answer inside its range."""
    run = {f"d{place:05d}": 0.0 for place in range(20_000)}
    judged = {f"d{place:05d}": 1 + place % 3 for place in range(10)} | {"d00010": 0, "none": 1}
    entries = audit({"q": run}, {"q": judged}, NAMES).to_json()["per_query"]["q"]
    assert math.isclose(entries["P(rel=1)@7"]["expected"], 10 / 20_000)
    assert math.isclose(entries["RR(rel=1)"]["expected"], sum(rr_chances(20_000, 10)))
    for name, entry in entries.items():
        assert entry["min"] <= entry["expected"] <= entry["max"], name
        assert entry["std"] is not None or name.startswith("ERR")


def rr_chances(size: int, relevant: int) -> list[float]:
    """1/i times the chance that the first of the relevant ones stands at i, by counting."""
    ways = math.comb(size, relevant)
    return [math.comb(size - i, relevant - 1) / ways / i for i in range(1, size - relevant + 2)]


def test_the_variance_of_average_precision_loses_no_digits_on_a_large_group() -> None:
    """All but one of 5,000 tied documents relevant: the exact variance is tiny beside the squares that make it up."""
    size = 5000
    run = {f"d{place:04d}": 0.0 for place in range(size)}
    judged = {f"d{place:04d}": 1 for place in range(1, size)}
    entry = audit({"q": run}, {"q": judged}, ["AP"]).to_json()["per_query"]["q"]["AP"]
    tail = np.concatenate((np.cumsum(1.0 / np.arange(size, 0, -1))[::-1], [0.0]))
    values = [(size - 1 - tail[place]) / (size - 1) for place in range(1, size + 1)]  # behind the gap each loses 1/rank
    assert math.isclose(entry["expected"], float(np.mean(values)), rel_tol=1e-12)
    assert math.isclose(entry["std"], float(np.std(values)), rel_tol=1e-9)


def test_an_exponential_gain_beyond_float64_is_refused() -> None:
    with pytest.raises(ContractError, match="the gain 2\\^grade - 1 of grade 1024 is beyond float64"):
        audit({"q": {"a": 1.0}}, {"q": {"a": 1024}}, ["nDCG(dcg='exp-log2')@3"])
    assert audit({"q": {"a": 1.0}}, {"q": {"a": 1024}}, ["nDCG@3"]).mean("nDCG@3").contract == 1


def test_a_grade_above_the_scale_of_err_is_refused() -> None:
    """The scale is the highest grade of all judgements unless it is given."""
    with pytest.raises(ContractError, match=r"grades must be at most max_rel = 2, got 3"):
        audit({"q": {"a": 1.0}}, {"q": {"a": 3}}, ["ERR(max_rel=2)@3"])
    result = audit({"q": {"a": 1.0}, "r": {"a": 1.0}}, {"q": {"a": 1}, "r": {"b": 3}}, ["ERR@3"])
    assert result.to_json()["measures"]["ERR@3"]["resolved"] == "ERR(max_rel=3)@3"
    assert result.to_json()["per_query"]["q"]["ERR@3"]["contract"] == 1 / 8


def test_a_std_that_is_not_computed_leaves_the_mean_without_one() -> None:
    """With its reason; a query that no order can move has its std, which is 0."""
    tied, still = {"a": 1.0, "b": 1.0}, {"a": 1.0}
    found = audit({"q": tied, "r": still}, {"q": {"a": 1}, "r": {"a": 1}}, ["ERR"])
    entries = found.to_json()
    assert entries["per_query"]["r"]["ERR"]["std"] == 0
    assert entries["per_query"]["q"]["ERR"]["std"] is None
    assert (entries["measures"]["ERR"]["std"], entries["measures"]["ERR"]["expected"]) == (None, 0.4375)
    assert entries["measures"]["ERR"]["reason"] == "the standard deviation of ERR is not computed"
    assert "Over all orders it is 0.4375; the standard deviation of ERR is not computed." in reading(found)[0]


def test_inclusive_measures_what_it_returns() -> None:
    """Two for one: precision divides by both, the ideal holds both, recall may rise; the range stays that of one."""
    run, judged = {"q": {"a": 1.0, "b": 1.0, "c": 0.0}}, {"q": {"b": 1, "c": 1}}
    names = ["P@1", "R@1", "RR@1", "nDCG@1", "AP@1", "Success@1"]
    entries = audit(run, judged, names, order="inclusive").to_json()["per_query"]["q"]
    contracts = {name: entry["contract"] for name, entry in entries.items()}
    ideal = 1 + 1 / math.log2(3)
    expected = {"P@1": 0.5, "R@1": 0.5, "RR@1": 0.5, "nDCG@1": 1 / math.log2(3) / ideal, "AP@1": 0.25, "Success@1": 1}
    assert {name: round(value, 12) for name, value in contracts.items()} == {
        n: round(v, 12) for n, v in expected.items()
    }
    assert (entries["P@1"]["min"], entries["P@1"]["max"]) == (0, 1)
    notes = audit(run, {"q": {"b": 1}}, ["Rprec", "AP"], order="inclusive").notes
    assert [note.partition(":")[0] for note in notes if "inclusive" in note] == ["Rprec"]
    assert any("2 at most, not R; min, expected and max are those of exactly R." in note for note in notes)


@pytest.mark.parametrize("name", ["ERR", "ERR@2", "nDCG@2", "AP", "RR", "bpref", "Rprec", "RBP", "R@2", "judged@2"])
def test_the_order_of_queries_in_the_run_changes_nothing(name: str) -> None:
    """Judgements and run may list their queries in different orders."""
    run = {"q1": {"a": 1.0}, "q2": {"a": 2.0, "b": 1.0, "c": 1.0}, "q3": {"b": 1.0, "a": 1.0}}
    judged = {"q1": {"a": 2}, "q2": {"b": 1, "c": 0}, "q3": {"a": 1, "b": 3}}
    expected = audit(run, judged, [name]).to_json()["per_query"]
    turned = audit(dict(reversed(run.items())), judged, [name]).to_json()["per_query"]
    assert turned == expected
