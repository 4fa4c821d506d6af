"""What a replay package shows once it is looked at again: its stages, the funnel of its gold evidence, the outcome."""

from dataclasses import asdict, dataclass
from typing import Any

from rankwork.decision.paths import Step, path
from rankwork.decision.regression_checks import Outcome, check
from rankwork.decision.replay import Package, gaps
from rankwork.diagnosis.funnel import Funnel, funnel
from rankwork.errors import ContractError, InputError
from rankwork.trace import Stage


@dataclass(frozen=True)
class Replayed:
    """A package with what it shows: for each gold evidence its step at every stage, the funnel, the case's outcome.

    `funnel` and `outcome` are None where the package holds no case, or one that its trace cannot be scored by:
    `missing` says so, and names what the package does not hold.
    """

    package: Package
    paths: dict[str, tuple[Step, ...]]
    funnel: Funnel | None
    outcome: Outcome | None
    missing: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """What JSON holds of it: every ID with its rank at every stage among it."""
        trace = self.package.trace
        return {
            "digest": self.package.digest,
            "seal": self.package.seal,
            "case": trace.case,
            "query": trace.query,
            "identity": trace.identity.model_dump(),
            "time": trace.time and trace.time.isoformat(),
            "snapshot": trace.snapshot,
            "stages": [stage.model_dump(mode="json", exclude_defaults=True) for stage in trace.stages],
            "gold": {name: [asdict(step) for step in steps] for name, steps in self.paths.items()},
            "funnel": self.funnel and self.funnel.to_json(),
            "prompt": trace.prompt and list(trace.prompt.ids),
            "answer": trace.answer,
            "refused": trace.refused,
            "outcome": self.outcome and asdict(self.outcome),
            "missing": list(self.missing),
        }

    def __str__(self) -> str:
        return "\n".join([*_head(self.package), *map(_stage_line, self.package.trace.stages), *_found(self)])


def replayed(package: Package) -> Replayed:
    r"""What a package shows.

    >>> from rankwork.decision.pseudonyms import Privacy
    >>> from rankwork.decision.replay import pack
    >>> from rankwork.trace import Case, Evidence, Item, Requirement, Trace
    >>> case = Case(id="q", query="why?", requires=(Requirement(any_of=(Evidence(id="a"),)),))
    >>> stages = (Stage(kind="retrieve", route="bm25", requested=5, returned=1, items=(Item(id="b", rank=1),)),)
    >>> found = replayed(pack(Trace(case="q", stages=stages), case, privacy=Privacy(texts="plain")))
    >>> print(*str(found).splitlines()[2:4], sep="\n")
    retrieve:bm25: 1 of 5 asked for, ok
    gold a: absent from bm25; whether it is in the corpus and may be read, the trace does not say; look at the trace:
    it does not show what happened
    """
    case, trace = package.case, package.trace
    missing = list(gaps(package))
    found = None
    if case is not None:
        try:
            found = funnel([case], [trace])
        except (InputError, ContractError) as error:
            missing.append(f"no funnel: {error}")
    paths = {name: path(name, trace) for name in (case.gold if case else ())}
    return Replayed(package, paths, found, check(case, trace) if case else None, tuple(missing))


def _head(package: Package) -> list[str]:
    trace = package.trace
    who = ", ".join(part for part in (trace.identity.role, trace.identity.tenant) if part) or "unknown identity"
    when = trace.time.isoformat() if trace.time else "unknown time"
    versions = ", ".join(f"{name} {version}" for name, version in sorted(trace.snapshot.items())) or "no versions"
    return [
        f"package {package.digest[:12]}, seal {package.seal}: case {trace.case!r}, {who}, {when}",
        f"asked {trace.query!r}; {versions}",
    ]


def _stage_line(stage: Stage) -> str:
    dropped = len(stage.items) - stage.returned
    parts = [f"{stage.returned} of {stage.requested} asked for" if stage.requested else f"{stage.returned} returned"]
    parts += [f"{dropped} dropped"] if dropped else []
    parts += [stage.status] + ([f"{stage.latency_ms:g} ms"] if stage.latency_ms is not None else [])
    return f"{stage.name}: {', '.join(parts)}"


def _found(found: Replayed) -> list[str]:
    trace = found.package.trace
    lines = [f"{each.sentence}; look at {each.look_at}" for each in (found.funnel.diagnoses() if found.funnel else ())]
    if trace.prompt is not None:
        lines.append(f"shown to the model: {', '.join(trace.prompt.ids) or 'nothing'}")
    if trace.refused is not None or trace.answer is not None:
        lines.append("refused" if trace.refused else f"answered {trace.answer!r}" if trace.answer else "answered")
    lines += [str(found.outcome)] if found.outcome else []
    return lines + [f"missing: {gap}" for gap in found.missing]
