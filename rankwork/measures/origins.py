"""Where ties come from, and what other orders make of them: types, rounding, steps that hide them, evaluators' habits.

A tie is a property of the scores as they were compared. The same scores in a narrower type, or as a report displays
them, tie more; tiny steps that a submitter subtracted to avoid ties hide those that the system had.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwork.contract import tolerance
from rankwork.errors import ContractError
from rankwork.measures.auditing import Audit
from rankwork.rankings import Rankings

if TYPE_CHECKING:
    import pandas as pd

_FEWEST = 0.02  # of the neighbours in a list, so many must stand one step apart before it is called a habit
_TIMES_SMALLER = 50  # than the typical difference of scores
_STEPS = 10  # a group of more ties than this is rare where a run has steps at all
_NEARLY_ALL = 0.8


def rounded(run: Rankings, digits: int) -> Rankings:
    """The run with its scores rounded to decimals, as a report displays them: a declared redefinition of a tie.

    The rule is that of `rankwork.contract.tolerance.rounded`: the decimal that is printed for a score, half to even.
    ContractError for digits that are not an integer of at least 0.

    >>> run = Rankings.from_dicts({"q": {"a": 0.821, "b": 0.824}})
    >>> rounded(run, 2).scores.tolist()
    [0.82, 0.82]
    """
    if isinstance(digits, bool) or not isinstance(digits, int) or digits < 0:
        raise ContractError(f"digits must be an integer of at least 0, got {digits!r}")
    if run.scores.dtype.kind != "f":
        return run
    values = run.scores.astype(np.float64)
    scaled = np.abs(values) * 10.0**digits
    nearest = np.round(values, digits)
    halves = np.flatnonzero(np.abs(scaled - np.floor(scaled) - 0.5) < 1e-6)
    if len(halves):
        near = tolerance.rounded(list(enumerate(run.scores[halves].tolist())), digits)
        nearest[halves] = [float(score) for _, score in near.rows]
    return replace(run, scores=nearest + 0.0)


def as_type(run: Rankings, name: str) -> Rankings:
    """The run with its scores in another type; `bfloat16` is float32 with its last 16 bits rounded away, half to even.

    `int8` spreads each list's scores over the 256 values that it has, as scalar quantisation does. ContractError for
    another name, and for scores that are not finite in that type.

    >>> run = Rankings.from_dicts({"q": {"a": 1.001, "b": 1.0}})
    >>> as_type(run, "bfloat16").scores.tolist(), as_type(run, "float16").scores.tolist()
    ([1.0, 1.0], [1.0009765625, 1.0])
    """
    if name in ("float16", "float32", "float64"):
        return run.cast(name)
    if name == "bfloat16":
        return replace(run, scores=_to_bfloat16(run.cast("float32").scores))
    if name == "int8":
        return replace(run, scores=_to_int8(run))
    raise ContractError(f"the type must be one of float64, float32, float16, bfloat16, int8, got {name!r}")


def _to_bfloat16(scores: Any) -> Any:
    bits = scores.view(np.uint32)
    kept = (bits + 0x7FFF + ((bits >> 16) & 1)) & np.uint32(0xFFFF0000)
    return kept.astype(np.uint32).view(np.float32)


def _to_int8(run: Rankings) -> Any:
    starts = run.offsets[:-1][run.lengths > 0]
    lows = np.repeat(np.minimum.reduceat(run.scores, starts), run.lengths[run.lengths > 0]).astype(np.float64)
    highs = np.repeat(np.maximum.reduceat(run.scores, starts), run.lengths[run.lengths > 0]).astype(np.float64)
    span = np.where(highs > lows, highs - lows, 1.0)
    return (np.round((run.scores - lows) / span * 255) - 128).astype(np.int8)


@dataclass(frozen=True)
class HiddenSteps:
    """A run whose ties seem to have been resolved by tiny steps: `share` of the neighbours stand one `step` apart.

    `digits` is the rounding that brings the ties back: `rounded(run, digits)`.
    """

    step: float
    share: float
    digits: int

    def __str__(self) -> str:
        return (
            f"{self.share:.1%} of neighbouring scores stand a step of {self.step:g} apart, as if ties had been hidden "
            f"by it; rounded to {self.digits} decimals they tie again"
        )


def hidden_steps(run: Rankings) -> HiddenSteps | None:
    """The step that hides ties in a run, or None where there is no sign of one.

    Three signs together: neighbours stand exactly a power of ten apart again and again; other differences are far
    larger; and scores with those last decimals lie within a few steps of a score without them.

    >>> run = {"q": {f"d{i}": round(9 - i // 2 * 0.01 - i % 2 * 1e-6, 6) for i in range(40)}}
    >>> hidden_steps(Rankings.from_dicts(run))
    HiddenSteps(step=1e-06, share=0.5128205128205128, digits=4)
    """
    gaps = _gaps(run)
    for exponent in range(3, 13) if len(gaps) else ():
        step = float(f"1e-{exponent}")
        share = float((np.abs(gaps - step) < step / 100).mean())
        others = gaps[gaps > _STEPS * step]
        rare = len(others) and _TIMES_SMALLER * step <= float(np.median(others))
        if share >= _FEWEST and rare and _near_round_scores(run, step, exponent - 2):
            return HiddenSteps(step, share, exponent - 2)
    return None


def _gaps(run: Rankings) -> Any:
    """The differences between neighbours of a list that do not tie."""
    if run.scores.dtype.kind != "f":
        return np.empty(0)
    scores = run.scores[run.by_score].astype(np.float64)
    gaps = (scores[:-1] - scores[1:])[run.query_of_row[:-1] == run.query_of_row[1:]]
    return gaps[gaps > 0]


def _near_round_scores(run: Rankings, step: float, digits: int) -> bool:
    """Whether the scores that rounding changes lie, nearly all, within a few steps of what it makes of them."""
    distance = np.abs(run.scores - np.round(run.scores, digits)) / step
    changed = distance[distance > 0.5]
    return len(changed) > 0 and float((changed < _STEPS + 0.5).mean()) >= _NEARLY_ALL


def forms(
    name: str, run: Rankings, *, types: Sequence[str] = ("float32", "bfloat16"), digits: int = 2
) -> dict[str, Rankings]:
    """The run under its name, and its scores in other forms: in each type, with hidden steps undone, as displayed.

    The steps are undone where `hidden_steps` sees any. ContractError as `as_type` and `rounded` raise it.

    >>> list(forms("bm25", Rankings.from_dicts({"q": {"a": 1.001, "b": 1.0}})))
    ['bm25', 'bm25 (float32)', 'bm25 (bfloat16)', 'bm25 (2 decimals)']
    """
    found = {name: run, **{f"{name} ({kept})": as_type(run, kept) for kept in types}}
    if (steps := hidden_steps(run)) is not None:
        found[f"{name} (steps undone)"] = rounded(run, steps.digits)
    return found | {f"{name} ({digits} decimals)": rounded(run, digits)}


def by_form(audits: Mapping[str, Audit]) -> "pd.DataFrame":
    """What each form of a run does to its ties: different scores, queries tied at the cut, and the width of each mean.

    `audits` holds an audit by the name of each form, all of the same measures; the cut is that of the first measure.
    ContractError where there is no audit.

    >>> from rankwork.measures.auditing import audit
    >>> run = Rankings.from_dicts({"q": {"a": 1.001, "b": 1.0}})
    >>> audits = {name: audit(form, {"q": {"a": 1}}, "RR") for name, form in forms("x", run, types=()).items()}
    >>> print(by_form(audits))
                    different scores  tied at the cut  with a range  width of RR
    x                              2                0             0          0.0
    x (2 decimals)                 1                0             1          0.5
    """
    import pandas as pd

    if not audits:
        raise ContractError("there must be at least one audit, got none")
    return pd.DataFrame({name: _form_row(each) for name, each in audits.items()}).T.astype(_COUNTS)


_COUNTS = {"different scores": int, "tied at the cut": int, "with a range": int}


def _form_row(audit: Audit) -> dict[str, float]:
    first = next(iter(audit.results.values()))
    scores = len(np.unique(audit.setting.joined.run.scores))
    counts = (scores, int(first.splits.sum()), int((first.widths > 0).sum()))
    widths = {f"width of {name}": result.mean.width for name, result in audit.results.items()}
    known = {column: np.nan if width is None else width for column, width in widths.items()}
    return {**dict(zip(_COUNTS, counts, strict=True)), **known}


def ties_made_by(run: Rankings, other: Rankings) -> int:
    """How many neighbours of the run's order tie in `other`, which holds the same rows, and not in the run."""
    inside = run.query_of_row[:-1] == run.query_of_row[1:]
    by_score = run.by_score
    apart = run.scores[by_score][:-1] != run.scores[by_score][1:]
    together = other.scores[by_score][:-1] == other.scores[by_score][1:]
    return int((inside & apart & together).sum())


def ties_of_float32(run: Rankings) -> int:
    """How many neighbours of the run's order tie in float32 alone, in which some evaluators compare."""
    return ties_made_by(run, _as_float32(run)) if run.scores.dtype == np.float64 else 0


def by_order(audit: Audit) -> dict[str, dict[str, float | None]]:
    """Each measure's mean by other orders of the same scores: `id_asc`, `id_desc`, `input`, and `rank` if it is known.

    >>> from rankwork.measures.auditing import audit
    >>> by_order(audit({"q": {"b": 1.0, "a": 1.0}}, {"q": {"a": 1}}, ["R@1"]))
    {'R@1': {'id_asc': 1.0, 'id_desc': 0.0, 'input': 0.0}}
    """
    orders = _orders_of(audit)
    if not audit.has_ranges:
        return {name: dict.fromkeys(orders, result.mean.contract) for name, result in audit.results.items()}
    means = {order: _means(found) for order, found in audits_by_order(audit).items()}
    return {name: {order: column[name] for order, column in means.items()} for name in audit.results}


def audits_by_order(audit: Audit) -> dict[str, Audit]:
    """The same audit by each order of ties: `id_asc`, `id_desc`, `input`, and `rank` where the run has its ranks.

    >>> from rankwork.measures.auditing import audit
    >>> list(audits_by_order(audit({"q": {"b": 1.0, "a": 1.0}}, {"q": {"a": 1}}, ["R@1"])))
    ['id_asc', 'id_desc', 'input']
    """
    return {order: audit.reordered(order) for order in _orders_of(audit)}


def _orders_of(audit: Audit) -> list[str]:
    return ["id_asc", "id_desc", "input"] + (["rank"] if audit.setting.joined.run.ranks is not None else [])


def by_evaluator(audit: Audit) -> dict[str, dict[str, float | None]]:
    """Each measure's mean by the order in which an evaluator resolves ties, and the type in which it compares scores.

    Only what ties do is changed: every other convention stays that of the audit. pytrec_eval compares in float32, and
    so does ir_measures, which asks it; but RR@k ir_measures computes itself, in float64 and by ascending IDs.

    >>> from rankwork.measures.auditing import audit
    >>> found = by_evaluator(audit({"q": {"b": 1.0, "a": 1.0}}, {"q": {"a": 1}}, ["RR", "RR@10"]))
    >>> found["trec_eval"], found["ir_measures"]
    ({'RR': 0.5, 'RR@10': 0.5}, {'RR': 0.5, 'RR@10': 1.0})
    """
    orders = {order: _means(audit.reordered(order)) for order in ("id_asc", "id_desc", "input")}
    narrow = audit.of_run(_as_float32(audit.setting.joined.run))
    descending = _means(narrow.reordered("id_desc"))
    cut_rr = {name for name, result in audit.results.items() if result.resolved.name == "RR" and result.resolved.cutoff}
    return {
        "the contract": orders["id_asc"],
        "trec_eval": orders["id_desc"],
        "pytrec_eval": descending,
        "ir_measures": {name: (orders["id_asc"] if name in cut_rr else descending)[name] for name in audit.results},
        "the file": orders["input"],
    }


def _means(audit: Audit) -> dict[str, float | None]:
    return {name: result.mean.contract for name, result in audit.results.items()}


def notes(run: Rankings) -> list[str]:
    """What a reader of an audit must know of the scores' origin, a sentence each."""
    found = []
    if narrow := ties_of_float32(run):
        found.append(f"In float32, in which some evaluators compare, more neighbours tie: {narrow} (--dtype float32).")
    if (steps := hidden_steps(run)) is not None:
        found.append(f"Note on the scores: {steps} (--round {steps.digits}).")
    return found


def _as_float32(run: Rankings) -> Rankings:
    """The run in float32; scores beyond its range become the largest that it has, and tie there."""
    limit = float(np.finfo(np.float32).max)
    return replace(run, scores=np.clip(run.scores, -limit, limit).astype(np.float32))
