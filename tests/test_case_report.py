"""What a set of cases consists of, who looked at its holdout, and one command that says so."""

import json
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from rankwork.diagnosis.case_report import case_report
from rankwork.diagnosis.looks import count_look, ledger, read_looks, sentence
from rankwork.diagnosis.slices import slices_of, valid
from rankwork.errors import ContractError, InputError
from rankwork.inputs.traces import write_cases
from rankwork.trace import Case
from tests.workbooks import rankwork

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
QUERIES = ("How long is parental leave?", "Who approves a trip abroad?", "Which port does the broker use?")


def some(**fields: Any) -> list[Case]:
    return [Case(id=f"c{place}", query=query, **fields) for place, query in enumerate(QUERIES)]


HELD = [
    case.model_copy(update={"split": split}) for case, split in zip(some(), ("dev", "holdout", "blind"), strict=True)
]


def test_slices_count_cases_clusters_and_origins() -> None:
    cases = [
        Case(id="a", query="?", slices=("fresh", "fresh"), cluster="k", origin="synthetic"),
        Case(id="b", query="?", slices=("fresh", "acl"), cluster="k", origin="traffic"),
        Case(id="c", query="?", split="holdout"),
    ]
    every, acl, fresh = slices_of(cases, fewest=2)
    assert (every.name, every.cases, every.clusters, every.enough) == ("", 3, 2, True)
    assert (acl.name, acl.cases) == ("acl", 1)
    assert (fresh.cases, fresh.clusters, fresh.enough, fresh.synthetic) == (2, 1, False, 0.5)
    assert every.splits == {"dev": 2, "holdout": 1}
    assert str(fresh) == "fresh: 2 cases in 1 clusters (1 synthetic, 1 traffic); too few: 2 clusters are needed"
    assert slices_of([]) == ()


def test_stale_cases_stand_apart() -> None:
    old = Case(id="old", query="?", valid_until=NOON)
    asked_then = Case(id="then", query="?", valid_until=NOON, time=NOON - timedelta(days=1))
    assert valid([old, asked_then]) == ((old, asked_then), ())
    assert valid([old, asked_then], now=NOON) == ((asked_then,), (old,))


def test_a_look_is_counted_for_every_guarded_split(tmp_path: Path) -> None:
    """The moment in UTC, what for, by which record, and which cases they were."""
    path = tmp_path / "kb.jsonl"
    east = timezone(timedelta(hours=2))
    made = count_look(path, HELD, what="chunker 2", by="4f0c", now=datetime(2026, 3, 1, 14, tzinfo=east))
    assert [(look.split, look.date, look.by) for look in made] == [
        ("holdout", "2026-03-01T12:00:00+00:00", "4f0c"),
        ("blind", "2026-03-01T12:00:00+00:00", "4f0c"),
    ]
    assert read_looks(path) == made
    count_look(path, HELD[:2], what="chunker 3")
    assert [look.what for look in read_looks(path)] == ["chunker 2", "chunker 2", "chunker 3"]


def test_development_cases_may_be_looked_at_freely(tmp_path: Path) -> None:
    assert count_look(tmp_path / "kb.jsonl", HELD[:1], what="tuning") == ()
    assert list(tmp_path.iterdir()) == []


def test_the_sentence_tells_how_often_and_whether_they_were_these_cases(tmp_path: Path) -> None:
    path = tmp_path / "kb.jsonl"
    for cases in (HELD, HELD[::-1], [*HELD, Case(id="new", query="?", split="holdout")]):
        count_look(path, cases, what="x", now=NOON)
    expected = "the holdout was looked at 3 times, last on 2026-03-01; 2 of them with these very cases"
    assert sentence(read_looks(path), HELD) == expected
    assert sentence(read_looks(path)[:1], HELD).startswith("the holdout was looked at once, last on 2026-03-01; 1 of")
    assert sentence((), HELD, "blind") == "the blind was never looked at"


def test_a_look_must_say_what_for(tmp_path: Path) -> None:
    with pytest.raises(ContractError, match=r"^a look at a holdout must say what for$"):
        count_look(tmp_path / "kb.jsonl", HELD, what=" ")


def test_a_ledger_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"^kb.looks.jsonl cannot be written: No such file"):
        count_look(tmp_path / "missing" / "kb.jsonl", HELD, what="x")


@pytest.mark.parametrize(
    "line", ['{"date": "d"}', '{"date": 1, "what": "", "by": "", "split": "holdout", "cases": ""}',
             '{"date": "", "what": "", "by": "", "split": "dev", "cases": ""}']
)  # fmt: skip
def test_a_line_that_is_no_look_is_named(tmp_path: Path, line: str) -> None:
    ledger(tmp_path / "kb.jsonl").write_text(line)
    with pytest.raises(InputError, match=r"^kb.looks.jsonl line 1: expected a look with the texts date, what"):
        read_looks(tmp_path / "kb.jsonl")


def test_the_report_is_sound_where_nothing_leaks(tmp_path: Path) -> None:
    path = tmp_path / "kb.jsonl"
    write_cases(path, HELD)
    count_look(path, HELD, what="x", now=NOON)
    report = case_report(path, fewest=2)
    assert report.sound
    assert str(report).splitlines() == [
        "all: 3 cases in 3 clusters (3 expert)",
        "splits: 1 blind, 1 dev, 1 holdout",
        "the holdout was looked at once, last on 2026-03-01; 1 of them with these very cases",
        "the blind was looked at once, last on 2026-03-01; 1 of them with these very cases",
        "0 pairs of near duplicates, 0 of them in two splits",
    ]


def test_the_command_finds_a_leak_wanting(tmp_path: Path) -> None:
    leaking = [
        *HELD,
        Case(id="again", query=QUERIES[1].upper(), cluster="k"),
        Case(id="other", query="?", cluster="k", split="blind"),
    ]
    stale = Case(id="old", query="Where was the office?", time=NOON, valid_until=NOON)
    write_cases(tmp_path / "kb.jsonl", [*leaking, stale])
    done = rankwork("cases", "kb.jsonl", folder=tmp_path)
    assert done.returncode == 1
    assert "1 stale, left out of every score" in done.stdout
    assert "cluster k stands in two splits: case 'again' in dev, 'other' in blind" in done.stdout
    assert "c1 and again, in holdout and dev: 1.00 of their shingles are the same" in done.stdout
    found = json.loads(rankwork("cases", "kb.jsonl", "--json", folder=tmp_path).stdout)
    assert (found["sound"], found["stale"], len(found["near_duplicates"])) == (False, ["old"], 1)


def test_the_command_names_a_file_it_cannot_read(tmp_path: Path) -> None:
    done = rankwork("cases", "missing.jsonl", folder=tmp_path)
    assert (done.returncode, done.stderr) == (2, "error: missing.jsonl cannot be read: No such file or directory\n")
