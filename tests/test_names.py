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
        ("MRR", "MRR"),
        ("MRR@10", "MRR@10"),
        ("mrr@10", "MRR@10"),
        ("MAP", "AP"),
        ("map", "AP"),
        ("MAP@1000", "AP@1000"),
        ("map_cut_10", "AP@10"),
        ("recip_rank", "RR"),
        ("ndcg", "nDCG"),
        ("NDCG@10", "nDCG@10"),
        ("ndcg_cut_10", "nDCG@10"),
        ("ndcg_cut.10", "nDCG@10"),
        ("nDCG(dcg = 'exp-log2')@10", "nDCG(dcg='exp-log2')@10"),
        ("recall_100", "R@100"),
        ("P_10", "P@10"),
        ("P.10", "P@10"),
        ("Precision@5", "P@5"),
        ("success_5", "Success@5"),
        ("Hit@5", "Success@5"),
        ("HitRate@5", "Success@5"),
        ("bpref", "Bpref"),
        ("BPref", "Bpref"),
        ("Rprec", "Rprec"),
        ("RPrec(rel=2)", "Rprec(rel=2)"),
        ("R-precision", "Rprec"),
        ("judged@10", "Judged@10"),
        ("F1@10", "F@10"),
        ("set_F", "F"),
        ("rbp", "RBP(p=0.9)"),
        ("rbp(p=0.5)", "RBP(p=0.5)"),
        ("RBP(rel=2, p=0.5)@20", "RBP(p=0.5,rel=2)@20"),
        ("ERR@20", "ERR@20"),
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
        ("P", "measure 'P' needs a cutoff, such as P@10"),
        ("Rprec@10", "measure 'Rprec@10' takes no cutoff"),
        ("bpref_10", "measure 'bpref_10' takes no cutoff"),
        ("nDCG(dcg='ln')@3", "dcg must be one of 'log2', 'exp-log2', got 'ln'"),
        ("nDCG(rel=2)@3", "parameter 'rel' is unknown or twice; there are: dcg"),
        ("RBP(p=1)", "p must be between 0 and 1, got 1"),
        ("RBP(p=1.5)", "p must be between 0 and 1, got 1.5"),
        ("F(beta=0)@3", "beta must be a positive number, got 0"),
        ("ERR(max_rel=0)", "max_rel must be a grade between 0 and 1000, got 0"),
        ("Judged(rel=1)@3", "parameter 'rel' is unknown or twice; there are: none"),
        ("ndcg_cut_0", "k must be at least 1, got 0"),
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
