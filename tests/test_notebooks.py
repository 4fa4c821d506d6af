"""The workbook's notebooks are programs: typed parameters, no outputs committed, and every one runs and verifies."""

import json
import re
import statistics
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rankwork.evidence import parameters, runner
from rankwork.evidence.report import mathml
from rankwork.evidence.store import Store
from rankwork.evidence.verifying import verify
from rankwork.measures.names import known

ROOT = Path(__file__).parents[1]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
NAMES = [path.stem for path in NOTEBOOKS]
_LONGEST = 20
_MOST_CELLS = 30
_TYPICAL = 4  # lines of the median code cell, at most
_PROSE_TO_CODE = (0.8, 1.4)  # cells of each kind


def load(path: Path) -> dict[str, Any]:
    return dict(json.loads(path.read_bytes()))


def sources(path: Path, kind: str) -> list[str]:
    return ["".join(cell["source"]) for cell in load(path)["cells"] if cell["cell_type"] == kind]


def test_the_workbook_has_its_notebooks() -> None:
    first = {"00_start_here", "01_contract", "02_engines", "03_ranges", "04_measures", "05_audit"}
    assert first | {"11_speed"} <= set(NAMES)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=NAMES)
def test_defaults_schema_and_sets_agree(path: Path) -> None:
    schema = parameters.load_schema(ROOT / "params" / f"{path.stem}.schema.json")
    default = parameters.defaults(load(path), path.stem)
    assert parameters.resolve({}, default, schema, path.stem).keys() == default.keys()
    assert all(declared.get("description") for declared in schema["properties"].values())
    for name in ("smoke", "full"):
        given = parameters.load_set(ROOT / "params" / f"{path.stem}.{name}.yaml")
        parameters.resolve(given, default, schema, path.stem)
        assert [key for key, value in given.items() if value == default[key]] == [], "a set holds only what differs"


def test_an_audit_takes_every_measure_by_every_name_and_none_that_is_unknown() -> None:
    """Refused before a kernel starts: an unknown name, a cutoff that is missing, or one that the measure has not."""
    schema = parameters.load_schema(ROOT / "params" / "05_audit.schema.json")
    accepted = re.compile(schema["properties"]["measures"]["items"]["pattern"])
    for name, definition in known().items():
        forms = {f"{name}@10": "none", f"{name}(rel=2)@10": "none", name: "required"}
        assert {form: bool(accepted.search(form)) for form in forms} == {
            form: definition.cutoff != refusing for form, refusing in forms.items()
        }
    assert all(accepted.search(form) for form in ("recall_100", "ndcg_cut_10", "nDCG(dcg='exp-log2')@10"))
    assert not any(accepted.search(form) for form in ("nDGC@10", "R@0", "R@", "R@10; import os", "X R@10"))


@pytest.mark.parametrize("path", sorted((ROOT / "params").glob("*.yaml")), ids=lambda path: path.name)
def test_what_a_set_changes_carries_its_reason(path: Path) -> None:
    lines = [line for line in path.read_text().splitlines() if line.strip() and not line.startswith("#")]
    assert [line for line in lines if not re.fullmatch(r"\w+: .+  # \S.*", line)] == []


@pytest.mark.parametrize("path", NOTEBOOKS, ids=NAMES)
def test_parameters_stand_one_a_line_with_their_help(path: Path) -> None:
    cell = next(cell for cell in load(path)["cells"] if "parameters" in cell["metadata"].get("tags", []))
    lines = "".join(cell["source"]).splitlines()
    assert [line for line in lines if not re.fullmatch(r"\w+ = .+  # \S.*", line)] == []


@pytest.mark.parametrize("path", NOTEBOOKS, ids=NAMES)
def test_a_committed_notebook_is_clean_and_thin(path: Path) -> None:
    cells = load(path)["cells"]
    assert len(cells) <= _MOST_CELLS
    assert [cell for cell in cells if cell.get("outputs") or cell.get("execution_count")] == []
    assert [source for source in sources(path, "code") if len(source.splitlines()) > _LONGEST] == []
    assert [source for source in sources(path, "code") if re.search(r"^(def|class) ", source, re.MULTILINE)] == []
    assert sources(path, "markdown")[0].startswith("# ")
    assert load(path)["metadata"]["kernelspec"]["name"] == "python3"


def lines(source: str) -> int:
    """The lines of a code cell that say something."""
    return sum(bool(line.strip()) for line in source.splitlines())


def form(path: Path) -> dict[str, float]:
    """The figures of a notebook as a lesson: its cells, the lines of its median code cell, its prose by its code."""
    code, prose = sources(path, "code"), sources(path, "markdown")
    return {
        "cells": len(code) + len(prose),
        "median lines of code": statistics.median(map(lines, code)),
        "prose to code": round(len(prose) / len(code), 2),
    }


@pytest.mark.parametrize("path", NOTEBOOKS, ids=NAMES)
def test_a_notebook_is_a_lesson(path: Path, record_property: Callable[[str, object], None]) -> None:
    """Its figures are printed (`pytest -rP -k lesson`) and kept in a report of the tests."""
    found = form(path)
    print(f"{path.stem}: " + ", ".join(f"{name} {value:g}" for name, value in found.items()))
    record_property(path.stem, found)
    assert found["cells"] <= _MOST_CELLS
    assert found["median lines of code"] <= _TYPICAL
    assert _PROSE_TO_CODE[0] <= found["prose to code"] <= _PROSE_TO_CODE[1]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=NAMES)
def test_a_notebook_says_what_it_is_for_and_how_long_it_takes(path: Path) -> None:
    prose = sources(path, "markdown")
    assert prose[0].partition("\n")[0].endswith("?"), "its title is its question"
    assert "**After it you can** " in prose[0]
    assert re.search(r"^\*\*Time:\*\* about \d+ minutes\.", prose[0], re.MULTILINE)
    assert any("**Predict first.**" in text for text in prose)
    asked = [text for text in prose if text.startswith("## Exercises") or "\n## Exercises" in text]
    assert len(asked) == 1
    assert f"](solutions/{path.stem}.ipynb)" in asked[0]
    assert "exercises.hint(" in asked[0]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=NAMES)
def test_every_formula_can_be_shown_in_the_report(path: Path) -> None:
    for text in sources(path, "markdown"):
        text = re.sub(r"`[^`]*`", "", text)
        for block, inline in re.findall(r"\$\$(.+?)\$\$|\$([^$\n]+)\$", text, re.DOTALL):
            assert "unconverted" not in mathml(block or inline, block=bool(block)), block or inline


@pytest.mark.parametrize("path", NOTEBOOKS, ids=NAMES)
def test_links_between_notebooks_lead_somewhere(path: Path) -> None:
    for text in sources(path, "markdown"):
        for target in re.findall(r"\]\(([^)#]+\.ipynb)\)", text):
            assert (path.parent / target).is_file(), target
        for name in re.findall(r"\b\d\d_[a-z_]+\b", text):
            assert name in NAMES, name


@pytest.mark.parametrize("path", NOTEBOOKS, ids=NAMES)
def test_every_notebook_runs_with_smoke_parameters_and_verifies(path: Path, tmp_path: Path) -> None:
    request = runner.prepare(path, chosen="smoke")
    finished = runner.run([request], Store(tmp_path / "evidence"))[0]
    assert finished.status == "complete", finished.reason
    verdict = verify(finished.path)
    assert verdict, verdict.sentence
    results = json.loads((finished.path / "results.json").read_text())
    assert results, "a notebook leaves results"
    outputs = [output for cell in load(finished.path / "notebook.ipynb")["cells"] for output in cell.get("outputs", [])]
    assert [output["text"] for output in outputs if output.get("name") == "stderr"] == []
