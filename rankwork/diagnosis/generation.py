"""Is the answer supported, right, to the point, complete? Four questions, and four scores that can all disagree.

Everything is computed from labels that a person or a judge gave; no model is called. Faithfulness compares claims with
the context that the model was shown. It says nothing of the world: copying a wrong source is faithful, and wrong.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from rankwork.diagnosis.bounded_shares import BoundedShare, MeanShare
from rankwork.diagnosis.claims import Compound, Test, atoms, checked_claims, every, label_of, share_of
from rankwork.errors import ContractError, InputError
from rankwork.statistics import Interval, bootstrap_mean
from rankwork.trace import Case, Claim, Label, Trace

if TYPE_CHECKING:
    import pandas as pd

Unlabelled = Literal["refuse", "bound"]
SCORES = ("faithfulness", "contradicted", "not_enough_information", "correctness", "relevance", "completeness")
QUESTIONS = ("faithfulness", "correctness", "relevance", "completeness")
"""The scores that each answer a question of their own; the other two say how claims that are not supported divide."""


@dataclass(frozen=True)
class Rules:
    """The conventions of the scores, declared before anything is scored.

    `unlabelled`: a claim without a label is refused, or bounds the scores. `compound`: a compound claim counts in
    parts, or as a whole. `common_knowledge`: claims that need no evidence count in faithfulness, or are exempt from it.
    `weights`: each claim has its own weight, or all weigh the same.
    """

    unlabelled: Unlabelled = "refuse"
    compound: Compound = "parts"
    common_knowledge: Literal["counts", "exempt"] = "counts"
    weights: Literal["own", "equal"] = "own"

    def __post_init__(self) -> None:
        allowed = {
            "unlabelled": ("refuse", "bound"),
            "compound": ("parts", "whole"),
            "common_knowledge": ("counts", "exempt"),
            "weights": ("own", "equal"),
        }
        for name, values in allowed.items():
            if getattr(self, name) not in values:
                raise ContractError(f"{name} must be one of {', '.join(values)}, got {getattr(self, name)!r}")


DEFAULT = Rules()


@dataclass(frozen=True)
class AnswerScores:
    """The scores of one answer.

    `faithfulness`, `contradicted` and `not_enough_information` are shares of the claims' weight against the context;
    `correctness` (true of the world) and `relevance` (answers the question) likewise; `completeness` is the share of
    the case's expected points that a claim makes. `missing` are the points that none makes.
    """

    case: str
    run: str
    cluster: str
    faithfulness: BoundedShare
    contradicted: BoundedShare
    not_enough_information: BoundedShare
    correctness: BoundedShare
    relevance: BoundedShare
    completeness: BoundedShare
    claims: int
    missing: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """What JSON holds of it."""
        shares = {name: getattr(self, name).to_json() for name in SCORES}
        return {"case": self.case, "run": self.run, "claims": self.claims, **shares, "missing": list(self.missing)}


def answer_scores(case: Case, trace: Trace, *, rules: Rules = DEFAULT) -> AnswerScores:
    """The scores of the answer that a trace holds.

    Undefined, with the reason: the first five without a claim, completeness without an expected point. InputError for a
    trace of another case, a claim without a label (unless the rules bound it), a claim ID that stands twice, a label of
    a compound claim that its parts deny, a point that the case does not expect.

    >>> case = Case(id="q", query="Which port?", points=("port", "protocol"))
    >>> claims = (Claim(id="1", label="supported", point="port"), Claim(id="2", label="contradicted"))
    >>> scores = answer_scores(case, Trace(case="q", claims=claims))
    >>> scores.faithfulness.value, scores.completeness.value, scores.missing, scores.correctness.value
    (0.5, 0.5, ('protocol',), None)
    """
    if trace.case != case.id:
        raise InputError(f"the trace is of case {trace.case!r}, the case is {case.id!r}")
    claims = tuple(_weighed(claim, rules) for claim in checked_claims(trace))
    counted = [claim for claim in claims if claim.needs_evidence or rules.common_knowledge == "counts"]
    _check_labels(case.id, counted, rules)
    why = _why_none(trace)
    against = {label: _share(counted, label, rules, why) for label in _LABELS}
    made = _points_made(case, claims)
    return AnswerScores(
        case=case.id,
        run=trace.run,
        cluster=case.cluster or case.id,
        faithfulness=against["supported"],
        contradicted=against["contradicted"],
        not_enough_information=against["not_enough_information"],
        correctness=share_of(claims, lambda claim: claim.correct, compound=rules.compound, why=why),
        relevance=share_of(claims, lambda claim: claim.relevant, compound=rules.compound, why=why),
        completeness=_completeness(case, trace, made),
        claims=sum(len(atoms(claim)) for claim in claims),
        missing=tuple(point for point in case.points if point not in made),
    )


_LABELS: tuple[Label, ...] = ("supported", "contradicted", "not_enough_information")


def _weighed(claim: Claim, rules: Rules) -> Claim:
    if rules.weights == "own":
        return claim
    return claim.model_copy(update={"weight": 1.0, "parts": tuple(_weighed(part, rules) for part in claim.parts)})


def _check_labels(case: str, claims: Sequence[Claim], rules: Rules) -> None:
    if rules.unlabelled == "bound":
        return
    for claim in claims:
        for atom in atoms(claim):
            if atom.claim.label is None:
                raise InputError(
                    f"case {case!r}: claim {atom.claim.id!r} has no label, expected one of {', '.join(_LABELS)}; "
                    "Rules(unlabelled='bound') reports coverage and bounds instead"
                )


def _share(claims: Sequence[Claim], label: Label, rules: Rules, why: str) -> BoundedShare:
    """The share of claims with a label: of their atoms, or of the labels that whole claims have."""
    if rules.compound == "parts":
        return share_of(claims, _is(label), compound="parts", why=why)
    return BoundedShare.of(((_whole_is(label, claim), claim.weight) for claim in claims), why=why)


def _is(label: Label) -> Test:
    return lambda claim: None if claim.label is None else claim.label == label


def _whole_is(label: Label, claim: Claim) -> bool | None:
    """Whether a whole claim has the label; known already where one labelled part rules it out."""
    made = label_of(claim)
    if made is None and label == "supported":
        parts = {atom.claim.label for atom in atoms(claim)}
        return False if parts - {"supported", None} else None
    return None if made is None else made == label


def _why_none(trace: Trace) -> str:
    if trace.refused:
        return "the answer is a refusal"
    return "no claims were taken from the answer" if trace.claims is None else "the answer has no claims"


def _points_made(case: Case, claims: Iterable[Claim]) -> set[str]:
    if len(set(case.points)) < len(case.points):
        raise InputError(f"case {case.id!r} expects a point twice: {', '.join(case.points)}")
    everyone = [inner for claim in claims for inner in every(claim) if inner.point is not None]
    for claim in everyone:
        if claim.point not in case.points:
            raise InputError(
                f"case {case.id!r}: claim {claim.id!r} makes the point {claim.point!r}; "
                f"the case expects {', '.join(case.points) or 'none'}"
            )
    return {claim.point for claim in everyone if claim.point is not None}


def _completeness(case: Case, trace: Trace, made: set[str]) -> BoundedShare:
    """Points that claims make, by expected points. Where claims were never taken from an answer, none is known."""
    if case.expected == "refuse":
        return BoundedShare(0, 0, why="the case expects a refusal")
    known = trace.claims is not None or bool(trace.refused)
    points = ((point in made if known else None, 1.0) for point in case.points)
    return BoundedShare.of(points, why="the case expects no points")


@dataclass(frozen=True, repr=False)
class AnswersReport:
    """The scores of many answers, and their means: an answer without a score is counted, never a 0."""

    rules: Rules
    scores: tuple[AnswerScores, ...]

    def mean(self, name: str) -> MeanShare:
        """The mean of a score over the answers that have it. ContractError for an unknown name."""
        _check_name(name)
        return _mean_of(self.scores, name)

    def interval(self, name: str, *, level: float = 0.95, seed: int = 0) -> Interval | None:
        """What another draw of questions could have given for the mean of a score: clusters of cases are drawn.

        None where no answer has the score, or labels leave one open: an interval would hide that.
        """
        mean = self.mean(name)
        if mean.value is None:
            return None
        defined = [each for each in self.scores if getattr(each, name).total]
        values = [getattr(each, name).value for each in defined]
        return bootstrap_mean(values, clusters=[each.cluster for each in defined], level=level, seed=seed)

    def apart(self, first: str, second: str, *, by: float = 0.3) -> tuple[str, ...]:
        """The cases in which two scores are known and more than `by` apart. ContractError for an unknown name.

        >>> case, claim = Case(id="q", query="?"), Claim(id="1", label="supported", correct=False)
        >>> report = answers_report([case], [Trace(case="q", claims=(claim,))])
        >>> report.apart("faithfulness", "correctness"), report.apart("faithfulness", "relevance")
        (('q',), ())
        """
        for name in (first, second):
            _check_name(name)
        pairs = ((each.case, getattr(each, first).value, getattr(each, second).value) for each in self.scores)
        return tuple(case for case, a, b in pairs if a is not None and b is not None and abs(a - b) > by)

    def means_by(self, groups: Mapping[str, str]) -> "pd.DataFrame":
        """One row a group of cases, by name: how many answers it has, and the mean of each score where it is known.

        `groups` gives each case's group, such as its slice. A mean is over the answers that have the score; it is
        missing where none has, and where labels leave one open. InputError for a case without a group.
        """
        import pandas as pd

        without = [each.case for each in self.scores if each.case not in groups]
        if without:
            raise InputError(f"case {without[0]!r} has no group ({len(without)} such cases)")
        names = sorted({groups[each.case] for each in self.scores})
        parts = {name: [each for each in self.scores if groups[each.case] == name] for name in names}
        rows = [{"answers": len(part), **{n: _mean_of(part, n).value for n in SCORES}} for part in parts.values()]
        table = pd.DataFrame(rows, index=pd.Index(names, name="group"), columns=["answers", *SCORES])
        return table.astype(dict.fromkeys(SCORES, "float64"))

    def to_pandas(self) -> "pd.DataFrame":
        """One row an answer: each score's value, None where it is not known; bounds and coverage of faithfulness."""
        import pandas as pd

        rows = [
            {
                "case": each.case,
                **{name: getattr(each, name).value for name in SCORES},
                "min": each.faithfulness.min,
                "max": each.faithfulness.max,
                "coverage": each.faithfulness.coverage,
                "claims": each.claims,
            }
            for each in self.scores
        ]
        return pd.DataFrame(rows)

    def to_json(self) -> dict[str, Any]:
        """What JSON holds of it: the rules, the means, every answer."""
        means = {name: self.mean(name).to_json() for name in SCORES}
        return {"rules": vars(self.rules), "means": means, "answers": [each.to_json() for each in self.scores]}

    def __str__(self) -> str:
        return "\n".join(f"{name.replace('_', ' ')}: {self.mean(name)}" for name in SCORES)


def _check_name(name: str) -> None:
    if name not in SCORES:
        raise ContractError(f"the scores are {', '.join(SCORES)}; there is no {name!r}")


def _mean_of(scores: Sequence[AnswerScores], name: str) -> MeanShare:
    return MeanShare.of([getattr(each, name) for each in scores])


def answers_report(cases: Iterable[Case], traces: Iterable[Trace], *, rules: Rules = DEFAULT) -> AnswersReport:
    """The scores of every trace, each joined with its case.

    InputError for a case twice, a trace without its case, two traces of one case and run, and as `answer_scores`.
    """
    pairs = paired_answers(cases, traces)
    return AnswersReport(rules, tuple(answer_scores(case, trace, rules=rules) for case, trace in pairs))


def paired_answers(cases: Iterable[Case], traces: Iterable[Trace]) -> list[tuple[Case, Trace]]:
    """Every trace with its case, in the order of the traces. InputError as for `answers_report`."""
    known: dict[str, Case] = {}
    for case in cases:
        if case.id in known:
            raise InputError(f"case {case.id!r} is there twice")
        known[case.id] = case
    seen: set[tuple[str, str]] = set()
    pairs = []
    for trace in traces:
        if trace.case not in known:
            raise InputError(f"a trace is of case {trace.case!r}, which is not among the {len(known)} cases")
        if (trace.case, trace.run) in seen:
            raise InputError(f"case {trace.case!r} has two traces of run {trace.run!r}")
        seen.add((trace.case, trace.run))
        pairs.append((known[trace.case], trace))
    return pairs
