"""Nothing personal in a record: paths, host and home give way to what they stand for.

Outputs and tracebacks name the folders of the machine they came from. They are rewritten before digests are taken, so
that the same work on another machine gives the same record.
"""

import os
import platform
import re
import sys
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

SCRATCH_VARIABLE = "RANKWORK_SCRATCH"
_CELL_FILE = re.compile(r"[^\s\"'<>()\[\]]*ipykernel_\d+/\d+\.py")
_ADDRESS = re.compile(r"\bat 0x[0-9a-f]{6,16}\b")


def scrub(text: str) -> str:
    """`text` without this machine's paths, host name and memory addresses.

    >>> scrub("<object at 0x7f3a5c0d2e10>")
    '<object at 0x...>'
    """
    pattern, replacements = _places()
    text = pattern.sub(lambda found: replacements[found[0]], _CELL_FILE.sub("<cell>", text))
    return _ADDRESS.sub("at 0x...", text)


def scrubbed(value: Any) -> Any:
    """A JSON value with every text in it scrubbed, keys included."""
    if isinstance(value, str):
        return scrub(value)
    if isinstance(value, Mapping):
        return {scrub(key): scrubbed(item) for key, item in value.items()}
    if isinstance(value, list):
        return [scrubbed(item) for item in value]
    return value


@lru_cache(maxsize=1)
def _places() -> tuple[re.Pattern[str], dict[str, str]]:
    """What to replace: whole names only, longest first, so that no folder hides a longer one inside it."""
    found = {text: replacement for text, replacement in _candidates() if len(text) > 3}
    longest_first = "|".join(re.escape(text) for text in sorted(found, key=len, reverse=True))
    return re.compile(rf"(?<!\w)(?:{longest_first})(?!\w)"), found


def _candidates() -> Iterator[tuple[str, str]]:
    package = Path(__file__).resolve().parents[1]
    folders = {
        os.environ.get(SCRATCH_VARIABLE, ""): "<scratch>",
        sys.prefix: "<environment>",
        sys.base_prefix: "<python>",
        str(package.parent): "<workbook>",
        str(Path.home()): "<home>",
    }
    for folder, replacement in folders.items():
        if folder:
            yield folder, replacement
            yield os.path.realpath(folder), replacement
    yield platform.node(), "<host>"
