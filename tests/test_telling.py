"""What `rankwork audit` tells: one run or several, scores redefined by name, other orders beside the contract's."""

import json
from pathlib import Path

import pytest

from rankwork.measures.telling import named
from tests.workbooks import rankwork

A = "q1 Q0 d1 1 9.0 x\nq1 Q0 d2 2 8.0004 x\nq1 Q0 d3 3 8.0 x\nq2 Q0 d1 1 1.0 x\n"
B = "q1 Q0 d3 1 9.0 x\nq1 Q0 d2 2 8.0 x\nq1 Q0 d1 3 8.0 x\nq2 Q0 d2 1 1.0 x\n"
JUDGEMENTS = "q1 0 d1 1\nq1 0 d3 2\nq2 0 d1 1\n"


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "a.trec").write_text(A)
    (tmp_path / "b.trec").write_text(B)
    (tmp_path / "judgements.txt").write_text(JUDGEMENTS)
    return tmp_path


def audit(files: Path, *arguments: str) -> str:
    done = rankwork("audit", *arguments, folder=files)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_several_runs_give_a_leaderboard_with_ranks_and_the_difference(files: Path) -> None:
    shown = audit(files, "a.trec", "b.trec", "judgements.txt", "-m", "R@2")
    assert "R@2: ranks that ties allow" in shown
    assert "R@2, b.trec minus a.trec: -0.2500 by the contract, 2 queries" in shown
    facts = json.loads(audit(files, "a.trec", "b.trec", "judgements.txt", "-m", "R@2", "--format", "json"))
    ranks = {s["system"]: (s["best_rank"], s["worst_rank"]) for s in facts["leaderboards"]["R@2"]}
    assert ranks == {"a.trec": (1, 1), "b.trec": (2, 2)}
    assert facts["systems"]["b.trec"]["measures"]["R@2"]["max"] == 0.5
    assert (facts["differences"][0]["losses"], facts["differences"][0]["undecided"]) == (1, 1)


def test_rounding_is_a_declared_redefinition(files: Path) -> None:
    plain = json.loads(audit(files, "a.trec", "judgements.txt", "-m", "R@2", "--format", "json"))
    assert plain["protocol"]["redefined"] is None
    assert plain["measures"]["R@2"]["min"] == plain["measures"]["R@2"]["max"] == 0.75
    redefined = json.loads(audit(files, "a.trec", "judgements.txt", "-m", "R@2", "--round", "1", "--format", "json"))
    assert redefined["protocol"]["redefined"] == "rounded to 1 decimals, halves to even"
    assert redefined["measures"]["R@2"]["max"] == 1.0
    assert "a declared redefinition of a tie" in audit(files, "a.trec", "judgements.txt", "-m", "R@2", "--round", "1")


def test_scores_can_be_compared_in_another_type(files: Path) -> None:
    shown = audit(files, "a.trec", "judgements.txt", "-m", "R@2", "--dtype", "bfloat16")
    assert "scores in bfloat16" in shown
    assert "1 have a range" in shown


def test_the_means_by_other_orders_stand_beside(files: Path) -> None:
    shown = audit(files, "b.trec", "judgements.txt", "-m", "RR", "-m", "P@2")
    told = "P@2 as ties are resolved by the contract 0.5000, trec_eval 0.2500, pytrec_eval 0.2500, ir_measures 0.2500"
    assert told in shown
    facts = json.loads(audit(files, "b.trec", "judgements.txt", "-m", "P@2", "--format", "json"))
    assert facts["measures"]["P@2"]["by_order"] == {"id_asc": 0.5, "id_desc": 0.25, "input": 0.25}


def test_the_widest_range_of_any_run_decides_the_exit_code(files: Path) -> None:
    assert rankwork("audit", "a.trec", "judgements.txt", "-m", "R@2", "--max-width", "0", folder=files).returncode == 0
    both = ("audit", "a.trec", "b.trec", "judgements.txt", "-m", "R@2", "--max-width", "0")
    assert rankwork(*both, folder=files).returncode == 1


def test_one_file_alone_is_refused(files: Path) -> None:
    done = rankwork("audit", "judgements.txt", "-m", "R@2", folder=files)
    assert done.returncode == 2
    assert "Missing argument" in done.stderr


def test_runs_of_one_name_go_by_their_paths() -> None:
    assert list(named((Path("x/run"), Path("y/run"), Path("z")))) == ["x/run", "y/run", "z"]


def test_a_run_is_fixed_in_the_order_that_is_asked_for(files: Path) -> None:
    shown = rankwork("fix", "b.trec", "--order", "id_desc", folder=files).stdout
    assert [line.split()[2] for line in shown.splitlines()] == ["d3", "d2", "d1", "d2"]
    ranked = rankwork("fix", "b.trec", "--order", "rank", folder=files).stdout
    assert [line.split()[2] for line in ranked.splitlines()] == ["d3", "d2", "d1", "d2"]


def test_a_run_read_in_parts_has_the_same_values_and_says_what_was_not_looked_at(files: Path) -> None:
    asked = ("a.trec", "judgements.txt", "-m", "R@2", "-m", "RR", "--format", "json")
    whole, parts = json.loads(audit(files, *asked)), json.loads(audit(files, *asked, "--in-parts"))
    for name, kept in parts["measures"].items():
        assert kept == {key: value for key, value in whole["measures"][name].items() if key != "by_order"}
    assert parts["per_query"] == whole["per_query"]
    assert "Audited in parts" in audit(files, "a.trec", "judgements.txt", "-m", "R@2", "--in-parts")


@pytest.mark.parametrize("arguments", [("a.trec", "b.trec"), ("a.trec", "--round", "2"), ("a.trec", "--dtype", "int8")])
def test_what_an_audit_in_parts_cannot_do_is_refused(files: Path, arguments: tuple[str, ...]) -> None:
    done = rankwork("audit", *arguments, "judgements.txt", "-m", "R@2", "--in-parts", folder=files)
    assert done.returncode == 2
    assert "an audit in parts takes one run, and its scores as they are" in done.stderr
    assert "Traceback" not in done.stderr
