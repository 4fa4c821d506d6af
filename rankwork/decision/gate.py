"""The gate: every rule, limit and event of a policy, and one decision with every reason.

Reject: a hard event, a required rule that is worse, a required limit that is exceeded. Hold: a required rule that is
not non-inferior, a required limit that is not shown to be kept, an event that the traces do not let anyone see.
Release: otherwise. No mean outweighs a hard rule: the worst reason decides.
"""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from rankwork.decision.comparisons import Comparison, Regression, compared, regressions
from rankwork.decision.limits import Checked, Event, TwoByTwo, checked, events, two_by_two
from rankwork.decision.pairing import Cases, Pair, System, pair
from rankwork.decision.pareto import Front, front_of
from rankwork.decision.policy import Policy, read_policy

if TYPE_CHECKING:
    import pandas as pd

Word = Literal["reject", "hold", "release"]


@dataclass(frozen=True)
class Reason:
    """Why a change is rejected or held, in one sentence."""

    word: Word
    sentence: str

    def __str__(self) -> str:
        return f"{self.word}: {self.sentence}"


@dataclass(frozen=True, eq=False)
class Gate:
    """What a policy makes of a candidate. `bool()` is whether it may be released.

    `str()` is the decision with its reasons; `rankwork.decision.telling` has the whole of it as table, JSON and HTML.
    """

    pair: Pair
    comparisons: tuple[Comparison, ...]
    limits: tuple[Checked, ...]
    events: tuple[Event, ...]
    refusals: tuple[TwoByTwo, ...]
    front: Front | None

    @property
    def policy(self) -> Policy:
        """What was asked."""
        return self.pair.policy

    @cached_property
    def reasons(self) -> tuple[Reason, ...]:
        """Every reason against a release, the gravest first; empty for a release."""
        found = [
            *(_of_event(each) for each in self.events),
            *(_of_comparison(each) for each in self.comparisons if each.required),
            *(_of_limit(each) for each in self.limits if each.required),
        ]
        return tuple(sorted((each for each in found if each), key=lambda each: each.word != "reject"))

    @property
    def decision(self) -> Word:
        """Reject if anything rejects, else hold if anything holds, else release."""
        return self.reasons[0].word if self.reasons else "release"

    @property
    def headline(self) -> str:
        """The decision in one line."""
        return f"{self.decision.upper()} by policy {self.policy.name!r}, {len(self.pair.queries)} queries"

    @cached_property
    def regressions(self) -> tuple[Regression, ...]:
        """The queries that lost by any rule, for review."""
        return tuple(regressions(self.comparisons))

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader must know besides: what changed, what was left out, what ties could reverse."""
        unpaired = {query for each in self.comparisons for query in each.differences.unpaired}
        lacking = (
            f"{len(unpaired)} queries have no value of some rule in one of the systems; that rule leaves them out."
        )
        reversible = [each.name for each in self.comparisons if each.verdict.tie_proof is False]
        ties = f"The order of ties alone could reverse: {', '.join(reversible)}."
        idle = "Nothing that the policy requires can stop a release."
        return (
            *self.pair.notes,
            *([lacking] if unpaired else []),
            *([ties] if reversible else []),
            *([] if self._can_stop else [idle]),
        )

    @property
    def _can_stop(self) -> bool:
        required = [*(each.required for each in self.comparisons), *(each.required for each in self.limits)]
        return bool(self.events) or any(required)

    def to_pandas(self) -> "pd.DataFrame":
        """One row a rule and slice: the means, the gain (more is better) with its 95 % limits, and the verdict.

        `gain`, `low95` and `high95` are in units of the measure; `tie_proof` is None where ties are not known.
        """
        import pandas as pd

        return pd.DataFrame([_row(each) for each in self.comparisons])

    def __bool__(self) -> bool:
        return self.decision == "release"

    def __str__(self) -> str:
        return "\n".join([self.headline, *(f"  {reason}" for reason in self.reasons)])

    def __repr__(self) -> str:
        return str(self)


def gate(
    policy: Policy | Path | str,
    baseline: System,
    candidate: System,
    *,
    cases: Cases = None,
    candidate_cases: Cases = None,
) -> Gate:
    """The decision of a policy on a candidate against a baseline.

    `policy` is a `Policy` or the path of its YAML file. `baseline` and `candidate` are files (traces as JSON lines or
    parquet, the JSON of an audit, CSV of `query,measure,value`), sequences of traces, or `Outcomes`. `cases` gives gold
    evidence, slices, clusters and expected refusals; None takes the file that the policy names. Where the candidate's
    index was re-chunked, `candidate_cases` are the same cases with the gold as it stands there.

    InputError for a policy or file that cannot be read, an unknown measure, a slice that matches nothing, costs in two
    currencies, and systems that were not asked the same.

    Of 40 queries, `half` answers every other one and `full` all:

    >>> from rankwork.decision.outcomes import of_values
    >>> from rankwork.decision.policy import Policy, Rule
    >>> asked = Policy(name="mine", alpha=0.05, minimum_clusters=5, rules=(Rule(measure="R@10", margin=0.05),))
    >>> half, full = of_values("half", {"R@10": [0, 1] * 20}), of_values("full", {"R@10": [1] * 40})
    >>> print(gate(asked, half, full))
    RELEASE by policy 'mine', 40 queries
    >>> gate(asked, full, half).decision
    'reject'
    """
    asked = policy if isinstance(policy, Policy) else read_policy(policy)
    found = pair(asked, baseline, candidate, cases, candidate_cases)
    return Gate(
        found,
        tuple(compared(found)),
        tuple(checked(found)),
        tuple(events(found)),
        tuple(two_by_two(found)),
        front_of(found),
    )


def _row(each: Comparison) -> dict[str, object]:
    found = each.verdict.estimate
    return {
        "measure": each.rule.measure,
        "stage": each.rule.stage,
        "slice": each.slice,
        "baseline": each.baseline,
        "candidate": each.candidate,
        "gain": found.mean,
        "low95": found.low95,
        "high95": found.high95,
        "margin": each.rule.margin,
        "differ": found.differ,
        "clusters": found.clusters,
        "verdict": each.verdict.word,
        "tie_proof": each.verdict.tie_proof,
    }


def _of_event(event: Event) -> Reason | None:
    if event.found:
        return Reason("reject", f"hard event {event}")
    if event.unknown:
        return Reason("hold", f"hard event {event.name} cannot be ruled out: {event.unknown} clusters do not say")
    return None


def _of_comparison(each: Comparison) -> Reason | None:
    if each.verdict.word == "worse":
        return Reason("reject", str(each))
    if each.verdict.passes:
        return None
    undeclared = (
        " (no margin is declared, so it cannot be shown to be non-inferior)" if each.rule.margin is None else ""
    )
    return Reason("hold", f"{each}{undeclared}")


def _of_limit(each: Checked) -> Reason | None:
    if each.word == "kept":
        return None
    return Reason("reject" if each.word == "exceeded" else "hold", str(each))
