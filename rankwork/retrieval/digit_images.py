"""scikit-learn's handwritten digits as a collection: an image is the words that name its dark pixels."""

from collections import defaultdict

import numpy as np

from rankwork.errors import InputError
from rankwork.inputs.documents import Collection, Document
from rankwork.retrieval.collection import split_of
from rankwork.trace import Case, Evidence, Requirement

IMAGES = 1797


def digit_images(*, queries: int = 200, threshold: int = 8, seed: int = 0) -> Collection:
    """The 1,797 images, and the first `queries` of them as cases that ask for any other image of the same digit.

    The text of an image names each pixel of at least `threshold` (of 16) by row and column: "r0c3 r0c4". A case's own
    image is excluded; its one requirement is met by any image of its digit, which is also its slice. Images of equal
    text share a cluster; `seed` draws the split. InputError for numbers out of range.

    >>> images = digit_images(queries=1)
    >>> images.documents[0].text[:14], images.cases[0].slices, len(images.cases[0].gold)
    ('r0c3 r0c4 r1c2', ('digit 0',), 177)
    """
    _check("queries", queries, 1, IMAGES)
    _check("threshold", threshold, 1, 16)
    from sklearn.datasets import load_digits

    bunch = load_digits()
    texts = [_words(image >= threshold) for image in bunch.images]
    labels = [int(label) for label in bunch.target]
    names = [f"d{place:04d}" for place in range(IMAGES)]
    first = _first_with(texts, names)
    same = {digit: [name for name, label in zip(names, labels, strict=True) if label == digit] for digit in set(labels)}
    return Collection(
        name="handwritten digits",
        revision=f"scikit-learn's load_digits, threshold {threshold}",
        documents=tuple(
            Document(name, text, source=name, end=len(text)) for name, text in zip(names, texts, strict=True)
        ),
        cases=tuple(
            _case(names[i], texts[i], labels[i], same[labels[i]], first[texts[i]], seed) for i in range(queries)
        ),
        parser="the pixels from a threshold, by row and column",
    )


def _check(name: str, value: int, low: int, high: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise InputError(f"{name} must be an integer between {low} and {high}, got {value!r}")


def _words(dark: "np.ndarray[tuple[int, int], np.dtype[np.bool_]]") -> str:
    return " ".join(f"r{row}c{column}" for row, column in np.argwhere(dark).tolist())


def _first_with(texts: list[str], names: list[str]) -> dict[str, str]:
    holders: dict[str, list[str]] = defaultdict(list)
    for text, name in zip(texts, names, strict=True):
        holders[text].append(name)
    return {text: min(group) for text, group in holders.items()}


def _case(name: str, text: str, digit: int, same: list[str], cluster: str, seed: int) -> Case:
    evidence = tuple(Evidence(id=other, source=other) for other in same if other != name)
    return Case(
        id=f"q{name[1:]}",
        query=text,
        requires=(Requirement(any_of=evidence, name=f"digit {digit}"),),
        slices=(f"digit {digit}",),
        split=split_of(cluster, seed),
        cluster=cluster,
        excludes=(name,),
    )
