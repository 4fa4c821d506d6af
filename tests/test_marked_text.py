"""Marks in templates: the text without them, and where each passage stands."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankwork.errors import InputError
from rankwork.inputs.knowledge_base.marked_text import write

plain = st.text(alphabet="ab c.é文\n", max_size=8)


@given(st.lists(st.tuples(plain, plain), max_size=5), plain)
def test_each_passage_is_found_again_at_its_place(pieces: list[tuple[str, str]], end: str) -> None:
    template = "".join(f"{before}<m_{at}>{inside}</m_{at}>" for at, (before, inside) in enumerate(pieces)) + end
    written = write(template, {})
    assert written.text == "".join(before + inside for before, inside in pieces) + end
    assert [written.quote(f"m_{at}") for at in range(len(pieces))] == [inside for _, inside in pieces]


def test_marks_may_lie_inside_each_other() -> None:
    written = write("<a>x <b>y</b></a> z", {})
    assert (written.text, written.quote("a"), written.quote("b")) == ("x y z", "x y", "y")


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("<a>open", "<a> is never closed"),
        ("closed</a>", "</a> closes nothing"),
        ("{unknown}", "template '{unknown}': no fact 'unknown'"),
    ],
)
def test_a_wrong_template_is_refused(template: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        write(template, {})
