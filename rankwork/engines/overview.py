"""A report read by question: what changed in each experiment and how deeply, which promises were kept, what varies.

Answers with other scores have other members, as long as they come in score order, and other members are another order.
So one word says how deep a change goes: the score sequence, else the member set, else the full order.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rankwork.engines.base import Engine
from rankwork.engines.counterexamples import PROMISE
from rankwork.engines.deviations import load
from rankwork.engines.differences import compare_reports, describe, varying_inputs
from rankwork.engines.layers import LAYERS, in_words
from rankwork.engines.registry import engine
from rankwork.engines.running import Report
from rankwork.engines.saved_scores import SIX, SavedScores
from rankwork.engines.settings import Arm, outcome, recast
from rankwork.engines.table import case, shown

AGAIN, ARRIVAL, ELSEWHERE = "again", "arrival", "elsewhere"
CONDITIONS = ("device", "dtype", "process", "threads", "batch", "padding", "n", "k")
EXPERIMENTS = (AGAIN, ARRIVAL, *CONDITIONS)
VARYING = (AGAIN, "device", "threads")  # experiments whose answers chance may decide
SAME, FAILED, NOT_RUN, NONE = "same", "failed", "not run here", "no such condition"


@dataclass(frozen=True)
class Observation:
    """One engine in one experiment: of `asked` questions, how many got another answer, in each layer.

    `failed` counts further questions that raised or got no selection. `note` says of the first question without an
    answer why that is. Nothing asked and nothing failed without a note: the engine has no such condition.
    """

    engine: str
    experiment: str
    asked: int = 0
    changed: Mapping[str, int] = field(default_factory=lambda: dict.fromkeys(LAYERS, 0))
    failed: int = 0
    note: str = ""

    @property
    def state(self) -> str:
        """How deep the deepest change went: a layer; else "failed", "same", "not run here" or "no such condition".

        >>> Observation("x", "arrival", 2, {"score sequence": 0, "member set": 1, "full order": 2}).state
        'member set'
        """
        if not self.asked and not self.failed:
            return NOT_RUN if self.note else NONE
        return next((layer for layer in LAYERS if self.changed[layer]), FAILED if self.failed else SAME)

    @property
    def text(self) -> str:
        """The counts in one cell: score sequence/member set/full order changed, of how many.

        >>> Observation("x", "arrival", 2, {"score sequence": 0, "member set": 1, "full order": 2}).text
        '0/1/2 of 2'
        """
        counts = "/".join(str(self.changed[layer]) for layer in LAYERS) + f" of {self.asked}"
        return ", ".join([counts] * bool(self.asked) + [f"{self.failed} failed"] * bool(self.failed)) or self.state

    def to_dict(self) -> dict[str, Any]:
        """The observation as the row of a table."""
        return {
            "engine": self.engine,
            "experiment": self.experiment,
            "asked": self.asked,
            **self.changed,
            "failed": self.failed,
            "note": self.note,
        }


def observations(report: Report, elsewhere: Report | None = None) -> tuple[Observation, ...]:
    """Every engine of a report in every experiment; with a second report, also beside its answers there.

    Number formats that change a score are no part of it: another score is another question.
    """
    return tuple(item for name in report["engines"] for item in _of_engine(name, report, elsewhere))


def _of_engine(name: str, report: Report, elsewhere: Report | None) -> Iterator[Observation]:
    entry = report["engines"][name]
    beside = () if elsewhere is None else (ELSEWHERE,)
    if entry["status"] != "run":
        failed = int(entry["status"] == "error")
        for experiment in (*EXPERIMENTS, *beside):
            yield Observation(name, experiment, failed=failed, note=entry["note"])
        return
    found = entry["outcome"]
    yield _counted(name, AGAIN, _repetitions(found))
    yield _counted(name, ARRIVAL, [_differ(tally["distinct"]) for tally in found["rearranged"].values()])
    for kind in CONDITIONS:
        yield _condition(name, kind, [arm for arm in found["settings"] if arm["kind"] == kind])
    if elsewhere is not None:
        yield _beside(name, report, elsewhere)


def _repetitions(found: Mapping[str, Any]) -> list[dict[str, bool]]:
    """Whether the repetitions of each input differed; the arrivals that were asked twice are one more input."""
    twice = [tally["not repeated"] for tally in found["rearranged"].values() if "not repeated" in tally]
    changed = [{layer: bool(counts[layer]) for layer in LAYERS} for counts in twice]
    return [*(_differ(tally["distinct"]) for tally in found["repeated"].values()), *changed]


def _differ(distinct: Mapping[str, int]) -> dict[str, bool]:
    return {layer: distinct[layer] > 1 for layer in LAYERS}


def by_experiment(seen: Iterable[Observation]) -> dict[str, dict[str, str]]:
    """The counts of every engine that ran, by experiment and then by engine; empty where there is no such condition."""
    table: dict[str, dict[str, str]] = {}
    for each in seen:
        if each.experiment != AGAIN or each.state != NOT_RUN:
            table.setdefault(each.experiment, {})[each.engine] = "" if each.state == NONE else each.text
    return {experiment: {name: texts[name] for name in table[AGAIN]} for experiment, texts in table.items()}


def lasting(report: Report, elsewhere: Report | None = None) -> list[dict[str, Any]]:
    """The observations that do not depend on chance, as rows: another run on a machine of this kind has them too."""
    steady = {name for name, _ in _ran(report)} - by_chance(report)
    seen = observations(report, elsewhere)
    return [each.to_dict() for each in seen if each.engine in steady and each.experiment not in VARYING]


def _counted(
    name: str, experiment: str, changed: list[dict[str, bool]], *, failed: int = 0, note: str = ""
) -> Observation:
    counts = {layer: sum(each[layer] for each in changed) for layer in LAYERS}
    return Observation(name, experiment, len(changed), counts, failed, note)


def _condition(name: str, kind: str, arms: list[Arm]) -> Observation:
    asked = [arm for arm in arms if arm["status"] == "run" and not recast(arm)]
    changed = [{layer: not arm["same"][layer] for layer in LAYERS} for arm in asked]
    notes = (f"{arm['condition']}, {arm['scores']}: {arm['note']}" for arm in arms if arm["status"] != "run")
    failed = sum(arm["status"] == "error" for arm in arms)
    return _counted(name, kind, changed, failed=failed, note=next(notes, ""))


def _beside(name: str, here: Report, elsewhere: Report) -> Observation:
    """The answers here beside those of the same engine there, to every question that is the same bit for bit."""
    entry = elsewhere["engines"].get(name, {"status": "not here", "note": "not in the other report"})
    if entry["status"] != "run":
        return Observation(name, ELSEWHERE, note=f"not run elsewhere: {entry['note']}")
    one, other = (_answers(found["outcome"]) for found in (here["engines"][name], entry))
    books = here["scores"], elsewhere["scores"]
    common = [question for question in one if question in other and _same_scores(question[-1], *books)]
    changed = []
    for question in common:
        scores = SavedScores.from_dict(here["scores"][question[-1]]).scores
        same = outcome(scores, np.array(one[question]), np.array(other[question]))["same"]
        changed.append({layer: not same[layer] for layer in LAYERS})
    return _counted(name, ELSEWHERE, changed, note="" if common else "not run elsewhere: the scores differ")


def _answers(found: Mapping[str, Any]) -> dict[tuple[str, ...], list[int]]:
    """Every answer that a report holds whole, by what was asked; the name of the scores comes last."""
    plain = {("", "", about): answer for about, answer in found["answers"].items()}
    arms = [arm for arm in found["settings"] if arm["status"] == "run" and not recast(arm)]
    return plain | {(arm["kind"], arm["condition"], arm["scores"]): arm["answer"] for arm in arms}


def _same_scores(about: str, one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    return about in other and all(one[about][fact] == other[about][fact] for fact in ("sha256", "dtype", "k"))


def repetitions(report: Report) -> list[dict[str, Any]]:
    """Experiment 1 as rows: the most distinct answers to one input, in each layer, and the arrivals not repeated."""
    return [{"engine": name, **_most_distinct(entry["outcome"])} for name, entry in _ran(report)]


def _most_distinct(found: Mapping[str, Any]) -> dict[str, int]:
    tallies = found["repeated"].values()
    distinct = {layer: max(tally["distinct"][layer] for tally in tallies) for layer in LAYERS}
    asked = sum(tally["answers"] for tally in tallies)
    return {"asked": asked, **distinct, "arrivals not repeated": found["rearranged"][SIX]["not repeated"]["full order"]}


def arrivals(report: Report) -> list[dict[str, Any]]:
    """Experiment 2 as rows: distinct answers for six documents over all arrivals, in each layer, and how many right."""
    return [
        {
            "engine": name,
            "sees IDs": entry["by ID"],
            **tally["distinct"],
            "right": tally["right"]["full order"],
            "right by position": tally["right by position"],
        }
        for name, entry in _ran(report)
        for tally in [entry["outcome"]["rearranged"][SIX]]
    ]


def _ran(report: Report) -> list[tuple[str, dict[str, Any]]]:
    return [(name, entry) for name, entry in report["engines"].items() if entry["status"] == "run"]


def by_chance(report: Report) -> set[str]:
    """The engines whose answers may depend on chance: those that varied here, and those recorded as varying."""
    known = {deviation.engine for deviation in load() if deviation.varies}
    return {name for name, entry in _ran(report) if name in known or varying_inputs(entry["outcome"])}


def promises(report: Report) -> list[dict[str, Any]]:
    """What the engines that ran promise about ties and about repetition, and whether it held on all that was tried."""
    return [_promise(name, entry) for name, entry in _ran(report)]


def _promise(name: str, entry: Mapping[str, Any]) -> dict[str, Any]:
    said, found = entry["promise"], entry["outcome"]
    broken = found["smallest"].get(PROMISE)
    return {
        "engine": name,
        "sees IDs": entry["by ID"],
        "wins a tie": said["tie_break"],
        "kept": "none" if said["tie_break"] == "none" else "broken" if broken else "kept",
        "the same again": said["determinism"],
        "repeats": "varies" if varying_inputs(found) else "repeats",
        "broken by": case(broken),
        "text": said["text"],
        "source": f"{said['source']} ({said['version']})",
    }


def broken_rules(report: Report) -> list[dict[str, Any]]:
    """For each engine and each rule that it breaks, the smallest input found: its scores, k, and the two answers."""
    return [
        {"engine": name, "rule": rule, "input": case(found), "instead of": shown(found["answers"][1]), **_size(found)}
        for name, entry in _ran(report)
        for rule, found in entry["outcome"]["smallest"].items()
        if found is not None
    ]


def not_repeated(name: str, report: Report) -> list[str]:
    """The rules whose smallest input, asked once more, does not get the answer that the report holds."""
    found = report["engines"][name]["outcome"]["smallest"]
    return [rule for rule, case in found.items() if case and "scores" in case and not _repeats(engine(name), case)]


def _repeats(item: Engine, case: Mapping[str, Any]) -> bool:
    again = item.select(np.array(case["scores"], dtype=np.float32), case["k"])
    return bool(again.tolist() == case["answers"][0])


def _size(found: Mapping[str, Any]) -> dict[str, Any]:
    return {"n": found["n"], "how": found["how"]}


def on_devices(report: Report, elsewhere: Report | None = None) -> list[dict[str, Any]]:
    """Each engine on its other devices: whether the answer is the CPU's, and whether it is right, layer by layer.

    `asked` says where: "here", or "elsewhere" for a second report.
    """
    reports = {"here": report} | ({} if elsewhere is None else {ELSEWHERE: elsewhere})
    return [
        {"asked": where, "engine": name, **_device(arm)}
        for where, each in reports.items()
        for name, entry in _ran(each)
        for arm in entry["outcome"]["settings"]
        if arm["kind"] == "device"
    ]


def _device(arm: Arm) -> dict[str, Any]:
    about = {"device": arm["condition"], "scores": arm["scores"], "status": arm["status"]}
    if arm["status"] != "run":
        return {**about, "beside the CPU's": "-", "beside the contract's": "-", "note": arm["note"]}
    words = {"beside the CPU's": in_words(arm["same"]), "beside the contract's": in_words(arm["right"])}
    return {**about, **words, "note": ""}


def who_ran(report: Report) -> list[str]:
    """Lines that say how many engines ran, on what machine, and why others did not."""
    ran, here = dict(_ran(report)), report["environment"]
    return [
        f"{len(ran)} engines ran; GPUs: {', '.join(here['torch']['devices']) or 'none'}.",
        f"Instructions that decide how numpy sorts: {', '.join(here['cpu instructions']) or 'none known'}.",
        *(f"{name}: {entry['note']}" for name, entry in sorted(report["engines"].items()) if name not in ran),
    ]


def beside_elsewhere(report: Report, elsewhere: Report | None) -> list[str]:
    """Lines that say how another machine's report differs in its surroundings, and in how many answers."""
    lines = []
    if elsewhere is not None:
        comparison = compare_reports(report, elsewhere)
        told = describe(comparison).splitlines()
        lines = [line for line in told if not line.startswith(("behaviour", "varies"))]
        lines += [f"Answers that differ: {comparison['counts']['behaviour']}; `rankwork engines --compare` lists them."]
    if not any(row["status"] == "run" for row in on_devices(report, elsewhere)):
        lines += ["CPU against GPU: not run here, and no report of a machine that has one was given."]
    return lines
