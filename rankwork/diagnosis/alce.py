"""ALCE's citation scores, under their own name: they are not the precision and recall of `citations`.

T. Gao, H. Yen, J. Yu and D. Chen, "Enabling Large Language Models to Generate Text with Citations", EMNLP 2023. There a
statement is recalled if all its citations *together* support it, and a citation is precise unless it does not support
the statement alone and the others do without it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rankwork.diagnosis.bounded_shares import BoundedShare
from rankwork.diagnosis.citation_checks import CheckedCitation
from rankwork.diagnosis.citations import DEFAULT, CitationRules, citation_scores
from rankwork.diagnosis.claims import checked_claims
from rankwork.errors import InputError
from rankwork.trace import Case, Trace


@dataclass(frozen=True)
class AlceScores:
    """Recall over all statements, precision over the citations of statements without a fabricated one.

    `left_out` counts the citations of statements that cite a fabricated ID: their statement has recall 0, and ALCE's
    program leaves them out of the precision's denominator, which rewards an answer for inventing sources.
    """

    case: str
    recall: BoundedShare
    precision: BoundedShare
    left_out: int

    def to_json(self) -> dict[str, Any]:
        """What JSON holds of it."""
        shares = {"recall": self.recall.to_json(), "precision": self.precision.to_json()}
        return {"case": self.case, **shares, "left_out": self.left_out}


def alce_scores(
    case: Case, trace: Trace, *, joint: Mapping[str, bool] | None = None, rules: CitationRules = DEFAULT
) -> AlceScores:
    """ALCE's two scores of the answer that a trace holds; a statement is a claim, whole.

    `joint` says of a claim's ID whether all its citations together support it. Where it is silent, one that supports
    the claim in full settles it, and so do citations none of which supports any of it; else it is not known, and bounds
    the scores. Without a citation precision is undefined; ALCE's program counts it as 0. Citations that stand for no
    claim are not ALCE's: they are ignored. InputError as `citation_scores`, for a claim in `joint` that the answer does
    not make, and where `joint` denies what one citation does alone.

    >>> from rankwork.trace import Citation, Claim
    >>> cited = [Citation(id=name, claim="1", supports=how) for name, how in (("a", "full"), ("b", "partial"))]
    >>> trace = Trace(case="q", claims=(Claim(id="1"), Claim(id="2")), citations=tuple(cited))
    >>> scores = alce_scores(Case(id="q", query="?"), trace)
    >>> scores.recall.value, scores.precision.value
    (0.5, 0.5)
    """
    checked = citation_scores(case, trace, rules=rules).checked
    statements = [claim.id for claim in checked_claims(trace)]
    told = dict(joint or {})
    unknown = [name for name in told if name not in statements]
    if unknown:
        raise InputError(f"case {case.id!r}: joint names claim {unknown[0]!r}, which is not in the answer")
    cited = {name: [each for each in checked if each.citation.claim == name] for name in statements}
    fabricating = {name for name, found in cited.items() if any(each.fabricated for each in found)}
    together = {name: _together(case.id, name, cited[name], told.get(name)) for name in statements}
    recall = [(False if name in fabricating else together[name], 1.0) for name in statements]
    counted = [name for name in statements if name not in fabricating]
    precise = [(holds, 1.0) for name in counted for holds in _precise(cited[name], together[name])]
    return AlceScores(
        case=case.id,
        recall=BoundedShare.of(recall, why="the answer has no claims"),
        precision=BoundedShare.of(precise, why="the answer has no citations that count"),
        left_out=sum(len(cited[name]) for name in fabricating),
    )


def both_precisions(case: Case, trace: Trace, *, rules: CitationRules = DEFAULT) -> dict[str, BoundedShare]:
    """Citation precision over all citations given, and ALCE's, of one answer: a number needs the name of its rule.

    Errors as `citation_scores`.

    >>> from rankwork.trace import Citation, Claim
    >>> cited = (Citation(id="a", claim="1", supports="full"), Citation(id="invented", claim="2", supports="full"))
    >>> trace = Trace(case="q", claims=(Claim(id="1"), Claim(id="2")), citations=cited)
    >>> found = both_precisions(Case(id="q", query="?"), trace, rules=CitationRules(known={"a"}))
    >>> {name: share.value for name, share in found.items()}
    {'of all given': 0.5, 'ALCE': 1.0}
    """
    ours, theirs = citation_scores(case, trace, rules=rules), alce_scores(case, trace, rules=rules)
    return {"of all given": ours.precision, "ALCE": theirs.precision}


def _together(case: str, claim: str, cited: Sequence[CheckedCitation], told: bool | None) -> bool | None:
    """Whether the citations of a claim support it together."""
    alone = [each.citation.supports for each in cited]
    settled = True if "full" in alone else False if set(alone) <= {"no"} else None
    if told is not None and settled is not None and told != settled:
        raise InputError(f"case {case!r}: joint says {told} of claim {claim!r}, its citations say {settled}")
    return settled if told is None else told


def _precise(cited: Sequence[CheckedCitation], together: bool | None) -> Iterator[bool | None]:
    """For each citation of a claim whether it is precise: the claim is supported, and not as well without it."""
    for place, each in enumerate(cited):
        others = [other.citation.supports for other in (*cited[:place], *cited[place + 1 :])]
        yield _is_precise(each.citation.supports, others, together)


def _is_precise(alone: str | None, others: Sequence[str | None], together: bool | None) -> bool | None:
    if together is False or (alone not in ("full", None) and "full" in others):
        return False
    if alone == "full":
        return True
    if together and alone == "no":
        return False  # what supports nothing can be left out
    if together and set(others) <= {"no"}:
        return True  # without it nothing is left that supports anything
    return None
