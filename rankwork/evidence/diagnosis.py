"""What a comparison of two records found, and one sentence about it, every count of which can be checked.

The order of its clauses is that in which one looks for a cause: the records themselves, the question, the scores,
members and order of the rankings, the other values, the figures, the environment.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from rankwork.evidence.agreement import FINGERPRINT
from rankwork.evidence.findings import Difference, Findings
from rankwork.evidence.layers import Layers

_MOST_NAMES = 6


@dataclass(frozen=True)
class Side:
    """One of the two records, read whole; `damage` says what `verify` found wrong with it."""

    record_id: str
    manifest: dict[str, Any]
    results: dict[str, Any]
    notebook: dict[str, Any]
    damage: str | None


@dataclass(frozen=True)
class Comparison:
    """Everything that differs between two records. Truthy where they say the same by the rules.

    `asked` and `environment` hold the differences in question and machine, `found` those in what came out, `figures`
    and `shown` those in what the notebook displays; `informative` are other declared fields that decide nothing.
    """

    a: Side
    b: Side
    asked: tuple[Difference, ...]
    deciding: tuple[Difference, ...]
    environment: tuple[Difference, ...]
    found: Findings
    figures: tuple[Difference, ...]
    figure_count: int
    shown: tuple[int, ...]
    informative: tuple[Difference, ...]

    def __bool__(self) -> bool:
        undamaged = not self.a.damage and not self.b.damage
        return undamaged and not self.deciding and self.found.agree and all(figure.agree for figure in self.figures)

    @property
    def first(self) -> str | None:
        """The first difference in what came out: one that a rule forbids where there is one, a digest only at last."""
        came_out = [*self.found.differences, *self.figures]
        came_out.sort(key=lambda each: (each.agree, each.rule is FINGERPRINT))
        return str(came_out[0]) if came_out else None

    @property
    def diagnosis(self) -> str:
        """What differs and what does not, in one sentence whose counts can be checked."""
        clauses = (_records, _question, _rankings, _values, _tables, _figures, _displayed, _environment)
        return "; ".join(clause for part in clauses for clause in part(self))

    def to_json(self) -> dict[str, Any]:
        """All differences, ready for JSON."""
        return {
            "a": self.a.record_id,
            "b": self.b.record_id,
            "same": bool(self),
            "diagnosis": self.diagnosis,
            "first_difference": self.first,
            "same_environment": not self.found.elsewhere,
            "damage": {"a": self.a.damage, "b": self.b.damage},
            "compared": {
                "lists": self.found.lists,
                "cells": self.found.cells,
                "values": self.found.values,
                "figures": self.figure_count,
                "not_compared": self.found.measured,
            },
            "asked": [_as_json(each) for each in (*self.asked, *self.deciding)],
            "came_out": [_as_json(each) for each in self.found.differences],
            "figures": [_as_json(each) for each in self.figures],
            "shown_differently_in_cells": list(self.shown),
            "environment": [_as_json(each) for each in self.environment],
            "informative": [_as_json(each) for each in self.informative],
        }


def _as_json(difference: Difference) -> dict[str, Any]:
    facts = {"where": difference.where, "a": difference.a, "b": difference.b, "within_rule": difference.agree}
    found, moved = difference.layers, difference.moved
    layers = (
        {"layers": asdict(found) | {"moved": _finite(found.moved)}, "verdict": str(found)} if found is not None else {}
    )
    return facts | {"rule": difference.rule.what, "moved": _finite(moved)} | layers


def _finite(number: float | None) -> float | None:
    """JSON knows no NaN and no infinity."""
    return number if number is not None and math.isfinite(number) else None


def _records(comparison: Comparison) -> Iterator[str]:
    for name, side in (("A", comparison.a), ("B", comparison.b)):
        if side.damage:
            yield f"{name} is not what its execution left ({side.damage})"
    statuses = [side.manifest["status"] for side in (comparison.a, comparison.b)]
    if statuses != ["complete"] * 2:
        yield f"A is {statuses[0]} and B is {statuses[1]}"


def _question(comparison: Comparison) -> Iterator[str]:
    if comparison.deciding:
        yield f"another question: {_listed([str(each) for each in comparison.deciding])}"
    if comparison.asked:
        yield f"asked with another {_listed([each.where for each in comparison.asked])}"


def _rankings(comparison: Comparison) -> Iterator[str]:
    """The three layers over all lists."""
    lists = comparison.found.lists
    differing = [each for each in comparison.found.differences if each.layers is not None]
    layers = [each.layers for each in differing if each.layers is not None]
    missing = _missing_lists(comparison)
    if missing:
        yield f"{_of(missing, lists, 'list')} {_verb(missing, 'stands', 'stand')} in one record only"
    if lists > missing:
        yield from (_scores(differing, layers, lists), _members(layers, lists), _order(layers, lists))
    yield from _candidates(comparison.found.differences)


def _missing_lists(comparison: Comparison) -> int:
    return sum(1 for each in comparison.found.differences if each.list_missing)


def _candidates(differences: Sequence[Difference]) -> Iterator[str]:
    """Digests that differ behind lists that do not; where a list differs, it says more."""
    lists = [each.where.partition("[")[0] for each in differences if each.of_list]
    for each in differences:
        ranking, _, digest = each.where.rpartition(".")
        if each.rule is FINGERPRINT and ranking not in lists:
            yield f"other {digest.removesuffix('_digest')} behind {ranking}"


def _scores(differing: Sequence[Difference], layers: Sequence[Layers], lists: int) -> str:
    other = sum(each.scores == "other" for each in layers)
    near = [each.moved for each in layers if each.scores == "near"]
    equal = sum(each.scores == "equal" for each in layers)
    if other:
        first = next(each for each in differing if each.layers is not None and each.layers.scores == "other")
        return f"scores differ in {_of(other, lists, 'list')}, first in {first.where}"
    if near:
        return f"scores within tolerance in {_of(len(near), lists, 'list')}, moved by {max(near):.2g} at most"
    if equal:
        return f"scores equal, in other bits in {_of(equal, lists, 'list')}"
    return f"same scores bit for bit in {_plural(lists, 'list')}"


def _members(layers: Sequence[Layers], lists: int) -> str:
    differing = [each for each in layers if not each.members_same]
    at_cut = sum(each.at_cut for each in differing)
    if not differing:
        return "same members"
    if at_cut == len(differing):
        where = "inside the tie group at the cut" if at_cut == 1 else "each time inside the tie group at the cut"
    else:
        where = f"{at_cut or 'not once'}{' of them' if at_cut else ''} inside the tie group at the cut"
    return f"members differ in {_of(len(differing), lists, 'list')}, {where}"


def _order(layers: Sequence[Layers], lists: int) -> str:
    turned = sum(each.members_same and not each.order_same for each in layers)
    if turned:
        return f"the same members stand in another order in {_of(turned, lists, 'list')}"
    return "same order" if all(each.members_same for each in layers) else "same order where the members are the same"


def _values(comparison: Comparison) -> Iterator[str]:
    plain = [
        each
        for each in comparison.found.differences
        if not each.of_list and not each.table and each.rule is not FINGERPRINT
    ]
    yield from _counted(plain, comparison.found.values, "value")


def _tables(comparison: Comparison) -> Iterator[str]:
    cells = [each for each in comparison.found.differences if each.table]
    yield from _counted(cells, comparison.found.cells, "cell")


def _counted(differences: Sequence[Difference], count: int, noun: str) -> Iterator[str]:
    beyond = [each for each in differences if not each.agree]
    within = [each.moved for each in differences if each.agree and each.moved is not None]
    what = f"table {noun}" if noun == "cell" else noun
    if beyond:
        yield f"{_of(len(beyond), count, what)} {_verb(len(beyond), 'differs', 'differ')}, first {beyond[0]}"
    if within:
        yield f"{_of(len(within), count, what)} within tolerance, moved by {max(within):.2g} at most"
    if count and not beyond and not within:
        yield _all_same(count, what)


def _figures(comparison: Comparison) -> Iterator[str]:
    count, differing = comparison.figure_count, len(comparison.figures)
    if differing:
        yield f"{_of(differing, count, 'figure')} {_verb(differing, 'differs', 'differ')}"
    elif count:
        yield _all_same(count, "figure")


def _displayed(comparison: Comparison) -> Iterator[str]:
    if comparison.shown:
        yield f"other text is shown in {_listed([f'cell {number}' for number in comparison.shown])}"


def _environment(comparison: Comparison) -> Iterator[str]:
    names = [_short(each.where) for each in comparison.environment]
    yield f"environment differs in {_listed(dict.fromkeys(names))}" if names else "same environment"


def _short(name: str) -> str:
    """A dotted name as people say it: `versions.torch` is torch.

    >>> _short("versions.torch"), _short("machine.processor"), _short("threads.torch")
    ('torch', 'processor', 'threads.torch')
    """
    return name.removeprefix("versions.").removeprefix("machine.")


def _of(part: int, whole: int, noun: str) -> str:
    return f"{part} of {_plural(whole, noun)}"


def _plural(count: int, noun: str) -> str:
    """A count with its noun.

    >>> _plural(1, "list"), _plural(2, "list")
    ('1 list', '2 lists')
    """
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _all_same(count: int, noun: str) -> str:
    return f"all {_plural(count, noun)} the same" if count > 1 else f"the {noun} the same"


def _verb(count: int, singular: str, plural: str) -> str:
    return singular if count == 1 else plural


def _listed(names: Iterable[str]) -> str:
    """Names as a sentence lists them; the first few of many.

    >>> _listed(["numpy", "torch", "device"]), _listed(list("abcdefgh"))
    ('numpy, torch and device', 'a, b, c, d, e, f and 2 more')
    """
    every = list(names)
    if len(every) > _MOST_NAMES:
        every = [*every[:_MOST_NAMES], f"{len(every) - _MOST_NAMES} more"]
    return every[0] if len(every) == 1 else f"{', '.join(every[:-1])} and {every[-1]}"
