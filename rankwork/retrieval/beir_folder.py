"""A BEIR folder as a collection: `corpus.jsonl`, `queries.jsonl` and the judgements of one split in `qrels/`."""

import os
from pathlib import Path
from typing import Any, Literal

from rankwork.digest import digest_file
from rankwork.errors import InputError
from rankwork.inputs import beir
from rankwork.inputs.beir_cases import cases_of_judgements, read_queries
from rankwork.inputs.documents import Collection, Document
from rankwork.inputs.json_lines import objects
from rankwork.retrieval.collection import split_of
from rankwork.trace import Case


def beir_folder(
    folder: str | os.PathLike[str], *, split: str | None = None, need: Literal["any", "each"] = "each", seed: int = 0
) -> Collection:
    """The documents of a BEIR folder and a case for each judged query of a split (None: the only one, or "test").

    `need` says whether a case requires each document of a grade above 0, or any of them. A judged document that the
    corpus lacks stays required, so that it can be diagnosed as missing. Queries of the same text share a cluster, and
    `seed` draws whether a cluster is dev or holdout: what BEIR calls a split only says which judgements are read. The
    revision is the digest of `corpus.jsonl`. InputError, with file and line, for what cannot be read, for grades that
    are no integers, and for a judged query that `queries.jsonl` lacks.
    """
    root = Path(folder)
    judged = beir.read_judgements(root, split=split)
    cases = cases_of_judgements(judged, read_queries(_file(root, "queries.jsonl")), need=need)
    corpus = _file(root, "corpus.jsonl")
    revision = digest_file(corpus)[:12]
    return Collection(
        name=root.name,
        revision=revision,
        documents=tuple(_document(place, entry, revision) for place, entry in objects(corpus)),
        cases=tuple(_dated(case, revision, seed) for case in sorted(cases, key=lambda case: case.id)),
        parser="corpus.jsonl",
    )


def _file(root: Path, name: str) -> Path:
    if not (root / name).exists():
        raise InputError(f"folder {root.name} should have {name}")
    return root / name


def _document(place: str, entry: dict[str, Any], revision: str) -> Document:
    for field in ("_id", "text"):
        if not isinstance(entry.get(field), str) or (field == "_id" and not entry[field]):
            raise InputError(f"{place}: expected an object with a text {field}, got {entry.get(field)!r}")
    name, text, title = entry["_id"], entry["text"], entry.get("title")
    return Document(
        name, text, title=title if isinstance(title, str) else "", source=name, revision=revision, end=len(text)
    )


def _dated(case: Case, revision: str, seed: int) -> Case:
    """The case with its split, and its evidence at the revision of the corpus."""
    needs = (
        need.model_copy(
            update={"any_of": tuple(piece.model_copy(update={"revision": revision}) for piece in need.any_of)}
        )
        for need in case.requires
    )
    return case.model_copy(update={"requires": tuple(needs), "split": split_of(case.cluster, seed)})
