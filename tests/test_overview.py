"""A report read by question says what is in it: how deep a change goes, what failed, what was not run, what varies."""

from copy import deepcopy
from typing import Any

import pytest

from rankwork.engines import engine, run_experiments
from rankwork.engines.base import Engine
from rankwork.engines.layers import LAYERS
from rankwork.engines.overview import (
    EXPERIMENTS,
    Observation,
    arrivals,
    beside_elsewhere,
    broken_rules,
    by_chance,
    by_experiment,
    lasting,
    not_repeated,
    observations,
    on_devices,
    promises,
    repetitions,
    who_ran,
)
from rankwork.engines.saved_scores import LEVELS, SIX
from rankwork.engines.settings import recast
from tests.engines_that_fail import BY_NAME, PROMISE, right

NAMES = ("right", "varies", "backwards", "dies", "fails_with_threads", "follows_length", "follows_device",
         "follows_variable")  # fmt: skip
ABSENT = Engine("absent", "absent", PROMISE, right, modules=("no_such_module_here",), install="pip install absent")


@pytest.fixture(scope="module")
def report() -> dict[str, Any]:
    chosen = [*(BY_NAME[name] for name in NAMES), ABSENT, engine("numpy.argsort stable")]
    return run_experiments(chosen)


def seen(report: dict[str, Any], name: str, experiment: str, elsewhere: dict[str, Any] | None = None) -> Observation:
    (found,) = [
        each for each in observations(report, elsewhere) if (each.engine, each.experiment) == (name, experiment)
    ]
    return found


def test_every_engine_has_one_observation_for_every_experiment(report: dict[str, Any]) -> None:
    found = [(each.engine, each.experiment) for each in observations(report)]
    assert found == [(name, experiment) for name in report["engines"] for experiment in EXPERIMENTS]


def test_an_engine_that_keeps_the_contract_is_the_same_in_every_experiment_that_it_has(report: dict[str, Any]) -> None:
    states = {each.experiment: each.state for each in observations(report) if each.engine == "right"}
    assert {name for name, state in states.items() if state == "no such condition"} == {
        "device", "dtype", "process", "threads", "batch",
    }  # fmt: skip
    assert set(states.values()) == {"same", "no such condition"}


@pytest.mark.parametrize(
    ("name", "experiment", "state"),
    [
        ("varies", "again", "score sequence"),
        ("numpy.argsort stable", "again", "same"),
        ("numpy.argsort stable", "arrival", "member set"),
        ("follows_length", "padding", "score sequence"),
        ("follows_length", "n", "same"),
        ("follows_device", "device", "full order"),
        ("follows_variable", "process", "score sequence"),
        ("fails_with_threads", "threads", "failed"),
        ("dies", "again", "failed"),
        ("dies", "k", "failed"),
        ("absent", "arrival", "not run here"),
    ],
)
def test_the_state_is_the_deepest_layer_that_changed(
    report: dict[str, Any], name: str, experiment: str, state: str
) -> None:
    assert seen(report, name, experiment).state == state


def test_whatever_changes_changes_the_full_order_and_in_score_order_the_layers_are_nested(
    report: dict[str, Any],
) -> None:
    for each in observations(report):
        scores, members, order = (each.changed[layer] for layer in LAYERS)
        assert max(scores, members) <= order <= each.asked
        assert scores <= members or each.engine in ("varies", "follows_length", "follows_variable")


def test_a_question_without_an_answer_is_counted_apart_and_its_reason_kept(report: dict[str, Any]) -> None:
    found = seen(report, "fails_with_threads", "threads")
    assert (found.asked, found.failed, found.text) == (2, 1, "0/0/0 of 2, 1 failed")
    assert found.note == f"2 threads, {LEVELS}: ValueError: two are too many"
    assert seen(report, "dies", "arrival").note == "the process died of signal 6"
    assert seen(report, "absent", "n").note == "no_such_module_here not installed: pip install absent"


def test_an_arrival_that_is_not_repeated_counts_among_the_repetitions(report: dict[str, Any]) -> None:
    changed = deepcopy(report)
    changed["engines"]["right"]["outcome"]["rearranged"][SIX]["not repeated"]["full order"] = 7
    assert seen(report, "right", "again").text == "0/0/0 of 5"
    assert seen(changed, "right", "again").text == "0/0/1 of 5"
    assert by_chance(changed) - by_chance(report) == {"right"}


def test_formats_that_change_a_score_are_no_observation(report: dict[str, Any]) -> None:
    arms = [arm for arm in report["engines"]["numpy.argsort stable"]["outcome"]["settings"] if arm["kind"] == "dtype"]
    assert sum(map(recast, arms)) == 1
    assert seen(report, "numpy.argsort stable", "dtype").asked == len(arms) - 1


def test_what_may_depend_on_chance_is_what_varied_here_or_is_recorded_as_varying(report: dict[str, Any]) -> None:
    assert by_chance(report) == {"varies"}
    renamed = {**report, "engines": {"hnswlib": report["engines"]["right"]}}
    assert by_chance(renamed) == {"hnswlib"}
    assert by_chance({**report, "engines": {"hnswlib": report["engines"]["absent"]}}) == set()


def test_beside_itself_every_engine_is_the_same(report: dict[str, Any]) -> None:
    states = {each.engine: each.state for each in observations(report, report) if each.experiment == "elsewhere"}
    assert states.pop("absent") == "not run here"
    assert states.pop("dies") == "failed"
    assert set(states.values()) == {"same"}


def test_another_answer_elsewhere_shows_in_its_layer(report: dict[str, Any]) -> None:
    other = deepcopy(report)
    other["engines"]["right"]["outcome"]["answers"][SIX] = [0, 1, 3]
    arms = other["engines"]["right"]["outcome"]["settings"]
    next(arm for arm in arms if (arm["kind"], arm["scores"]) == ("padding", SIX))["answer"] = [0, 2, 1]
    assert seen(report, "right", "elsewhere", other).text == f"0/1/2 of {2 + len(arms)}"


def test_where_the_scores_or_the_engine_are_others_nothing_is_said(report: dict[str, Any]) -> None:
    other = deepcopy(report)
    assert seen(report, "right", "elsewhere", other).asked > 2
    other["scores"][SIX]["sha256"] = "0"
    assert 1 < seen(report, "right", "elsewhere", other).asked < seen(report, "right", "elsewhere", report).asked
    other["scores"][LEVELS]["sha256"] = "0"
    found = seen(report, "right", "elsewhere", other)
    assert (found.state, found.note) == ("not run here", "not run elsewhere: the scores differ")
    del other["engines"]["right"]
    assert seen(report, "right", "elsewhere", other).note == "not run elsewhere: not in the other report"
    assert seen(report, "varies", "elsewhere", {**other, "engines": report["engines"]}).state == "not run here"


def test_promises_stand_beside_the_smallest_input_that_breaks_them(report: dict[str, Any]) -> None:
    rows = {row["engine"]: row for row in promises(report)}
    assert set(rows) == set(report["engines"]) - {"dies", "absent"}
    assert (rows["right"]["kept"], rows["right"]["broken by"], rows["right"]["repeats"]) == ("kept", "-", "repeats")
    assert (rows["backwards"]["kept"], rows["backwards"]["broken by"]) == ("broken", "[0 0] 2 -> 1 0")
    assert rows["varies"]["repeats"] == "varies"
    silent = deepcopy(report)
    silent["engines"]["right"]["promise"]["tie_break"] = "none"
    assert {row["engine"]: row["kept"] for row in promises(silent)}["right"] == "none"


def test_each_broken_rule_is_a_row_with_both_answers(report: dict[str, Any]) -> None:
    rows = {(row["engine"], row["rule"]): row for row in broken_rules(report)}
    assert not [name for name, _ in rows if name == "right"]
    found = rows["backwards", "contract by position"]
    assert (found["input"], found["instead of"], found["n"]) == ("[0 0] 2 -> 1 0", "0 1", 2)
    assert rows["numpy.argsort stable", "any arrival"]["input"] == "[0 0] 1 -> 0"


def test_the_experiments_are_rows_with_a_column_for_each_layer(report: dict[str, Any]) -> None:
    again = {row["engine"]: row for row in repetitions(report)}
    assert [again["right"][layer] for layer in LAYERS] == [1, 1, 1]
    assert again["varies"]["full order"] > 1
    assert again["varies"]["arrivals not repeated"] > 0
    moved = {row["engine"]: row for row in arrivals(report)}
    assert [moved["right"][layer] for layer in LAYERS] == [1, 1, 1]
    assert (moved["right"]["sees IDs"], moved["right"]["right"], moved["right"]["right by position"]) == (
        True,
        720,
        120,
    )
    stable = moved["numpy.argsort stable"]
    assert [stable[layer] for layer in LAYERS] == [1, 3, 6]
    assert (stable["sees IDs"], stable["right"], stable["right by position"]) == (False, 120, 720)


def test_a_device_stands_beside_the_cpu_and_beside_the_contract(report: dict[str, Any]) -> None:
    rows = [row for row in on_devices(report) if row["engine"] == "follows_device"]
    assert [(row["device"], row["scores"], row["status"]) for row in rows] == [
        ("other", SIX, "run"), ("other", LEVELS, "run"),
    ]  # fmt: skip
    assert {row["beside the CPU's"] for row in rows} == {"same members, other order"}
    assert {row["beside the contract's"] for row in rows} == {"same members, other order"}


def test_a_device_that_is_not_here_is_named_with_the_reason() -> None:
    lacking = run_experiments([BY_NAME["lacks_device"]])
    rows = on_devices(lacking)
    assert {(row["status"], row["note"]) for row in rows} == {("not run here", "no other here")}
    found = seen(lacking, "lacks_device", "device")
    assert (found.state, found.note) == ("not run here", f"other, {SIX}: no other here")


def test_the_counts_stand_by_experiment_with_the_engines_that_ran(report: dict[str, Any]) -> None:
    table = by_experiment(observations(report))
    assert list(table) == list(EXPERIMENTS)
    assert all(list(texts) == list(table["again"]) for texts in table.values())
    assert "absent" not in table["again"]
    assert table["arrival"]["numpy.argsort stable"] == seen(report, "numpy.argsort stable", "arrival").text
    assert table["again"]["dies"] == "1 failed"
    assert table["device"]["right"] == ""


def test_what_may_depend_on_chance_is_not_kept_as_lasting(report: dict[str, Any]) -> None:
    rows = lasting(report)
    assert "varies" not in {row["engine"] for row in rows}
    assert {"right", "numpy.argsort stable"} <= {row["engine"] for row in rows}
    assert {row["experiment"] for row in rows} == set(EXPERIMENTS) - {"again", "device", "threads"}


def test_a_smallest_input_that_gets_another_answer_now_is_named(report: dict[str, Any]) -> None:
    changed = deepcopy(report)
    found = changed["engines"]["numpy.argsort stable"]["outcome"]["smallest"]["any arrival"]
    assert not_repeated("numpy.argsort stable", changed) == []
    found["answers"][0] = [position + 1 for position in found["answers"][0]]
    assert not_repeated("numpy.argsort stable", changed) == ["any arrival"]


def test_it_is_told_how_many_ran_and_why_others_did_not(report: dict[str, Any]) -> None:
    told = who_ran(report)
    assert told[0].startswith("8 engines ran; GPUs: ")
    assert any(line.startswith("absent: no_such_module_here not installed") for line in told)


def test_without_another_machine_or_a_device_it_is_said_that_nothing_was_compared(report: dict[str, Any]) -> None:
    without = {**report, "engines": {"numpy.argsort stable": report["engines"]["numpy.argsort stable"]}}
    told = beside_elsewhere(without, None)
    assert told == ["CPU against GPU: not run here, and no report of a machine that has one was given."]


def test_another_machine_is_told_by_its_surroundings_and_the_number_of_other_answers(report: dict[str, Any]) -> None:
    other = deepcopy(report)
    other["environment"]["torch"]["devices"] = ["a device"]
    other["engines"]["right"]["outcome"]["answers"][SIX] = [0, 2, 1]
    told = beside_elsewhere(report, other)
    assert told[0] == "another behaviour"
    assert any(line.startswith("environment: environment, torch / devices") for line in told)
    assert told[-1] == "Answers that differ: 1; `rankwork engines --compare` lists them."
    assert {row["asked"] for row in on_devices(report, other)} == {"here", "elsewhere"}
