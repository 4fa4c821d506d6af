import os
import subprocess
import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from rankwork.engines import engine
from rankwork.engines.deviations import Deviation, check, load, parse
from rankwork.engines.layers import contract
from rankwork.engines.machine import cpu_instructions
from rankwork.errors import InputError

ENTRY: dict[str, Any] = {
    "engine": "numpy.argsort stable reversed",
    "title": "two equal scores",
    "scores": [0, 0],
    "k": 1,
    "seen": [1],
    "right": [0],
    "versions": {"numpy": np.__version__},
    "reason": "read backwards",
    "source": "seen here",
}


def title(deviation: Deviation) -> str:
    return f"{deviation.engine}: {deviation.title}"


@pytest.mark.parametrize("deviation", load(), ids=title)
def test_the_installed_engine_still_answers_as_recorded(deviation: Deviation) -> None:
    finding = check(deviation)
    if finding.status in ("not here", "another CPU", "varies"):
        pytest.skip(finding.text)
    assert finding.status == "as recorded", finding.text


@pytest.mark.parametrize("deviation", [entry for entry in load() if entry.right is not None], ids=title)
def test_the_answer_recorded_as_right_is_the_contracts(deviation: Deviation) -> None:
    assert contract(deviation.scores, deviation.k).tolist() == deviation.right


@pytest.mark.parametrize("deviation", load(), ids=title)
def test_every_record_is_about_a_known_engine(deviation: Deviation) -> None:
    assert engine(deviation.engine).name == deviation.engine


def test_every_reported_fault_of_a_selection_has_its_record() -> None:
    sources = " ".join(entry.source for entry in load())
    for issue in ("pytorch/issues/27542", "pytorch/issues/127196", "pytorch/issues/88184", "tensorflow/issues/12003",
                  "numpy/issues/24064", "lucene/issues/11433"):  # fmt: skip
        assert issue in sources


def test_a_changed_answer_in_another_version_is_reported_as_a_release_that_changed() -> None:
    finding = check(replace(parse(ENTRY, 1), seen=[0], versions={"numpy": "0.1"}))
    assert finding.status == "changed"
    assert not finding.same_versions
    assert "answers [1], recorded was [0]; recorded in numpy 0.1: the release changed its behaviour" in finding.text


def test_a_changed_answer_in_the_recorded_version_points_at_the_build() -> None:
    finding = check(replace(parse(ENTRY, 1), seen=[0]))
    assert finding.status == "changed"
    assert finding.same_versions
    assert "the versions are the recorded ones, so the build or the machine differs" in finding.text


def test_the_same_answer_in_another_version_is_as_recorded_and_says_so() -> None:
    finding = check(replace(parse(ENTRY, 1), versions={"numpy": "0.1"}))
    assert finding.status == "as recorded"
    assert "recorded in numpy 0.1" in finding.text


def test_an_answer_that_varies_is_not_asserted() -> None:
    assert check(replace(parse(ENTRY, 1), seen=None, varies=True)).status == "varies"


def test_a_record_for_another_cpu_is_not_asserted() -> None:
    assert check(replace(parse(ENTRY, 1), cpu=["NO_SUCH_CPU"])).status == "another CPU"


def test_a_recorded_error_is_recognised_by_its_type_and_its_absence_is_a_change() -> None:
    finding = check(replace(parse(ENTRY, 1), seen=None, raises="TypeError"))
    assert finding.status == "changed"
    assert "answers [1], recorded was TypeError" in finding.text


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"reason": None}, "lacks reason"),
        ({"colour": "red"}, "has unknown fields colour"),
        ({"varies": True}, "must have exactly one of raises, seen, varies"),
        ({"seen": None}, "must have exactly one of raises, seen, varies"),
        ({"levels": {}}, "must have exactly one of levels, scores"),
    ],
)
def test_a_record_with_a_missing_or_unknown_field_is_refused(change: dict[str, Any], message: str) -> None:
    entry = {name: value for name, value in {**ENTRY, **change}.items() if value is not None}
    with pytest.raises(InputError, match=rf"deviations.yaml, entry 4 \(two equal scores\) {message}"):
        parse(entry, 4)


@pytest.mark.skipif("X86_V3" not in cpu_instructions(), reason="this CPU has no instructions to leave out")
def test_numpy_breaks_ties_as_recorded_on_a_cpu_without_vector_instructions() -> None:
    code = (
        "from rankwork.engines.deviations import check, load\n"
        "for entry in load():\n"
        "    if entry.cpu == []: print(check(entry).status)"
    )
    without = {**os.environ, "NPY_DISABLE_CPU_FEATURES": "X86_V4 X86_V3 AVX512_ICL AVX512_SPR"}
    ran = subprocess.run([sys.executable, "-c", code], env=without, capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines() == ["as recorded"] * sum(entry.cpu == [] for entry in load())
