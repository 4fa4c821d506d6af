"""What a notebook leaves as its results: `record(name, value)` inside, exact values outside.

A recorded value is shown like any other output and travels in the executed notebook as a MIME type of its own, so the
results can be read back from the notebook alone. Numbers keep their exact bits; arrays and scores keep their dtype.
"""

import base64
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from fractions import Fraction
from typing import Any

from rankwork import environment
from rankwork.contract import reference
from rankwork.digest import digest
from rankwork.errors import EvidenceError
from rankwork.evidence import tokens
from rankwork.evidence.manifest import RESULT_MIME, SEAL_MIME
from rankwork.evidence.moments import moment
from rankwork.evidence.privacy import SCRATCH_VARIABLE, scrub, scrubbed

_recorded: dict[str, dict[str, Any]] = {}


@dataclass(frozen=True)
class RankedList:
    """One selection with all that is needed to compare it elsewhere; made by `ranked_list`.

    `ids` and `scores` are the selected items in order; `candidates` counts the items that took part and
    `candidates_digest` identifies them with their exact scores; `keys` are the names of the secondary keys.
    """

    ids: tuple[str | int, ...]
    scores: tuple[float | int, ...]
    k: int
    policy: str
    keys: tuple[str, ...]
    candidates: int
    candidates_digest: str


def ranked_list(
    rows: Iterable[Any] | Mapping[Any, Any], k: int, *, keys: Sequence[str] = (), policy: str = "by_id"
) -> RankedList:
    """The selection of `rankwork.rank` as a value to record.

    >>> ranked_list([("A", 9.0), ("C", 8.0), ("B", 8.0)], 2).ids
    ('A', 'B')
    """
    found = reference.candidates(rows, keys)
    ids = reference.rank([(row.id, *row.standing) for row in found], k, keys=keys, policy=policy)
    standing = {row.id: row.standing for row in found}
    everything = [[item, *map(_encode, standing[item])] for item in sorted(standing)]
    scores = tuple(standing[item][0] for item in ids)
    return RankedList(ids, scores, k, policy, tuple(keys), len(found), digest(everything))


def record(name: str, value: Any, *, measured: bool = False) -> None:
    """Keep `value` under `name` as a result of the notebook that is running.

    Numbers, text, fractions, lists, mappings, dataclasses, numpy and torch arrays, pandas tables, `Rankings`,
    `Judgements`, an `Audit` and a `RankedList` can be recorded. `measured=True` is for times and other measurements:
    they are kept, and left out of the result digest. EvidenceError when the name is taken or the value has no exact
    form. Outside a runner the value is shown and nothing else happens.

    >>> record("answer", 42)
    answer = 42
    """
    moment("in_cell")
    if not isinstance(name, str) or not name:
        raise EvidenceError(f"a result's name must be text, got {name!r}")
    if name in _recorded and SCRATCH_VARIABLE in os.environ:
        raise EvidenceError(f"result {name!r} is recorded twice")
    content, text = scrubbed(encode(value, name)), f"{name} = {scrub(_short(value))}"
    if hiding := tokens.in_force():
        content, text = tokens.hidden(content, hiding), f"{name} is kept as keyed digests"
    entry = {"name": name, "measured": bool(measured), "value": content}
    _recorded[name] = entry
    _show(RESULT_MIME, entry, text)


def seal(nonce: str) -> None:
    """End an execution: show the nonce, the digest of all that was recorded, and the environment it happened in."""
    moment("in_last_cell")
    content = {"nonce": nonce, "results": results_digest(_recorded), "environment": scrubbed(environment.describe())}
    _show(SEAL_MIME, content, "sealed")


def _show(mime: str, content: Any, text: str) -> None:
    """In a notebook an output of our own type; elsewhere a line of text."""
    from IPython.core.getipython import get_ipython
    from IPython.display import display

    if get_ipython() is None:
        print(text)
    else:
        display({mime: content, "text/plain": text}, raw=True)  # type: ignore[no-untyped-call]


def results_digest(results: Mapping[str, Mapping[str, Any]]) -> str:
    """The digest of recorded values, those declared as measured left out; order does not matter."""
    return digest({name: entry["value"] for name, entry in results.items() if not entry["measured"]})


def collect(notebook: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The recorded values of an executed notebook, by name, in order of appearance."""
    entries = (output["data"][RESULT_MIME] for output in _displayed(notebook) if RESULT_MIME in output["data"])
    return {entry["name"]: entry for entry in entries}


def find_seal(notebook: Mapping[str, Any]) -> dict[str, Any] | None:
    """The seal that an executed notebook's last cell shows, or None."""
    last = {"cells": notebook["cells"][-1:]}
    seals = [output["data"][SEAL_MIME] for output in _displayed(last) if SEAL_MIME in output["data"]]
    return seals[-1] if seals else None


def _displayed(notebook: Mapping[str, Any]) -> Iterable[Any]:
    for cell in notebook["cells"]:
        yield from (output for output in cell.get("outputs", ()) if output.get("output_type") == "display_data")


def encode(value: Any, name: str = "value") -> Any:
    """The exact JSON form of a value. Plain JSON values stand for themselves; the rest is a mapping with a `kind`.

    >>> encode(Fraction(2, 3)), encode(float("inf"))
    ({'kind': 'fraction', 'value': '2/3'}, {'kind': 'float', 'value': 'inf'})
    """
    try:
        return _encode(value)
    except TypeError as error:
        raise EvidenceError(f"result {name!r}: {error}") from None


def _encode(value: Any) -> Any:
    if value is None or type(value) in (bool, int, str):
        return value
    if type(value) is float:
        return value if math.isfinite(value) else {"kind": "float", "value": str(value)}
    if isinstance(value, Fraction):
        return {"kind": "fraction", "value": str(value)}
    if type(value).__module__.startswith("rankwork."):
        return _encode_ours(value)
    if is_dataclass(value) and not isinstance(value, type):
        return _encode_mapping({field.name: getattr(value, field.name) for field in fields(value)})
    if isinstance(value, Mapping):
        return _encode_mapping(value)
    if isinstance(value, (list, tuple)):
        return [_encode(item) for item in value]
    if isinstance(value, (set, frozenset)):
        return {
            "kind": "set",
            "items": sorted((_encode(item) for item in value), key=lambda item: (str(type(item)), item)),
        }
    return _encode_array_like(value)


def _encode_ours(value: Any) -> Any:
    from rankwork.measures.auditing import Audit
    from rankwork.rankings import Judgements, Rankings

    if isinstance(value, RankedList):
        return _encode_ranked_list(value)
    if isinstance(value, Rankings):
        return _encode_rankings(value)
    if isinstance(value, Judgements):
        return _encode_judgements(value)
    if isinstance(value, Audit):
        return {"kind": "audit", **_encode_mapping(value.to_json())}
    return _encode_mapping({field.name: getattr(value, field.name) for field in fields(value)})


def _encode_mapping(value: Mapping[Any, Any]) -> dict[str, Any]:
    if unusable := [key for key in value if not isinstance(key, str)]:
        raise TypeError(f"the key {unusable[0]!r} is not text")
    return {key: _encode(item) for key, item in value.items()}


def _encode_ranked_list(value: RankedList) -> dict[str, Any]:
    import numpy as np

    scores = np.asarray(value.scores) if value.scores else np.empty(0)
    about = {field.name: getattr(value, field.name) for field in fields(value) if field.name != "scores"}
    return {"kind": "ranking", **_encode_mapping(about), "scores": _encode_numpy(scores)}


def _encode_rankings(value: Any) -> dict[str, Any]:
    """A whole run: queries, lengths, IDs and scores in order of arrival, and what identifies them."""
    return {
        "kind": "rankings",
        "queries": list(value.queries),
        "lengths": value.lengths.tolist(),
        "ids": value.documents[value.codes].tolist(),
        "scores": _encode_numpy(value.scores),
        "candidates_digest": value.candidates_digest,
        "scores_digest": value.scores_digest,
    }


def _encode_judgements(value: Any) -> dict[str, Any]:
    """The version of the labels: what was judged and how, by digest."""
    grades = {query: sorted(value.grades_of(query).items()) for query in value.queries}
    return {
        "kind": "judgements",
        "queries": len(value.queries),
        "rows": len(value),
        "candidates_digest": value.candidates_digest,
        "grades_digest": digest(_encode(grades)),
    }


def _encode_array_like(value: Any) -> Any:
    """numpy, torch and pandas by their own marks, so that none is imported for a value that is not its own."""
    module = type(value).__module__.partition(".")[0]
    if module == "torch":
        return _encode_torch(value)
    if module == "numpy":
        return _encode_numpy(value)
    if module == "pandas":
        return _encode_table(value)
    raise TypeError(f"a {type(value).__qualname__} has no exact form; record numbers, tables, rankings or arrays")


def _encode_torch(tensor: Any) -> Any:
    import torch

    tensor = tensor.detach().cpu().contiguous()
    if tensor.dtype == torch.bfloat16:  # numpy has no such dtype: the bits travel as integers
        return _encode_numpy(tensor.view(torch.int16).numpy()) | {"dtype": "bfloat16"}
    return _encode_numpy(tensor.numpy())


def _encode_numpy(array: Any) -> Any:
    import numpy as np

    if isinstance(array, np.generic):
        return _encode(array.item()) if array.dtype.kind in "biufU" else _encode_numpy(np.asarray(array))
    if array.dtype.kind in "OU":
        return {
            "kind": "array",
            "dtype": "text",
            "shape": list(array.shape),
            "items": [_encode(x) for x in array.ravel()],
        }
    if array.dtype.kind not in "biuf":
        raise TypeError(f"an array of dtype {array.dtype} has no exact form")
    little = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
    bits = base64.b64encode(little.tobytes()).decode()
    return {"kind": "array", "dtype": array.dtype.name, "shape": list(array.shape), "bits": bits}


def _encode_table(table: Any) -> dict[str, Any]:
    import pandas as pd

    if isinstance(table, pd.Series):
        table = table.to_frame(name=str(table.name))
    named = any(name is not None for name in table.index.names) or not isinstance(table.index, pd.RangeIndex)
    flat = table.reset_index() if named else table
    names = [str(name) for name in flat.columns]
    if repeated := [name for name in names if names.count(name) > 1]:
        raise TypeError(f"two columns of a table are named {repeated[0]!r}")
    columns = {str(name): _encode_column(flat[name]) for name in flat.columns}
    return {"kind": "table", "columns": list(columns), "data": columns}


def _encode_column(column: Any) -> list[Any]:
    """The cells of a column; a missing value is null, except among floats, where NaN is a value."""
    if column.dtype.kind == "f":
        return [_encode(item) for item in column.tolist()]
    return [None if missing else _encode(item) for item, missing in zip(column.tolist(), column.isna(), strict=True)]


def _short(value: Any) -> str:
    """A value's text in the notebook: whole where it fits into a line or is a table, else what it is."""
    if type(value).__module__.startswith("pandas") and len(value) <= 40:
        return "\n" + str(value)
    text = repr(value)
    return text if len(text) <= 200 else f"{type(value).__qualname__} with {_size(value)}"


def _size(value: Any) -> str:
    shape = getattr(value, "shape", None)
    if shape is not None:
        return f"shape {tuple(shape)}"
    return f"{len(value)} items" if hasattr(value, "__len__") else f"digest {digest(_encode(value))[:12]}"
