"""The verdicts of one judge, one for each item, on one scale; and two judges' verdicts on the items that both saw."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rankwork.errors import ContractError, InputError
from rankwork.inputs.verdicts import KEY, JudgeKey, Scale, Verdict

Places = NDArray[np.int64]


@dataclass(frozen=True)
class Ratings:
    """One judge's verdicts by item."""

    key: JudgeKey
    scale: Scale
    verdicts: Mapping[str, Verdict]

    @classmethod
    def of(cls, verdicts: Iterable[Verdict], scale: Scale, *, repetition: int = 1) -> "Ratings":
        """The verdicts of one repetition; others are passed over.

        InputError for no verdict, for verdicts of more than one judge, for two on one item, and off the scale.
        """
        asked = list(verdicts)
        chosen = [verdict for verdict in asked if verdict.repetition == repetition]
        if not chosen:
            found = sorted({verdict.repetition for verdict in asked}) or "none"
            raise InputError(f"there is no verdict of repetition {repetition}; the repetitions are {found}")
        by_item: dict[str, Verdict] = {}
        for verdict in chosen:
            _check_key(chosen[0], verdict)
            scale.place(verdict)
            if verdict.item in by_item:
                raise InputError(f"{verdict.key} has two verdicts on item {verdict.item!r} (repetition {repetition})")
            by_item[verdict.item] = verdict
        return cls(chosen[0].key, scale, by_item)

    def place(self, item: str) -> int | None:
        """The place of an item's value on the scale; None where the verdict failed or there is none."""
        verdict = self.verdicts.get(item)
        return None if verdict is None else self.scale.place(verdict)

    @property
    def failed(self) -> tuple[str, ...]:
        """The items whose verdict failed."""
        return tuple(item for item, verdict in self.verdicts.items() if verdict.value is None)


def _check_key(first: Verdict, other: Verdict) -> None:
    if other.key != first.key:
        parts = ", ".join(first.key.differences(other.key))
        raise InputError(
            f"verdicts of two judges stand together, {first.key} and {other.key}: they differ in {parts}; "
            "take those of one of them"
        )


def by_judge(verdicts: Iterable[Verdict]) -> dict[JudgeKey, list[Verdict]]:
    """The verdicts of each judge, in the order in which the judges appear."""
    found: dict[JudgeKey, list[Verdict]] = {}
    for verdict in verdicts:
        found.setdefault(verdict.key, []).append(verdict)
    return found


@dataclass(frozen=True)
class Paired:
    """Two judges' places on the scale, for the items where both have one; the others are named.

    `first` and `second` are int64[items]; `failed` are items where a verdict of either failed, `alone` those that only
    one of them was asked about.
    """

    first: Ratings
    second: Ratings
    items: tuple[str, ...]
    places: tuple[Places, Places]
    failed: tuple[str, ...]
    alone: tuple[str, ...]

    @property
    def clusters(self) -> tuple[str, ...]:
        """What each item belongs to: its own or the other judge's cluster, else the item itself."""
        return tuple(
            self.first.verdicts[item].cluster or self.second.verdicts[item].cluster or item for item in self.items
        )

    def only(self, items: Collection[str]) -> "Paired":
        """The same two judges on some of the items."""
        keep = [place for place, item in enumerate(self.items) if item in items]
        return Paired(
            self.first,
            self.second,
            tuple(self.items[place] for place in keep),
            (self.places[0][keep], self.places[1][keep]),
            tuple(item for item in self.failed if item in items),
            tuple(item for item in self.alone if item in items),
        )


def paired(first: Ratings, second: Ratings, *, across: Sequence[str] = ()) -> Paired:
    """The items that two judges were both asked about.

    `across` names the parts of the key in which the two may differ; a difference in any other is refused, because it
    would be taken for one of the judges. ContractError for that, for an unknown part and for two scales; InputError
    where the two have no item in common.
    """
    check_comparable(first.key, second.key, across)
    if first.scale != second.scale:
        raise ContractError(f"two scales: {list(first.scale.values)} and {list(second.scale.values)}")
    both = [item for item in first.verdicts if item in second.verdicts]
    if not both:
        shown = next(iter(first.verdicts)), next(iter(second.verdicts))
        raise InputError(f"{first.key} and {second.key} share no item: the first are {shown[0]!r} and {shown[1]!r}")
    pairs = [(item, first.place(item), second.place(item)) for item in both]
    known = [(item, a, b) for item, a, b in pairs if a is not None and b is not None]
    everyone = dict.fromkeys((*first.verdicts, *second.verdicts))
    return Paired(
        first,
        second,
        tuple(item for item, _, _ in known),
        (np.array([a for _, a, _ in known], np.int64), np.array([b for _, _, b in known], np.int64)),
        tuple(item for item, a, b in pairs if a is None or b is None),
        tuple(item for item in everyone if (item in first.verdicts) != (item in second.verdicts)),
    )


def check_comparable(first: JudgeKey, second: JudgeKey, across: Sequence[str]) -> None:
    """ContractError unless two judges differ only in the parts of the key that `across` names."""
    check_parts(across)
    hidden = [name for name in first.differences(second) if name not in across]
    if hidden:
        raise ContractError(
            f"{first} and {second} differ in {', '.join(hidden)}; to compare across it, say so: "
            f"across={tuple(dict.fromkeys([*across, *hidden]))}"
        )


def check_parts(names: Sequence[str]) -> None:
    """ContractError for a name that is no part of a judge's key."""
    unknown = [name for name in names if name not in KEY]
    if unknown:
        raise ContractError(f"a judge's key has {', '.join(KEY)}; there is no {unknown[0]!r}")
