"""Spans as tracing tools export them, one JSON object a line, brought into one shape.

Three shapes are known: that of OpenTelemetry's Python SDK (`context`, `attributes`), that of a Phoenix table
(columns such as `context.trace_id` and `attributes.retrieval.documents`), and OTLP's JSON (`resourceSpans`). Nested
attributes are flattened, so that a document is `retrieval.documents.0.document.id` in all of them.
"""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from rankwork.errors import InputError
from rankwork.inputs.json_lines import objects
from rankwork.trace import moment

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_UNITS = ((10**17, 10**6), (10**14, 10**3), (0, 1))  # from this size on a time has so many units a millisecond


@dataclass(frozen=True)
class Span:
    """One step of a run, with its attributes under flat names; None is what the export does not say."""

    trace: str
    id: str
    parent: str | None
    name: str
    kind: str
    start: datetime | None
    latency_ms: float | None
    failed: bool
    attributes: Mapping[str, Any]

    def text(self, *names: str) -> str | None:
        """The first of these attributes that is text."""
        return next((found for name in names if isinstance(found := self.attributes.get(name), str) and found), None)

    def number(self, name: str) -> Any:
        """An attribute that is a number; None if it is something else, or not there."""
        found = self.attributes.get(name)
        return found if isinstance(found, int | float) and not isinstance(found, bool) else None


def read_spans(path: str | os.PathLike[str]) -> Iterator[Span]:
    """The spans of a file, plain or gzip. InputError, with the line, for what is no span."""
    for place, exported in objects(path):
        yield from spans_of(place, exported)


def spans_of(place: str, exported: Mapping[str, Any]) -> Iterator[Span]:
    """The spans in one exported object: one, or those of OTLP's `resourceSpans`."""
    resources = exported.get("resourceSpans")
    if resources is None:
        yield _span(place, exported)
        return
    try:
        found = [span for resource in resources for scope in resource["scopeSpans"] for span in scope["spans"]]
    except (KeyError, TypeError) as error:
        raise InputError(f"{place}: resourceSpans must hold scopeSpans, which hold spans") from error
    for span in found:
        yield _span(place, span)


def _span(place: str, exported: Any) -> Span:
    try:
        return _read(place, exported)
    except (AttributeError, KeyError, TypeError) as error:
        raise InputError(f"{place}: attributes, context and status of a span must be objects, {error}") from error


def _read(place: str, exported: Mapping[str, Any]) -> Span:
    context = exported.get("context") or {}
    flat = dict(_flattened(_attributes(exported), ""))
    trace = exported.get("traceId") or exported.get("context.trace_id") or context.get("trace_id")
    if not trace:
        raise InputError(f"{place}: expected a span with a trace ID (context.trace_id or traceId), got none")
    start, end = _time(place, exported, "start"), _time(place, exported, "end")
    return Span(
        trace=str(trace),
        id=str(exported.get("spanId") or exported.get("context.span_id") or context.get("span_id") or ""),
        parent=exported.get("parentSpanId") or exported.get("parent_id") or None,
        name=str(exported.get("name") or ""),
        kind=str(flat.get("openinference.span.kind") or exported.get("span_kind") or "").upper(),
        start=start,
        latency_ms=None if start is None or end is None else (end - start) / timedelta(milliseconds=1),
        failed=_failed(exported),
        attributes=flat,
    )


def _attributes(exported: Mapping[str, Any]) -> Mapping[str, Any]:
    given = exported.get("attributes")
    if isinstance(given, list):  # OTLP
        return {pair["key"]: _otlp_value(pair.get("value") or {}) for pair in given}
    columns = {
        name.removeprefix("attributes."): held for name, held in exported.items() if name.startswith("attributes.")
    }
    return {**(given or {}), **columns}


def _otlp_value(value: Mapping[str, Any]) -> Any:
    if "arrayValue" in value:
        return [_otlp_value(held) for held in value["arrayValue"].get("values", ())]
    if "kvlistValue" in value:
        return {pair["key"]: _otlp_value(pair.get("value") or {}) for pair in value["kvlistValue"].get("values", ())}
    if "intValue" in value:
        return int(value["intValue"])
    return next(iter(value.values()), None)


def _flattened(value: Any, name: str) -> Iterator[tuple[str, Any]]:
    pairs = value.items() if isinstance(value, Mapping) else enumerate(value) if _is_list_of_objects(value) else None
    if pairs is None:
        yield name, value
    else:
        for key, held in pairs:
            yield from _flattened(held, f"{name}.{key}" if name else str(key))


def _is_list_of_objects(value: Any) -> bool:
    return isinstance(value, list) and any(isinstance(held, Mapping) for held in value)


def _time(place: str, exported: Mapping[str, Any], which: str) -> datetime | None:
    given = exported.get(f"{which}_time") or exported.get(f"{which}TimeUnixNano")
    try:
        if isinstance(given, int) or (isinstance(given, str) and given.isdigit()):
            return _EPOCH + timedelta(milliseconds=int(given) / _units(int(given)))
        return None if given is None else moment(datetime.fromisoformat(given))
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"{place}: {which} time {given!r} is neither an ISO time nor a number of units") from error


def _units(given: int) -> int:
    """Nano-, micro- or milliseconds: exports differ, and only one of them makes a time of this age."""
    return next((units for least, units in _UNITS if given >= least), 1)


def _failed(exported: Mapping[str, Any]) -> bool:
    status = exported.get("status_code") or exported.get("status") or ""
    code = status.get("status_code") or status.get("code") if isinstance(status, Mapping) else status
    return str(code).upper().removeprefix("STATUS_CODE_") in ("ERROR", "2")
