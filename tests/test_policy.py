"""A policy is strict: whatever it could be misread as is refused, with file, line and field."""

import re
from pathlib import Path

import pytest

from rankwork.decision.policy import Policy, read_policy, shipped
from rankwork.errors import ContractError, InputError
from tests.gates import HEAD, RULE, policy

EXAMPLE = shipped("example")


def test_the_example_is_a_policy_with_every_section() -> None:
    found = read_policy(EXAMPLE)
    assert set(Policy.model_fields) - found.model_fields_set == {"cases", "resamples", "seed"}
    assert found.rules[0].name == "nDCG@10 of fuse"
    assert "role=*" in found.rules[0].slices


def test_a_policy_that_is_not_shipped_is_refused_with_those_that_are() -> None:
    for name in ("missing", "../policies/example"):
        with pytest.raises(ContractError, match="is shipped; there are docstrings, docstrings_dense, example"):
            shipped(name)


def test_no_threshold_is_built_in(tmp_path: Path) -> None:
    """What is not declared is absent, not a usual value."""
    found = policy(tmp_path, "rules: [{measure: RR@10}]\n")
    assert (found.rules[0].margin, found.events, found.latency, found.cost) == (None, (), (), None)
    assert (found.refusals.false_answers, found.refusals.false_refusals) == (None, None)
    for line in HEAD.splitlines()[:3]:
        with pytest.raises(InputError, match=rf"\({line.split(':')[0]}\): is missing"):
            policy(tmp_path, "rules: [{measure: RR@10}]\n", head=HEAD.replace(line + "\n", ""))


def test_measures_know_which_way_is_better_and_how_much_can_be_lost(tmp_path: Path) -> None:
    own = "{measure: mine, better: lower}"
    text = f"rules: [{{measure: RR@10}}, {{measure: latency_ms}}, {{measure: answers_as_expected}}, {own}]"
    found = {rule.measure: (rule.sign, rule.drop, rule.reviewed) for rule in policy(tmp_path, text).rules}
    assert found == {
        "RR@10": (1, 1.0, True),
        "latency_ms": (-1, None, False),
        "answers_as_expected": (1, 1.0, True),
        "mine": (-1, None, True),
    }


def test_a_place_is_the_line_of_the_part_or_of_what_holds_it(tmp_path: Path) -> None:
    found = policy(tmp_path, "rules:\n  - measure: RR@10\n    margin: 0.1\n  - measure: AP\n")
    assert found.place("rules", 0, "margin") == "policy.yaml line 7 (rules.0.margin)"
    assert found.place("rules", 1, "slices", 0) == "policy.yaml line 8 (rules.1.slices.0)"
    assert Policy(name="p", alpha=0.1, minimum_clusters=1, rules=found.rules).place("rules") == "policy 'p' (rules)"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("rules: [{measure: nDGC@10}]", "policy.yaml line 5 (rules.0): measure 'nDGC@10' is not known"),
        ("rules: [{measure: nDGC@10}]", "did you mean nDCG? A measure of your own needs `better: higher`"),
        ("rules: [{measure: faithfullness}]", "measure 'faithfullness' is not known; did you mean faithfulness?"),
        ("rules: [{measure: xyzzy}]", "measure 'xyzzy' is not known; there are AP, Bpref, ERR, Evidence"),
        ("rules: [{measure: EvidenceComplete}]", "EvidenceComplete needs a cutoff of at least 1, such as"),
        ("rules: [{measure: EvidenceCoverage@0}]", "such as EvidenceCoverage@10, got 'EvidenceCoverage@0'"),
        ("rules: &a [*a]", "policy.yaml: an anchor (&) stands inside itself, or parts nest too deep"),
        ("rules: [{measure: R@0}]", "(rules.0): measure 'R@0': k must be at least 1, got 0"),
        ("rules: [{measure: latency_ms, better: higher}]", "(rules.0): of 'latency_ms', lower is better"),
        ("rules:\n  - {measure: AP}\n  - {measure: AP, margin: 0.1}", "line 5 (rules): there are two rules for AP"),
        ("rules: [{measure: AP, margin: 1e-5}]", "got '1e-5'; YAML reads 1e-5 as text: write it with a point"),
        ("rules: [{measure: AP, margin: '0.1'}]", "(rules.0.margin): input should be a valid number, got '0.1'"),
        ("rules: [{measure: AP, margin: 0}]", "(rules.0.margin): input should be greater than 0, got 0"),
        ("rules: [{measure: AP, margin: .nan}]", "(rules.0.margin): input should be a finite number"),
        ("rules: [{measure: AP, margni: 0.1}]", "(rules.0.margni): is not known"),
        ("rules: [{measure: AP, required: yes please}]", "(rules.0.required): input should be a valid boolean"),
        ("rules: [{measure: AP, slices: []}]", "(rules.0.slices): tuple should have at least 1 item"),
        ("rules: [{measure: AP, slices: all}]", "(rules.0.slices): input should be a valid array, got 'all'"),
        ("rules: [{measure: 3}]", "(rules.0.measure): input should be a valid string, got 3"),
        ("events: [leak]", "policy.yaml line 5 (events.0): event 'leak' is not known; there are unauthorised"),
        ("refusals: {false_answers: {at_most: 5}}", "(refusals.false_answers.at_most): input should be less than"),
        ("latency: [{quantile: 99, at_most_ms: 5}]", "(latency.0.quantile): input should be less than 1, got 99"),
        ("cost: {at_most: 1}", "policy.yaml line 5 (cost.currency): is missing"),
        ("seed: 1", "policy.yaml line 1: nothing is checked"),
        ("alpha: 0.1\nevents: [unauthorised]", "policy.yaml line 5: 'alpha' stands twice"),
        ("rules: [{measure: AP", "not YAML: expected ',' or '}'"),
        (
            "events: [unauthorised]\nrollout: {shadow: {requests: 3}, small_share: {share: 0.1, requests: 3}, "
            "confidence: 0.9, rollback: [{of: slow, at_most: 0.1, window: 5}]}",
            "(rollout.rollback.0): slow_ms belongs to `of: slow`",
        ),
    ],
)
def test_what_could_be_misread_is_refused_with_its_place(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        policy(tmp_path, text)


@pytest.mark.parametrize("text", ["", "- a\n- b\n", "just text"])
def test_a_file_that_holds_no_mapping_is_no_policy(text: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="a policy is a mapping"):
        policy(tmp_path, text, head="")


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"missing\.yaml cannot be read: No such file"):
        read_policy(tmp_path / "missing.yaml")
    (tmp_path / "bytes.yaml").write_bytes(b"name: \xff")
    with pytest.raises(InputError, match=r"bytes\.yaml cannot be read"):
        read_policy(tmp_path / "bytes.yaml")


def test_yaml_cannot_make_objects(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"policy.yaml line 6: not YAML: could not determine a constructor"):
        policy(tmp_path, f"rules: [{RULE}]\nname2: !!python/object/apply:os.getcwd []\n")
