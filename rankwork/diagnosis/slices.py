"""What a set of cases consists of: slices, origins and splits, counted by case and by cluster; and whether it holds.

A slice with few clusters says little, however many cases it has: that is said, and no number of it should be read
without. Cases that were made up carry the bias of who made them: their share is shown wherever they are counted.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from rankwork.diagnosis.splits import cluster_of
from rankwork.trace import Case

FEWEST = 10  # clusters: as many as a verdict needs that differ


@dataclass(frozen=True)
class Slice:
    """The cases of one slice; "" is all of them. `enough` is whether it has as many clusters as asked for."""

    name: str
    cases: int
    clusters: int
    origins: Counter[str]
    splits: Counter[str]
    fewest: int

    @property
    def enough(self) -> bool:
        """Whether it has enough clusters to say something."""
        return self.clusters >= self.fewest

    @property
    def synthetic(self) -> float:
        """The share of cases that were made up."""
        return self.origins["synthetic"] / self.cases

    def to_json(self) -> dict[str, Any]:
        """What JSON holds of it."""
        counts = {"origins": dict(self.origins), "splits": dict(self.splits)}
        return {"name": self.name, "cases": self.cases, "clusters": self.clusters, "enough": self.enough, **counts}

    def __str__(self) -> str:
        origins = ", ".join(f"{count} {name}" for name, count in sorted(self.origins.items()))
        few = "" if self.enough else f"; too few: {self.fewest} clusters are needed"
        return f"{self.name or 'all'}: {self.cases} cases in {self.clusters} clusters ({origins}){few}"


def slices_of(cases: Iterable[Case], *, fewest: int = FEWEST) -> tuple[Slice, ...]:
    """All cases, then each slice, by name; a case counts in every slice that it names.

    >>> print(*slices_of([Case(id="a", query="?", slices=("fresh",), origin="synthetic")]), sep="; ")
    all: 1 cases in 1 clusters (1 synthetic); too few: 10 clusters are needed; fresh: 1 cases in 1 clusters
    (1 synthetic); too few: 10 clusters are needed
    """
    held: dict[str, list[Case]] = {"": []}
    for case in cases:
        for name in dict.fromkeys(("", *case.slices)):
            held.setdefault(name, []).append(case)
    return tuple(_slice(name, held[name], fewest) for name in sorted(held) if held[name])


def _slice(name: str, cases: Sequence[Case], fewest: int) -> Slice:
    origins: Counter[str] = Counter(case.origin for case in cases)
    splits: Counter[str] = Counter(case.split for case in cases)
    return Slice(name, len(cases), len({cluster_of(case) for case in cases}), origins, splits, fewest)


def valid(cases: Iterable[Case], *, now: datetime | None = None) -> tuple[tuple[Case, ...], tuple[Case, ...]]:
    """The cases whose gold holds when they are asked, and those that are stale: to be counted, never scored.

    A case is asked at its own `time`; one without is asked `now`, if that is given.
    """
    given = list(cases)
    holding = [case.holds_at(case.time or now) for case in given]
    return (
        tuple(case for case, holds in zip(given, holding, strict=True) if holds),
        tuple(case for case, holds in zip(given, holding, strict=True) if not holds),
    )
