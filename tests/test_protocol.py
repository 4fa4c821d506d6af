"""A protocol declares every convention; the five named ones are these."""

from dataclasses import FrozenInstanceError

import pytest

from rankwork.errors import ContractError
from rankwork.protocol import NAMES, Protocol

TABLE = """
order            id_asc           id_asc  id_asc      input       id_desc
duplicates       refuse           refuse  keep_first  refuse      refuse
no_relevant      undefined        refuse  undefined   zero        zero
missing_query    zero             refuse  undefined   zero        left_out
beyond_list      clip             refuse  clip        clip        clip
gain             linear           None    exponential exponential linear
rr_alias         cut              None    cut         uncut       cut
relevant_from    1                set     positive    positive    1
p_denominator    k                k       k           k           k
negative_grade   unjudged_in_file refuse  refuse      refuse      unjudged
"""


def test_the_five_named_protocols_are_the_declared_table() -> None:
    """rankwork, article, handbook, java and trec, field by field."""
    assert NAMES == ("rankwork", "article", "handbook", "java", "trec")
    for line in TABLE.split("\n")[1:-1]:
        field, *values = line.split()
        assert [str(getattr(Protocol.named(name), field)) for name in NAMES] == values


def test_the_table_above_names_every_field() -> None:
    fields = {line.split()[0] for line in TABLE.strip().split("\n")}
    assert fields | {"name"} == Protocol().to_dict().keys()


def test_an_unknown_name_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ContractError, match="one of rankwork, article, handbook, java, trec, got 'treck'"):
        Protocol.named("treck")


def test_a_changed_protocol_says_that_it_was_changed() -> None:
    changed = Protocol.named("trec").replace(order="id_asc").replace(no_relevant="undefined")
    assert changed.name == "trec, changed"
    assert (changed.order, changed.no_relevant, changed.missing_query) == ("id_asc", "undefined", "left_out")
    assert Protocol().replace(name="ours", order="input").name == "ours"


def test_an_unknown_field_or_value_is_refused() -> None:
    with pytest.raises(ContractError, match="there is no 'ties'"):
        Protocol().replace(ties="id_asc")
    with pytest.raises(ContractError, match=r"protocol field order must be one of 'id_asc'.*, got 'random'"):
        Protocol(order="random")
    with pytest.raises(ContractError, match="relevant_from must be one of 1, 'positive', 'set', got True"):
        Protocol(relevant_from=True)


def test_a_protocol_cannot_be_changed_in_place() -> None:
    with pytest.raises(FrozenInstanceError):
        Protocol().order = "input"  # type: ignore[misc]
