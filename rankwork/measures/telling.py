"""An audit of files as the command line tells it: one system or several, redefined scores named, other orders beside.

>>> asked = Asked(("R@1",))
>>> found = asked.audit({"run": {"q": {"b": 1.0, "a": 1.0}}}, {"q": {"a": 1}})
>>> print(text_of(found, asked).splitlines()[-1])
R@1 as ties are resolved by the contract 1.0000, trec_eval 0.0000, pytrec_eval 0.0000, ir_measures 0.0000,
  the file 0.0000.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rankwork.errors import ContractError
from rankwork.measures import origins
from rankwork.measures.auditing import Audit, Judged, Run, audit, read_judged, read_ranked
from rankwork.measures.partitions import RowsGone, audit_in_parts
from rankwork.measures.systems import Systems, systems
from rankwork.rankings import Rankings

Found = Audit | Systems


@dataclass(frozen=True)
class Asked:
    """What was asked of an audit. `digits` and `dtype` redefine the scores before anything is measured.

    `in_parts`: the one run, a TREC file, is read some queries at a time, for a file larger than memory.
    """

    measures: tuple[str, ...]
    protocol: str = "rankwork"
    order: str | None = None
    depth: int | None = None
    digits: int | None = None
    dtype: str | None = None
    in_parts: bool = False

    def audit(self, runs: Mapping[str, Run], judgements: Judged) -> Found:
        """One run gives an `Audit`, several give `Systems`; errors as for `audit`."""
        judged = read_judged(judgements, self.protocol)
        if self.in_parts:
            return self._in_parts(runs, judged)
        read = {name: self._redefined(read_ranked(run, self.protocol, self.order)) for name, run in runs.items()}
        options: dict[str, Any] = {"protocol": self.protocol, "order": self.order, "depth": self.depth}
        if len(read) == 1:
            return audit(next(iter(read.values())), judged, self.measures, **options)
        return systems(read, judged, self.measures, **options)

    def _in_parts(self, runs: Mapping[str, Run], judged: Judged) -> Audit:
        (run, *others) = runs.values()
        if others or self.redefinition:
            raise ContractError("an audit in parts takes one run, and its scores as they are: no rounding, no dtype")
        if not isinstance(run, str | Path):
            raise ContractError(f"an audit in parts takes a file, got {type(run).__name__}")
        options: dict[str, Any] = {"protocol": self.protocol, "order": self.order, "depth": self.depth}
        return audit_in_parts(run, judged, self.measures, **options)

    def _redefined(self, run: Rankings) -> Rankings:
        if self.dtype is not None:
            run = origins.as_type(run, self.dtype)
        return run if self.digits is None else origins.rounded(run, self.digits)

    @property
    def redefinition(self) -> str:
        """The rule by which scores were redefined, or nothing."""
        by_type = [] if self.dtype is None else [f"in {self.dtype}"]
        by_digits = [] if self.digits is None else [f"rounded to {self.digits} decimals, halves to even"]
        return ", ".join(by_type + by_digits)


def named(files: tuple[Path, ...]) -> dict[str, Path]:
    """The runs by their file names; by their paths as given where two have one name."""
    names = [file.name for file in files]
    return {file.name if names.count(file.name) == 1 else str(file): file for file in files}


def audits_of(found: Found) -> dict[str, Audit]:
    """The audits, by system."""
    return dict(found.audits) if isinstance(found, Systems) else {"run": found}


def within(found: Found, width: float) -> bool:
    """Whether every mean has a range, and none is wider."""
    means = [result.mean for each in audits_of(found).values() for result in each.results.values()]
    bounds = [(mean.outer_min, mean.outer_max) for mean in means]
    return all(low is not None and high is not None and high - low <= width for low, high in bounds)


def json_of(found: Found, asked: Asked) -> dict[str, Any]:
    """The JSON of an audit or of several systems; of each measure also the means by other orders."""
    content = found.to_json()
    for name, each in audits_of(found).items():
        one = content["systems"][name] if isinstance(found, Systems) else content
        one["protocol"]["redefined"] = asked.redefinition or None
        for measure, values in _by_order(each).items():
            one["measures"][measure]["by_order"] = values
        one["notes"] = [*each.notes, *_about_scores(each)]
    return content


def text_of(found: Found, asked: Asked) -> str:
    """The audit for a terminal."""
    redefined = [f"scores {asked.redefinition}: a declared redefinition of a tie"] if asked.redefinition else []
    if isinstance(found, Systems):
        return "\n".join([*redefined, str(found)])
    return "\n".join([*redefined, str(found), *_about_scores(found), *_about_orders(found)])


def _by_order(found: Audit) -> dict[str, dict[str, float | None]]:
    return {} if _is_gone(found) else origins.by_order(found)


def _is_gone(found: Audit) -> bool:
    """Whether the audit was made in parts, and the rows are no longer there."""
    return isinstance(found.setting.joined.run, RowsGone)


def _about_scores(found: Audit) -> list[str]:
    if _is_gone(found):
        return ["Audited in parts: what other orders would give, and where ties come from, was not looked at."]
    return origins.notes(found.setting.joined.run)


def _about_orders(found: Audit) -> list[str]:
    """Where each measure's mean lies as evaluators resolve ties, for those that this can move."""
    if _is_gone(found) or (not found.has_ranges and not origins.ties_of_float32(found.setting.joined.run)):
        return []
    habits = origins.by_evaluator(found)
    lines = []
    for name in found.results:
        values = {who: means[name] for who, means in habits.items()}
        if len(set(values.values())) > 1:
            parts = [f"{who} {value:.4f}" for who, value in values.items() if value is not None]
            lines.append(f"{name} as ties are resolved by {', '.join(parts)}.")
    return lines
