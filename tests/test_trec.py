"""TREC files: the right answer, or a sentence that names file, line and value."""

import gzip
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rankwork.errors import InputError, RankworkError
from rankwork.inputs.text_blocks import whole_text
from rankwork.inputs.trec import read_judgements, read_run, run_lines, write_run
from rankwork.inputs.trec_columns import RUN
from rankwork.inputs.trec_lines import all_rows
from rankwork.rankings import Rankings

GOOD = b"q1 Q0 a 1 2.5 tag\nq1 Q0 b 2 2.5 tag\nq2 Q0 a 1 -1e3 tag\n"
ROWS = {"q1": [("a", 2.5), ("b", 2.5)], "q2": [("a", -1000.0)]}


def read(folder: Path, data: bytes, *, ranks: bool = False) -> Rankings:
    (folder / "run.trec").write_bytes(data)
    return read_run(folder / "run.trec", ranks=ranks)


def rows_of(run: Rankings) -> dict[str, list[tuple[str, float]]]:
    return {query: run.rows(query) for query in run.queries}


@pytest.mark.parametrize(
    "data",
    [
        GOOD,
        GOOD.rstrip(b"\n"),
        GOOD.replace(b" ", b"\t"),
        GOOD.replace(b" ", b"  \t "),
        GOOD.replace(b"\n", b"\r\n"),
        GOOD.replace(b"\n", b"\r"),
        GOOD.replace(b"\n", b"  \n  "),
        GOOD.replace(b"\n", b"\n\n \t\n"),
        b"\xef\xbb\xbf" + GOOD,
        b"# a comment\n" + GOOD + b"#another\n  # and another",
        gzip.compress(GOOD, mtime=0),
        GOOD.replace(b"tag\n", b"tag and more, as trec_eval allows\n"),
        GOOD.replace(b"2.5", b"+2.5"),
        GOOD.replace(b"2.5", b"25e-1"),
        GOOD.replace(b"tag", b'"tag'),
        GOOD.replace(b"tag", b"caf\xe9"),
    ],
)
def test_one_run_in_many_dresses(tmp_path: Path, data: bytes) -> None:
    """Tabs, spaces, line ends, byte order mark, comments, gzip, text behind the tag: the same rankings."""
    run = read(tmp_path, data)
    assert rows_of(run) == ROWS
    assert run.scores.dtype == np.float64


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (GOOD + b"q2 Q0 b 2 abc tag\n", "run.trec line 4: score 'abc' is not a number"),
        (GOOD + b"q2 Q0 b 2 1_000 tag\n", "run.trec line 4: score '1_000' is not a number"),
        (GOOD + b"q2 Q0 b 2 0x1p3 tag\n", "run.trec line 4: score '0x1p3' is not a number"),
        (GOOD + b"q2 Q0 b 2 NaN tag\n", "run.trec line 4: score 'NaN' is not finite"),
        (GOOD + b"q2 Q0 b 2 -inf tag\n", "run.trec line 4: score '-inf' is not finite"),
        (GOOD + b"q2 Q0 b 2 1e999 tag\n", "run.trec line 4: score '1e999' is beyond the range of float64"),
        (GOOD + b"q2 Q0 b 2 1.0\n", r"run.trec line 4: expected 6 fields \(query Q0 document rank score tag\), got 5"),
        (GOOD + b"q2 Q0 my doc 2 1.0 tag\n", "run.trec line 4: expected 6 fields .*, got 7"),
        (
            GOOD + b"q2 Q0 doc 7 2 1.0 tag\n",
            "run.trec line 4: expected 6 fields .*, got 7; an ID must not hold a space",
        ),
        (GOOD + b"q1 Q0 a 2 1.0 tag\n", "run.trec line 4: document 'a' of query 'q1' was given on line 1 already"),
        (GOOD + b"q2 Q0 b\x00 2 1.0 tag\n", "run.trec line 4: there is a NUL byte in it"),
        (GOOD + b"q2 Q0 b\xff 2 1.0 tag\n", r"run.trec line 4: document ID 'b\\\\xff' is not UTF-8"),
        (b"# only\n" + GOOD.replace(b"-1e3", b"x"), "run.trec line 4: score 'x' is not a number"),
        (b"", "run.trec is empty"),
        (b" \n\r\n", "run.trec is empty"),
        (b"# nothing else\n", "run.trec is empty: it holds comments only"),
        (GOOD.decode().encode("utf-16"), "run.trec is UTF-16 text: it must be UTF-8"),
        (gzip.compress(GOOD, mtime=0)[:-9], "run.trec is a gzip file that is truncated or damaged"),
        (gzip.compress(GOOD, mtime=0)[:12] + b"junk", "run.trec is a gzip file that is truncated or damaged"),
    ],
)
def test_what_cannot_be_read_is_named(tmp_path: Path, data: bytes, message: str) -> None:
    """File, line, value and expectation, and no path of the machine."""
    with pytest.raises(InputError, match=message) as refusal:
        read(tmp_path, data)
    assert str(tmp_path) not in str(refusal.value)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nowhere.trec cannot be read: No such file or directory"):
        read_run(tmp_path / "nowhere.trec")


def test_a_long_value_is_shown_in_part(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"score 'x{40}…' is not a number"):
        read(tmp_path, b"q Q0 a 1 " + b"x" * 100_000 + b" tag")


def test_duplicates_can_be_kept_once_if_declared(tmp_path: Path) -> None:
    (tmp_path / "run.trec").write_bytes(GOOD + b"q1 Q0 a 3 9 tag\n")
    assert read_run(tmp_path / "run.trec", duplicates="keep_first").rows("q1") == [("b", 2.5), ("a", 9.0)]


def test_integers_beyond_float64_stay_exact(tmp_path: Path) -> None:
    """2**53 and 2**53 + 1 are not tied; a mixed column is float64."""
    run = read(tmp_path, b"q Q0 a 1 9007199254740992 t\nq Q0 b 2 9007199254740993 t\n")
    assert run.scores.dtype == np.int64
    assert run.documents[run.codes[run.order("id_asc")]].tolist() == ["b", "a"]
    assert read(tmp_path, b"q Q0 a 1 9007199254740993 t\nq Q0 b 2 0.5 t\n").scores.dtype == np.float64
    assert read(tmp_path, b"q Q0 a 1 99999999999999999999 t\n").scores.dtype == np.float64


def test_ranks_are_read_when_asked_for_only(tmp_path: Path) -> None:
    odd = GOOD.replace(b"a 1 2.5", b"a first 2.5")
    assert read(tmp_path, odd).ranks is None
    with pytest.raises(InputError, match=r"run.trec line 1: rank 'first' is not an integer"):
        read(tmp_path, odd, ranks=True)
    ranks = read(tmp_path, GOOD.replace(b"b 2", b"b 0"), ranks=True).ranks
    assert ranks is not None
    assert ranks.tolist() == [1, 0, 1]


def test_judgements_come_as_grades(tmp_path: Path) -> None:
    """Integers as integers, others as floats; negative grades are unjudged and counted."""
    (tmp_path / "qrels").write_bytes(b"1 4.5  a 2\n1 0 b -1\n2 0 a 0\n")
    judged = read_judgements(tmp_path / "qrels")
    assert (judged.grades_of("1"), judged.grades_of("2"), judged.negatives) == ({"a": 2}, {"a": 0}, 1)
    assert judged.grades.dtype == np.int64
    (tmp_path / "qrels").write_bytes(b"1 0 a 0.5\n")
    assert read_judgements(tmp_path / "qrels").grades_of("1") == {"a": 0.5}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"1 0 c x", "qrels line 2: grade 'x' is not a number"),
        (b"1 0 c -1", "qrels line 2: grade -1 is negative"),
        (b"1 0 c", r"qrels line 2: expected 4 fields \(query iteration document grade\), got 3"),
        (b"1 Q0 c 1 2.5 tag", "qrels line 2: expected 4 fields .*, got 6"),
        (b"1 0 a 1", "qrels line 2: document 'a' of query '1' was given on line 1 already"),
    ],
)
def test_judgements_that_cannot_be_read_are_named(tmp_path: Path, line: bytes, message: str) -> None:
    (tmp_path / "qrels").write_bytes(b"1 0 a 1\n" + line)
    with pytest.raises(InputError, match=message):
        read_judgements(tmp_path / "qrels", negative="refuse")


WORDS = [b"q1", b"q2", b"Q0", b"a", b"b", b"1", b"2.5", b"-3", b"nan", b"1e400", b"tag"]
MARKS = [b"#", b"\x00", b"\xff", b'"', b" ", b"\t", b"\n", b"\r\n", b"\x0b", b",", b"\\", b"\xc2\xa0"]
PIECES = st.sampled_from(WORDS + MARKS)
LINES = st.tuples(
    st.sampled_from(["q1", "q2"]), st.sampled_from(["a", "b", "#c", '"d', "é"]), st.sampled_from(["1", "-2.5", "1e3"])
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=300)
@given(st.lists(PIECES, max_size=30).map(b" ".join) | st.lists(PIECES, max_size=30).map(b"".join), LINES)
def test_the_fast_reader_agrees_with_the_careful_one(tmp_path: Path, junk: bytes, line: tuple[str, str, str]) -> None:
    """Whatever the bytes: both give the same rows, or the file is refused."""
    data = " ".join([line[0], "Q0", line[1], "1", line[2], "tag\n"]).encode() + junk
    path = tmp_path / "run.trec"
    path.write_bytes(data)
    try:
        fast = rows_of(read_run(path))
    except RankworkError:
        fast = {}
    try:
        name, text = whole_text(path)
        rows = all_rows(name, text, RUN, False, True)
        careful = rows_of(Rankings.of_columns(rows.columns, rows.scores()))
    except RankworkError:
        careful = {}
    assert fast == careful


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=5),
    st.sampled_from(["run.trec", "run.trec.gz"]),
)
def test_what_is_written_reads_back_to_the_same_bits(tmp_path: Path, scores: list[float], name: str) -> None:
    run = Rankings.from_dicts({"q": {f"d{place}": score for place, score in enumerate(scores)}})
    write_run(run, tmp_path / name)
    back = read_run(tmp_path / name, ranks=True)
    assert back.scores.tobytes() == run.scores.tobytes()
    assert back.candidates_digest == run.candidates_digest
    assert back.ranks is not None
    assert back.ranks.tolist() == list(range(1, len(scores) + 1))


def test_writing_twice_gives_the_same_bytes(tmp_path: Path) -> None:
    """A gzip file carries no time and no name."""
    run = Rankings.from_dicts({"q": {"a": 1.0}})
    for name in ("one.gz", "two.gz"):
        write_run(run, tmp_path / name)
    assert (tmp_path / "one.gz").read_bytes() == (tmp_path / "two.gz").read_bytes()
    assert (tmp_path / "one.gz").read_bytes()[3:8] == bytes(5)  # no name in the flags, no time


def test_float32_scores_are_written_exactly() -> None:
    run = Rankings.from_columns(["q"], ["a"], np.array([0.1], np.float32))
    assert list(run_lines(run, tag="t")) == ["q Q0 a 1 0.10000000149011612 t\n"]


def test_an_id_with_a_space_cannot_be_written(tmp_path: Path) -> None:
    """Nothing half-written is left behind."""
    for run in ({"q": {"a b": 1.0}}, {"q 1": {"a": 1.0}}, {"#q": {"a": 1.0}}, {"q": {"": 1.0}}):
        with pytest.raises(InputError, match="cannot be written in the TREC format"):
            write_run(Rankings.from_dicts(run), tmp_path / "run.trec")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the folder's place")
    with pytest.raises(InputError, match=r"run.trec cannot be written: Not a directory"):
        write_run(Rankings.from_dicts({"q": {"a": 1.0}}), tmp_path / "file" / "run.trec")
