"""Whether each citation supports its claim, and whether each claim that needs evidence has one that does.

Precision asks the first, recall the second. A link that opens proves neither: what counts is the very revision that the
model was shown. A citation that stands for no claim in particular, as where several are piled at the end of a
paragraph, could stand for any of them: it bounds both numbers and decides neither.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rankwork.diagnosis.bounded_shares import BoundedShare, MeanShare
from rankwork.diagnosis.citation_checks import FAULTS, CheckedCitation, Sources
from rankwork.diagnosis.claims import Atom, Compound, atoms, checked_claims, every
from rankwork.diagnosis.generation import paired_answers
from rankwork.errors import ContractError, InputError
from rankwork.trace import Case, Citation, Claim, Trace

if TYPE_CHECKING:
    import pandas as pd

SCORES = ("precision", "precision_of_valid", "recall")


@dataclass(frozen=True)
class CitationRules:
    """The conventions, declared before anything is counted.

    `partial` is what a citation that supports a claim in part is worth, 0 to 1 (TREC's RAG track of 2024: .5).
    `compound`: the parts of a compound claim count each, or the claim as a whole. `known` are the IDs of the corpus;
    None: those that the trace or the case lists. `current` gives each source's revision; None: the case's evidence.
    """

    partial: float = 0.0
    compound: Compound = "parts"
    known: Collection[str] | None = None
    current: Mapping[str, str] | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.partial <= 1:
            raise ContractError(f"partial must be between 0 and 1, got {self.partial!r}")
        if self.compound not in ("parts", "whole"):
            raise ContractError(f"compound must be 'parts' or 'whole', got {self.compound!r}")


DEFAULT = CitationRules()


@dataclass(frozen=True)
class CitationScores:
    """The citations of one answer.

    `precision`: those that support their claim, of all given, fabricated ones among them. `precision_of_valid`: those
    that support it and are valid, of all given. `recall`: claims that need evidence and have a valid citation that
    supports them, of those that need it. `repeated` citations (the same ID for the same claim) count once.
    """

    case: str
    run: str
    precision: BoundedShare
    precision_of_valid: BoundedShare
    recall: BoundedShare
    checked: tuple[CheckedCitation, ...]
    repeated: int

    @property
    def faults(self) -> dict[str, int]:
        """How many citations have each fault; those without are left out."""
        found = [each.fault for each in self.checked]
        return {name: found.count(name) for name in FAULTS if name in found}

    @property
    def unchecked(self) -> dict[str, int]:
        """How many citations could not be checked for each thing."""
        found = [name for each in self.checked for name in each.unchecked]
        return {name: found.count(name) for name in dict.fromkeys(found)}

    def to_json(self) -> dict[str, Any]:
        """What JSON holds of it."""
        shares = {name: getattr(self, name).to_json() for name in SCORES}
        counts = {"citations": len(self.checked), "repeated": self.repeated}
        return {
            "case": self.case,
            "run": self.run,
            **shares,
            **counts,
            "faults": self.faults,
            "unchecked": self.unchecked,
        }


def citation_scores(case: Case, trace: Trace, *, rules: CitationRules = DEFAULT) -> CitationScores:
    """The citations of the answer that a trace holds, checked one by one.

    Undefined, with the reason: precision without a citation, recall without a claim that needs evidence. InputError for
    a citation of a claim that the answer does not make, two verdicts on one citation, and as `answer_scores`.

    >>> claims = (Claim(id="1"), Claim(id="2"))
    >>> cited = (Citation(id="a", claim="1", supports="full"), Citation(id="b", claim="2", supports="full"))
    >>> trace = Trace(case="q", claims=claims, citations=cited)
    >>> scores = citation_scores(Case(id="q", query="?"), trace, rules=CitationRules(known={"a"}))
    >>> scores.precision.value, scores.recall.value, scores.faults
    (0.5, 0.5, {'fabricated': 1})
    """
    if trace.case != case.id:
        raise InputError(f"the trace is of case {trace.case!r}, the case is {case.id!r}")
    claims = checked_claims(trace)
    given = _once(case.id, trace.citations or (), claims)
    sources = Sources.of(case, trace, known=rules.known, current=rules.current)
    checked = tuple(sources.check(citation) for citation in given)
    none = "no citations were taken from the answer" if trace.citations is None else "the answer has no citations"
    supporting = [(each, _credit(each, rules.partial)) for each in checked]
    return CitationScores(
        case=case.id,
        run=trace.run,
        precision=_share([(credit, 1.0) for _, credit in supporting], none),
        precision_of_valid=_share([(credit if each.valid else _NONE, 1.0) for each, credit in supporting], none),
        recall=_recall(claims, checked, rules, known=trace.citations is not None),
        checked=checked,
        repeated=len(trace.citations or ()) - len(given),
    )


@dataclass(frozen=True)
class _Credit:
    """What a citation or a claim is worth: at least and at most."""

    least: float
    most: float


_NONE, _ALL, _OPEN = _Credit(0, 0), _Credit(1, 1), _Credit(0, 1)


def _share(credits: Iterable[tuple[_Credit, float]], why: str) -> BoundedShare:
    parts: list[tuple[bool | None, float]] = []
    for credit, weight in credits:
        parts.append((True, credit.least * weight))
        parts.append((None, (credit.most - credit.least) * weight))
        parts.append((False, (1 - credit.most) * weight))
    return BoundedShare.of(parts, why=why)


def _credit(each: CheckedCitation, partial: float) -> _Credit:
    """Whether a citation supports its claim; nobody can tell of one that has none, or that was never judged."""
    if each.fabricated or each.citation.supports == "no":
        return _NONE
    if each.citation.claim is None or each.citation.supports is None:
        return _OPEN
    return _ALL if each.citation.supports == "full" else _Credit(partial, partial)


def _once(case: str, citations: Sequence[Citation], claims: Sequence[Claim]) -> list[Citation]:
    made = {inner.id for claim in claims for inner in every(claim)}
    kept: dict[tuple[str, str | None], Citation] = {}
    for citation in citations:
        if citation.claim is not None and citation.claim not in made:
            raise InputError(
                f"case {case!r}: citation {citation.id!r} stands for claim {citation.claim!r}, "
                "which is not in the answer"
            )
        first = kept.setdefault((citation.id, citation.claim), citation)
        if first.supports != citation.supports:
            raise InputError(
                f"case {case!r}: citation {citation.id!r} of claim {citation.claim!r} has two verdicts, "
                f"{first.supports} and {citation.supports}"
            )
    return list(kept.values())


def _recall(
    claims: Sequence[Claim], checked: Sequence[CheckedCitation], rules: CitationRules, *, known: bool
) -> BoundedShare:
    needing = [(claim, [a for a in atoms(claim) if a.claim.needs_evidence]) for claim in claims if claim.needs_evidence]
    valid = [each.citation for each in checked if each.valid]
    why = "no claim needs evidence"
    credits = [
        (claim, [(_support(atom, valid, rules.partial) if known else _OPEN, atom.weight) for atom in found])
        for claim, found in needing
        if found
    ]
    if rules.compound == "parts":
        return _share([pair for _, pairs in credits for pair in pairs], why)
    wholes = [(_Credit(min(c.least for c, _ in p), min(c.most for c, _ in p)), claim.weight) for claim, p in credits]
    return _share(wholes, why)


def _support(atom: Atom, valid: Sequence[Citation], partial: float) -> _Credit:
    """What the valid citations give an atom. Support in part of a claim around it may or may not be support of it."""
    least, most = 0.0, 0.0
    for citation in valid:
        mine = citation.claim in atom.names
        if mine and citation.supports == "full":
            return _ALL
        if citation.claim == atom.claim.id and citation.supports == "partial":
            least, most = max(least, partial), max(most, partial)
        elif (mine or citation.claim is None) and citation.supports != "no":
            most = 1.0
    return _Credit(least, most)


@dataclass(frozen=True, repr=False)
class CitationsReport:
    """The citations of many answers: the means of their scores, and every fault counted."""

    rules: CitationRules
    scores: tuple[CitationScores, ...]

    def mean(self, name: str) -> MeanShare:
        """The mean of a score over the answers that have it. ContractError for an unknown name."""
        if name not in SCORES:
            raise ContractError(f"the scores are {', '.join(SCORES)}; there is no {name!r}")
        return MeanShare.of([getattr(each, name) for each in self.scores])

    @property
    def faults(self) -> dict[str, int]:
        """How many citations of all answers have each fault."""
        return {name: n for name in FAULTS if (n := sum(each.faults.get(name, 0) for each in self.scores))}

    @property
    def citations(self) -> int:
        """How many citations were given, repeated ones once."""
        return sum(len(each.checked) for each in self.scores)

    def to_pandas(self) -> "pd.DataFrame":
        """One row an answer: each score with its bounds, and its faults."""
        import pandas as pd

        rows = []
        for each in self.scores:
            row: dict[str, Any] = {"case": each.case, "citations": len(each.checked)}
            for name in SCORES:
                share = getattr(each, name)
                row |= {name: share.value, f"{name}_min": share.min, f"{name}_max": share.max}
            rows.append(row | {"faults": ", ".join(f"{name} {count}" for name, count in each.faults.items())})
        return pd.DataFrame(rows)

    def to_json(self) -> dict[str, Any]:
        """What JSON holds of it."""
        rules = {"partial": self.rules.partial, "compound": self.rules.compound}
        means = {name: self.mean(name).to_json() for name in SCORES}
        return {"rules": rules, "means": means, "faults": self.faults, "answers": [e.to_json() for e in self.scores]}

    def __str__(self) -> str:
        lines = [f"citation {name.replace('_', ' ')}: {self.mean(name)}" for name in SCORES]
        found = ", ".join(f"{name.replace('_', ' ')} {count}" for name, count in self.faults.items())
        return "\n".join([*lines, f"{self.citations} citations; at fault: {found or 'none'}"])


def citations_report(
    cases: Iterable[Case], traces: Iterable[Trace], *, rules: CitationRules = DEFAULT
) -> CitationsReport:
    """The citations of every trace, each joined with its case. InputError as `answers_report` and `citation_scores`."""
    pairs = paired_answers(cases, traces)
    return CitationsReport(rules, tuple(citation_scores(case, trace, rules=rules) for case, trace in pairs))
