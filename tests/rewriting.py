"""Copies of a record that say something else and are sound in every other way: what notices them notices that."""

import json
from pathlib import Path
from typing import Any

from rankwork.digest import digest
from rankwork.evidence import manifest, recording
from rankwork.evidence.manifest import RESULT_MIME, SEAL_MIME


def load(path: Path) -> Any:
    return json.loads(path.read_bytes())


def rewritten(folder: Path, results: dict[str, Any] | None = None, **fields: Any) -> Path:
    """Give a copy of a record other results and manifest fields, and make every digest fit; its new folder."""
    notebook, kept = load(folder / "notebook.ipynb"), load(folder / "results.json")
    for name, value in (results or {}).items():
        kept[name] = {"name": name, "measured": False, "value": recording.encode(value)}
        _show(notebook, kept[name])
    for output in notebook["cells"][-1]["outputs"]:
        output["data"][SEAL_MIME]["results"] = recording.results_digest(kept)
    (folder / "results.json").write_text(json.dumps(kept))
    (folder / "notebook.ipynb").write_text(json.dumps(notebook))
    return sealed(folder, **fields)


def _show(notebook: dict[str, Any], entry: dict[str, Any]) -> None:
    """Put a result where it was shown, or at the end of the cell that records."""
    outputs = notebook["cells"][-2]["outputs"]
    for output in outputs:
        if output.get("data", {}).get(RESULT_MIME, {}).get("name") == entry["name"]:
            output["data"][RESULT_MIME] = entry
            return
    data = {RESULT_MIME: entry, "text/plain": entry["name"]}
    outputs.append({"output_type": "display_data", "metadata": {}, "data": data})


def shown(folder: Path, output: dict[str, Any]) -> Path:
    """A copy whose recording cell shows one output more."""
    notebook = load(folder / "notebook.ipynb")
    notebook["cells"][-2]["outputs"].append(output)
    (folder / "notebook.ipynb").write_text(json.dumps(notebook))
    return sealed(folder)


def sealed(folder: Path, **fields: Any) -> Path:
    """Rewrite the manifest with other fields so that every digest fits, and rename the folder after it."""
    kept = load(folder / "manifest.json")
    executed, results = load(folder / "notebook.ipynb"), load(folder / "results.json")
    kept |= manifest.summaries(results) | {
        "files": {p.name: manifest.file_entry(p) for p in folder.iterdir() if p.name != "manifest.json"},
        "canonical_notebook": digest(manifest.canonical_notebook(executed)),
        "result_digest": recording.results_digest(results),
    }
    kept |= fields
    kept["recipe_digest"] = digest(kept["recipe"])
    return folder.rename(folder.parent / manifest.write(folder / "manifest.json", kept))
