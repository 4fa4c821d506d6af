"""The protocol `trec` gives the evaluator's own expected outputs, and pytrec_eval's on real runs, query by query."""

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rankwork.errors import ContractError
from rankwork.inputs.trec import read_judgements, read_run
from rankwork.measures.auditing import Audit, audit
from rankwork.measures.names import parse
from rankwork.protocol import Protocol
from rankwork.rankings import Judgements, Lists, Rankings
from tests.test_real_data import PAIRS, expected_row

DATA = Path(os.environ.get("RANKWORK_DATA", ""))
pytestmark = pytest.mark.skipif(
    not os.environ.get("RANKWORK_DATA"), reason="RANKWORK_DATA does not name the folder of real runs"
)
TREC = Protocol.named("trec")
COMPLETE = TREC.replace(missing_query="zero")  # trec_eval -c: a query without a result counts as 0
Values = dict[tuple[str, str], float]


def printed(name: str) -> Values:
    """The values of an expected output by measure and query, `all` for the mean."""
    found = {}
    for line in (DATA / "trec_eval" / name).read_text().splitlines():
        measure, query, value = line.split("\t")
        found[measure.strip(), query] = value
    return {key: float(value) for key, value in found.items() if value.replace(".", "").replace("-", "").isdigit()}


def shared(measures: list[str]) -> list[str]:
    """The names of the evaluator that name a measure here, and mean the same."""
    names = []
    for name in measures:
        try:
            parse(name)
        except ContractError:
            continue
        names.append(name)
    return names


def differences(result: Audit, expected: Values, names: list[str], tolerance: float) -> list[Any]:
    """Where the audit's contract is not the printed value, mean and queries."""
    json = result.to_json()
    found: Values = {(name, "all"): json["measures"][name]["contract"] for name in names}
    for query, entries in json["per_query"].items():
        found |= {(name, query): entries[name]["contract"] for name in names if entries[name] is not None}
    keys = [key for key in expected if key[0] in names]
    assert keys
    return [(key, found[key], expected[key]) for key in keys if abs(found[key] - expected[key]) > tolerance]


def first(run: Rankings, count: int) -> Rankings:
    """The lists cut after `count` documents in the evaluator's order, as its option -M does."""
    rows = run.order("id_desc")
    places = np.arange(len(rows)) - run.offsets[run.query_of_row]
    kept = rows[places < count]
    offsets = np.concatenate(([0], np.cumsum(np.minimum(run.lengths, count))))
    return replace(run, offsets=offsets, codes=run.codes[kept], scores=run.scores[kept])


OUTPUTS = [
    ("out.test", "results.test", "qrels.test", TREC, ""),
    ("out.test.a", "results.test", "qrels.test", TREC, ""),
    ("out.test.aq", "results.test", "qrels.test", TREC, ""),
    ("out.test.aqc", "results.trunc", "qrels.test", COMPLETE, ""),
    ("out.test.aqcM", "results.trunc", "qrels.test", COMPLETE, ""),
    ("out.test.aql", "results.test", "qrels.rel_level", TREC, "2"),
    ("out.test.meas_params", "results.test", "qrels.test", TREC, ""),
]


def with_level(name: str, level: str) -> str:
    """The measure with documents relevant from this grade on, as the option -l has it; gains stay the grades."""
    measure = parse(name)
    graded = measure.name in ("nDCG", "Judged")
    return name if not level or graded else str(measure.filled(rel=int(level)))


@pytest.mark.parametrize(("output", "run", "judgements", "protocol", "level"), OUTPUTS, ids=[row[0] for row in OUTPUTS])
def test_the_evaluators_expected_outputs(
    output: str, run: str, judgements: str, protocol: Protocol, level: str
) -> None:
    """Every measure that we share, every query and the mean, to its four decimals."""
    expected = printed(output)
    names = shared(sorted({name for name, _ in expected}))
    assert len(names) >= 10
    if level:
        names.remove("rbp")
        # its rbp takes grades as gains; ours counts documents from a threshold on
    asked = {name: with_level(name, level) for name in names}
    rankings = read_run(DATA / "trec_eval" / run)
    rankings = first(rankings, 100) if output.endswith("M") else rankings
    result = audit(rankings, read_judgements(DATA / "trec_eval" / judgements), asked.values(), protocol=protocol)
    renamed = {(asked[name], query): value for (name, query), value in expected.items() if name in asked}
    assert differences(result, renamed, list(asked.values()), 0.00005 + 1e-9) == []


def test_unjudged_is_the_rest_of_judged() -> None:
    expected = {key: value for key, value in printed("out.test.aq").items() if key[0].startswith("unj_")}
    names = {name: f"Judged@{name[4:]}" for name, _ in expected}
    run, judgements = (DATA / "trec_eval" / name for name in ("results.test", "qrels.test"))
    result = audit(run, judgements, names.values(), protocol="trec")
    rest = {(names[name], query): 1 - value for (name, query), value in expected.items()}
    assert differences(result, rest, list(names.values()), 0.00005 + 1e-9) == []


PEER_NAMES = {"map", "map_cut.10,1000", "ndcg", "ndcg_cut.10,100", "P.10,100", "recall.10,1000", "recip_rank", "bpref",
              "Rprec", "success.5,10", "set_F"}  # fmt: skip


def nested(lists: Lists, values: Any, kind: type) -> dict[str, dict[str, Any]]:
    documents = lists.documents[lists.codes].tolist()
    pairs = list(zip(documents, map(kind, values.tolist()), strict=True))
    ends = lists.offsets.tolist()
    return {query: dict(pairs[ends[place] : ends[place + 1]]) for place, query in enumerate(lists.queries)}


def peer(run: Rankings, judgements: Judgements) -> Values:
    import pytrec_eval

    evaluator = pytrec_eval.RelevanceEvaluator(nested(judgements, judgements.grades, int), PEER_NAMES)
    evaluated = evaluator.evaluate(nested(run, run.scores, float))
    return {(name, query): value for query, values in evaluated.items() for name, value in values.items()}


@pytest.fixture(params=PAIRS, scope="module")
def pair(request: pytest.FixtureRequest) -> tuple[Rankings, Judgements, Values]:
    row = expected_row(request.param)
    run, judgements = read_run(DATA / row["run"]), read_judgements(DATA / row["qrels"])
    return run, judgements, peer(run, judgements)


def test_pytrec_eval_gives_the_contract_of_every_query(pair: tuple[Rankings, Judgements, Values]) -> None:
    """On eight real runs, scores cast to float32 as it does, ties by ID descending."""
    run, judgements, expected = pair
    names = sorted({name for name, _ in expected})
    assert shared(names) == names
    result = audit(run.cast(np.float32), judgements, names, protocol="trec")
    assert differences(result, expected, names, 1e-9) == []


def test_the_comparison_notices_another_order(pair: tuple[Rankings, Judgements, Values]) -> None:
    """Ties by ID ascending differ where there is a range; without one nothing differs."""
    run, judgements, expected = pair
    names = sorted({name for name, _ in expected})
    result = audit(run.cast(np.float32), judgements, names, protocol="trec", order="id_asc")
    table = result.to_pandas()
    moves = bool(table["widest"].max() > 0)
    assert bool(differences(result, expected, names, 1e-9)) == moves


def test_minimum_and_maximum_enclose_every_order(pair: tuple[Rankings, Judgements, Values]) -> None:
    run, judgements, _ = pair
    names = ["P@10", "R@100", "RR@10", "AP@1000", "nDCG@10", "Bpref", "Rprec", "RBP", "ERR@20", "Judged@10", "F@10"]
    for order in ("id_asc", "id_desc", "input"):
        for result in audit(run, judgements, names, order=order).results.values():
            values = result.values
            inside = (values.min <= values.contract) & (values.contract <= values.max)
            assert (inside & (values.min <= values.expected) & (values.expected <= values.max))[values.averaged].all()
