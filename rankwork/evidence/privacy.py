"""Nothing personal in a record: paths, names and secrets of a machine give way to what they stand for.

Outputs and tracebacks name the folders of the machine they came from, and a cell can print its user or its environment.
They are rewritten before digests are taken, so that the same work on another machine gives the same record. What is
replaced: the folders in use, the user and the host by name, and the values of environment variables that are long
enough to mean something. A word that only looks like one of them stays, and so does what stands in the source.
"""

import getpass
import json
import os
import platform
import re
import sys
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

SCRATCH_VARIABLE = "RANKWORK_SCRATCH"
PLACES_VARIABLE = "RANKWORK_PLACES"
_CELL_FILE = re.compile(r"[^\s\"'<>()\[\]]*ipykernel_\d+/\d+\.py")
_ADDRESS = re.compile(r"\bat 0x[0-9a-f]{6,16}\b")
_NOBODY = frozenset(
    ("admin", "administrator", "app", "daemon", "data", "debian", "default", "docker", "guest", "jovyan", "jupyter",
     "nobody", "node", "python", "root", "runner", "test", "tester", "ubuntu", "user", "users", "vscode", "worker")
)  # fmt: skip
"""User names that name no person, and are words of ordinary texts."""

_OPEN_VARIABLES = re.compile(r"LANG|LANGUAGE|LC_\w+|TERM|COLORTERM|SHELL|TZ|XDG_\w+|DESKTOP_SESSION|" + PLACES_VARIABLE)
_SHORTEST_VALUE = 8  # of a variable: shorter ones are numbers, switches and words
_SHORTEST_NAME = 4  # of a folder or host: shorter ones stand in too many texts


def scrub(text: str, places: Mapping[str, str] | None = None) -> str:
    """`text` without this machine's paths, names, variables and memory addresses; `places` are further texts.

    >>> scrub("<object at 0x7f3a5c0d2e10>")
    '<object at 0x...>'
    >>> scrub("see /data/mine/run.trec", {"/data/mine": "<inputs>"})
    'see <inputs>/run.trec'
    """
    pattern, replacements = _replacements(tuple((places or {}).items()))
    if "ipykernel_" in text:  # looked for first: on long texts without a space, such as an image, the pattern is slow
        text = _CELL_FILE.sub("<cell>", text)
    return _ADDRESS.sub("at 0x...", pattern.sub(lambda found: replacements[found[0]], text))


def scrubbed(value: Any, places: Mapping[str, str] | None = None) -> Any:
    """A JSON value with every text in it scrubbed, keys included."""
    if isinstance(value, str):
        return scrub(value, places)
    if isinstance(value, Mapping):
        return {scrub(key, places): scrubbed(item, places) for key, item in value.items()}
    if isinstance(value, list):
        return [scrubbed(item, places) for item in value]
    return value


def places_of(folders: Mapping[str, Path]) -> dict[str, str]:
    """The texts that give away folders in use, which are given by what they stand for, and the folders above them."""
    named = {str(path): f"<{name}>" for name, path in folders.items()}
    above = {str(parent): "<above>" for path in folders.values() for parent in path.parents if _is_own(parent)}
    return {**above, **named}


def _is_own(folder: Path) -> bool:
    """Whether a folder says something of this machine: not one that all machines have, or Python's."""
    return len(folder.parts) > 2 and folder.parts[1] != "usr" and folder not in Path(sys.base_prefix).parents


@lru_cache(maxsize=64)
def _replacements(places: tuple[tuple[str, str], ...]) -> tuple[re.Pattern[str], dict[str, str]]:
    """What to replace: whole names only, longest first, so that no text hides a longer one around it."""
    found = dict([*_variables(), *_names(), *_folders(), *_given(), *places])
    longest_first = "|".join(re.escape(text) for text in sorted(found, key=len, reverse=True))
    return re.compile(rf"(?<!\w)(?:{longest_first})(?!\w)"), found


def _given() -> Iterator[tuple[str, str]]:
    """The places that the runner told its worker and the kernel."""
    yield from json.loads(os.environ.get(PLACES_VARIABLE, "{}")).items()


def _folders() -> Iterator[tuple[str, str]]:
    package = Path(__file__).resolve().parents[1]
    folders = {
        sys.prefix: "<environment>",
        sys.base_prefix: "<python>",
        str(package.parent): "<workbook>",
        str(Path.home()): "<home>",
        os.environ.get(SCRATCH_VARIABLE, ""): "<scratch>",
    }
    for folder, replacement in folders.items():
        for text in {folder, os.path.realpath(folder)} if folder else ():
            if len(text) >= _SHORTEST_NAME:
                yield text, replacement


def _names() -> Iterator[tuple[str, str]]:
    """The user by all names, and the host: whole and up to its first dot."""
    hosts = {platform.node(), os.environ.get("HOSTNAME", "")}
    for host in hosts | {host.partition(".")[0] for host in hosts}:
        if len(host) >= _SHORTEST_NAME and host != "localhost":
            yield host, "<host>"
    for user in _users():
        if len(user) >= _SHORTEST_NAME - 1 and user.lower() not in _NOBODY:
            yield user, "<user>"


def _users() -> set[str]:
    named = {os.environ.get(name, "") for name in ("LOGNAME", "USER", "LNAME", "USERNAME")}
    try:
        return {*named, getpass.getuser(), _account()}
    except (KeyError, OSError):  # a user without an account
        return named


def _account() -> str:
    import pwd

    return pwd.getpwuid(os.getuid()).pw_name


def _variables() -> Iterator[tuple[str, str]]:
    for name, value in os.environ.items():
        if len(value) >= _SHORTEST_VALUE and not _OPEN_VARIABLES.fullmatch(name):
            yield value, f"<${name}>"
