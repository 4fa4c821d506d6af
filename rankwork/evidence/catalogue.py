"""What a listing says of each record, kept in one file so that thousands of manifests need not be read for it.

It is a cache and no evidence: a line counts only for the very manifest that it was read from, by time and size, and
when the file is missing or damaged the manifests are read again. Whoever removes a record looks into the manifest.
"""

import contextlib
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from rankwork.evidence import files

FILE = ".index.json"
FORMAT = "rankwork-index/2"
_FEW = 50  # so many manifests are read again rather than the file written anew
_FACTS = {"notebook", "status", "recipe_digest", "result_digest", "started", "parameters", "seconds"}


def facts(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """What a listing says of a manifest; of one that could not be read, that it is damaged."""
    return {
        "notebook": str(manifest.get("notebook", "?")),
        "status": str(manifest.get("status", "damaged")),
        "recipe_digest": manifest.get("recipe_digest"),
        "result_digest": manifest.get("result_digest"),
        "started": str(_part(manifest, "time").get("started", "")),
        "parameters": _part(_part(manifest, "recipe"), "parameters"),
        "seconds": _part(manifest, "time").get("seconds"),
    }


def _part(manifest: Mapping[str, Any], name: str) -> dict[str, Any]:
    value = manifest.get(name)
    return value if isinstance(value, dict) else {}


def listed(root: Path, folders: Iterable[Path]) -> dict[Path, dict[str, Any]]:
    """The facts of each record folder; the index is renewed where it no longer saves the reading."""
    known = _load(root / FILE)
    lines, found, read = {}, {}, 0
    for folder in folders:
        line = known.get(folder.name)
        mark = _mark(folder / "manifest.json")
        if line is None or mark is None or line["mark"] != mark:
            line = {"mark": mark, "facts": facts(_manifest(folder))}
            read += 1
        found[folder] = line["facts"]
        if mark and line["facts"]["status"] != "damaged":
            lines[folder.name] = line
    if read > _FEW or len(known) > len(lines) + _FEW:
        with contextlib.suppress(OSError):  # a store that cannot be written can still be listed
            files.replace(root / FILE, json.dumps({"format": FORMAT, "records": lines}))
    return found


def _load(path: Path) -> dict[str, Any]:
    """The lines of the index by record ID; none where it cannot be read as what it is meant to be."""
    try:
        kept = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    if not isinstance(kept, dict) or kept.get("format") != FORMAT or not isinstance(kept.get("records"), dict):
        return {}
    return {name: line for name, line in kept["records"].items() if _is_line(line)}


def _is_line(line: Any) -> bool:
    return (
        isinstance(line, dict)
        and line.keys() == {"mark", "facts"}
        and isinstance(line["facts"], dict)
        and line["facts"].keys() == _FACTS
    )


def _mark(path: Path) -> list[int] | None:
    """What tells one state of a file from another: its time and its size."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return [found.st_mtime_ns, found.st_size]


def _manifest(folder: Path) -> dict[str, Any]:
    try:
        value = json.loads((folder / "manifest.json").read_bytes())
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}
