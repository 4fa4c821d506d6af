"""An enterprise knowledge base in small: fifty invented tenants, their documents and the questions of their people.

Runbooks of Java services in up to three revisions, internal APIs, error codes that differ in one digit, incident
reviews, change notices, on-call handbooks, tickets that hold injected instructions, and documents that only one role
may read; a platform's manuals and guides that everybody reads. English, Chinese, German and Spanish. Every organisation
and fact is made up, by a seeded generator over templates, and every case says so (`origin` synthetic): it exercises
all the slices, and it is no sample of anybody's traffic.

The files are shipped, to be read and searched by people; a test holds them to the generator byte for byte. This
writes them again: `python -m rankwork.inputs.knowledge_base`.
"""

import json
from collections.abc import Iterable
from dataclasses import asdict
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

from rankwork.digest import digest_bytes
from rankwork.inputs.documents import Collection, Document
from rankwork.inputs.knowledge_base_cases import all_cases
from rankwork.inputs.knowledge_base_documents import Written, all_documents
from rankwork.inputs.knowledge_base_tenants import DATA
from rankwork.trace import Case

SEED = 2026
DOCUMENTS, CASES = "documents.jsonl", "cases.jsonl"
INJECTION = "injection"


@cache
def knowledge_base() -> Collection:
    """The shipped documents, whole and in all their revisions, with the shipped cases.

    A document's ID is its source, "@" and its revision. Evidence is anchored in source, revision and characters, and
    its ID adds "#" and what it is about. The collection's revision is a digest of both files.

    >>> base = knowledge_base()
    >>> gold = next(case for case in base.cases if case.id == "brindlemoor.order-gateway.heap").gold
    >>> [(name, evidence.quote) for name, evidence in gold.items()]
    [('brindlemoor.order-gateway.runbook@r3#heap', 'The maximum heap of order-gateway is set to 2 GB per instance.')]
    """
    return Collection(
        name="knowledge-base",
        revision=digest_bytes((DATA / DOCUMENTS).read_bytes() + (DATA / CASES).read_bytes())[:12],
        documents=tuple(_document(row) for row in _rows()),
        cases=tuple(Case.model_validate_json(line) for line in _lines(CASES)),
    )


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


if __name__ == "__main__":
    save(Path(str(DATA)))
