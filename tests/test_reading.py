"""The sentences of an audit are true of its numbers."""

from rankwork.measures.auditing import audit
from rankwork.measures.reading import reading

TIED = {"q1": {"a": 1.0, "b": 1.0}, "q2": {"a": 1.0, "b": 1.0}}


def test_a_measure_without_a_range_is_said_to_be_the_same_by_every_order() -> None:
    """A tie across the cut is no dependence where no relevant document is at stake."""
    (sentence,) = reading(audit(TIED, {"q1": {"a": 1, "b": 1}, "q2": {"a": 1, "b": 1}}, ["R@1"]))
    assert sentence == "R@1 does not depend on ties: it is 0.5000 by every order."


def test_a_range_is_said_with_its_width_and_the_place_of_the_order_in_force() -> None:
    """Two queries, each 0 or 1: the mean is 1/2, with standard deviation 1/sqrt(8)."""
    judged = {"q1": {"a": 1}, "q2": {"a": 1}}
    (above,) = reading(audit(TIED, judged, ["R@1"]))
    assert "it is 1.0000 by id_asc, and the scores allow 0.0000 to 1.0000, a width of 200 % of the expected" in above
    assert "it is 0.5000 with a standard deviation of 0.3536; id_asc lies 1.4 of those above." in above
    (below,) = reading(audit(TIED, judged, ["R@1"], order="id_desc"))
    assert "it is 0.0000 by id_desc" in below
    assert below.endswith("id_desc lies 1.4 of those below.")


def test_one_query_with_a_range_makes_the_mean_depend_on_ties() -> None:
    """The other query has a tie across its cut, and no range."""
    (sentence,) = reading(audit(TIED, {"q1": {"a": 1}, "q2": {"a": 1, "b": 1}}, ["R@1"]))
    assert sentence.startswith("R@1 depends on ties: it is 0.7500 by id_asc, and the scores allow 0.2500 to 0.7500")


def test_what_a_cut_list_hides_is_said_with_its_bounds() -> None:
    (sentence,) = reading(audit({"q": {"a": 1.0, "b": 1.0}}, {"q": {"a": 1, "x": 1}}, ["R@1"], depth=2))
    hidden = "the cut of the list hides what decides 1 of 1 queries"
    assert sentence == f"R@1 is not known: {hidden}. It lies between 0.0000 and 0.5000."


def test_a_mean_over_no_query_is_undefined() -> None:
    (sentence,) = reading(audit({"q": {"a": 1.0}}, {"q": {}}, ["R@1"]))
    assert sentence == "R@1 is undefined: no query is defined."


def test_an_order_at_the_expected_value_is_said_to_lie_there() -> None:
    """One query gains what the other loses."""
    (sentence,) = reading(audit(TIED, {"q1": {"a": 1}, "q2": {"b": 1}}, ["R@1"]))
    assert sentence.endswith("Over all orders it is 0.5000 with a standard deviation of 0.3536; id_asc lies at it.")
