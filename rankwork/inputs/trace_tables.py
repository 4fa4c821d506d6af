"""The Arrow schema of cases and traces, and the way between their objects and rows: one row each, lists nested.

What repeats (IDs, kinds, reasons, versions) is dictionary-encoded: codes are read faster than text, and compared as
integers. Free-form objects have no columns, so a stage's `parameters` and the `parts` of a claim are canonical JSON.
Null is the field's default, which is None for all that may be unknown.
"""

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from rankwork.digest import canonical_json
from rankwork.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa

JSON_COLUMNS = ("parameters", "parts")
MAP_COLUMNS = ("snapshot",)


def trace_schema() -> "pa.Schema":
    """The columns of a trace file: one row a trace, `stages` a list of structs that hold `items`, a list of structs.

    >>> [str(trace_schema().field("stages").type.value_type.field("items").type.value_type.field(0).type)]
    ['dictionary<values=string, indices=int32, ordered=0>']
    """
    import pyarrow as pa

    text, code, real, whole, flag = _types()
    usage = {"model": code, "calls": whole, "input_tokens": whole, "output_tokens": whole, "cost": real}
    return pa.schema(
        {
            "case": text,
            "run": code,
            "query": text,
            "time": pa.timestamp("us", tz="UTC"),
            "identity": _struct({"tenant": code, "role": code}),
            "unit": code,
            "snapshot": pa.map_(text, text),
            "protocol": code,
            "stages": pa.list_(_stage_type()),
            "prompt": _struct({"ids": pa.list_(code), "tokens": whole}),
            "answer": text,
            "refused": flag,
            "claims": _claims_type(),
            "citations": _list({"id": code, "claim": text, "source": code, "revision": code, "supports": code}),
            "usage": _list({**usage, "currency": code}),
            "events": _events_type(),
            "latency_ms": real,
        }
    )


def case_schema() -> "pa.Schema":
    """The columns of a case file: one row a case, `requires` a list of structs, each with its list `any_of`."""
    import pyarrow as pa

    text, code, _, whole, _ = _types()
    moment = pa.timestamp("us", tz="UTC")
    anchor = {"source": code, "revision": code, "start": whole, "end": whole, "quote": text}
    return pa.schema(
        {
            "id": text,
            "query": text,
            "time": moment,
            "identity": _struct({"tenant": code, "role": code}),
            "requires": _list({"any_of": _list({"id": code, **anchor, "grade": whole}), "name": code}),
            "points": pa.list_(text),
            "variants": pa.list_(text),
            "expected": code,
            "slices": pa.list_(code),
            "split": code,
            "origin": code,
            "cluster": code,
            "excludes": pa.list_(code),
            "valid_from": moment,
            "valid_until": moment,
        }
    )


def _types() -> tuple[Any, ...]:
    import pyarrow as pa

    return pa.string(), pa.dictionary(pa.int32(), pa.string()), pa.float64(), pa.int64(), pa.bool_()


def _struct(fields: Mapping[str, Any]) -> Any:
    import pyarrow as pa

    return pa.struct(list(fields.items()))


def _list(fields: Mapping[str, Any]) -> Any:
    import pyarrow as pa

    return pa.list_(_struct(fields))


def _stage_type() -> Any:
    text, code, real, whole, flag = _types()
    item = {"id": code, "rank": whole, "score": real, "previous_id": code, "kept": flag, "drop_reason": code}
    asked = {"kind": code, "route": code, "requested": whole, "returned": whole, "complete": flag, "window": whole}
    found = {"dtype": code, "order": code, "latency_ms": real, "status": code, "parameters": text}
    return _struct(
        {**asked, **found, "items": _list({**item, "acl": code, "tenant": code, "source": code, "revision": code})}
    )


def _claims_type() -> Any:
    text, code, real, _, flag = _types()
    verdict = {"label": code, "weight": real, "needs_evidence": flag, "correct": flag, "relevant": flag}
    return _list({"id": text, "text": text, **verdict, "point": text, "parts": text})


def _events_type() -> Any:
    import pyarrow as pa

    text, code, real, whole, flag = _types()
    return _struct(
        {
            "injected_ids": pa.list_(code),
            "injection_flagged": flag,
            "tools": _list({"tool": code, "permitted": flag, "executed": flag, "injected": flag}),
            "cache_hits": _list({"key": text, "tenant": code, "ids": pa.list_(code)}),
            "cache_lookups": whole,
            "signals": _list({"kind": code, "id": code}),
            "index_build_s": real,
            "index_bytes": whole,
        }
    )


def row_of(value: Any) -> dict[str, Any]:
    """The row of a Case or a Trace: what Arrow builds its columns from."""
    row: dict[str, Any] = _changed(value.model_dump())
    return row


def objects_of(batch: "pa.RecordBatch") -> list[dict[str, Any]]:
    """The fields of the Case or Trace in each row; nulls are left out, for the defaults to take their place.

    Arrow's own `to_pylist` decodes a dictionary value by value; by columns it takes a fraction of the time.
    """
    rows: list[dict[str, Any]] = _values(batch.to_struct_array())
    return rows


def _values(array: "pa.Array") -> list[Any]:
    import pyarrow as pa

    kind = array.type
    if pa.types.is_dictionary(kind):
        return _decoded(array)
    if pa.types.is_struct(kind):
        return _dicts(array)
    if pa.types.is_list(kind):
        return _lists(array)
    found: list[Any] = array.to_pylist()
    return found


def _decoded(array: "pa.DictionaryArray") -> list[Any]:
    texts = array.dictionary.to_pylist()
    return [None if code is None else texts[code] for code in array.indices.to_pylist()]


def _dicts(array: "pa.StructArray") -> list[Any]:
    names = [field.name for field in array.type]
    columns = [_column(name, _values(column)) for name, column in zip(names, array.flatten(), strict=True)]
    rows = zip(array.is_valid().to_pylist(), *columns, strict=True)
    return [
        {name: held for name, held in zip(names, values, strict=True) if held is not None} if there else None
        for there, *values in rows
    ]


def _column(name: str, values: list[Any]) -> list[Any]:
    way = json.loads if name in JSON_COLUMNS else dict if name in MAP_COLUMNS else None
    return [None if held is None else way(held) for held in values] if way else values


def _lists(array: "pa.ListArray") -> list[Any]:
    from pyarrow import compute

    inner, lengths = _values(array.flatten()), compute.list_value_length(array).to_pylist()
    start, found = 0, []
    for length in lengths:
        found.append(None if length is None else inner[start : start + length])
        start += length or 0
    return found


def check_fields(name: str, given: "pa.Schema", declared: "pa.Schema") -> None:
    """InputError for a column, at any depth, that the schema does not declare."""
    strange = next(_strange(given, declared, ""), None)
    if strange is not None:
        raise InputError(f"{name}: there is no such column as {strange}; the schema is that of rankwork.inputs.traces")


def as_declared(name: str, table: "pa.Table", declared: "pa.Schema") -> "pa.Table":
    """The columns in the types and the order of the schema; those that are not there are null."""
    import pyarrow as pa

    columns = []
    for field in declared:
        if field.name not in table.column_names:
            columns.append(pa.chunked_array([pa.nulls(len(table), field.type)]))
        elif (column := table.column(field.name)).type == field.type:
            columns.append(column)
        else:
            columns.append(_cast(name, field, column))
    return pa.table(columns, schema=declared)


def _cast(name: str, field: "pa.Field", column: "pa.ChunkedArray") -> "pa.ChunkedArray":
    import pyarrow as pa

    try:
        return column.cast(field.type)
    except pa.ArrowException as error:
        raise InputError(
            f"{name}: column {field.name} must hold {field.type}, it holds {column.type}: {error}"
        ) from error


def _strange(given: Any, declared: Any, place: str) -> Iterator[str]:
    """The names of fields in `given` (a schema or a struct) that `declared` lacks."""
    known = {field.name: field for field in declared}
    for field in given:
        if field.name not in known:
            yield f"{place}{field.name}"
        else:
            inner = _fields_of(field.type), _fields_of(known[field.name].type)
            yield from _strange(*inner, f"{place}{field.name}.")


def _fields_of(kind: Any) -> Any:
    import pyarrow as pa

    while pa.types.is_list(kind) or pa.types.is_large_list(kind):
        kind = kind.value_type
    return kind if pa.types.is_struct(kind) else ()


def _changed(value: Any, name: str = "") -> Any:
    if name in JSON_COLUMNS:
        return canonical_json(value)
    if name in MAP_COLUMNS:
        return list(value.items())
    if isinstance(value, Mapping):
        return {key: _changed(held, key) for key, held in value.items() if held is not None}
    if isinstance(value, list | tuple):
        return [_changed(held) for held in value]
    return value
