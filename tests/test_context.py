"""What is shown and what is not: each step of the context drops for its own reason."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankwork.errors import ContractError
from rankwork.inputs.documents import Document
from rankwork.retrieval.context import Assembler, Limits, count_tokens, shingles

LONG = "one two three four five six seven eight nine ten"


def fates(
    documents: list[Document], limits: Limits, parents: list[Document] | None = None
) -> list[tuple[str, str | None]]:
    assembler = Assembler(limits, {parent.id: parent for parent in parents or []})
    return [(placed.document.id, placed.reason) for placed in assembler.assemble(documents)]


def test_a_copy_is_dropped_for_what_it_copies() -> None:
    """White space is no difference; a capital letter is one."""
    placed = Assembler().assemble([Document("a", "x  y"), Document("b", " x y\n"), Document("c", "X y")])
    assert [(place.reason, place.stand_in) for place in placed] == [(None, None), ("duplicate_id", "a"), (None, None)]


def test_a_near_copy_is_dropped_from_its_threshold_on() -> None:
    """7 of 9 sequences in common: .78."""
    near = [Document("a", LONG), Document("b", LONG.replace("ten", "eleven"))]
    assert len(shingles(near[0].text) & shingles(near[1].text)) / 9 == pytest.approx(7 / 9)
    assert fates(near, Limits(near=7 / 9)) == [("a", None), ("b", "near_duplicate")]
    assert fates(near, Limits(near=0.8)) == [("a", None), ("b", None)]
    assert fates(near, Limits()) == [("a", None), ("b", None)]


def test_a_parent_takes_the_place_of_its_chunks() -> None:
    parts = [Document(f"p#{number}", f"part {number}", source="p", parent="p") for number in (2, 1)]
    alone = Document("q#1", "other", source="q", parent="q")
    parents = [Document("p", "part 1 part 2")]
    found = fates([parts[0], alone, parts[1]], Limits(), parents)
    assert found == [("p", None), ("q#1", None), ("p", "parent_replaced")]


def test_a_quota_counts_by_source() -> None:
    parts = [Document(name, name, source=name[0]) for name in ("a1", "b1", "a2", "a3", "b2")]
    found = fates(parts, Limits(quota=2))
    assert found == [("a1", None), ("b1", None), ("a2", None), ("a3", "quota"), ("b2", None)]


def test_what_is_too_long_is_passed_over() -> None:
    documents = [Document("a", "1 2 3"), Document("b", "4 5 6"), Document("c", "7 8")]
    assert fates(documents, Limits(budget=5)) == [("a", None), ("b", "token_budget"), ("c", None)]


def test_only_what_is_shown_can_stop_another() -> None:
    """The first was dropped for its length, so its copy is dropped for that too, and not as a copy."""
    documents = [Document("a", LONG), Document("b", LONG)]
    assert fates(documents, Limits(budget=3)) == [("a", "token_budget"), ("b", "token_budget")]


def test_the_tokens_may_be_counted_by_another() -> None:
    assembler = Assembler(Limits(budget=4), count=len)
    assert [placed.reason for placed in assembler.assemble([Document("a", "abcd"), Document("b", "e")])] == [
        None,
        "token_budget",
    ]


@given(
    texts=st.lists(st.text("ab ", max_size=6), max_size=8),
    budget=st.none() | st.integers(1, 8),
    quota=st.none() | st.integers(1, 3),
    near=st.none() | st.sampled_from([0.5, 1.0]),
)
def test_a_context_keeps_its_limits(
    texts: list[str], budget: int | None, quota: int | None, near: float | None
) -> None:
    """Whatever the texts: within budget and quota, no copies; and nothing was dropped that had room."""
    documents = [Document(f"d{place}", text, source=f"s{place % 2}") for place, text in enumerate(texts)]
    placed = Assembler(Limits(budget, quota, near)).assemble(documents)
    shown = [place.document for place in placed if place.reason is None]
    tokens = sum(count_tokens(document.text) for document in shown)
    assert budget is None or tokens <= budget
    for source in ("s0", "s1"):
        assert quota is None or sum(document.source == source for document in shown) <= quota
    assert len({" ".join(document.text.split()) for document in shown}) == len(shown)
    for place in placed:
        if place.reason == "token_budget":
            assert budget is not None
            assert tokens + count_tokens(place.document.text) > budget or count_tokens(place.document.text) == 0


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ({"budget": 0}, "budget must be at least 1 or None, got 0"),
        ({"quota": -1}, "quota must be at least 1 or None, got -1"),
        ({"near": 0.0}, "near must lie above 0 and be at most 1"),
        ({"near": 1.5}, "near must lie above 0 and be at most 1"),
    ],
)
def test_limits_out_of_range_are_refused(limits: dict[str, float], message: str) -> None:
    with pytest.raises(ContractError, match=message):
        Limits(**limits)  # type: ignore[arg-type]
