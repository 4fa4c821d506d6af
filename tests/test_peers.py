"""Other libraries agree wherever they are exact, and the names are those that they use."""

import math
from typing import Any

import numpy as np
import pytest

from rankwork.measures.auditing import audit
from rankwork.measures.names import parse

Case = tuple[list[float], list[int]]


def drawn(grades: int, count: int) -> list[Case]:
    """Lists of scores with ties, and a grade for each document."""
    draw = np.random.default_rng(11)
    found: list[Case] = []
    while len(found) < count:
        size = int(draw.integers(6, 25))
        scores = draw.integers(0, draw.integers(1, 9), size).astype(float).tolist()
        values = (draw.integers(0, grades, size) * (draw.random(size) < 0.6)).tolist()
        if any(values):
            found.append((scores, values))
    return found


def entries(cases: list[Case], names: list[str]) -> list[dict[str, Any]]:
    run = {
        f"q{place}": {f"d{n:02d}": score for n, score in enumerate(scores)} for place, (scores, _) in enumerate(cases)
    }
    judged = {f"q{n}": {f"d{i:02d}": grade for i, grade in enumerate(grades)} for n, (_, grades) in enumerate(cases)}
    return list(audit(run, judged, names).to_json()["per_query"].values())


@pytest.mark.parametrize("k", [1, 3, 10, None])
def test_the_expected_ndcg_is_that_of_scikit_learn(k: int | None) -> None:
    """It averages over ties; so do we, and we give the range as well."""
    from sklearn.metrics import ndcg_score

    name = "nDCG" if k is None else f"nDCG@{k}"
    cases = drawn(4, 200)
    for (scores, grades), entry in zip(cases, entries(cases, [name]), strict=True):
        assert math.isclose(entry[name]["expected"], ndcg_score([grades], [scores], k=k), abs_tol=1e-12)


TRM = {"recall": "R", "precision": "P", "f1": "F", "ndcg": "nDCG", "mrr": "RR", "map": "AP"}


@pytest.mark.parametrize("k", [1, 2, 6])
@pytest.mark.parametrize("metric", sorted(TRM))
def test_binary_expectations_and_extremes_are_those_of_trm(metric: str, k: int) -> None:
    """tie-aware-retrieval-metrics: expected value, maximum and minimum for binary labels, k inside the list."""
    import trm

    name, cases = f"{TRM[metric]}@{k}", drawn(2, 200)
    labels = [[bool(grade) for grade in grades] for _, grades in cases]
    found = trm.evaluate([scores for scores, _ in cases], labels, metrics=[metric], k_list=[k]).per_query[metric][k]
    for theirs, entry in zip(found, entries(cases, [name]), strict=True):
        ours = entry[name]
        for field, value in (("expected", theirs.expected), ("min", theirs.minimum), ("max", theirs.maximum)):
            assert math.isclose(ours[field], value, abs_tol=1e-12), (field, ours, theirs)


def test_trm_lets_an_expectation_leave_its_range_where_we_do_not() -> None:
    """K beyond the list: its precision expects less than its own minimum, as one divides by k and one by the list."""
    import trm

    result = trm.evaluate([[1.0, 1.0]], [[True, False]], metrics=["precision"], k_list=[4]).per_query["precision"][4][0]
    assert result.expected < result.minimum
    entry = entries([([1.0, 1.0], [1, 0])], ["P@4"])[0]["P@4"]
    assert entry["min"] == entry["expected"] == entry["max"] == 0.25


IR_NAMES = ("P@5", "P(rel=2)@10", "R@10", "RR", "AP", "AP@3", "AP(rel=2)", "nDCG", "nDCG@10", "Rprec", "Rprec(rel=2)",
            "Bpref", "Success@2", "SetF", "Judged@3", "RR@3")  # fmt: skip


def test_ir_measures_agrees_on_lists_without_ties() -> None:
    """Every measure that both know and that it computes without another program."""
    import ir_measures

    draw = np.random.default_rng(5)
    documents = [f"d{n:02d}" for n in range(30)]
    run, judged = {}, {}
    for query in map(str, range(40)):
        found = draw.permutation(documents)[:20].tolist()
        run[query] = {document: float(20 - place) for place, document in enumerate(found)}
        judged[query] = {document: int(draw.integers(0, 4)) for document in draw.permutation(documents)[:12].tolist()}
    asked = [ir_measures.parse_measure(name) for name in IR_NAMES]
    theirs = {(str(value.measure), value.query_id): value.value for value in ir_measures.iter_calc(asked, judged, run)}
    ours = audit(run, judged, IR_NAMES, protocol="trec").to_json()["per_query"]
    assert len(theirs) == len(IR_NAMES) * len(run)
    for (name, query), value in theirs.items():
        assert math.isclose(ours[query][name]["contract"], value, abs_tol=1e-12), (name, query)


def test_reciprocal_rank_with_and_without_a_cutoff_breaks_ties_alike() -> None:
    """ir_measures breaks them descending for RR and ascending for RR@10, in one table; here both are the contract."""
    import ir_measures

    run, judged = {"q": {"a": 1.0, "b": 1.0}}, {"q": {"a": 1}}
    theirs = ir_measures.calc_aggregate([ir_measures.RR, ir_measures.RR @ 10], judged, run)
    assert sorted(theirs.values()) == [0.5, 1.0]
    means = audit(run, judged, ["RR", "RR@10"]).to_json()["measures"]
    assert means["RR"]["contract"] == means["RR@10"]["contract"] == 1


@pytest.mark.parametrize(
    "name",
    ["P@10", "P(rel=2)@10", "R@100", "RR", "RR@10", "RR(rel=2)@10", "AP", "AP@1000", "AP(rel=2)@5", "nDCG", "nDCG@10",
     "nDCG(dcg='exp-log2')@10", "Success@5", "Success(rel=3)@5", "Rprec", "Rprec(rel=2)", "Bpref", "Bpref(rel=2)",
     "Judged@10", "Judged", "RBP", "RBP(p=0.5)", "RBP(p=0.5,rel=2)@10", "ERR@20", "ERR"],
)  # fmt: skip
def test_names_are_those_of_ir_measures_to_the_letter(name: str) -> None:
    import ir_measures

    assert str(parse(name)) == name == str(ir_measures.parse_measure(name))
