"""Cases and traces: what is read back equals what was written, and what cannot be read is named with its place."""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, get_args

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from rankwork.errors import InputError
from rankwork.inputs import traces as files
from rankwork.inputs.traces import (
    case_schema,
    read_cases,
    read_tables,
    read_traces,
    trace_schema,
    write_cases,
    write_traces,
)
from rankwork.trace import Case, Item, Stage, Trace
from tests.traces import CASES, TRACES

NAMES = ["t.jsonl", "t.jsonl.gz", "t.parquet"]
quick = settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))


def small(case: str = "c1", *, run: str = "") -> Trace:
    item = Item(id="d1", rank=1, score=0.5)
    return Trace(case=case, run=run, stages=(Stage(kind="retrieve", route="bm25", returned=1, items=(item,)),))


@pytest.mark.parametrize("name", NAMES)
@quick
@given(found=st.lists(TRACES, min_size=1, max_size=3, unique_by=lambda trace: (trace.case, trace.run)))
def test_traces_come_back_as_they_were_written(name: str, found: list[Trace]) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / name
        assert write_traces(path, found) == len(found)
        assert list(read_traces(path)) == found


@pytest.mark.parametrize("name", NAMES)
@quick
@given(found=st.lists(CASES, min_size=1, max_size=3, unique_by=lambda case: case.id))
def test_cases_come_back_as_they_were_written(name: str, found: list[Case]) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / name
        assert write_cases(path, found) == len(found)
        assert read_cases(path) == tuple(found)


def test_a_file_of_many_row_groups_is_one_stream(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A group ends at its number of items, so that a long file is never held as a whole."""
    monkeypatch.setattr(files, "GROUP_ITEMS", 3)
    found = [small(f"c{number}") for number in range(7)]
    write_traces(tmp_path / "t.parquet", iter(found))
    batches = list(read_tables(tmp_path / "t.parquet"))
    assert [len(batch) for batch in batches] == [3, 3, 1]
    assert {batch.schema for batch in batches} == {trace_schema()}
    assert list(read_traces(tmp_path / "t.parquet")) == found


@pytest.mark.parametrize(("model", "schema"), [(Trace, trace_schema()), (Case, case_schema())])
def test_every_field_has_a_column(model: Any, schema: Any) -> None:
    """Arrow drops what a schema does not name, without a word."""

    def check(fields: Any, columns: Any, place: str) -> None:
        assert list(fields) == [column.name for column in columns], place
        for column, field in zip(columns, fields.values(), strict=True):
            inner = [kind for kind in nested(field.annotation) if issubclass(kind, BaseModel)]
            if inner and column.name != "parts":  # a claim in a claim: JSON
                kind = column.type
                while pa.types.is_list(kind):
                    kind = kind.value_type
                check(inner[0].model_fields, kind, f"{place}.{column.name}")

    check(model.model_fields, schema, model.__name__)


def nested(annotation: Any) -> Iterator[type]:
    """The types that an annotation is built of."""
    if isinstance(annotation, type):
        yield annotation
    for inner in get_args(annotation):
        yield from nested(inner)


def test_item_ids_are_codes_in_the_batches(tmp_path: Path) -> None:
    write_traces(tmp_path / "t.parquet", [small()])
    (batch,) = read_tables(tmp_path / "t.parquet")
    ids = batch.column("stages").flatten().field("items").flatten().field("id")
    assert ids.indices.to_pylist() == [0]
    assert ids.dictionary.to_pylist() == ["d1"]


def test_another_writers_parquet_is_read_by_the_schema(tmp_path: Path) -> None:
    """Plain text columns, 32-bit numbers, columns that are not there: they become the declared ones."""
    from pyarrow import parquet

    item = pa.struct([("id", pa.string()), ("rank", pa.int32()), ("score", pa.float32())])
    stage = pa.struct([("kind", pa.large_string()), ("returned", pa.int16()), ("items", pa.large_list(item))])
    rows = [{"kind": "retrieve", "returned": 1, "items": [{"id": "d1", "rank": 1, "score": 0.5}]}]
    table = pa.table({"stages": pa.array([rows], pa.list_(stage)), "case": ["c1"]})
    parquet.write_table(table, tmp_path / "t.parquet")
    (batch,) = read_tables(tmp_path / "t.parquet")
    assert batch.schema == trace_schema()
    (trace,) = read_traces(tmp_path / "t.parquet")
    assert trace.stages[0].items == (Item(id="d1", rank=1, score=0.5),)


def written(path: Path, *rows: Any) -> Path:
    path.write_text("\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows))
    return path


STAGE: dict[str, Any] = {"kind": "retrieve", "returned": 1, "items": [{"id": "d1", "rank": 1, "score": 0.5}]}


def broken(**item: Any) -> dict[str, Any]:
    return {"case": "c2", "stages": [{**STAGE, "items": [{**STAGE["items"][0], **item}]}]}


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (broken(score="high"), "t.jsonl line 2: stages.0.items.0.score: input should be a valid number, got 'high'"),
        (broken(score=float("nan")), "stages.0.items.0.score: input should be a finite number, got nan"),
        (broken(rank="1"), "stages.0.items.0.rank: input should be a valid integer, got '1'"),
        (broken(colour=1), "stages.0.items.0.colour: there is no such field"),
        (broken(kept=False, rank=None, drop_reason="bored"), "stages.0.items.0.drop_reason: input should be"),
        (broken(drop_reason="quota"), "stages.0.items.0: item 'd1' is kept, yet has the drop reason 'quota'"),
        ({"case": "c2", "stages": [{**STAGE, "returned": 2}]}, "stages.0: stage retrieve: 2 items claimed, 1 kept"),
        ({"run": "a"}, "line 2: case: this field must be there"),
        ({"case": 5, "run": 6}, "case: input should be a valid string, got 5 (and 1 more)"),
        ("{'case': 1}", "line 2: invalid JSON"),
        ("[]", "line 2: input should be an object"),
        ({"case": "c1"}, "t.jsonl line 2: the trace of case 'c1' in run '' stands at line 1 already"),
    ],
)
def test_a_line_that_is_no_trace_is_named_with_its_place(tmp_path: Path, row: Any, message: str) -> None:
    path = written(tmp_path / "t.jsonl", {"case": "c1"}, row)
    with pytest.raises(InputError) as raised:
        list(read_traces(path))
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)


def test_empty_lines_are_passed_over_and_counted(tmp_path: Path) -> None:
    path = written(tmp_path / "t.jsonl", {"case": "c1"}, "", "  ", {"case": ""})
    with pytest.raises(InputError, match=r"^t.jsonl line 4: case: string should have at least 1 character, got ''$"):
        list(read_traces(path))


def test_a_case_that_stands_twice_is_refused(tmp_path: Path) -> None:
    row = {"id": "c1", "query": "why?"}
    with pytest.raises(InputError, match=r"^c.jsonl line 2: case 'c1' stands at line 1 already$"):
        read_cases(written(tmp_path / "c.jsonl", row, row))


def test_one_case_may_stand_in_two_runs(tmp_path: Path) -> None:
    write_traces(tmp_path / "t.jsonl", [small(run="a"), small(run="b")])
    assert [trace.run for trace in read_traces(tmp_path / "t.jsonl")] == ["a", "b"]


@pytest.mark.parametrize("name", NAMES)
def test_a_file_without_a_trace_is_refused(tmp_path: Path, name: str) -> None:
    write_traces(tmp_path / name, [])
    with pytest.raises(InputError, match=f"^{name} is empty$"):
        list(read_traces(tmp_path / name))


@pytest.mark.parametrize("name", NAMES)
def test_a_file_that_is_not_there_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match=f"^{name} cannot be read: No such file"):
        list(read_traces(tmp_path / name))
    with pytest.raises(InputError, match=f"^{name} cannot be read: No such file"):
        list(read_tables(tmp_path / name))


def test_truncated_files_are_refused(tmp_path: Path) -> None:
    for name in NAMES[1:]:
        write_traces(tmp_path / name, [small()])
        (tmp_path / name).write_bytes((tmp_path / name).read_bytes()[:-9])
        with pytest.raises(InputError, match=rf"^{name} is (a gzip file that is truncated|no parquet file)"):
            list(read_traces(tmp_path / name))


def test_a_parquet_row_that_is_no_trace_is_named(tmp_path: Path) -> None:
    from pyarrow import parquet

    rows = [{"case": "c1"}, {"case": "c2", "stages": [{**STAGE, "returned": 3}]}]
    parquet.write_table(pa.Table.from_pylist(rows, schema=trace_schema()), tmp_path / "t.parquet")
    with pytest.raises(InputError, match=r"^t.parquet row 1: stages.0: stage retrieve: 3 items claimed, 1 kept"):
        list(read_traces(tmp_path / "t.parquet"))


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"case": ["c1"], "colour": ["red"]}, "there is no such column as colour"),
        ({"case": ["c1"], "stages": [[{"kind": "fuse", "k": 3}]]}, "there is no such column as stages.k"),
        ({"case": [["c1"]]}, "column case must hold string, it holds list<"),
        ({"case": ["c1"], "latency_ms": ["soon"]}, "column latency_ms must hold double, it holds string"),
        (
            {"case": ["c1"], "stages": [[{"parameters": "{"}]]},
            "from row 0 on: parameters and parts of claims must be JSON",
        ),
    ],
)
def test_columns_that_are_not_the_schemas_are_refused(tmp_path: Path, columns: Any, message: str) -> None:
    from pyarrow import parquet

    parquet.write_table(pa.table(columns), tmp_path / "t.parquet")
    with pytest.raises(InputError, match=f"^t.parquet:? {message}"):
        list(read_traces(tmp_path / "t.parquet"))


def test_a_number_beyond_64_bits_does_not_fit_parquet(tmp_path: Path) -> None:
    trace = small().model_copy(update={"latency_ms": None})
    large = Trace.model_validate({**trace.model_dump(), "events": {"index_bytes": 2**63}})
    with pytest.raises(InputError, match=r"^rows 0 to 0 do not fit the columns"):
        write_traces(tmp_path / "t.parquet", [large])
    assert list(tmp_path.iterdir()) == []


def test_a_file_appears_complete_or_not_at_all(tmp_path: Path) -> None:
    def failing() -> Any:
        yield small()
        raise RuntimeError

    for name in NAMES:
        with pytest.raises(RuntimeError):
            write_traces(tmp_path / name, failing())
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(InputError, match=r"^t.jsonl cannot be written: No such file"):
        write_traces(tmp_path / "missing" / "t.jsonl", [small()])


def test_a_gzip_file_has_the_same_bytes_each_time(tmp_path: Path) -> None:
    for name in ("a.jsonl.gz", "b.jsonl.gz"):
        write_traces(tmp_path / name, [small()])
    assert (tmp_path / "a.jsonl.gz").read_bytes() == (tmp_path / "b.jsonl.gz").read_bytes()
    line = gzip.decompress((tmp_path / "a.jsonl.gz").read_bytes())
    assert Trace.model_validate_json(line) == small()
