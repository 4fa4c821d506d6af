"""Canonical JSON and SHA-256 digests: equal values give equal digests on every machine.

Canonical JSON has sorted keys, no spaces, no escapes for non-ASCII text, and floats in the shortest form that reads
back to the same bits. JSON has no NaN or infinity, so they are refused; `rankwork.evidence.recording` writes them out.

>>> canonical_json({"b": 1, "a": [0.1, "é"]})
'{"a":[0.1,"é"],"b":1}'
>>> digest({"b": 1, "a": 2}) == digest({"a": 2, "b": 1})
True
"""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import hashlib

_CHUNK = 1 << 20


def canonical_json(value: Any) -> str:
    """The one JSON text of `value`. ValueError for NaN and infinities, TypeError for what JSON cannot hold."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def digest(value: Any) -> str:
    """SHA-256, in hex, of the canonical JSON of `value`."""
    return digest_bytes(canonical_json(value).encode())


def digest_bytes(data: bytes | memoryview) -> str:
    """SHA-256, in hex, of bytes.

    >>> digest_bytes(b"")[:16]
    'e3b0c44298fc1c14'
    """
    return _state(data).hexdigest()


def digest_file(path: Path) -> str:
    """SHA-256, in hex, of a file's bytes, read in chunks."""
    state = _state()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            state.update(chunk)
    return state.hexdigest()


def _state(data: bytes | memoryview = b"") -> "hashlib._Hash":
    import hashlib  # loads a library of its own, which an audit has no use for

    return hashlib.sha256(data)
