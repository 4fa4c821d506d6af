"""Whether a judge says the same again, and still says so with another prompt, field order or version."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from rankwork.diagnosis.bounded_shares import BoundedShare
from rankwork.diagnosis.judges import Coefficient, alpha
from rankwork.diagnosis.rates import p_value
from rankwork.diagnosis.ratings import Paired, Ratings, by_judge, paired
from rankwork.errors import ContractError, InputError
from rankwork.inputs.verdicts import JudgeKey, Scale, Value, Verdict
from rankwork.statistics import mcnemar


@dataclass(frozen=True)
class Repeated:
    """One judge, asked several times about the same items.

    `unanimous`: items on which all repetitions agree; one with a failure among equal verdicts is unknown. `pairs`: of
    all pairs of known repetitions of an item, those that agree. `alpha` takes the repetitions as judges. `unstable`
    names the items with different verdicts, `once` counts those that were asked about once and are left out.
    """

    key: JudgeKey
    items: int
    unanimous: BoundedShare
    pairs: BoundedShare
    alpha: Coefficient
    unstable: tuple[str, ...]
    once: int

    def to_json(self) -> dict[str, Any]:
        """What JSON holds of it."""
        shares = {"unanimous": self.unanimous.to_json(), "pairs": self.pairs.to_json()}
        named = {"judge": vars(self.key), "items": self.items, "once": self.once}
        return {**named, **shares, "alpha": vars(self.alpha), "unstable": list(self.unstable)}

    def __str__(self) -> str:
        return f"unanimous on {self.unanimous} of {self.items} items, alpha {self.alpha}"


def repetition_stability(verdicts: Iterable[Verdict], scale: Scale) -> Repeated:
    """How stable one judge's verdicts are over its repetitions.

    InputError for no verdict, verdicts of two judges, a repetition of an item twice, a value off the scale, and where
    no item was asked about twice.

    >>> given = {1: (0, 1), 2: (0, 0)}
    >>> asked = [Verdict(item=str(i), value=v, repetition=r, model="m") for r, row in given.items()
    ...          for i, v in enumerate(row)]
    >>> found = repetition_stability(asked, Scale((0, 1)))
    >>> found.unanimous.value, found.unstable
    (0.5, ('1',))
    """
    asked = list(verdicts)
    judges = list(by_judge(asked))
    if len(judges) != 1:
        raise InputError(f"the verdicts must be of one judge, got {', '.join(map(str, judges)) or 'none'}")
    repetitions = sorted({verdict.repetition for verdict in asked})
    rows = [Ratings.of(asked, scale, repetition=number) for number in repetitions]
    items = [item for item in dict.fromkeys(v.item for v in asked) if sum(item in row.verdicts for row in rows) > 1]
    if not items:
        raise InputError(f"{judges[0]} was asked about no item twice: give each verdict its repetition, 1, 2, ...")
    given = {item: [row.place(item) for row in rows if item in row.verdicts] for item in items}
    return Repeated(
        key=judges[0],
        items=len(items),
        unanimous=BoundedShare.of((_agree(places), 1.0) for places in given.values()),
        pairs=BoundedShare.of((a == b, 1.0) for places in given.values() for a, b in combinations(_known(places), 2)),
        alpha=alpha([[row.place(item) for item in items] for row in rows], scale),
        unstable=tuple(item for item, places in given.items() if _agree(places) is False),
        once=len({verdict.item for verdict in asked}) - len(items),
    )


def _known(places: Sequence[int | None]) -> list[int]:
    return [place for place in places if place is not None]


def _agree(places: Sequence[int | None]) -> bool | None:
    if len(set(_known(places))) > 1:
        return False
    return None if None in places else True


@dataclass(frozen=True)
class Change:
    """What changed between two forms of a judge: another prompt, field order or version, on the same items.

    `changed` is the share of items with another verdict, `raised` and `lowered` count them; `mean_steps` is the mean
    change in steps of the scale, None for one without an order. At `threshold`, `gained` items pass only afterwards and
    `lost` only before; `p` is McNemar's exact two-sided test of the two, None without a threshold or without such an
    item. The test takes items as independent: with fewer `clusters` than items its p is too small.
    """

    before: JudgeKey
    after: JudgeKey
    items: int
    clusters: int
    changed: BoundedShare
    raised: int
    lowered: int
    mean_steps: float | None
    threshold: Value | None
    gained: int | None
    lost: int | None
    p: float | None
    reason: str | None

    def to_json(self) -> dict[str, Any]:
        """What JSON holds of it."""
        plain = {name: value for name, value in vars(self).items() if name not in ("before", "after", "changed")}
        judges = {"before": vars(self.before), "after": vars(self.after)}
        return {**judges, **plain, "changed": self.changed.to_json()}

    def __str__(self) -> str:
        p = self.reason if self.p is None else f"{p_value(self.p)} (McNemar, exact)"
        sides = "" if self.threshold is None else f"; {self.gained} now pass, {self.lost} no longer"
        return f"changed: {self.changed}, {self.raised} raised, {self.lowered} lowered{sides}; {p}"


def change(
    before: Ratings, after: Ratings, *, across: Sequence[str] = ("version",), threshold: Value | None = None
) -> Change:
    """What another form of a judge does to its verdicts; `across` names the parts of the key that may differ.

    A verdict passes from `threshold` on, a value of the scale. Q. McNemar, Psychometrika 12, 1947; by statsmodels.
    ContractError for a threshold off the scale or of a scale without an order, and as `paired`.
    """
    pair = paired(before, after, across=across)
    scale, steps = before.scale, pair.places[1] - pair.places[0]
    gained, lost = _sides(pair, _place(threshold, scale)) if threshold is not None else (None, None)
    p, reason = _mcnemar(gained, lost)
    moved = int((steps != 0).sum())
    return Change(
        before=before.key,
        after=after.key,
        items=len(pair.items),
        clusters=len(set(pair.clusters)),
        changed=BoundedShare(moved, len(steps) - moved, len(pair.failed)),
        raised=int((steps > 0).sum()),
        lowered=int((steps < 0).sum()),
        mean_steps=float(steps.mean()) if len(steps) and scale.level != "nominal" else None,
        threshold=threshold,
        gained=gained,
        lost=lost,
        p=p,
        reason=reason,
    )


def _place(threshold: Value, scale: Scale) -> int:
    if scale.level == "nominal":
        raise ContractError("a threshold needs a scale with an order")
    if threshold not in scale.values:
        raise ContractError(f"threshold must be one of {list(scale.values)}, got {threshold!r}")
    return scale.values.index(threshold)


def _sides(pair: Paired, threshold: int) -> tuple[int, int]:
    before, after = (places >= threshold for places in pair.places)
    return int(np.sum(~before & after)), int(np.sum(before & ~after))


def _mcnemar(gained: int | None, lost: int | None) -> tuple[float | None, str | None]:
    if gained is None or lost is None:
        return None, "no threshold was declared"
    p = mcnemar(gained, lost)
    return p, "no item changed sides: nothing to test" if p is None else None
