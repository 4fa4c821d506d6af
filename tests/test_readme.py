"""The README's example prints what it says, and its table holds the numbers that an audit gives."""

import contextlib
import csv
import io
import os
import re
from pathlib import Path

import pytest

from rankwork.measures.auditing import audit

README = (Path(__file__).parents[1] / "README.md").read_text()
DATA = os.environ.get("RANKWORK_DATA")


def test_the_example_is_near_the_top_and_prints_what_it_says() -> None:
    code, expected = re.findall(r"```(?:python)?\n(.*?)```", README, re.DOTALL)[:2]
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(code, {})
    assert printed.getvalue() == expected
    assert README[: README.index(expected)].count("\n") < 15


def test_every_notebook_and_command_of_the_readme_exists() -> None:
    root = Path(__file__).parents[1]
    rows = re.findall(r"^\| (\d\d_\w+) \|", README, re.MULTILINE)
    assert rows == sorted(path.stem for path in (root / "notebooks").glob("*.ipynb"))
    targets = re.findall(r"^(\w+):", (root / "Makefile").read_text(), re.MULTILINE)
    assert set(re.findall(r"make (workbook|test|lab|check)\b", README)) <= set(targets)


ROWS = re.findall(r"^\| .*?, (\S+) \| ([\d.]+) % \|((?: \.\d{4} \|){5})$", README, re.MULTILINE)


def test_the_table_has_its_rows() -> None:
    assert len(ROWS) == 5


@pytest.mark.skipif(DATA is None, reason="RANKWORK_DATA does not name the folder of real runs")
@pytest.mark.parametrize(("run", "ties", "numbers"), ROWS, ids=[row[0] for row in ROWS])
def test_the_tables_numbers_are_those_of_an_audit(run: str, ties: str, numbers: str) -> None:
    folder = Path(str(DATA))
    with (folder / "expected_ranges.csv").open() as file:
        pair = next(row for row in csv.DictReader(file) if run in row["run"])
    by_order = {
        order: audit(folder / pair["run"], folder / pair["qrels"], "R@10", order=order).result("R@10")
        for order in ("id_asc", "id_desc")
    }
    mean, values = by_order["id_asc"].mean, by_order["id_asc"].values
    assert f"{100 * by_order['id_asc'].splits.sum() / values.averaged.sum():.1f}" == ties
    found = (mean.min, mean.expected, mean.max, mean.contract, by_order["id_desc"].mean.contract)
    assert [f"{number:.4f}" for number in found] == [f"0{number}" for number in re.findall(r"\.\d{4}", numbers)]


CHINESE = (Path(__file__).parents[1] / "README.zh.md").read_text()


def code_of(text: str) -> list[str]:
    """The code and the commands, without their comments, which are translated."""
    blocks = re.findall(r"```(?:python)?\n(.*?)```", text, re.DOTALL)
    return [re.sub(r" +# .*", "", line).rstrip() for block in blocks for line in block.splitlines()]


def test_both_languages_have_the_same_sections_tables_and_commands() -> None:
    for pattern in (r"^#+ ", r"^\| ", r"^```"):
        assert len(re.findall(pattern, README, re.MULTILINE)) == len(re.findall(pattern, CHINESE, re.MULTILINE)), (
            pattern
        )
    assert code_of(README) == code_of(CHINESE)
    assert re.findall(r"\.\d{4} ", README) == re.findall(r"\.\d{4} ", CHINESE)
    assert re.findall(r"^\| (\d\d_\w+) \|", README, re.MULTILINE) == re.findall(
        r"^\| (\d\d_\w+) \|", CHINESE, re.MULTILINE
    )


def test_a_section_that_only_one_language_has_is_noticed() -> None:
    shorter = CHINESE.replace("## 验证", "")
    assert len(re.findall(r"^#+ ", README, re.MULTILINE)) != len(re.findall(r"^#+ ", shorter, re.MULTILINE))
