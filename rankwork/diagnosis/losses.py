"""How much gold evidence survives each step, and how much of it is lost there, for which reason, in which slice."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rankwork.diagnosis.facts import Facts
from rankwork.diagnosis.matrix import Diagnosis

if TYPE_CHECKING:
    import pandas as pd

STEPS = ("retrieve", "fuse", "rerank", "context", "prompt")
ALL = "all"


@dataclass(frozen=True)
class Losses:
    """Counts of gold evidence: `entered` by (slice, step), `lost` by (slice, step, reason), `rows` by (slice, row).

    The reason is the cause of the diagnosis. A step that a trace did not run has neither.
    """

    entered: Counter[tuple[str, str]] = field(default_factory=Counter)
    lost: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    rows: Counter[tuple[str, str]] = field(default_factory=Counter)

    def add(self, found: Diagnosis, slices: Iterable[str]) -> None:
        """Count one piece of evidence."""
        lost_at, steps = found.facts.lost_at, steps_of(found.facts)
        for name in (ALL, *slices):
            self.rows[name, found.row] += 1
            for step in steps:
                self.entered[name, step] += 1
                if step == lost_at:
                    self.lost[name, step, found.cause] += 1

    @property
    def steps(self) -> tuple[str, ...]:
        """The steps that some piece entered, in the order in which they run."""
        return tuple(step for step in STEPS if self.entered[ALL, step])

    def survived(self, step: str, *, among: str = ALL) -> int:
        """How many pieces were handed on by a step."""
        gone = sum(count for (name, at, _), count in self.lost.items() if (name, at) == (among, step))
        return self.entered[among, step] - gone

    def to_pandas(self) -> "pd.DataFrame":
        """One row a slice, step and reason, with the count and its share of what entered the step."""
        import pandas as pd

        rows = [
            {"slice": name, "step": step, "reason": reason, "lost": count, "entered": self.entered[name, step]}
            for (name, step, reason), count in sorted(self.lost.items(), key=_place)
        ]
        table = pd.DataFrame(rows, columns=["slice", "step", "reason", "lost", "entered"])
        table["share"] = table["lost"] / table["entered"]
        return table

    def to_json(self) -> list[dict[str, Any]]:
        """The same as JSON holds it."""
        return [{str(name): value for name, value in row.items()} for row in self.to_pandas().to_dict("records")]


def steps_of(facts: Facts) -> list[str]:
    """The steps that the evidence entered: all up to the one that lost it."""
    ran = [standing.kind for standing in facts.standings] + ([] if facts.in_prompt is None else ["prompt"])
    steps = [step for step in STEPS if step in ran]
    return steps[: steps.index(facts.lost_at) + 1] if facts.lost_at in steps else steps


def _place(entry: tuple[tuple[str, str, str], int]) -> tuple[bool, str, int, int, str]:
    (name, step, reason), count = entry
    return name != ALL, name, STEPS.index(step), -count, reason


def slices_of(cases: Mapping[str, Any]) -> list[str]:
    """All slices of the cases, in the order in which they appear."""
    return list(dict.fromkeys(name for case in cases.values() for name in case.slices))
