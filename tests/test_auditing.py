"""An audit counts every judged query as declared, and says in words what its numbers do not."""

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rankwork.errors import ContractError, InputError
from rankwork.measures.auditing import Audit, audit
from rankwork.measures.names import parse
from rankwork.protocol import Protocol
from rankwork.rankings import Judgements, Rankings

RUN = {"q1": {"a": 2.0, "b": 1.0, "c": 1.0}, "q2": {"a": 1.0}, "q9": {"a": 1.0}}
JUDGED = {"q1": {"a": 1, "b": 1}, "q2": {"a": 0}, "q3": {"a": 1}}


def means(result: Audit) -> dict[str, Any]:
    entry: dict[str, Any] = result.to_json()["measures"]["R@2"]
    return entry


@pytest.mark.parametrize(
    ("protocol", "queries", "undefined", "contract"),
    [("rankwork", 2, 1, 0.5), ("handbook", 1, 2, 1.0), ("java", 3, 0, 1 / 3), ("trec", 2, 0, 0.25)],
)
def test_missing_and_empty_queries_count_as_the_protocol_declares(
    protocol: str, queries: int, undefined: int, contract: float
) -> None:
    """q1 has its value, q2 no relevant document, q3 no result: never silently dropped, never silently zero."""
    entry = means(audit(RUN, JUDGED, ["R@2"], protocol=protocol))
    assert (entry["queries"], entry["undefined"], entry["contract"]) == (queries, undefined, contract)


def test_the_reasons_stand_beside_undefined_values() -> None:
    """A query that the protocol leaves out has no values at all."""
    handbook = audit(RUN, JUDGED, ["R@2"], protocol="handbook").to_json()["per_query"]
    assert [handbook[q]["R@2"]["reason"] for q in JUDGED] == [None, "no relevant document", "missing from the run"]
    assert handbook["q2"]["R@2"]["contract"] is None
    assert audit(RUN, JUDGED, ["R@2"], protocol="trec").to_json()["per_query"]["q3"]["R@2"] is None


def test_the_article_protocol_refuses_what_others_count() -> None:
    """No relevant document, a missing query, k beyond the list: each with the query."""
    with pytest.raises(InputError, match=r"R\(rel='>0'\)@2: the protocol refuses .* relevant document: q2"):
        audit(RUN, {"q2": {"a": 0}}, ["R@2"], protocol="article")
    with pytest.raises(InputError, match="missing from the run: q3"):
        audit(RUN, {"q1": {"a": 1}, "q3": {"a": 1}}, ["R@2"], protocol="article")
    with pytest.raises(InputError, match="k must be between 1 and 3 for query 'q1', got 4"):
        audit(RUN, {"q1": {"a": 1}}, ["R@4"], protocol="article")
    assert means(audit(RUN, {"q1": {"a": 1}}, ["R@2"], protocol="article"))["contract"] == 1


def test_a_query_with_empty_judgements_leaves_the_others_alone() -> None:
    """It is undefined, and 0 under java and trec."""
    judged: dict[str, dict[str, int]] = {"q1": {"a": 1, "b": 1}, "q2": {}}
    assert means(audit(RUN, judged, ["R@2"]))["contract"] == 1.0
    for protocol in ("java", "trec"):
        assert means(audit(RUN, judged, ["R@2"], protocol=protocol, order="id_asc"))["contract"] == 0.5


def test_all_queries_undefined_is_no_number_and_no_warning() -> None:
    entry = means(audit({"q": {"a": 1.0}}, {"q": {}}, ["R@2"]))
    assert (entry["queries"], entry["undefined"], entry["contract"], entry["std"]) == (0, 1, None, None)
    assert entry["reason"] == "no query is defined"


def test_an_empty_list_is_a_query_missing_from_the_run() -> None:
    run: dict[str, dict[str, float]] = {"q1": {"a": 1.0}, "q2": {}}
    assert means(audit(run, {"q1": {"a": 1}, "q2": {"a": 1}}, ["R@2"]))["contract"] == 0.5


def test_the_notes_say_what_the_numbers_do_not() -> None:
    """Missing, unjudged and undefined queries by name, with the mean were the undefined all 0 or all 1."""
    notes = audit(RUN, JUDGED, ["R@2"]).notes
    assert notes == [
        "Judged queries missing from the run, counted as 0: 1 (q3).",
        "Queries of the run without judgements, left out: 1 (q9).",
        "R@2: the cut splits a tie group in 1 of 2 queries; 1 have a range, the widest .5000 (q1).",
        "R@2: undefined, left out of the mean: 1 (q2); were they all 0 or all 1, it would be 0.3333 or 0.6667.",
        "R@2: the group at the cut reaches the end of the list in 1 of 2 queries (q1); "
        "if their lists were cut there, declare the depth: the range can be wider.",
    ]


def test_the_json_is_the_declared_format() -> None:
    """Protocol, order, means and queries; JSON can hold it; names are the ones asked for."""
    found = audit(RUN, JUDGED, ["recall_2", "R(rel=2)@1"]).to_json()
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert list(found) == ["protocol", "order", "measures", "per_query"]
    assert list(found["measures"]) == ["recall_2", "R(rel=2)@1"]
    entry = found["measures"]["recall_2"]
    assert list(entry) == ["resolved", "queries", "undefined", "censored", "contract", "min", "expected", "max", "std"]
    assert entry["resolved"] == "R(rel=1)@2"
    assert found["protocol"]["name"] == "rankwork"
    assert list(found["per_query"]["q1"]["recall_2"]) == ["contract", "min", "expected", "max", "std", "reason"]


def test_the_score_type_that_took_part_is_reported() -> None:
    """1.00000001 and 1.0 are not tied in float64 and tied in float32."""
    run = Rankings.from_dicts({"q": {"b": 1.00000001, "a": 1.0}})
    wide, narrow = (audit(scores, {"q": {"b": 1}}, ["R@1"]) for scores in (run, run.cast(np.float32)))
    assert "scores float64" in str(wide)
    assert "scores float32" in str(narrow)
    entries = [result.to_json()["per_query"]["q"]["R@1"] for result in (wide, narrow)]
    assert [(entry["contract"], entry["min"], entry["max"]) for entry in entries] == [(1, 1, 1), (0, 0, 1)]
    assert narrow.to_json()["protocol"]["scores"] == "float32"


def test_negative_grades_are_refused_in_memory_and_counted_in_files(tmp_path: Path) -> None:
    """Unjudged means gain 0: recall neither rises nor falls by them."""
    (tmp_path / "qrels").write_text("q1 0 a 1\nq1 0 b -1\n")
    with pytest.raises(ContractError, match="grade -1 of query 'q1', document 'b'"):
        audit(RUN, {"q1": {"a": 1, "b": -1}}, ["R@2"])
    result = audit(RUN, tmp_path / "qrels", ["R@2"])
    assert means(result)["contract"] == 1
    assert "Judgements with a negative grade, taken as unjudged: 1." in result.notes
    assert means(audit(RUN, {"q1": {"a": 1, "b": -1}}, ["R@2"], protocol="trec"))["contract"] == 1
    with pytest.raises(InputError, match="qrels line 2: grade -1 is negative"):
        audit(RUN, tmp_path / "qrels", ["R@2"], protocol="java")


def test_files_dicts_and_columns_give_one_audit(tmp_path: Path) -> None:
    """Plain or gzip; a path is text or a Path."""
    lines = "".join(f"{q} Q0 {d} 1 {s} t\n" for q, inner in RUN.items() for d, s in inner.items())
    (tmp_path / "run.gz").write_bytes(gzip.compress(lines.encode()))
    (tmp_path / "qrels").write_text(
        "".join(f"{q} 0 {d} {g}\n" for q, inner in JUDGED.items() for d, g in inner.items())
    )
    expected = audit(RUN, JUDGED, ["R@2"]).to_json()
    assert audit(str(tmp_path / "run.gz"), tmp_path / "qrels", ["R@2"]).to_json() == expected
    columns = Rankings.from_dicts(RUN), Judgements.from_dicts(JUDGED)
    assert audit(*columns, parse("R@2")).to_json() == expected


def test_one_document_at_two_ranks_is_refused_or_first_kept(tmp_path: Path) -> None:
    """No measure ever exceeds 1."""
    (tmp_path / "run").write_text("q Q0 a 1 3 t\nq Q0 a 2 2 t\nq Q0 b 3 1 t\n")
    with pytest.raises(InputError, match="run line 2: document 'a' of query 'q' was given on line 1 already"):
        audit(tmp_path / "run", {"q": {"a": 1}}, ["R@2"])
    kept = means(audit(tmp_path / "run", {"q": {"a": 1, "b": 1}}, ["R@2"], protocol="handbook"))
    assert kept["contract"] == kept["max"] == 1


def test_the_rank_order_reads_the_rank_column(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("q Q0 a 2 1 t\nq Q0 b 1 1 t\n")
    judged = {"q": {"b": 1}}
    contracts = {
        order: audit(tmp_path / "run", judged, ["R@1"], order=order).to_json()["measures"]["R@1"]["contract"]
        for order in ("id_asc", "id_desc", "rank", "input")
    }
    assert contracts == {"id_asc": 0, "id_desc": 1, "rank": 1, "input": 0}


def test_the_protocol_orders_ties_unless_an_order_is_given() -> None:
    run, judged = {"q": {"a": 1.0, "b": 1.0}}, {"q": {"b": 1}}
    assert audit(run, judged, ["R@1"], protocol="trec").to_json()["measures"]["R@1"]["contract"] == 1
    mixed = audit(run, judged, ["R@1"], protocol="trec", order="id_asc").to_json()
    assert (mixed["order"], mixed["measures"]["R@1"]["contract"]) == ("id_asc", 0)
    own = Protocol.named("trec").replace(name="ours", order="input")
    assert audit(run, judged, ["R@1"], protocol=own).order == "input"


@pytest.mark.parametrize(
    ("run", "judged", "message"),
    [
        (
            {"q1": {"a": 1.0}},
            {"1": {"a": 1}},
            "no judged query has a result: the run has, for example, query 'q1', .* '1'",
        ),
        ({"q1": {}, "q2": {"a": 1.0}}, {"q1": {"a": 1}}, "no judged query has a result: .* query 'q2'"),
        ({}, {"q": {"a": 1}}, "the run is empty"),
        ({"q": {}}, {"q": {"a": 1}}, "the run is empty"),
        ({"q": {"a": 1.0}}, {}, "the judgements are empty"),
        ({"q": {3: 1.0}}, {"q": {"3": 1}}, "text or integers, never both: the run has 3, the judgements '3'"),
    ],
)
def test_what_has_nothing_in_common_is_refused_with_an_example(run: Any, judged: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        audit(run, judged, ["R@1"])


def test_queries_in_common_without_a_common_document_are_noted() -> None:
    result = audit({"q": {"a": 1.0}}, {"q": {"x": 1}}, ["R@1"])
    assert "No judged document was retrieved: the run has, for example, 'a', the judgements 'x'." in result.notes
    assert result.to_json()["measures"]["R@1"]["max"] == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"measures": []}, "at least one measure"),
        ({"measures": ["nope@3"]}, "measure 'nope@3' is not known"),
        ({"protocol": "nist"}, "protocol must be one of"),
        ({"order": "random"}, "order must be one of id_asc, id_desc, rank, input, inclusive, got 'random'"),
    ],
)
def test_unknown_words_are_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ContractError, match=message):
        audit(**{"run": RUN, "judgements": JUDGED, "measures": ["R@1"], **arguments})


def test_what_is_neither_file_nor_table_is_refused() -> None:
    with pytest.raises(InputError, match=r"run must be a file's path, a dict of dicts, or .*; got int"):
        audit(3, JUDGED, ["R@1"])


def test_the_tables_hold_what_the_json_holds() -> None:
    """One row a measure; one row a query and measure, with what lies at the cut."""
    result = audit(RUN, JUDGED, ["R@1", "R@2"])
    table = result.to_pandas().set_index("measure").to_dict("index")
    assert table["R@2"]["expected"] == means(result)["expected"]
    assert [table["R@2"][name] for name in ("splits", "ranges", "widest")] == [1, 1, 0.5]
    rows = result.per_query.set_index(["measure", "query"]).to_dict("index")
    entry = rows[("R@2", "q1")]
    cut = {"above": 1, "tied": 2, "slots": 1, "relevant_above": 1, "relevant_tied": 1, "retrieved": 3, "returned": 2}
    assert {name: entry[name] for name in cut} == cut
    assert (entry["relevant"], entry["splits"], entry["touches_end"]) == (2, True, True)
    assert len(rows) == 6


def test_an_audit_has_only_the_measures_that_were_asked_for() -> None:
    with pytest.raises(ContractError, match="this audit has R@1, not 'R@2'"):
        audit(RUN, JUDGED, ["R@1"]).result("R@2")


def test_an_audit_of_other_rankings_keeps_judgements_measures_and_conventions() -> None:
    """The same as asking again."""
    judged = {"q": {"a": 1, "b": 3}, "r": {"a": 1}}
    first = audit({"q": {"a": 1.0, "b": 1.0}}, judged, ["R@1", "nDCG@2"], protocol="handbook", order="id_desc", depth=2)
    other = Rankings.from_dicts({"q": {"b": 2.0, "a": 1.0}, "r": {"a": 1.0, "x": 1.0}})
    again = audit(other, judged, ["R@1", "nDCG@2"], protocol="handbook", order="id_desc", depth=2)
    assert first.of_run(other).to_json() == again.to_json() != first.to_json()
