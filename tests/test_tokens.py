"""Keyed digests: equal texts stay equal, and no text of a recorded value is left."""

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankwork.errors import InputError
from rankwork.evidence import tokens
from rankwork.evidence.recording import encode, ranked_list, record
from rankwork.evidence.tokens import Tokens, hidden
from rankwork.measures.auditing import audit
from rankwork.rankings import Judgements, Rankings

UNDER_KEY = Tokens("a key of 16 or more")
RUN = {"query-1": {"document-1": 2.0, "document-2": 1.0, "document-3": 1.0}}
GRADES = {"query-1": {"document-1": 1, "document-3": 1}}

texts = st.text(min_size=3).filter(lambda text: text not in tokens._FIELDS)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner) | st.dictionaries(texts, inner) | st.sets(texts),
)


def all_texts(value: Any) -> set[str]:
    if isinstance(value, dict):
        return set().union(*({key} | all_texts(item) for key, item in value.items())) if value else set()
    if isinstance(value, list):
        return set().union(*map(all_texts, value)) if value else set()
    return {value} if isinstance(value, str) else set()


def all_numbers(value: Any) -> list[str]:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        return sorted(number for item in value for number in all_numbers(item))
    return [repr(value)] if isinstance(value, (int, float)) else []


@given(values)
def test_every_text_of_a_plain_value_is_replaced_and_every_number_stays(value: Any) -> None:
    form = encode(value)
    found = hidden(form, UNDER_KEY)
    assert all_texts(form) & all_texts(found) <= {"kind", "set", "items"}
    assert all_numbers(form) == all_numbers(found)


@pytest.mark.parametrize(
    "value",
    [
        {"kind": "fraction", "value": "document-1"},
        {"kind": "fraction", "value": "1/2", "document-1": 0},
        {"kind": "ranking", "policy": "document-1"},
        {"kind": "audit", "document-1": "document-2"},
        {"kind": "document-1"},
        {"kind": ["document-1"]},
    ],
)
def test_a_mapping_that_only_looks_like_a_kind_of_ours_is_hidden_like_any_other(value: Any) -> None:
    assert "document" not in json.dumps(hidden(value, UNDER_KEY))


@pytest.mark.parametrize(
    "value",
    [
        ranked_list(RUN["query-1"], 2),
        Rankings.from_dicts(RUN),
        Judgements.from_dicts(GRADES),
        audit(RUN, GRADES, ["R@2"]),
        pd.DataFrame({"document-1": ["query-1"], "n": [1]}),
        pd.Series({"query-1": 0.5}, name="document-1"),
        np.array(["document-1", "query-1"]),
        {"query-1": {"min": 0.5, "max": 1.0}},
    ],
    ids=lambda value: type(value).__name__,
)
def test_no_id_is_left_in_any_kind_of_value(value: Any) -> None:
    text = json.dumps(hidden(encode(value), UNDER_KEY))
    assert "query-1" not in text
    assert "document-" not in text


def test_a_selection_keeps_its_settings_and_scores_and_equal_ids_stay_equal() -> None:
    form = encode(ranked_list(RUN["query-1"], 2))
    found = hidden(form, UNDER_KEY)
    assert found["ids"] == [UNDER_KEY.of("document-1"), UNDER_KEY.of("document-2")]
    assert found["candidates_digest"] == UNDER_KEY.of(form["candidates_digest"])
    for name in ("kind", "k", "policy", "keys", "candidates", "scores"):
        assert found[name] == form[name]


def test_ids_that_are_numbers_are_replaced_in_a_ranking() -> None:
    assert hidden(encode(ranked_list({7: 1.0}, 1)), UNDER_KEY)["ids"] == [UNDER_KEY.of(7)]


def test_an_audit_keeps_its_measures_and_numbers() -> None:
    form = encode(audit(RUN, GRADES, ["R@2"]))
    found = hidden(form, UNDER_KEY)
    assert found["measures"] == form["measures"]
    assert found["per_query"] == {UNDER_KEY.of("query-1"): form["per_query"]["query-1"]}


def test_the_name_of_a_key_is_not_the_key_and_tells_keys_apart() -> None:
    assert UNDER_KEY.name == Tokens("a key of 16 or more").name != Tokens("another key of 16").name
    assert UNDER_KEY.key not in UNDER_KEY.name


def test_a_value_is_recorded_under_the_key_of_the_environment(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(tokens.MODE, "digest")
    monkeypatch.setenv(tokens.KEY, UNDER_KEY.key)
    record("secret value", "document-1")
    assert capsys.readouterr().out == "secret value is kept as keyed digests\n"
    monkeypatch.delenv(tokens.KEY)
    with pytest.raises(InputError, match="needs a key of 16 or more characters"):
        record("secret value", "document-1")
