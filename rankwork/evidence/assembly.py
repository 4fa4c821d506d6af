"""Putting a record together: from what an execution left in its scratch folder to a finished folder with a manifest.

Everything is decided from outside the notebook. Complete is only what returned normally, shows the seal with the right
nonce in its last cell, and left its inputs as they were.
"""

import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rankwork import __version__
from rankwork.digest import digest, digest_file
from rankwork.errors import EvidenceError, ParameterError
from rankwork.evidence import manifest, parameters, recording
from rankwork.evidence.privacy import scrub, scrubbed
from rankwork.evidence.report import render
from rankwork.evidence.report_head import Head

SEAL_SOURCE = 'from rankwork.evidence.recording import seal\n\nseal("{nonce}")'
SEAL_TAG = "rankwork-seal"
_LEFT_OUT = "left out for privacy"


def with_seal(notebook: Mapping[str, Any], nonce: str) -> dict[str, Any]:
    """The notebook to execute: its source, and one more cell that shows the nonce."""
    cell: dict[str, Any] = {
        "cell_type": "code",
        "execution_count": None,
        "id": "rankwork-seal",
        "metadata": {"tags": [SEAL_TAG]},
        "outputs": [],
        "source": SEAL_SOURCE.format(nonce=nonce),
    }
    return {**notebook, "cells": [*notebook["cells"], cell]}


@dataclass(frozen=True)
class Gathered:
    """All that an execution left, in the folder of the record to be: the manifest is what is missing."""

    record: Path
    job: Mapping[str, Any]
    outcome: Mapping[str, Any]
    executed: Mapping[str, Any]
    results: Mapping[str, Any]
    seal: Mapping[str, Any] | None
    status: str
    reason: Mapping[str, Any] | None


def assemble(scratch: Path, job: Mapping[str, Any], outcome: Mapping[str, Any]) -> None:
    """Make `scratch/record`, the manifest last: a record folder without a manifest does not count."""
    finish(gather(scratch, job, outcome))


def gather(scratch: Path, job: Mapping[str, Any], outcome: Mapping[str, Any]) -> Gathered:
    """Put the files of `scratch/record` together and decide what became of the execution."""
    record = scratch / "record"
    shutil.rmtree(record, ignore_errors=True)
    record.mkdir()
    executed = _archived(_executed(scratch), job)
    results = recording.collect(executed)
    seal = recording.find_seal(executed)
    status, reason = classify(outcome, seal, job, changed_input(scratch, job))
    _write_json(record / "notebook.ipynb", executed)
    _write_json(record / "results.json", results)
    shutil.copyfile(scratch / "source.ipynb", record / "source.ipynb")
    gathered = Gathered(record, job, outcome, executed, results, seal, status, reason)
    (record / "report.html").write_text(render(executed, _head(gathered)), encoding="utf-8")
    return gathered


def finish(gathered: Gathered) -> None:
    """Write the manifest with the digests of all the rest."""
    manifest.write(gathered.record / "manifest.json", _manifest(gathered))


def classify(
    outcome: Mapping[str, Any], seal: Mapping[str, Any] | None, job: Mapping[str, Any], changed: str | None
) -> tuple[str, dict[str, Any] | None]:
    """The status of an execution and, unless it is complete, what stopped it."""
    if outcome["ended"] != "returned":
        return outcome["ended"], _kept_reason(outcome["reason"], job)
    if seal is None or seal["nonce"] != job["nonce"]:
        return "failed", {"type": "NoSeal", "message": "the notebook ended before its last cell", "cell": None}
    if changed:
        return "failed", {"type": "InputChanged", "message": f"{changed} changed during the execution", "cell": None}
    return "complete", None


def _kept_reason(reason: Mapping[str, Any], job: Mapping[str, Any]) -> dict[str, Any]:
    said = {**reason, "message": _LEFT_OUT} if _is_private(job) else dict(reason)
    return dict(scrubbed(said, job["places"]))


def _is_private(job: Mapping[str, Any]) -> bool:
    return "privacy" in job["recipe"]


def changed_input(scratch: Path, job: Mapping[str, Any]) -> str | None:
    """The first input whose content is no longer what the recipe says, or None."""
    for name, expected in job["recipe"]["inputs"].items():
        path = scratch / "work" / name
        if not path.is_file() or digest_file(path) != expected:
            return str(name)
    return None


def _executed(scratch: Path) -> dict[str, Any]:
    """The notebook as far as it was executed; as it was given, when papermill wrote nothing that can be read."""
    for name in ("output.ipynb", "input.ipynb"):
        try:
            notebook = json.loads((scratch / name).read_bytes())
        except (OSError, ValueError):
            continue
        if isinstance(notebook, dict) and "cells" in notebook:
            return notebook
    raise EvidenceError(f"{scratch.name}: no notebook is left to keep")


def _archived(notebook: Mapping[str, Any], job: Mapping[str, Any]) -> dict[str, Any]:
    """An executed notebook as it is kept: outputs without this machine's paths, metadata without papermill's.

    Where texts are kept as keyed digests, only recorded values and the seal are left of the outputs: any other can show
    what must not be seen, an image as well.
    """
    metadata = {
        name: notebook["metadata"][name] for name in ("kernelspec", "language_info") if name in notebook["metadata"]
    }
    cells = [_archived_cell(cell, number, job) for number, cell in enumerate(notebook["cells"])]
    return {
        "cells": cells,
        "metadata": metadata,
        "nbformat": notebook["nbformat"],
        "nbformat_minor": notebook["nbformat_minor"],
    }


def _archived_cell(cell: Mapping[str, Any], number: int, job: Mapping[str, Any]) -> dict[str, Any]:
    kept = {"id": f"cell-{number:02d}", "cell_type": cell["cell_type"], "source": _kept_source(cell, job)}
    kept["metadata"] = {"tags": cell["metadata"]["tags"]} if cell["metadata"].get("tags") else {}
    if cell["cell_type"] == "code":
        outputs = _private(cell.get("outputs", [])) if _is_private(job) else _joined(cell.get("outputs", []))
        kept |= {"execution_count": cell.get("execution_count"), "outputs": scrubbed(outputs, job["places"])}
    if "attachments" in cell:
        kept["attachments"] = cell["attachments"]
    return kept


def _kept_source(cell: Mapping[str, Any], job: Mapping[str, Any]) -> str:
    """A cell's own source is kept to the letter; papermill's error cells are outputs, and scrubbed as such."""
    added = any(tag.startswith("papermill-error") for tag in cell["metadata"].get("tags", ()))
    source = manifest.text_of(cell)
    return scrub(source, job["places"]) if added else source


def _private(outputs: list[Any]) -> list[Any]:
    """Recorded values and the seal; of an error its type."""
    kept = [output for output in outputs if {manifest.RESULT_MIME, manifest.SEAL_MIME} & set(output.get("data", ()))]
    errors = [
        {"output_type": "error", "ename": output["ename"], "evalue": _LEFT_OUT, "traceback": []}
        for output in outputs
        if output["output_type"] == "error"
    ]
    return kept + errors


def _joined(outputs: list[Any]) -> list[Any]:
    """Outputs with their texts whole: a path must not hide across the line breaks of a list."""
    for output in outputs:
        for holder in (output, output.get("data", {})):
            for key, value in holder.items():
                if key != "traceback" and isinstance(value, list) and all(isinstance(item, str) for item in value):
                    holder[key] = "".join(value)
    return outputs


def _head(found: Gathered) -> Head:
    return Head(
        name=found.job["notebook"],
        status=found.status,
        stopped=f"{found.reason['type']}: {found.reason['message']}" if found.reason else "",
        facts=_facts(found),
        results=found.results,
        result_digest=recording.results_digest(found.results),
        arguments=_arguments(found),
    )


def _arguments(found: Gathered) -> dict[str, Any] | None:
    """The parameters to ask the same again with: those that are no defaults, FILE where it read one.

    None for the notebook over a sweep, which a sweep makes.
    """
    if found.job["notebook"] == "sweep":
        return None
    try:
        default = parameters.defaults(found.executed, found.job["notebook"])
    except ParameterError:
        default = {}
    inputs = found.job["recipe"]["inputs"]
    asked = {name: "FILE" if str(value) in inputs else value for name, value in found.job["parameters"].items()}
    return {name: value for name, value in asked.items() if name not in default or default[name] != value}


def _facts(found: Gathered) -> dict[str, str]:
    """What was asked, what it cost and where it happened, each in a line."""
    job, recipe = found.job, found.job["recipe"]
    versions = [f"{name} {version}" for name, version in recipe["versions"].items()]
    seconds = sum(filter(None, found.outcome["cells"]))
    return {
        "parameters": ", ".join(
            f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in job["parameters"].items()
        ),
        "input files": ", ".join(f"{name} ({of[:12]})" for name, of in recipe["inputs"].items()),
        "started": job["started"].replace("T", " ").replace("+00:00", " UTC"),
        "cost": f"{seconds:.1f} seconds in {len(found.outcome['cells'])} cells",
        "machine": ", ".join(_machine(found, recipe["device"])),
        "versions": ", ".join([f"rankwork {__version__}", *versions]),
        "commit": (job["commit"]["id"] or "")[:12] + (", with changes" if job["commit"]["dirty"] else ""),
        "recipe": job["recipe_digest"],
        "results": recording.results_digest(found.results),
    }


def _machine(found: Gathered, device: str) -> list[str]:
    about = found.seal["environment"]["machine"] if found.seal else {}
    cores = f"{about['cores']} cores" if about.get("cores") else ""
    return [text for text in (device, about.get("processor"), cores, about.get("system")) if text]


def _manifest(found: Gathered) -> dict[str, Any]:
    job, ended = found.job, datetime.now(UTC)
    seconds = (ended - datetime.fromisoformat(job["started"])).total_seconds()
    return {
        "format": manifest.FORMAT,
        "canonical": manifest.CANONICAL,
        "notebook": job["notebook"],
        "status": found.status,
        "reason": found.reason,
        "recipe": job["recipe"],
        "recipe_digest": job["recipe_digest"],
        "result_digest": recording.results_digest(found.results),
        **manifest.summaries(found.results),
        "seeds": {name: value for name, value in job["parameters"].items() if "seed" in name},
        "canonical_notebook": digest(manifest.canonical_notebook(found.executed)),
        "environment": found.seal["environment"] if found.seal else None,
        "commit": job["commit"],
        "rankwork": __version__,
        "time": {"started": job["started"], "ended": ended.isoformat(timespec="seconds"), "seconds": round(seconds, 3)},
        "cells": found.outcome["cells"],
        "nonce": job["nonce"],
        "files": {path.name: manifest.file_entry(path) for path in sorted(found.record.iterdir())},
    }


def _write_json(path: Path, value: Any) -> None:
    path.write_text(json.dumps(value, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
