"""Every measure equals an enumeration of all orders that the scores allow, whatever is graded, unjudged or not found."""

import math
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest

from rankwork.measures.auditing import Audit, audit
from rankwork.measures.names import Measure, definition_of, known, parse
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
    values: list[Any] = {"whole": [0, 1, 2, 3], "float": [0.0, 0.5, 1.0, 1.5, 2.75]}[grades]
    run, judged = {}, {}
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


def test_every_measure_has_an_oracle_and_is_tried() -> None:
    """A new file in the package is noticed here: it needs a definition of one order in `brute.MEASURES`."""
    names = {definition.name for definition in known().values()} - {"MRR"}
    assert names == set(brute.MEASURES) == {parse(name).name for name in NAMES}


@pytest.mark.parametrize("grades", ["whole", "float"])
@pytest.mark.parametrize("name", NAMES)
def test_the_five_numbers_are_those_of_the_enumeration(name: str, grades: str) -> None:
    """Minimum, mean, maximum and variance over every order, for hundreds of random queries at once."""
    run, judged = cases(grades)
    entries = audited(grades, "id_asc").to_json()["per_query"]
    tried = 0
    for query, rows in run.items():
        entry = entries[query][name]
        if not defined(parse(name), judged[query]):
            assert (entry["reason"], entry["contract"]) == ("no relevant document", None)
            continue
        tried += 1
        found = brute.spread(list(rows.items()), oracle(name, judged[query]))
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
    assert tried > QUERIES / 4


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
    run, judged = cases("float")
    entries = audited("float", "id_asc").to_json()["per_query"]
    still = 0
    for query, rows in run.items():
        if defined(parse(name), judged[query]):
            found = brute.spread(list(rows.items()), oracle(name, judged[query]))
            if float(found.max - found.min) < 1e-12:
                entry = entries[query][name]
                assert entry["min"] == entry["expected"] == entry["max"], query
                still += 1
    assert still > 10
