"""Chunks know where they were cut from, and evidence is found in them again."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankwork.errors import ContractError
from rankwork.inputs.documents import Collection, Document
from rankwork.retrieval.chunking import Unit, by_source, chunked, copies
from rankwork.trace import Case, Evidence, Requirement

TEXT = "alpha beta gamma delta epsilon zeta eta theta"


def notes(text: str = TEXT, cases: tuple[Case, ...] = ()) -> Collection:
    document = Document("a", text, title="Letters", tenant="acme", roles=frozenset({"hr"}))
    return Collection("notes", "7", (document,), cases)


@given(
    text=st.text(alphabet="ab \n", max_size=40),
    size=st.integers(1, 5),
    overlap=st.integers(0, 4),
    unit=st.sampled_from(["words", "characters"]),
)
def test_chunks_lie_where_they_say_and_cover_every_word(text: str, size: int, overlap: int, unit: Unit) -> None:
    """Counted word by word: each is in a chunk, no chunk is too long, and only neighbours overlap."""
    if overlap >= size:
        overlap = size - 1
    parts = chunked(notes(text), size=size, overlap=overlap, unit=unit).documents
    assert [part.id for part in parts] == [f"a#{number}" for number in range(1, len(parts) + 1)]
    for part in parts:
        assert part.text == text[part.start : part.end]
        assert len(part.text.split() if unit == "words" else part.text) <= size
    covered = {place for part in parts for place in range(part.start, part.end or 0)}
    assert {place for place, sign in enumerate(text) if not sign.isspace()} <= covered
    if unit == "words" and overlap == 0:
        assert " ".join(part.text for part in parts).split() == text.split()


def test_a_chunk_keeps_readers_title_and_revision() -> None:
    part = chunked(notes(), size=3).documents[1]
    assert (part.id, part.source, part.revision, part.title) == ("a#2", "a", "7", "Letters")
    assert (part.tenant, part.roles) == ("acme", frozenset({"hr"}))


def test_the_collection_says_how_it_was_cut() -> None:
    whole = notes()
    cut = chunked(whole, size=3, overlap=1)
    assert (cut.unit, cut.chunker, cut.parents) == ("chunk", "3 words, overlap 1", whole.documents)


def recast(*, start: int | None, end: int | None, size: int, quote: str = "") -> list[Evidence]:
    evidence = Evidence(id="a", source="a", start=start, end=end, quote=quote, grade=2)
    case = Case(id="q", query="?", requires=(Requirement(any_of=(evidence,)),), excludes=("a",))
    return list(chunked(notes(cases=(case,)), size=size).cases[0].requires[0].any_of)


def test_evidence_of_a_whole_document_is_any_of_its_chunks() -> None:
    assert [part.id for part in recast(start=None, end=None, size=3)] == ["a#1", "a#2", "a#3"]


def test_evidence_within_one_chunk_is_that_chunk() -> None:
    start = TEXT.index("delta")
    found = recast(start=start, end=start + 5, size=3, quote="delta")
    assert found == [Evidence(id="a#2", source="a", revision="7", start=start, end=start + 5, quote="delta", grade=2)]


def test_evidence_across_a_border_is_the_part_in_each_chunk() -> None:
    start, end = TEXT.index("gamma"), TEXT.index("delta") + 5
    found = recast(start=start, end=end, size=3, quote="gamma delta")
    assert [(part.id, part.quote) for part in found] == [("a#1", "gamma"), ("a#2", "delta")]


def test_what_a_case_excludes_is_excluded_in_all_its_chunks() -> None:
    case = Case(id="q", query="?", excludes=("a", "gone"))
    assert chunked(notes(cases=(case,)), size=4).cases[0].excludes == ("a#1", "a#2")


def test_evidence_of_a_source_with_two_revisions_is_found_in_its_own() -> None:
    versions = [Document(f"s@{number}", f"value {number} here", source="s", revision=number) for number in ("r1", "r2")]
    evidence = Evidence(id="s@r2#x", source="s", revision="r2", start=6, end=8, quote="r2")
    asked = Case(id="q", query="?", requires=(Requirement(any_of=(evidence,)),))
    cut = chunked(Collection("c", "1", tuple(versions), (asked,)), size=2)
    assert list(cut.cases[0].gold) == ["s@r2#1"]
    assert {(chunk.source, chunk.parent) for chunk in cut.documents} == {("s", "s@r1"), ("s", "s@r2")}


def test_evidence_without_a_source_here_stays_as_it_was() -> None:
    lost = Evidence(id="gone", source="gone")
    case = Case(id="q", query="?", requires=(Requirement(any_of=(lost,)),))
    assert chunked(notes(cases=(case,)), size=4).cases[0].requires[0].any_of == (lost,)


def test_copies_and_parts_of_one_source_are_two_things() -> None:
    """A header that stands in two documents is a copy; two chunks of one document are not."""
    documents = (Document("a", "head body foot"), Document("b", "head other foot"))
    parts = chunked(Collection("notes", "1", documents), size=1).documents
    assert copies(parts) == (("a#1", "b#1"), ("a#3", "b#3"))
    assert by_source(parts) == {"a": ("a#1", "a#2", "a#3"), "b": ("b#1", "b#2", "b#3")}


@pytest.mark.parametrize(("size", "overlap"), [(0, 0), (3, 3), (3, -1)])
def test_sizes_out_of_range_are_refused(size: int, overlap: int) -> None:
    with pytest.raises(ContractError, match="size must be at least 1 and overlap between"):
        chunked(notes(), size=size, overlap=overlap)


def test_another_unit_and_a_second_cut_are_refused() -> None:
    with pytest.raises(ContractError, match="the unit of chunks must be one of words, characters, got 'lines'"):
        chunked(notes(), size=1, unit="lines")  # type: ignore[arg-type]
    with pytest.raises(ContractError, match="is cut into chunks already"):
        chunked(chunked(notes(), size=2), size=1)
