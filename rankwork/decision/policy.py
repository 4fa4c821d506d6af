"""A policy: what must hold for a release, written down and committed before results are seen.

No threshold is built in. A rule without a margin is never equivalent and never non-inferior, and what the policy does
not name is not checked. `policies/example.yaml` beside this file shows every section.
"""

import json
import os
from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    FiniteFloat,
    PositiveInt,
    ValidationError,
    field_validator,
    model_validator,
)

from rankwork.decision.quantities import EVENTS, QUANTITIES
from rankwork.errors import ContractError, InputError

Text = Annotated[str, Field(min_length=1)]
Share = Annotated[float, Field(ge=0, le=1)]
Inside = Annotated[float, Field(gt=0, lt=1)]
Positive = Annotated[FiniteFloat, Field(gt=0)]
ALL = "all"
Slices = Annotated[tuple[Text, ...], Field(min_length=1)]
Place = tuple[Any, ...]
EVIDENCE = ("EvidenceCoverage", "EvidenceComplete")


class _Strict(BaseModel):
    """No unknown field, no number given as text, and nothing changes after it was read."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Rule(_Strict):
    """A measure that is compared, baseline against candidate, in each of its slices.

    `stage` names the stage of a trace whose list is measured (`fuse`, `retrieve:bm25`); None for measures of the whole
    trace and for tables. `better` is needed for a measure that only a table of one's own knows. `largest_drop` is the
    most that a query can lose; measures from 0 to 1 have 1. A rule that is not `required` is reported and decides
    nothing.
    """

    measure: Text
    stage: Text | None = None
    better: Literal["higher", "lower"] | None = None
    margin: Positive | None = None
    largest_drop: Positive | None = None
    slices: Slices = (ALL,)
    required: bool = True

    @property
    def name(self) -> str:
        """The measure, with its stage where it has one."""
        return f"{self.measure} of {self.stage}" if self.stage else self.measure

    @property
    def sign(self) -> int:
        """1 where more is better, -1 where less is."""
        known = QUANTITIES.get(self.measure)
        better = self.better or (known.better if known else "higher")
        return 1 if better == "higher" else -1

    @property
    def drop(self) -> float | None:
        """The most that a query can lose, None without a bound."""
        known = QUANTITIES.get(self.measure)
        own = self.better is not None
        return self.largest_drop or (known.largest_drop if known else None if own else 1.0)

    @property
    def reviewed(self) -> bool:
        """Whether a query that loses by it is listed for review: by quality, not by milliseconds, tokens or money."""
        known = QUANTITIES.get(self.measure)
        return known is None or known.largest_drop is not None

    @model_validator(mode="after")
    def _is_known(self) -> Self:
        known = QUANTITIES.get(self.measure)
        if known and self.better and self.better != known.better:
            raise ValueError(f"of {self.measure!r}, {known.better} is better")
        if not known and self.better is None:
            _check_measure(self.measure)
        return self


def _check_measure(name: str) -> None:
    """ValueError for a name that no measure and no quantity has."""
    from rankwork.measures.names import known, parse

    base, _, cutoff = name.partition("@")
    if base in EVIDENCE:
        if not (cutoff.isdecimal() and int(cutoff)):
            raise ValueError(f"{base} needs a cutoff of at least 1, such as {base}@10, got {name!r}")
        return
    try:
        parse(name)
    except ContractError as error:
        stem = base.partition("(")[0]
        raise ValueError(str(error) if stem in known() else _not_known(name, stem)) from None


def _not_known(name: str, stem: str) -> str:
    """What is said of a measure that nothing has: the closest names, or else what there is."""
    from difflib import get_close_matches

    from rankwork.measures.names import known

    names = sorted({*(each.name for each in known().values()), *EVIDENCE})
    close = get_close_matches(stem, [*names, *QUANTITIES], n=2)
    meant = f"did you mean {' or '.join(close)}?" if close else f"there are {', '.join([*names, *QUANTITIES])};"
    return f"measure {name!r} is not known; {meant} A measure of your own needs `better: higher` or `better: lower`"


class Limit(_Strict):
    """A share that must not be exceeded, shown by an exact bound; `required` as for a rule."""

    at_most: Share
    slices: Slices = (ALL,)
    required: bool = True


class Refusals(_Strict):
    """Limits of the two mistakes that a refusal can be: answering where it should refuse, refusing to answer."""

    false_answers: Limit | None = None
    false_refusals: Limit | None = None


class LatencyBudget(_Strict):
    """A quantile of latency and its budget in milliseconds; of the whole trace, or of one stage."""

    quantile: Inside
    at_most_ms: Positive
    stage: Text | None = None
    slices: Slices = (ALL,)
    required: bool = True

    @property
    def name(self) -> str:
        """P95 latency of rerank."""
        return f"P{100 * self.quantile:g} latency" + (f" of {self.stage}" if self.stage else "")


class CostBudget(_Strict):
    """The mean cost of a request, in one currency."""

    at_most: Positive
    currency: Text
    slices: Slices = (ALL,)
    required: bool = True


class Axes(_Strict):
    """What the Pareto front is drawn over: a measure, a quantile of latency, and the mean cost where it is known."""

    quality: Rule
    latency: Inside
    cost: bool = False


class Shadow(_Strict):
    """Shadow traffic: answers that nobody sees. It is done after `requests` without a hard event."""

    requests: PositiveInt


class SmallShare(_Strict):
    """A small share of real traffic: `share` of all requests, at most, until there were `requests`."""

    share: Inside
    requests: PositiveInt


class Trigger(_Strict):
    """A rule for automatic rollback: a share of any `window` requests that follow each other.

    `of` is `refused`, `degraded`, `timeouts` or `slow`; slow means a latency above `slow_ms`. It fires as soon as the
    exact bound shows that the share is above `at_most`.
    """

    of: Literal["refused", "degraded", "timeouts", "slow"]
    at_most: Share
    window: PositiveInt
    slow_ms: Positive | None = None

    @model_validator(mode="after")
    def _says_what_is_slow(self) -> Self:
        if (self.of == "slow") != (self.slow_ms is not None):
            raise ValueError("slow_ms belongs to `of: slow`, and to nothing else")
        return self


class RolloutPlan(_Strict):
    """Shadow first, then a small share; hard events and `rollback` end either at once."""

    shadow: Shadow
    small_share: SmallShare
    rollback: tuple[Trigger, ...] = ()
    confidence: Inside


class Policy(_Strict):
    """All that a gate checks.

    `alpha` is for claims of "better"; slices of fewer clusters than `minimum_clusters` are inconclusive. `cases` is a
    file of cases, relative to the policy's own.
    """

    name: Text
    alpha: Inside
    minimum_clusters: PositiveInt
    rules: tuple[Rule, ...] = ()
    events: tuple[Text, ...] = ()
    refusals: Refusals = Refusals()
    latency: tuple[LatencyBudget, ...] = ()
    cost: CostBudget | None = None
    front: Axes | None = None
    rollout: RolloutPlan | None = None
    cases: Text | None = None
    resamples: Annotated[int, Field(ge=1000)] = 10_000
    seed: Annotated[int, Field(ge=0)] = 0

    _source: "Source | None" = None

    @model_validator(mode="after")
    def _checks_something(self) -> Self:
        asked = (self.rules, self.events, self.refusals != Refusals(), self.latency, self.cost)
        if not any(asked):
            raise ValueError("nothing is checked: there are no rules, events, refusals, latency or cost")
        return self

    @field_validator("rules")
    @classmethod
    def _named_once(cls, rules: tuple[Rule, ...]) -> tuple[Rule, ...]:
        names = [rule.name for rule in rules]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice:
            raise ValueError(f"there are two rules for {twice}: give one rule more slices")
        return rules

    def place(self, *path: Any) -> str:
        """Where something stands: `policy.yaml line 7 (rules.0.measure)`, as far as it is known."""
        where = ".".join(map(str, path))
        return f"{self._source.at(path)} ({where})" if self._source else f"policy {self.name!r} ({where})"

    @property
    def folder(self) -> Path:
        """The folder of the policy's file, the current one where it has none."""
        return self._source.path.parent if self._source else Path()


class Source:
    """The text of a policy, and the line on which each of its parts begins."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self.text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"policy {path} cannot be read: {_reason(error)}") from None

    @cached_property
    def root(self) -> Any:
        """The nodes of the text. InputError, with the line, for what is no YAML."""
        import yaml

        node = self._read(lambda text: yaml.compose(text, yaml.SafeLoader))
        if not isinstance(node, yaml.MappingNode):
            raise InputError(f"{self.path.name}: a policy is a mapping, with `name: ...` among its keys")
        return node

    def _read(self, how: Callable[[str], Any]) -> Any:
        import yaml

        try:
            return how(self.text)
        except yaml.YAMLError as error:
            mark = getattr(error, "problem_mark", None)
            line = f" line {mark.line + 1}" if mark else ""
            raise InputError(f"{self.path.name}{line}: not YAML: {getattr(error, 'problem', error)}") from None

    @cached_property
    def lines(self) -> dict[Place, int]:
        """The line of each part, from 1. InputError for a key that stands twice, and for a part that holds itself."""
        try:
            return dict(self._walk(self.root, (), self.root.start_mark.line))
        except RecursionError:
            raise InputError(f"{self.path.name}: an anchor (&) stands inside itself, or parts nest too deep") from None

    def _walk(self, node: Any, path: Place, line: int) -> Iterator[tuple[Place, int]]:
        yield path, line + 1
        if node.id == "sequence":
            for place, child in enumerate(node.value):
                yield from self._walk(child, (*path, place), child.start_mark.line)
        if node.id == "mapping":
            keys = [key.value for key, _ in node.value]
            for place, (key, child) in enumerate(node.value):
                if key.value in keys[:place]:
                    raise InputError(f"{self.path.name} line {key.start_mark.line + 1}: {key.value!r} stands twice")
                yield from self._walk(child, (*path, key.value), key.start_mark.line)

    def at(self, path: Place) -> str:
        """The file and the line of a part, or of the nearest part around it."""
        while path and path not in self.lines:
            path = path[:-1]
        return f"{self.path.name} line {self.lines[path]}"

    @property
    def values(self) -> Any:
        """What the text says, as plain values."""
        import yaml

        self.lines  # noqa: B018  refuses keys that stand twice, of which PyYAML would keep the last
        return self._read(yaml.safe_load)


def shipped(name: str) -> Path:
    """The file of a policy that comes with the library: `example`, or one that a notebook decides by.

    ContractError for a name that there is not.

    >>> read_policy(shipped("docstrings")).rules[0].name
    'nDCG@10 of fuse'
    """
    folder = Path(__file__).with_name("policies")
    path = folder / f"{name}.yaml"
    if path not in folder.glob("*.yaml"):
        names = ", ".join(sorted(each.stem for each in folder.glob("*.yaml")))
        raise ContractError(f"no policy {name!r} is shipped; there are {names}")
    return path


def read_policy(path: str | os.PathLike[str]) -> Policy:
    """The policy in a YAML file.

    InputError, with file, line and field, for what is no YAML, a key that is unknown or stands twice, a value of
    another type or out of range, a measure or an event that is not known, and a policy that checks nothing.

    >>> found = read_policy(shipped("example"))
    >>> found.rules[0].margin, found.latency[0].at_most_ms
    (0.02, 1200.0)
    >>> found.place("rules", 0, "margin")
    'example.yaml line 11 (rules.0.margin)'
    """
    source = Source(Path(path))
    text = json.dumps(source.values, default=str)
    try:
        policy = Policy.model_validate_json(text)
    except ValidationError as error:
        raise InputError(_sentence(error, source)) from None
    for place, event in enumerate(policy.events):
        if event not in EVENTS:
            raise InputError(
                f"{source.at(('events', place))} (events.{place}): event {event!r} is not known; "
                f"there are {', '.join(EVENTS)}"
            )
    policy._source = source
    return policy


def _sentence(error: ValidationError, source: Source) -> str:
    """The first complaint, with its place and the value."""
    first, *others = error.errors()
    path = tuple(first["loc"])
    more = f" ({len(others)} more)" if others else ""
    value = "" if isinstance(first["input"], dict | list) else f", got {first['input']!r}"
    said = {"missing": "is missing", "extra_forbidden": "is not known", "value_error": first["msg"][13:]}
    kind = first["type"]
    what = said.get(kind, f"{_uncapitalised(first['msg'])}{value}")
    where = f" ({'.'.join(map(str, path))})" if path else ""
    return f"{source.at(path)}{where}: {what}{_hint(first)}{more}"


def _hint(error: Any) -> str:
    value = error["input"]
    looks_like_number = isinstance(value, str) and value.lower().replace("e-", "").replace(".", "").isdecimal()
    return f"; YAML reads {value} as text: write it with a point, such as 1.0e-5" if looks_like_number else ""


def _uncapitalised(text: str) -> str:
    return text[:1].lower() + text[1:]


def _reason(error: Exception) -> str:
    return error.strerror or str(error) if isinstance(error, OSError) else str(error)
