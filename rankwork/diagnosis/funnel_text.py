"""A funnel for the terminal: the table of stages, the losses, and what is to be looked at, a sentence each."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any
from typing import Protocol as Shape

from rankwork.diagnosis.leaks import Leaks
from rankwork.diagnosis.losses import ALL, STEPS, Losses
from rankwork.diagnosis.matrix import LOOK_AT, ROWS, Diagnosis
from rankwork.diagnosis.stage_table import StageMean, StageTable
from rankwork.protocol import Protocol

SENTENCES = 10
_SHOWN = ("Success", "R", "P", "P(returned)", "RR", "AP", "nDCG", "EvidenceCoverage", "EvidenceComplete")
_HEAD = ("stage", "measure", "traces", "observed", "own range", "inherited range")
_NO_DEFECT = ("reached", "filtered_rightly")


class Shown(Shape):
    """What of a funnel is shown: the attributes of `rankwork.diagnosis.funnel.Funnel`, which describes each of them.

    The funnel shows itself by this module, so it cannot be imported here: modules form no circle.
    """

    @property
    def protocol(self) -> Protocol: ...  # noqa: D102
    @property
    def k(self) -> int | None: ...  # noqa: D102
    @property
    def frames(self) -> Mapping[str, Any]: ...  # noqa: D102
    @property
    def table(self) -> StageTable: ...  # noqa: D102
    @property
    def losses(self) -> Losses: ...  # noqa: D102
    @property
    def leaks(self) -> Leaks: ...  # noqa: D102
    @property
    def answers(self) -> tuple[Diagnosis, ...]: ...  # noqa: D102
    @property
    def missing(self) -> tuple[str, ...]: ...  # noqa: D102
    @property
    def stale(self) -> tuple[str, ...]: ...  # noqa: D102
    @property
    def notes(self) -> tuple[str, ...]: ...  # noqa: D102
    def diagnoses(self, *rows: str) -> Iterator[Diagnosis]: ...  # noqa: D102


def text_of(funnel: Shown, *, sentences: int = SENTENCES) -> str:
    """All of it; at most so many `sentences` for each row of the matrix."""
    cut = "its own cut" if funnel.k is None else f"the first {funnel.k}"
    head = f"protocol {funnel.protocol.name}; {len(funnel.frames)} traces; each stage at {cut}"
    parts = [[head], stage_lines(funnel), loss_lines(funnel), slice_lines(funnel)]
    parts.append(list(diagnosis_lines(funnel, sentences)))
    return "\n".join("\n".join(part) for part in [*parts, note_lines(funnel)] if part)


def stage_lines(funnel: Shown) -> list[str]:
    """A line for each stage and measure: observed, its own tie range, and the range it inherited."""
    rows = [_row(mean) for stage in funnel.table.stages for name in _SHOWN for mean in [funnel.table.mean(stage, name)]]
    return aligned([_HEAD, *rows])


def loss_lines(funnel: Shown) -> list[str]:
    """A line for each step: how much gold entered it, how much was handed on, and why the rest was not."""
    losses, lines = funnel.losses, []
    for step in STEPS:
        entered = losses.entered[ALL, step]
        if entered:
            reasons = [(count, why) for (name, at, why), count in losses.lost.items() if (name, at) == (ALL, step)]
            why = ", ".join(f"{reason} {count}" for count, reason in sorted(reasons, key=lambda row: (-row[0], row[1])))
            lines.append(
                f"{step}: {losses.survived(step)} of {entered} pieces of gold handed on" + f"; {why}" * bool(why)
            )
    return lines


def slice_lines(funnel: Shown) -> list[str]:
    """A line for each slice: how much of its gold arrives, and where most of the rest is lost, for which reason."""
    losses, lines = funnel.losses, []
    for name in funnel.table.slices[1:]:
        entered = sum(count for (where, _), count in losses.rows.items() if where == name)
        lost = {(step, why): count for (where, step, why), count in losses.lost.items() if where == name}
        if entered:
            line = f"slice {name}: {entered - sum(lost.values())} of {entered} pieces of gold arrive"
            worst = max(lost, key=lambda key: (lost[key], key), default=None)
            lines.append(f"{line}; most are lost at {worst[0]}, {worst[1]} {lost[worst]}" if worst else line)
    return lines


def diagnosis_lines(funnel: Shown, most: int) -> Iterator[str]:
    """For each row of the matrix that holds for some gold: how often, what to look at, and the first sentences."""
    for row in ROWS:
        count = funnel.losses.rows[ALL, row]
        if count:
            yield f"{row} ({count}): look at {LOOK_AT[row]}"
        if count and row not in _NO_DEFECT:
            yield from (f"  {found.case}: {found.sentence}" for found in islice(funnel.diagnoses(row), most))
    for found in islice(funnel.answers, most):
        yield f"{found.row}: {found.sentence}"


def note_lines(funnel: Shown) -> list[str]:
    """What was left out, what else must be known, and the leaks."""
    lines = list(funnel.notes)
    for names, why in ((funnel.missing, "cases without a trace"), (funnel.stale, "cases whose gold does not hold")):
        if names:
            lines.append(f"{why}, not scored: {len(names)} ({', '.join(names[:5])}{', ...' * (len(names) > 5)})")
    leaks = funnel.leaks
    if leaks:
        lines.append(f"unauthorised documents: {len(leaks.found)}; stop the release")
        lines += [f"  {leak.layer}: {leak}" for leak in leaks.found[:SENTENCES]]
    return lines


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows as lines of columns."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return ["  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def _row(mean: StageMean) -> tuple[str, ...]:
    observed = "undefined" if mean.observed is None else f"{mean.observed:.4f}"
    own = _range(mean.own_min, mean.own_max, mean.own_unknown, mean.own_outer_min, mean.own_outer_max)
    inherited = _range(mean.inherited_min, mean.inherited_max, mean.inherited_unknown, None, None)
    return (mean.stage, mean.measure, str(mean.traces), observed, own, inherited)


def _range(low: float | None, high: float | None, unknown: int, outer: float | None, upper: float | None) -> str:
    if low is not None and high is not None:
        return "none" if low == high else f"{low:.4f} to {high:.4f}"
    bounds = f", within {outer:.4f} to {upper:.4f}" if outer is not None and upper is not None else ""
    return f"unknown in {unknown}{bounds}" if unknown else "-"
