"""Figures of judges show the numbers of their agreement, and say what is not known."""

from typing import Any

import numpy as np
import pytest

from rankwork import plots
from rankwork.diagnosis.calibration import calibration
from rankwork.diagnosis.judges import agreement
from rankwork.diagnosis.ratings import Ratings
from rankwork.errors import ContractError
from rankwork.inputs.invented_judges import DRIFTED, JUDGE, PEOPLE, SCALE, invented_answers
from tests.test_judges import rated

_, ANSWERS = invented_answers(36, seed=0)
SPRING, AUTUMN, PERSONS = (Ratings.of(judge.grades(ANSWERS, seed=1), SCALE) for judge in (JUDGE, DRIFTED, PEOPLE))
KEYS = ("model", "prompt", "version")


def texts(axes: Any) -> list[str]:
    return [text.get_text() for text in axes.texts]


def lines(axes: Any) -> list[list[float]]:
    return [np.atleast_1d(line.get_xdata()).tolist() for line in axes.lines]


def test_the_confusion_matrix_is_drawn_with_its_counts_and_the_shares_of_its_rows() -> None:
    found = agreement(SPRING, PERSONS, across=KEYS)
    axes = plots.confusion(found).axes[0]
    counts = np.array(found.matrix)
    shares = counts / counts.sum(axis=1, keepdims=True)
    assert texts(axes) == [f"{n:,}\n{share:.0%}" for n, share in zip(counts.ravel(), shares.ravel(), strict=True)]
    assert np.allclose(np.asarray(axes.images[0].get_array()), shares)
    assert f"{found.failed} failed" in axes.get_title(loc="left")
    assert len(axes.patches) == 4


def test_a_grade_that_people_never_gave_has_no_shares() -> None:
    axes = plots.confusion(agreement(rated([0, 1]), rated([0, 0], "people"), across=("model",))).axes[0]
    assert texts(axes)[:5] == ["1\n50%", "1\n50%", "0\n0%", "0\n0%", "0"]


def test_each_slice_has_its_mark_and_its_interval_in_both_panels() -> None:
    found = {"spring": calibration(SPRING, PERSONS), "autumn": calibration(AUTUMN, PERSONS)}
    top, bottom = plots.calibrations(found).axes
    for each in found["autumn"].slices:
        assert each.agreed_interval is not None
        assert each.kappa_interval is not None
        assert [each.agreed_interval.low, each.agreed_interval.high] in lines(top)
        assert [each.agreement.agreed.among_known] in lines(top)
        assert [each.kappa_interval.low, each.kappa_interval.high] in lines(bottom)
        assert [each.agreement.quadratic_kappa.value] in lines(bottom)
    agreed = found["spring"].slice("all").agreement.agreed
    assert [agreed.min, agreed.max] in lines(top)
    assert [label.get_text() for label in top.get_yticklabels()] == ["all", "limits", "procedures", "several passages"]


def test_an_undefined_kappa_is_said_in_words_and_too_few_clusters_have_no_interval() -> None:
    found = calibration(rated([1, 1]), rated([1, 1], "people"))
    top, bottom = plots.calibrations({"m": found}).axes
    assert texts(bottom) == ["undefined"]
    assert lines(top) == [[1.0]]


def test_what_cannot_be_drawn_is_refused() -> None:
    with pytest.raises(ContractError, match="needs an item with a verdict of both"):
        plots.confusion(agreement(rated([None]), rated([0], "people"), across=("model",)))
    with pytest.raises(ContractError, match="one to 5 judges, got 0"):
        plots.calibrations({})
    one, other = calibration(SPRING, PERSONS), calibration(SPRING, PERSONS, slices={})
    with pytest.raises(ContractError, match="the same slices"):
        plots.calibrations({"a": one, "b": other})
