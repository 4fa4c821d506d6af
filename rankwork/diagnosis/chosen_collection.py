"""A collection by its name, for a notebook's parameter: one that is made here, or the three files of a BEIR folder."""

import shutil
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from rankwork.errors import ContractError
from rankwork.inputs.documents import Collection

NAMES = ("docstrings", "digits", "knowledge_base", "beir")


def chosen_collection(name: str, *, queries: int, corpus: str = "", questions: str = "", qrels: str = "") -> Collection:
    """The collection of that name, with at most so many of its cases.

    `docstrings` of installed libraries, scikit-learn's `digits`, the shipped `knowledge_base` of fifty tenants in
    chunks, or `beir`, which needs the paths of its `corpus`, `questions` and `qrels`. ContractError for another name
    and for `beir` without its files; errors of the files as for `beir_folder`.

    >>> found = chosen_collection("digits", queries=3)
    >>> found.name, len(found.cases)
    ('handwritten digits', 3)
    """
    if name == "docstrings":
        from rankwork.retrieval.collection import docstrings

        return docstrings(queries=queries)
    if name == "digits":
        from rankwork.retrieval.digit_images import digit_images

        return digit_images(queries=queries)
    if name == "knowledge_base":
        from rankwork.diagnosis.scenario import candidate

        return _fewer(candidate().chunks(), queries)
    if name == "beir":
        return _fewer(_beir(corpus, questions, qrels), queries)
    raise ContractError(f"collection must be one of {', '.join(NAMES)}, got {name!r}")


def _fewer(collection: Collection, queries: int) -> Collection:
    """Cases from the whole range, evenly spread."""
    step = max(len(collection.cases) // queries, 1)
    return replace(collection, cases=collection.cases[::step][:queries])


def _beir(corpus: str, questions: str, qrels: str) -> Collection:
    from rankwork.retrieval.beir_folder import beir_folder

    files = {"corpus.jsonl": corpus, "queries.jsonl": questions, "qrels/test.tsv": qrels}
    absent = next((name for name, path in files.items() if not path), None)
    if absent:
        raise ContractError(f"collection 'beir' needs its three files; {absent} is not given")
    with TemporaryDirectory() as scratch:
        (Path(scratch) / "qrels").mkdir()
        for name, path in files.items():
            shutil.copyfile(path, Path(scratch) / name)
        return replace(beir_folder(scratch), name="BEIR")
