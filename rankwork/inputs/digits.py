"""scikit-learn's handwritten digits as a retrieval set: 1,797 images, real ties, nothing to download.

Each image is 64 pixels of 0 to 16, and a pixel is on from `threshold`. A document's score is the number of pixels in
which it agrees with the query image, 64 minus the Hamming distance. With 65 possible scores, ties are everywhere.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankwork.errors import InputError
from rankwork.rankings import Columns, Judgements, Rankings, text_array

IMAGES = 1797


def digits(*, queries: int = 200, depth: int | None = None, threshold: int = 8) -> tuple[Rankings, Judgements]:
    """The first `queries` images, each a query against all others; images of the same digit are relevant, grade 1.

    `depth` cuts each list there by the contract (score descending, ID ascending); None keeps it complete. Documents are
    "d0000" to "d1796", and image 42 asks as "q0042". Scores are int64. InputError for a number out of range.

    >>> run, judgements = digits(queries=2, depth=3)
    >>> run.rows("q0000")
    [('d0458', 62), ('d0724', 62), ('d0010', 61)]
    """
    _check("queries", queries, 1, IMAGES)
    _check("depth", IMAGES - 1 if depth is None else depth, 1, IMAGES - 1)
    _check("threshold", threshold, 1, 16)
    pixels, labels = _loaded()
    agreement = _agreement(pixels >= threshold, queries)
    ranked = np.argsort(-agreement, axis=1, kind="stable")[:, : IMAGES - 1 if depth is None else depth]
    names = [f"q{image:04d}" for image in range(queries)]
    query_codes = np.repeat(np.arange(queries), ranked.shape[1])
    scores = np.take_along_axis(agreement, ranked, axis=1).ravel()
    run = Rankings.of_columns(Columns(names, query_codes, _documents(), ranked.ravel()), scores)
    return run, _same_digit(names, labels)


def _check(name: str, value: int, low: int, high: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise InputError(f"{name} must be an integer between {low} and {high}, got {value!r}")


def _loaded() -> tuple[NDArray[Any], NDArray[Any]]:
    from sklearn.datasets import load_digits

    bunch = load_digits()
    return bunch.data, bunch.target


def _documents() -> NDArray[Any]:
    return text_array(f"d{image:04d}" for image in range(IMAGES))


def _agreement(on: NDArray[np.bool_], queries: int) -> NDArray[np.int64]:
    """Pixels in which each query image agrees with each image; -1 with itself, which puts it last."""
    bits = on.astype(np.float32)  # a product of floats is exact here, and far faster than one of integers
    same = bits[:queries] @ bits.T + (1 - bits[:queries]) @ (1 - bits).T
    agreement = np.rint(same).astype(np.int64)
    agreement[np.arange(queries), np.arange(queries)] = -1
    return agreement


def _same_digit(names: list[str], labels: NDArray[Any]) -> Judgements:
    same = labels[: len(names), None] == labels[None, :]
    same[np.arange(len(names)), np.arange(len(names))] = False
    query_codes, codes = np.nonzero(same)
    return Judgements.of_columns(Columns(names, query_codes, _documents(), codes), np.ones(len(codes), np.int64))
