"""What a gate found, as JSON and as a table for the terminal."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from rankwork.decision.comparisons import Comparison
from rankwork.decision.gate import Gate
from rankwork.decision.limits import Checked
from rankwork.decision.verdicts import Verdict

if TYPE_CHECKING:
    import pandas as pd

HEAD = ("rule", "slice", "baseline", "candidate", "gain", "95% limits", "margin", "clusters", "verdict", "ties")
LIMITS_HEAD = ("limit", "slice", "value", "90% limits", "at most", "looked at", "unknown", "verdict")
_MOST = 10


def json_of(gate: Gate) -> dict[str, Any]:
    """The decision, every reason, and everything behind them; unknown numbers are None.

    >>> from rankwork.decision.outcomes import of_values
    >>> from rankwork.decision.policy import Policy, Rule
    >>> asked = Policy(name="mine", alpha=0.05, minimum_clusters=5, rules=(Rule(measure="R@10", margin=0.05),))
    >>> half, full = of_values("half", {"R@10": [0, 1] * 20}), of_values("full", {"R@10": [1] * 40})
    >>> from rankwork.decision.gate import gate
    >>> found = json_of(gate(asked, half, full))
    >>> found["decision"], found["rules"][0]["verdict"], found["rules"][0]["tie_proof"]
    ('release', 'better', None)
    """
    return {
        "policy": gate.policy.name,
        "decision": gate.decision,
        "reasons": [asdict(each) for each in gate.reasons],
        "rules": [_comparison(each) for each in gate.comparisons],
        "limits": [asdict(each) for each in gate.limits],
        "events": [{**asdict(each), "found": [list(row) for row in each.found]} for each in gate.events],
        "refusals": [asdict(each) for each in gate.refusals],
        "front": _front(gate),
        "regressions": [{**asdict(each), "whatever_ties_do": each.whatever_ties_do} for each in gate.regressions],
        "notes": list(gate.notes),
        "resampling": {"resamples": gate.policy.resamples, "seed": gate.policy.seed, "alpha": gate.policy.alpha},
        "queries": len(gate.pair.queries),
    }


def _comparison(each: Comparison) -> dict[str, Any]:
    verdict, differences = each.verdict, each.differences
    return {
        "rule": each.rule.name,
        "slice": each.slice,
        "required": each.required,
        "verdict": verdict.word,
        "reason": verdict.reason,
        "non_inferior": verdict.non_inferior,
        "passes": verdict.passes,
        "tie_proof": verdict.tie_proof,
        "under_ties": verdict.under_ties,
        "margin": verdict.margin,
        "p": verdict.p,
        "baseline": each.baseline,
        "candidate": each.candidate,
        "estimate": asdict(verdict.estimate),
        "undefined": differences.undefined,
        "unpaired": list(differences.unpaired),
    }


def _front(gate: Gate) -> dict[str, Any] | None:
    front = gate.front
    if front is None:
        return None
    systems = {name: [asdict(point) for point in points] for name, points in front.systems.items()}
    return {"axes": [asdict(axis) for axis in front.axes], "systems": systems, "best": list(front.best)}


def text_of(gate: Gate) -> str:
    """The decision with its reasons first, then a row for each rule and limit, then what is to be reviewed.

    >>> from rankwork.decision.outcomes import of_values
    >>> from rankwork.decision.policy import Policy, Rule
    >>> asked = Policy(name="mine", alpha=0.05, minimum_clusters=5, rules=(Rule(measure="R@10", margin=0.05),))
    >>> half, full = of_values("half", {"R@10": [0, 1] * 20}), of_values("full", {"R@10": [1] * 40})
    >>> from rankwork.decision.gate import gate
    >>> print(text_of(gate(asked, half, full)).splitlines()[0])
    RELEASE by policy 'mine', 40 queries
    """
    parts = [str(gate)]
    if gate.comparisons:
        parts += ["", *aligned([HEAD, *(row_of(each) for each in gate.comparisons)])]
    if gate.limits:
        parts += ["", *aligned([LIMITS_HEAD, *(limit_row(each) for each in gate.limits)])]
    parts += ["", *(f"event {each}" for each in gate.events)] if gate.events else []
    parts += ["", str(gate.front)] if gate.front else []
    parts += ["", *_review(gate)] if gate.regressions else []
    return "\n".join([*parts, *(["", *gate.notes] if gate.notes else [])])


def _review(gate: Gate) -> list[str]:
    shown = gate.regressions[:_MOST]
    certain = sum(each.whatever_ties_do for each in gate.regressions)
    head = f"To review: {lost(gate)}, {certain} of the losses whatever ties do."
    rows = [(each.query, each.measure, f"{each.difference:+.4f}", ", ".join(each.slices)) for each in shown]
    more = len(gate.regressions) - len(shown)
    return [head, *(f"  {line}" for line in aligned(rows)), *([f"  and {more} more, see --json"] if more else [])]


def lost(gate: Gate) -> str:
    """How many queries lost by a rule, and how many losses that are: a query can lose by several rules.

    >>> from rankwork.decision.outcomes import of_values
    >>> from rankwork.decision.policy import Policy, Rule
    >>> asked = Policy(name="mine", alpha=0.05, minimum_clusters=5, rules=(Rule(measure="R@10", margin=0.05),))
    >>> half, full = of_values("half", {"R@10": [0, 1] * 20}), of_values("full", {"R@10": [1] * 40})
    >>> from rankwork.decision.gate import gate
    >>> lost(gate(asked, full, half))
    '20 queries lost by a rule, 20 losses in all'
    """
    queries = len({each.query for each in gate.regressions})
    return f"{queries} queries lost by a rule, {len(gate.regressions)} losses in all"


def row_of(each: Comparison) -> tuple[str, ...]:
    """One rule in one slice, as the columns of `HEAD`; the gain is signed so that more is better.

    >>> from rankwork.decision.outcomes import of_values
    >>> from rankwork.decision.policy import Policy, Rule
    >>> asked = Policy(name="mine", alpha=0.05, minimum_clusters=5, rules=(Rule(measure="R@10", margin=0.05),))
    >>> half, full = of_values("half", {"R@10": [0, 1] * 20}), of_values("full", {"R@10": [1] * 40})
    >>> from rankwork.decision.gate import gate
    >>> row_of(gate(asked, half, full).comparisons[0])[:5]
    ('R@10', 'all', '0.5000', '1.0000', '+0.5000')
    """
    verdict, found = each.verdict, each.verdict.estimate
    ties = {True: "proof", False: _reversed(verdict), None: "not known"}[verdict.tie_proof]
    return (
        each.rule.name + ("" if each.required else " (reported only)"),
        each.slice,
        _plain(each.baseline),
        _plain(each.candidate),
        f"{found.mean:+.4f}",
        f"{found.low95:+.4f} to {found.high95:+.4f}",
        "none" if verdict.margin is None else f"{verdict.margin:g}",
        f"{found.differ} of {found.clusters} differ",
        verdict.word + (", not inferior" if verdict.non_inferior and verdict.word == "inconclusive" else ""),
        ties,
    )


def _reversed(verdict: Verdict) -> str:
    """What ties could make of it; where only the margin is met or not, the word stays."""
    others = sorted({*(verdict.under_ties or ())} - {verdict.word})
    return f"could be {' or '.join(others)}" if others else "could change non-inferiority"


def limit_row(each: Checked) -> tuple[str, ...]:
    """One limit in one slice, as the columns of `LIMITS_HEAD`; `?` where an end is not known.

    >>> kept = Checked("P90 latency", "all", True, "kept", "", 9.0, 8.0, None, 50.0, "ms", 40, 0)
    >>> limit_row(kept)[:5]
    ('P90 latency', 'all', '9.0000', '8.0000 to ?', '50 ms')
    """
    ends = " to ".join("?" if end is None else _plain(end) for end in (each.low, each.high))
    value = "unknown" if each.value is None else _plain(each.value)
    name = each.name + ("" if each.required else " (reported only)")
    unit = "" if each.unit == "share" else f" {each.unit}"
    return (name, each.slice, value, ends, f"{each.limit:g}{unit}", str(each.units), str(each.unknown), each.word)


def _plain(value: float) -> str:
    if 0 < abs(value) < 0.01:
        return f"{value:.3g}"
    return f"{value:.4f}" if abs(value) < 10 else f"{value:.1f}"


def side_by_side(gates: Mapping[str, Gate]) -> "pd.DataFrame":
    """Several gates in one table of words, a column each: the decision, then a row for each measure and slice.

    A row names no stage, so that changes that were measured at different stages stand in one row; where one gate has
    a measure at two stages, its rows name them. What a gate does not check is NaN.

    >>> from rankwork.decision.outcomes import of_values
    >>> from rankwork.decision.policy import Policy, Rule
    >>> asked = Policy(name="mine", alpha=0.05, minimum_clusters=5, rules=(Rule(measure="R@10", margin=0.05),))
    >>> half, full = of_values("half", {"R@10": [0, 1] * 20}), of_values("full", {"R@10": [1] * 40})
    >>> from rankwork.decision.gate import gate
    >>> print(side_by_side({"up": gate(asked, half, full), "down": gate(asked, full, half)}).to_string())
                   up    down
    decision  release  reject
    R@10 all   better   worse
    """
    import pandas as pd

    return pd.DataFrame({name: _words(gate) for name, gate in gates.items()})


def _words(gate: Gate) -> dict[str, str]:
    short = [f"{each.rule.measure} {each.slice}" for each in gate.comparisons]
    doubled = {name for name, times in Counter(short).items() if times > 1}
    names = [each.name if name in doubled else name for name, each in zip(short, gate.comparisons, strict=True)]
    words = (each.verdict.word for each in gate.comparisons)
    return {"decision": gate.decision, **dict(zip(names, words, strict=True))}


def aligned(rows: Sequence[tuple[str, ...]]) -> list[str]:
    """Rows of text with their columns under each other.

    >>> aligned([("rule", "verdict"), ("R@10", "better")])
    ['rule  verdict', 'R@10  better']
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
