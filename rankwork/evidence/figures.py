"""The figures of a notebook as a report shows them: numbered, with a caption, and with a text for who cannot see them.

Both texts come with the figure, in its output's metadata under the image's MIME type: `alt` and `caption`. rankwork's
own figures bring them; any other takes the heading that it stands under.
"""

import base64
import binascii
import re
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from rankwork.evidence.manifest import text_of

_KINDS = ("image/svg+xml", "image/png", "image/jpeg")  # in the order in which nbconvert would choose
_BEFORE_IMAGES = ("text/html", "text/markdown")
_HEADING = re.compile(r"^#{1,6} +(.+?) *$", re.MULTILINE)
SHOWN = "rankwork_figure"


def numbered(cells: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The cells with each image among their outputs as a figure in HTML."""
    shown, number, heading = [], 0, ""
    for cell in cells:
        if cell["cell_type"] == "markdown" and (headings := _HEADING.findall(text_of(cell))):
            heading = re.sub(r"[*`]", "", headings[-1])
        outputs = []
        for output in cell.get("outputs", ()):
            drawn = _figure(output, number + 1, heading)
            number += drawn is not None
            outputs.append(drawn or output)
        shown.append({**cell, "outputs": outputs} if "outputs" in cell else dict(cell))
    return shown


def _figure(output: Mapping[str, Any], number: int, heading: str) -> dict[str, Any] | None:
    """An output that shows an image, as a figure; None for any other, and for what is no image."""
    data = output.get("data", {})
    kind = next((kind for kind in _KINDS if kind in data), None)
    content = _encoded(data[kind], kind) if kind and not any(mime in data for mime in _BEFORE_IMAGES) else None
    if kind is None or content is None:
        return None
    alt = _said(output, kind, "alt") or f"figure {number}{f', under the heading: {heading}' if heading else ''}"
    caption = _said(output, kind, "caption") or heading
    html = (
        f'<figure><img src="data:{kind};base64,{content}" alt="{escape(alt)}"/>'
        f"<figcaption>Figure {number}. {escape(caption)}</figcaption></figure>"
    )
    return {**output, "data": {"text/html": html}, "metadata": {SHOWN: True}}


def _said(output: Mapping[str, Any], kind: str, name: str) -> str:
    about = output.get("metadata", {}).get(kind)
    said = about.get(name) if isinstance(about, Mapping) else None
    return said if isinstance(said, str) else ""


def _encoded(content: Any, kind: str) -> str | None:
    text = content if isinstance(content, str) else "".join(content)
    try:
        raw = text.encode() if kind.endswith("xml") else base64.b64decode("".join(text.split()), validate=True)
    except binascii.Error:
        return None
    return base64.b64encode(raw).decode()
