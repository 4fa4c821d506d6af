"""Which entries of a listing are meant: by notebook, parameter, status, date and tag."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, get_args

from rankwork.errors import InputError
from rankwork.evidence.manifest import Status
from rankwork.evidence.parameters import parse_yaml
from rankwork.evidence.store import Entry

STATUSES = (*get_args(Status), "running", "damaged")


@dataclass(frozen=True)
class Selection:
    """What an entry must be; what is left out may be anything. Dates are moments in UTC."""

    notebook: str = ""
    parameters: Mapping[str, str] = field(default_factory=dict)
    statuses: tuple[str, ...] = ()
    since: datetime | None = None
    before: datetime | None = None
    tags: tuple[str, ...] = ()
    scratch: bool = False

    def __bool__(self) -> bool:
        """Whether it asks for anything."""
        return self != Selection()

    def meets(self, entry: Entry) -> bool:
        """Whether an entry is all that is asked."""
        return (
            entry.notebook.startswith(self.notebook)
            and (not self.statuses or entry.status in self.statuses)
            and set(self.tags) <= set(entry.tags)
            and not (self.scratch and entry.record_id)
            and self._within(entry.started)
            and all(
                name in entry.parameters and _is(entry.parameters[name], text) for name, text in self.parameters.items()
            )
        )

    def _within(self, started: str) -> bool:
        if self.since is None and self.before is None:
            return True
        try:
            moment = _in_utc(datetime.fromisoformat(started))
        except ValueError:
            return False
        return (self.since is None or self.since <= moment) and (self.before is None or moment < self.before)


def selection(
    *,
    notebook: str | None = None,
    assignments: tuple[str, ...] = (),
    statuses: tuple[str, ...] = (),
    since: str | None = None,
    until: str | None = None,
    before: str | None = None,
    tags: tuple[str, ...] = (),
    scratch: bool = False,
) -> Selection:
    """A selection from texts: `assignments` are `name=value`, dates are ISO; `until` includes the whole day.

    InputError for what is no assignment, status or date.

    >>> selection(until="2026-11-30").before.isoformat()
    '2026-12-01T00:00:00+00:00'
    """
    ends = [_moment(text, after=day) for text, day in ((until, True), (before, False)) if text]
    return Selection(
        notebook=notebook or "",
        parameters=dict(_assignment(text) for text in assignments),
        statuses=tuple(_status(text) for text in statuses),
        since=_moment(since) if since else None,
        before=min(ends, default=None),
        tags=tags,
        scratch=scratch,
    )


def _assignment(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise InputError(f"-p {text}: 'name=value' was expected")
    return name, value


def _status(text: str) -> str:
    if text not in STATUSES:
        raise InputError(f"status must be one of {', '.join(STATUSES)}, got {text!r}")
    return text


def _moment(text: str, *, after: bool = False) -> datetime:
    """The moment that a text names: of a day its beginning or, with `after`, its end."""
    try:
        day = date.fromisoformat(text)
    except ValueError:
        return _instant(text)
    return datetime.combine(day + timedelta(days=after), time(), UTC)


def _instant(text: str) -> datetime:
    try:
        return _in_utc(datetime.fromisoformat(text))
    except ValueError:
        raise InputError(f"a date such as 2026-11-30 or 2026-11-30T18:00 was expected, got {text!r}") from None


def _in_utc(moment: datetime) -> datetime:
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment


def _is(value: Any, text: str) -> bool:
    """Whether a parameter has the value that a text names, read as the parameter's own type."""
    if isinstance(value, str):
        return value == text
    asked = parse_yaml(text, "-p")
    return value == asked and isinstance(value, bool) == isinstance(asked, bool)
