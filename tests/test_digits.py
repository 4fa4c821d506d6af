"""scikit-learn's digits as a retrieval set, checked pixel by pixel on a few queries."""

import math
from typing import Any, Literal

import numpy as np
import pytest
from sklearn.datasets import load_digits

from rankwork.errors import InputError
from rankwork.inputs.digits import digits, one_digit
from rankwork.measures.auditing import audit
from rankwork.measures.origins import as_type, rounded


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


@pytest.mark.parametrize("likeness", ["cosine", "euclidean"])
def test_a_continuous_likeness_is_the_exact_value_rounded_to_float32(likeness: Literal["cosine", "euclidean"]) -> None:
    """From integer sums in Python: the root of a fraction of squares, or of a sum of them."""
    run, judgements = digits(queries=3, likeness=likeness)
    images = [[int(pixel) for pixel in row] for row in load_digits().data.tolist()]
    assert run.scores.dtype == np.float32
    for query in range(3):
        scores = dict(run.rows(f"q{query:04d}"))
        assert len(scores) == len(images) - 1
        for document, score in list(scores.items())[:300]:
            a, b = images[query], images[int(document[1:])]
            dot, squares = sum(x * y for x, y in zip(a, b, strict=True)), [sum(x * x for x in c) for c in (a, b)]
            exact = {"cosine": dot / math.sqrt(math.prod(squares)), "euclidean": -math.sqrt(sum(squares) - 2 * dot)}
            assert score == float(np.float32(exact[likeness]))
    assert judgements.grades_of("q0000") == digits(queries=1)[1].grades_of("q0000")


def test_no_cosine_ties_across_rank_ten_until_it_is_rounded() -> None:
    run, judgements = digits(queries=40, likeness="cosine")
    splits = [
        int(audit(form, judgements, "P@10").result("P@10").splits.sum())
        for form in (run, as_type(run, "bfloat16"), rounded(run, 2))
    ]
    assert splits[0] == 0 < splits[1] < splits[2]


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
        ({"likeness": "hamming"}, "likeness must be one of agreement, cosine, euclidean, got 'hamming'"),
        ({"threshold": 17}, "threshold must be an integer between 1 and 16, got 17"),
    ],
)
def test_numbers_out_of_range_are_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        digits(**arguments)


def test_one_digit_is_its_list_of_the_whole_set() -> None:
    run, judgements = digits(queries=6)
    assert one_digit(5) == (run.rows("q0005"), set(judgements.grades_of("q0005")))
    with pytest.raises(InputError, match="image must be an integer between 0 and 1796, got 1797"):
        one_digit(1797)
