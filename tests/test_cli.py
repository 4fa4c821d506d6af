"""The command line: facts on standard output, one sentence for a mistake, and an exit code that says which it was."""

import gzip
import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from rankwork import cli
from rankwork.evidence.store import Store
from rankwork.measures.auditing import AUDIT_ORDERS
from tests.rewriting import rewritten
from tests.stores import put
from tests.workbooks import rankwork, workbook

Copy = Callable[[], Path]

RUN = "q1 Q0 d1 1 9.0 x\nq1 Q0 d2 2 8.0 x\nq1 Q0 d3 3 8.0 x\nq2 Q0 d1 1 1.0 x\n"
JUDGEMENTS = "q1 0 d1 1\nq1 0 d3 1\nq2 0 d1 1\n"


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "run.trec").write_text(RUN)
    (tmp_path / "judgements.txt").write_text(JUDGEMENTS)
    return tmp_path


def test_help_names_every_command(tmp_path: Path) -> None:
    done = rankwork("--help", folder=tmp_path)
    assert done.returncode == 0
    expected = (
        "audit compare doctor engines export fix import index lab list new prune reference run show tag untag verify"
    )
    for command in expected.split():
        assert f"\n  {command} " in done.stdout


def test_the_orders_that_audit_offers_are_those_of_the_library() -> None:
    assert cli.AUDIT_ORDERS == AUDIT_ORDERS


def test_audit_prints_each_measure_with_its_range_as_json(files: Path) -> None:
    done = rankwork(
        "audit", "run.trec", "judgements.txt", "-m", "R@2", "-m", "recall_1", "--format", "json", folder=files
    )
    assert done.returncode == 0, done.stderr
    facts = json.loads(done.stdout)
    assert facts["order"] == "id_asc"
    assert facts["measures"]["R@2"]["resolved"] == "R(rel=1)@2"
    assert facts["measures"]["recall_1"]["resolved"] == "R(rel=1)@1"
    at_two = facts["measures"]["R@2"]
    assert [at_two[key] for key in ("queries", "undefined", "censored", "contract")] == [2, 0, 0, 0.75]
    assert [at_two[key] for key in ("min", "expected", "max")] == [0.75, 0.875, 1.0]
    assert facts["per_query"]["q1"]["R@2"] == {
        "contract": 0.5, "min": 0.5, "expected": 0.75, "max": 1.0, "std": 0.25, "reason": None,
    }  # fmt: skip


def test_audit_reads_gzip_and_takes_orders(files: Path) -> None:
    with gzip.open(files / "run.gz", "wt") as file:
        file.write(RUN)
    done = rankwork(
        "audit", "run.gz", "judgements.txt", "-m", "R@2", "--order", "id_desc", "--format", "json", folder=files
    )
    assert json.loads(done.stdout)["measures"]["R@2"]["contract"] == 1.0


def test_a_range_wider_than_allowed_exits_with_1(files: Path) -> None:
    arguments = ("audit", "run.trec", "judgements.txt", "-m", "R@2", "--max-width")
    assert rankwork(*arguments, "0.25", folder=files).returncode == 0
    assert rankwork(*arguments, "0.2", folder=files).returncode == 1


@pytest.mark.parametrize(
    ("run", "judgements", "message"),
    [
        ("q1 Q0 d1 1 abc x\n", JUDGEMENTS, "run.trec line 1: score 'abc' is not a number"),
        (RUN + "q1 Q0 d1 4 7.0 x\n", JUDGEMENTS, "d1"),
        ("q1 Q0 d1 1 nan x\n", JUDGEMENTS, "run.trec line 1"),
        ("q1 Q0 d1 1 inf x\n", JUDGEMENTS, "run.trec line 1"),
        ("q1 Q0 d1 1\n", JUDGEMENTS, "run.trec line 1"),
        ("", JUDGEMENTS, "run.trec"),
        (RUN, "q1 0 d1 yes\n", "judgements.txt line 1"),
        (RUN, "q9 0 d1 1\n", "q9"),
    ],
)
def test_bad_files_are_one_sentence_and_exit_2(files: Path, run: str, judgements: str, message: str) -> None:
    (files / "run.trec").write_text(run)
    (files / "judgements.txt").write_text(judgements)
    done = rankwork("audit", "run.trec", "judgements.txt", "-m", "R@2", folder=files)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("error: ")
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("audit", "nowhere", "judgements.txt", "-m", "R@2"), "nowhere"),
        (("audit", "run.trec", "judgements.txt", "-m", "nonsense@3"), "nonsense"),
        (("audit", "run.trec", "judgements.txt", "-m", "R@0"), "R@0"),
        (("audit", "run.trec", "judgements.txt", "-m", "R@2", "--protocol", "mine"), "mine"),
        (("audit", "run.trec", "judgements.txt"), "-m"),
        (("fix", "nowhere"), "nowhere"),
        (("verify",), "--all"),
        (("verify", "abc"), "abc"),
        (("show", "abc"), "abc"),
        (("run", "99_nothing"), "99_nothing"),
        (("new", "Not A Name"), "Not A Name"),
        (("engines", "--only", "lucene"), "no engine's name begins with 'lucene'"),
        (("engines", "--compare", "nowhere", "run.trec"), "nowhere"),
        (("engines", "--compare", "run.trec", "run.trec"), "run.trec is not JSON"),
        (("engines", "--only", "torch", "--compare", "a", "b"), "--compare runs none"),
        (("list", "--since", "soon"), "got 'soon'"),
        (("list", "--status", "done"), "got 'done'"),
        (("tag", "abc", "x"), "abc"),
        (("untag", "abc", "x"), "abc"),
        (("prune",), "say what to prune"),
        (("nosuchcommand",), "nosuchcommand"),
    ],
)
def test_a_mistake_exits_with_2_and_no_traceback(files: Path, arguments: tuple[str, ...], message: str) -> None:
    workbook(files, "print(1)")
    done = rankwork(*arguments, folder=files)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_a_parameter_out_of_range_stops_before_anything_is_written(tmp_path: Path) -> None:
    workbook(tmp_path, "print(1)")
    done = rankwork("run", "00", "-p", "k=10", folder=tmp_path)
    assert (done.returncode, done.stderr) == (2, "error: 00_small: k: must be at most 9, got 10\n")
    assert not (tmp_path / "evidence").exists()


def test_fix_writes_a_run_of_strict_scores_to_a_file_or_to_standard_output(files: Path) -> None:
    shown = rankwork("fix", "run.trec", folder=files)
    assert [line.split()[2] for line in shown.stdout.splitlines()] == ["d1", "d2", "d3", "d1"]
    assert [float(line.split()[4]) for line in shown.stdout.splitlines()] == [3, 2, 1, 1]
    assert rankwork("fix", "run.trec", "-o", "fixed.gz", folder=files).returncode == 0
    assert gzip.decompress((files / "fixed.gz").read_bytes()).decode() == shown.stdout


def test_a_failed_notebook_exits_with_1_and_says_why(tmp_path: Path) -> None:
    workbook(tmp_path, "raise ValueError('no such thing')")
    done = rankwork("run", "00", folder=tmp_path)
    assert done.returncode == 1
    assert "00_small: failed" in done.stdout
    assert "ValueError in cell 2: no such thing" in done.stdout
    assert "report.html" in done.stdout


def test_a_run_prints_its_figures_and_can_be_listed_shown_and_verified(complete_record: Path) -> None:
    folder, name = complete_record.parents[1], complete_record.name
    listed = json.loads(rankwork("list", "--json", folder=folder).stdout)
    assert {"record_id", "recipe_digest", "result_digest", "status", "notebook", "path"} <= set(listed[0])
    assert listed[0]["record_id"] == name
    assert name[:12] in rankwork("list", folder=folder).stdout
    assert "k = 3" in rankwork("show", name[:8], folder=folder).stdout
    assert json.loads(rankwork("show", name[:8], "--json", folder=folder).stdout)["status"] == "complete"
    verified = rankwork("verify", "--all", folder=folder)
    assert (verified.returncode, "verified: " in verified.stdout) == (0, True)
    assert rankwork("verify", str(complete_record), folder=folder).returncode == 0
    assert json.loads(rankwork("verify", name[:8], "--json", folder=folder).stdout)[0]["verified"] is True


def test_records_are_found_by_what_they_are_tagged_and_pruned_after_a_dry_run(tmp_path: Path) -> None:
    workbook(tmp_path, "print(1)")
    old = put(tmp_path / "evidence", status="failed", parameters={"k": 3})
    kept = put(tmp_path / "evidence", status="failed", parameters={"k": 4})
    new = put(tmp_path / "evidence", started="2026-11-20T00:00:00+00:00")

    def found(*arguments: str) -> set[str]:
        done = rankwork("list", "--json", *arguments, folder=tmp_path)
        assert done.returncode == 0, done.stderr
        return {entry["record_id"] for entry in json.loads(done.stdout)}

    assert rankwork("tag", kept[:20], "paper", "best", folder=tmp_path).stdout == f"{kept[:12]}: best, paper\n"
    assert rankwork("untag", kept[:20], "best", folder=tmp_path).stdout == f"{kept[:12]}: paper\n"
    assert found() == {old, kept, new}
    assert found("--tag", "paper") == found("-p", "k=4") == {kept}
    assert found("--status", "failed", "--until", "2026-11-19") == {old, kept}
    assert found("--notebook", "00", "--since", "2026-11-20") == {new}
    assert "#paper" in rankwork("list", folder=tmp_path).stdout
    assert rankwork("list", "--notebook", "09", folder=tmp_path).stdout == "no such record\n"
    asked = ("prune", "--status", "failed", "--before", "2026-11-02")
    dry = rankwork(*asked, folder=tmp_path)
    assert "1 would be removed (0.0 MB); 1 with tags stay; say --yes to remove them" in dry.stdout
    assert json.loads(rankwork(*asked, "--json", folder=tmp_path).stdout)["removed"] is False
    assert found() == {old, kept, new}
    assert rankwork(*asked, "--yes", folder=tmp_path).stdout.endswith("removed 1; 1 with tags stay\n")
    assert found() == {kept, new}


def test_a_damaged_record_exits_with_1(complete_record: Path, tmp_path: Path) -> None:
    workbook(tmp_path, "print(1)")
    copy = tmp_path / "evidence" / complete_record.name
    shutil.copytree(complete_record, copy)
    assert rankwork("verify", "--all", folder=tmp_path).returncode == 0
    assert rankwork("verify", "--all", "--current", folder=tmp_path).returncode == 1
    (copy / "results.json").write_text("{}")
    done = rankwork("verify", "--all", folder=tmp_path)
    assert done.returncode == 1
    assert "results.json: its bytes are not those of the execution" in done.stdout


def test_doctor_finds_what_is_in_order_and_what_is_not(tmp_path: Path) -> None:
    workbook(tmp_path, "print(1)")
    fine = rankwork("doctor", folder=tmp_path)
    assert fine.returncode == 0, fine.stdout
    assert "BAD" not in fine.stdout
    shutil.rmtree(tmp_path / "evidence", ignore_errors=True)
    (tmp_path / "evidence").write_text("a file in its place")
    done = rankwork("doctor", "--json", folder=tmp_path)
    assert done.returncode == 1
    assert [finding["name"] for finding in json.loads(done.stdout) if not finding["holds"]] == ["evidence"]


def test_doctor_tells_of_a_scratch_folder_that_was_left_behind(tmp_path: Path) -> None:
    workbook(tmp_path, "print(1)")
    (tmp_path / "evidence" / ".scratch" / "00_small-left").mkdir(parents=True)
    done = rankwork("doctor", folder=tmp_path)
    assert done.returncode == 1
    assert "left by killed runners: 00_small-left" in done.stdout


def test_a_new_notebook_runs_as_it_is(tmp_path: Path) -> None:
    workbook(tmp_path, "print(1)")
    assert rankwork("new", "my_question", folder=tmp_path).returncode == 0
    done = rankwork("run", "01_my_question", "--params", "smoke", folder=tmp_path)
    assert done.returncode == 0, done.stdout
    assert "contract = keys [], last ID ascending, policy by_id, score descending" in done.stdout
    assert rankwork("new", "01_other", folder=tmp_path).returncode == 2


def test_a_folder_without_a_workbook_uses_the_one_that_rankwork_came_with(tmp_path: Path) -> None:
    done = rankwork("list", "--evidence", tmp_path / "evidence", folder=tmp_path)
    assert (done.returncode, done.stdout) == (0, "no records yet: rankwork run all --params smoke\n")
    assert Store(tmp_path / "evidence").entries() == []


@pytest.mark.slow
def test_lab_opens_the_first_notebook(tmp_path: Path) -> None:
    workbook(tmp_path, "print(1)")
    command = [sys.executable, "-m", "rankwork.cli", "lab", "--no-browser", "--allow-root", "--port=0"]
    process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    try:
        addresses = (line for line in process.stderr if "/lab/tree/notebooks/00_start_here.ipynb?token=" in line)
        assert next(addresses, None) is not None
    finally:
        process.kill()
        process.communicate()


def test_a_closed_pipe_is_no_error(files: Path) -> None:
    command = f"{sys.executable} -m rankwork.cli audit run.trec judgements.txt -m R@1 --format json | true"
    done = subprocess.run(["bash", "-o", "pipefail", "-c", command], cwd=files, capture_output=True, text=True)
    assert done.stderr == ""


def test_records_are_compared_by_id_folder_and_file(complete_record: Path, record_copy: Copy, tmp_path: Path) -> None:
    folder, name = complete_record.parents[1], complete_record.name
    assert rankwork("export", name[:8], tmp_path / "a.zip", folder=folder).returncode == 0
    for one, two in ((name[:8], complete_record), (tmp_path / "a.zip", name)):
        same = rankwork("compare", one, two, folder=folder)
        assert same.returncode == 0, same.stderr
        assert "same: same scores bit for bit in 1 list; same members; same order" in same.stdout
    other = rewritten(record_copy(), {"k": 4})
    different = rankwork("compare", name[:8], other, folder=folder)
    assert different.returncode == 1
    assert "DIFFERENT: " in different.stdout
    assert "came out: k: 3 against 4" in different.stdout
    facts = json.loads(rankwork("compare", name[:8], other, "--json", folder=folder).stdout)
    assert (facts["same"], facts["first_difference"]) == (False, "k: 3 against 4")


def test_a_record_travels_as_one_file(complete_record: Path, tmp_path: Path) -> None:
    workbook(tmp_path, "print(1)")
    name = complete_record.name
    exported = rankwork("export", complete_record, "a.zip", folder=tmp_path)
    assert (exported.returncode, exported.stdout) == (0, f"a.zip: record {name}\n")
    imported = rankwork("import", "a.zip", "--json", folder=tmp_path)
    assert imported.returncode == 0, imported.stderr
    assert (json.loads(imported.stdout)["record_id"], json.loads(imported.stdout)["new"]) == (name, True)
    assert rankwork("verify", name[:8], folder=tmp_path).returncode == 0
    assert "was here already" in rankwork("import", "a.zip", folder=tmp_path).stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ("compare", "abc", "abd"),
        ("compare", "run.trec", "run.trec"),
        ("compare", "abc"),
        ("export", "abc", "a.zip"),
        ("import", "nowhere.zip"),
        ("import", "run.trec"),
        ("import", "."),
    ],
)
def test_what_is_no_record_exits_with_2_and_one_sentence(files: Path, arguments: tuple[str, ...]) -> None:
    workbook(files, "print(1)")
    done = rankwork(*arguments, folder=files)
    assert done.returncode == 2
    assert done.stderr
    assert "Traceback" not in done.stderr
    assert not list((files / "evidence").glob("[0-9a-f]*"))


def test_engines_are_observed_as_a_table_or_as_a_report_that_compares(tmp_path: Path) -> None:
    """Another answer in the second report is a difference found: exit 1; another version alone is none."""
    command = ("engines", "--only", "numpy.argsort stable reversed")
    assert "highest position  yes" in rankwork(*command, folder=tmp_path).stdout
    done = rankwork(*command, "--json", folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    report = json.loads(done.stdout)
    (tmp_path / "one.json").write_text(done.stdout)
    entry = report["engines"]["numpy.argsort stable reversed"]
    entry["version"] = "1.0"
    (tmp_path / "newer.json").write_text(json.dumps(report))
    entry["outcome"]["answers"]["six documents"] = [0, 1, 2]
    (tmp_path / "other.json").write_text(json.dumps(report))
    same = rankwork("engines", "--compare", "one.json", "newer.json", folder=tmp_path)
    assert (same.returncode, same.stdout.splitlines()[0]) == (0, "the same behaviour")
    other = rankwork("engines", "--compare", "one.json", "other.json", folder=tmp_path)
    assert (other.returncode, other.stdout.splitlines()[0]) == (1, "another behaviour")
    facts = json.loads(rankwork("engines", "--compare", "one.json", "other.json", "--json", folder=tmp_path).stdout)
    assert (facts["same_behaviour"], facts["counts"]["behaviour"]) == (False, 1)
