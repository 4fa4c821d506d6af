import json
import math
from copy import deepcopy
from itertools import count
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankwork.engines import all_engines, compare_reports, describe, engine, run_experiments, table
from rankwork.engines.base import Engine, Request
from rankwork.engines.counterexamples import RULES, counterexamples, remembering
from rankwork.engines.isolation import from_dicts, in_processes, to_dicts
from rankwork.engines.layers import LAYERS, Tally, agreement, contract, layers
from rankwork.engines.machine import environment
from rankwork.engines.saved_scores import LARGE, LEVELS, NORMAL, SIX, ZEROS, SavedScores, make, with_large
from rankwork.engines.settings import cast, score_changes, settings
from rankwork.engines.shrink import Case, shrink, small_cases, smallest
from rankwork.engines.stability import observe, rearranged, repeated, varying
from rankwork.errors import InputError
from tests.engines_that_fail import BY_NAME
from tests.engines_that_fail import make as make_engine

BOOK = make(seed=0)
INPUTS = with_large(BOOK)
STABLE = engine("numpy.argsort stable")
BACKWARDS = engine("numpy.argsort stable reversed")
Arm = dict[str, Any]


@pytest.fixture(scope="module")
def report() -> dict[str, Any]:
    """A real report of engines that need numpy alone, through worker processes."""
    return run_experiments(["numpy.argsort stable", "numpy.argsort stable reversed", "heapq.nlargest"])


# The layers


@given(st.lists(st.integers(0, 3), min_size=1, max_size=8), st.data())
def test_the_contract_by_id_is_pythons_sort_of_score_and_id(values: list[int], data: st.DataObject) -> None:
    k = data.draw(st.integers(0, len(values)))
    ids = data.draw(st.permutations(range(len(values))))
    expected = sorted(range(len(values)), key=lambda place: (-values[place], ids[place]))[:k]
    assert contract(np.array(values, dtype=np.float64), k, np.array(ids)).tolist() == expected


@given(st.lists(st.integers(0, 2), min_size=2, max_size=7), st.data())
def test_an_earlier_layer_that_differs_makes_the_later_ones_differ(values: list[int], data: st.DataObject) -> None:
    row = np.array(values, dtype=np.float32)
    one, other = (np.array(data.draw(st.permutations(range(len(values)))))[: len(values) // 2 + 1] for _ in "12")
    same = agreement(layers(row, one), layers(row, other))
    assert same["full order"] <= same["member set"]
    assert same["full order"] <= same["score sequence"]


def test_each_layer_notices_its_own_corruption() -> None:
    row = np.array([3, 2, 2, 1], dtype=np.float32)
    right = layers(row, np.array([0, 1]))
    assert agreement(layers(row, np.array([1, 0])), right) == dict(zip(LAYERS, (False, True, False), strict=True))
    assert agreement(layers(row, np.array([0, 2])), right) == dict(zip(LAYERS, (True, False, False), strict=True))
    assert agreement(layers(row, np.array([0, 3])), right) == dict(zip(LAYERS, (False, False, False), strict=True))


def test_a_negative_zero_is_the_same_score_as_zero() -> None:
    row = np.array([-0.0, 0.0], dtype=np.float32)
    assert layers(row, np.array([0]))["score sequence"] == layers(row, np.array([1]))["score sequence"]


def test_a_tally_counts_answers_and_different_ones_and_right_ones_in_each_layer() -> None:
    row = np.array([2, 1, 1], dtype=np.float32)
    tally = Tally()
    for answer in ([0, 1], [0, 2], [1, 0]):
        tally.add(layers(row, np.array(answer)), layers(row, np.array([0, 1])))
    counted = tally.to_dict()
    assert counted["answers"] == 3
    assert list(counted["distinct"].values()) == [2, 2, 3]
    assert list(counted["right"].values()) == [2, 2, 1]


# The saved scores


def test_scores_are_saved_and_read_back_bit_for_bit() -> None:
    back = from_dicts(json.loads(json.dumps(to_dicts(BOOK))))
    for name, saved in BOOK.items():
        assert back[name].scores.tobytes() == saved.scores.tobytes()
        assert (back[name].scores.dtype, back[name].k) == (saved.scores.dtype, saved.k)
    assert math.copysign(1, back[ZEROS].scores[0]) == -1


def test_saved_scores_that_were_changed_are_refused() -> None:
    saved = BOOK[SIX].to_dict()
    saved["bits"] = SavedScores(np.zeros(6, dtype=np.float32), 3).to_dict()["bits"]
    with pytest.raises(InputError, match=r"saved scores have digest .*, expected"):
        SavedScores.from_dict(saved)


def test_saved_scores_cannot_be_changed_in_place() -> None:
    with pytest.raises(ValueError, match="read-only"):
        BOOK[SIX].scores[0] = 1


def test_the_seed_decides_the_scores() -> None:
    assert make(0)[LEVELS].to_dict() == BOOK[LEVELS].to_dict()
    assert make(1)[LEVELS].to_dict() != BOOK[LEVELS].to_dict()


# The shrinker


def test_the_small_cases_are_all_weak_orderings_with_every_k() -> None:
    sizes = [sum(len(case.scores) == n for case in small_cases(4, two_levels=4)) for n in range(1, 5)]
    assert sizes == [1 * 1, 3 * 2, 13 * 3, 75 * 4]


def test_a_small_case_that_breaks_a_rule_is_found_before_a_large_one_is_cut_down() -> None:
    found = smallest(lambda case: np.ptp(case.scores) == 0 and case.k >= 2, Case(np.zeros(50, dtype=np.float32), 20))
    assert found is not None
    assert (found.case.scores.tolist(), found.case.k, found.how) == ([0, 0], 2, "no smaller input")


def test_no_case_is_found_where_the_rule_holds() -> None:
    assert smallest(lambda case: False) is None
    assert shrink(lambda case: False, Case(np.zeros(9, dtype=np.float32), 1)) is None


@given(st.integers(2, 12), st.integers(1, 5), st.integers(0, 100))
def test_cutting_down_ends_where_no_document_can_be_left_out(n: int, k: int, seed: int) -> None:
    def breaks(case: Case) -> bool:
        return len(case.scores) >= n and case.k >= min(k, n)

    row = np.random.default_rng(seed).standard_normal(60).astype(np.float32)
    found = shrink(breaks, Case(row, 30), tries=5_000)
    assert found is not None
    assert (len(found.case.scores), found.case.k) == (n, min(k, n))
    assert found.how == "no document can be left out"


def test_cutting_down_stops_after_the_tries_it_was_given_and_says_so() -> None:
    found = shrink(lambda case: len(case.scores) >= 3, Case(np.arange(1000, dtype=np.float32), 1), tries=5)
    assert found is not None
    assert (found.tries, found.how) == (5, "smallest of 5 tried")
    assert len(found.case.scores) > 3


# Experiment 1, repeated


def test_an_engine_that_repeats_itself_has_one_answer_in_every_layer() -> None:
    for tally in repeated(STABLE, INPUTS).values():
        assert list(tally["distinct"].values()) == [1, 1, 1]
        assert list(tally["right"].values()) == [tally["answers"]] * 3


def test_an_engine_that_varies_is_noticed_and_the_layer_named() -> None:
    repeats = repeated(BY_NAME["varies"], INPUTS)
    assert repeats[LEVELS]["distinct"]["member set"] == 1
    assert repeats[LEVELS]["distinct"]["full order"] > 1
    assert varying(repeats) in (SIX, ZEROS, LEVELS)
    assert varying(repeated(STABLE, INPUTS)) is None


def test_the_large_input_is_the_levels_over_and_over() -> None:
    n = len(INPUTS[LEVELS].scores)
    assert INPUTS[LARGE].scores[7 * n : 8 * n].tobytes() == INPUTS[LEVELS].scores.tobytes()


# Experiment 2, rearranged


def test_a_stable_sort_keeps_the_contract_in_120_of_720_arrivals_and_by_position_in_all() -> None:
    tally = rearranged(STABLE, INPUTS, seed=0)[SIX]
    assert tally["answers"] == 720
    assert list(tally["distinct"].values()) == [1, 3, 6]
    assert list(tally["right"].values()) == [720, 240, 120]
    assert tally["right by position"] == 720


def test_an_engine_with_the_id_as_key_keeps_the_contract_in_all_720_arrivals() -> None:
    tally = rearranged(BY_NAME["right"], INPUTS, seed=0)[SIX]
    assert list(tally["distinct"].values()) == [1, 1, 1]
    assert list(tally["right"].values()) == [720, 720, 720]
    assert tally["right by position"] == 120
    assert tally["not repeated"] == dict.fromkeys(LAYERS, 0)


def test_an_arrival_that_gets_another_answer_the_second_time_is_counted() -> None:
    tally = rearranged(BY_NAME["varies"], INPUTS, seed=0)[SIX]
    assert 0 < tally["not repeated"]["full order"] <= 720
    assert tally["right"]["score sequence"] < 720


def test_of_what_is_not_repeated_each_layer_has_its_own_count() -> None:
    """After 720 answers this engine puts the higher ID first among what it selects, and never selects another."""
    asked = count()

    def turns(request: Request) -> Any:
        found = contract(request.scores, request.k, request.ids)
        ids = request.ids[found] if next(asked) < 720 else -request.ids[found]
        return found[np.lexsort((ids, -request.scores[found]))]

    changed = rearranged(make_engine(turns), INPUTS, seed=0)[SIX]["not repeated"]
    assert changed == {"score sequence": 0, "member set": 0, "full order": 720}


def test_the_six_documents_have_six_answers_of_torch_topk_over_720_arrivals() -> None:
    pytest.importorskip("torch")
    assert rearranged(engine("torch.topk"), INPUTS, seed=0)[SIX]["distinct"]["full order"] == 6


# Experiment 3, settings


def arms(known: Engine, kind: str) -> list[Arm]:
    return [arm for arm in settings(known, INPUTS) if arm["kind"] == kind]


def test_every_condition_leaves_a_stable_sort_as_it_was() -> None:
    for arm in settings(STABLE, INPUTS):
        assert arm["status"] == "run"
        assert all(arm["right"].values()), arm
        if not arm.get("score changes", {}).get("changed"):
            assert all(arm["same"].values()), arm


def test_a_condition_that_changes_an_answer_is_noticed() -> None:
    changed = [arm for arm in settings(BY_NAME["follows_length"], INPUTS) if not all(arm["same"].values())]
    assert [(arm["kind"], arm["scores"]) for arm in changed] == [("padding", SIX), ("padding", LEVELS)]
    assert all(arm["same"]["member set"] and not arm["right"]["full order"] for arm in changed)


def test_a_cast_reports_changed_scores_and_new_ties_beside_its_answer() -> None:
    (half,) = [arm for arm in arms(STABLE, "dtype") if arm["condition"] == "float16" and arm["scores"] == NORMAL]
    changes = half["score changes"]
    assert changes["changed"] > 9_000
    assert changes["distinct after"] < changes["distinct before"]
    assert list(half)[-4:] == ["score changes", "same", "right", "answer"]


def test_levels_survive_every_cast_unchanged() -> None:
    for arm in arms(STABLE, "dtype"):
        if arm["scores"] == LEVELS:
            assert arm["score changes"]["changed"] == 0


def test_bfloat16_rounds_to_the_nearest_and_ties_to_even() -> None:
    torch = pytest.importorskip("torch")
    row = np.concatenate([BOOK[NORMAL].scores, np.array([1.00390625, 1.01171875, -0.0, 3e38], dtype=np.float32)])
    expected = torch.tensor(row).to(torch.bfloat16).to(torch.float32).numpy()
    assert cast(row, "bfloat16").tobytes() == expected.tobytes()


def test_a_cast_that_makes_a_tie_across_the_cut_is_counted() -> None:
    row = np.array([1.0, 1.0001, 1.0002, 0.5], dtype=np.float32)
    changes = score_changes(row, cast(row, "float16"), k=1)
    assert (changes["tied at the cut before"], changes["tied at the cut after"]) == (1, 3)


def test_what_an_engine_cannot_do_is_the_error_of_that_arm_alone() -> None:
    by_count = {arm["condition"]: arm for arm in arms(BY_NAME["fails_with_threads"], "threads")}
    assert by_count["2 threads"]["status"] == "error"
    assert by_count["2 threads"]["note"] == "ValueError: two are too many"
    assert by_count["1 thread"]["status"] == by_count["4 threads"]["status"] == "run"


def test_a_device_that_is_not_here_is_not_run_and_says_why() -> None:
    torch = pytest.importorskip("torch")
    on_cuda = arms(engine("torch.topk"), "device")
    assert {arm["scores"] for arm in on_cuda} == {SIX, LEVELS}
    for arm in on_cuda:
        if torch.cuda.is_available():
            assert arm["status"] == "run"
            assert arm["right"]["score sequence"]
        else:
            assert (arm["status"], arm["note"]) == ("not run here", "torch sees no CUDA device")


# The smallest counterexamples


def test_a_stable_sort_breaks_only_the_rule_about_the_arrival() -> None:
    found = counterexamples(STABLE, INPUTS, varies=None)
    broken = {rule: case for rule, case in found.items() if case}
    assert set(broken) == {"any arrival"}
    assert broken["any arrival"]["scores"] == [0, 0]


def test_an_engine_with_the_id_as_key_breaks_no_rule() -> None:
    assert not any(counterexamples(BY_NAME["right"], INPUTS, varies=None).values())


def test_a_promise_that_is_kept_has_no_counterexample_and_no_promise_has_no_verdict() -> None:
    assert counterexamples(BACKWARDS, INPUTS, varies=None)["its own promise"] is None
    assert "its own promise" not in counterexamples(engine("numpy.argsort"), INPUTS, varies=None)


def test_a_promise_that_is_broken_is_shown_by_the_smallest_input() -> None:
    found = counterexamples(BY_NAME["backwards"], INPUTS, varies=None)["its own promise"]
    assert (found["scores"], found["k"], found["answers"]) == ([0, 0], 2, [[1, 0], [0, 1]])


def test_a_sort_read_backwards_needs_two_documents_to_break_the_contract() -> None:
    found = counterexamples(BACKWARDS, INPUTS, varies=None)["contract by position"]
    assert (found["scores"], found["k"], found["answers"]) == ([0, 0], 1, [[1], [0]])
    assert found["how"] == "no smaller input"


@pytest.mark.parametrize(
    ("rule", "scores", "k"),
    [
        ("contract by position", [0, 0, 0, 0], 1),
        ("a losing document changes nothing", [0, 1, 1], 1),
        ("top k begins top k + 1", [0, 1, 0, 1, 0], 4),
    ],
)
def test_each_rule_that_torch_topk_breaks_is_shown_by_a_case_as_small_as_a_known_one(
    rule: str, scores: list[float], k: int
) -> None:
    pytest.importorskip("torch")
    found = counterexamples(engine("torch.topk"), INPUTS, varies=None)[rule]
    assert found["n"] <= len(scores)
    assert found["answers"][0] != found["answers"][1]
    topk, case = engine("torch.topk"), Case(np.array(found["scores"], dtype=np.float32), found["k"])
    assert list(RULES[rule](topk, case, remembering(topk))) == found["answers"]


def test_a_repetition_that_varies_is_cut_down_and_what_was_seen_is_kept() -> None:
    found = counterexamples(BY_NAME["varies"], INPUTS, varies=LEVELS)["the same again"]
    assert found["n"] < 100
    assert sorted(found["answers"][0]) == sorted(found["answers"][1])
    assert found["answers"][0] != found["answers"][1]


def test_the_environment_names_no_path_of_this_machine() -> None:
    assert "/" not in str(environment())


# Processes


def test_ctrl_c_ends_the_experiments_and_is_no_death_of_an_engine() -> None:
    with pytest.raises(KeyboardInterrupt):
        in_processes([BY_NAME["is_interrupted"], BY_NAME["right"]], BOOK, "answers")


def test_progress_is_told_of_each_process_and_counts_them_beforehand() -> None:
    told: list[tuple[str, int, int]] = []
    chosen = [BY_NAME["right"], BY_NAME["follows_variable"], engine("heapq.nlargest")]
    run_experiments(chosen, progress=lambda *facts: told.append(facts))
    assert told == [("heapq_nlargest", 1, 3), ("engines_that_fail", 2, 3), ("backwards", 3, 3)]


def test_a_report_has_the_engines_in_the_order_in_which_they_were_asked_for() -> None:
    names = ["numpy.argsort stable", "heapq.nlargest", "numpy.argsort"]
    assert list(run_experiments(names)["engines"]) == names


def test_an_engine_that_dies_is_its_own_error_and_the_others_go_on() -> None:
    chosen = [BY_NAME[name] for name in ("right", "dies", "raises", "leaves", "follows_variable")]
    results = in_processes(chosen, BOOK, "answers")
    assert {name: result["status"] for name, result in results.items()} == {
        "right": "run", "dies": "error", "raises": "error", "leaves": "error", "follows_variable": "run",
    }  # fmt: skip
    assert results["dies"]["note"] == "the process died of signal 6"
    assert results["raises"]["note"] == "MemoryError: no memory for PATH"
    assert results["leaves"]["note"].startswith("the process ended with code 7")


def test_an_engine_that_hangs_is_its_own_error() -> None:
    results = in_processes([BY_NAME["right"]], BOOK, "answers", timeout=0.01)
    assert results["right"] == {"status": "error", "note": "no answer within 0.01 s"}


def test_a_condition_of_the_whole_process_is_an_arm_of_its_own() -> None:
    entry = run_experiments([BY_NAME["follows_variable"]])["engines"]["follows_variable"]
    found = [arm for arm in entry["outcome"]["settings"] if arm["kind"] == "process"]
    assert [(arm["condition"], arm["scores"]) for arm in found] == [("backwards", SIX), ("backwards", LEVELS)]
    assert all(arm["same"]["member set"] and not arm["same"]["full order"] for arm in found)


# The report


def test_a_report_is_plain_json_and_carries_its_scores_and_environment(report: dict[str, Any]) -> None:
    assert json.loads(json.dumps(report, allow_nan=False)) == report
    assert set(report["scores"]) == {SIX, ZEROS, LEVELS, NORMAL}
    assert set(report["environment"]["kernel packages"]) == {"nvidia_cutlass_dsl", "apache_tvm_ffi"}


def test_the_scores_of_another_report_are_taken_bit_for_bit(report: dict[str, Any]) -> None:
    saved = make(seed=5)
    again = run_experiments(["heapq.nlargest"], scores=to_dicts(saved))
    assert again["scores"] == to_dicts(saved)
    assert again["scores"][LEVELS] != report["scores"][LEVELS]


def test_the_questions_of_another_report_are_asked_again_with_its_scores_and_its_seed() -> None:
    first = run_experiments(["heapq.nlargest"], seed=3)
    again = run_experiments(["heapq.nlargest"], seed=0, like=first)
    assert (again["seed"], again["scores"]) == (3, first["scores"])
    assert again["engines"]["heapq.nlargest"]["outcome"] == first["engines"]["heapq.nlargest"]["outcome"]


def test_an_unknown_engine_stops_the_run() -> None:
    with pytest.raises(InputError, match="got 'no such engine'"):
        run_experiments(["no such engine"])


def test_what_is_observed_in_this_process_is_what_the_report_says(report: dict[str, Any]) -> None:
    outcome = observe(BACKWARDS, BOOK, seed=0)
    reported = deepcopy(report["engines"][BACKWARDS.name]["outcome"])
    reported["settings"] = [arm for arm in reported["settings"] if arm["kind"] != "process"]
    assert json.loads(json.dumps(outcome)) == reported


def test_the_table_has_a_line_for_each_engine_that_ran_and_a_reason_for_the_others(report: dict[str, Any]) -> None:
    corrupted = deepcopy(report)
    corrupted["engines"]["heapq.nlargest"] = {"status": "error", "note": "the process died of signal 11"}
    lines = table(corrupted).splitlines()
    (row,) = [line for line in lines if line.startswith("numpy.argsort stable reversed")]
    assert "highest position  yes" in row
    assert row.endswith("[0 0] 1 -> 1")
    assert "heapq.nlargest: error: the process died of signal 11" in lines


def test_every_engine_that_is_not_here_has_its_reason_in_the_report() -> None:
    absent = [known for known in all_engines() if not known.available()]
    for name, entry in run_experiments(absent)["engines"].items():
        assert entry["status"] == "not here"
        assert entry["note"], name


# Two reports


def test_two_reports_of_one_machine_show_the_same_behaviour(report: dict[str, Any]) -> None:
    again = run_experiments(list(report["engines"]))
    compared = compare_reports(report, again)
    assert compared == {"same_behaviour": True, "counts": dict.fromkeys(compared["counts"], 0), "differences": []}


def corrupt(report: dict[str, Any], *path: Any, value: Any) -> dict[str, Any]:
    """The report with one value replaced."""
    changed = deepcopy(report)
    place = changed
    for step in path[:-1]:
        place = place[step]
    assert place[path[-1]] != value
    place[path[-1]] = value
    return changed


OUTCOME = ("engines", "heapq.nlargest", "outcome")


@pytest.mark.parametrize(
    ("path", "value", "kind"),
    [
        ((*OUTCOME, "repeated", SIX, "digest"), "0", "behaviour"),
        ((*OUTCOME, "repeated", LEVELS, "right", "member set"), 0, "behaviour"),
        ((*OUTCOME, "rearranged", SIX, "distinct", "full order"), 5, "behaviour"),
        ((*OUTCOME, "settings", 0, "answer"), [0], "behaviour"),
        ((*OUTCOME, "settings", 0, "status"), "error", "behaviour"),
        ((*OUTCOME, "smallest", "any arrival", "k"), 2, "behaviour"),
        ((*OUTCOME, "answers", SIX), [0, 1, 3], "behaviour"),
        (("engines", "heapq.nlargest", "version"), "3.0", "engine"),
        (("engines", "heapq.nlargest", "status"), "error", "engine"),
        (("environment", "machine"), "abacus", "environment"),
        (("scores", SIX, "sha256"), "0", "scores"),
    ],
)
def test_one_corrupted_value_is_noticed_and_named(
    report: dict[str, Any], path: tuple[Any, ...], value: Any, kind: str
) -> None:
    compared = compare_reports(report, corrupt(report, *path, value=value))
    found = [item for item in compared["differences"] if item["kind"] == kind]
    assert len(found) == 1
    assert found[0]["second"] == value
    assert str(found[0]["where"]) in describe(compared)


@pytest.mark.parametrize(
    ("path", "value", "same"),
    [
        (("environment", "machine"), "abacus", True),
        (("engines", "heapq.nlargest", "version"), "3.0", True),
        (("engines", "heapq.nlargest", "status"), "error", False),
        (("scores", SIX, "sha256"), "0", False),
        ((*OUTCOME, "answers", SIX), [0, 1, 3], False),
    ],
)
def test_only_answers_scores_and_engines_that_fail_make_another_behaviour(
    report: dict[str, Any], path: tuple[Any, ...], value: Any, same: bool
) -> None:
    assert compare_reports(report, corrupt(report, *path, value=value))["same_behaviour"] is same


@pytest.mark.parametrize(
    "path", [("engines", "heapq.nlargest", "seconds"), (*OUTCOME, "smallest", "any arrival", "tries")]
)
def test_how_long_something_took_is_not_compared(report: dict[str, Any], path: tuple[Any, ...]) -> None:
    assert compare_reports(report, corrupt(report, *path, value=-1))["differences"] == []


def test_an_engine_in_one_report_alone_is_a_difference(report: dict[str, Any]) -> None:
    fewer = deepcopy(report)
    del fewer["engines"]["heapq.nlargest"]
    (found,) = compare_reports(report, fewer)["differences"]
    assert (found["where"], found["first"], found["second"]) == ("presence", "present", "absent")


def test_where_the_scores_differ_nothing_is_said_about_their_ties(report: dict[str, Any]) -> None:
    changed = corrupt(report, "scores", SIX, "sha256", value="0")
    changed = corrupt(changed, *OUTCOME, "rearranged", SIX, "distinct", "full order", value=5)
    changed = corrupt(changed, *OUTCOME, "answers", SIX, value=[0, 1, 3])
    assert {item["kind"] for item in compare_reports(report, changed)["differences"]} == {"scores"}


def test_an_answer_to_an_input_that_varies_is_said_to_vary_and_not_to_have_changed(report: dict[str, Any]) -> None:
    shaky = corrupt(report, *OUTCOME, "repeated", LEVELS, "distinct", "full order", value=4)
    changed = corrupt(shaky, *OUTCOME, "answers", LEVELS, value=[0])
    assert compare_reports(shaky, changed)["counts"]["varies"] == 1
    arrivals = corrupt(report, *OUTCOME, "rearranged", SIX, "not repeated", "full order", value=3)
    changed = corrupt(arrivals, *OUTCOME, "answers", SIX, value=[0])
    assert compare_reports(arrivals, changed)["counts"]["varies"] == 1
    changed = corrupt(shaky, *OUTCOME, "answers", SIX, value=[0])
    assert compare_reports(shaky, changed)["counts"]["behaviour"] == 1


def test_a_device_that_only_one_machine_has_is_its_environment_and_no_behaviour() -> None:
    with_device = run_experiments([BY_NAME["follows_device"]])
    without = deepcopy(with_device)
    for arm in without["engines"]["follows_device"]["outcome"]["settings"]:
        if arm["kind"] == "device":
            for field in ("same", "right", "answer"):
                del arm[field]
            arm |= {"status": "not run here", "note": "no other here"}
    compared = compare_reports(with_device, without)
    assert compared["same_behaviour"]
    assert [(item["kind"], item["first"], item["second"]) for item in compared["differences"]] == [
        ("environment", "run", "not run here"), ("environment", "run", "not run here"),
    ]  # fmt: skip
    assert compare_reports(without, without)["differences"] == []


def test_a_report_of_another_format_is_refused(report: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="report must have format rankwork-engines/1, got 'x'"):
        compare_reports(report, {**report, "format": "x"})
