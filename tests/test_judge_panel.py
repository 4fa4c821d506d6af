"""Judges and people on one scale, from files or invented."""

from pathlib import Path

import pytest

from rankwork.diagnosis.calibration import ALL, calibration
from rankwork.diagnosis.judge_pairs import prepare_pairs
from rankwork.diagnosis.judge_panel import chosen_panel, invented_pairs, invented_panel, invented_ratings, panel
from rankwork.diagnosis.pair_verdicts import judged_pairs
from rankwork.errors import ContractError, InputError
from rankwork.inputs.invented_judges import DRIFTED, JUDGE, PEOPLE, SCALE, invented_answers
from rankwork.inputs.models import write_models
from rankwork.inputs.verdicts import Verdict

ASKED, ANSWERS = invented_answers(36, seed=4)


def test_the_panel_without_files_is_the_invented_one() -> None:
    assert chosen_panel("", "", questions=36, seed=4) == invented_panel(ANSWERS, seed=4)


def test_judges_of_files_are_on_the_scale_of_all_values(tmp_path: Path) -> None:
    files = [str(tmp_path / name) for name in ("judge.jsonl", "people.jsonl", "other.jsonl")]
    for file, judge in zip(files, (JUDGE, PEOPLE, DRIFTED), strict=True):
        write_models(file, judge.grades(ANSWERS, seed=4))
    found = chosen_panel(files[0], files[1], other=files[2], questions=30, seed=0)
    invented = invented_panel(ANSWERS, seed=4)
    assert found.people == invented.people
    assert list(found.judges.items()) == list(zip(["judge", "other judge"], invented.judges.values(), strict=True))
    assert list(chosen_panel(files[0], files[1], questions=30, seed=0).judges) == ["judge"]


@pytest.mark.parametrize(
    ("given", "named"),
    [(("a", "", ""), "judge"), (("", "a", ""), "people"), (("", "", "a"), "other"), (("", "a", "b"), "people, other")],
)
def test_a_judge_without_people_and_people_without_a_judge_are_refused(given: tuple[str, str, str], named: str) -> None:
    judge, people, other = given
    with pytest.raises(ContractError, match=f"needed together, got a file for {named} alone"):
        chosen_panel(judge, people, other=other, questions=30, seed=0)


def test_a_panel_needs_a_judge_and_verdicts_that_make_a_scale() -> None:
    with pytest.raises(ContractError, match="at least one judge, got none"):
        panel({}, PEOPLE.grades(ANSWERS, seed=4))
    with pytest.raises(InputError, match="make no scale"):
        panel({"m": [Verdict(item="1", value=1, model="m")]}, [Verdict(item="1", value=1, model="people")])


def test_each_judge_is_calibrated_against_the_people() -> None:
    found = invented_panel(ANSWERS, seed=4)
    beside = found.against_people(seed=9)
    assert list(beside) == list(found.judges)
    for name, judge in found.judges.items():
        assert beside[name] == calibration(judge, found.people, seed=9)
        assert beside[name].agreement == beside[name].slice(ALL).agreement


def test_the_weakest_slice_is_the_one_that_was_made_so() -> None:
    found = invented_panel(ANSWERS, seed=4).against_people()["alto-judge 2026-03"]
    assert found.weakest.slice == JUDGE.faults.weak_slice
    shares = [each.agreement.agreed.among_known or 0 for each in found.slices if each.slice != ALL]
    assert found.weakest.agreement.agreed.among_known == min(shares)


def test_without_slices_all_items_are_the_weakest() -> None:
    judge, people = invented_ratings(JUDGE, PEOPLE, answers=ANSWERS, seed=4)
    assert calibration(judge, people, slices={}).weakest.slice == ALL


def test_invented_pairs_are_the_verdicts_joined_with_their_keys() -> None:
    keys = prepare_pairs(ASKED, [answer.candidate for answer in ANSWERS], seed=4).keys
    found = invented_pairs(JUDGE, PEOPLE, keys=iter(keys), answers=iter(ANSWERS), seed=4)
    assert found == [judged_pairs(keys, judge.verdicts(keys, ANSWERS, seed=4)) for judge in (JUDGE, PEOPLE)]


def test_a_judge_asked_again_has_numbered_repetitions() -> None:
    found = JUDGE.repeated(iter(ANSWERS), seed=4, times=3)
    assert [verdict.repetition for verdict in found] == [n for n in (1, 2, 3) for _ in ANSWERS]
    assert found[: len(ANSWERS)] == JUDGE.grades(ANSWERS, seed=4)
    assert all(verdict.value is None or verdict.value in SCALE.values for verdict in found)
