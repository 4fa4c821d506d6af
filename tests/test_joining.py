"""A join finds the judged documents that were retrieved, and where they stand, whatever order and block size."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankwork.measures import joining, ragged
from rankwork.measures.auditing import audit
from rankwork.measures.joining import Joined
from rankwork.rankings import Judgements, Rankings
from tests.test_measures import NAMES, cases

IDS = st.sampled_from(("b", "B", "a", "10", "9", "é"))
QUERIES = st.sampled_from(("q", "r", "s"))
RUNS = st.dictionaries(QUERIES, st.dictionaries(IDS, st.sampled_from([0.0, 1.0]), min_size=1), min_size=1)
GRADES = st.dictionaries(QUERIES, st.dictionaries(IDS, st.integers(0, 2)), min_size=1)


def joined(run: dict[str, dict[str, float]], judged: dict[str, dict[str, int]]) -> Joined | None:
    if not run.keys() & judged.keys():
        return None
    return Joined.of(Rankings.from_dicts(run), Judgements.from_dicts(judged))


@given(RUNS, GRADES)
def test_the_hits_are_the_pairs_that_both_hold(
    run: dict[str, dict[str, float]], judged: dict[str, dict[str, int]]
) -> None:
    found = joined(run, judged)
    if found is None:
        return
    rows = zip(found.hit_query.tolist(), found.hit_row.tolist(), found.hit_judged.tolist(), strict=True)
    pairs = {
        (found.judgements.queries[q], found.run.documents[found.run.codes[row]]): judgement
        for q, row, judgement in rows
    }
    assert pairs.keys() == {(q, d) for q, inner in run.items() for d in inner if d in judged.get(q, {})}
    for (query, document), judgement in pairs.items():
        assert found.judgements.grades[judgement] == judged[query][document]


@given(RUNS, GRADES, st.sampled_from(["id_asc", "id_desc", "input"]))
def test_the_places_are_those_of_the_whole_order(
    run: dict[str, dict[str, float]], judged: dict[str, dict[str, int]], order: str
) -> None:
    """Only tie groups with a hit are sorted; the places are those in the run sorted as a whole."""
    found = joined(run, judged)
    if found is None:
        return
    rows = found.run.order(order).tolist()
    starts = found.run.offsets[found.run.query_of_row[found.hit_row]]
    assert found.hit_place(order).tolist() == [
        rows.index(row) - start for row, start in zip(found.hit_row.tolist(), starts.tolist(), strict=True)
    ]


@given(RUNS, GRADES)
def test_one_query_alone_is_what_it_is_among_others(
    run: dict[str, dict[str, float]], judged: dict[str, dict[str, int]]
) -> None:
    found = joined(run, judged)
    if found is None:
        return
    for place, query in enumerate(found.judgements.queries):
        if query in run:
            alone = found.only(place)
            assert alone.run.rows(query) == found.run.rows(query)
            assert alone.judgements.grades_of(query) == found.judgements.grades_of(query)
            mine = found.hit_query == place
            assert alone.hit_place("id_asc").tolist() == found.hit_place("id_asc")[mine].tolist()
            assert alone.hit_above.tolist() == found.hit_above[mine].tolist()


def test_the_ranks_of_the_file_survive_in_one_query_alone() -> None:
    run = Rankings.from_columns(["q", "r", "r"], ["a", "a", "b"], [1.0, 1.0, 1.0], [1, 2, 1])
    found = Joined.of(run, Judgements.from_dicts({"q": {"a": 1}, "r": {"a": 1}})).only(1)
    assert found.hit_place("rank").tolist() == [1]


@pytest.mark.parametrize(("module", "name", "size"), [(joining, "_ROWS_AT_ONCE", 3), (ragged, "_CELLS", 4)])
def test_the_size_of_blocks_changes_no_number(
    module: Any, name: str, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To the last bit: memory is bounded, and nothing else."""
    run, judged = (dict(list(whole.items())[:60]) for whole in cases("whole"))
    expected = audit(run, judged, NAMES).to_json()
    monkeypatch.setattr(module, name, size)
    assert audit(run, judged, NAMES).to_json() == expected


def test_blocks_hold_every_row_once_and_waste_less_than_half() -> None:
    lengths = np.random.default_rng(1).integers(0, 300, 500)
    seen = [rows for rows, columns in ragged.blocks(lengths) if lengths[rows].min() * 2 > len(columns)]
    assert sorted(np.concatenate(seen).tolist()) == np.flatnonzero(lengths).tolist()
