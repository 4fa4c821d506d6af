"""The files of the knowledge base: read them, and write them from the generator."""

import json
from collections.abc import Iterable
from dataclasses import asdict, replace
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

from rankwork.digest import digest_bytes
from rankwork.errors import InputError
from rankwork.inputs.documents import Collection, Document
from rankwork.inputs.knowledge_base.cases import all_cases
from rankwork.inputs.knowledge_base.catalogue import DATA, catalogue
from rankwork.inputs.knowledge_base.documents import Written, all_documents
from rankwork.trace import Case

SEED = 2026
DOCUMENTS, CASES = "documents.jsonl", "cases.jsonl"
INJECTION = "injection"


def knowledge_base(*, tenants: int | None = None) -> Collection:
    """The shipped documents, whole and in all their revisions, with the shipped cases.

    A document's ID is its source, "@" and its revision. Evidence is anchored in source, revision and characters, and
    its ID adds "#" and what it is about. The collection's revision is a digest of both files. `tenants` keeps the first
    so many tenants of the list (six have all the languages) with the platform, and those of their cases whose evidence
    lies there; None keeps all. InputError for another number than 1 to 50.

    >>> base = knowledge_base()
    >>> gold = next(case for case in base.cases if case.id == "brindlemoor.order-gateway.heap").gold
    >>> [(name, evidence.quote) for name, evidence in gold.items()]
    [('brindlemoor.order-gateway.runbook@r3#heap', 'The maximum heap of order-gateway is set to 2 GB per instance.')]
    """
    whole, slugs = _whole(), [row[0] for row in catalogue("tenants")["tenants"]]
    if tenants is None:
        return whole
    if isinstance(tenants, bool) or not isinstance(tenants, int) or not 1 <= tenants <= len(slugs):
        raise InputError(f"tenants must be an integer between 1 and {len(slugs)}, got {tenants!r}")
    return _part(whole, {"", *slugs[:tenants]}, f"{whole.revision}, {tenants} tenants")


@cache
def _whole() -> Collection:
    return Collection(
        name="knowledge-base",
        revision=digest_bytes((DATA / DOCUMENTS).read_bytes() + (DATA / CASES).read_bytes())[:12],
        documents=tuple(_document(row) for row in _rows()),
        cases=tuple(Case.model_validate_json(line) for line in _lines(CASES)),
    )


def _part(whole: Collection, owners: set[str], revision: str) -> Collection:
    """The documents of these owners, and the cases of theirs that no document of others is evidence for."""
    documents = tuple(document for document in whole.documents if document.tenant in owners)
    sources = {document.source for document in documents}
    asked = (case for case in whole.cases if case.identity.tenant in owners)
    cases = tuple(case for case in asked if all(evidence.source in sources for evidence in case.gold.values()))
    return replace(whole, revision=revision, documents=documents, cases=cases)


@cache
def injections() -> dict[str, str]:
    """The documents that hold an instruction to a model, by ID, each with its words."""
    return {row["id"]: row[INJECTION] for row in _rows() if INJECTION in row}


def generated(seed: int = SEED) -> dict[str, str]:
    """The text of both files as the generator writes them, by file name."""
    documents = all_documents(seed)
    return {
        DOCUMENTS: _joined(_row(written) for written in documents),
        CASES: _joined(case.model_dump(mode="json", exclude_defaults=True) for case in all_cases(seed, documents)),
    }


def save(folder: Path, *, seed: int = SEED) -> None:
    """Write both files into a folder, in place of those that stand there."""
    for name, text in generated(seed).items():
        (folder / name).write_text(text, encoding="utf-8", newline="\n")


def _joined(rows: Iterable[dict[str, Any]]) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def _row(written: Written) -> dict[str, Any]:
    """The fields of a document that say something, and the instruction to a model that it holds."""
    fields = {name: value for name, value in asdict(written.document).items() if value and name != "end"}
    row = {name: _plain(value) for name, value in fields.items()}
    return row | ({INJECTION: written.quote(INJECTION)} if INJECTION in written.marks else {})


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    return sorted(value) if isinstance(value, frozenset) else value


def _document(row: dict[str, Any]) -> Document:
    fields = {name: value for name, value in row.items() if name != INJECTION}
    fields |= {name: datetime.fromisoformat(row[name]) for name in ("valid_from", "valid_until") if name in row}
    return Document(**{**fields, "roles": frozenset(row.get("roles", ())), "end": len(row["text"])})


def _rows() -> list[dict[str, Any]]:
    return [json.loads(line) for line in _lines(DOCUMENTS)]


def _lines(name: str) -> list[str]:
    return (DATA / name).read_text(encoding="utf-8").splitlines()
