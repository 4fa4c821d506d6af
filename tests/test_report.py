"""The report is one file that shows formulas and asks nothing of the network, and says what it is a report of."""

import base64
import re
import shlex
from io import BytesIO
from typing import Any

import pytest
from PIL import Image

from rankwork import plots
from rankwork.evidence.manifest import RESULT_MIME, SEAL_MIME
from rankwork.evidence.report import guarded, mathml, render
from rankwork.evidence.report_head import Head
from rankwork.evidence.summary import found, lines, not_run, ranges, title
from rankwork.plots.canvas import described

HEAD = Head("00_title", "complete", facts={"a <fact>": "x & y"}, results={}, result_digest="0" * 64, arguments={})


def markdown(text: str, number: int = 0) -> dict[str, Any]:
    return {"cell_type": "markdown", "id": f"m{number}", "metadata": {}, "source": text}


def code(*outputs: dict[str, Any], number: int = 0) -> dict[str, Any]:
    cell = {"cell_type": "code", "id": f"c{number}", "metadata": {}, "source": "1", "execution_count": 1}
    return cell | {"outputs": list(outputs)}


def shown(**data: Any) -> dict[str, Any]:
    return {"output_type": "display_data", "metadata": {}, "data": data}


def printed(text: str) -> dict[str, Any]:
    return {"output_type": "stream", "name": "stdout", "text": text}


SEAL = code(shown(**{SEAL_MIME: {"nonce": "1"}, "text/plain": "sealed"}), number=99)


def notebook(*cells: dict[str, Any]) -> dict[str, Any]:
    return {"cells": list(cells), "metadata": {}, "nbformat": 4, "nbformat_minor": 5}


def html(*texts: str, outputs: list[dict[str, Any]] | None = None, head: Head = HEAD) -> str:
    cells = [markdown(text, number) for number, text in enumerate(texts)]
    return render(notebook(*cells, *([code(*outputs)] if outputs else [])), head)


def parsed(page: str) -> Any:
    """The page as a browser would read it."""
    from bs4 import BeautifulSoup

    return BeautifulSoup(page, "html.parser")


def body(page: str) -> str:
    return re.sub(r"<(style|script).*?</\1>", "", page, flags=re.DOTALL)


def test_formulas_become_mathml() -> None:
    page = html("inline $s = k - a$ and a block", "$$\\frac{h}{R}$$", "\\begin{align}a &= b\\end{align}")
    assert page.count("<math") == 3
    assert "<mfrac>" in page
    assert "$" not in body(page)


def test_a_formula_that_cannot_be_converted_stays_readable() -> None:
    assert mathml("\\nosuchcommand{x}", block=False) == "<code class='rankwork-unconverted'>\\nosuchcommand{x}</code>"


def test_the_page_links_to_no_server_and_forbids_what_an_output_may_bring() -> None:
    page = html("# Title", outputs=[shown(**{"text/html": "<img src='http://x.example/a.png'>"})])
    own = page.replace("http://x.example/a.png", "")
    assert re.findall(r"(?:src|href)=[\"']?https?:|@import|url\([\"']?https?:", own) == []
    assert "default-src 'none'" in page
    assert page.index("Content-Security-Policy") < page.index("x.example")
    assert guarded(page)


def test_links_to_other_notebooks_which_a_record_has_not_are_left_out() -> None:
    page = html("see [01_contract](01_contract.ipynb#here), [there](https://x.example/) and [below](#b)")
    assert re.findall(r'href="([^"]*)"', body(page)) == ["https://x.example/", "#b"]
    assert "see 01_contract, " in page


def test_the_facts_of_the_record_stand_above_it() -> None:
    page = html("text")
    assert '<th scope="row">a &lt;fact&gt;</th><td>x &amp; y</td>' in page.replace("'", '"')
    assert "<title>00_title</title>" in page


def test_the_notebooks_question_is_the_title_and_stands_there_once() -> None:
    page = html("# Which of *them*, `a` < $b$?\n\nText.")
    assert "<title>00_title: Which of them, a &lt; $b$?</title>" in page
    assert re.findall(r"<h1>(.*?)</h1>", page) == [
        "Which of <em>them</em>, <code>a</code> &lt; <math><mi>b</mi></math>?"
    ]
    assert page.count("Which of <em>") == 1
    assert "<p>Text.</p>" in page


def test_a_complete_execution_says_how_it_can_be_checked_and_asked_again() -> None:
    head = Head("07_x", "complete", result_digest="ab" * 32, arguments={"ks": [1, 2], "text": "it's"})
    page = html("text", head=head)
    assert "<strong>Complete.</strong>" in page
    assert "rankwork verify FOLDER" in page
    typed = [each.text for each in parsed(page).select(".rankwork-record code")]
    again = next(text for text in typed if text.startswith("rankwork run"))
    assert shlex.split(again) == ["rankwork", "run", "07_x", "-p", "ks=[1, 2]", "-p", "text=it's"]
    assert "abababababab" in typed


def test_an_execution_that_was_stopped_says_so_and_offers_no_result() -> None:
    page = html("text", head=Head("07_x", "kernel_died", stopped="<DeadKernel>: it died", arguments={}))
    assert "Not complete: kernel died." in page
    assert "Stopped by &lt;DeadKernel&gt;: it died." in page
    assert "Complete." not in page
    assert "rankwork run" not in page


def test_the_headline_numbers_are_the_recorded_ones() -> None:
    mean = {"contract": 0.5, "min": 0.25, "expected": None, "max": 1.0, "std": None}
    results = {
        name: {"name": name, "measured": name == "seconds", "value": value}
        for name, value in {"R@2": mean, "k": 3, "<b>": "<i>", "seconds": 0.125, "long": list(range(99))}.items()
    }
    page = html("text", head=Head("07_x", "complete", results=results))
    assert "R@2</th><td>0.5000</td><td>0.2500</td><td>unknown</td><td>1.0000</td>" in page
    assert "seconds (measured)</th><td>0.1250</td>" in page
    assert "&lt;b&gt;</th><td>&lt;i&gt;</td>" in page
    assert "long</th>" not in page
    assert lines(results)[1] == "k = 3"
    assert list(ranges(results)) == ["R@2"]


def test_what_the_last_cell_printed_is_what_the_run_found() -> None:
    ended = [code(printed("early"), number=1), code(printed("It is <so>.\n"), number=2)]
    assert found(notebook(*ended, SEAL)) == "It is <so>."
    assert found(notebook(*ended)) == "", "an execution without its seal found nothing"
    assert "<pre>It is &lt;so&gt;.</pre>" in render(notebook(*ended, SEAL), HEAD)


def test_a_sentence_that_was_broken_at_the_width_of_a_notebook_is_whole_again() -> None:
    full = "word " * 21 + "word"
    assert found(notebook(code(printed(f"{full}\nends so.\nAnother.")), SEAL)) == f"{full} ends so.\nAnother."


def test_what_was_not_run_here_is_gathered_from_prints_and_recorded_texts() -> None:
    value = {"status": "not run here", "note": "GPU: not run here, none."}
    recorded = shown(**{RESULT_MIME: {"value": value}, "text/plain": "value = ..."})
    said = code(printed("fine\nCUDA: not run here, no device.\ntrec_eval: not installed here: compile it\n"), recorded)
    expected = [
        "CUDA: not run here, no device.",
        "trec_eval: not installed here: compile it",
        "GPU: not run here, none.",
    ]
    assert not_run(notebook(said, said)) == expected
    assert "<h2>Not run here</h2>" in render(notebook(said), HEAD)
    assert "Not run here" not in html("text")


def test_a_notebook_without_a_heading_has_no_title() -> None:
    assert [title(notebook(*cells)) for cells in ([], [markdown("text\n# late")], [code()])] == [None, None, None]


def picture(**metadata: Any) -> dict[str, Any]:
    held = BytesIO()
    Image.new("RGB", (4, 3), "orange").save(held, "PNG")
    data = {"image/png": base64.b64encode(held.getvalue()).decode(), "text/plain": "<Figure>"}
    return shown(**data) | {"metadata": metadata}


def test_every_figure_has_a_number_a_caption_and_a_text_for_who_cannot_see_it() -> None:
    about = {"image/png": {"alt": 'a "chart"', "caption": "What <it> shows."}}
    page = html("## One *tie*", outputs=[picture(**about), picture(), picture(**{"image/png": {"alt": 3}})])
    under = "under the heading: One tie"
    assert [image["alt"] for image in parsed(page)("img")] == ['a "chart"', f"figure 2, {under}", f"figure 3, {under}"]
    captions = [caption.text for caption in parsed(page)("figcaption")]
    assert captions == ["Figure 1. What <it> shows.", "Figure 2. One tie", "Figure 3. One tie"]


@pytest.mark.parametrize("content", ["no base64!", "x' onerror='run()"])
def test_an_image_that_is_none_brings_nothing_into_the_page(content: str) -> None:
    page = parsed(html(outputs=[shown(**{"image/png": content})]))
    assert [set(image.attrs) for image in page("img")] == [{"src", "class", "alt"}]
    assert page("figure") == []


def test_a_figure_of_ours_says_what_it_shows_in_words() -> None:
    figure: Any = plots.boundary([("A", 2.0), ("B", 1.0), ("C", 1.0)], 2)
    data, metadata = figure._repr_mimebundle_()
    assert data["image/png"].startswith(b"\x89PNG")
    about = metadata["image/png"]
    assert about["alt"] == described(figure)
    assert {"A", "B", "C"} <= set(re.findall(r"\w+", about["alt"]))
    assert about["caption"].startswith("The cut at rank k: ")


@pytest.mark.parametrize("formula", [r"\lvert G \rvert", r"\binom{t}{s}", r"\sum_{i=1}^{k} \frac{1}{\log_2(i+1)}"])
def test_the_formulas_of_the_field_are_known(formula: str) -> None:
    assert mathml(formula, block=True).startswith("<math")
