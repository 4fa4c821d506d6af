"""The alarm: the same was asked, and something else came out.

A recipe names everything that a result may depend on. Two complete records with one recipe and two results mean that
something else took part, and nothing that either says can be relied on until it is found.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from rankwork.evidence.comparing import compare
from rankwork.evidence.store import Entry, Store, read_manifest


@dataclass(frozen=True)
class Alarm:
    """Another result of the same recipe: in which record it stands, the first difference, the whole diagnosis."""

    record_id: str
    first_difference: str
    diagnosis: str

    def __str__(self) -> str:
        return f"ALARM: the same recipe gave another result in {self.record_id[:12]}: {self.first_difference}"


def alarm(folder: Path, store: Store) -> Alarm | None:
    """The latest complete record with the recipe of this one and another result; None where all agree."""
    return alarms([folder], store)[0]


def alarms(folders: Iterable[Path], store: Store) -> list[Alarm | None]:
    """The alarm of each record, or None; the store is listed once for all of them."""
    entries = store.entries()
    return [_alarm(folder, entries) for folder in folders]


def _alarm(folder: Path, entries: Sequence[Entry]) -> Alarm | None:
    kept = read_manifest(folder)
    if kept["status"] != "complete":
        return None
    others = [
        entry
        for entry in entries
        if (entry.recipe_digest, entry.status) == (kept["recipe_digest"], "complete")
        and entry.result_digest != kept["result_digest"]
    ]
    if not others:
        return None
    comparison = compare(Path(others[-1].path), folder)
    return Alarm(comparison.a.record_id, comparison.first or "not found in the values", comparison.diagnosis)
