"""A report as a table of text: one line an engine, what it promises beside what it did."""

from collections.abc import Mapping, Sequence
from typing import Any

from rankwork.engines.counterexamples import PROMISE
from rankwork.engines.layers import LAYERS
from rankwork.engines.saved_scores import SIX
from rankwork.engines.settings import recast

HEADINGS = (
    "engine",
    "version",
    "promise",
    "kept",
    "again",
    "720 arrivals",
    "twice",
    "right",
    "by position",
    "changed by",
    "smallest",
)
LEGEND = """
promise       who wins a tie, according to the maker
kept          whether that promise held on every input tried; the report has the smallest input on which it did not
again         distinct answers when the same input is asked again: score sequence/member set/full order; the worst input
720 arrivals  distinct answers for six documents over all orders of arrival, in the same three layers
twice         of those 720 arrivals, how many got another answer when they were asked a second time, by layer
right         of those 720 answers, how many have the contract's full order (by ID)
by position   of those 720 answers, how many would be right if the arrival were the order of the IDs
changed by    conditions that changed the answer, number formats that change a score set aside
smallest      the smallest input found whose answer is not the contract's by position: scores, k, answer
"""


def table(report: Mapping[str, Any]) -> str:
    """The engines that ran as a table, then those that did not and why, then what the columns mean."""
    entries = report["engines"]
    rows = [_row(name, entry) for name, entry in entries.items() if entry["status"] == "run"]
    others = [
        f"{name}: {entry['note'] if entry['status'] == 'not here' else 'error: ' + entry['note']}"
        for name, entry in entries.items()
        if entry["status"] != "run"
    ]
    return "\n".join([*_aligned([HEADINGS, *rows]), "", *others, LEGEND])


def _row(name: str, entry: Mapping[str, Any]) -> tuple[str, ...]:
    outcome = entry["outcome"]
    arrivals = outcome["rearranged"][SIX]
    return (
        name,
        entry["version"] or "",
        entry["promise"]["tie_break"],
        _kept(outcome["smallest"]),
        max((_distinct(tally) for tally in outcome["repeated"].values()), key=_size),
        _distinct(arrivals),
        _by_layer(arrivals["not repeated"]),
        str(arrivals["right"]["full order"]),
        str(arrivals["right by position"]),
        ", ".join(_changes(outcome["settings"])) or "-",
        case(outcome["smallest"]["contract by position"]),
    )


def _kept(smallest: Mapping[str, Any]) -> str:
    if PROMISE not in smallest:
        return "-"
    return "no" if smallest[PROMISE] else "yes"


def _distinct(tally: Mapping[str, Any]) -> str:
    return _by_layer(tally["distinct"])


def _by_layer(counts: Mapping[str, int]) -> str:
    return "/".join(str(counts[layer]) for layer in LAYERS)


def _size(distinct: str) -> int:
    return sum(map(int, distinct.split("/")))


def _changes(arms: Sequence[Mapping[str, Any]]) -> list[str]:
    """The kinds of condition under which an answer changed though no score did."""
    kinds = (
        arm["kind"] for arm in arms if arm["status"] == "run" and not all(arm["same"].values()) and not recast(arm)
    )
    return list(dict.fromkeys(kinds))


def case(found: Mapping[str, Any] | None) -> str:
    """A counterexample in a few words: scores, k and the first answer; "-" for none.

    >>> case({"scores": [2.0, 2.0, 1.0, 0.0], "n": 4, "k": 1, "answers": [[1], [0]]})
    '[2 2 1 0] 1 -> 1'
    """
    if found is None:
        return "-"
    if "scores" not in found:
        return f"{found['n']} scores, {found['k']} -> {shown(found['answers'][0])}"
    if len(set(found["scores"])) == 1 and found["n"] > 6:
        scores = f"{found['n']} x {found['scores'][0]:g}"
    else:
        scores = " ".join(f"{score:g}" for score in found["scores"][:8]) + (" ..." if found["n"] > 8 else "")
    return f"[{scores}] {found['k']} -> {shown(found['answers'][0])}"


def shown(answer: Sequence[int]) -> str:
    """The first six positions of an answer."""
    return " ".join(map(str, answer[:6])) + (" ..." if len(answer) > 6 else "")


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
