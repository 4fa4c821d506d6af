"""Text with marks: a template whose tags name the passages that matter, written out with their places.

>>> written = write("Heap. <heap>{service} has {gb} GB.</heap> Done.", {"service": "ledger", "gb": 4})
>>> written.text
'Heap. ledger has 4 GB. Done.'
>>> written.quote("heap"), written.marks
('ledger has 4 GB.', {'heap': (6, 22)})
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from rankwork.errors import InputError

_TAG = re.compile(r"<(/?)([a-z][a-z_0-9]*)>")


@dataclass(frozen=True)
class MarkedText:
    """A text without its tags, and for each tag the characters from start up to, not including, end."""

    text: str
    marks: dict[str, tuple[int, int]]

    def quote(self, mark: str) -> str:
        """The passage of this mark."""
        start, end = self.marks[mark]
        return self.text[start:end]


def write(template: str, facts: Mapping[str, object]) -> MarkedText:
    """The template with its facts filled in. InputError for an unknown fact, and for tags that do not match."""
    try:
        filled = template.format_map(facts)
    except KeyError as missing:
        raise InputError(f"template {template[:40]!r}: no fact {missing}") from None
    return _without_tags(filled)


def _without_tags(filled: str) -> MarkedText:
    text, end_of_last = "", 0
    opened: dict[str, int] = {}
    marks: dict[str, tuple[int, int]] = {}
    for tag in _TAG.finditer(filled):
        text += filled[end_of_last : tag.start()]
        end_of_last = tag.end()
        closing, name = tag[1], tag[2]
        if not closing:
            opened[name] = len(text)
        elif name in opened:
            marks[name] = (opened.pop(name), len(text))
        else:
            raise InputError(f"template: </{name}> closes nothing")
    if opened:
        raise InputError(f"template: <{next(iter(opened))}> is never closed")
    return MarkedText(text + filled[end_of_last:], marks)
