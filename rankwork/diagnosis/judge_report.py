"""All that a file of verdicts tells of its judges: against people where there are some, and among themselves."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from rankwork.diagnosis.calibration import EXCEPT_RUBRIC, Calibration, calibration
from rankwork.diagnosis.escalation import Escalated, counts, for_a_person
from rankwork.diagnosis.judges import Agreement, Coefficient, Weights, agreement, alpha
from rankwork.diagnosis.ratings import Ratings, by_judge, check_parts
from rankwork.diagnosis.stability import Repeated, repetition_stability
from rankwork.errors import InputError
from rankwork.inputs.verdicts import JudgeKey, Level, Scale, Value, Verdict


@dataclass(frozen=True, repr=False)
class JudgeReport:
    """The judges of a file. `against_people` holds each judge's calibration, `among` the agreement of two of them.

    `not_compared` names every two whose keys differ in more than was asked for; without such a pair, `alpha` takes all
    judges together. `repeated` are those that were asked more than once; `escalated` the items for a person. The first
    repetition stands for a judge where it is compared.
    """

    scale: Scale
    judges: tuple[Ratings, ...]
    against_people: tuple[Calibration, ...]
    among: tuple[Agreement, ...]
    not_compared: tuple[tuple[JudgeKey, JudgeKey], ...]
    alpha: Coefficient | None
    repeated: tuple[Repeated, ...]
    escalated: tuple[Escalated, ...]

    @property
    def least_kappa(self) -> float | None:
        """The lowest lower limit of kappa of all judges against people, over all items; None where one is unknown."""
        intervals = [each.slice("all").kappa_interval for each in self.against_people]
        lows = [interval.low for interval in intervals if interval is not None]
        return min(lows) if lows and len(lows) == len(intervals) else None

    def to_json(self) -> dict[str, Any]:
        """What JSON holds of it."""
        return {
            "scale": {"values": list(self.scale.values), "level": self.scale.level},
            "judges": [{**vars(j.key), "items": len(j.verdicts), "failed": len(j.failed)} for j in self.judges],
            "against_people": [each.to_json() for each in self.against_people],
            "among": [each.to_json() for each in self.among],
            "not_compared": [[vars(one), vars(other)] for one, other in self.not_compared],
            "alpha": None if self.alpha is None else vars(self.alpha),
            "repeated": [each.to_json() for each in self.repeated],
            "for_a_person": [
                {"item": each.item, "reasons": list(each.reasons), "spread": each.spread} for each in self.escalated
            ],
        }

    def __str__(self) -> str:
        lines = [f"scale: {' '.join(map(str, self.scale.values))} ({self.scale.level})"]
        for each in self.judges:
            lines.append(f"{each.key}: {len(each.verdicts)} items, {len(each.failed)} failed")
        for found in self.against_people:
            lines += ["", str(found.slice("all").agreement), "", str(found), *_too_few(found)]
        for pair in self.among:
            lines += ["", str(pair)]
        for one, other in self.not_compared:
            lines += ["", f"{one} and {other} differ in {', '.join(one.differences(other))}: not compared unless asked"]
        if self.alpha is not None:
            lines += ["", f"Krippendorff's alpha of all {len(self.judges)} judges: {self.alpha}"]
        for judge in self.repeated:
            lines.append(f"{judge.key}, repeated: {judge}")
        reasons = ", ".join(f"{name} {count}" for name, count in counts(self.escalated).items())
        return "\n".join([*lines, "", f"for a person: {len(self.escalated)} items ({reasons or 'no reason'})"])


def _too_few(found: Calibration) -> list[str]:
    return [f"{each.slice}: {each.reason}" for each in found.slices if each.reason]


def judge_report(
    verdicts: Iterable[Verdict],
    people: Iterable[Verdict] | None = None,
    *,
    scale: Scale | None = None,
    level: Level = "ordinal",
    weights: Weights = "quadratic",
    across: Sequence[str] = (),
    margin: float | None = None,
    seed: int = 0,
) -> JudgeReport:
    """The report on every judge of `verdicts`; `people`, of one key, are the reference.

    `scale` None: all values that occur, numbers from lowest to highest, at `level`. `across` is what the keys of two
    judges may differ in to be compared; a judge and people may differ in all but the rubric, unless it is among
    `across`. Errors as `Ratings.of`, `agreement` and `calibration`.
    """
    check_parts(across)
    given, reference = list(verdicts), None if people is None else list(people)
    found = scale or scale_of((each.value for each in (*given, *(reference or ()))), level)
    rows = by_judge(given)
    judges = tuple(Ratings.of(row, found) for row in rows.values())
    told = None if reference is None else Ratings.of(reference, found)
    options: dict[str, Any] = {"weights": weights if found.level != "nominal" else None, "seed": seed}
    options["across"] = tuple(dict.fromkeys((*EXCEPT_RUBRIC, *across)))
    pairs = list(combinations(judges, 2))
    apart = [(a.key, b.key) for a, b in pairs if set(a.key.differences(b.key)) - set(across)]
    return JudgeReport(
        scale=found,
        judges=judges,
        against_people=() if told is None else tuple(calibration(j, told, **options) for j in judges),
        among=tuple(agreement(a, b, across=across) for a, b in pairs if (a.key, b.key) not in apart),
        not_compared=tuple(apart),
        alpha=_alpha(judges) if pairs and not apart else None,
        repeated=tuple(repetition_stability(row, found) for row in _asked_again(rows)),
        escalated=tuple(for_a_person(judges, steps=2 if len(found.values) > 2 else 1, margin=margin)),
    )


def _alpha(judges: Sequence[Ratings]) -> Coefficient:
    items = dict.fromkeys(item for judge in judges for item in judge.verdicts)
    return alpha([[judge.place(item) for item in items] for judge in judges], judges[0].scale)


def _asked_again(rows: dict[JudgeKey, list[Verdict]]) -> Iterable[list[Verdict]]:
    return (row for row in rows.values() if any(verdict.repetition > 1 for verdict in row))


def scale_of(values: Iterable[Value | None], level: Level = "ordinal") -> Scale:
    """The scale of all values that occur: numbers by size, texts by name and without an order.

    InputError for numbers and texts together, and for fewer than two values.

    >>> scale_of([2, None, 0, 1]).values, scale_of(["yes", "no"]).level
    ((0, 1, 2), 'nominal')
    """
    found = {value for value in values if value is not None}
    numbers, texts = sorted(v for v in found if isinstance(v, int)), sorted(v for v in found if isinstance(v, str))
    if len(found) < 2 or (numbers and texts):
        shown = [*numbers, *texts]
        raise InputError(f"the values {shown[:5]} make no scale of two values or more, all numbers or all texts")
    return Scale((*numbers, *texts), level if numbers else "nominal")
