"""A recorded value keeps its exact bits, or is refused."""

import base64
from collections import OrderedDict
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch

from rankwork.digest import canonical_json
from rankwork.errors import EvidenceError
from rankwork.evidence import recording
from rankwork.evidence.recording import encode, ranked_list, record
from rankwork.measures.auditing import audit
from rankwork.rankings import Judgements, Rankings


@dataclass
class Point:
    x: int
    y: Fraction


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0.1, 0.1),
        (float("nan"), {"kind": "float", "value": "nan"}),
        (float("-inf"), {"kind": "float", "value": "-inf"}),
        (2**80, 2**80),
        (None, None),
        (True, True),
        (np.float64(0.5), 0.5),
        (np.int64(3), 3),
        (np.bool_(True), True),
        ((1, [2.5]), [1, [2.5]]),
        ({"b", "a"}, {"kind": "set", "items": ["a", "b"]}),
        (OrderedDict(a=Fraction(1, 3)), {"a": {"kind": "fraction", "value": "1/3"}}),
        (Point(1, Fraction(2)), {"x": 1, "y": {"kind": "fraction", "value": "2"}}),
        (np.array(["a", "b"]), {"kind": "array", "dtype": "text", "shape": [2], "items": ["a", "b"]}),
    ],
)
def test_each_kind_of_value_has_one_form(value: Any, expected: Any) -> None:
    assert encode(value) == expected
    canonical_json(encode(value))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int8", "int64", "uint64", "bool"])
def test_an_array_comes_back_bit_for_bit(dtype: str) -> None:
    array = np.array([[0, 1], [1, 0]], dtype=dtype)
    form = encode(array)
    back = np.frombuffer(base64.b64decode(form["bits"]), form["dtype"]).reshape(form["shape"])
    assert back.dtype == array.dtype
    assert np.array_equal(back, array)


def test_byte_order_and_layout_do_not_change_an_array() -> None:
    array = np.arange(6, dtype=">f4").reshape(2, 3)
    assert encode(array) == encode(array.astype("<f4")) == encode(np.asfortranarray(array))


def test_special_floats_keep_their_bits() -> None:
    form = encode(np.array([np.nan, -0.0, np.inf]))
    assert base64.b64decode(form["bits"]) == np.array([np.nan, -0.0, np.inf]).tobytes()


def test_a_bfloat16_tensor_keeps_its_bits_and_name() -> None:
    form = encode(torch.tensor([1.0, 2.5], dtype=torch.bfloat16))
    assert form["dtype"] == "bfloat16"
    assert base64.b64decode(form["bits"]) == np.array([0x3F80, 0x4020], dtype="<u2").tobytes()


def test_a_table_keeps_columns_in_order_and_missing_values() -> None:
    table = pd.DataFrame({"b": [1, 2], "a": ["x", None]})
    assert encode(table) == {"kind": "table", "columns": ["b", "a"], "data": {"b": [1, 2], "a": ["x", None]}}
    named = pd.Series([1.5], index=pd.Index(["q1"], name="query"), name="value")
    assert encode(named)["data"] == {"query": ["q1"], "value": [1.5]}


@pytest.mark.parametrize("value", [object(), {1: 2}, 1j, np.array([1j]), np.datetime64("2026-01-01")])
def test_a_value_without_an_exact_form_is_refused_by_name(value: Any) -> None:
    with pytest.raises(EvidenceError, match="result 'odd'"):
        encode(value, "odd")


def test_a_table_with_two_columns_of_one_name_is_refused() -> None:
    """One of them would be lost."""
    with pytest.raises(EvidenceError, match="result 't': two columns of a table are named 'a'"):
        encode(pd.DataFrame([[1, 2]], columns=["a", "a"]), "t")


@pytest.mark.parametrize("name", ["", 3, None])
def test_a_name_that_is_no_text_is_refused(name: Any) -> None:
    with pytest.raises(EvidenceError, match="a result's name must be text"):
        record(name, 1)


def test_a_ranked_list_says_what_took_part_whatever_the_arrival() -> None:
    rows = [("A", 9.0), ("C", 8.0), ("B", 8.0), ("D", 7.0)]
    one, other = ranked_list(rows, 2), ranked_list(rows[::-1], 2)
    assert one == other
    assert (one.ids, one.scores, one.candidates) == (("A", "B"), (9.0, 8.0), 4)
    assert ranked_list([*rows[:-1], ("D", 7.5)], 2).candidates_digest != one.candidates_digest
    assert encode(one)["scores"]["dtype"] == "float64"


def test_a_ranked_list_keeps_its_secondary_keys() -> None:
    found = ranked_list([("A", 1, 5), ("B", 1, 7)], 1, keys=("views",))
    assert (found.ids, found.keys) == (("B",), ("views",))


def test_the_digest_of_results_leaves_out_what_is_measured_and_ignores_order() -> None:
    a = {"name": "a", "measured": False, "value": 1}
    b = {"name": "b", "measured": False, "value": 2}
    timed = {"name": "t", "measured": True, "value": 0.3}
    assert recording.results_digest({"a": a, "b": b}) == recording.results_digest({"b": b, "t": timed, "a": a})
    assert recording.results_digest({"a": a}) != recording.results_digest({"a": a | {"value": 1.0}})


def test_a_run_is_recorded_whole_and_its_judgements_by_version() -> None:
    run = Rankings.from_dicts({"q": {"b": 1.0, "a": 1.0}, "p": {"c": 0.5}})
    form = encode(run)
    assert (form["queries"], form["lengths"], form["ids"]) == (["q", "p"], [2, 1], ["b", "a", "c"])
    assert base64.b64decode(form["scores"]["bits"]) == np.array([1.0, 1.0, 0.5]).tobytes()
    one = encode(Judgements.from_dicts({"q": {"a": 1, "b": 0}}))
    assert one == encode(Judgements.from_dicts({"q": {"b": 0, "a": 1}}))
    assert one != encode(Judgements.from_dicts({"q": {"a": 2, "b": 0}}))


def test_an_audit_is_recorded_as_its_json() -> None:
    found = audit({"q": {"a": 1.0, "b": 1.0}}, {"q": {"a": 1}}, ["R@1"])
    assert encode(found)["measures"]["R@1"]["expected"] == 0.5
