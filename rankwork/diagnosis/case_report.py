"""One page about a file of cases: what it consists of, what leaks between its splits, and who has looked."""

import os
from dataclasses import asdict, dataclass
from typing import Any

from rankwork.diagnosis.looks import GUARDED, Look, read_looks, sentence
from rankwork.diagnosis.slices import FEWEST, Slice, slices_of, valid
from rankwork.diagnosis.splits import NearDuplicate, check_clusters, near_duplicates
from rankwork.errors import InputError
from rankwork.inputs.traces import read_cases
from rankwork.trace import Case

_MOST_LINES = 10


@dataclass(frozen=True)
class CaseReport:
    """What there is to say about a set of cases; `sound` unless something leaks from one split to another."""

    cases: tuple[Case, ...]
    slices: tuple[Slice, ...]
    stale: tuple[Case, ...]
    torn: str | None
    near: tuple[NearDuplicate, ...]
    looks: tuple[Look, ...]

    @property
    def leaking(self) -> tuple[NearDuplicate, ...]:
        """Near duplicates in two splits."""
        return tuple(pair for pair in self.near if pair.leaks)

    @property
    def sound(self) -> bool:
        """Whether no cluster and no near duplicate stands in two splits."""
        return self.torn is None and not self.leaking

    def to_json(self) -> dict[str, Any]:
        """What JSON holds of it."""
        return {
            "sound": self.sound,
            "slices": [part.to_json() for part in self.slices],
            "stale": [case.id for case in self.stale],
            "cluster_in_two_splits": self.torn,
            "near_duplicates": [{**asdict(pair), "leaks": pair.leaks} for pair in self.near],
            "looks": [asdict(look) for look in self.looks],
        }

    def __str__(self) -> str:
        splits = ", ".join(f"{count} {name}" for name, count in sorted(self.slices[0].splits.items()))
        guarded = [split for split in GUARDED if self.slices[0].splits[split]]
        lines = [*map(str, self.slices), f"splits: {splits}"]
        lines += [f"{len(self.stale)} stale, left out of every score: asked when their gold does not hold"] * bool(
            self.stale
        )
        lines += [sentence(self.looks, self.cases, split) for split in guarded]
        lines += [self.torn] if self.torn else []
        lines += [f"{len(self.near)} pairs of near duplicates, {len(self.leaking)} of them in two splits"]
        lines += [f"  {pair}" for pair in self.leaking[:_MOST_LINES]]
        more = len(self.leaking) - _MOST_LINES
        return "\n".join([*lines, f"  ... and {more} more"] if more > 0 else lines)


def case_report(file: str | os.PathLike[str], *, fewest: int = FEWEST, similarity: float = 0.8) -> CaseReport:
    """The report on a file of cases and its ledger of looks. Errors as `read_cases` and `near_duplicates` raise."""
    cases = read_cases(file)
    torn = None
    try:
        check_clusters(cases)
    except InputError as error:
        torn = str(error)
    near = near_duplicates(cases, similarity=similarity)
    return CaseReport(cases, slices_of(cases, fewest=fewest), valid(cases)[1], torn, near, read_looks(file))
