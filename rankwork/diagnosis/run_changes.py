"""What changed between two runs of the same cases: where each piece of gold evidence is lost now, and was before."""

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rankwork.diagnosis.comparability import Comparable, compare_frames
from rankwork.diagnosis.funnel import Funnel
from rankwork.diagnosis.matrix import Diagnosis

if TYPE_CHECKING:
    import pandas as pd

ARRIVED = "arrived"


@dataclass(frozen=True, eq=False)
class RunChanges:
    """Pairs of diagnoses of the same evidence, baseline first, and what may be said to have been compared."""

    comparable: Comparable
    pairs: tuple[tuple[Diagnosis, Diagnosis], ...]

    @property
    def moves(self) -> Counter[tuple[str, str]]:
        """How many pieces were lost where before and where now; `arrived` for those that were not."""
        return Counter((_place(before), _place(after)) for before, after in self.pairs)

    @property
    def lost(self) -> tuple[Diagnosis, ...]:
        """The diagnoses in the candidate of what arrived in the baseline, and does not any more."""
        return tuple(after for before, after in self.pairs if before.facts.lost_at is None and after.facts.lost_at)

    @property
    def found(self) -> tuple[Diagnosis, ...]:
        """The diagnoses in the baseline of what arrives in the candidate alone."""
        return tuple(before for before, after in self.pairs if before.facts.lost_at and after.facts.lost_at is None)

    def to_pandas(self) -> "pd.DataFrame":
        """Counts: rows where it was lost before, columns where now."""
        import pandas as pd

        places = list(dict.fromkeys(place for pair in sorted(self.moves) for place in pair))
        return pd.DataFrame([[self.moves[a, b] for b in places] for a in places], index=places, columns=places)


def run_changes(baseline: Funnel, candidate: Funnel, *, may_differ: Collection[str] = ()) -> RunChanges:
    """The gold evidence of two funnels, piece by piece.

    InputError before anything is compared, as `check_comparable`: another question, identity, time, protocol or case
    set, or a version that differs and is not named in `may_differ`.
    """
    comparable = compare_frames(baseline.frames, candidate.frames, may_differ=may_differ)
    after = {(found.case, found.evidence): found for found in candidate.diagnoses()}
    pairs = ((found, after.get((found.case, found.evidence))) for found in baseline.diagnoses())
    return RunChanges(comparable, tuple((one, other) for one, other in pairs if other is not None))


def _place(found: Diagnosis) -> str:
    return found.facts.lost_at or ARRIVED
