"""What no order changes: the recall of whole lists, and the lists that end among equal scores."""

from rankwork.measures.auditing import audit
from rankwork.measures.list_ends import ceiling, tied_ends, whole_lists

RUN = {"p": {"a": 2.0, "b": 1.0, "c": 1.0}, "q": {"a": 3.0, "b": 2.0, "c": 1.0}, "r": {"a": 1.0, "b": 1.0}}
JUDGED = {"p": {"a": 1, "x": 1}, "q": {"c": 1}, "r": {"b": 1}, "gone": {"a": 1}}


def test_whole_lists_are_as_deep_as_the_longest_and_no_order_moves_them() -> None:
    (result,) = whole_lists(audit(RUN, JUDGED, "RR")).results.values()
    assert result.name == "R@3"
    assert (result.mean.min, result.mean.max) == (2.5 / 4, 2.5 / 4)


def test_only_lists_of_the_longest_length_that_end_in_a_tie_are_counted() -> None:
    """P ends in a tie, q does not, r is shorter and so was not cut."""
    assert tied_ends(audit(RUN, JUDGED, "RR")) == 1


def test_a_protocol_that_refuses_a_cut_beyond_the_list_does_not_refuse_whole_lists() -> None:
    judged = {query: JUDGED[query] for query in RUN}
    assert "R@3" in whole_lists(audit(RUN, judged, "R@2", protocol="article")).results


def test_the_ceiling_is_said_and_so_is_that_there_is_none() -> None:
    assert ceiling(audit(RUN, JUDGED, "RR")).endswith("gives a recall above 0.6250.")
    undefined = ceiling(audit({"q": {"a": 1.0}}, {"q": {}}, "RR"))
    assert undefined == "Recall of the whole lists is undefined: no query is defined."
