"""Cases from a BEIR folder or from any judgements: every query with a text, its relevant documents as evidence."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from rankwork.errors import ContractError, InputError
from rankwork.inputs.json_lines import objects
from rankwork.inputs.sources import read_judgements
from rankwork.trace import Case, Evidence, Origin, Requirement, Split


def cases_of_judgements(
    judgements: Any,
    queries: Mapping[str, str],
    *,
    need: Literal["any", "each"],
    relevant_from: int = 1,
    split: Split = "dev",
    origin: Origin = "expert",
) -> tuple[Case, ...]:
    """The cases of judged queries. Judgements do not say whether one relevant document is enough: `need` must.

    `any`: one of them meets the one requirement. `each`: every one is a requirement, so that coverage is recall.
    Documents graded below `relevant_from` are no evidence. Queries of one text, letters and spaces apart, are one
    cluster. InputError for a judged query without text and a grade that is no integer.

    >>> cases = cases_of_judgements({"q": {"a": 2, "b": 0, "c": 1}}, {"q": "why?"}, need="each")
    >>> [[(gold.id, gold.grade) for gold in need.any_of] for need in cases[0].requires]
    [[('a', 2)], [('c', 1)]]
    """
    if relevant_from < 1:
        raise ContractError(f"relevant_from must be at least 1, got {relevant_from!r}")
    judged = read_judgements(judgements)
    clusters: dict[str, str] = {}
    made = []
    for query in judged.queries:
        if query not in queries:
            raise InputError(f"query {query!r} is judged and has no text")
        gold = [_evidence(query, *pair) for pair in judged.grades_of(query).items() if pair[1] >= relevant_from]
        groups = [tuple(gold)] if need == "any" and gold else [(piece,) for piece in gold]
        cluster = clusters.setdefault(" ".join(queries[query].casefold().split()), query)
        requires = tuple(Requirement(any_of=group) for group in groups)
        case: dict[str, Any] = {"id": query, "query": queries[query], "requires": requires, "cluster": cluster}
        made.append(Case(**case, split=split, origin=origin))
    return tuple(made)


def read_queries(path: str | os.PathLike[str]) -> dict[str, str]:
    """The texts of `queries.jsonl`, by ID. InputError, with the line, for one without text `_id` and `text`."""
    found: dict[str, str] = {}
    for place, entry in objects(path):
        name, text = entry.get("_id"), entry.get("text")
        if not isinstance(name, str) or not isinstance(text, str):
            raise InputError(f"{place}: expected an object with the texts _id and text")
        if name in found:
            raise InputError(f"{place}: query {name!r} was given already")
        found[name] = text
    return found


def read_beir_cases(folder: str | os.PathLike[str], **options: Any) -> tuple[Case, ...]:
    """The cases of a BEIR folder (`queries.jsonl` and `qrels/`); the options are those of `cases_of_judgements`."""
    return cases_of_judgements(folder, read_queries(Path(folder) / "queries.jsonl"), **options)


def _evidence(query: str, document: Any, grade: Any) -> Evidence:
    if grade != int(grade):
        raise InputError(f"query {query!r}: grade {grade!r} of document {document!r} must be an integer")
    return Evidence(id=str(document), source=str(document), grade=int(grade))
