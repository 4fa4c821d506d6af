"""Verdicts in files: what is read, and what is refused with its line."""

import gzip
from pathlib import Path

import pytest

from rankwork.errors import ContractError, InputError
from rankwork.inputs.models import write_models
from rankwork.inputs.trec_rag import read_citation_judgements
from rankwork.inputs.verdicts import (
    JudgeKey,
    PairVerdict,
    Scale,
    Verdict,
    of_key,
    read_pair_verdicts,
    read_verdicts,
    trec_verdicts,
)

VERDICTS = [
    Verdict(item="a", value=2, model="m", prompt="p", cluster="q", slices=("x", "y"), margin=0.25, risk="high"),
    Verdict(item="b", failure="no grade in the reply", model="m", prompt="p"),
]


def written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_json_lines_are_read_back_as_they_were_written(tmp_path: Path) -> None:
    write_models(tmp_path / "v.jsonl", VERDICTS)
    assert read_verdicts(tmp_path / "v.jsonl") == VERDICTS
    (tmp_path / "v.gz").write_bytes(gzip.compress((tmp_path / "v.jsonl").read_bytes()))
    assert read_verdicts(tmp_path / "v.gz") == VERDICTS


def test_csv_is_read_by_its_header(tmp_path: Path) -> None:
    """Numbers become numbers, an empty cell is the default, slices are parted by spaces."""
    text = "item,value,failure,model,prompt,cluster,slices,margin,risk\na,2,,m,p,q,x y,.25,high\n"
    text += 'b,,no grade in the reply,m,p,,,,\n"c, d",good,,m,p,,,,\n'
    found = read_verdicts(written(tmp_path / "v.csv", text))
    assert found[:2] == VERDICTS
    assert (found[2].item, found[2].value) == ("c, d", "good")
    signs = read_verdicts(written(tmp_path / "v.csv", "item,value,model\na,-1,m\nb,--1,m\n"))
    assert [verdict.value for verdict in signs] == [-1, "--1"]


def test_trec_judgements_are_verdicts_on_query_and_document(tmp_path: Path) -> None:
    path = written(tmp_path / "umbrela.txt", "q1 0 d1 3\nq1 0 d2 0\n")
    assert [(v.item, v.value, v.cluster, v.model) for v in read_verdicts(path)] == [
        ("q1 d1", 3, "q1", "umbrela.txt"),
        ("q1 d2", 0, "q1", "umbrela.txt"),
    ]
    assert trec_verdicts(path, model="m", rubric="r")[0].key == JudgeKey("m", rubric="r")
    with pytest.raises(ContractError, match="a judge has model, prompt"):
        trec_verdicts(path, rubric="r")
    with pytest.raises(InputError, match=r"grade 0\.5 of q1 d1 is no whole number"):
        trec_verdicts(written(tmp_path / "half", "q1 0 d1 0.5\n"), model="m")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"item": "a", "model": "m"}', r"v line 1: the verdict on 'a' needs either a value or a failure"),
        ('{"item": "a", "model": "m", "value": 1, "failure": "x"}', "needs either a value or a failure"),
        ('{"item": "a", "model": "m", "value": 1}\n{"item": "b"', "v line 2: invalid JSON"),
        ('{"item": "a", "model": "m", "value": 1, "grade": 2}', "v line 1: grade: there is no such field"),
        ('{"item": "a", "value": 1}', "v line 1: model: this field must be there"),
        (
            '{"item": "a", "model": "m", "value": 1, "repetition": 0}',
            "repetition: input should be greater than 0, got 0",
        ),
        ("item,value,model\na,1\n", "v line 2: expected 3 cells"),
        ("item,value,model\na,1,m,x\n", "v line 2: expected 3 cells"),
        ("item,value,model,margin\na,1,m,far\n", "v line 2: margin: .*got 'far'"),
        ("item,value\na,1\n", "v line 2: model: this field must be there"),
        ("", "v is empty"),
        ("q1 0 d1\n", "v line 1"),
    ],
)
def test_what_is_no_verdict_is_refused_with_its_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_verdicts(written(tmp_path / "v", text))


def test_verdicts_on_pairs(tmp_path: Path) -> None:
    pairs = [PairVerdict(pair="p1", winner="tie", model="m"), PairVerdict(pair="p2", failure="timeout", model="m")]
    write_models(tmp_path / "p.jsonl", pairs)
    assert read_pair_verdicts(tmp_path / "p.jsonl") == pairs
    with pytest.raises(InputError, match="p line 1: winner: input should be 'first', 'second' or 'tie', got 'A'"):
        read_pair_verdicts(written(tmp_path / "p", '{"pair": "p1", "winner": "A", "model": "m"}'))
    with pytest.raises(InputError, match="the verdict on pair 'p1' needs either a winner or a failure"):
        read_pair_verdicts(written(tmp_path / "p", '{"pair": "p1", "model": "m"}'))


def test_a_scale_knows_what_is_off_it() -> None:
    scale = Scale((0, 1, 2))
    assert scale.place(VERDICTS[0]) == 2
    assert scale.place(VERDICTS[1]) is None
    with pytest.raises(InputError, match=r"item 'a': 2 of m \(prompt p\) is off the scale \[0, 1\]"):
        Scale((0, 1)).place(VERDICTS[0])


@pytest.mark.parametrize(
    ("values", "level", "message"),
    [
        ((0,), "ordinal", "at least two values"),
        ((0, 1, 1), "ordinal", "each of them once"),
        ((2, 1), "ordinal", "from lowest to highest"),
        (("low", "high"), "interval", "an interval scale needs numbers"),
        ((0, 1), "ratio", "level must be nominal, ordinal or interval"),
    ],
)
def test_a_scale_that_is_none_is_refused(values: tuple[int, ...], level: str, message: str) -> None:
    with pytest.raises(ContractError, match=message):
        Scale(values, level)  # type: ignore[arg-type]


def test_the_verdicts_of_one_judge_are_found_by_parts_of_its_key() -> None:
    two = [*VERDICTS, Verdict(item="a", value=1, model="n")]
    assert of_key(two, model="n") == two[2:]
    with pytest.raises(InputError, match=r"no verdict is of model x; the judges are m \(prompt p\), n"):
        of_key(two, model="x")
    with pytest.raises(ContractError, match="there is no 'temperature'"):
        of_key(two, temperature="0")


def test_citation_judgements_of_the_rag_track(tmp_path: Path) -> None:
    line = '{"topic_id": "t", "run_id": "r", "sentences": [{"sentenceID": 0, "text": "A.", "citations": [%s]}, '
    line += '{"sentenceID": 1, "text": NaN, "citations": []}]}\n'
    good = '{"citationID": 0, "reference": "d", "support": "1"}'
    cases, traces = read_citation_judgements(written(tmp_path / "c", line % good))
    assert [case.id for case in cases] == ["t"]
    assert traces[0].run == "r"
    assert [claim.text for claim in traces[0].claims or ()] == ["A.", ""]
    assert [(c.id, c.claim, c.supports) for c in traces[0].citations or ()] == [("d", "sentence 1", "partial")]
    with pytest.raises(InputError, match=r"c line 1: sentences\.0\.citations\.0\.support: .*got '3'"):
        read_citation_judgements(written(tmp_path / "c", line % good.replace('"1"', '"3"')))
