"""The parts of a docstring in numpy's style: its summary line, its sections, and the names that it says to see also.

The style is that of the numpydoc guide: a section's title stands on a line of its own, underlined with dashes, and an
entry of "See Also" is a list of names, parted by commas, with a description after a colon. A line in bold begins a part
of a section.
"""

import re
from dataclasses import dataclass
from functools import cached_property

_BOLD = re.compile(r"\*\*[^*]+\*\*$")
_UNDERLINE = re.compile(r"-{3,}\s*$")
_NAME = r"(?::\w+:)?`?~?([A-Za-z_][\w.]*)`?"
_ENTRY = re.compile(rf"^\s*({_NAME}(?:\(\))?(?:\s*,\s*{_NAME}(?:\(\))?)*),?\s*(?::|$)")
_ONE_NAME = re.compile(_NAME)
_SIGNATURE = re.compile(r"(\w[\w, ]* = )?[A-Za-z_][\w.]*\(.*\)(\s*->.*)?$", re.DOTALL)
_PRINTED_SET = re.compile(r"``\{('[^{}]*')\}``")
_BLANK = re.compile(r"\n\s*\n")


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
        r"""The first line that says what it does: that of the first paragraph that is not how to call it.

        >>> Docstring("add(x1, x2, /,\n    out=None)\n\nAdd arguments.").summary
        'Add arguments.'
        """
        paragraphs = (block.strip() for block in _BLANK.split(self.text) if block.strip())
        said = next((block for block in paragraphs if not _SIGNATURE.match(block)), "")
        return said.partition("\n")[0]

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
        starts = [
            place for place in range(len(lines)) if _is_title(lines[place], "".join(lines[place + 1 : place + 2]))
        ]
        bounds = [0, *starts, len(lines)]
        titles = ["", *(lines[place].strip(" *") for place in starts)]
        parts = zip(titles, bounds, bounds[1:], strict=False)
        return tuple((title, tuple(lines[start:stop])) for title, start, stop in parts)


def with_sets_in_order(text: str) -> str:
    """The text with the sets that code printed into it in one order, which otherwise follows the hash seed.

    >>> with_sets_in_order("Arguments ``{'b', 'a'}`` are deprecated.")
    "Arguments ``{'a', 'b'}`` are deprecated."
    """
    return _PRINTED_SET.sub(lambda found: "``{" + ", ".join(sorted(found.group(1).split(", "))) + "}``", text)


def _is_title(line: str, below: str) -> bool:
    underlined = bool(line.strip()) and not line.startswith(" ") and bool(_UNDERLINE.match(below))
    return underlined or bool(_BOLD.match(line))
