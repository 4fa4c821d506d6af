"""The report is one file that shows formulas and asks nothing of the network."""

import re
from typing import Any

import pytest

from rankwork.evidence.report import mathml, render


def html(*markdown: str, outputs: list[dict[str, Any]] | None = None) -> str:
    cells: list[dict[str, Any]] = [
        {"cell_type": "markdown", "id": f"m{number}", "metadata": {}, "source": text}
        for number, text in enumerate(markdown)
    ]
    if outputs:
        code = {"cell_type": "code", "id": "c", "metadata": {}, "source": "1", "execution_count": 1}
        cells.append(code | {"outputs": outputs})
    notebook = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    return render(notebook, "00_title", {"status": "complete", "a <fact>": "x & y"})


def test_formulas_become_mathml() -> None:
    page = html("inline $s = k - a$ and a block", "$$\\frac{h}{R}$$", "\\begin{align}a &= b\\end{align}")
    assert page.count("<math") == 3
    assert "<mfrac>" in page
    assert "$" not in re.sub(r"<(style|script).*?</\1>", "", page, flags=re.DOTALL)


def test_a_formula_that_cannot_be_converted_stays_readable() -> None:
    assert mathml("\\nosuchcommand{x}", block=False) == "<code class='rankwork-unconverted'>\\nosuchcommand{x}</code>"


def test_the_page_links_to_no_server_and_forbids_what_an_output_may_bring() -> None:
    hostile = {
        "output_type": "display_data",
        "metadata": {},
        "data": {"text/html": "<img src='http://x.example/a.png'>"},
    }
    page = html("# Title", outputs=[hostile])
    own = page.replace("http://x.example/a.png", "")
    assert re.findall(r"(?:src|href)=[\"']?https?:|@import|url\([\"']?https?:", own) == []
    assert "default-src 'none'" in page
    assert page.index("Content-Security-Policy") < page.index("x.example")


def test_the_facts_of_the_record_stand_above_it() -> None:
    page = html("text")
    assert '<th align="left">a &lt;fact&gt;</th><td>x &amp; y</td>' in page
    assert "<title>00_title</title>" in page


@pytest.mark.parametrize("formula", [r"\lvert G \rvert", r"\binom{t}{s}", r"\sum_{i=1}^{k} \frac{1}{\log_2(i+1)}"])
def test_the_formulas_of_the_field_are_known(formula: str) -> None:
    assert mathml(formula, block=True).startswith("<math")
