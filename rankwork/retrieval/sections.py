"""The parts of a docstring in numpy's style: its summary line, its sections, and the names that it says to see also.

The style is that of the numpydoc guide: a section's title stands on a line of its own, underlined with dashes, and an
entry of "See Also" is a list of names, parted by commas, with a description after a colon.
"""

import re
from dataclasses import dataclass
from functools import cached_property

_UNDERLINE = re.compile(r"-{3,}\s*$")
_NAME = r"(?::\w+:)?`?~?([A-Za-z_][\w.]*)`?"
_ENTRY = re.compile(rf"^\s*({_NAME}(?:\(\))?(?:\s*,\s*{_NAME}(?:\(\))?)*),?\s*(?::|$)")
_ONE_NAME = re.compile(_NAME)
_SIGNATURE = re.compile(r"^[A-Za-z_][\w.]*\s*\(.*")


@dataclass(frozen=True)
class Docstring:
    r"""A docstring without its indent, as `inspect.cleandoc` leaves it.

    >>> parsed = Docstring("Add two numbers.\n\nSee Also\n--------\nsubtract : Take away.\nmultiply, power\n")
    >>> parsed.summary, parsed.see_also
    ('Add two numbers.', ('subtract', 'multiply', 'power'))
    >>> parsed.without("See Also")
    'Add two numbers.'
    """

    text: str

    @property
    def summary(self) -> str:
        """The first line that is not blank."""
        return next((line.strip() for line in self.text.split("\n") if line.strip()), "")

    @property
    def opens_with_signature(self) -> bool:
        """Whether the first line is how to call it, as compiled functions have it, and not what it does."""
        return bool(_SIGNATURE.match(self.summary))

    @property
    def see_also(self) -> tuple[str, ...]:
        """The names that the section "See Also" lists, in its order, as they are written there."""
        entries = (_ENTRY.match(line) for title, lines in self._sections if title == "See Also" for line in lines)
        names = [name for entry in entries if entry for name in _ONE_NAME.findall(entry.group(1))]
        return tuple(dict.fromkeys(names))

    def without(self, *titles: str) -> str:
        """The text without the sections of these titles."""
        lines = [line for title, body in self._sections if title not in titles for line in body]
        return "\n".join(lines).strip()

    @cached_property
    def _sections(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """Each section's title ("" for what stands before the first) with its lines, the heading among them."""
        lines = self.text.split("\n")
        starts = [place for place in range(len(lines) - 1) if _is_title(lines[place], lines[place + 1])]
        bounds = [0, *starts, len(lines)]
        titles = ["", *(lines[place].strip() for place in starts)]
        parts = zip(titles, bounds, bounds[1:], strict=False)
        return tuple((title, tuple(lines[start:stop])) for title, start, stop in parts)


def _is_title(line: str, below: str) -> bool:
    return bool(line.strip()) and not line.startswith(" ") and bool(_UNDERLINE.match(below))
