"""A new notebook with its schema and parameter sets, as the workbook's tests expect them."""

import json
import re
from pathlib import Path
from typing import Any

from rankwork.errors import InputError

_IMPORTS = """\
from rankwork import boundary, plots, recall_range, record
from rankwork.evidence.recording import ranked_list
from rankwork.inputs import toy"""
_CONTRACT = """\
## The contract

Write down what the order is: the score, then the secondary keys in their priority, last what is unique."""
_SELECTION = """\
contract = {"score": "descending", "keys": [], "last": "ID ascending", "policy": policy}
selection = ranked_list(rows, k, policy=policy)
record("contract", contract)
record("selection", selection)"""
_EVIDENCE = """\
found = recall_range(rows, relevant, k)
assert found.min <= found.expected <= found.max
record("boundary", boundary(rows, k, relevant))
record("recall", found)
plots.boundary(rows, k)"""


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
        _cell("markdown", f"# {title}: which order is its order?\n\nSay which system this is about, and who reads it."),
        _cell(
            "code", 'k = 3  # how many documents are selected\npolicy = "by_id"  # by_id or inclusive', ["parameters"]
        ),
        _cell("code", _IMPORTS),
        _cell("markdown", "## Candidates\n\nWho may be selected, before anything is scored? Put your own rows here."),
        _cell(
            "code",
            'rows, relevant = toy.SIX, toy.SIX_RELEVANT\nrecord("candidates", [document for document, _ in rows])',
        ),
        _cell("markdown", _CONTRACT),
        _cell("code", _SELECTION),
        _cell("markdown", "## Evidence\n\nWhat does a tie at the cut leave open, and what does that do to the number?"),
        _cell("code", _EVIDENCE),
        _cell("markdown", "## What this run found\n\nSay it in a sentence, with the numbers of this run."),
        _cell("code", 'print(f"Cut at {k}: {selection.ids}, recall in [{found.min:.3f}, {found.max:.3f}].")'),
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
            "k": {"type": "integer", "minimum": 1, "maximum": 6, "description": "how many documents are selected"},
            "policy": {"enum": ["by_id", "inclusive"], "description": "what is done with a tie at the cut"},
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
