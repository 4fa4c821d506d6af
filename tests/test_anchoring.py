"""Evidence is found again on other chunks and in other revisions, or its case is stale; it is never a silent miss."""

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankwork.diagnosis.anchoring import Anchored, anchored
from rankwork.errors import ContractError, InputError
from rankwork.inputs.documents import Document
from rankwork.trace import Case, Evidence, Requirement

TEXT = "Leave is 30 days. Sick days are paid. Ask your lead first."


def cut(
    text: str, size: int, *, step: int | None = None, revision: str = "1", source: str = "s", **rest: Any
) -> list[Document]:
    """Chunks of `size` characters, one every `step`: more than a size leaves gaps, less makes them overlap."""
    starts = range(0, len(text), step or size)
    mark = "" if revision == "1" else f"/{revision}"
    places = [(start, min(start + size, len(text))) for start in starts]
    return [
        Document(
            f"{source}@{size}#{start}{mark}",
            text[start:end],
            source=source,
            revision=revision,
            start=start,
            end=end,
            **rest,
        )
        for start, end in places
    ]


def piece(start: int, end: int, *, text: str = TEXT, name: str = "", **rest: Any) -> Evidence:
    fields = {"source": "s", "revision": "1", "start": start, "end": end, "quote": text[start:end]}
    return Evidence(id=name or f"old{start}-{end}", **{**fields, **rest})


def case(*needs: Evidence | tuple[Evidence, ...], **rest: Any) -> Case:
    groups = [need if isinstance(need, tuple) else (need,) for need in needs]
    return Case(id="c", query="?", requires=tuple(Requirement(any_of=group) for group in groups), **rest)


def ids(found: Anchored) -> list[set[str]]:
    (only,) = found.cases
    return [{evidence.id for evidence in need.any_of} for need in only.requires]


def reason(found: Anchored) -> tuple[str, str | None]:
    (only,) = found.stale
    return only.reason, only.evidence


spans = (
    st.tuples(st.integers(0, len(TEXT) - 1), st.integers(1, len(TEXT)))
    .map(sorted)
    .filter(lambda pair: pair[0] < pair[1])
)


@settings(max_examples=150, deadline=None)
@given(span=spans, size=st.integers(1, 70), overlap=st.sampled_from([0.01, 0.3, 0.5, 1.0]), grade=st.integers(1, 3))
def test_a_rechunking_of_any_size_keeps_every_evidence(span: list[int], size: int, overlap: float, grade: int) -> None:
    """What is required covers its place: each alternative by the share asked for, parts all of it together."""
    start, end = span
    found = anchored([case(piece(start, end, grade=grade))], cut(TEXT, size), overlap=overlap)
    assert not found.stale
    chunks = {document.id: document for document in cut(TEXT, size)}
    needs = found.cases[0].requires
    assert {held.grade for need in needs for held in need.any_of} == {grade}
    covered: set[int] = set()
    for need in needs:
        for held in need.any_of:
            chunk = chunks[held.id]
            shared = set(range(start, end)) & set(range(chunk.start, chunk.end or 0))
            covered |= shared
            assert held.quote == TEXT[held.start : held.end]
            if len(needs) == 1:
                assert len(shared) >= overlap * (end - start)
    if len(needs) > 1:
        assert covered == set(range(start, end))
        assert all(len(need.any_of) == 1 for need in needs)


@settings(max_examples=60, deadline=None)
@given(span=spans, size=st.integers(20, 70), step=st.integers(1, 20))
def test_every_overlapping_chunk_that_holds_it_is_an_alternative(span: list[int], size: int, step: int) -> None:
    """Against a count of characters, chunk by chunk."""
    start, end = span
    chunks = cut(TEXT, size, step=step)
    holding = {
        chunk.id
        for chunk in chunks
        if sum(chunk.start <= place < (chunk.end or 0) for place in range(start, end)) >= 0.5 * (end - start)
    }
    found = anchored([case(piece(start, end))], chunks)
    if holding:
        assert ids(found) == [holding]
    else:
        assert found.found["split"] == 1


@settings(max_examples=60, deadline=None)
@given(span=spans, sizes=st.lists(st.integers(1, 70), min_size=1, max_size=3))
def test_anchors_do_not_wear_out(span: list[int], sizes: list[int]) -> None:
    """Through any chain of re-chunkings back to the whole document, the same evidence stands at the same place."""
    cases: tuple[Case, ...] = (case(piece(*span)),)
    for size in [*sizes, len(TEXT)]:
        cases = anchored(cases, cut(TEXT, size)).cases
    places = [
        place for need in cases[0].requires for held in need.any_of for place in range(held.start or 0, held.end or 0)
    ]
    assert set(places) == set(range(*span))


def test_any_part_of_a_whole_document_may_be_enough() -> None:
    whole = case(piece(0, len(TEXT)))
    every, either = (ids(anchored([whole], cut(TEXT, 24), parts=parts)) for parts in ("all", "any"))
    assert every == [{"s@24#0"}, {"s@24#24"}, {"s@24#48"}]
    assert either == [{"s@24#0", "s@24#24", "s@24#48"}]


def test_parts_of_alternatives_are_multiplied_out() -> None:
    """(1 and 2) or 3 is (1 or 3) and (2 or 3)."""
    chunks = [*cut("aabb", 2), *cut("xy", 2, source="t")]
    long, short = piece(0, 4, text="aabb"), piece(0, 2, text="xy", source="t")
    found = anchored([case((long, short))], chunks, overlap=0.9)
    assert ids(found) == [{"s@2#0", "t@2#0"}, {"s@2#2", "t@2#0"}]


def test_alternatives_of_too_many_parts_are_stale() -> None:
    pair = piece(0, 30), piece(20, 58)
    assert reason(anchored([case(pair)], cut(TEXT, 1))) == ("too_many_parts", "old0-30")


def test_two_pieces_in_one_chunk_are_both_required_and_have_one_grade() -> None:
    found = anchored([case(piece(0, 5, grade=1), piece(9, 16, grade=3))], cut(TEXT, 58))
    assert ids(found) == [{"s@58#0"}, {"s@58#0"}]
    assert [need.any_of[0].quote for need in found.cases[0].requires] == ["Leave", "30 days"]
    assert {need.any_of[0].grade for need in found.cases[0].requires} == {3}
    Case.model_validate(found.cases[0].model_dump())


def test_a_new_revision_is_searched_for_the_quote() -> None:
    """Text that moved inside its source is found where it stands now."""
    revised = cut("New. " + TEXT, 24, revision="2")
    found = anchored([case(piece(9, 16))], revised)
    (need,) = found.cases[0].requires
    assert (need.any_of[0].start, need.any_of[0].revision, need.any_of[0].quote) == (14, "2", "30 days")
    assert found.found == {"by_quote": 1}


def test_a_quote_without_a_source_is_looked_for_everywhere() -> None:
    bare = Evidence(id="old", quote="30 days")
    assert ids(anchored([case(bare)], [*cut(TEXT, 24), *cut("Other.", 9, source="t")])) == [{"s@24#0"}]
    assert reason(anchored([case(bare)], cut("Other.", 9))) == ("gone", "old")
    assert reason(anchored([case(bare)], [*cut(TEXT, 24), *cut(TEXT, 24, source="t")])) == ("ambiguous", "old")


def test_the_same_revision_is_preferred_to_another() -> None:
    both = [*cut(TEXT, 24), *cut(TEXT, 20, revision="2")]
    assert ids(anchored([case(piece(9, 16))], both)) == [{"s@24#0"}]


@pytest.mark.parametrize(
    ("documents", "expected"),
    [
        (cut(TEXT.replace("30", "25"), 24, revision="2"), "changed"),
        (cut(TEXT + TEXT, 24, revision="2"), "ambiguous"),
        (cut(TEXT, 24, source="other"), "moved"),
        ([*cut("Nothing here.", 24, revision="2"), *cut(TEXT, 24, source="other")], "moved"),
        (cut("Nothing here.", 24, source="other"), "gone"),
        (cut(TEXT.replace("30", "25"), 24), "changed"),
    ],
)
def test_what_is_not_found_is_stale_with_its_reason(documents: list[Document], expected: str) -> None:
    """The last: one revision, another text, so that one of the two is wrong."""
    found = anchored([case(piece(9, 16))], documents)
    assert reason(found) == (expected, "old9-16")
    assert found.cases == ()
    assert "old9-16" in str(found.stale[0]) or "'s'" in str(found.stale[0])


def test_a_place_that_no_chunk_reaches_is_gone() -> None:
    """A chunker that leaves text out lost the evidence: no retriever can be blamed."""
    assert reason(anchored([case(piece(9, 16))], cut(TEXT, 4, step=30))) == ("gone", "old9-16")


def test_a_revised_source_without_a_quote_is_changed() -> None:
    assert reason(anchored([case(piece(9, 16, quote=""))], cut(TEXT, 24, revision="2"))) == ("changed", "old9-16")


def test_an_alternative_that_is_gone_leaves_the_others() -> None:
    found = anchored([case((piece(9, 16), piece(0, 5, source="lost", text="Other words", name="x")))], cut(TEXT, 24))
    assert ids(found) == [{"s@24#0"}]
    assert found.found == {"by_place": 1, "dropped": 1}


def test_an_alternative_that_changed_makes_the_case_stale() -> None:
    """A system could find the changed text, and nobody knows whether it still answers."""
    documents = [*cut(TEXT, 24), *cut("New words.", 24, source="t", revision="2")]
    found = anchored([case((piece(9, 16), piece(0, 5, source="t", text="Other words", name="x")))], documents)
    assert reason(found) == ("changed", "x")


def test_alternatives_that_are_all_gone_make_the_case_stale() -> None:
    pair = (
        piece(0, 5, source="lost", text="Other words", name="x"),
        piece(0, 5, source="lost", text="Other words", name="y"),
    )
    assert reason(anchored([case(pair)], cut(TEXT, 24))) == ("gone", "x")


def test_evidence_by_id_alone_holds_while_the_id_does() -> None:
    bare = Evidence(id="s@24#0")
    assert anchored([case(bare)], cut(TEXT, 24)).found == {"by_id": 1}
    assert reason(anchored([case(bare)], cut(TEXT, 20))) == ("unanchored", "s@24#0")
    assert reason(anchored([case(bare.model_copy(update={"revision": "9"}))], cut(TEXT, 24)))[0] == "unanchored"


def test_what_a_case_excludes_is_excluded_by_its_chunks() -> None:
    found = anchored([case(piece(9, 16), excludes=("t", "elsewhere"))], [*cut(TEXT, 30), *cut("abcd", 2, source="t")])
    assert found.cases[0].excludes == ("t@2#0", "t@2#2", "elsewhere")


DAY = [datetime(2026, 1, day, tzinfo=UTC) for day in range(1, 5)]


def test_a_case_is_stale_outside_of_its_time() -> None:
    """The end is not included; the moment of asking counts, not today's."""
    limits = {"valid_from": DAY[1], "valid_until": DAY[3]}
    found = [anchored([case(piece(9, 16), time=day, **limits)], cut(TEXT, 24)) for day in DAY]
    assert [len(result.cases) for result in found] == [0, 1, 1, 0]
    assert reason(found[0]) == ("out_of_its_time", None)


def test_a_source_that_does_not_hold_at_the_time_is_out_of_its_time() -> None:
    expired = cut(TEXT, 24, valid_until=DAY[1])
    assert reason(anchored([case(piece(9, 16), time=DAY[2])], expired)) == ("out_of_its_time", "old9-16")
    assert anchored([case(piece(9, 16), time=DAY[0])], expired).cases


def test_the_revision_that_holds_at_the_time_serves_the_case() -> None:
    old, new = cut(TEXT, 24, valid_until=DAY[1]), cut("New. " + TEXT, 24, revision="2", valid_from=DAY[1])
    found = [anchored([case(piece(9, 16), time=day)], [*old, *new]).found for day in (DAY[0], DAY[2])]
    assert found == [{"by_place": 1}, {"by_quote": 1}]


def test_a_case_that_requires_nothing_holds() -> None:
    empty = case(expected="refuse")
    assert anchored([empty], cut(TEXT, 24)).cases == (empty,)


def test_the_counts_are_shown() -> None:
    bare = case(Evidence(id="unknown"))
    found = anchored([case(piece(9, 16)), bare], cut(TEXT, 24))
    assert str(found) == "1 cases hold; evidence found: 1 by place\n1 cases are stale: 1 unanchored"
    assert str(found.stale[0]).startswith("case c: unanchored: evidence 'unknown' names no place")


@pytest.mark.parametrize("overlap", [0, -0.1, 1.01, float("nan")])
def test_a_share_that_is_none_is_refused(overlap: float) -> None:
    with pytest.raises(ContractError, match=r"^overlap must be above 0 and at most 1, got "):
        anchored([], [], overlap=overlap)


def test_a_chunk_that_ends_before_it_starts_is_refused() -> None:
    with pytest.raises(InputError, match=r"^document 'd' cannot span the characters 5 to 2$"):
        anchored([], [Document("d", "text", start=5, end=2)])


def test_parts_that_are_neither_all_nor_any_are_refused() -> None:
    with pytest.raises(ContractError, match=r"^parts must be 'all' or 'any', got 'most'$"):
        anchored([], [], parts="most")  # type: ignore[arg-type]


def test_an_id_that_stands_twice_is_refused() -> None:
    """One of the two would be lost in silence."""
    with pytest.raises(InputError, match=r"^document ID 's@24#0' stands twice$"):
        anchored([], [*cut(TEXT, 24), *cut(TEXT, 24)])
