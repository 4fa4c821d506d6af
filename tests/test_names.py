"""Names of measures parse to one canonical form, and that parses back to itself."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankwork.errors import ContractError
from rankwork.measures.names import Measure, parse
from rankwork.measures.names import known as known_definitions


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("R@10", "R@10"),
        ("Recall@10", "R@10"),
        ("recall_10", "R@10"),
        ("recall.10", "R@10"),
        (" R ( rel = 2 ) @ 010 ", "R(rel=2)@10"),
        ("R(rel=0.5)@1", "R(rel=0.5)@1"),
        ("R(rel='>0')@5", "R(rel='>0')@5"),
        ("R()@5", "R@5"),
    ],
)
def test_aliases_and_spaces_lead_to_one_name(text: str, canonical: str) -> None:
    assert str(parse(text)) == canonical
    assert parse(canonical) == parse(text)


@given(st.integers(1, 10**9), st.none() | st.integers(1, 9) | st.floats(0.001, 1e6) | st.just(">0"))
def test_every_name_round_trips(cutoff: int, rel: float | str | None) -> None:
    measure = Measure("R", () if rel is None else (("rel", rel),), cutoff)
    assert parse(str(measure)) == measure
    assert repr(measure) == f"Measure({str(measure)!r})"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("XYZ@10", "measure 'XYZ@10' is not known; known are .*R"),
        ("R", "measure 'R' needs a cutoff, such as R@10"),
        ("R@0", "k must be at least 1, got 0"),
        ("R@-1", "is not of the form"),
        ("R@1.5", "is not of the form"),
        ("R(rel=2@10", "is not of the form"),
        ("", "is not of the form"),
        ("R(2)@10", "'2' is not of the form parameter=value"),
        ("R(rel=two)@10", "'rel=two' is not of the form parameter=value"),
        ("R(grade=2)@10", "parameter 'grade' is unknown or twice; there are: rel"),
        ("R(rel=1, rel=2)@10", "parameter 'rel' is unknown or twice"),
        ("R(rel=0)@10", "rel must be a positive grade or '>0', got 0"),
        ("R(rel=True)@10", "rel must be a positive grade or '>0', got True"),
        ("R(rel=1e999)@10", "rel must be a positive grade"),
    ],
)
def test_a_name_that_means_nothing_is_refused(text: str, message: str) -> None:
    with pytest.raises(ContractError, match=message):
        parse(text)


def test_what_the_name_gives_wins_over_what_is_filled_in() -> None:
    assert str(parse("R(rel=2)@10").filled(rel=1)) == "R(rel=2)@10"
    assert str(parse("R@10").filled(rel=1)) == "R(rel=1)@10"


def test_each_measure_file_registers_itself() -> None:
    """The registry is what the files of the package define; no name belongs to two of them."""
    names = [name for d in set(map(id, known_definitions().values())) for name in _names_of(d)]
    assert "R" in names
    assert len(names) == len(set(names)) == len(known_definitions())


def _names_of(identity: int) -> list[str]:
    definition = next(d for d in known_definitions().values() if id(d) == identity)
    return [definition.name, *definition.aliases]
