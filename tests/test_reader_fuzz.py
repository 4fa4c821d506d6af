"""Whatever the bytes: the answer of a naive reader, or an error that names the file; never another answer."""

import gzip
import math
import re
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rankwork.errors import InputError
from rankwork.inputs import text_blocks
from rankwork.inputs.trec import read_judgements, read_run

Rows = list[tuple[str, str, float | int]]


@dataclass
class Refused(Exception):
    """What a file must be refused for, and on which line if it is one line's fault."""

    line: int | None = None


def naive(data: bytes, fields: int) -> Rows:
    """Rows of (query, document, number), read as the format's description says, one line at a time."""
    if data[:2] == b"\x1f\x8b":
        try:
            data = gzip.decompress(data)
        except (OSError, EOFError, zlib.error):
            raise Refused from None
    if data[:3] == b"\xef\xbb\xbf":
        data = data[3:]
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise Refused
    rows: Rows = []
    for number, line in enumerate(re.split(b"\r\n|\r|\n", data), 1):
        words = [word for word in re.split(b"[ \t\v\f]", line) if word]
        if words and words[0][:1] != b"#":
            row = naive_row(words, fields)
            if row is None or any(row[:2] == earlier[:2] for earlier in rows):
                raise Refused(number)
            rows.append(row)
    if not rows:
        raise Refused
    return exact(rows)


def naive_row(words: list[bytes], fields: int) -> tuple[str, str, Any] | None:
    """One row, its number still as text; None if it is none."""
    if words[0][:3] == b"\xef\xbb\xbf":  # files put together, each with its mark
        return None
    if len(words) < fields or b"\0" in b"".join(words) or (len(words) > fields and (fields == 4 or shifted(words))):
        return None
    text = words[4] if fields == 6 else words[3]
    value = plain_number(text)
    try:
        query, document = words[0].decode(), words[2].decode()
    except UnicodeDecodeError:
        return None
    return None if value is None or math.isinf(value) else (query, document, text)


def plain_number(text: bytes) -> float | None:
    """A decimal number in ASCII, without what else Python would take: underscores, nan, spaces, other digits."""
    if not set(text) <= set(b"0123456789+-.eE"):
        return None
    try:
        return float(text)
    except ValueError:
        return None


def is_integer(text: bytes) -> bool:
    return text.lstrip(b"+-").isdigit() and plain_number(text) is not None


def shifted(words: list[bytes]) -> bool:
    return not is_integer(words[3]) or plain_number(words[5]) is not None


def exact(rows: list[tuple[str, str, Any]]) -> Rows:
    """The numbers: integers if all are, one of them beyond 2**53, and all fit int64; else floats."""
    texts = [text for _, _, text in rows]
    large = any(abs(float(text)) >= 2**53 for text in texts)
    whole = large and all(map(is_integer, texts)) and all(-(2**63) <= int(text) < 2**63 for text in texts)
    return [(query, document, int(text) if whole else float(text)) for query, document, text in rows]


def found(path: Path, fields: int) -> Rows:
    """What our reader gives, in order of arrival as far as the grouping by query leaves it."""
    lists: Any = read_run(path) if fields == 6 else read_judgements(path)
    numbers = lists.scores if fields == 6 else lists.grades + 0  # a grade of -0.0 is 0
    triples = zip(lists.query_of_row.tolist(), lists.documents[lists.codes].tolist(), numbers.tolist(), strict=True)
    return [(lists.queries[query], document, number) for query, document, number in triples]


def grouped(rows: Rows) -> Rows:
    first = list(dict.fromkeys(query for query, _, _ in rows))
    return sorted(rows, key=lambda row: first.index(row[0]))


def check(path: Path, data: bytes, fields: int, *, first: bool = True) -> None:
    """Read the data both ways and compare: the same rows to the last bit, or refused, for the first line at fault."""
    path.write_bytes(data)
    try:
        expected = grouped(naive(data, fields))
    except Refused as refusal:
        line = f"line {refusal.line}: " if refusal.line and first else ""
        where = f"^{re.escape(path.name)} {line}"
        with pytest.raises(InputError, match=where):
            found(path, fields)
        return
    if fields == 4:  # negative grades are unjudged
        expected = [(query, document, grade + 0) for query, document, grade in expected if grade >= 0]
    answer = found(path, fields)
    assert [row[:2] for row in answer] == [row[:2] for row in expected]
    assert [float(row[2]).hex() for row in answer] == [float(row[2]).hex() for row in expected]
    assert [int(a[2]) for a in answer] == [int(e[2]) for e in expected]


PLAIN = ["1", "2.5", "-0.0", "1e5", "1E-3", "+1", ".5", "5.", "007", "-3", "1e-400", "0.1234567890123456789"]
LARGE = [2**53 + 1, 2**63 - 1, 2**63, 10**30]
WRONG = ["1_000", "0x10", "0x1p3", "nan", "-NaN", "inf", "+Infinity", "1e999", "-1e999", "١", "１", "1,5", "1.2.3", "",
         "-", ".", "e5", "1e", "--1", "1d5", "True"]  # fmt: skip
FLOATS = st.floats(allow_nan=False, allow_infinity=False)
NUMBERS = st.sampled_from([*PLAIN, *map(str, LARGE), *WRONG]) | FLOATS.map(repr)
IDS = st.sampled_from(["a", "b", "doc1", "é", "文", "#c", '"q', "a,b", "\\n", "\u00a0x", "\x1cx", "x" * 70, "1"])
SPACES = st.sampled_from([" ", " ", " ", "\t", "  ", " \t ", "\v", "\f"])
ENDS = st.sampled_from(["\n", "\n", "\n", "\r\n", "\r", " \n", "\n\n", "\t\r\n", "\n \n"])
QUERIES = st.sampled_from(["q1", "q1", "q2", "2"])


@st.composite
def lines(draw: st.DrawFn, fields: int, odd: bool) -> str:
    """A line that is well-formed, or nearly."""
    number = draw(NUMBERS) if odd else draw(st.sampled_from(["1", "2", "0.5", "3"]))
    document = draw(IDS) if odd else f"d{draw(st.integers(0, 10**6))}"
    run = [draw(QUERIES), "Q0", document, draw(st.sampled_from(["1", "2", "x"])) if odd else "1", number, "tag"]
    words = run if fields == 6 else [run[0], "0", document, number]
    if odd and draw(st.integers(0, 9)) == 0:
        words.insert(draw(st.integers(0, len(words))), draw(IDS))
    if odd and draw(st.integers(0, 9)) == 0:
        words.pop()
    space, end = (draw(SPACES), draw(ENDS)) if odd else (" ", "\n")
    return draw(st.sampled_from(["", "", "", " ", "# "])) + space.join(words) + end if odd else space.join(words) + end


@st.composite
def texts(draw: st.DrawFn, fields: int) -> bytes:
    """Some good lines, an odd one here and there, and perhaps damage: bytes changed, put in, or cut off."""
    parts = draw(st.lists(st.sampled_from([False] * 5 + [True]).flatmap(lambda odd: lines(fields, odd)), max_size=8))
    data = "".join(parts).encode()
    for _ in range(draw(st.sampled_from([0, 0, 0, 0, 1, 2]))):
        place = draw(st.integers(0, len(data)))
        put = draw(
            st.sampled_from([b"\0", b"\xff", b"\xc3", b"\xef\xbb\xbf", b" ", b"\n", b"\r", b"#", b"\x80abc", b"\x1a"])
        )
        data = data[:place] + put + data[place + draw(st.integers(0, 2)) :]
    return draw(st.sampled_from([b"", b"", b"", b"\xef\xbb\xbf"])) + data.rstrip(b"\n" if draw(st.booleans()) else b"")


@st.composite
def packed(draw: st.DrawFn) -> bytes:
    """A gzip file, whole, in two members, cut off, or with a byte changed or behind it."""
    data = gzip.compress(draw(texts(6)), mtime=0)
    if draw(st.booleans()):
        data += gzip.compress(draw(texts(6)), mtime=0)
    place = draw(st.integers(0, len(data) - 1))
    damaged = [
        data,
        data[:place],
        data[:place] + bytes([data[place] ^ 4]) + data[place + 1 :],
        data + b"\0",
        data + b"x",
    ]
    return draw(st.sampled_from(damaged))


many = settings(max_examples=250, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)


@many
@given(texts(6))
def test_any_run_is_read_right_or_refused(tmp_path: Path, data: bytes) -> None:
    check(tmp_path / "run.trec", data, 6)


@many
@given(texts(4))
def test_any_judgements_are_read_right_or_refused(tmp_path: Path, data: bytes) -> None:
    check(tmp_path / "qrels.txt", data, 4)


@many
@given(data=texts(6), size=st.integers(4, 60))
def test_where_blocks_meet_nothing_is_lost(tmp_path: Path, data: bytes, size: int) -> None:
    """The same with blocks of a few bytes, so that lines, line ends and numbers lie across their ends."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_blocks, "BLOCK", size)
        check(tmp_path / "run.trec", data, 6, first=False)  # a repeated document is found after all other faults


@many
@given(packed())
def test_any_gzip_file_is_read_right_or_refused(tmp_path: Path, data: bytes) -> None:
    check(tmp_path / "run.gz", data, 6)


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.binary(max_size=80) | st.text(max_size=60).map(lambda text: text.encode("utf-16")))
def test_any_bytes_are_read_right_or_refused(tmp_path: Path, data: bytes) -> None:
    check(tmp_path / "run.trec", data, 6)


@pytest.mark.parametrize("number", ["1", "abc", "1" * 300_000, "0." + "1" * 300_000])
def test_huge_lines_are_lines_as_any_other(tmp_path: Path, number: str) -> None:
    """An ID, a tag or a number of more than a block of text."""
    huge = "x" * 3_000_000
    lines = ["q Q0 a 1 2 t", f"q Q0 {huge} 2 {number} t", f"q Q0 b 3 1 {huge}", "# " + huge, "q Q0 c 4 1 t"]
    check(tmp_path / "run.trec", "\n".join(lines).encode(), 6)


def test_a_long_file_with_one_odd_line_far_inside_is_read_right_or_names_it(tmp_path: Path) -> None:
    """Line numbers count through all blocks; the rows before and behind stay as they are."""
    good = [f"{row // 1000} Q0 d{row} 1 {row}.5 t" for row in range(120_000)]
    path = tmp_path / "run.trec"
    for odd, message in (
        ("9 Q0 x 1 ١ t", "line 70001: score '١' is not a number"),
        ("9 Q0 d9001 1 1 t", "line 70001: "),
    ):
        path.write_text("\n".join([*good[:70_000], odd, *good[70_000:]]), encoding="utf-8")
        with pytest.raises(InputError, match=message):
            read_run(path)
    path.write_text("\n".join([*good[:70_000], "9\tQ0  x 1 +1 t", *good[70_000:]]), encoding="utf-8")
    run = read_run(path)
    assert (len(run), run.rows("9")[-1]) == (120_001, ("x", 1.0))
    assert np.array_equal(np.sort(run.scores), np.sort([1, *(row + 0.5 for row in range(120_000))]))


def test_the_comparison_notices_a_wrong_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader that reads one score for another, or reads what must be refused, fails the check."""
    data = b"q Q0 a 1 1.5 t\nq Q0 b 2 2.5 t\n"
    check(tmp_path / "run.trec", data, 6)
    monkeypatch.setattr("tests.test_reader_fuzz.found", lambda path, fields: [("q", "a", 1.5), ("q", "b", 2.25)])
    with pytest.raises(AssertionError):
        check(tmp_path / "run.trec", data, 6)
    with pytest.raises(pytest.fail.Exception, match="DID NOT RAISE"):
        check(tmp_path / "run.trec", data + b"q Q0 a 1 x t", 6)
