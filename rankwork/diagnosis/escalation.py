"""Which items a person should look at: where judges differ, hesitate or fail, and where a mistake costs most."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from rankwork.diagnosis.ratings import Ratings
from rankwork.diagnosis.steering import steering
from rankwork.errors import ContractError

if TYPE_CHECKING:
    import pandas as pd

Reason = Literal["steering", "high risk", "failed", "disagreement", "unstable", "low margin"]
REASONS: tuple[Reason, ...] = ("steering", "high risk", "failed", "disagreement", "unstable", "low margin")


@dataclass(frozen=True)
class Escalated:
    """An item for a person, with every reason, the gravest first, and how far the judges' verdicts lie apart.

    `spread` counts steps of the scale; without an order, how many values there are beyond the first.
    """

    item: str
    reasons: tuple[Reason, ...]
    spread: int

    def __str__(self) -> str:
        return f"{self.item}: {', '.join(self.reasons)}"


def for_a_person(
    judges: Sequence[Ratings],
    *,
    steps: int = 1,
    margin: float | None = None,
    unstable: Collection[str] = (),
    texts: Mapping[str, str] | None = None,
    most: int | None = None,
) -> list[Escalated]:
    """The items that a person should look at, those with the gravest reason first.

    An item goes to a person if its text (of `texts`) tries to steer, a verdict on it is of high risk or failed, two
    judges differ by at least `steps` of the scale (any difference on a scale without an order), it is among the
    `unstable` of repeated verdicts, or a judge's margin is below `margin`; None looks at no margin. `most` keeps the
    first ones. ContractError for no judge, two scales, steps or most below 1.

    >>> from rankwork.inputs.verdicts import Scale, Verdict
    >>> scale, found = Scale((0, 1, 2)), {"m": (0, 2), "n": (1, 2)}
    >>> judges = [Ratings.of([Verdict(item=str(i), value=v, model=m) for i, v in enumerate(row)], scale)
    ...           for m, row in found.items()]
    >>> [str(each) for each in for_a_person(judges)], for_a_person(judges, steps=2)
    (['0: disagreement'], [])
    """
    if not judges:
        raise ContractError("there must be at least one judge, got none")
    if len({judge.scale for judge in judges}) > 1:
        raise ContractError("the judges have different scales")
    for name, number in (("steps", steps), ("most", most)):
        if number is not None and (isinstance(number, bool) or not isinstance(number, int) or number < 1):
            raise ContractError(f"{name} must be an integer of at least 1, got {number!r}")
    items = dict.fromkeys(item for judge in judges for item in judge.verdicts)
    found = [_looked_at(item, judges, steps, margin, unstable, texts or {}) for item in items]
    ordered = sorted((each for each in found if each.reasons), key=_gravity)
    return ordered[:most]


def _looked_at(
    item: str,
    judges: Sequence[Ratings],
    steps: int,
    margin: float | None,
    unstable: Collection[str],
    texts: Mapping[str, str],
) -> Escalated:
    verdicts = [judge.verdicts[item] for judge in judges if item in judge.verdicts]
    places = [place for judge in judges if (place := judge.place(item)) is not None]
    ordered = judges[0].scale.level != "nominal"
    spread = (max(places) - min(places) if ordered else len(set(places)) - 1) if places else 0
    margins = [each.margin for each in verdicts if each.margin is not None]
    holds: dict[Reason, bool] = {
        "steering": bool(steering(texts.get(item, ""))),
        "high risk": any(each.risk == "high" for each in verdicts),
        "failed": any(each.value is None for each in verdicts),
        "disagreement": spread >= (steps if ordered else 1),
        "unstable": item in unstable,
        "low margin": margin is not None and any(each < margin for each in margins),
    }
    return Escalated(item, tuple(name for name in REASONS if holds[name]), spread)


def _gravity(each: Escalated) -> tuple[int, int, int, str]:
    return REASONS.index(each.reasons[0]), -len(each.reasons), -each.spread, each.item


def counts(escalated: Iterable[Escalated]) -> dict[Reason, int]:
    """How many items have each reason; an item may have several."""
    found = [reason for each in escalated for reason in each.reasons]
    return {name: found.count(name) for name in REASONS if name in found}


def table(escalated: Iterable[Escalated]) -> "pd.DataFrame":
    """One row an item: its reasons and how far the verdicts lie apart."""
    import pandas as pd

    rows = [{"item": each.item, "reasons": ", ".join(each.reasons), "spread": each.spread} for each in escalated]
    return pd.DataFrame(rows, columns=["item", "reasons", "spread"])
