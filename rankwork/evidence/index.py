"""One HTML page over all records: what was asked, how it ended, a small picture, and the way to each report.

The page is self-contained: pictures are in it, and its policy forbids the browser to load or run anything.
"""

import base64
import json
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from io import BytesIO
from pathlib import Path
from typing import Any
from urllib.parse import quote

from rankwork.errors import InputError
from rankwork.evidence import summary
from rankwork.evidence.pictures import PNG, pictures
from rankwork.evidence.report import META
from rankwork.evidence.store import Entry, Store

_PIXELS = 160
_WITH_PICTURES = 200
_COLOURS = 32
_STYLE = """
:root { color-scheme: light dark; --text: #262626; --quiet: #595959; --line: #ddd; --page: #fff; --good: #08519c;
  --bad: #a50f15; --link: #0b57a4; }
@media screen and (prefers-color-scheme: dark) {
  :root { --text: #ececec; --quiet: #b5b5b5; --line: #444; --page: #111; --good: #9ecae1; --bad: #fcae91;
    --link: #90c4f9; }
}
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 66rem; padding: 0 1rem;
  color: var(--text); background: var(--page); }
h1 { font-size: 1.6rem; margin: 0 0 .3em; }
p { margin: .3em 0; }
a { color: var(--link); }
table { border-collapse: collapse; width: 100%; margin-top: 1.5rem; }
th, td { border-bottom: 1px solid var(--line); padding: .7em 1.2em .7em 0; text-align: left; vertical-align: top; }
th { font-weight: 600; }
td div { overflow-wrap: anywhere; }
td.when div, td.digest { white-space: nowrap; }
td.picture { width: 160px; }
td.picture img { background: #fff; display: block; max-width: 160px; height: auto; }
.quiet, td.digest { color: var(--quiet); font-size: 13px; }
td.digest, code { font-family: ui-monospace, monospace; font-size: 12.5px; }
td.complete { color: var(--good); } td.other { color: var(--bad); font-weight: bold; }
@media (max-width: 45rem) {
  thead { display: none; }
  table, tbody, tr, td { display: block; }
  tr { border-bottom: 1px solid var(--line); padding: .8em 0; }
  td, td.picture { border: 0; padding: .15em 0; width: auto; }
}
@media print { tr { break-inside: avoid; } body { margin: 0; max-width: none; } @page { margin: 14mm; } }
"""
_HEAD = ("first figure", "what was asked", "how it ended", "started (UTC)", "record, recipe, result")


def write(store: Store, file: Path | None = None) -> Path:
    """Write the index, the newest record first; by default as `index.html` beside the records.

    Only the 200 newest records have pictures. InputError where the file cannot be written.
    """
    target = file or store.root / "index.html"
    partial = target.with_name(f".{target.name}.part")
    try:
        partial.write_text(page(store.entries(), target.parent), encoding="utf-8")
        partial.replace(target)
    except OSError as error:
        raise InputError(f"{target}: the index cannot be written: {error.strerror}") from None
    return target


def page(entries: Iterable[Entry], folder: Path) -> str:
    """The HTML of an index that will lie in `folder`."""
    newest_first = sorted(entries, key=lambda entry: (entry.started, entry.path), reverse=True)
    rows = [_row(entry, folder, number < _WITH_PICTURES) for number, entry in enumerate(newest_first)]
    head = "".join(f"<th scope='col'>{name}</th>" for name in _HEAD)
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"/>'
        f'<meta content="width=device-width, initial-scale=1" name="viewport"/><title>Records</title>{META}'
        f"<style>{_STYLE}</style></head>\n<body><main><h1>{len(rows)} records</h1>\n"
        f"<p>{_counted(newest_first)}</p>\n"
        "<p>Equal recipes: the same was asked. Equal results: the same came out. Each record is a folder whose name is "
        "the digest of its manifest, and that holds the digest of each of its files: "
        "<code>rankwork verify --all</code> says whether all of them are what their executions left.</p>\n"
        f"<table><thead><tr>{head}</tr></thead>\n<tbody>\n{''.join(rows)}</tbody></table></main></body></html>\n"
    )


def _counted(entries: Sequence[Entry]) -> str:
    """How many records ended in which way, the complete ones first."""
    counts = Counter(entry.status for entry in entries)
    ordered = sorted(counts.items(), key=lambda item: (item[0] != "complete", item[0]))
    return escape(", ".join(f"{count} {status.replace('_', ' ')}" for status, count in ordered))


def _row(entry: Entry, folder: Path, whole: bool) -> str:
    """A record's line; `whole`: with its question and its picture, which are read from the notebook."""
    kind = "complete" if entry.status == "complete" else "other"
    notebook = _notebook(Path(entry.path)) if whole else {}
    digests = (f"<div>{escape((each or '-')[:12])}</div>" for each in _digests(entry))
    cells = [
        f"<td class='picture'>{_picture(notebook, entry.notebook)}</td>",
        f"<td><div>{_link(entry, folder, _question(notebook))}</div>{_asked(entry)}</td>",
        f"<td class='{kind}'>{escape(entry.status)}</td>",
        f"<td class='when'>{_when(entry)}</td>",
        f"<td class='digest'>{''.join(digests)}</td>",
    ]
    return f"<tr>{''.join(cells)}</tr>\n"


def _digests(entry: Entry) -> tuple[str | None, str | None, str | None]:
    return entry.record_id, entry.recipe_digest, entry.result_digest


def _question(notebook: Mapping[str, Any]) -> str | None:
    try:
        found = summary.title(notebook)
    except (KeyError, TypeError, AttributeError):
        return None
    return summary.plain(found) if found else None


def _link(entry: Entry, folder: Path, question: str | None) -> str:
    """The question, else the notebook's name, as the way to the report where there is one."""
    report = Path(entry.path) / "report.html"
    shown = escape(question or entry.notebook)
    if not report.is_file():
        return shown
    address = Path(os.path.relpath(report.resolve(), folder.resolve())).as_posix()
    return f"<a href='{quote(address)}'>{shown}</a>"


def _asked(entry: Entry) -> str:
    """The notebook, its parameters and the tags."""
    values = ", ".join(f"{name}={value}" for name, value in entry.parameters.items())
    tags = "".join(f" #{tag}" for tag in entry.tags)
    return f"<div class='quiet'>{escape(entry.notebook + (f': {values}' if values else '') + tags)}</div>"


def _when(entry: Entry) -> str:
    took = f"<div class='quiet'>{entry.seconds:.1f} seconds</div>" if isinstance(entry.seconds, (int, float)) else ""
    return f"<div>{escape(entry.started[:16].replace('T', ' '))}</div>{took}"


def _notebook(folder: Path) -> dict[str, Any]:
    """The executed notebook of a record; an empty one where it cannot be read."""
    try:
        value = json.loads((folder / "notebook.ipynb").read_bytes())
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


def _picture(notebook: Mapping[str, Any], name: str) -> str:
    """The first figure of a record, scaled down; nothing where there is none or it cannot be read."""
    try:
        first = next((each.data for each in pictures(notebook) if each.mime == PNG), None)
        small = thumbnail(first) if first else None
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return ""
    if not small:
        return ""
    alt = escape(f"the first figure of {name}")
    return f"<img alt=\"{alt}\" src='data:{PNG};base64,{base64.b64encode(small).decode()}'/>"


def thumbnail(png: bytes) -> bytes:
    """A PNG scaled down to 160 pixels of width, in few colours. ValueError or OSError for what is no picture."""
    from PIL import Image

    try:
        with Image.open(BytesIO(png), formats=["PNG"]) as image:
            small = image.convert("RGB")
            small.thumbnail((_PIXELS, _PIXELS))
            held = BytesIO()
            small.quantize(_COLOURS).save(held, "PNG", optimize=True)
    except Image.DecompressionBombError as error:
        raise ValueError(str(error)) from None
    return held.getvalue()
