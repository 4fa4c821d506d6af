"""Checking a record from its own bytes: nothing missing, changed or put together from two executions.

`verify` needs no notebook server, kernel or repository. Each check says in a sentence what it found.
"""

import ast
import json
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rankwork.digest import digest, digest_bytes, digest_file
from rankwork.evidence import manifest, recording
from rankwork.evidence.assembly import SEAL_SOURCE, SEAL_TAG
from rankwork.evidence.store import read_manifest


@dataclass(frozen=True)
class Check:
    """One thing that was looked at: what, whether it holds, and what was found."""

    name: str
    holds: bool
    found: str


@dataclass(frozen=True)
class Verification:
    """All checks of one record. Truthy when every one holds and the record is complete."""

    record_id: str
    status: str
    checks: tuple[Check, ...]

    def __bool__(self) -> bool:
        return self.intact and self.status == "complete"

    @property
    def intact(self) -> bool:
        """Whether the record is what its execution left, complete or not."""
        return all(check.holds for check in self.checks)

    @property
    def sentence(self) -> str:
        """The verdict in one line."""
        wrong = [f"{check.name}: {check.found}" for check in self.checks if not check.holds]
        if wrong:
            return f"{self.record_id[:12]} not verified: {'; '.join(wrong)}"
        if self.status != "complete":
            return f"{self.record_id[:12]} intact, but the execution is not complete: {self.status}"
        return f"{self.record_id[:12]} verified: {len(self.checks)} checks hold"


@dataclass(frozen=True)
class _Record:
    folder: Path
    manifest: dict[str, Any]
    executed: dict[str, Any]
    source: dict[str, Any]
    results: dict[str, Any]


def verify(folder: Path, *, without: Collection[str] = ()) -> Verification:
    """Check a record folder; EvidenceError only when it has no manifest that can be read.

    The files named in `without` may be missing, as the report is in a reference.
    """
    kept = read_manifest(folder)
    checks = [*_files(folder, kept, without)]
    if all(check.holds for check in checks):
        record = _Record(
            folder, kept, *(_json(folder / name) for name in ("notebook.ipynb", "source.ipynb", "results.json"))
        )
        checks += [check(record) for check in _CHECKS]
    return Verification(folder.name, str(kept.get("status", "damaged")), tuple(checks))


def _json(path: Path) -> dict[str, Any]:
    return dict(json.loads(path.read_bytes()))


def _files(folder: Path, kept: Mapping[str, Any], without: Collection[str]) -> Iterator[Check]:
    """The folder's name, its list of files and each file's bytes."""
    actual = digest_bytes((folder / "manifest.json").read_bytes())
    yield Check(
        "name", folder.name == actual, f"the manifest's digest is {actual[:12]}, the folder's name {folder.name[:12]}"
    )
    fields = {field.name for field in manifest.FIELDS}
    odd = sorted(set(kept) ^ fields)
    yield Check("fields", not odd, f"missing or unknown: {', '.join(odd)}" if odd else f"all {len(fields)} are there")
    listed = kept.get("files", {})
    present = {path.name for path in folder.iterdir()} - {"manifest.json"}
    odd = sorted((present ^ set(listed)) - (set(without) - present))
    yield Check(
        "files", not odd, f"missing or not listed: {', '.join(odd)}" if odd else f"{len(listed)} listed and there"
    )
    for name in sorted(present & set(listed)):
        same = not (folder / name).is_symlink() and digest_file(folder / name) == listed[name]["digest"]
        yield Check(name, same, "unchanged" if same else "its bytes are not those of the execution")


def _check_recipe(record: _Record) -> Check:
    same = digest(record.manifest["recipe"]) == record.manifest["recipe_digest"]
    return Check("recipe", same, "its digest is the recorded one" if same else "its digest is not the recorded one")


def _check_source(record: _Record) -> Check:
    same = manifest.source_digest(record.source) == record.manifest["recipe"]["source"]
    return Check(
        "source", same, "source.ipynb is the recipe's" if same else "source.ipynb is not the source of the recipe"
    )


def _check_executed_source(record: _Record) -> Check:
    """The executed notebook is the source, plus what the runner and papermill are known to add."""
    executed, source = _own_cells(record.executed), manifest.source_cells(record.source)
    different = [number for number, pair in enumerate(zip(executed, source, strict=False)) if pair[0] != pair[1]]
    if len(executed) != len(source):
        return Check("executed source", False, f"{len(executed)} cells were executed, the source has {len(source)}")
    if different:
        return Check("executed source", False, f"cell {different[0]} is not the source's")
    return Check("executed source", True, f"all {len(source)} cells are the source's")


def _own_cells(executed: Mapping[str, Any]) -> list[list[str]]:
    added = {"injected-parameters", SEAL_TAG, "papermill-error-cell-tag"}
    cells = [cell for cell in executed["cells"] if not added & set(cell["metadata"].get("tags", ()))]
    return manifest.source_cells({"cells": cells})


def _check_parameters(record: _Record) -> Check:
    injected = [cell for cell in record.executed["cells"] if "injected-parameters" in cell["metadata"].get("tags", ())]
    asked = record.manifest["recipe"]["parameters"]
    if not injected:  # as in an execution that ended before its kernel began
        return Check("parameters", not asked or record.manifest["status"] != "complete", "none were injected")
    values = _assigned(manifest.text_of(injected[0]))
    same = len(injected) == 1 and values == asked
    return Check(
        "parameters",
        same,
        "the injected values are the recipe's" if same else "the injected values are not the recipe's",
    )


def _assigned(source: str) -> dict[str, Any] | None:
    try:
        return {node.targets[0].id: ast.literal_eval(node.value) for node in ast.parse(source).body}  # type: ignore[attr-defined]
    except (SyntaxError, ValueError, AttributeError):
        return None


def _check_seal(record: _Record) -> Check:
    """A complete execution shows its own nonce in its own last cell, and sealed the results that are kept."""
    if record.manifest["status"] != "complete":
        return Check("seal", True, "none is expected of an execution that is not complete")
    seal = recording.find_seal(record.executed)
    nonce = record.manifest["nonce"]
    last = manifest.text_of(record.executed["cells"][-1])
    if seal is None or seal["nonce"] != nonce or last != SEAL_SOURCE.format(nonce=nonce):
        return Check("seal", False, "the last cell does not show this execution's nonce")
    same = seal["results"] == record.manifest["result_digest"]
    return Check(
        "seal",
        same,
        "nonce and results are this execution's" if same else "the results were sealed with another digest",
    )


def _check_results(record: _Record) -> Check:
    shown = recording.collect(record.executed)
    same = shown == record.results and recording.results_digest(record.results) == record.manifest["result_digest"]
    return Check(
        "results",
        same,
        f"all {len(shown)} are those of the notebook" if same else "they are not those that the notebook shows",
    )


def _check_summaries(record: _Record) -> Check:
    expected = manifest.summaries(record.results)
    odd = sorted(name for name, value in expected.items() if record.manifest[name] != value)
    return Check("summaries", not odd, f"not those of the results: {', '.join(odd)}" if odd else "those of the results")


def _check_canonical(record: _Record) -> Check:
    same = digest(manifest.canonical_notebook(record.executed)) == record.manifest["canonical_notebook"]
    return Check(
        "canonical notebook", same, "its digest is the recorded one" if same else "its digest is not the recorded one"
    )


_CHECKS: tuple[Callable[[_Record], Check], ...] = (
    _check_recipe,
    _check_source,
    _check_executed_source,
    _check_parameters,
    _check_seal,
    _check_results,
    _check_summaries,
    _check_canonical,
)


def current_source(folder: Path, workbook: Path) -> Check:
    """Whether the workbook's notebook of the same name is still the one that a record was made from.

    The notebook over a sweep is rankwork's own.
    """
    kept = read_manifest(folder)
    path = workbook / "notebooks" / f"{kept['notebook']}.ipynb"
    if kept["notebook"] == "sweep":
        path = Path(__file__).with_name("sweep.ipynb")
    if not path.is_file():
        return Check("workbook", False, f"there is no notebooks/{path.name} here")
    same = manifest.source_digest(_json(path)) == kept["recipe"]["source"]
    return Check("workbook", same, f"{path.parent.name}/{path.name} {'is the source' if same else 'has changed since'}")
