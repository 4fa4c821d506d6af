"""The figures of an executed notebook, as bytes."""

import base64
import binascii
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from rankwork.digest import digest_bytes

PNG = "image/png"
_KINDS = (PNG, "image/jpeg", "image/svg+xml")


@dataclass(frozen=True)
class Picture:
    """One figure: the cell that showed it (from 0), its MIME type, its bytes."""

    cell: int
    mime: str
    data: bytes

    @property
    def digest(self) -> str:
        """SHA-256 of the bytes."""
        return digest_bytes(self.data)


def pictures(notebook: Mapping[str, Any]) -> Iterator[Picture]:
    """All figures in the order in which they were shown; one whose bytes cannot be decoded is kept as its text."""
    for number, cell in enumerate(notebook["cells"]):
        for output in cell.get("outputs", ()):
            for mime in _KINDS:
                if mime in output.get("data", {}):
                    yield Picture(number, mime, _bytes(output["data"][mime], mime))


def _bytes(content: Any, mime: str) -> bytes:
    text = content if isinstance(content, str) else "".join(content)
    try:
        return text.encode() if mime.endswith("xml") else base64.b64decode(text)
    except binascii.Error:
        return text.encode()
