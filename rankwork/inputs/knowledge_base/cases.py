"""The cases of the knowledge base: drafts get their words, their clusters and their split."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import groupby
from typing import cast, get_args

from rankwork.inputs.knowledge_base.documents import Written
from rankwork.inputs.knowledge_base.drawing import Draws
from rankwork.inputs.knowledge_base.questions import Draft, Library, drafts
from rankwork.inputs.knowledge_base.tenants import tenants
from rankwork.trace import Case, Split

SHARES: dict[Split, float] = {"dev": 0.5, "holdout": 0.3, "blind": 0.2}


def all_cases(seed: int, documents: Sequence[Written]) -> tuple[Case, ...]:
    """Every question in words that no other question uses, with its evidence, cluster and split.

    A draft for which no wording is left is dropped: the same words with two right answers would join two tenants.
    """
    by_id = {written.document.id: written for written in documents}
    used: set[str] = set()
    cases = [case for draft in drafts(Library(documents), tenants(seed)) if (case := _worded(draft, used, by_id))]
    clusters = _clusters(cases)
    splits = _splits(clusters, Draws(seed).under("split"))
    named = zip(cases, clusters, strict=True)
    return tuple(case.model_copy(update={"cluster": name, "split": splits[name]}) for case, name in named)


def _worded(draft: Draft, used: set[str], by_id: dict[str, Written]) -> Case | None:
    questions = draft.questions()
    first = draft.tenant.draws.below(len(questions), draft.name, "wording")
    turned = [*questions[first:], *questions[:first]]
    free = next((question for question in turned if question not in used), None)
    if free is None:
        return None
    used.add(free)
    needs = tuple(need.requirement() for need in draft.needs)
    valid_from, valid_until = _validity([by_id[f"{e.source}@{e.revision}"] for n in needs for e in n.any_of])
    return Case(
        id=f"{draft.tenant.slug}.{draft.name}",
        query=free,
        time=draft.time,
        identity=draft.identity,
        requires=needs,
        points=() if draft.refused else tuple(need.point for need in draft.needs),
        variants=() if draft.refused else tuple(other for need in draft.needs for other in need.variants),
        expected="refuse" if draft.refused else "answer",
        slices=draft.slices,
        origin="synthetic",
        valid_from=valid_from,
        valid_until=valid_until,
    )


def _validity(gold: Sequence[Written]) -> tuple[datetime | None, datetime | None]:
    """The moments at which every piece of the evidence holds."""
    begins = [written.document.valid_from for written in gold if written.document.valid_from]
    ends = [written.document.valid_until for written in gold if written.document.valid_until]
    return max(begins, default=None), min(ends, default=None)


def _clusters(cases: Sequence[Case]) -> list[str]:
    """For each case the ID of the first case that it is joined to by a shared source or a shared text."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    keys: dict[str, int] = {}
    links = [(case, keys.setdefault(key, len(keys))) for case, c in enumerate(cases) for key in _shared(c)]
    rows, columns = [case for case, _ in links], [len(cases) + key for _, key in links]
    nodes = len(cases) + len(keys)
    labels = connected_components(coo_array(([1] * len(links), (rows, columns)), (nodes, nodes)), directed=False)[1]
    first: dict[int, str] = {}
    return [first.setdefault(int(label), case.id) for label, case in zip(labels, cases, strict=False)]


def _shared(case: Case) -> Iterator[str]:
    yield f"text {case.query}"
    yield from (f"source {evidence.source}" for evidence in case.gold.values())


def _splits(clusters: Sequence[str], draws: Draws) -> dict[str, Split]:
    """Whole clusters, the largest first, each to the split that lacks most of its share."""
    sizes = {name: len(list(group)) for name, group in groupby(sorted(clusters))}
    have: dict[Split, int] = dict.fromkeys(cast(tuple[Split, ...], get_args(Split)), 0)
    splits: dict[str, Split] = {}
    for name in sorted(sizes, key=lambda name: (-sizes[name], draws.below(1 << 32, name))):
        splits[name] = min(have, key=lambda split: have[split] / SHARES[split])
        have[splits[name]] += sizes[name]
    return splits
