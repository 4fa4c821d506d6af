"""Rankings and judgements: columns that keep what was given, and refuse what cannot be ranked."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankwork.errors import ContractError
from rankwork.rankings import Columns, Judgements, Rankings

SCORES = st.sampled_from([-1.0, -0.0, 0.0, 0.5, 2.0])
IDS = st.sampled_from(["a", "B", "b", "é", "10", "9", "\U0001f600", "￿"])
RUNS = st.dictionaries(st.sampled_from(["q1", "q2", "q3"]), st.dictionaries(IDS, SCORES), min_size=1)


def listed(run: Rankings, policy: str) -> dict[str, list[Any]]:
    """The documents of each query in an order."""
    documents = run.documents[run.codes[run.order(policy)]].tolist()
    ends = run.offsets.tolist()
    return {query: documents[ends[place] : ends[place + 1]] for place, query in enumerate(run.queries)}


@given(RUNS)
def test_id_asc_is_the_contract_and_id_desc_its_mirror(run: dict[str, dict[str, float]]) -> None:
    """Score descending, then the ID ascending by code point; descending for trec_eval's order."""
    rankings = Rankings.from_dicts(run)
    ascending = {q: sorted(inner, key=lambda d, i=inner: (-i[d], d)) for q, inner in run.items()}  # type: ignore[misc]
    assert listed(rankings, "id_asc") == ascending
    mirrored = {
        q: sorted(sorted(inner, reverse=True), key=lambda d, i=inner: -i[d])  # type: ignore[misc]
        for q, inner in run.items()
    }
    assert listed(rankings, "id_desc") == mirrored


@given(RUNS)
def test_input_keeps_the_arrival_of_equal_scores(run: dict[str, dict[str, float]]) -> None:
    """Python's stable sort by score alone is the order of arrival."""
    arrival = {q: sorted(inner, key=lambda d, i=inner: -i[d]) for q, inner in run.items()}  # type: ignore[misc]
    assert listed(Rankings.from_dicts(run), "input") == arrival


@given(RUNS)
def test_groups_are_the_runs_of_equal_scores_inside_a_query(run: dict[str, dict[str, float]]) -> None:
    """-0.0 equals 0.0, and no group reaches into the next query."""
    rankings = Rankings.from_dicts(run)
    sizes = []
    for inner in run.values():
        for score in sorted(set(inner.values()), reverse=True):
            sizes.append(sum(value == score for value in inner.values()))
    assert np.diff(rankings.group_starts).tolist() == sizes


def test_rows_of_a_query_may_be_scattered() -> None:
    """Rows are grouped by query in order of first appearance, and arrival inside a query is kept."""
    run = Rankings.from_rows([("q2", "b", 1), ("q1", "x", 5), ("q2", "a", 1)])
    assert run.queries == ("q2", "q1")
    assert run.rows("q2") == [("b", 1), ("a", 1)]


def test_the_rank_order_follows_the_rank_column_inside_ties_only() -> None:
    """Equal ranks are ordered by ID; a rank never overrules a score."""
    run = Rankings.from_columns(["q"] * 4, ["a", "c", "b", "d"], [1.0, 1.0, 1.0, 2.0], ranks=[3, 1, 1, 9])
    assert listed(run, "rank") == {"q": ["d", "b", "c", "a"]}


def test_the_rank_order_needs_a_rank_column() -> None:
    with pytest.raises(ContractError, match="order 'rank' needs the rank column"):
        Rankings.from_rows([("q", "a", 1)]).order("rank")


def test_an_unknown_order_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ContractError, match="order must be one of id_asc, id_desc, rank, input, got 'random'"):
        Rankings.from_rows([("q", "a", 1)]).order("random")


def test_integers_are_compared_as_integers() -> None:
    """2**53 and 2**53 + 1 are one float64 and two scores."""
    run = Rankings.from_rows([("q", "a", 2**53), ("q", "b", 2**53 + 1), ("q", "c", -(2**63)), ("q", "d", 2**63 - 1)])
    assert run.scores.dtype == np.int64
    assert listed(run, "id_asc") == {"q": ["d", "b", "a", "c"]}


def test_float32_stays_float32_and_ties_what_float64_does_not() -> None:
    """1.00000001 and 1.0 differ in float64 only."""
    scores = np.array([1.0, 1.00000001])
    wide = Rankings.from_columns(["q", "q"], ["a", "b"], scores)
    narrow = Rankings.from_columns(["q", "q"], ["a", "b"], scores.astype(np.float32))
    assert (listed(wide, "id_asc"), listed(narrow, "id_asc")) == ({"q": ["b", "a"]}, {"q": ["a", "b"]})
    assert narrow.scores.dtype == np.float32
    assert np.array_equal(wide.cast(np.float32).scores, narrow.scores)


def test_casting_to_a_type_that_overflows_is_refused() -> None:
    with pytest.raises(ContractError, match="score inf of query 'q', document 'a'"):
        Rankings.from_rows([("q", "a", 1e39)]).cast(np.float32)
    with pytest.raises(ContractError, match="cannot be cast to int8"):
        Rankings.from_rows([("q", "a", 300)]).cast(np.int8)


def test_integer_ids_sort_by_value_and_text_ids_by_code_point() -> None:
    """10 sorts after 9, "10" before "9"."""
    integers = Rankings.from_dicts({"q": {10: 1, 9: 1}})
    text = Rankings.from_dicts({"q": {"10": 1, "9": 1}})
    assert (integers.id_kind, text.id_kind) == ("integer", "text")
    assert (listed(integers, "id_asc"), listed(text, "id_asc")) == ({"q": [9, 10]}, {"q": ["10", "9"]})


def test_a_query_with_no_documents_is_an_empty_list() -> None:
    run = Rankings.from_dicts({"q1": {}, "q2": {"a": 1.0}, "q3": {}})
    assert run.lengths.tolist() == [0, 1, 0]
    assert run.group_starts.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("run", "message"),
    [
        ({"q": {"a": "9"}}, r"score '9' of query 'q', document 'a' \(row 0\) is not a number but text"),
        ({"q": {"a": True}}, "score True of query 'q', document 'a' .* is not a number but bool"),
        ({"q": {"a": None}}, "score None .* is not a number"),
        ({"q": {"a": 1.0, "b": float("nan")}}, r"score nan of query 'q', document 'b' \(row 1\) is not finite"),
        ({"q": {"a": float("inf")}}, "score inf .* is not finite"),
        ({"q": {"a": float("-inf")}}, "score -inf .* is not finite"),
        ({"q": {"a": 2**63}}, "score 9223372036854775808 .* does not fit int64"),
        ({"q": {"a": 2**53 + 1, "b": 0.5}}, "score 9007199254740993 .* does not fit float64"),
        ({"q": {"a": 1, 3: 1}}, "document IDs are text or integers, never both: 'a' in row 0, 3 in row 1"),
        ({"q": {1.5: 1}}, "a document ID must be text or an integer, got 1.5"),
        ({"q": {True: 1}}, "a document ID must be text or an integer, got True"),
        ({"q": {2**63: 1}}, "integer document IDs must fit int64, got 9223372036854775808"),
        ({301: {"a": 1}}, "query IDs must be text, got 301: write '301'"),
        ({"q": ["a"]}, "run must be .* 'q' holds list"),
    ],
)
def test_what_cannot_be_ranked_is_refused_with_its_place(run: Any, message: str) -> None:
    with pytest.raises(ContractError, match=message):
        Rankings.from_dicts(run)


def test_a_document_at_two_ranks_is_refused_with_both_positions() -> None:
    rows = [("q", "a", 3.0), ("p", "a", 9.0), ("q", "b", 2.0), ("q", "a", 1.0)]
    with pytest.raises(ContractError, match="query 'q' holds document 'a' twice, in rows 0 and 3"):
        Rankings.from_rows(rows)


def test_of_duplicates_the_first_in_the_ranking_is_kept_if_declared() -> None:
    """The first in the ranking is the one that scores highest, wherever it arrived."""
    run = Rankings.from_rows([("q", "a", 1.0), ("q", "b", 2.0), ("q", "a", 3.0)], duplicates="keep_first")
    assert run.rows("q") == [("b", 2.0), ("a", 3.0)]


def test_arrays_of_another_type_or_shape_are_refused() -> None:
    for bad in (np.array([True]), np.array(["1"]), np.ones((1, 1)), np.array([1 + 1j])):
        with pytest.raises(ContractError, match="must be a one-dimensional array of integers or floats"):
            Rankings.from_columns(["q"], ["a"], bad)


def test_columns_must_be_equally_long() -> None:
    with pytest.raises(ContractError, match="1 queries and 2 documents"):
        Rankings.from_columns(["q"], ["a", "b"], [1.0, 2.0])
    with pytest.raises(ContractError, match="2 documents and 1 scores"):
        Rankings.from_columns(["q", "q"], ["a", "b"], [1.0])


def test_a_row_that_is_no_triple_is_refused() -> None:
    with pytest.raises(ContractError, match="row 1 must be"):
        Rankings.from_rows([("q", "a", 1.0), ("q", "b")])


def test_a_query_that_is_not_there_is_refused() -> None:
    with pytest.raises(ContractError, match="there is no query 'x' among the 1 here"):
        Rankings.from_rows([("q", "a", 1.0)]).rows("x")


@given(RUNS, st.randoms(use_true_random=False))
def test_digests_do_not_depend_on_arrival(run: dict[str, dict[str, float]], random: Any) -> None:
    """Candidates and exact score bits are the same however the rows came in."""
    rows = [(q, d, s) for q, inner in run.items() for d, s in inner.items()]
    shuffled = random.sample(rows, len(rows))
    first, second = Rankings.from_rows(rows), Rankings.from_rows(shuffled)
    assert first.candidates_digest == second.candidates_digest
    assert first.scores_digest == second.scores_digest


def test_digests_notice_one_changed_element() -> None:
    """A renamed document changes the candidates; a changed bit or type changes the scores and not the candidates."""
    run = Rankings.from_dicts({"q": {"a": 0.0, "b": 1.0}})
    renamed = Rankings.from_dicts({"q": {"a": 0.0, "c": 1.0}})
    signed = Rankings.from_dicts({"q": {"a": -0.0, "b": 1.0}})
    assert renamed.candidates_digest != run.candidates_digest
    assert signed.candidates_digest == run.candidates_digest
    assert len({run.scores_digest, signed.scores_digest, run.cast(np.float32).scores_digest}) == 3


def test_integer_and_text_ids_have_different_digests() -> None:
    integers, text = Rankings.from_dicts({"q": {1: 1.0}}), Rankings.from_dicts({"q": {"1": 1.0}})
    assert integers.candidates_digest != text.candidates_digest


def test_codes_of_unknown_documents_are_minus_one() -> None:
    run = Rankings.from_dicts({"q": {"a": 1.0, "b": 2.0}})
    assert run.codes_of(np.array(["b", "x", "a"], object)).tolist() == [1, -1, 0]


def test_grades_keep_their_type() -> None:
    """.5 and 1.5 are gains; integers stay integers."""
    assert Judgements.from_dicts({"q": {"a": 0.5, "b": 1.5}}).grades_of("q") == {"a": 0.5, "b": 1.5}
    assert Judgements.from_dicts({"q": {"a": 2}}).grades.dtype == np.int64


def test_a_negative_grade_is_refused_in_memory_or_counted_as_unjudged() -> None:
    """Its query stays, even if nothing else is judged there."""
    with pytest.raises(ContractError, match=r"grade -1 of query 'q', document 'b' \(row 1\) is negative"):
        Judgements.from_dicts({"q": {"a": 1, "b": -1}})
    lenient = Judgements.from_dicts({"q": {"a": 1, "b": -1}, "p": {"a": -2}}, negative="unjudged")
    assert lenient.negatives == 2
    assert (lenient.grades_of("q"), lenient.grades_of("p")) == ({"a": 1}, {})


def test_a_judgement_that_is_no_finite_number_is_refused() -> None:
    with pytest.raises(ContractError, match=r"grade '1' of query 'q', document 'a' .* is not a number but text"):
        Judgements.from_dicts({"q": {"a": "1"}})
    with pytest.raises(ContractError, match=r"grade nan .* is not finite"):
        Judgements.from_dicts({"q": {"a": float("nan")}})


def test_columns_of_codes_give_the_same_rankings() -> None:
    """What a reader hands over is what rows would give."""
    columns = Columns(["q"], np.zeros(2, np.int32), np.array(["b", "a"], object), np.array([1, 0], np.int32))
    run = Rankings.of_columns(columns, np.array([1.0, 2.0]))
    assert run.rows("q") == [("a", 1.0), ("b", 2.0)]
    assert repr(run) == "Rankings(1 queries, 2 rows, text IDs)"
