"""scikit-learn's digits as a retrieval set, checked pixel by pixel on a few queries."""

from typing import Any

import pytest
from sklearn.datasets import load_digits

from rankwork.errors import InputError
from rankwork.inputs.digits import digits


def test_the_score_is_the_number_of_pixels_that_agree() -> None:
    """Counted by hand for three queries against all images; the query itself is no candidate."""
    run, judgements = digits(queries=3)
    images = [[pixel >= 8 for pixel in row] for row in load_digits().data.tolist()]
    labels = load_digits().target.tolist()
    for query in range(3):
        others = [place for place in range(len(images)) if place != query]
        agreement = {
            f"d{place:04d}": sum(a == b for a, b in zip(images[query], images[place], strict=True)) for place in others
        }
        assert dict(run.rows(f"q{query:04d}")) == agreement
        same = {f"d{place:04d}": 1 for place in others if labels[place] == labels[query]}
        assert judgements.grades_of(f"q{query:04d}") == same


def test_a_depth_cuts_by_the_contract() -> None:
    """The first documents of the complete list, in the contract's order."""
    complete, _ = digits(queries=5)
    cut, _ = digits(queries=5, depth=30)
    rows = complete.order("id_asc").reshape(5, -1)[:, :30]
    for place, query in enumerate(cut.queries):
        expected = complete.documents[complete.codes[rows[place]]].tolist()
        assert [document for document, _ in cut.rows(query)] == expected


def test_most_queries_tie_across_rank_ten() -> None:
    """86 % of all 1,797; here of the first 200."""
    run, _ = digits(depth=11)
    split = [rows[9][1] == rows[10][1] for rows in (run.rows(query) for query in run.queries)]
    assert 0.75 < sum(split) / len(split) < 0.95


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"queries": 0}, "queries must be an integer between 1 and 1797, got 0"),
        ({"queries": True}, "got True"),
        ({"depth": 1797}, "depth must be an integer between 1 and 1796, got 1797"),
        ({"threshold": 17}, "threshold must be an integer between 1 and 16, got 17"),
    ],
)
def test_numbers_out_of_range_are_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        digits(**arguments)
