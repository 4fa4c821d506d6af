"""Cases and traces in files: JSON lines, plain or gzip, or parquet with one row each.

Either is read as a stream, a block of lines or a row group at a time, so that what is held does not grow with the file.
What is read back equals what was written. A line or row that is no case, or no trace, is an InputError with its place.
"""

import gzip
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import ValidationError

from rankwork.errors import InputError
from rankwork.inputs.json_lines import lines
from rankwork.inputs.refusals import refusal
from rankwork.inputs.text_blocks import opening
from rankwork.inputs.trace_tables import as_declared, case_schema, check_fields, objects_of, row_of, trace_schema
from rankwork.trace import Case, Trace

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "case_schema", "read_case_tables", "read_cases", "read_tables", "read_traces", "trace_schema", "write_cases",
    "write_traces",
]  # fmt: skip

GROUP_ROWS = 4096  # rows of a row group, or fewer if they hold many items:
GROUP_ITEMS = 100_000  # what is held as Python objects while a row group is built
ROWS_AT_ONCE = 256  # as Python objects they are many times larger than as columns
_MAGIC = b"PAR1"

T = TypeVar("T", Case, Trace)


def read_traces(path: str | os.PathLike[str]) -> Iterator[Trace]:
    """The traces of a file, one at a time, JSON lines or parquet told by content.

    InputError, with line (or row, from 0) and field, for what is no trace, for a case that stands twice in one run, and
    for a file that is empty or cannot be read.
    """
    return _unique(path, Trace, trace_schema, lambda trace: f"the trace of case {trace.case!r} in run {trace.run!r}")


def read_cases(path: str | os.PathLike[str]) -> tuple[Case, ...]:
    """The cases of a file, in its order. InputErrors as for `read_traces`, and for a case ID that stands twice."""
    return tuple(_unique(path, Case, case_schema, lambda case: f"case {case.id!r}"))


def write_traces(path: str | os.PathLike[str], traces: Iterable[Trace]) -> int:
    """Write traces as they come and return their number: parquet or gzip if the name ends in `.parquet` or `.gz`.

    The file appears complete or not at all. InputError for a folder that cannot be written and for a number that is
    beyond 64 bits.
    """
    return _write(Path(path), traces, trace_schema)


def write_cases(path: str | os.PathLike[str], cases: Iterable[Case]) -> int:
    """Write cases, as `write_traces` does."""
    return _write(Path(path), cases, case_schema)


def read_tables(path: str | os.PathLike[str]) -> "Iterator[pa.RecordBatch]":
    """The traces of a parquet file as record batches of `trace_schema()`, one a row group: for work by columns.

    No trace is checked. Text columns are decoded to dictionaries, columns that the file lacks are null. InputError for
    a file that is no parquet file, and for a column of another type.
    """
    return _tables(Path(path), trace_schema())


def read_case_tables(path: str | os.PathLike[str]) -> "Iterator[pa.RecordBatch]":
    """The cases of a parquet file as record batches of `case_schema()`; the rest as for `read_tables`."""
    return _tables(Path(path), case_schema())


def _unique(
    path: str | os.PathLike[str], kind: type[T], schema: "Callable[[], pa.Schema]", name: Callable[[T], str]
) -> Iterator[T]:
    seen: dict[str, str] = {}
    for place, value in _objects(Path(path), kind, schema):
        earlier = seen.setdefault(name(value), place)
        if earlier != place:
            raise InputError(f"{Path(path).name} {place}: {name(value)} stands at {earlier} already")
        yield value
    if not seen:
        raise InputError(f"{Path(path).name} is empty")


def _objects(path: Path, kind: type[T], schema: "Callable[[], pa.Schema]") -> Iterator[tuple[str, T]]:
    rows = _rows(path, schema()) if opening(path, len(_MAGIC)).startswith(_MAGIC) else _lines(path)
    for place, held in rows:
        try:
            yield place, _made(kind, held)
        except ValidationError as error:
            raise InputError(f"{path.name} {place}: {refusal(error)}") from error


def _made(kind: type[T], held: Any) -> T:
    if isinstance(held, bytes):
        return kind.model_validate_json(held, strict=True)
    return kind.model_validate(held)


def _lines(path: Path) -> Iterator[tuple[str, bytes]]:
    return ((f"line {number}", line) for number, line in lines(path))


def _rows(path: Path, schema: "pa.Schema") -> Iterator[tuple[str, dict[str, Any]]]:
    number = 0
    for batch in _tables(path, schema):
        for start in range(0, len(batch), ROWS_AT_ONCE):
            for row in _fields(f"{path.name} from row {number} on", batch.slice(start, ROWS_AT_ONCE)):
                yield f"row {number}", row
                number += 1


def _fields(place: str, batch: "pa.RecordBatch") -> list[dict[str, Any]]:
    try:
        return objects_of(batch)
    except ValueError as error:
        raise InputError(f"{place}: parameters and parts of claims must be JSON: {error}") from error


def _tables(path: Path, schema: "pa.Schema") -> "Iterator[pa.RecordBatch]":
    import pyarrow as pa
    from pyarrow import parquet

    try:
        with path.open("rb") as plain, parquet.ParquetFile(plain) as file:
            check_fields(path.name, file.schema_arrow, schema)
            for group in range(file.num_row_groups):
                yield from as_declared(path.name, file.read_row_group(group), schema).to_batches()
    except OSError as error:
        raise InputError(f"{path.name} cannot be read: {error.strerror or error}") from error
    except pa.ArrowException as error:
        raise InputError(f"{path.name} is no parquet file that can be read: {error}") from error


def _write(path: Path, values: Iterable[Case] | Iterable[Trace], schema: "Callable[[], pa.Schema]") -> int:
    scratch = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        written = (
            _write_rows(scratch, values, schema()) if path.suffix == ".parquet" else _write_lines(scratch, path, values)
        )
        scratch.replace(path)
    except OSError as error:
        raise InputError(f"{path.name} cannot be written: {error.strerror}") from error
    finally:
        with suppress(OSError):
            scratch.unlink()
    return written


def _write_lines(scratch: Path, path: Path, values: Iterable[Case] | Iterable[Trace]) -> int:
    written = 0
    with scratch.open("wb") as plain:
        packed = gzip.GzipFile("", "wb", fileobj=plain, mtime=0) if path.suffix == ".gz" else None
        file = packed or plain
        for written, value in enumerate(values, 1):  # noqa: B007
            file.write(value.model_dump_json(exclude_defaults=True).encode() + b"\n")
        if packed:
            packed.close()
    return written


def _write_rows(scratch: Path, values: Iterable[Case] | Iterable[Trace], schema: "pa.Schema") -> int:
    import pyarrow as pa
    from pyarrow import parquet

    written = 0
    options: dict[str, Any] = {"compression": "zstd", "dictionary_pagesize_limit": 2**24}  # IDs stay codes
    with scratch.open("wb") as plain, parquet.ParquetWriter(plain, schema, **options) as file:
        for group in _groups(values):
            try:
                file.write_batch(pa.RecordBatch.from_pylist([row_of(value) for value in group], schema=schema))
            except (pa.ArrowException, OverflowError) as error:
                raise InputError(
                    f"rows {written} to {written + len(group) - 1} do not fit the columns: {error}"
                ) from error
            written += len(group)
    return written


def _groups(values: Iterable[Case] | Iterable[Trace]) -> Iterator[list[Case | Trace]]:
    """The values in lists of few enough rows and items to be held as Python objects."""
    group: list[Case | Trace] = []
    items = 0
    for value in values:
        group.append(value)
        items += sum(len(stage.items) for stage in getattr(value, "stages", ()))
        if len(group) == GROUP_ROWS or items >= GROUP_ITEMS:
            yield group
            group, items = [], 0
    if group:
        yield group
