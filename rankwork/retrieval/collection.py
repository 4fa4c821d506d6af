"""A real collection with nothing to download: docstrings of the installed libraries, and the links that they make."""

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache

from rankwork.errors import InputError
from rankwork.inputs.documents import Collection, Document
from rankwork.rankings import Judgements
from rankwork.retrieval.chunking import plain
from rankwork.retrieval.public_names import Public, public
from rankwork.retrieval.sections import Docstring, with_sets_in_order
from rankwork.retrieval.versions import package_version
from rankwork.trace import Case, Evidence, Requirement, Split

LIBRARIES = ("numpy", "scipy", "pandas")
# The last is a table that scipy writes into hundreds of docstrings, numpy's among them once scipy has been imported.
_LEFT_OUT = ("See Also", "References", "Examples", "Array API Standard Support")


def docstrings(*, queries: int | None = None, libraries: Sequence[str] = LIBRARIES, seed: int = 0) -> Collection:
    """The docstrings of installed libraries, with the links of "See Also", written by people, as what is relevant.

    A document is the docstring of a public function, class or method, without its sections See Also, References and
    Examples (and scipy's tables of array backends); its ID is the shortest public name, its revision the library's
    version. A case asks with the summary line, its own document excluded, and requires every linked document: one
    requirement each, as each link is a need of its own. What has no summary but only a signature asks nothing. Cases
    with the same text share a cluster, and a cluster lies in one split, dev or holdout, drawn with `seed`. `queries`
    takes so many of the cases, drawn with `seed`; the documents stay complete. The links say "related", not "answers",
    and are not complete.

    InputError for a number of queries out of range and for a library that is not installed or offers no docstring.
    """
    whole = _docstrings(tuple(libraries), seed)
    return whole if queries is None else replace(whole, cases=drawn(whole.cases, queries, seed))


def judgements(cases: Iterable[Case]) -> Judgements:
    """What the cases require as judgements: each piece of evidence with its grade; a case without any has none.

    >>> case = Case(id="q", query="?", requires=(Requirement(any_of=(Evidence(id="a", grade=2),)),))
    >>> judgements([case]).grades_of("q")
    {'a': 2}
    """
    return Judgements.from_dicts(
        {case.id: {key: evidence.grade for key, evidence in case.gold.items()} for case in cases}
    )


def split_of(cluster: str, seed: int) -> Split:
    """The split that a cluster lies in: half of them dev, half holdout, by the digest of seed and cluster.

    >>> [split_of(cluster, 0) for cluster in "abcd"]
    ['dev', 'holdout', 'dev', 'holdout']
    """
    return "dev" if _draw(seed, "split", cluster) % 2 == 0 else "holdout"


def drawn(cases: Sequence[Case], number: int, seed: int) -> tuple[Case, ...]:
    """So many of the cases, drawn by the digest of seed and ID, in order of ID; InputError for a number out of range.

    >>> [case.id for case in drawn([Case(id=name, query="?") for name in "abcd"], 2, seed=0)]
    ['b', 'd']
    """
    if isinstance(number, bool) or not isinstance(number, int) or not 1 <= number <= len(cases):
        raise InputError(f"queries must be an integer between 1 and {len(cases)}, got {number!r}")
    chosen = sorted(cases, key=lambda case: _draw(seed, "query", case.id))[:number]
    return tuple(sorted(chosen, key=lambda case: case.id))


@lru_cache(maxsize=4)
def _docstrings(libraries: tuple[str, ...], seed: int) -> Collection:
    entries = {library: _public(library) for library in libraries}
    home = {name: entry.name for group in entries.values() for entry in group for name in entry.names}
    versions = {library: package_version(library) for library in libraries}
    documents, cases = [], []
    for library, group in entries.items():
        for entry in group:
            parsed = Docstring(entry.text)
            document = _document(entry, parsed, versions[library])
            documents.append(document)
            linked = _linked(entry, parsed, home)
            if linked and parsed.summary:
                cases.append((entry, document.revision, parsed.summary, linked, library))
    revisions = {document.id: document.revision for document in documents}
    lengths = {document.id: len(document.text) for document in documents}
    clusters = _clusters((entry.name, query) for entry, _, query, _, _ in cases)
    made = (
        Case(
            id=entry.name,
            query=query,
            requires=tuple(_requirement(name, revisions[name], lengths[name]) for name in linked),
            slices=(library, entry.kind),
            split=split_of(clusters[entry.name], seed),
            cluster=clusters[entry.name],
            excludes=(entry.name,),
        )
        for entry, _, query, linked, library in cases
    )
    return Collection(
        name=f"docstrings of {', '.join(libraries)}",
        revision=", ".join(f"{library} {versions[library]}" for library in libraries),
        documents=tuple(documents),
        cases=tuple(sorted(made, key=lambda case: case.id)),
        parser=f"docstrings, without {', '.join(_LEFT_OUT)}",
    )


def _public(library: str) -> tuple[Public, ...]:
    try:
        entries = public(library)
    except ImportError as error:
        raise InputError(f"library {library!r} cannot be imported: {error}") from error
    if not entries:
        raise InputError(f"library {library!r} offers no docstring")
    return entries


def _document(entry: Public, parsed: Docstring, revision: str) -> Document:
    text = with_sets_in_order(parsed.without(*_LEFT_OUT))
    return Document(
        entry.name, text, title=entry.name, source=entry.name, revision=revision, end=len(text), language="en"
    )


def _linked(entry: Public, parsed: Docstring, home: dict[str, str]) -> tuple[str, ...]:
    """The documents that See Also names, each once, itself left out; names that lead nowhere are passed over."""
    found = (_resolved(name, entry, home) for name in parsed.see_also)
    return tuple(sorted({document for document in found if document and document != entry.name}))


def _resolved(name: str, entry: Public, home: dict[str, str]) -> str | None:
    """The document that a name means to the reader of this entry: looked for beside it first, then further out."""
    for own in (entry.name, *entry.names):
        scope = own.split(".")[:-1]
        for depth in range(len(scope), 0, -1):
            if (full := ".".join([*scope[:depth], name])) in home:
                return home[full]
    return home.get(name)


def _requirement(name: str, revision: str, length: int) -> Requirement:
    return Requirement(any_of=(Evidence(id=name, source=name, revision=revision, start=0, end=length),), name=name)


def _clusters(queries: Iterable[tuple[str, str]]) -> dict[str, str]:
    """For each case the first case that asks with the same text, but for letter case and white space."""
    groups: dict[str, list[str]] = defaultdict(list)
    for case, text in queries:
        groups[plain(text).casefold()].append(case)
    return {case: min(group) for group in groups.values() for case in group}


def _draw(seed: int, purpose: str, name: str) -> int:
    return int.from_bytes(hashlib.sha256(f"{seed} {purpose} {name}".encode()).digest()[:8], "big")
