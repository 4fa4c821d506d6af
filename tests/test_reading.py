"""The sentences of an audit are true of its numbers."""

from dataclasses import replace

import numpy as np

from rankwork.measures.auditing import Audit, audit
from rankwork.measures.reading import by_query, kinds, of_difference, of_evaluators, of_leaderboard, outside, reading
from rankwork.measures.systems import systems

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


def test_a_dependence_beyond_the_fourth_decimal_is_said_to_be_one() -> None:
    """Two documents tie at ranks 300 and 301 of AP, one of two relevant."""
    run = {"q": {f"d{place:03d}": float(max(300 - place, 1)) for place in range(301)}}
    (sentence,) = reading(audit(run, {"q": {"d000": 1, "d299": 1}}, ["AP"]))
    assert sentence == "AP depends on ties beyond the fourth decimal only: it is 0.5033 by id_asc."
    (percent,) = reading(audit(run, {"q": {"d000": 1, "d299": 1}}, ["Bpref"]))
    assert percent == "Bpref does not depend on ties: it is 1.0000 by every order."


def queries(*, tied: int, others: int) -> tuple[dict[str, dict[str, float]], dict[str, dict[str, int]]]:
    """Queries with one relevant document: in the tied ones it shares the top with another one, in the others not."""
    run = {f"t{n}": {"a": 1.0, "b": 1.0} for n in range(tied)} | {f"o{n}": {"a": 2.0, "b": 1.0} for n in range(others)}
    return run, {query: {"a": 1} for query in run}


def test_few_queries_with_wide_ranges_are_rarely_but_then_badly() -> None:
    """One of four has a range of 1, and the mean moves by .25; with two of four it is often."""
    spread, groups = by_query(audit(*queries(tied=1, others=3), "R@1"), "R@1")
    assert spread == (
        "R@1: 1 of 4 queries has a range, 1.0000 wide on average, 1.0000 at most (query t0); in the mean that is "
        "0.2500. Rarely, but then badly."
    )
    assert groups.startswith("R@1: 1 of 4 queries ties across the cut, and 0 of those have no range. The largest group")
    assert by_query(audit(*queries(tied=2, others=2), "R@1"), "R@1")[0].endswith("Often, and widely.")


def test_narrow_ranges_are_not_called_bad() -> None:
    """Half a discount at rank 2, in a mean that is near 1."""
    for tied, others, verdict in ((1, 9, "Rarely, and not by much."), (9, 1, "Often, but not by much.")):
        run, judged = queries(tied=tied, others=others)
        run = {query: {"z": 3.0, **scores} for query, scores in run.items()}
        judged = {query: {"z": 9, **grades} for query, grades in judged.items()}
        assert by_query(audit(run, judged, "nDCG@3"), "nDCG@3")[0].endswith(verdict)


def test_a_large_group_that_leaves_less_than_a_small_one_is_pointed_out() -> None:
    """Ten tied without a relevant document, two tied with one; four are not many."""
    run = {"large": dict.fromkeys("abcdefghij", 1.0), "small": {"a": 1.0, "b": 1.0}}
    _, groups = by_query(audit(run, {"large": {"x": 1}, "small": {"a": 1}}, "R@1"), "R@1")
    assert groups == (
        "R@1: 2 of 2 queries tie across the cut, and 1 of those have no range. The largest group there, 10 documents "
        "(query large), leaves a range of 0.0000; the widest, 1.0000, comes of 2. Many ties need not mean a wide range."
    )
    run["large"] = dict.fromkeys("abcd", 1.0)
    _, groups = by_query(audit(run, {"large": {"x": 1}, "small": {"a": 1}}, "R@1"), "R@1")
    assert groups.endswith("the widest, 1.0000, comes of 2.")


def test_of_equally_large_groups_the_one_with_the_widest_range_is_named() -> None:
    run = {"harmless": {"a": 1.0, "b": 1.0}, "open": {"a": 1.0, "b": 1.0}}
    _, groups = by_query(audit(run, {"harmless": {"x": 1}, "open": {"a": 1}}, "R@1"), "R@1")
    assert groups.endswith("The largest group there, 2 documents (query open), leaves a range of 1.0000.")


def test_without_ties_at_the_cut_the_ranges_are_said_to_come_from_above_it() -> None:
    spread, groups = by_query(audit({"q": {"a": 2.0, "b": 2.0, "c": 1.0}}, {"q": {"a": 1}}, "RR@3"), "RR@3")
    assert spread.startswith("RR@3: 1 of 1 queries has a range")
    assert groups == "RR@3: no query ties across the cut: its ranges come from ties above the cut, or in whole lists."
    none = by_query(audit({"q": {"a": 2.0, "b": 1.0}}, {"q": {"a": 1}}, "RR@3"), "RR@3")
    assert none == ["RR@3: none of 1 queries has a range.", "RR@3: no query ties across the cut."]


def test_an_undefined_measure_and_an_unknown_expectation_are_said_to_be_that() -> None:
    assert by_query(audit({"q": {"a": 1.0}}, {"q": {}}, "R@1"), "R@1") == ["R@1 is undefined: no query is defined."]
    cut = by_query(audit({"q": {"a": 1.0, "b": 1.0}}, {"q": {"a": 1, "x": 1}}, "R@1", depth=2), "R@1")
    assert cut[0].endswith("How much that is cannot be said: censored.")


def test_a_difference_says_who_wins_anyway_and_whether_ties_turn_the_mean() -> None:
    """B wins one query by every order; the tie of the other one can take the same from it."""
    judged = {"q1": {"a": 1}, "q2": {"a": 1}}
    first = {"q1": {"a": 1.0, "b": 2.0}, "q2": {"a": 2.0, "b": 1.0}}
    second = {"q1": {"a": 2.0, "b": 1.0}, "q2": {"a": 1.0, "b": 1.0}}
    found = of_difference(systems({"A": first, "B": second}, judged, "R@1").difference("R@1", "A", "B"))
    assert found[0] == (
        "R@1, B against A: whatever ties do, it wins 1 of 2 queries and loses 0; 0 are equal. "
        "Of the 1 undecided, 0 are decided by the contract and taken back by another order."
    )
    assert found[1].startswith(
        "The mean difference is +0.5000 by the contract; ties alone allow +0.0000 to +0.5000: they"
    )
    assert "(95 %)" in found[2]
    firm = systems({"A": first, "B": {**second, "q2": first["q2"]}}, judged, "R@1").difference("R@1", "A", "B")
    assert "ties alone allow +0.5000 to +0.5000: whoever is better stays so." in of_difference(firm)[1]
    same = systems({"A": first, "B": first}, judged, "R@1").difference("R@1", "A", "B")
    assert "no order makes a difference" in of_difference(same)[1]


def test_two_systems_without_a_common_query_are_said_to_have_none() -> None:
    runs = {"A": {"q1": {"a": 1.0}}, "B": {"q2": {"a": 1.0}}}
    judged = {"q1": {"a": 1}, "q2": {"a": 1}}
    found = systems(runs, judged, "R@1", protocol="trec").difference("R@1", "A", "B")
    assert of_difference(found) == ["R@1: A and B have no query in common."]


def test_a_leaderboard_names_the_ranks_that_ties_leave_open() -> None:
    judged = {"q": {"a": 1}}
    tied, first, last = ({"q": {"a": value, "b": 1.0}} for value in (1.0, 2.0, 0.5))
    open_ranks = of_leaderboard(systems({"T": tied, "F": first, "L": last}, judged, "RR"), "RR")
    assert open_ranks == "By RR ties leave ranks open: T 1 to 2, L 2 to 3."
    firm = of_leaderboard(systems({"F": first, "L": last}, judged, "RR"), "RR")
    assert firm == "By RR no order of ties changes a rank."


def test_kinds_count_each_averaged_query_once() -> None:
    """A harmless tie across the cut, one with a range, a tie above the cut with a range, none; and one undefined."""
    run = {
        "harmless": {"a": 1.0, "b": 1.0, "c": 1.0}, "range": {"a": 2.0, "b": 1.0, "c": 1.0},
        "above": {"a": 2.0, "b": 2.0, "c": 1.0}, "none": {"a": 3.0, "b": 2.0, "c": 1.0}, "undefined": {"a": 1.0},
    }  # fmt: skip
    judged = {
        "harmless": dict.fromkeys("abc", 1),
        "range": {"b": 1},
        "above": {"a": 1},
        "none": {"a": 1},
        "undefined": {},
    }
    table = kinds(audit(run, judged, ["AP@2"]))
    assert table["AP@2"].tolist() == [1, 1, 1, 1]


def test_a_value_outside_its_range_is_noticed() -> None:
    found = audit(TIED, {"q1": {"a": 1}, "q2": {"a": 1}}, ["R@1"])
    assert outside(found) == []
    result = found.result("R@1")
    wrong = replace(result, values=replace(result.values, contract=np.array([1.0, 1.5])))
    assert outside(Audit(found.setting, {"R@1": wrong})) == [("q2", "R@1")]


def test_evaluators_that_agree_or_have_no_number_are_not_spoken_of() -> None:
    habits: dict[str, dict[str, float | None]] = {
        "one": {"RR": 0.5, "AP": 0.5, "ERR": None},
        "two": {"RR": 0.50004, "AP": 0.6, "ERR": 0.5},
    }
    assert of_evaluators(habits) == ["AP by the orders of evaluators: from 0.5000 (one) to 0.6000 (two)."]
