"""Every order that the scores allow is tried, each once; their numbers are the closed forms' numbers."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankwork.errors import ContractError
from rankwork.measures.auditing import audit
from rankwork.measures.tie_orders import allowed, by_grade, over_all, tried, without_ties
from rankwork.measures.values import FIELDS

SCORES = st.dictionaries(st.sampled_from("abcde"), st.sampled_from([1.0, 2.0, 3.0]), min_size=1)
GRADES = st.dictionaries(st.sampled_from("abcdef"), st.integers(0, 3), min_size=1)
MEASURES = ["R@2", "P@3", "RR", "AP", "nDCG@3", "Rprec", "Bpref", "RBP", "Judged@2"]


@given(SCORES)
def test_the_orders_allowed_are_those_of_all_that_descend(scores: dict[str, float]) -> None:
    descending = [o for o in permutations(scores) if list(map(scores.get, o)) == sorted(scores.values(), reverse=True)]
    found = allowed(scores)
    assert sorted(found) == sorted(descending)
    assert len(set(found)) == len(found)
    assert found[0] == tuple(sorted(scores, key=lambda document: (-scores[document], document)))


def test_more_orders_than_can_be_tried_are_refused_with_their_number() -> None:
    with pytest.raises(ContractError, match="these scores allow 40320 orders, more than the 10000"):
        allowed(dict.fromkeys("abcdefgh", 1.0))


@given(SCORES, GRADES)
def test_what_is_tried_agrees_with_the_closed_forms_and_both_ends_are_attained(
    scores: dict[str, float], grades: dict[str, int]
) -> None:
    values = tried(scores, grades, MEASURES)
    found = audit({"q": scores}, {"q": grades}, MEASURES).to_pandas().set_index("measure")[list(FIELDS)]
    assert np.allclose(over_all(values), found, equal_nan=True)
    for best, end in ((False, "min"), (True, "max")):
        assert np.allclose(values[" ".join(by_grade(scores, grades, best=best))], found[end], equal_nan=True)


def test_a_list_without_ties_is_in_the_order_it_was_made_of() -> None:
    scores = without_ties(("b", "a"))
    assert sorted(scores, key=lambda document: -scores[document]) == ["b", "a"]


def test_a_value_of_one_order_that_is_changed_is_noticed() -> None:
    """What the notebooks compare is sensitive to a single number."""
    scores, grades = {"a": 1.0, "b": 1.0, "c": 1.0}, {"b": 1}
    values, found = tried(scores, grades, ["RR"]), audit({"q": scores}, {"q": grades}, "RR").to_pandas()
    assert np.allclose(over_all(values), found[list(FIELDS)])
    assert not np.allclose(over_all(values + 0.1 * np.eye(1, 6, 3)), found[list(FIELDS)])
