"""The glossary has each term once, in both languages, and every link into it arrives."""

import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
NOTEBOOKS = ROOT / "notebooks"
ENGLISH, CHINESE = (NOTEBOOKS / name for name in ("glossary.md", "glossary.zh.md"))


def terms(path: Path) -> list[str]:
    return re.findall(r"^### (.+)$", path.read_text(), re.MULTILINE)


def anchors(path: Path) -> set[str]:
    """The anchors of the headings, as Markdown viewers make them."""
    return {re.sub(r"[^\w\- ]", "", term.lower()).replace(" ", "-") for term in terms(path)}


def links(text: str) -> list[str]:
    return re.findall(r"\(glossary\.md#([^)]+)\)", text)


def test_both_languages_have_the_same_terms_in_the_same_order() -> None:
    assert terms(ENGLISH) == terms(CHINESE)
    assert len(set(terms(ENGLISH))) == len(terms(ENGLISH))


@pytest.mark.parametrize("path", [ENGLISH, CHINESE], ids=lambda path: path.name)
def test_every_term_is_explained_and_links_inside_arrive(path: Path) -> None:
    blocks = re.split(r"^### .+$", path.read_text(), flags=re.MULTILINE)[1:]
    assert all(re.split(r"^## ", block, flags=re.MULTILINE)[0].strip() for block in blocks)
    assert set(re.findall(r"\(#([^)]+)\)", path.read_text())) <= anchors(path)


@pytest.mark.parametrize("path", sorted(NOTEBOOKS.glob("*.ipynb")), ids=lambda path: path.stem)
def test_the_links_of_a_notebook_arrive(path: Path) -> None:
    text = "".join("".join(cell["source"]) for cell in json.loads(path.read_text())["cells"])
    assert set(links(text)) <= anchors(ENGLISH)


def test_a_link_to_no_term_is_noticed() -> None:
    assert not set(links("see [x](glossary.md#no-such-term)")) <= anchors(ENGLISH)
