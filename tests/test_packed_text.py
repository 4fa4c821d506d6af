"""Packed text behaves as a list of strings does, however unlucky its fingerprints."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankwork.inputs import packed_text
from rankwork.inputs.packed_text import Coding, PackedText

LETTERS = st.characters(codec="utf-8") | st.sampled_from("ab\0é\ud800")
TEXTS = st.text(LETTERS, max_size=4) | st.text(st.sampled_from("ab"), max_size=90)
LISTS = st.lists(TEXTS, max_size=8).flatmap(lambda texts: st.lists(st.sampled_from(texts or [""]), max_size=30))


def coded_by_dict(texts: list[str]) -> tuple[list[str], list[int]]:
    known: dict[str, int] = {}
    codes = [known.setdefault(text, len(known)) for text in texts]
    return list(known), codes


def coded(texts: list[str]) -> tuple[list[str], list[int]]:
    packed = PackedText.of(texts)
    coding = Coding.of(packed, packed.fingerprints())
    return coding.vocabulary.tolist(), coding.codes.tolist()


@given(LISTS)
def test_coding_is_that_of_a_dictionary(texts: list[str]) -> None:
    """Unique texts in order of first appearance, and each row's place among them."""
    assert coded(texts) == coded_by_dict(texts)


@pytest.mark.parametrize("kept", [0, 1, 7 << 61])
def test_fingerprints_that_collide_cost_no_exactness(monkeypatch: pytest.MonkeyPatch, kept: int) -> None:
    """All texts, or many different ones, have the same fingerprint: the coding is the same."""
    real = packed_text._mixed
    monkeypatch.setattr(packed_text, "_mixed", lambda values: real(values) & np.uint64(kept))
    random = np.random.default_rng(5)
    for length in (1, 3, 20, 90):
        texts = ["".join(random.choice(list("ab\0é"), random.integers(0, length + 1))) for _ in range(200)]
        assert coded(texts) == coded_by_dict(texts)


@given(st.lists(TEXTS, unique=True, max_size=12), st.lists(TEXTS, unique=True, max_size=12))
def test_looking_up_finds_the_place_or_says_minus_one(texts: list[str], wanted: list[str]) -> None:
    packed, array = PackedText.of(texts), np.empty(len(wanted), object)
    array[:] = wanted
    expected = [texts.index(text) if text in texts else -1 for text in wanted]
    assert packed.codes_of(array).tolist() == expected
    assert packed.codes_of(PackedText.of(wanted)).tolist() == expected


@given(st.lists(TEXTS, unique=True, max_size=12), st.data())
def test_the_ascending_order_is_that_of_sorted(texts: list[str], data: st.DataObject) -> None:
    """By code point, for all IDs and for some."""
    packed = PackedText.of(texts)
    assert [texts[place] for place in packed.ascending()] == sorted(texts)
    some = data.draw(st.lists(st.sampled_from(range(len(texts))), unique=True)) if texts else []
    assert [texts[some[place]] for place in packed.ascending(np.array(some, np.int64))] == sorted(
        texts[place] for place in some
    )


@given(LISTS, LISTS)
def test_parts_are_joined_and_selected_as_lists_are(first: list[str], second: list[str]) -> None:
    joined = PackedText.joined([PackedText.of(first), PackedText.of(second)])
    both = first + second
    assert joined.tolist() == both
    places = np.arange(len(both))[::2]
    assert joined.selected(places).tolist() == both[::2]
    assert joined[places].tolist() == both[::2]


def test_rows_beyond_one_chunk_are_coded_alike() -> None:
    """Chunks of rows meet at their ends."""
    texts = [f"d{number % 40_000}" for number in range(140_000)]
    assert coded(texts) == coded_by_dict(texts)
