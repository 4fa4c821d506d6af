"""Baseline and candidate, brought into one order of queries, with the cases that both answered.

Two systems are compared only where they were asked the same: traces that differ in query, identity, time or protocol,
or that stand on other data or another judge, are refused before any number.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from rankwork.decision import slices
from rankwork.decision.outcomes import Column, Outcomes, cases_by_id, of_traces, read_outcomes
from rankwork.decision.policy import Policy
from rankwork.decision.quantities import QUANTITIES
from rankwork.decision.slices import Members
from rankwork.decision.trace_columns import NoStage, column, is_stale
from rankwork.errors import ContractError, InputError
from rankwork.measures.names import Measure, parse
from rankwork.measures.values import examples
from rankwork.trace import Case, Trace

Cases = Sequence[Case] | Path | str | None
System = Any  # Outcomes, a sequence of traces, or a file's path: see rankwork.decision.outcomes
_SAME = ("query", "identity", "time", "protocol", "unit")
_SAME_VERSIONS = ("data", "judge")


@dataclass(frozen=True, eq=False)
class Pair:
    """Both systems over the same queries in one order; `cases` by ID, empty where none were given.

    `candidate_cases` are the same cases with the gold as the candidate's index holds it, where that was re-chunked.
    """

    policy: Policy
    baseline: Outcomes
    candidate: Outcomes
    cases: Mapping[str, Case]
    candidate_cases: Mapping[str, Case]

    @property
    def queries(self) -> tuple[str, ...]:
        """What both answered."""
        return self.baseline.queries

    @cached_property
    def clusters(self) -> np.ndarray[Any, np.dtype[np.int64]]:
        """The cluster of each query as a number, in the order in which clusters first appear, int64[Q]."""
        numbers: dict[str, int] = {}
        names = slices.clusters_of(self.queries, self.cases)
        return np.array([numbers.setdefault(name, len(numbers)) for name in names], np.int64)

    @cached_property
    def _columns(self) -> dict[tuple[str, str | None], tuple[Column, Column]]:
        return {}

    def columns(self, measure: str, stage: str | None, *place: Any) -> tuple[Column, Column]:
        """The baseline's and the candidate's column. InputError, with the policy's place, for one that is not there."""
        key = (measure, stage)
        if key not in self._columns:
            try:
                if stage is not None and measure not in QUANTITIES:
                    self._check_gold()
                one = _column(self.baseline, measure, stage, self.cases)
                two = _column(self.candidate, measure, stage, self.candidate_cases)
                if one.unit != two.unit and one.known.any() and two.known.any():
                    names = self.baseline.name, self.candidate.name
                    raise InputError(f"{measure!r} is in {one.unit!r} in {names[0]} and in {two.unit!r} in {names[1]}")
            except NoStage as error:
                asked = [part for part in place if part != "measure"]
                raise InputError(f"{self.policy.place(*asked, 'stage')}: {error}") from None
            except (InputError, ContractError) as error:
                raise InputError(f"{self.policy.place(*place)}: {error}") from None
            self._columns[key] = one, two
        return self._columns[key]

    def _check_gold(self) -> None:
        """Refuse gold with the baseline's IDs for a candidate that was chunked in another way: all would be missed."""
        if self.candidate_cases is not self.cases or not (self.baseline.traces and self.candidate.traces):
            return
        before, after = self.baseline.traces[0], self.candidate.traces[0]
        old, new = (trace.snapshot.get("chunker") for trace in (before, after))
        if old != new and after.unit == "chunk":
            raise InputError(
                f"the chunker changed from {old!r} to {new!r}: the gold may have other IDs in {self.candidate.name}; "
                f"give the cases as they stand there too (candidate_cases, --candidate-cases)"
            )

    def slices(self, names: Sequence[str], *place: Any) -> dict[str, Members]:
        """The members of each slice. InputError, with the policy's place, for a slice that matches nothing."""
        found: dict[str, Members] = {}
        for number, name in enumerate(names):
            try:
                found |= slices.slices_of(name, self.queries, self.cases)
            except InputError as error:
                raise InputError(f"{self.policy.place(*place, 'slices', number)}: {error}") from None
        return found

    @property
    def notes(self) -> list[str]:
        """What a reader must know besides the numbers, a sentence each."""
        notes = []
        if not self.cases:
            notes.append("No cases were given: every query counts on its own, even where queries share their text.")
        stale = [query for query in self.queries if query in self.cases and is_stale(self.cases[query])]
        if stale:
            notes.append(f"Cases with gold that was not valid at their time, not scored: {examples(stale)}.")
        unused = len(set(self.cases) - set(self.queries))
        if unused:
            notes.append(f"{unused} cases were not asked of either system.")
        return notes + _changes(self.baseline.traces, self.candidate.traces)


def pair(
    policy: Policy, baseline: System, candidate: System, cases: Cases = None, candidate_cases: Cases = None
) -> Pair:
    """Both systems, ready to be compared. `cases` None: those that the policy names, or none.

    `candidate_cases` None: the same. InputError for files that cannot be read, systems that did not answer the same
    queries or were not asked the same, traces of a case that is not among the cases, and candidate cases that differ in
    more than their gold.

    >>> from rankwork.decision.outcomes import of_values
    >>> from rankwork.decision.policy import Policy, Rule
    >>> asked = Policy(name="mine", alpha=0.05, minimum_clusters=5, rules=(Rule(measure="R@10", margin=0.05),))
    >>> half, full = of_values("half", {"R@10": [0, 1] * 20}), of_values("full", {"R@10": [1] * 40})
    >>> found = pair(asked, half, full)
    >>> len(found.queries), len(set(found.clusters.tolist()))
    (40, 40)
    """
    by_id = cases_by_id(_cases(policy, cases))
    candidates = by_id if candidate_cases is None else cases_by_id(_cases(policy, candidate_cases))
    _check_cases(by_id, candidates)
    one, two = _outcomes(baseline, "baseline"), _outcomes(candidate, "candidate")
    two = two.ordered(one.queries)
    for before, after in zip(one.traces, two.traces, strict=bool(one.traces and two.traces)):
        _check_same(before, after, f"{one.name} and {two.name}: case {before.case!r}")
    unknown = [trace.case for trace in one.traces if by_id and trace.case not in by_id]
    if unknown:
        raise InputError(f"{one.name}: no case is given for {examples(unknown)}")
    return Pair(policy, one, two, by_id, candidates)


def _check_cases(cases: Mapping[str, Case], candidates: Mapping[str, Case]) -> None:
    """Refuse cases of the candidate that ask something else."""
    if candidates is cases:
        return
    if not cases:
        raise InputError("the candidate's cases were given without the baseline's: give both (cases, --cases)")
    if set(cases) != set(candidates):
        raise InputError(f"only one of the two sets of cases has {examples(sorted(set(cases) ^ set(candidates)))}")
    for name, case in cases.items():
        if case.model_copy(update={"requires": ()}) != candidates[name].model_copy(update={"requires": ()}):
            raise InputError(f"case {name!r} differs between the two sets of cases in more than its gold evidence")


def _cases(policy: Policy, cases: Cases) -> Sequence[Case]:
    if cases is None and policy.cases is None:
        return ()
    if cases is None or isinstance(cases, str | os.PathLike):
        from rankwork.inputs.traces import read_cases

        if cases is not None:
            return read_cases(cases)
        try:
            return read_cases(policy.folder / str(policy.cases))
        except InputError as error:
            raise InputError(f"{policy.place('cases')}: {error}") from None
    return cases


def _outcomes(system: System, name: str) -> Outcomes:
    if isinstance(system, Outcomes):
        return system
    return read_outcomes(system) if isinstance(system, str | os.PathLike) else of_traces(name, list(system))


def _column(system: Outcomes, measure: str, stage: str | None, cases: Mapping[str, Case]) -> Column:
    if system.traces:
        return column(system, measure, stage, cases)
    name = f"{measure} of {stage}" if stage else measure
    found = name if name in system.columns else _by_another_name(name, system.columns)
    if found is None:
        raise InputError(f"{system.name} has no {name!r}; it has {examples(list(system.columns), 10)}")
    return system.columns[found]


def _by_another_name(name: str, names: Mapping[str, Any]) -> str | None:
    """The column whose name means the same measure, such as recall_10 for R@10."""
    meant = _measure(name)
    return next((other for other in names if meant and _measure(other) == meant), None)


def _measure(name: str) -> Measure | None:
    try:
        return parse(name)
    except ContractError:
        return None


def _check_same(before: Trace, after: Trace, where: str) -> None:
    for field in _SAME:
        one, two = getattr(before, field), getattr(after, field)
        if one != two:
            raise InputError(f"{where}: {field} differs, {_shown(one)} and {_shown(two)}: not comparable")
    for version in _SAME_VERSIONS:
        one, two = before.snapshot.get(version), after.snapshot.get(version)
        if one != two:
            raise InputError(f"{where}: version of {version} differs, {one!r} and {two!r}: not comparable")


def _shown(value: Any) -> str:
    return repr(str(value)) if not isinstance(value, str) else repr(value)


def _version(snapshot: Mapping[str, str], key: str) -> str:
    return repr(snapshot[key]) if key in snapshot else "none"


def _changes(baseline: Sequence[Trace], candidate: Sequence[Trace]) -> list[str]:
    """What the snapshots say has changed, and systems whose own versions are mixed."""
    notes = [
        f"The {name}'s traces mix versions: case {other.case!r} has another snapshot than {one.case!r}."
        for name, traces in (("baseline", baseline), ("candidate", candidate))
        for one, other in [next(((a, b) for a, b in pairwise(traces) if a.snapshot != b.snapshot), (None, None))]
        if one is not None and other is not None
    ]
    if baseline and candidate:
        old, new = baseline[0].snapshot, candidate[0].snapshot
        changed = [key for key in dict.fromkeys([*old, *new]) if old.get(key) != new.get(key)]
        notes += [f"Changed: {key}, from {_version(old, key)} to {_version(new, key)}." for key in changed]
        notes += [] if changed else ["No version changed by the snapshots."]
    return notes
