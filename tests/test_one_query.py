"""One query shown whole: its tie groups are those of its list, and two lists without ties attain its ends."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankwork.errors import ContractError
from rankwork.inputs.toy import six
from rankwork.measures.auditing import audit
from rankwork.measures.one_query import ends, groups, widest

SCORES = st.dictionaries(st.sampled_from("abcdef"), st.sampled_from([1.0, 2.0, 3.0]), min_size=1)
GRADES = st.dictionaries(st.sampled_from("abcdefgh"), st.integers(0, 3), min_size=1)
MEASURES = ["nDCG@3", "R@2", "P(rel=2)@3", "RR", "AP", "Bpref", "RBP", "ERR", "Rprec", "F@2", "Judged@2"]


@settings(max_examples=40)
@given(SCORES, GRADES, st.sampled_from(["rankwork", "java", "trec"]))
def test_the_lists_by_grade_attain_both_ends(scores: dict[str, float], grades: dict[str, int], protocol: str) -> None:
    found = audit({"q": scores}, {"q": grades}, MEASURES, protocol=protocol)
    for name, result in found.results.items():
        pairs = ends(found, name, "q")
        assert bool(pairs) == bool(result.values.averaged[0])
        assert all(math.isclose(*pair, abs_tol=1e-12) for pair in pairs.values())


def test_ends_are_those_of_the_range() -> None:
    """Recall at 3 of the six documents lies between 2/3 and 1."""
    found = ends(audit(*six(), "R@3"), "R@3", "q")
    assert {end: pair[0] for end, pair in found.items()} == {"min": 2 / 3, "max": 1}


def test_where_the_range_is_not_known_there_are_no_ends() -> None:
    """A list that was cut, a query that is missing from the run, one without a relevant document."""
    run, judged = (
        {"cut": {"a": 1.0, "b": 1.0}, "none": {"a": 1.0}},
        {"cut": {"a": 1, "x": 1}, "gone": {"a": 1}, "none": {}},
    )
    found = audit(run, judged, "R@1", depth=2)
    assert [ends(found, "R@1", query) for query in judged] == [{}, {}, {}]
    assert len(groups(found, "gone")) == 0


def test_the_widest_is_the_widest_that_is_known() -> None:
    """A list that was cut has bounds, and no known range, however far they lie apart."""
    run = {"cut": {"a": 1.0, "b": 1.0}, "tied": {"a": 2.0, "b": 2.0, "c": 1.0}}
    judged = {"cut": {"a": 1, "x": 1, "y": 1}, "tied": {"a": 1, "c": 1, "d": 1}}
    assert widest(audit(run, judged, "R@2"), "R@2") == "cut"
    assert widest(audit(run, judged, "R@1"), "R@1") == "cut"
    assert widest(audit(run, judged, "R@1", depth=3), "R@1") == "cut"
    assert widest(audit({**run, "cut": {"a": 1.0, "b": 1.0, "z": 1.0}}, judged, "R@1", depth=3), "R@1") == "tied"


def test_groups_without_a_relevant_document_are_left_out() -> None:
    run = {"q": {"a": 3.0, "b": 2.0, "c": 2.0, "d": 1.0}}
    table = groups(audit(run, {"q": {"c": 1, "b": 0, "d": 2}}, "R@1"), "q")
    assert table.to_numpy().tolist() == [[2, 3, 2, 2, 1], [4, 4, 1, 1, 1]]


def test_a_query_or_a_measure_that_is_not_there_is_refused() -> None:
    found = audit(*six(), "R@3")
    with pytest.raises(ContractError, match="query 'z' is not judged"):
        groups(found, "z")
    with pytest.raises(ContractError, match="query 'z' is not judged"):
        ends(found, "R@3", "z")
    with pytest.raises(ContractError, match="this audit has R@3, not 'R@4'"):
        widest(found, "R@4")
