"""What a record says in short: its title, what it found, its headline numbers, and what was not run.

All of it is read from the executed notebook and its recorded values. Two conventions make a notebook say more: what the
last cell prints is what the run found, and a printed line or a recorded text with the words "not run here" or "not
installed here" says what another machine would add.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rankwork.evidence.manifest import RESULT_MIME, SEAL_MIME, text_of

MEANS = ("contract", "min", "expected", "max")
LONGEST_LINE = 100
_MOST_LINES = 40
_FULL = 110  # columns at which the notebooks break their sentences
_NOT_HERE = re.compile(r"\bnot (?:run|installed) here\b\W")
_TITLE = re.compile(r"\A\s*# +(.+?) *(?:\n|\Z)")


def title(notebook: Mapping[str, Any]) -> str | None:
    r"""The first heading of a notebook, in Markdown; None where it does not begin with one.

    >>> title({"cells": [{"cell_type": "markdown", "source": "# Which of *them*?\n\nText."}]})
    'Which of *them*?'
    """
    first = next(iter(notebook["cells"]), None)
    found = _TITLE.match(text_of(first)) if first and first["cell_type"] == "markdown" else None
    return found[1] if found else None


def without_title(source: str) -> str:
    """The source of a first cell without its heading."""
    return _TITLE.sub("", source, count=1)


def found(notebook: Mapping[str, Any]) -> str:
    """What the last cell before the seal printed: by convention its conclusion. Empty where it ended early."""
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    if len(code) < 2 or not any(SEAL_MIME in output.get("data", ()) for output in code[-1].get("outputs", ())):
        return ""
    said = _unwrapped("".join(_printed(code[-2])).strip("\n").split("\n"))
    return "\n".join(said[:_MOST_LINES] + ["..."] * (len(said) > _MOST_LINES))


def _unwrapped(lines: Sequence[str]) -> list[str]:
    """The lines joined where one was only broken because it was full: a page has a width of its own."""
    whole: list[str] = []
    last = ""
    for line in lines:
        first_word = line.partition(" ")[0]
        if whole and first_word and len(last) <= _FULL < len(last) + 1 + len(first_word):
            whole[-1] += f" {line}"
        else:
            whole.append(line)
        last = line
    return whole


def not_run(notebook: Mapping[str, Any]) -> list[str]:
    """The lines that say what was not run or not installed here, each once, in the order of the notebook.

    >>> cell = {"cell_type": "code", "outputs": [{"output_type": "stream", "text": "CUDA: not run here, no device."}]}
    >>> not_run({"cells": [cell]})
    ['CUDA: not run here, no device.']
    """
    texts = (line.strip() for text in _texts(notebook) for line in text.split("\n"))
    said = list(dict.fromkeys(line for line in texts if len(line) <= 2 * LONGEST_LINE and _NOT_HERE.search(line)))
    return [line for line in said if not any(line in other for other in said if other != line)]


def _texts(notebook: Mapping[str, Any]) -> Iterator[str]:
    for cell in notebook["cells"]:
        yield from _printed(cell)
        for output in cell.get("outputs", ()):
            yield from _leaves(output.get("data", {}).get(RESULT_MIME, {}).get("value"))


def _printed(cell: Mapping[str, Any]) -> Iterator[str]:
    for output in cell.get("outputs", ()):
        if output.get("output_type") == "stream" and output.get("name", "stdout") == "stdout":
            yield output["text"] if isinstance(output["text"], str) else "".join(output["text"])


def _leaves(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, Mapping)):
        for item in value.values() if isinstance(value, Mapping) else value:
            yield from _leaves(item)


def lines(results: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """The recorded numbers, one a line; values that are longer than a line are left out."""
    return [f"{name} = {text}" for name, entry in results.items() if (text := in_a_line(entry["value"]))]


def ranges(results: Mapping[str, Mapping[str, Any]]) -> dict[str, list[str]]:
    """The recorded values that have a minimum and a maximum: contract, minimum, expected value and maximum of each."""
    return {
        name: [_mean(entry["value"], key) for key in MEANS]
        for name, entry in results.items()
        if is_range(entry["value"])
    }


def is_range(value: Any) -> bool:
    """Whether a recorded value is a number with its range.

    >>> is_range({"min": 0.5, "max": 1.0}), is_range({"min": [1], "max": [2]})
    (True, False)
    """
    if not isinstance(value, Mapping) or "kind" in value or not {"min", "max"} <= set(value):
        return False
    return all(value.get(key) is None or isinstance(value[key], (int, float)) for key in MEANS)


def _mean(value: Mapping[str, Any], key: str) -> str:
    if key not in value:
        return ""
    return "unknown" if value[key] is None else f"{value[key]:.4f}"


def in_a_line(value: Any) -> str | None:
    """A recorded value as a number, a text or a few of them in one line; None for what is longer or nested deeper.

    >>> in_a_line({"min": 0.5, "max": 1.0}), in_a_line([1, "two"]), in_a_line("long " * 50)
    ('min 0.5000, max 1.0000', '1, two', None)
    """
    text = _figure(value)
    return text if text is not None and len(text) <= LONGEST_LINE else None


def _figure(value: Any) -> str | None:
    if isinstance(value, dict) and value.get("kind") in ("fraction", "float"):
        return str(value["value"])
    if isinstance(value, dict):
        kept = [key for key in MEANS if key in value] if {"min", "max"} <= set(value) else list(value)
        return None if "kind" in value else _joined([f"{key} {_item(value[key])}" for key in kept])
    if isinstance(value, list):
        return _joined([_item(item) for item in value])
    return f"{value:.4f}" if isinstance(value, float) else str(value)


def _item(value: Any) -> str:
    if isinstance(value, list):
        return "".join(("[", ", ".join(map(_item, value)), "]"))
    return _figure(value) or "..."


def _joined(parts: Sequence[str]) -> str | None:
    text = ", ".join(parts)
    return text if parts and len(text) <= LONGEST_LINE and "..." not in text else None


def plain(markdown: str) -> str:
    """A heading without its marks, for places that show text alone.

    >>> plain("Which order is *the* order of `k`?")
    'Which order is the order of k?'
    """
    return re.sub(r"[*`]|(?<!\w)_|_(?!\w)", "", markdown)
