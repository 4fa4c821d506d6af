"""Recorded values read back: arrays with their bits, rankings as lists of documents and scores."""

import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankwork.errors import EvidenceError

RANKINGS = ("ranking", "rankings")


@dataclass(frozen=True)
class RecordedList:
    """One list as it was recorded: documents and their scores, in its order."""

    ids: tuple[str | int, ...]
    scores: NDArray[Any]
    dtype: str


def kind(value: Any) -> str | None:
    """The kind of an encoded value; None for plain JSON values.

    >>> kind({"kind": "fraction", "value": "1/2"}), kind({"k": 3})
    ('fraction', None)
    """
    found = value.get("kind") if isinstance(value, dict) else None
    return found if isinstance(found, str) else None


def array(form: Mapping[str, Any], name: str) -> NDArray[Any]:
    """The numbers of an encoded array; bfloat16, which numpy has not, as float32. EvidenceError for a damaged form.

    >>> array({"dtype": "int8", "shape": [2], "bits": "AQI="}, "pair").tolist()
    [1, 2]
    """
    try:
        data, shape, dtype = base64.b64decode(form["bits"], validate=True), form["shape"], form["dtype"]
        if dtype == "bfloat16":
            return (np.frombuffer(data, "<u2").astype(np.uint32) << 16).view(np.float32).reshape(shape)
        return np.frombuffer(data, np.dtype(dtype).newbyteorder("<")).reshape(shape)
    except (KeyError, TypeError, ValueError, binascii.Error) as error:
        raise EvidenceError(f"result {name!r}: its array cannot be read: {error}") from None


def lists(form: Mapping[str, Any], name: str) -> dict[str | None, RecordedList]:
    """The lists of a recorded ranking by query; the single list of kind `ranking` under None.

    EvidenceError where the numbers of queries, documents and scores do not fit together.
    """
    try:
        queries, ids = form.get("queries", [None]), form["ids"]
        lengths = form.get("lengths", [len(ids)])
        scores, dtype = array(form["scores"], name), str(form["scores"]["dtype"])
        ends = [0, *np.cumsum(lengths, dtype=np.int64).tolist()]
        if len(queries) != len(lengths) or not len(ids) == len(scores) == ends[-1]:
            counts = f"{len(queries)} queries, {len(lengths)} lengths, {len(ids)} IDs, {len(scores)} scores"
            raise EvidenceError(f"result {name!r}: its ranking does not fit together: {counts}")
        spans = pairwise(ends)
        return {
            query: RecordedList(tuple(ids[start:end]), scores[start:end], dtype)
            for query, (start, end) in zip(queries, spans, strict=True)
        }
    except (KeyError, TypeError, ValueError) as error:
        raise EvidenceError(f"result {name!r}: its ranking cannot be read: {error!r}") from None


def form_of_numbers(value: Any) -> bool:
    """Whether a value is an encoded array of numbers."""
    return kind(value) == "array" and "bits" in value
