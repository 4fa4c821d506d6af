"""The manifest of a record: its fields, how each is compared, and the canonical forms that digests are taken of.

A field is one line in `FIELDS`. `exact` fields must be equal for two records to say the same; fields `by part` hold or
sum up what `compare` takes apart, each part under its own rule; `informative` fields are reported when they differ;
`ignored` fields may always differ.
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, get_args

from rankwork import __version__, environment
from rankwork.digest import digest, digest_bytes, digest_file

FORMAT = "rankwork-record/1"
CANONICAL = 1
"""The version of the canonical forms below; it is recorded, so that a later form never passes for this one."""

RESULT_MIME = "application/vnd.rankwork.result+json"
SEAL_MIME = "application/vnd.rankwork.seal+json"

MEASURED_TAG = "measured"
"""The tag of cells that show what was measured: of their outputs only recorded values can be compared."""

Comparison = Literal["exact", "by part", "informative", "ignored"]
Status = Literal["complete", "failed", "timeout", "killed", "kernel_died"]


@dataclass(frozen=True)
class Field:
    """One field of a manifest: its name, how two records compare in it, and what it says."""

    name: str
    comparison: Comparison
    meaning: str


FIELDS = (
    Field("format", "exact", "the form of this record"),
    Field("canonical", "exact", "the version of the canonical forms"),
    Field("notebook", "exact", "the name of the source notebook"),
    Field("status", "exact", "complete, failed, timeout, killed or kernel_died"),
    Field("reason", "informative", "what stopped an execution that is not complete: type, message, cell"),
    Field("recipe", "by part", "what was asked: source, parameters, inputs, library code, versions, device"),
    Field("recipe_digest", "by part", "the digest of the recipe"),
    Field("results", "by part", "the recorded values: name, digest, whether declared as measured"),
    Field("result_digest", "by part", "the digest of all recorded values that are not declared as measured"),
    Field("seeds", "by part", "the parameters that seed a generator"),
    Field("rankings", "by part", "the recorded selections: candidates' digest, k, policy, secondary keys, score dtype"),
    Field("labels", "by part", "the recorded judgements, by digest"),
    Field("canonical_notebook", "by part", "the digest of the executed notebook without its volatile parts"),
    Field("environment", "by part", "versions, device, threads and determinism settings of the kernel"),
    Field("commit", "ignored", "the git commit of the workbook, and whether it held changes"),
    Field("rankwork", "informative", "the version of this library"),
    Field("time", "ignored", "start, end and seconds, in UTC"),
    Field("cells", "ignored", "seconds of each cell"),
    Field("nonce", "ignored", "the number that the last cell had to show"),
    Field("files", "ignored", "digest and size of each file of the record"),
)


def file_entry(path: Path) -> dict[str, Any]:
    """Digest and size of a file."""
    return {"digest": digest_file(path), "bytes": path.stat().st_size}


def recipe(
    source: Mapping[str, Any],
    parameters: Mapping[str, Any],
    inputs: Mapping[str, str],
    machine: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """What was asked, with the surroundings of this machine or of the one that is given.

    Nothing of it depends on the folder, the commit, the host or the time.
    """
    asked = {"source": source_digest(source), "parameters": dict(parameters), "inputs": dict(inputs)}
    return {**asked, **(machine or surroundings())}


def surroundings() -> dict[str, Any]:
    """The part of a recipe that the machine decides: the library's code, the versions and the kind of device."""
    return {
        "library": library_digest(),
        "versions": environment.versions(),
        "device": environment.device_kind(),
    }


def library_digest() -> str:
    """The digest of rankwork's own code: the bytes of its Python files under their names."""
    package = Path(__file__).parents[1]
    files = {path.relative_to(package).as_posix(): path for path in package.rglob("*.py")}
    return digest({name: digest_file(path) for name, path in files.items()} | {"version": __version__})


def text_of(cell: Mapping[str, Any]) -> str:
    """A cell's source as one text; notebooks store it whole or in lines."""
    source = cell["source"]
    return source if isinstance(source, str) else "".join(source)


def source_cells(notebook: Mapping[str, Any]) -> list[list[str]]:
    """The cells of a notebook as far as they say what to do: type and source."""
    return [[cell["cell_type"], text_of(cell)] for cell in notebook["cells"]]


def source_digest(notebook: Mapping[str, Any]) -> str:
    """The digest of a notebook's source; outputs, counters and metadata are not part of it."""
    parameters = [
        number for number, cell in enumerate(notebook["cells"]) if "parameters" in cell["metadata"].get("tags", [])
    ]
    return digest({"canonical": CANONICAL, "cells": source_cells(notebook), "parameters": parameters})


def canonical_notebook(notebook: Mapping[str, Any]) -> dict[str, Any]:
    """An executed notebook without what differs between two equal executions.

    Left out: metadata, execution counters, cell IDs, stderr, the nonce and what is declared as measured, by a recorded
    value or by the tag of a cell.
    """
    cells = [
        [cell["cell_type"], _without_nonce(text_of(cell)), [_canonical_output(o) for o in _kept_outputs(cell)]]
        for cell in notebook["cells"]
    ]
    return {"canonical": CANONICAL, "cells": cells}


def _without_nonce(source: str) -> str:
    return re.sub(r'seal\("[0-9a-f]+"\)', 'seal("")', source)


def _kept_outputs(cell: Mapping[str, Any]) -> list[Any]:
    kept = [output for output in cell.get("outputs", ()) if output.get("name") != "stderr"]
    if MEASURED_TAG not in cell["metadata"].get("tags", ()):
        return kept
    return [output for output in kept if RESULT_MIME in output.get("data", ())]


def _canonical_output(output: Mapping[str, Any]) -> Any:
    if output["output_type"] == "stream":
        return ["stream", output["text"]]
    if output["output_type"] == "error":
        return ["error", output["ename"], output["evalue"]]
    data = output["data"]
    if data.get(RESULT_MIME, {}).get("measured"):
        return ["measured", data[RESULT_MIME]["name"]]
    return ["data", {mime: content for mime, content in data.items() if mime != SEAL_MIME}]


def summaries(results: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """What a manifest says of the recorded values without repeating them."""
    of_kind = {
        kind: {name: entry["value"] for name, entry in results.items() if _kind(entry["value"]) == kind}
        for kind in ("ranking", "rankings", "judgements")
    }
    kept = ("candidates_digest", "k", "policy", "keys", "order")
    selections = of_kind["ranking"] | of_kind["rankings"]
    return {
        "results": [
            {"name": name, "digest": digest(entry["value"]), "measured": entry["measured"]}
            for name, entry in sorted(results.items())
        ],
        "rankings": {
            name: {"score_dtype": value["scores"]["dtype"]} | {key: value[key] for key in kept if key in value}
            for name, value in selections.items()
        },
        "labels": {name: digest(value) for name, value in of_kind["judgements"].items()},
    }


def _kind(value: Any) -> str | None:
    return value.get("kind") if isinstance(value, dict) else None


def write(path: Path, manifest: Mapping[str, Any]) -> str:
    """Write a manifest for people and programs alike; returns its digest, the record's ID."""
    if unknown := set(manifest) ^ {field.name for field in FIELDS}:
        raise KeyError(f"a manifest has exactly the declared fields; {sorted(unknown)} are missing or undeclared")
    data = (json.dumps(manifest, indent=1, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n").encode()
    path.write_bytes(data)
    return digest_bytes(data)


def malformed(manifest: Mapping[str, Any]) -> str | None:
    """What a manifest from elsewhere has in another form than ours have, None where nothing is.

    >>> malformed({"notebook": 3})
    'notebook is 3'
    """
    for place, fits in _FORMS.items():
        value: Any = manifest
        for key in place.split("."):
            value = value.get(key) if isinstance(value, Mapping) else None
        if not fits(value):
            return f"{place} is {value!r:.60}"
    return None


def _is_name(value: Any) -> bool:
    """Text that a terminal and a path can bear."""
    return isinstance(value, str) and value.isprintable() and 0 < len(value) <= 200 and not set(value) & set("/\\")


def _is_time(value: Any) -> bool:
    try:
        return datetime.fromisoformat(value).tzinfo is not None
    except (TypeError, ValueError):
        return False


def _is_digest(value: Any) -> bool:
    return isinstance(value, str) and re.fullmatch("[0-9a-f]{64}", value) is not None


def _is_mapping(value: Any) -> bool:
    return isinstance(value, Mapping)


def _is_reason(value: Any) -> bool:
    return value is None or (
        isinstance(value, Mapping)
        and isinstance(value.get("type"), str)
        and isinstance(value.get("message"), str)
        and type(value.get("cell")) in (int, type(None))
    )


_FORMS: dict[str, Callable[[Any], bool]] = {
    "notebook": _is_name,
    "format": lambda value: value == FORMAT,
    "canonical": lambda value: value == CANONICAL,
    "status": lambda value: value in get_args(Status),
    "reason": _is_reason,
    "recipe.source": _is_digest,
    "recipe.library": _is_digest,
    "recipe.device": _is_name,
    "recipe.parameters": _is_mapping,
    "recipe.inputs": _is_mapping,
    "recipe.versions": _is_mapping,
    "recipe_digest": _is_digest,
    "result_digest": _is_digest,
    "time.started": _is_time,
    "time.ended": _is_time,
    "time.seconds": lambda value: type(value) in (int, float),
    "rankwork": _is_name,
    "files": _is_mapping,
}
