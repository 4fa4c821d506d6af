"""A new notebook with its schema and parameter sets, as the workbook's tests expect them."""

import json
import re
from pathlib import Path
from typing import Any

from rankwork.errors import InputError


def create(workbook: Path, name: str) -> list[Path]:
    """Make `notebooks/NN_name.ipynb` and `params/NN_name.*` with the next free number; nothing is overwritten.

    `name` is `name` or `NN_name`. InputError for a name that is not lower-case letters, digits and underscores.
    """
    found = re.fullmatch(r"(?:(\d\d)_)?([a-z][a-z0-9_]*)", name)
    if not found:
        raise InputError(f"{name!r} is not a name of lower-case letters, digits and underscores")
    taken = {path.stem.partition("_")[0] for path in (workbook / "notebooks").glob("[0-9][0-9]_*.ipynb")}
    number = found[1] or f"{max(map(int, taken), default=-1) + 1:02d}"
    stem = f"{number}_{found[2]}"
    if number in taken:
        raise InputError(f"number {number} is taken by another notebook")
    contents = _contents(stem)
    for path, text in contents.items():
        (workbook / path).write_text(text, encoding="utf-8")
    return [workbook / path for path in contents]


def _contents(stem: str) -> dict[Path, str]:
    title = stem[3:].replace("_", " ").capitalize()
    cells = [
        _cell("markdown", f"# {title}: what is the question?"),
        _cell("code", "k = 3  # how many documents are selected", ["parameters"]),
        _cell("code", "from rankwork import rank, record\nfrom rankwork.inputs import toy"),
        _cell("markdown", "Say what the next cell asks."),
        _cell("code", 'record("selected", list(rank(toy.SIX, k)))'),
    ]
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number:02d}"
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    notebook = {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": stem,
        "type": "object",
        "properties": {
            "k": {"type": "integer", "minimum": 0, "maximum": 6, "description": "how many documents are selected"}
        },
    }
    return {
        Path("notebooks") / f"{stem}.ipynb": json.dumps(notebook, indent=1) + "\n",
        Path("params") / f"{stem}.schema.json": json.dumps(schema, indent=2) + "\n",
        Path("params") / f"{stem}.smoke.yaml": "k: 2  # the smallest cut that has a choice\n",
        Path("params") / f"{stem}.full.yaml": "k: 4  # one more than the default\n",
    }


def _cell(kind: str, source: str, tags: list[str] | None = None) -> dict[str, Any]:
    cell: dict[str, Any] = {"cell_type": kind, "metadata": {"tags": tags} if tags else {}, "source": source}
    return cell | ({"execution_count": None, "outputs": []} if kind == "code" else {})
