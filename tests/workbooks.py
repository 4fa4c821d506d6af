"""Small workbooks for the tests: real notebooks, run by the real runner."""

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

PARAMETERS = "k = 3  # how many\nname = ''  # a text"
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "k": {"type": "integer", "minimum": 0, "maximum": 9},
        "name": {"type": "string"},
    },
}


def notebook(*sources: str, parameters: str | None = PARAMETERS, kernel: str = "python3") -> dict[str, Any]:
    """A notebook of code cells, the first of them the `parameters` cell."""
    cells = [_cell(source, []) for source in sources]
    if parameters is not None:
        cells.insert(0, _cell(parameters, ["parameters"]))
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number}"
    metadata = {"kernelspec": {"display_name": kernel, "language": "python", "name": kernel}}
    return {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def _cell(source: str, tags: list[str]) -> dict[str, Any]:
    kind = "markdown" if source.startswith("# #") else "code"
    cell: dict[str, Any] = {"cell_type": kind, "metadata": {"tags": tags}, "source": source}
    return cell | ({"execution_count": None, "outputs": []} if kind == "code" else {})


def workbook(folder: Path, *sources: str, name: str = "00_small", schema: Any = SCHEMA, **options: Any) -> Path:
    """A workbook with one notebook; returns the notebook's path."""
    for part in ("notebooks", "params"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    path = folder / "notebooks" / f"{name}.ipynb"
    path.write_text(json.dumps(notebook(*sources, **options)))
    (folder / "params" / f"{name}.schema.json").write_text(json.dumps(schema))
    return path


def rankwork(
    *arguments: str | Path, folder: Path, environment: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run the command line in a folder, as a user would."""
    command: Sequence[str] = [sys.executable, "-m", "rankwork.cli", *map(str, arguments)]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=240)
