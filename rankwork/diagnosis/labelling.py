"""Claims of traces to a judge, and its verdicts back to the claims: a verdict that failed leaves a claim unlabelled."""

from collections.abc import Iterable, Iterator, Mapping
from typing import get_args

from rankwork.diagnosis.claims import atoms, checked_claims
from rankwork.diagnosis.ratings import Ratings
from rankwork.errors import InputError
from rankwork.inputs.verdicts import Scale, Verdict
from rankwork.trace import Claim, Label, Trace

LABELS = Scale(tuple(sorted(get_args(Label))), "nominal")
"""What a judge may say of a claim; the labels have no order."""


def claim_item(trace: Trace, claim: Claim) -> str:
    """The name of a claim among all traces: its case, its run where there is one, and its ID.

    >>> claim_item(Trace(case="q7", run="new"), Claim(id="2.a"))
    'q7 new 2.a'
    """
    return " ".join(part for part in (trace.case, trace.run, claim.id) if part)


def claims_to_judge(traces: Iterable[Trace]) -> Iterator[tuple[str, str]]:
    """Each atomic claim's item and text: a compound claim is judged by its parts. InputError as `checked_claims`."""
    for trace in traces:
        for claim in checked_claims(trace):
            for atom in atoms(claim):
                yield claim_item(trace, atom.claim), atom.claim.text


def labelled(traces: Iterable[Trace], verdicts: Iterable[Verdict], *, repetition: int = 1) -> list[Trace]:
    """The traces with the labels that one judge gave to their claims; claims it was not asked about keep theirs.

    A verdict's item is `claim_item`, its value a label. A failed verdict takes a label away: the scores then refuse the
    claim or, with `Rules(unlabelled="bound")`, bound it. InputError for a verdict on no atomic claim of these traces,
    and as `Ratings.of`: two judges, two verdicts on one claim, a value that is no label.

    >>> trace = Trace(case="q", claims=(Claim(id="1", label="supported"), Claim(id="2")))
    >>> failed = Verdict(item="q 1", failure="timeout", model="m")
    >>> given = Verdict(item="q 2", value="supported", model="m")
    >>> [claim.label for claim in labelled([trace], [failed, given])[0].claims]
    [None, 'supported']
    """
    given = list(traces)
    found = Ratings.of(verdicts, LABELS, repetition=repetition).verdicts
    known = {item for item, _ in claims_to_judge(given)}
    for item in found:
        if item not in known:
            raise InputError(f"there is a verdict on {item!r}, which is no claim of these traces")
    return [_with_labels(trace, found) for trace in given]


def _with_labels(trace: Trace, found: Mapping[str, Verdict]) -> Trace:
    if trace.claims is None:
        return trace
    return trace.model_copy(update={"claims": tuple(_label(trace, claim, found) for claim in trace.claims)})


def _label(trace: Trace, claim: Claim, found: Mapping[str, Verdict]) -> Claim:
    if claim.parts:  # the label of the whole follows from its parts
        parts = tuple(_label(trace, part, found) for part in claim.parts)
        return claim.model_copy(update={"parts": parts, "label": None})
    verdict = found.get(claim_item(trace, claim))
    return claim if verdict is None else claim.model_copy(update={"label": verdict.value})
