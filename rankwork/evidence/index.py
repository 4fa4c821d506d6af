"""One HTML page over all records: what was run, how it ended, a small picture, and the way to each report.

The page is self-contained: pictures are in it, and its policy forbids the browser to load or run anything.
"""

import base64
import json
import os
from collections.abc import Iterable
from html import escape
from io import BytesIO
from pathlib import Path
from urllib.parse import quote

from rankwork.errors import InputError
from rankwork.evidence.pictures import PNG, pictures
from rankwork.evidence.report import META
from rankwork.evidence.store import Entry, Store

_PIXELS = 160
_WITH_PICTURES = 200
_COLOURS = 32
_STYLE = """
body { font: 14px/1.4 sans-serif; margin: 2em auto; max-width: 62rem; padding: 0 1em; color: #333; }
table { border-collapse: collapse; width: 100%; }
th, td { border-bottom: 1px solid #ddd; padding: .4em .6em; text-align: left; vertical-align: top; }
td.digest { font-family: monospace; white-space: nowrap; }
.complete { color: #08519c; } .other { color: #b10026; font-weight: bold; }
"""
_HEAD = ("", "record", "notebook", "status", "started (UTC)", "recipe", "result", "parameters")


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
    head = "".join(f"<th>{name}</th>" for name in _HEAD)
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"/><title>Records</title>{META}'
        f"<style>{_STYLE}</style></head>\n<body><h1>{len(rows)} records</h1>\n"
        f"<p>Equal recipes: the same was asked. Equal results: the same came out.</p>\n"
        f"<table><thead><tr>{head}</tr></thead>\n<tbody>\n{''.join(rows)}</tbody></table></body></html>\n"
    )


def _row(entry: Entry, folder: Path, with_picture: bool) -> str:
    kind = "complete" if entry.status == "complete" else "other"
    cells = [
        f"<td>{_picture(Path(entry.path)) if with_picture else ''}</td>",
        f"<td class='digest'>{_link(entry, folder)}</td>",
        f"<td>{escape(entry.notebook)}</td>",
        f"<td class='{kind}'>{escape(entry.status)}</td>",
        f"<td>{escape(entry.started[:19])}</td>",
        *(
            f"<td class='digest'>{escape((each or '')[:12])}</td>"
            for each in (entry.recipe_digest, entry.result_digest)
        ),
        f"<td>{escape(_parameters(Path(entry.path)))}</td>",
    ]
    return f"<tr>{''.join(cells)}</tr>\n"


def _link(entry: Entry, folder: Path) -> str:
    report = Path(entry.path) / "report.html"
    name = escape((entry.record_id or "-")[:12])
    if not report.is_file():
        return name
    address = Path(os.path.relpath(report.resolve(), folder.resolve())).as_posix()
    return f"<a href='{quote(address)}'>{name}</a>"


def _parameters(folder: Path) -> str:
    try:
        asked = json.loads((folder / "manifest.json").read_bytes())["recipe"]["parameters"]
        return ", ".join(f"{name}={value}" for name, value in asked.items())
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return ""


def _picture(folder: Path) -> str:
    """The first figure of a record, scaled down; nothing where there is none or it cannot be read."""
    try:
        notebook = json.loads((folder / "notebook.ipynb").read_bytes())
        first = next((each.data for each in pictures(notebook) if each.mime == PNG), None)
        small = thumbnail(first) if first else None
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return ""
    return f"<img alt='' src='data:{PNG};base64,{base64.b64encode(small).decode()}'/>" if small else ""


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
