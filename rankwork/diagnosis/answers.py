"""What the answers of a batch did, for the last rows of the diagnosis matrix: claims, citations, refusals."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from rankwork.diagnosis.facts import AnswerFacts
from rankwork.diagnosis.gold import Gold
from rankwork.diagnosis.trace_columns import Bools, TraceColumns
from rankwork.trace import Case

_RECORDED = ("claims", "citations", "refused")


def answers_of(
    columns: TraceColumns, cases: Mapping[str, Case], gold: Gold, arrived: Bools, leaking: Collection[str]
) -> tuple[AnswerFacts, ...]:
    """The facts of each trace's answer; nothing where no trace recorded any. `arrived` says which gold reached it."""
    present = {name: columns.batch.column(name).null_count < len(columns) for name in _RECORDED}
    if not any(present.values()) and not leaking:
        return ()
    held = {name: columns.texts(name) if there else [None] * len(columns) for name, there in present.items()}
    prompts = columns.texts("prompt") if present["citations"] else [None] * len(columns)
    covered = _covered(columns, gold, arrived)
    return tuple(
        _facts(cases[case], covered[place], prompts[place], case in leaking, *(held[name][place] for name in _RECORDED))
        for place, case in enumerate(columns.cases)
    )


def _facts(
    case: Case,
    covered: bool | None,
    prompt: Any,
    leaking: bool,
    claims: list[Any] | None,
    citations: list[Any] | None,
    refused: bool | None,
) -> AnswerFacts:
    atoms = None if claims is None else [atom for claim in claims for atom in _atoms(claim)]
    labels = None if atoms is None else [atom["label"] for atom in atoms]
    shown = set((prompt or {}).get("ids") or ())
    wrong = [c["id"] for c in citations or () if c["supports"] == "no" or (shown and c["id"] not in shown)]
    return AnswerFacts(
        refused=refused,
        expected=case.expected,
        covered=covered,
        claims=None if labels is None else len(labels),
        supported=None if labels is None or None in labels else labels.count("supported"),
        incorrect=sum(atom["correct"] is False for atom in atoms or ()),
        citations=None if citations is None else len(citations),
        wrong_citations=tuple(wrong),
        authorised=False if leaking else None,
    )


def _atoms(claim: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """The parts of a compound claim, or the claim itself. Parts stand as JSON in the columns."""
    import json

    parts = json.loads(claim["parts"]) if isinstance(claim["parts"], str) else claim["parts"]
    if not parts:
        return [claim]
    whole = ({"label": None, "correct": None, "parts": None, **part} for part in parts)
    return [atom for part in whole for atom in _atoms(part)]


def _covered(columns: TraceColumns, gold: Gold, arrived: Bools) -> list[bool | None]:
    """Whether each trace's requirements are all met by what arrived; None where there is none, or an empty one."""
    met = np.zeros(len(gold.need_trace), bool)
    met[gold.need[arrived[gold.need_row]]] = True
    needed, count, empty = (
        np.bincount(gold.need_trace, weights, len(columns)) for weights in (None, met, gold.empty_need)
    )
    return [
        None if not n or hollow else bool(got == n)
        for n, got, hollow in zip(needed.tolist(), count.tolist(), empty.tolist(), strict=True)
    ]
