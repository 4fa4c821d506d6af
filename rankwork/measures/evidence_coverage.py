"""Coverage of evidence: how much of what an answer needs stands among the first k documents.

A query needs groups of alternatives: any document of a group meets it, and all groups are needed. Two numbers come of
it: the share of groups that are met (any-of), and whether all of them are (all-of). A query whose requirement is empty,
or holds an empty group, is undefined: neither met nor missed.

Of the group of m tied documents at the cut, s are taken. A group of evidence that is not met above, r of its documents
tied, is missed with chance C(m-r, s)/C(m, s); two are both missed with that of their united documents; so mean and
variance are exact, overlap or not. Where evidence groups share documents, the extremes are a problem of maximum
coverage, solved by trying all sets of the kinds of tied documents, up to 16 kinds; beyond that there are bounds, and it
is said.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import comb
from typing import Any

import numpy as np

from rankwork.errors import ContractError
from rankwork.measures.auditing import Audit, Result, Run, joined_run, setting_of
from rankwork.measures.means import mean_of
from rankwork.measures.names import Measure
from rankwork.measures.values import CENSORED, EMPTY, Setting, Values, by_protocol
from rankwork.protocol import Protocol
from rankwork.rankings import Judgements

ANY_OF, ALL_OF = "EvidenceCoverage", "EvidenceComplete"
BOUNDED = "overlapping evidence groups: bounds only"
MOST_KINDS = 16

Requirement = Iterable[Iterable[Any]] | Mapping[str, Iterable[Any]]
Kinds = Mapping[frozenset[int], int]


@dataclass(frozen=True)
class _Case:
    """One query: `needed` groups, `met` of them above the cut's group, which has `tied` documents and `slots`.

    `kinds` counts the tied documents by the unmet groups that they meet, `rest` those of the judged ones that were not
    retrieved; `chosen` are the unmet groups that the order in force meets. `hidden`: the list was cut inside this
    group.
    """

    needed: int
    met: int
    tied: int
    slots: int
    kinds: Kinds
    rest: Kinds
    chosen: frozenset[int]
    hidden: bool


def evidence_coverage(
    run: Run,
    requirements: Mapping[str, Requirement],
    k: int,
    *,
    protocol: str | Protocol = "rankwork",
    order: str | None = None,
    depth: int | None = None,
) -> Audit:
    """The share of evidence groups met by the first k documents, and whether all are met, each with its exact range.

    `requirements` holds for each query its groups of alternatives, as lists of document IDs or as `{name: IDs}`; `run`,
    `protocol`, `order` and `depth` are those of `audit`, and so is the result, with the measures `EvidenceCoverage@k`
    and `EvidenceComplete@k`. ContractError for a k below 1 and for groups of another form.

    >>> run = {"q": {"a": 3.0, "b": 2.0, "c": 2.0, "d": 1.0}}
    >>> found = evidence_coverage(run, {"q": [["a", "x"], ["b"], ["d"]]}, 2).to_json()["per_query"]["q"]
    >>> {name: round(found["EvidenceCoverage@2"][name], 4) for name in ("contract", "min", "expected", "max", "std")}
    {'contract': 0.6667, 'min': 0.3333, 'expected': 0.5, 'max': 0.6667, 'std': 0.1667}
    """
    if isinstance(k, bool) or not isinstance(k, int) or k < 1:
        raise ContractError(f"k must be an integer of at least 1, got {k!r}")
    groups = {query: _groups(query, needed) for query, needed in requirements.items()}
    judgements = Judgements.from_dicts(
        {query: {document: 1 for group in needed for document in group} for query, needed in groups.items()}
    )
    setting = setting_of(joined_run(run, judgements, protocol, order), protocol, order, depth)
    cases = _cases(setting, list(groups.values()), k)
    empty = np.array([not needed or not all(needed) for needed in groups.values()], bool)
    results = {}
    for name in (ANY_OF, ALL_OF):
        measure = Measure(name, (), k)
        values = by_protocol(_values(name, setting, cases, k), str(measure), k, setting, always_defined=True)
        values = values.filled(empty, np.nan, EMPTY)
        results[str(measure)] = Result(str(measure), measure, values, mean_of(values))
    return Audit(setting, results)


def _groups(query: str, needed: Requirement) -> list[frozenset[Any]]:
    if isinstance(needed, str) or not isinstance(needed, Iterable):
        raise ContractError(f"query {query!r} must need groups of document IDs, got {needed!r}")
    groups = list(needed.values()) if isinstance(needed, Mapping) else list(needed)
    for group in groups:
        if isinstance(group, str) or not isinstance(group, Iterable):
            raise ContractError(f"an evidence group of query {query!r} must be a list of document IDs, got {group!r}")
    return [frozenset(group) for group in groups]


def _cases(setting: Setting, groups: list[list[frozenset[Any]]], k: int) -> list[_Case]:
    joined = setting.joined
    cut = joined.boundaries(k)
    policy = "id_asc" if setting.order == "inclusive" else setting.order
    limit = cut.above + cut.tied if setting.order == "inclusive" else cut.k
    selected = joined.hit_place(policy) < limit[joined.hit_query]
    document = joined.judgements.documents[joined.judgements.codes]
    found: list[dict[Any, tuple[int, bool]]] = [{} for _ in groups]
    rows = (joined.hit_query, joined.hit_judged, joined.hit_above, selected)
    for query, judged, above, taken in zip(*(column.tolist() for column in rows), strict=True):
        found[query][document[judged]] = (above, taken)
    whole = cut.above + cut.tied == joined.retrieved
    hidden = (joined.retrieved == setting.depth) & whole & (cut.slots > 0)
    columns = zip(
        groups, found, cut.above.tolist(), cut.tied.tolist(), cut.slots.tolist(), hidden.tolist(), strict=True
    )
    return [_case(*column) for column in columns]


def _case(
    groups: list[frozenset[Any]], found: dict[Any, tuple[int, bool]], above: int, tied: int, slots: int, hidden: bool
) -> _Case:
    unmet = [place for place, group in enumerate(groups) if not any(found.get(d, (above, 0))[0] < above for d in group)]
    documents = {document for place in unmet for document in groups[place]}
    meets = {d: frozenset(place for place in unmet if d in groups[place]) for d in documents}
    at_cut = [d for d in documents if d in found and found[d][0] == above]
    return _Case(
        needed=len(groups),
        met=len(groups) - len(unmet),
        tied=tied,
        slots=slots,
        kinds=Counter(meets[d] for d in at_cut),
        rest=Counter(meets[d] for d in documents if d not in found),
        chosen=frozenset(place for d in at_cut if found[d][1] for place in meets[d]),
        hidden=hidden,
    )


def _values(name: str, setting: Setting, cases: list[_Case], k: int) -> Values:
    rows = [_numbers(name, setting.order, case) for case in cases]
    columns: dict[str, Any] = {
        field: np.array([row[field] for row in rows], np.float64) for field in rows[0] if field != "reason"
    }
    reason = np.empty(len(rows), object)
    reason[:] = [row["reason"] for row in rows]
    cut = setting.joined.boundaries(k)
    returned = cut.above + cut.tied if setting.order == "inclusive" else cut.k
    details = {"retrieved": setting.joined.retrieved, "returned": returned, "above": cut.above}
    details |= {"tied": cut.tied, "slots": cut.slots}
    relevant = np.array([case.needed for case in cases], np.int64)
    return Values(**columns, relevant=relevant, reason=reason, details=details)


def _numbers(name: str, order: str, case: _Case) -> dict[str, Any]:
    """The five numbers of a query, with the outer bounds of what a cut list hides."""
    scaled = _share if name == ANY_OF else _all
    low, high, exact = _scaled_extremes(scaled, case, _extremes(case.kinds, case.tied, case.slots))
    outer_low, outer_high, sure = (low, high, exact)
    if case.hidden:
        outer_low, outer_high, sure = _scaled_extremes(scaled, case, _outer_extremes(case))
    moving = case.hidden and outer_low != outer_high
    unsure = moving or (order == "inclusive" and case.hidden and bool(case.rest))
    mean, variance = _moments(name, case)
    unknown = float("nan")
    return {
        "contract": unknown if unsure else scaled(case, case.met + len(case.chosen)),
        "min": low if exact and low == outer_low else unknown,
        "max": high if exact and high == outer_high else unknown,
        "expected": unknown if moving else mean,
        "variance": unknown if moving else variance,
        "outer_min": outer_low,
        "outer_max": outer_high,
        "reason": CENSORED if moving or unsure else None if exact and sure else BOUNDED,
    }


def _outer_extremes(case: _Case) -> tuple[int, int, bool]:
    """What the cut hides: the slots hold nothing that is needed, or the best of the last group and of the rest."""
    everything = Counter(case.kinds) + Counter(case.rest)
    _, most, exact = _extremes(everything, case.slots + sum(everything.values()), case.slots)
    return 0, most, exact


def _scaled_extremes(
    scaled: Callable[[_Case, int], float], case: _Case, extremes: tuple[int, int, bool]
) -> tuple[float, float, bool]:
    low, high, exact = extremes
    return scaled(case, case.met + low), scaled(case, case.met + high), exact


def _share(case: _Case, met: int) -> float:
    return met / max(case.needed, 1)


def _all(case: _Case, met: int) -> float:
    return float(met == case.needed)


def _extremes(kinds: Kinds, tied: int, slots: int) -> tuple[int, int, bool]:
    """The fewest and the most unmet groups that a choice of `slots` can meet, and whether these are exact."""
    if all(len(kind) == 1 for kind in kinds):
        return _fewest_disjoint(list(kinds.values()), tied, slots), min(slots, len(kinds)), True
    if len(kinds) > MOST_KINDS:
        return (*_bounds(kinds, tied, slots), False)
    filler = tied - sum(kinds.values())
    met = [
        len(frozenset().union(*taken))
        for size in range(min(len(kinds), slots) + 1)
        for taken in combinations(kinds, size)
        if filler + sum(kinds[kind] for kind in taken) >= slots
    ]
    return min(met), max(met), True


def _fewest_disjoint(sizes: list[int], tied: int, slots: int) -> int:
    """Documents of no group are taken first, then those of the largest groups."""
    left, fewest = slots - (tied - sum(sizes)), 0
    for size in sorted(sizes, reverse=True):
        if left <= 0:
            break
        left, fewest = left - size, fewest + 1
    return fewest


def _bounds(kinds: Kinds, tied: int, slots: int) -> tuple[int, int]:
    """A lower and an upper bound: groups that no choice can avoid, and the most that the best kinds could add up to."""
    members: Counter[int] = Counter()
    for kind, count in kinds.items():
        members.update(dict.fromkeys(kind, count))
    forced = sum(count > tied - slots for count in members.values())
    some = int(slots > tied - sum(kinds.values()))
    sizes = sorted((len(kind) for kind, count in kinds.items() for _ in range(min(count, slots))), reverse=True)
    return max(forced, some), min(len(members), sum(sizes[:slots]))


def _moments(name: str, case: _Case) -> tuple[float, float]:
    """Mean and variance over all orders."""
    members: dict[int, set[tuple[frozenset[int], int]]] = {}
    for kind, count in case.kinds.items():
        for place in kind:
            members.setdefault(place, set()).update((kind, each) for each in range(count))
    sets = list(members.values())
    if name == ALL_OF:
        chance = _chance_of_all(case, sets)
        return chance, chance * (1 - chance)
    missed = [_none(case, len(each)) for each in sets]
    mean = (case.met + sum(1 - chance for chance in missed)) / max(case.needed, 1)
    variance = Fraction(0)
    for one, of_one in zip(sets, missed, strict=True):
        for other, of_other in zip(sets, missed, strict=True):
            variance += _none(case, len(one | other)) - of_one * of_other
    return float(mean), float(variance / max(case.needed, 1) ** 2)


def _none(case: _Case, members: int) -> Fraction:
    """The chance that the slots take none of so many tied documents."""
    few, many = sorted((members, case.slots))
    chance = Fraction(1)
    for step in range(few):
        chance *= Fraction(max(case.tied - many - step, 0), case.tied - step)
    return chance


def _chance_of_all(case: _Case, sets: list[set[tuple[frozenset[int], int]]]) -> float:
    """The chance that every unmet group is met; NaN where too many groups overlap to count."""
    if len(sets) < case.needed - case.met:
        return 0.0
    if sum(map(len, sets)) == sum(case.kinds.values()):
        return float(_chance_of_disjoint(case, [len(each) for each in sets]))
    if len(sets) > MOST_KINDS:
        return float("nan")
    chance = Fraction(0)
    for size in range(len(sets) + 1):
        for chosen in combinations(sets, size):
            chance += (-1) ** size * _none(case, len(set().union(*chosen)))
    return float(chance)


def _chance_of_disjoint(case: _Case, sizes: list[int]) -> Fraction:
    """Ways to take at least one document of each group, and the rest of the slots from the others, over all ways."""
    ways = [1]
    for size in sizes:
        longer = [0] * min(len(ways) + size, case.slots + 1)
        for taken, count in enumerate(ways):
            for more in range(1, min(size, len(longer) - 1 - taken) + 1):
                longer[taken + more] += count * comb(size, more)
        ways = longer
    others = case.tied - sum(sizes)
    met = sum(count * comb(others, case.slots - taken) for taken, count in enumerate(ways) if taken <= case.slots)
    return Fraction(met, comb(case.tied, case.slots))
