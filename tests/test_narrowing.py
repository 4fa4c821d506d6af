"""One cosine in five types, against exact fractions and against torch."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankwork.errors import ContractError
from rankwork.retrieval.narrowing import GRID, Dtype, Vectors, bfloat16, cosine, unit

finite = st.floats(-1e6, 1e6, allow_nan=False).filter(lambda number: number == 0 or abs(number) > 1e-6)
vectors = st.lists(finite, min_size=3, max_size=3).filter(any).map(np.array)


@given(a=vectors, b=vectors)
def test_the_cosine_is_that_of_the_angle(a: np.ndarray, b: np.ndarray) -> None:
    dot = sum(Fraction(x) * Fraction(y) for x, y in zip(a.tolist(), b.tolist(), strict=True))
    lengths = [math.sqrt(sum(Fraction(x) ** 2 for x in v.tolist())) for v in (a, b)]
    assert cosine(a, b) == pytest.approx(float(dot) / math.prod(lengths), abs=3 * 2 / GRID)


@given(rows=st.lists(vectors, min_size=1, max_size=5), query=vectors)
def test_float_scores_are_the_exact_sum_rounded_once(rows: list[np.ndarray], query: np.ndarray) -> None:
    """Sums in fractions, whatever the order in which a library adds."""
    import torch

    documents, asked = unit(np.array(rows)), unit(query)[0]
    exact = [
        float(sum(Fraction(x) * Fraction(y) for x, y in zip(row, asked.tolist(), strict=True)))
        for row in documents.tolist()
    ]
    assert Vectors(documents, "float32").scores(asked).tolist() == np.array(exact).astype(np.float32).tolist()
    assert Vectors(documents, "float16").scores(asked).tolist() == np.array(exact).astype(np.float16).tolist()
    theirs = torch.tensor(exact, dtype=torch.float64).float().bfloat16().float()
    assert Vectors(documents, "bfloat16").scores(asked).tolist() == theirs.tolist()


@given(rows=st.lists(vectors, min_size=1, max_size=5), query=vectors)
def test_binary_scores_count_the_signs_that_agree(rows: list[np.ndarray], query: np.ndarray) -> None:
    documents, asked = unit(np.array(rows)), unit(query)[0]
    agreeing = [sum((x > 0) == (y > 0) for x, y in zip(row, asked, strict=True)) for row in documents]
    assert Vectors(documents, "binary").scores(asked).tolist() == agreeing


def test_int8_scores_are_integer_products() -> None:
    """127 stands for the largest number of all documents; a query beyond it is held there."""
    documents = np.array([[0.5, -0.25], [0.1, 0.0]])
    assert Vectors(documents, "int8").scores(np.array([0.5, 0.9])).tolist() == [127 * 127 - 64 * 127, 25 * 127]


@pytest.mark.parametrize(("dtype", "kind"), [("float32", "float32"), ("float16", "float16"), ("int8", "int32")])
def test_scores_have_the_type_that_was_asked_for(dtype: Dtype, kind: str) -> None:
    assert Vectors(np.eye(2), dtype).scores(np.array([1.0, 0.0])).dtype == kind


@given(st.lists(st.floats(-(2.0**99), 2.0**99, width=32), min_size=1))
def test_bfloat16_is_that_of_torch(values: list[float]) -> None:
    import torch

    assert bfloat16(np.array(values)).tolist() == torch.tensor(values).bfloat16().float().tolist()


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_a_number_that_is_not_finite_is_refused_with_its_row(bad: float) -> None:
    with pytest.raises(ContractError, match="chunk 1 holds a number that is not finite"):
        unit(np.array([[1.0, 2.0], [1.0, bad]]), "chunk")


def test_a_vector_without_direction_is_refused_with_its_row() -> None:
    with pytest.raises(ContractError, match="vector 1 has length 0"):
        unit(np.array([[1.0, 0.0], [0.0, 0.0]]))


@pytest.mark.parametrize(
    ("a", "b"), [([1.0], [1.0, 2.0]), ([], []), ([[1.0]], [[1.0]])], ids=["dimensions", "none", "matrix"]
)
def test_vectors_of_other_dimensions_are_refused(a: list[float], b: list[float]) -> None:
    with pytest.raises(ContractError, match="two vectors of one dimension are expected"):
        cosine(np.array(a), np.array(b))


def test_a_query_of_another_dimension_and_another_type_are_refused() -> None:
    with pytest.raises(ContractError, match="the query has dimension 3, the documents 2"):
        Vectors(np.eye(2)).scores(np.ones(3))
    with pytest.raises(
        ContractError, match="dtype must be one of float32, float16, bfloat16, int8, binary, got 'int4'"
    ):
        Vectors(np.eye(2), "int4")  # type: ignore[arg-type]
