"""scikit-learn's handwritten digits as a retrieval set: 1,797 images, real ties, nothing to download.

Each image is 64 pixels of 0 to 16. A document's score is its likeness to the query image, in one of three ways: the
number of black or white pixels in which the two agree, with 65 possible scores and ties everywhere; the cosine of the
pixels; minus their Euclidean distance. The last two are continuous, and what ties them is the type that holds them.
"""

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rankwork.errors import InputError
from rankwork.rankings import Columns, Judgements, Rankings, text_array

IMAGES = 1797
Likeness = Literal["agreement", "cosine", "euclidean"]


def digits(
    *, queries: int = 200, depth: int | None = None, threshold: int = 8, likeness: Likeness = "agreement"
) -> tuple[Rankings, Judgements]:
    """The first `queries` images, each a query against all others; images of the same digit are relevant, grade 1.

    `likeness` is the score: `agreement`, int64, the pixels that are on in both images or off in both (a pixel is on
    from `threshold`), 64 minus the Hamming distance; `cosine`, float32; `euclidean`, float32, minus the distance. The
    floats are rounded once, from exact integers, and are the same bits on every machine. `depth` cuts each list there
    by the contract (score descending, ID ascending); None keeps it complete. Documents are "d0000" to "d1796", and
    image 42 asks as "q0042". InputError for a number out of range and for another likeness.

    >>> run, judgements = digits(queries=2, depth=3)
    >>> run.rows("q0000")
    [('d0458', 62), ('d0724', 62), ('d0010', 61)]
    >>> digits(queries=1, depth=1, likeness="euclidean")[0].rows("q0000")
    [('d0877', -10.954451560974121)]
    """
    _check("queries", queries, 1, IMAGES)
    _check("depth", IMAGES - 1 if depth is None else depth, 1, IMAGES - 1)
    _check("threshold", threshold, 1, 16)
    if likeness not in _LIKENESSES:
        raise InputError(f"likeness must be one of {', '.join(_LIKENESSES)}, got {likeness!r}")
    pixels, labels = _loaded()
    likenesses = _LIKENESSES[likeness](pixels, queries, threshold)
    ranked = _without_itself(likenesses)[:, : IMAGES - 1 if depth is None else depth]
    names = [f"q{image:04d}" for image in range(queries)]
    query_codes = np.repeat(np.arange(queries), ranked.shape[1])
    scores = np.take_along_axis(likenesses, ranked, axis=1).ravel()
    run = Rankings.of_columns(Columns(names, query_codes, _documents(), ranked.ravel()), scores)
    return run, _same_digit(names, labels)


def one_digit(image: int) -> tuple[list[tuple[str, int]], set[str]]:
    """One image's whole list by agreement, and the images of the same digit, which are relevant.

    InputError for an image that does not exist.

    >>> rows, relevant = one_digit(0)
    >>> len(rows), rows[0], len(relevant)
    (1796, ('d0458', 62), 177)
    """
    _check("image", image, 0, IMAGES - 1)
    run, judgements = digits(queries=image + 1)
    query = f"q{image:04d}"
    return run.rows(query), set(judgements.grades_of(query))


def _check(name: str, value: int, low: int, high: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise InputError(f"{name} must be an integer between {low} and {high}, got {value!r}")


def _loaded() -> tuple[NDArray[Any], NDArray[Any]]:
    from sklearn.datasets import load_digits

    bunch = load_digits()
    return bunch.data, bunch.target


def _documents() -> NDArray[Any]:
    return text_array(f"d{image:04d}" for image in range(IMAGES))


def _without_itself(likenesses: NDArray[Any]) -> NDArray[np.int64]:
    """For each query the images by likeness descending and ID ascending, itself left out."""
    ranked = np.argsort(-likenesses, axis=1, kind="stable")
    others = ranked != np.arange(len(ranked))[:, None]
    return np.asarray(ranked[others].reshape(len(ranked), IMAGES - 1), np.int64)


def _agreement(pixels: NDArray[Any], queries: int, threshold: int) -> NDArray[np.int64]:
    bits = (pixels >= threshold).astype(np.float32)  # a product of floats is exact here, far faster than of integers
    return np.rint(bits[:queries] @ bits.T + (1 - bits[:queries]) @ (1 - bits).T).astype(np.int64)


def _cosine(pixels: NDArray[Any], queries: int, threshold: int) -> NDArray[np.float32]:
    squares = (pixels**2).sum(axis=1)
    lengths = np.sqrt(squares[:queries, None] * squares)
    return np.asarray((pixels[:queries] @ pixels.T) / lengths, np.float32)


def _euclidean(pixels: NDArray[Any], queries: int, threshold: int) -> NDArray[np.float32]:
    squares = (pixels**2).sum(axis=1)
    distances = squares[:queries, None] + squares - 2 * (pixels[:queries] @ pixels.T)
    return np.asarray(-np.sqrt(distances), np.float32)


_LIKENESSES: dict[str, Callable[[NDArray[Any], int, int], NDArray[Any]]] = {
    "agreement": _agreement,
    "cosine": _cosine,
    "euclidean": _euclidean,
}


def _same_digit(names: list[str], labels: NDArray[Any]) -> Judgements:
    same = labels[: len(names), None] == labels[None, :]
    same[np.arange(len(names)), np.arange(len(names))] = False
    query_codes, codes = np.nonzero(same)
    return Judgements.of_columns(Columns(names, query_codes, _documents(), codes), np.ones(len(codes), np.int64))
