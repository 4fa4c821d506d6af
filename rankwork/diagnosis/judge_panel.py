"""Judges and people on one scale: those of files, or the invented ones where no file is named."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from rankwork.diagnosis.calibration import Calibration, calibration
from rankwork.diagnosis.judge_report import scale_of
from rankwork.diagnosis.pair_verdicts import JudgedPairs, judged_pairs
from rankwork.diagnosis.ratings import Ratings
from rankwork.errors import ContractError
from rankwork.inputs.invented_judges import (
    DRIFTED,
    JUDGE,
    PEOPLE,
    SCALE,
    InventedAnswer,
    InventedJudge,
    invented_answers,
)
from rankwork.inputs.pairs import PairKey
from rankwork.inputs.verdicts import Verdict, read_verdicts


@dataclass(frozen=True)
class Panel:
    """Some judges, by the name under which they are shown, and the people who are their reference."""

    judges: Mapping[str, Ratings]
    people: Ratings

    def against_people(self, *, seed: int = 0) -> dict[str, Calibration]:
        """Each judge beside the people, over all items and by slice. Errors as `calibration`."""
        return {name: calibration(judge, self.people, seed=seed) for name, judge in self.judges.items()}


def panel(judges: Mapping[str, Iterable[Verdict]], people: Iterable[Verdict]) -> Panel:
    """The verdicts of judges and of people on the scale of all values that occur.

    ContractError for no judge; InputError as `scale_of` and `Ratings.of`.

    >>> found = panel({"m": [Verdict(item="1", value=0, model="m")]}, [Verdict(item="1", value=2, model="people")])
    >>> found.people.scale.values, list(found.judges)
    ((0, 2), ['m'])
    """
    given, reference = {name: list(rows) for name, rows in judges.items()}, list(people)
    if not given:
        raise ContractError("there must be at least one judge, got none")
    scale = scale_of(verdict.value for rows in (reference, *given.values()) for verdict in rows)
    return Panel({name: Ratings.of(rows, scale) for name, rows in given.items()}, Ratings.of(reference, scale))


def chosen_panel(judge: str, people: str, *, other: str = "", questions: int, seed: int) -> Panel:
    """The judges and people of files; without files, the invented ones, asked about so many questions.

    ContractError for a judge without people, people without a judge, and a second judge alone. Errors as
    `read_verdicts` and `panel`.

    >>> list(chosen_panel("", "", questions=3, seed=1).judges)
    ['alto-judge 2026-03', 'alto-judge 2026-09']
    """
    if bool(judge) != bool(people) or (other and not judge):
        given = {"judge": judge, "people": people, "other": other}
        named = ", ".join(name for name, path in given.items() if path)
        raise ContractError(f"a judge and people are needed together, got a file for {named} alone")
    if not judge:
        return invented_panel(invented_answers(questions, seed=seed)[1], seed=seed)
    files = {"judge": judge, "other judge": other}
    return panel({name: read_verdicts(path) for name, path in files.items() if path}, read_verdicts(people))


def invented_panel(answers: Iterable[InventedAnswer], *, seed: int) -> Panel:
    """The invented judge in its two versions, and the invented people."""
    known = list(answers)
    *versions, people = invented_ratings(JUDGE, DRIFTED, PEOPLE, answers=known, seed=seed)
    return Panel({f"{each.key.model} {each.key.version}": each for each in versions}, people)


def invented_ratings(*judges: InventedJudge, answers: Iterable[InventedAnswer], seed: int) -> list[Ratings]:
    """The grades of invented judges, in their order."""
    known = list(answers)
    return [Ratings.of(judge.grades(known, seed=seed), SCALE) for judge in judges]


def invented_pairs(
    *judges: InventedJudge, keys: Iterable[PairKey], answers: Iterable[InventedAnswer], seed: int
) -> list[JudgedPairs]:
    """The verdicts of invented judges on prepared pairs of these answers, joined with the pairs' keys."""
    pairs, known = list(keys), list(answers)
    return [judged_pairs(pairs, judge.verdicts(pairs, known, seed=seed)) for judge in judges]
