"""Eight real pairs of run and judgements give their known ranges, and agree with pytrec_eval where it is exact."""

import csv
import gzip
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rankwork.inputs.trec import read_judgements, read_run, write_run
from rankwork.measures.auditing import audit
from rankwork.measures.fixing import fixed
from rankwork.rankings import Judgements, Lists, Rankings

DATA = Path(os.environ.get("RANKWORK_DATA", ""))
pytestmark = pytest.mark.skipif(
    not os.environ.get("RANKWORK_DATA"), reason="RANKWORK_DATA does not name the folder of real runs"
)
CUTOFFS = (10, 100)
MEASURES = [f"R@{k}" for k in CUTOFFS]
PAIRS = (
    "robust03/input.rutcor03100.gz", "robust03/input.uic0301.gz", "robust03/input.aplrob03a.gz",
    "covid/round2.ielab-rbp-baseline.gz", "covid/round2.UPrrf16lgbert50-r2.gz",
    "covid/round5.DoRA_NO_Judgments_6k.gz", "covid/round5.r5.qqabs.gz", "trec_eval/results.test",
)  # fmt: skip


def expected_row(run: str) -> dict[str, str]:
    with (DATA / "expected_ranges.csv").open(newline="") as file:
        return next(row for row in csv.DictReader(file) if row["run"] == run)


@pytest.fixture(params=PAIRS, scope="module")
def pair(request: pytest.FixtureRequest) -> tuple[dict[str, str], Rankings, Judgements]:
    row = expected_row(request.param)
    return row, read_run(DATA / row["run"]), read_judgements(DATA / row["qrels"])


def test_the_list_of_pairs_is_complete() -> None:
    with (DATA / "expected_ranges.csv").open(newline="") as file:
        assert [row["run"] for row in csv.DictReader(file)] == list(PAIRS)


def test_ranges_are_the_known_ones_to_four_decimals(pair: tuple[dict[str, str], Rankings, Judgements]) -> None:
    """Minimum, expected, maximum, ID ascending and descending, and how many queries tie across the cut."""
    row, run, judgements = pair
    table = audit(run, judgements, MEASURES).to_pandas().set_index("measure")
    descending = audit(run, judgements, MEASURES, order="id_desc").to_pandas().set_index("measure")
    for k in CUTOFFS:
        found: Any = table.loc[f"R@{k}"]
        columns = {"min": "min", "expected": "expected", "max": "max", "contract": "id_asc"}
        rounded = {column: round(found[name], 4) for name, column in columns.items()}
        rounded["id_desc"] = round(descending["contract"][f"R@{k}"], 4)
        assert rounded == {column: float(row[f"R{k}_{column}"]) for column in rounded}
        assert found["queries"] == int(row["queries_judged"])
        assert round(100 * found["splits"] / found["queries"], 1) == float(row[f"crosses_{k}_pct"])


def nested(lists: Lists, values: Any, kind: type) -> dict[str, dict[str, Any]]:
    documents = lists.documents[lists.codes].tolist()
    pairs = list(zip(documents, map(kind, values.tolist()), strict=True))
    ends = lists.offsets.tolist()
    return {query: dict(pairs[ends[place] : ends[place + 1]]) for place, query in enumerate(lists.queries)}


def peer_recall(run: Rankings, judgements: Judgements) -> dict[str, dict[str, float]]:
    import pytrec_eval

    evaluator = pytrec_eval.RelevanceEvaluator(nested(judgements, judgements.grades, int), {"recall.10,100"})
    result: dict[str, dict[str, float]] = evaluator.evaluate(nested(run, run.scores, float))
    return result


def differences(run: Rankings, judgements: Judgements, peer: dict[str, dict[str, float]], order: str) -> list[Any]:
    """The queries and cutoffs in which pytrec_eval gives another recall than ours in this order."""
    ours = audit(run, judgements, MEASURES, protocol="trec", order=order).to_json()["per_query"]
    evaluated = {query: entry for query, entry in ours.items() if entry["R@10"] is not None}
    assert evaluated.keys() == peer.keys() & ours.keys()
    return [
        (query, k, entry[f"R@{k}"]["contract"], peer[query][f"recall_{k}"])
        for query, entry in evaluated.items()
        for k in CUTOFFS
        if not np.isclose(entry[f"R@{k}"]["contract"], peer[query][f"recall_{k}"], atol=1e-12)
    ]


def test_id_descending_is_pytrec_eval_for_every_query(pair: tuple[dict[str, str], Rankings, Judgements]) -> None:
    """Scores are cast to float32, as it does."""
    _, run, judgements = pair
    assert differences(run.cast(np.float32), judgements, peer_recall(run, judgements), "id_desc") == []


def test_pytrec_eval_gives_the_contract_on_the_fixed_run(
    pair: tuple[dict[str, str], Rankings, Judgements], tmp_path: Path
) -> None:
    """Its own order of ties, and its float32, no longer matter."""
    _, run, judgements = pair
    write_run(fixed(run), tmp_path / "fixed.trec")
    again = read_run(tmp_path / "fixed.trec")
    assert differences(run, judgements, peer_recall(again, judgements), "id_asc") == []


def test_the_comparison_notices_the_run_that_was_not_fixed() -> None:
    """On a run full of ties pytrec_eval differs from the contract, and the comparison says so."""
    row = expected_row("robust03/input.rutcor03100.gz")
    run, judgements = read_run(DATA / row["run"]), read_judgements(DATA / row["qrels"])
    assert len(differences(run, judgements, peer_recall(run, judgements), "id_asc")) > 50


@pytest.mark.parametrize("name", ["results.trunc", "results.comment.test.gz", "results-302.test"])
def test_the_evaluators_own_files_are_read_whole(name: str) -> None:
    """Text behind the tag, `#` inside IDs, tabs: as many rows as lines."""
    data = (DATA / "trec_eval" / name).read_bytes()
    text = gzip.decompress(data) if name.endswith(".gz") else data
    assert len(read_run(DATA / "trec_eval" / name)) == sum(bool(line.strip()) for line in text.split(b"\n"))
