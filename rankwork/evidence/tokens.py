"""Keyed digests that stand for texts and IDs: equal ones stay equal, and only who has the key can tell which they are.

The key comes from the environment of whoever runs, or from a file that it names, and is never stored: two records can
be compared where they were made with the same key, which a digest of the key tells.
"""

import hashlib
import hmac
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rankwork.digest import canonical_json
from rankwork.errors import InputError

MODE = "RANKWORK_PRIVACY"
KEY = "RANKWORK_PRIVACY_KEY"
KEY_FILE = "RANKWORK_PRIVACY_KEY_FILE"
_SHORTEST = 16
_DIGITS = 32
_TOKEN = re.compile(r"~[0-9a-f]{32}")


@dataclass(frozen=True)
class Tokens:
    """Keyed digests under one key."""

    key: str

    def of(self, value: str | int) -> str:
        """What stands for a text or a number: 32 hexadecimal digits after a `~`; 7 and "7" are two.

        >>> one, other = Tokens("a key of 16 or more"), Tokens("another key of 16")
        >>> one.of("7") == one.of("7"), one.of("7") == one.of(7), one.of("7") == other.of("7")
        (True, False, False)
        """
        return "~" + self._digest(canonical_json(value))

    @property
    def name(self) -> str:
        """What names the key without giving it away."""
        return self._digest("the name of the key")

    def _digest(self, text: str) -> str:
        return hmac.new(self.key.encode(), text.encode(), hashlib.sha256).hexdigest()[:_DIGITS]


def is_token(text: str) -> bool:
    """Whether a text has the form of what stands for another.

    >>> is_token(Tokens("a key of 16 or more").of("text")), is_token("~20 degrees")
    (True, False)
    """
    return bool(_TOKEN.fullmatch(text))


def from_environment() -> Tokens:
    """Those under the key of this environment; InputError where there is none, or one that could be guessed."""
    file = os.environ.get(KEY_FILE)
    try:
        key = os.environ.get(KEY) or (Path(file).read_text(encoding="utf-8").strip() if file else "")
    except (OSError, ValueError):
        raise InputError(f"{KEY_FILE} names a file that cannot be read") from None
    if len(key) < _SHORTEST:
        raise InputError(f"privacy 'digest' needs a key of {_SHORTEST} or more characters in {KEY}, or in a {KEY_FILE}")
    return Tokens(key)


def if_any() -> Tokens | None:
    """Those under the key of this environment, None where there is none; InputError for one that could be guessed."""
    return from_environment() if os.environ.get(KEY) or os.environ.get(KEY_FILE) else None


def in_force() -> Tokens | None:
    """Those that the notebook which is running here must use, None where it records texts as they are."""
    return from_environment() if os.environ.get(MODE) == "digest" else None


def hidden(value: Any, tokens: Tokens) -> Any:
    """A recorded value, in its JSON form, with every text and ID replaced.

    What stays: numbers, the fields that rankwork itself defines, the names of measures, the settings of a selection.
    Whole numbers are replaced where they are IDs of a ranking, and stay in tables and mappings of one's own.
    """
    kind = value.get("kind") if isinstance(value, dict) else None
    if isinstance(value, str):
        return tokens.of(value)
    if isinstance(value, list):
        return [hidden(item, tokens) for item in value]
    if isinstance(kind, str) and kind in _KINDS and _has_form_of(kind, value):
        return _KINDS[kind](value, tokens)
    if isinstance(value, dict):
        return {key if key in _FIELDS else tokens.of(key): hidden(item, tokens) for key, item in value.items()}
    return value


_FIELDS = {"contract", "min", "expected", "max", "std", "reason"}


def _hidden_selection(value: dict[str, Any], tokens: Tokens) -> dict[str, Any]:
    """A ranking, a run or judgements: IDs one by one, and the digests that are taken of IDs."""
    lists = {
        name: [tokens.of(item) for item in value[name]] for name in ("ids", "queries") if _is_list(value.get(name))
    }
    digests = {name: tokens.of(item) for name, item in value.items() if name.endswith("_digest")}
    return {**value, **lists, **digests}


def _is_list(value: Any) -> bool:
    return isinstance(value, list)


def _hidden_audit(value: dict[str, Any], tokens: Tokens) -> dict[str, Any]:
    return {**value, "per_query": {tokens.of(query): found for query, found in value["per_query"].items()}}


def _hidden_table(value: dict[str, Any], tokens: Tokens) -> dict[str, Any]:
    """Columns by name and content: an ID can be either."""
    columns = {name: tokens.of(name) for name in value["columns"]}
    data = {columns[name]: hidden(cells, tokens) for name, cells in value["data"].items()}
    return {"kind": "table", "columns": list(columns.values()), "data": data}


def _hidden_array(value: dict[str, Any], tokens: Tokens) -> dict[str, Any]:
    return {**value, "items": hidden(value["items"], tokens)} if "items" in value else value


def _hidden_set(value: dict[str, Any], tokens: Tokens) -> dict[str, Any]:
    items = [hidden(item, tokens) for item in value["items"]]
    return {"kind": "set", "items": sorted(items, key=lambda item: (str(type(item)), item))}


def _as_it_is(value: dict[str, Any], tokens: Tokens) -> dict[str, Any]:
    return value


_KINDS = {
    "ranking": _hidden_selection,
    "rankings": _hidden_selection,
    "judgements": _hidden_selection,
    "audit": _hidden_audit,
    "table": _hidden_table,
    "array": _hidden_array,
    "set": _hidden_set,
    "fraction": _as_it_is,
    "float": _as_it_is,
}

_FORMS = {
    "ranking": "ids k policy keys candidates candidates_digest scores",
    "rankings": "queries lengths ids scores candidates_digest scores_digest",
    "judgements": "queries rows candidates_digest grades_digest",
    "audit": "protocol order measures per_query",
    "table": "columns data",
    "array": "dtype shape bits|dtype shape items",
    "set": "items",
    "fraction": "value",
    "float": "value",
}
_NUMBER = re.compile(r"-?\d+(/\d+)?|nan|-?inf")


def _has_form_of(kind: str, value: dict[str, Any]) -> bool:
    """Whether a mapping is what its `kind` says: somebody's own that only has that key is hidden like any other."""
    fits = any(set(value) == {"kind", *fields.split()} for fields in _FORMS[kind].split("|"))
    return fits and (kind not in ("fraction", "float") or bool(_NUMBER.fullmatch(str(value["value"]))))
