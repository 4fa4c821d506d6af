"""The alarm: the same was asked, and something else came out.

A recipe names everything that a result may depend on. Two complete records with one recipe and two results mean that
something else took part, and nothing that either says can be relied on until it is found.
"""

from dataclasses import dataclass
from pathlib import Path

from rankwork.evidence.comparing import compare
from rankwork.evidence.store import Store, read_manifest


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
    kept = read_manifest(folder)
    if kept["status"] != "complete":
        return None
    others = [
        entry
        for entry in store.entries()
        if (entry.recipe_digest, entry.status) == (kept["recipe_digest"], "complete")
        and entry.result_digest != kept["result_digest"]
    ]
    if not others:
        return None
    comparison = compare(Path(others[-1].path), folder)
    return Alarm(comparison.a.record_id, comparison.first or "not found in the values", comparison.diagnosis)
