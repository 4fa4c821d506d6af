"""What an importer made of another tool's records, and what it has to say about it."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from rankwork.digest import digest
from rankwork.trace import Case, Trace


@dataclass(frozen=True)
class Imported:
    """Traces, the cases that came with them, and notes: what was not there, and what took its place, each counted."""

    traces: tuple[Trace, ...]
    cases: tuple[Case, ...] = ()
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        return "\n".join([f"{len(self.traces)} traces, {len(self.cases)} cases", *self.notes])


def content_id(text: str) -> str:
    """An ID for text that came without one: a digest of its words, so that spaces and line ends make no difference.

    >>> content_id("Leave is 30 days.") == content_id(" Leave  is 30 days. ")
    True
    """
    return f"content:{digest(text.split())[:16]}"


def counted(notes: Iterable[str]) -> tuple[str, ...]:
    """Each note once, with how often it came, in order of first appearance."""
    return tuple(note if number == 1 else f"{note} ({number} times)" for note, number in Counter(notes).items())
