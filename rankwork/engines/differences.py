"""What differs between two reports: two machines, or two versions of a library in two environments.

Scores come first. Where an input's bytes differ nothing is said about its ties, because the two reports did not ask the
same question. On an input where an engine does not even repeat itself it is said to vary, not to have changed.
"""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from rankwork.engines.counterexamples import REPETITION
from rankwork.engines.saved_scores import LARGE, LEVELS
from rankwork.errors import InputError

Kind = Literal["environment", "scores", "engine", "behaviour", "varies"]

_ABSENT = "absent"


@dataclass(frozen=True)
class Difference:
    """One value that differs. `about` is an engine, an input or "environment"; `where` says which value."""

    kind: Kind
    about: str
    where: str
    first: Any
    second: Any

    def __str__(self) -> str:
        return f"{self.kind}: {self.about}, {self.where}: {_short(self.first)} | {_short(self.second)}"


def compare_reports(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    """All that differs between two reports of `run_experiments`, as plain values; times are not compared.

    `same_behaviour` holds if both asked the same scores of the same engines, and these answered alike wherever they
    repeat themselves; environment and versions may differ. Raises InputError for a report of another format.
    """
    for report in (first, second):
        if report.get("format") != "rankwork-engines/1":
            raise InputError(f"report must have format rankwork-engines/1, got {report.get('format')!r}")
    found = [*_environment(first, second), *_scores(first, second), *_engines(first, second)]
    counts = {kind: sum(item.kind == kind for item in found) for kind in Kind.__args__}  # type: ignore[attr-defined]
    return {
        "same_behaviour": not (counts["scores"] or counts["behaviour"] or _availability(found)),
        "counts": counts,
        "differences": [asdict(item) for item in found],
    }


def describe(comparison: Mapping[str, Any]) -> str:
    """The comparison as lines of text, one a difference, with the verdict first."""
    verdict = "the same behaviour" if comparison["same_behaviour"] else "another behaviour"
    lines = [str(Difference(**item)) for item in comparison["differences"]]
    return "\n".join([verdict, *lines])


def _availability(found: list[Difference]) -> bool:
    return any(item.kind == "engine" and item.where in {"status", "presence"} for item in found)


def _environment(first: Mapping[str, Any], second: Mapping[str, Any]) -> Iterator[Difference]:
    yield from _unequal("environment", "environment", flat(first["environment"]), flat(second["environment"]))


def _scores(first: Mapping[str, Any], second: Mapping[str, Any]) -> Iterator[Difference]:
    for name, one, other in _pairs(first["scores"], second["scores"]):
        for field in ("dtype", "n", "k", "sha256"):
            if (one or {}).get(field) != (other or {}).get(field):
                yield Difference("scores", name, field, (one or {}).get(field), (other or {}).get(field))


def _engines(first: Mapping[str, Any], second: Mapping[str, Any]) -> Iterator[Difference]:
    changed = {item.about for item in _scores(first, second)}
    for name, one, other in _pairs(first["engines"], second["engines"]):
        if one is None or other is None:
            yield Difference("engine", name, "presence", *("present" if entry else _ABSENT for entry in (one, other)))
        else:
            yield from _facts(name, one, other)
            yield from _behaviour(name, one, other, changed)


def _facts(name: str, one: Mapping[str, Any], other: Mapping[str, Any]) -> Iterator[Difference]:
    for field in ("version", "status", "note", "promise", "dtypes", "devices"):
        if one.get(field) != other.get(field):
            yield Difference("engine", name, field, one.get(field), other.get(field))


def _behaviour(name: str, one: Mapping[str, Any], other: Mapping[str, Any], changed: set[str]) -> Iterator[Difference]:
    if "outcome" not in one or "outcome" not in other:
        return
    varying = varying_inputs(one["outcome"]) | varying_inputs(other["outcome"])
    missing = _not_run(one["outcome"]) | _not_run(other["outcome"])
    values = (_values(entry["outcome"], changed, missing) for entry in (one, other))
    for item in _unequal("behaviour", name, *values):
        yield replace(item, kind="varies") if _concerns(item.where, varying) else item
    statuses = (
        {f"{arm} / status": _status(entry["outcome"], arm) for arm in sorted(missing)} for entry in (one, other)
    )
    yield from _unequal("environment", name, *statuses)


def _not_run(outcome: Mapping[str, Any]) -> set[str]:
    """The arms that a machine could not run, for want of a device, say: that is no behaviour of the engine."""
    return {_arm(arm) for arm in outcome["settings"] if arm["status"] == "not run here"}


def _status(outcome: Mapping[str, Any], name: str) -> str:
    return next((arm["status"] for arm in outcome["settings"] if _arm(arm) == name), _ABSENT)


def varying_inputs(outcome: Mapping[str, Any]) -> set[str]:
    """The inputs on which an engine did not even repeat its own answer."""
    repeats = {name for name, tally in outcome["repeated"].items() if tally["distinct"]["full order"] > 1}
    arrivals = {name for name, tally in outcome["rearranged"].items() if any(tally.get("not repeated", {}).values())}
    return repeats | arrivals


def _concerns(where: str, varying: set[str]) -> bool:
    """Whether a value is about an input that varies. Counterexamples are cut down from all inputs but the large one."""
    part, about = where.split(" / ")[:2]
    if part == "smallest":
        return bool(varying - {LARGE}) or (about == REPETITION and bool(varying))
    return any(about == name or about.endswith(f" {name}") for name in varying)


def _values(outcome: Mapping[str, Any], changed: set[str], missing: set[str]) -> dict[str, Any]:
    """Every value of an outcome under its path, without those about inputs whose scores differ and `missing` arms."""
    arms = [arm for arm in outcome["settings"] if _arm(arm) not in missing]
    unasked = changed | ({LARGE} if LEVELS in changed else set())
    parts = {
        "repeated": {name: tally for name, tally in outcome["repeated"].items() if name not in unasked},
        "rearranged": {name: tally for name, tally in outcome["rearranged"].items() if name not in unasked},
        "settings": {_arm(arm): _of_arm(arm) for arm in arms if arm["scores"] not in unasked},
        # Counterexamples are cut down from the inputs, so they stand only where all inputs are the same.
        "smallest": {} if changed else {rule: _of_case(found) for rule, found in outcome["smallest"].items()},
        "answers": {name: answer for name, answer in outcome["answers"].items() if name not in unasked},
    }
    return flat(parts)


def _of_case(found: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """A counterexample without how long it was looked for."""
    return None if found is None else {name: value for name, value in found.items() if name != "tries"}


def _arm(arm: Mapping[str, Any]) -> str:
    return f"{arm['kind']} {arm['condition']} {arm['scores']}"


def _of_arm(arm: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in arm.items() if name not in {"kind", "condition", "scores"}}


def flat(value: Any, path: str = "") -> dict[str, Any]:
    """Nested mappings as one, keyed by path; lists are values.

    >>> flat({"a": {"b": 1}, "c": [2]})
    {'a / b': 1, 'c': [2]}
    """
    if not isinstance(value, Mapping):
        return {path: value}
    return {
        inner: leaf
        for name, part in value.items()
        for inner, leaf in flat(part, f"{path} / {name}" if path else str(name)).items()
    }


def _unequal(kind: Kind, about: str, one: Mapping[str, Any], other: Mapping[str, Any]) -> Iterator[Difference]:
    for path in dict.fromkeys([*one, *other]):
        first, second = one.get(path, _ABSENT), other.get(path, _ABSENT)
        # A negative zero equals zero, and which of them a counterexample has is the point of it.
        if repr(first) != repr(second):
            yield Difference(kind, about, path, first, second)


def _pairs(one: Mapping[str, Any], other: Mapping[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    return ((name, one.get(name), other.get(name)) for name in dict.fromkeys([*one, *other]))


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
