"""An audit in parts is the audit, to the last bit, however the file is cut."""

import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rankwork.errors import ContractError, InputError
from rankwork.inputs import text_blocks
from rankwork.inputs.trec import read_run, write_run
from rankwork.inputs.trec_parts import run_parts
from rankwork.measures.auditing import audit
from rankwork.measures.partitions import audit_in_parts
from rankwork.rankings import Rankings

MEASURES = ["R@2", "P@3", "nDCG@3", "AP", "RR@2", "ERR@3", "Rprec", "bpref"]
QUERIES = st.sampled_from([f"q{number}" for number in range(9)])
DOCUMENTS = st.sampled_from("abcdefg")
RUNS = st.dictionaries(QUERIES, st.dictionaries(DOCUMENTS, st.integers(0, 3), min_size=1, max_size=6), min_size=1)
JUDGED = st.dictionaries(QUERIES, st.dictionaries(DOCUMENTS, st.integers(0, 3), max_size=5), min_size=1)

many = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)


def lines(*rows: str) -> str:
    return "".join(f"{query} Q0 {document} 1 1 t\n" for query, document in map(str.split, rows))


@settings(many, max_examples=50)
@given(
    run=RUNS,
    judged=JUDGED,
    rows=st.integers(1, 12),
    protocol=st.sampled_from(["rankwork", "trec", "java"]),
    order=st.sampled_from([None, "id_desc", "input", "rank"]),
    depth=st.sampled_from([None, 6]),
)
def test_parts_give_what_the_whole_gives(
    tmp_path: Path,
    run: dict[str, dict[str, int]],
    judged: dict[str, dict[str, int]],
    rows: int,
    protocol: str,
    order: str | None,
    depth: int | None,
) -> None:
    """Values, means, counts and notes; judged queries that are missing and queries without judgements too."""
    path = tmp_path / "run.trec"
    write_run(Rankings.from_dicts(run), path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_blocks, "BLOCK", 40)
        try:
            whole = audit(path, judged, MEASURES, protocol=protocol, order=order, depth=depth)
        except InputError as refusal:
            with pytest.raises(InputError, match=f"^{re.escape(str(refusal))}$"):
                audit_in_parts(path, judged, MEASURES, protocol=protocol, order=order, depth=depth, rows=rows)
            return
        parts = audit_in_parts(path, judged, MEASURES, protocol=protocol, order=order, depth=depth, rows=rows)
    assert parts.to_json() == whole.to_json()
    assert str(parts) == str(whole)
    assert parts.per_query.equals(whole.per_query)


@many
@given(run=RUNS, rows=st.integers(1, 12), size=st.integers(4, 60))
def test_parts_are_whole_queries_and_together_the_run(
    tmp_path: Path, run: dict[str, dict[str, int]], rows: int, size: int
) -> None:
    """Each but the last has as many rows as asked for, and no more than its last query makes it have."""
    path = tmp_path / "run.trec"
    write_run(Rankings.from_dicts(run), path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_blocks, "BLOCK", size)
        parts = list(run_parts(path, rows=rows, ranks=True))
    assert {query: part.rows(query) for part in parts for query in part.queries} == {
        query: read_run(path).rows(query) for query in run
    }
    longest_block = size + max(len(line) + 1 for line in path.read_text().splitlines())
    assert all(rows <= len(part) < rows + 6 + longest_block for part in parts[:-1])
    assert all(part.ranks is not None for part in parts)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (lines("q a", "p a", "q b"), r"run.trec: query 'q' comes again behind others: to be read in parts"),
        (lines("q a", "p a", "p a"), r"run.trec: query 'p' holds document 'a' twice$"),
        ("q Q0 a 1 9007199254740993 t\n", r"run.trec: score 9007199254740992.0 may be an integer beyond 2\*\*53"),
        ("q Q0 a 1 x t\n", r"run.trec line 1: score 'x' is not a number"),
        ("# nothing\n", r"run.trec is empty"),
        ("", r"run.trec is empty"),
    ],
)
def test_what_cannot_be_read_in_parts_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, message: str
) -> None:
    monkeypatch.setattr(text_blocks, "BLOCK", 4)
    (tmp_path / "run.trec").write_text(text)
    with pytest.raises(InputError, match=message):
        list(run_parts(tmp_path / "run.trec", rows=1))


def test_a_query_that_comes_again_in_the_same_part_does_no_harm(tmp_path: Path) -> None:
    """Only what was given up cannot be taken back."""
    (tmp_path / "run.trec").write_text(lines("q a", "p a", "q b"))
    (part,) = run_parts(tmp_path / "run.trec", rows=3)
    assert part.rows("q") == [("a", 1.0), ("b", 1.0)]


@pytest.mark.parametrize("rows", [0, -1, True, 1.5])
def test_the_number_of_rows_is_checked(tmp_path: Path, rows: int) -> None:
    with pytest.raises(ContractError, match=f"rows must be an integer of at least 1, got {rows}"):
        list(run_parts(tmp_path / "run.trec", rows=rows))


def test_what_needs_the_rows_again_is_refused(tmp_path: Path) -> None:
    (tmp_path / "run.trec").write_text(lines("q a", "q b"))
    found = audit_in_parts(tmp_path / "run.trec", {"q": {"a": 1}}, ["R@1"])
    with pytest.raises(ContractError, match="this run was audited in parts, and its rows are gone"):
        found.reordered("id_desc")
