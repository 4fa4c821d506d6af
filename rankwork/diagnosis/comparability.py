"""Whether traces may be compared at all: same question, identity, data time and protocol, before any number."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from rankwork.errors import InputError
from rankwork.trace import Case, Trace

SAME = ("query", "identity", "time", "unit", "protocol")


@dataclass(frozen=True, slots=True)
class Frame:
    """What must agree between two traces of a case, and the snapshot of versions, of which some may differ."""

    case: str
    query: str = ""
    identity: tuple[str, str] = ("", "")
    time: Any = None
    unit: str = "chunk"
    protocol: str = "rankwork"
    snapshot: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, trace: Trace) -> "Frame":
        """The frame of a trace."""
        identity = (trace.identity.tenant, trace.identity.role)
        return cls(trace.case, trace.query, identity, trace.time, trace.unit, trace.protocol, trace.snapshot)

    def difference(self, other: "Frame") -> str | None:
        """The first of what must agree that does not, in words; None where all does."""
        for name in SAME:
            mine, its = getattr(self, name), getattr(other, name)
            if mine != its:
                return f"case {self.case!r}: {name} {_shown(mine)} and {_shown(its)} differ"
        return None


@dataclass(frozen=True)
class Comparable:
    """That two runs may be compared: the cases of both, and the versions that differ as expected, with both values."""

    cases: tuple[str, ...]
    differs: Mapping[str, tuple[str | None, str | None]]

    def __str__(self) -> str:
        versions = ", ".join(f"{name} {_shown(a)} -> {_shown(b)}" for name, (a, b) in self.differs.items())
        return f"{len(self.cases)} cases; versions that differ: {versions or 'none'}"


def check_comparable(
    baseline: Iterable[Trace], candidate: Iterable[Trace], *, may_differ: Collection[str] = ()
) -> Comparable:
    """Two runs of the same cases, trace by trace, before any number is compared.

    InputError for a case that only one of them ran, and for the first query, identity, time, unit or protocol that
    differs, with the case; for a version in the snapshots that differs and is not named in `may_differ`; and for a run
    that mixes snapshots.

    >>> one = Trace(case="c", query="why?", snapshot={"data": "1", "reranker": "a"})
    >>> other = one.model_copy(update={"snapshot": {"data": "1", "reranker": "b"}})
    >>> print(check_comparable([one], [other], may_differ=["reranker"]))
    1 cases; versions that differ: reranker 'a' -> 'b'
    >>> check_comparable([one], [other])
    Traceback (most recent call last):
        ...
    rankwork.errors.InputError: the snapshots differ in reranker: 'a' and 'b'; the comparison is invalid unless that is
    what is compared
    """
    sides = [_by_case(map(Frame.of, side)) for side in (baseline, candidate)]
    return compare_frames(*sides, may_differ=may_differ)


def compare_frames(
    baseline: Mapping[str, Frame], candidate: Mapping[str, Frame], *, may_differ: Collection[str] = ()
) -> Comparable:
    """The same for frames by case. Errors as for `check_comparable`."""
    for name, one, other in (("baseline", baseline, candidate), ("candidate", candidate, baseline)):
        alone = next((case for case in one if case not in other), None)
        if alone is not None:
            raise InputError(f"case {alone!r} is in the {name} alone: both must have run the same cases")
    for case, frame in baseline.items():
        difference = frame.difference(candidate[case])
        if difference:
            raise InputError(f"the runs cannot be compared: {difference}")
    first, second = (one_snapshot(side.values()) for side in (baseline, candidate))
    differs = {
        name: (first.get(name), second.get(name))
        for name in dict.fromkeys((*first, *second))
        if first.get(name) != second.get(name)
    }
    unexpected = next((name for name in differs if name not in may_differ), None)
    if unexpected is not None:
        mine, its = differs[unexpected]
        raise InputError(
            f"the snapshots differ in {unexpected}: {_shown(mine)} and {_shown(its)}; the comparison is invalid unless "
            "that is what is compared"
        )
    return Comparable(tuple(baseline), differs)


def one_snapshot(frames: Iterable[Frame]) -> Mapping[str, str]:
    """The snapshot that all traces of a run share. InputError for a run that mixes them."""
    first: Frame | None = None
    for frame in frames:
        first = first or frame
        for name in dict.fromkeys((*first.snapshot, *frame.snapshot)):
            mine, its = first.snapshot.get(name), frame.snapshot.get(name)
            if mine != its:
                raise InputError(
                    f"the run mixes snapshots: {name} is {_shown(mine)} for case {first.case!r} and {_shown(its)} for "
                    f"case {frame.case!r}"
                )
    return first.snapshot if first else {}


def check_asked(frame: Frame, case: Case) -> None:
    """InputError for a trace that ran another question, identity or time than its case asks; "" and None match all."""
    identity = (case.identity.tenant, case.identity.role)
    if frame.query in ("", case.query) and frame.identity == identity and frame.time in (None, case.time):
        return
    asked = {"query": case.query, "identity": identity, "time": case.time}
    for name, wanted in asked.items():
        given = getattr(frame, name)
        if any(wanted if isinstance(wanted, tuple) else (wanted,)) and given not in ("", None) and given != wanted:
            raise InputError(f"trace of case {case.id!r}: its {name} is {_shown(given)}, the case has {_shown(wanted)}")


def _by_case(frames: Iterable[Frame]) -> dict[str, Frame]:
    found: dict[str, Frame] = {}
    for frame in frames:
        if frame.case in found:
            raise InputError(f"case {frame.case!r} has two traces; compare one run with one other")
        found[frame.case] = frame
    return found


def _shown(value: Any) -> str:
    if isinstance(value, tuple):
        return f"(tenant {value[0]!r}, role {value[1]!r})"
    return "none" if value is None else repr(str(value))
