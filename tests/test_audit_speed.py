"""Audits are measured on the same files, in whole processes, beside values that agree. No test asserts a time."""

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rankwork.errors import InputError
from rankwork.inputs.trec import read_judgements, read_run
from rankwork.measures import speed
from rankwork.measures.auditing import audit

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the times of children are read as Unix gives them")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> speed.Files:
    return speed.write_files(tmp_path_factory.mktemp("files"), 5, depth=200)


@pytest.fixture(scope="module")
def compared(files: speed.Files) -> list[speed.Record]:
    return speed.compare_evaluators(files, evaluators=speed.EVALUATORS[:3])


def test_generated_files_are_the_same_each_time_and_their_ties_no_type_makes(
    files: speed.Files, tmp_path: Path
) -> None:
    again = speed.write_files(tmp_path, 5, depth=200)
    assert again.run.read_bytes() == files.run.read_bytes()
    assert again.judgements.read_bytes() == files.judgements.read_bytes()
    assert speed.write_files(tmp_path, 5, depth=200, seed=1).run.read_bytes() != files.run.read_bytes()
    run, judged = read_run(files.run), read_judgements(files.judgements)
    assert (len(run.queries), len(run), files.rows, files.bytes) == (5, 1000, 1000, files.run.stat().st_size)
    assert run.cast("float32").group_starts.tolist() == run.group_starts.tolist()
    assert 60 < len(judged) / 5 <= 100


def test_all_evaluators_tell_what_an_audit_by_trec_tells(files: speed.Files, compared: list[speed.Record]) -> None:
    found = audit(files.run, files.judgements, speed.MEASURES, protocol="trec")
    ours = compared[0]["values"]
    assert {name: ours[name]["contract"] for name in ours} == {n: found.result(n).mean.contract for n in speed.MEASURES}
    assert {record["evaluator"] for record in compared if not record["note"]} >= {
        "rankwork",
        "pytrec_eval",
        "ir_measures",
    }
    assert speed.disagreements(compared) == []


def test_a_value_that_differs_is_named(compared: list[speed.Record]) -> None:
    wrong = {**compared[1], "values": {**compared[1]["values"], "AP@1000": 0.5}}
    beyond = {**compared[2], "values": {**compared[2]["values"], "RR@10": 1.5}}
    found = speed.disagreements([compared[0], wrong, beyond])
    assert [text.split(" is ")[0] for text in found] == ["pytrec_eval: AP@1000", "ir_measures: RR@10"]


def test_ranx_breaks_ties_as_documents_came_and_must_stay_inside_the_range(compared: list[speed.Record]) -> None:
    ours = compared[0]["values"]["AP@1000"]
    inside, beyond = (
        {"evaluator": "ranx", "values": {"AP@1000": ours[end] + step}} for end, step in (("min", 0.0), ("max", 0.01))
    )
    assert len(speed.disagreements([compared[0], inside])) == 0
    assert len(speed.disagreements([compared[0], beyond])) == 1


def test_a_record_holds_the_ratio_and_a_goal_only_for_large_files(
    files: speed.Files, compared: list[speed.Record], monkeypatch: pytest.MonkeyPatch
) -> None:
    ours, theirs = compared[:2]
    assert theirs["ratio"] == ours["CPU seconds"] / theirs["CPU seconds"]
    assert (theirs["limit"], theirs["missed"]) == (None, False)
    monkeypatch.setattr(speed, "LEAST", 1000)
    never = replace(speed.EVALUATORS[1], share=0.0)
    (_, theirs) = speed.compare_evaluators(files, evaluators=[speed.EVALUATORS[0], never])
    assert (theirs["limit"], theirs["missed"]) == (0, True)


@pytest.mark.skipif(sys.platform != "linux", reason="the peak of a process is read from /proc")
def test_the_peak_is_that_of_the_process_alone(files: speed.Files) -> None:
    """Not that of this one, which holds more."""
    ballast = np.ones(50_000_000)
    (ours,) = speed.compare_evaluators(files, evaluators=speed.EVALUATORS[:1])
    assert 10_000_000 < ours["peak"] < ballast.nbytes


def test_an_evaluator_that_is_not_here_or_fails_says_so(files: speed.Files) -> None:
    absent = speed.Evaluator("no_such_module", "pip install it", 0.5, "")
    broken = speed.Evaluator("json", "part of Python", 0.5, "raise ValueError('at /opt/somewhere/x')")
    _, first, second = speed.compare_evaluators(files, evaluators=[speed.EVALUATORS[0], absent, broken])
    assert first["note"] == "not installed here: pip install it"
    assert second["note"] == "ended with code 1: ValueError: at PATH"
    assert "CPU seconds" not in first


def test_the_command_of_trec_eval_and_what_it_prints(files: speed.Files) -> None:
    """The program itself is not in any package: its arguments and its table are those of its manual."""
    item = speed.EVALUATORS[-1]
    assert item.command(files) == [
        "trec_eval", "-m", "ndcg_cut.10", "-m", "recall.100", "-m", "recip_rank", "-m", "map_cut.1000",
        str(files.judgements), str(files.run),
    ]  # fmt: skip
    printed = "recip_rank            \tall\t0.5556\nrecall_100            \tall\t0.2500\nndcg_cut_10 \tall\t0.1000\n"
    assert item.read(printed)["values"] == {"RR": 0.5556, "R@100": 0.25, "nDCG@10": 0.1}


def test_in_memory_both_do_the_same_work(files: speed.Files) -> None:
    found = speed.in_memory(files, repeats=1)
    assert (found["rows"], found["limit"], found["missed"]) == (1000, None, False)
    assert found["ratio"] == found["rankwork"] / found["pytrec_eval"]


def test_without_pytrec_eval_there_is_no_ratio(files: speed.Files, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(speed, "find_spec", lambda name: None)
    found = speed.in_memory(files, repeats=1)
    assert (found["pytrec_eval"], found["ratio"], found["missed"]) == (None, None, False)


def test_starting_is_measured_by_commands_that_succeed(files: speed.Files, tmp_path: Path) -> None:
    costs = speed.start_costs(files)
    assert list(costs) == ["python", "import numpy", "import rankwork", "rankwork --help", "rankwork audit"]
    missing = replace(files, run=tmp_path / "none.run")
    with pytest.raises(InputError, match=r"rankwork audit ended with code 2: error: none\.run cannot be read"):
        speed.start_costs(missing)


def test_every_missed_goal_is_named_with_its_figures() -> None:
    cost = {"CPU seconds": 0.1, "seconds": 0.1}
    starts: dict[str, Any] = dict.fromkeys(
        ("import numpy", "import rankwork", "rankwork --help", "rankwork audit"), cost
    )
    memory = {"rows": 2_000_000, "ratio": 0.2, "limit": 0.25, "missed": False}
    ours = {"evaluator": "rankwork", "rows": 2_000_000, "file": 100, "peak": 399}
    peer = {"evaluator": "pytrec_eval", "rows": 2_000_000, "ratio": 0.4, "limit": 0.5, "missed": False}
    assert speed.missed([ours, peer], memory, starts) == []
    slow = {name: {"CPU seconds": 0.1, "seconds": 2.0} for name in starts} | {"import rankwork": {"CPU seconds": 0.3}}
    found = speed.missed(
        [{**ours, "peak": 500}, {**peer, "ratio": 0.6, "missed": True}], {**memory, "ratio": 0.5, "missed": True}, slow
    )
    assert found == [
        "2,000,000 rows: a peak of 5.0 times the file (goal 4)",
        "2,000,000 rows: 0.60 of the CPU seconds of pytrec_eval (goal 0.5)",
        "2,000,000 rows in memory: 0.50 of pytrec_eval's evaluate (goal 0.25)",
        "import rankwork: 3.00 of import numpy (goal 2)",
        "rankwork --help: 2.00 s (goal 0.5)",
        "rankwork audit: 2.00 s (goal 1.5)",
    ]


def test_those_that_ran_stand_side_by_side_and_the_others_below_with_their_reason(
    compared: list[speed.Record],
) -> None:
    absent = speed.Evaluator("no_such_evaluator", "pip install it", 0.5, "values = {}")
    missing = {**compared[0], "evaluator": absent.name, "note": absent.missing}
    *rows, last = speed.side_by_side([compared[0], missing, missing]).splitlines()
    assert rows[0].split("  ")[0].strip() == "evaluator"
    assert [row.split()[0] for row in rows[1:]] == ["rankwork"]
    assert last == "no_such_evaluator: not installed here: pip install it"


def test_each_file_is_told_by_the_million_rows_and_beside_whom(compared: list[speed.Record]) -> None:
    (line,) = speed.per_million(compared)
    named = [record["evaluator"] for record in compared[1:] if not record["note"]]
    assert all(f" of {name}" in line for name in named)
    assert speed.per_million(compared[:1])[0].endswith("; nobody beside it.")
