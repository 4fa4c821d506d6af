"""Two records are compared from their evidence alone, and whatever differs between them is found and named."""

import base64
import json
import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from rankwork.contract import comparison
from rankwork.errors import EvidenceError
from rankwork.evidence import agreement, comparing, manifest
from rankwork.evidence.comparing import compare
from rankwork.evidence.findings import Findings, compare_results
from rankwork.evidence.layers import compare_lists
from rankwork.evidence.recorded import RecordedList
from rankwork.evidence.recording import encode, ranked_list
from rankwork.measures.auditing import audit
from rankwork.rankings import Judgements, Rankings
from tests.rewriting import load, rewritten, sealed, shown

Copy = Callable[[], Path]

PNG, OTHER_PNG = (base64.b64encode(b"\x89PNG " + content).decode() for content in (b"one", b"two"))


def run(**scores: Mapping[str, float]) -> Rankings:
    return Rankings.from_dicts({query: dict(rows) for query, rows in scores.items()})


def many(changed: int = 0) -> Rankings:
    """Twenty lists of three; in the first `changed` of them another document fills the tied last place."""
    return run(
        **{f"q{n}": {"A": 9.0, "B": 8.0, "D" if n < changed else "C": 8.0} for n in range(20)},
    )


def found(a: Any, b: Any, *, elsewhere: bool = False) -> Findings:
    """What is found between two recorded values."""
    return compare_results(result(encode(a)), result(encode(b)), elsewhere)


def result(form: Any) -> dict[str, Any]:
    """A results file of one encoded value."""
    return {"x": {"name": "x", "measured": False, "value": form}}


def after(number: float) -> float:
    return math.nextafter(number, math.inf)


TABLE = pd.DataFrame({"name": ["a", "b"], "value": [0.5, 1.5]})
JUDGED = {"q": {"A": 1, "B": 0}}
LIST = {"q": {"A": 9.0, "B": 8.0, "C": 8.0}}


def audited(grade: int) -> Any:
    return audit(Rankings.from_dicts(LIST), Judgements.from_dicts({"q": {"A": 1, "C": grade}}), ["R@2"])


CHANGES = {
    "an integer": (3, 4),
    "an integer that became a float": (3, 3.0),
    "truth": (True, False),
    "truth that became a number": (True, 1),
    "text": ("a", "b"),
    "nothing that became zero": (None, 0),
    "the last bit of a float": (0.1, after(0.1)),
    "the sign of a zero": (0.0, -0.0),
    "a fraction": (Fraction(1, 3), Fraction(1, 2)),
    "an infinity": (math.inf, -math.inf),
    "a number that became NaN": (1.0, math.nan),
    "an item of a list": ([1, 2, 3], [1, 2, 4]),
    "the length of a list": ([1, 2], [1, 2, 3]),
    "a key": ({"a": 1}, {"b": 1}),
    "a value deep inside": ({"a": [{"b": 0.5}]}, {"a": [{"b": 0.25}]}),
    "an item of a set": ({"a", "b"}, {"a", "c"}),
    "one bit of an array": (np.array([1, 2], np.float32), np.nextafter(np.array([1, 2], np.float32), np.float32(9))),
    "an integer of an array": (np.array([1, 2], np.int8), np.array([1, 3], np.int8)),
    "the dtype of an array": (np.array([1], np.float32), np.array([1], np.float64)),
    "the shape of an array": (np.zeros((2, 3)), np.zeros((3, 2))),
    "the sign of a zero in an array": (np.array([0.0]), np.array([-0.0])),
    "NaN in an array": (np.array([1.0, 2.0]), np.array([1.0, math.nan])),
    "an infinity in an array": (np.array([1.0, 2.0]), np.array([math.inf, 2.0])),
    "a bit of a bfloat16 tensor": (torch.tensor([1.0]).bfloat16(), torch.tensor([1.0078125]).bfloat16()),
    "a text of an array": (np.array(["a", "b"]), np.array(["a", "c"])),
    "the kind of a value": (np.array([1.0]), [1.0]),
    "a cell of a table": (TABLE, TABLE.assign(value=[0.5, after(1.5)])),
    "a text in a table": (TABLE, TABLE.assign(name=["a", "c"])),
    "a column of a table": (TABLE, TABLE.assign(more=1)),
    "the order of columns": (TABLE, TABLE[["value", "name"]]),
    "a row of a table": (TABLE, TABLE.head(1)),
    "a selected document": (ranked_list({"A": 2.0, "B": 1.0}, 2), ranked_list({"A": 2.0, "C": 1.0}, 2)),
    "the last bit of a selected score": (ranked_list({"A": 2.0}, 1), ranked_list({"A": after(2.0)}, 1)),
    "a candidate that was not selected": (
        ranked_list({"A": 2.0, "B": 1.0}, 1),
        ranked_list({"A": 2.0, "B": 1.5}, 1),
    ),
    "k": (ranked_list({"A": 2.0}, 1), ranked_list({"A": 2.0}, 0)),
    "the policy": (ranked_list({"A": 2.0}, 1), ranked_list({"A": 2.0}, 1, policy="inclusive")),
    "the dtype of scores": (ranked_list({"A": 2}, 1), ranked_list({"A": 2.0}, 1)),
    "the kind of an ID": (ranked_list({"1": 2.0}, 1), ranked_list({1: 2.0}, 1)),
    "a document of a run": (many(0), many(1)),
    "a query of a run": (run(q1={"A": 1.0}, q2={"A": 1.0}), run(q1={"A": 1.0})),
    "the order of a run": (run(q={"A": 1.0, "B": 1.0}), run(q={"B": 1.0, "A": 1.0})),
    "the length of a list of a run": (run(q={"A": 1.0, "B": 1.0}), run(q={"A": 1.0})),
    "a run inside a mapping": ({"cpu": many(0)}, {"cpu": many(1)}),
    "a grade": (Judgements.from_dicts(JUDGED), Judgements.from_dicts({"q": {"A": 1, "B": 1}})),
    "a judgement behind an audit": (audited(1), audited(0)),
}


@pytest.mark.parametrize(("a", "b"), CHANGES.values(), ids=CHANGES.keys())
def test_every_kind_of_change_is_noticed_in_the_same_environment(a: Any, b: Any) -> None:
    """One element differs, and the comparison is not the same; nothing differs, and it is."""
    for one, two in ((a, b), (b, a)):
        noticed = found(one, two)
        assert not noticed.agree
        assert all(difference.where.startswith("x") for difference in noticed.differences)
    assert found(a, a).differences == []
    assert found(b, b, elsewhere=True).differences == []


ALLOWED_ELSEWHERE = {
    "the last bit of a float",
    "an integer that became a float",
    "the sign of a zero",
    "one bit of an array",
    "the sign of a zero in an array",
    "a bit of a bfloat16 tensor",
    "a cell of a table",
    "the last bit of a selected score",
    "a candidate that was not selected",
    "the order of a run",
}


@pytest.mark.parametrize(("name", "pair"), CHANGES.items(), ids=CHANGES.keys())
def test_another_environment_may_change_what_its_rules_allow_and_nothing_else(name: str, pair: tuple[Any, Any]) -> None:
    noticed = found(*pair, elsewhere=True)
    assert noticed.differences
    assert noticed.agree is (name in ALLOWED_ELSEWHERE)


@pytest.mark.parametrize(
    ("a", "within", "beyond"),
    [
        (0.5, 0.5 + 9e-13, 0.5 + 2e-12),
        (1e6, 1e6 + 9e-7, 1e6 + 2e-6),
        (np.array([1, 4], np.float32), np.array([1, 4 + 2.4e-4], np.float32), np.array([1, 4 + 2.6e-4], np.float32)),
        (np.array([-4, 1], np.float64), np.array([-4, 1 + 4e-13], np.float64), np.array([-4, 1 + 5e-13], np.float64)),
        (np.array([1, 1], np.float16), np.array([1, 1 + 2**-10], np.float16), np.array([1, 1 + 2**-9], np.float16)),
        (np.array([5], np.int64), np.array([5], np.int64), np.array([6], np.int64)),
        (run(q={"A": 8.0}), run(q={"A": 8.0 + 9e-13}), run(q={"A": 8.0 + 1e-12})),
    ],
)
def test_a_tolerance_ends_where_its_rule_says(a: Any, within: Any, beyond: Any) -> None:
    assert found(a, within, elsewhere=True).agree
    assert not found(a, beyond, elsewhere=True).agree


def test_scores_within_tolerance_do_not_excuse_another_member() -> None:
    a, b = run(q={"A": 9.0, "B": 8.0}), run(q={"A": 9.0, "C": after(8.0)})
    assert not found(a, b, elsewhere=True).agree


def test_a_result_that_only_one_record_has_is_noticed() -> None:
    entry = {"name": "x", "measured": False, "value": 1}
    for a, b in (({"x": entry}, {}), ({}, {"x": entry})):
        assert not compare_results(a, b, elsewhere=True).agree


def test_measured_values_are_named_and_not_compared_unless_only_one_is_measured() -> None:
    def timed(value: float, measured: bool) -> dict[str, Any]:
        return {"seconds": {"name": "seconds", "measured": measured, "value": value}}

    both = compare_results(timed(1.0, True), timed(2.0, True), elsewhere=False)
    assert (both.agree, both.differences, both.measured) == (True, [], ["seconds"])
    assert not compare_results(timed(1.0, True), timed(1.0, False), elsewhere=True).agree


@pytest.mark.parametrize(
    "damage",
    [
        {"lengths": [2]},
        {"queries": []},
        {"ids": ["A"]},
        {"ids": None},
        {"scores": {"dtype": "float64", "bits": "AAAA"}},
        {"scores": {"dtype": "nonsense", "shape": [3], "bits": ""}},
        {"scores": None},
    ],
)
def test_a_ranking_that_does_not_fit_together_is_refused(damage: dict[str, Any]) -> None:
    form = encode(run(**LIST))
    with pytest.raises(EvidenceError, match="'x'"):
        compare_results(result(form), result({**form, **damage}), elsewhere=False)


rows = st.lists(
    st.tuples(st.sampled_from("ABCDEF"), st.sampled_from([0.0, 1.0, 2.0])), unique_by=lambda row: row[0], max_size=5
).map(lambda items: sorted(items, key=lambda row: -row[1]))


@given(rows, rows)
def test_the_three_layers_are_those_of_the_contract(a: list[Any], b: list[Any]) -> None:
    """Against `rankwork.compare`, which knows lists with unique IDs and finite scores."""
    expected = comparison.compare(a, b)
    lists = [RecordedList(tuple(r[0] for r in each), np.array([r[1] for r in each]), "float64") for each in (a, b)]
    layers = compare_lists(*lists)
    assert (layers.scores == "bits") == expected.scores_same
    assert (layers.members_same, layers.order_same) == (expected.members_same, expected.order_same)
    assert (layers.first, layers.at_cut, bool(layers)) == (expected.first_difference, expected.at_cut, bool(expected))


def elsewhere(folder: Path, **versions: str) -> dict[str, Any]:
    """Manifest fields of a machine with other versions and a GPU."""
    kept = load(folder / "manifest.json")
    recipe, environment = kept["recipe"], kept["environment"]
    recipe["versions"] |= versions
    environment["versions"] |= versions
    recipe["device"] = environment["device"] = "cuda"
    return {"recipe": recipe, "environment": environment}


def test_a_record_and_its_copy_are_the_same(complete_record: Path, record_copy: Copy) -> None:
    same = compare(complete_record, record_copy().rename(complete_record.parent / "copy"))
    assert same
    assert same.first is None
    assert same.diagnosis == (
        "same scores bit for bit in 1 list; same members; same order; all 5 values the same; same environment"
    )
    assert same.to_json()["compared"] == {
        "lists": 1, "cells": 0, "values": 5, "figures": 0, "not_compared": ["seconds"]
    }  # fmt: skip


def test_the_diagnosis_names_layers_counts_the_cut_and_the_environment(record_copy: Copy) -> None:
    a = rewritten(record_copy(), {"run": many()})
    b = record_copy()
    b = rewritten(b, {"run": many(changed=3)}, **elsewhere(b, torch="2.99"))
    different = compare(a, b)
    assert not different
    assert different.diagnosis == (
        "same scores bit for bit in 21 lists; members differ in 3 of 21 lists, each time inside the tie group at the "
        "cut; same order where the members are the same; all 6 values the same; "
        "environment differs in torch and device"
    )
    assert compare(a, rewritten(record_copy(), {"run": many(3)})).first == different.first, "no digest comes before it"
    assert different.first == (
        "run[q0]: C with 8.0 at position 2 against D with 8.0 at position 2 "
        "(same scores, other members inside the tie group at the cut)"
    )


def test_a_member_above_the_cut_is_told_from_one_at_it(record_copy: Copy) -> None:
    a = rewritten(record_copy(), {"run": run(q={"A": 9.0, "B": 8.0}, r={"A": 9.0, "B": 8.0})})
    b = rewritten(record_copy(), {"run": run(q={"Z": 9.0, "B": 8.0}, r={"A": 9.0, "Z": 8.0})})
    assert "members differ in 2 of 3 lists, 1 of them inside the tie group at the cut" in compare(a, b).diagnosis


def test_other_candidates_behind_the_same_list_are_told(record_copy: Copy) -> None:
    """The selected documents agree bit for bit; what they were selected from does not."""
    a = rewritten(record_copy(), {"selected": ranked_list({"A": 2.0, "B": 1.0}, 1)})
    b = rewritten(record_copy(), {"selected": ranked_list({"A": 2.0, "B": 1.5}, 1)})
    assert "same members; same order; other candidates behind selected" in compare(a, b).diagnosis
    assert not compare(a, b)


def test_another_result_is_counted_and_the_first_is_named(record_copy: Copy) -> None:
    a = rewritten(record_copy(), {"recall": {"min": 0.25, "max": 0.5}, "table": TABLE})
    b = rewritten(record_copy(), {"recall": {"min": 0.25, "max": 0.75}, "table": TABLE.assign(value=[0.5, 2.5])})
    different = compare(a, b)
    assert different.first == "recall.max: 0.5 against 0.75"
    assert "1 of 7 values differs, first recall.max: 0.5 against 0.75" in different.diagnosis
    assert "1 of 4 table cells differs, first table[value, row 1]: 1.5 against 2.5" in different.diagnosis


def test_figures_are_compared_by_their_bytes(record_copy: Copy) -> None:
    def figure(content: str) -> dict[str, Any]:
        return {"output_type": "display_data", "metadata": {}, "data": {"image/png": content, "text/plain": "Figure"}}

    a, b = shown(record_copy(), figure(PNG)), shown(record_copy(), figure(OTHER_PNG))
    assert compare(a, a).diagnosis.endswith("the figure the same; same environment")
    assert not compare(a, b)
    assert "1 of 1 figure differs" in compare(a, b).diagnosis
    assert not compare(a, record_copy()), "a figure that is missing"
    other = sealed(b, **elsewhere(b))
    assert compare(a, other), "another environment may draw other pixels"
    assert "1 of 1 figure differs" in compare(a, other).diagnosis
    assert not compare(other, record_copy()), "a figure that is missing is required everywhere"


def test_other_shown_text_is_told_and_decides_nothing(record_copy: Copy) -> None:
    other = compare(record_copy(), shown(record_copy(), {"output_type": "stream", "name": "stdout", "text": "more"}))
    assert other
    assert "other text is shown in cell 2" in other.diagnosis


@pytest.mark.parametrize("field", [field for field in manifest.FIELDS if field.comparison != "by part"])
def test_each_field_of_a_manifest_is_compared_as_it_declares(record_copy: Copy, field: manifest.Field) -> None:
    a, b = record_copy(), record_copy()
    kept = load(b / "manifest.json")[field.name]
    changed: Any = {"id": "other"} if isinstance(kept, dict) else f"{kept}x" if isinstance(kept, str) else [kept]
    if field.name == "reason":
        changed = {"type": "E", "message": "m", "cell": 1}
    result = compare(a, sealed(b, **{field.name: changed}))
    undamaged = result.b.damage is None
    named = field.name in [each.where for each in (*result.asked, *result.deciding, *result.informative)]
    assert named is (field.comparison != "ignored")
    if undamaged:
        assert bool(result) is (field.comparison != "exact")


@pytest.mark.parametrize(
    ("part", "value", "decides", "clause"),
    [
        ("parameters", {"k": 4, "name": ""}, True, "another question: parameters.k: 3 against 4"),
        ("inputs", {"inputs/a": "0" * 64}, True, "another question: inputs.inputs/a: null against 000"),
        ("library", "0" * 64, False, "asked with another library"),
        ("source", "0" * 64, False, "asked with another source"),
    ],
)
def test_each_part_of_the_question_is_named(
    record_copy: Copy, part: str, value: Any, decides: bool, clause: str
) -> None:
    b = record_copy()
    recipe = load(b / "manifest.json")["recipe"] | {part: value}
    result = compare(record_copy(), sealed(b, recipe=recipe))
    assert clause in result.diagnosis
    assert bool(result.deciding) is decides


@pytest.mark.parametrize(
    ("path", "name", "another"),
    [
        (("versions", "numpy"), "numpy", True),
        (("machine", "processor"), "processor", True),
        (("device_name",), "device_name", True),
        (("versions", "papermill"), "papermill", False),
        (("machine", "cores"), "cores", False),
        (("threads", "torch"), "threads.torch", False),
        (("determinism", "PYTHONHASHSEED"), "determinism.PYTHONHASHSEED", False),
    ],
)
def test_what_makes_another_environment(record_copy: Copy, path: tuple[str, ...], name: str, another: bool) -> None:
    """Numbers may depend on libraries, device and processor; tools, threads and seeds excuse no difference."""
    b = record_copy()
    kept = load(b / "manifest.json")
    place: Any = kept["environment"]
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = "other"
    if path[0] == "versions" and path[1] in kept["recipe"]["versions"]:
        kept["recipe"]["versions"][path[1]] = "other"
    result = compare(record_copy(), sealed(b, environment=kept["environment"], recipe=kept["recipe"]))
    assert f"environment differs in {name}" in result.diagnosis
    assert result.found.elsewhere is another


def test_a_damaged_record_is_never_the_same(record_copy: Copy) -> None:
    damaged = record_copy()
    (damaged / "report.html").write_text("")
    result = compare(record_copy(), damaged)
    assert not result
    assert result.diagnosis.startswith("B is not what its execution left (report.html: its bytes are not those")


def test_records_that_are_not_complete_say_so(record_copy: Copy) -> None:
    reason: dict[str, Any] = {"type": "E", "message": "m", "cell": 1}
    failed = sealed(record_copy(), status="failed", reason=reason)
    assert "A is complete and B is failed" in compare(record_copy(), failed).diagnosis
    assert not compare(record_copy(), failed)


@pytest.mark.parametrize("content", ["{}", "[]", "3", '{"recipe": 1}', "nonsense", None])
def test_what_is_no_record_is_refused(record_copy: Copy, content: str | None) -> None:
    broken = record_copy()
    if content is None:
        (broken / "results.json").unlink()
    else:
        (broken / "manifest.json").write_text(content)
    with pytest.raises(EvidenceError):
        compare(record_copy(), broken)


def test_a_comparison_is_json_throughout(record_copy: Copy) -> None:
    a, b = rewritten(record_copy(), {"run": many()}), rewritten(record_copy(), {"run": many(3)})
    facts = json.loads(json.dumps(compare(a, b).to_json(), allow_nan=False))
    assert facts["same"] is False
    lists = [each for each in facts["came_out"] if "layers" in each]
    assert [each["where"] for each in lists] == ["run[q0]", "run[q1]", "run[q2]"]
    assert lists[0]["layers"]["at_cut"] is True


def test_the_rules_have_reasons_and_stand_in_the_readme() -> None:
    readme = (Path(__file__).parents[1] / "README.md").read_text()
    assert agreement.table() in readme
    assert all(rule.reason for rule in agreement.RULES)


def test_a_figure_of_a_cell_that_shows_what_was_measured_is_not_compared() -> None:
    """Times never repeat, and neither does a picture of them; a picture of anything else is compared as ever."""
    output = {"output_type": "display_data", "metadata": {}, "data": {"image/png": "AAAA"}}
    cells = [{"metadata": {"tags": tags}, "outputs": [output]} for tags in (["measured"], [])]
    side = SimpleNamespace(notebook={"cells": cells})
    assert [picture.cell for picture in comparing._comparable_pictures(side)] == [1]  # type: ignore[arg-type]
