"""The report on a file of verdicts, and `rankwork judge`."""

import json
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from rankwork.cli import main
from rankwork.diagnosis.judge_report import judge_report, scale_of
from rankwork.errors import ContractError, InputError
from rankwork.inputs.invented_judges import DRIFTED, JUDGE, PEOPLE, invented_answers
from rankwork.inputs.models import write_models
from rankwork.inputs.verdicts import Verdict

_, ANSWERS = invented_answers(24, seed=0)
JUDGED = [verdict for judge in (JUDGE, DRIFTED) for verdict in judge.grades(ANSWERS, seed=1)]
AGAIN = JUDGE.grades(ANSWERS, seed=1, repetition=2)
PERSONS = PEOPLE.grades(ANSWERS, seed=1)


@dataclass(frozen=True)
class Shown:
    returncode: int
    stdout: str
    stderr: str


Judge = Callable[..., Shown]
Files = tuple[Path, Path]


@pytest.fixture
def judge(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Judge:
    """`rankwork judge` with its exit code, in this process."""

    def run(*arguments: object) -> Shown:
        monkeypatch.setattr(sys, "argv", ["rankwork", "judge", *map(str, arguments)])
        with pytest.raises(SystemExit) as left:
            main()
        return Shown(int(str(left.value.code)), *capsys.readouterr())

    return run


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("verdicts")
    write_models(folder / "judges.jsonl", [*JUDGED, *AGAIN])
    write_models(folder / "people.jsonl", PERSONS)
    return folder / "judges.jsonl", folder / "people.jsonl"


def test_a_report_has_people_judges_and_repetitions() -> None:
    found = judge_report([*JUDGED, *AGAIN], PERSONS, margin=0.1, across=("version",))
    assert [len(part) for part in (found.judges, found.against_people, found.among, found.repeated)] == [2, 2, 1, 1]
    assert found.scale.values == (0, 1, 2, 3)
    assert found.alpha is not None
    assert any("low margin" in each.reasons for each in found.escalated)
    told = found.to_json()
    assert json.loads(json.dumps(told, allow_nan=False)) == told
    lows = [each.slice("all").kappa_interval for each in found.against_people]
    assert found.least_kappa == min(low.low for low in lows if low)


def test_judges_are_compared_only_across_what_was_asked_for() -> None:
    """And what was not compared is named, not passed over."""
    found = judge_report(JUDGED)
    assert (found.among, found.alpha) == ((), None)
    assert found.not_compared == ((JUDGE.key, DRIFTED.key),)
    assert "differ in version: not compared unless asked" in str(found)
    with pytest.raises(ContractError, match="there is no 'temperature'"):
        judge_report(JUDGED, across=("temperature",))
    other = [verdict.model_copy(update={"rubric": "r2"}) for verdict in PERSONS]
    with pytest.raises(ContractError, match="differ in rubric"):
        judge_report(JUDGED, other)
    assert judge_report(JUDGED, other, across=("rubric",)).against_people


def test_a_report_on_one_judge_alone_says_what_it_can() -> None:
    found = judge_report([v.model_copy(update={"repetition": 1}) for v in AGAIN])
    assert (found.against_people, found.among, found.alpha, found.least_kappa) == ((), (), None, None)
    assert "for a person: " in str(found)


def test_values_that_make_no_scale_are_refused() -> None:
    wrong: list[list[int | str]] = [[1], [1, "good"], []]
    for values in wrong:
        with pytest.raises(InputError, match="make no scale"):
            scale_of(values)


def test_the_command_prints_what_the_report_says(judge: Judge, files: Files) -> None:
    shown = judge(*files)
    assert (shown.returncode, shown.stderr) == (0, "")
    assert shown.stdout.strip() == str(judge_report([*JUDGED, *AGAIN], PERSONS))
    told = judge(*files, "--json", "--scale", "0,1,2,3", "--weights", "none", "--across", "version")
    assert len(json.loads(told.stdout)["among"]) == 1
    assert json.loads(told.stdout)["against_people"][0]["weights"] is None


def test_the_command_finds_a_kappa_wanting(judge: Judge, files: Files) -> None:
    assert judge(*files, "--min-kappa", ".2").returncode == 0
    assert judge(*files, "--min-kappa", ".95").returncode == 1


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        (["--scale", "0,1"], "is off the scale [0, 1]"),
        (["--scale", "0"], "a scale needs at least two values"),
        (["--level", "nominal", "--scale", "3,2,1,0"], "a scale stands from lowest to highest"),
    ],
)
def test_a_users_mistake_is_one_sentence(judge: Judge, files: Files, extra: list[str], message: str) -> None:
    shown = judge(*files, *extra)
    assert (shown.returncode, shown.stdout) == (2, "")
    assert shown.stderr.startswith("error: ")
    assert message in shown.stderr
    assert len(shown.stderr.splitlines()) == 1


def test_mistakes_about_files_are_sentences(judge: Judge, files: Files, tmp_path: Path) -> None:
    assert "people.csv cannot be read" in judge(files[0], tmp_path / "people.csv").stderr
    (tmp_path / "people.csv").write_text("item,value,model\na,1,m\na,1,m\n")
    shown = judge(files[0], tmp_path / "people.csv")
    assert "m has two verdicts on item 'a'" in shown.stderr
    assert "name their file" in judge(files[0], "--min-kappa", ".5").stderr
    apart = [Verdict(item="elsewhere", value=n, model="people", rubric="r1") for n in (1,)]
    write_models(tmp_path / "apart.jsonl", apart)
    assert "share no item" in judge(files[0], tmp_path / "apart.jsonl").stderr


DATA = os.environ.get("RANKWORK_DATA")


@pytest.mark.skipif(not DATA, reason="RANKWORK_DATA names no folder with the LLMJudge files")
def test_the_command_reads_real_judgements(judge: Judge) -> None:
    folder = Path(str(DATA)) / "llmjudge"
    shown = judge(folder / "willia-umbrela1.txt", folder / "human_test_qrel.txt", "--json")
    found = json.loads(shown.stdout)["against_people"][0]["slices"][0]
    assert (found["agreement"]["items"], found["clusters"]) == (4423, 25)


@pytest.mark.skipif(not DATA, reason="RANKWORK_DATA names no folder with TREC RAG's citations")
def test_real_citation_judgements_give_the_tracks_weighted_scores() -> None:
    """Precision by half marks is the mean support of citations; recall that of sentences: both by plain counting."""
    import gzip

    from rankwork.diagnosis.citations import CitationRules, citations_report
    from rankwork.inputs.trec_rag import read_citation_judgements

    (path,) = (Path(str(DATA)) / "trecrag24").glob("*citation*")
    report = citations_report(*read_citation_judgements(path), rules=CitationRules(partial=0.5))
    answers = [json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]
    by_sentence = [[[int(c["support"]) / 2 for c in s["citations"]] for s in a["sentences"]] for a in answers]
    precision = [sum(map(sum, answer)) / sum(map(len, answer)) for answer in by_sentence if any(answer)]
    recall = [sum(max(sentence, default=0) for sentence in answer) / len(answer) for answer in by_sentence]
    assert report.mean("precision").value == pytest.approx(sum(precision) / len(precision))
    assert report.mean("recall").value == pytest.approx(sum(recall) / len(recall))
    assert report.citations == 2840
