"""A failure that a person has reviewed becomes a case of a regression set, which is a file of cases like any other.

Refused: what nobody reviewed, what did not fail, what the set holds already, and what a held-out set asks. Who reviewed
what, and why, stands in a ledger beside the set.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from rankwork.decision.near_duplicates import THRESHOLD, near_duplicate
from rankwork.decision.regression_checks import Outcome, check
from rankwork.decision.replay import Package
from rankwork.diagnosis.looks import GUARDED
from rankwork.digest import digest
from rankwork.errors import InputError
from rankwork.evidence.tokens import Tokens, is_token
from rankwork.inputs.traces import read_cases, write_cases
from rankwork.trace import Case, Evidence, Requirement

_DIGITS = 12


@dataclass(frozen=True)
class Review:
    """Who looked at a failure and why it is one. Where the package has no answer key, or a wrong one, the right one.

    `evidence` lists IDs that the answer needs, all of them; `query` is the question where the package holds a digest;
    `tenant` is the one to ask as where the package hides it, such as that of a test.
    """

    by: str
    why: str
    expected: Literal["answer", "refuse"] | None = None
    evidence: tuple[str, ...] = ()
    query: str | None = None
    tenant: str | None = None


@dataclass(frozen=True)
class Entry:
    """A line of the ledger: the case, its review, the package that it came from and how it failed there."""

    case: str
    by: str
    why: str
    package: str
    failed: tuple[str, ...]
    time: str


def ledger(path: Path) -> Path:
    """The ledger beside a regression set.

    >>> ledger(Path("cases.jsonl")).name
    'cases.reviews.jsonl'
    """
    return path.with_name(f"{path.stem}.reviews.jsonl")


def add(
    package: Package,
    path: Path,
    review: Review,
    *,
    held_out: Iterable[Case] = (),
    tokens: Tokens | None = None,
    threshold: float = THRESHOLD,
    now: datetime | None = None,
) -> Case:
    """Add the failure in a package to the regression set at `path`, and its review to the ledger; returns the case.

    `held_out` are the cases that the set must not give away; of them and of the set's own, only holdout and blind ones
    count as such. InputError, with nothing written, for a review without a name or a reason, a package that shows no
    failure, a query that is only known as a digest, a near duplicate in the set, and a held-out question.
    """
    case, failed = _admitted(package, path, review, held_out, tokens, threshold)
    when = (now or datetime.now(UTC)).isoformat(timespec="seconds")
    _append(ledger(path), Entry(case.id, review.by, review.why, package.digest, failed, when))
    write_cases(path, [*_known(path), case])
    return case


def refusal(
    package: Package,
    path: Path,
    review: Review,
    *,
    held_out: Iterable[Case] = (),
    tokens: Tokens | None = None,
    threshold: float = THRESHOLD,
) -> str | None:
    """Why `add` would refuse this; None where it would take it. Nothing is written."""
    try:
        _admitted(package, path, review, held_out, tokens, threshold)
    except InputError as error:
        return str(error)
    return None


def _admitted(
    package: Package, path: Path, review: Review, held_out: Iterable[Case], tokens: Tokens | None, threshold: float
) -> tuple[Case, tuple[str, ...]]:
    """The case that may enter the set, and how it failed."""
    _check_reviewed(review)
    case = case_of(package, review, tokens)
    outcome = _outcome(case, package)
    _check_failed(outcome)
    known = _known(path)
    _check_not_held_out(case, package, [*held_out, *known], threshold)
    _check_new(case, known, threshold)
    return case, outcome.reasons


def _known(path: Path) -> tuple[Case, ...]:
    return read_cases(path) if path.exists() else ()


def case_of(package: Package, review: Review, tokens: Tokens | None = None) -> Case:
    """The case of a package as the review corrects it. InputError where there is nothing to check it by.

    >>> from rankwork.decision.pseudonyms import Privacy
    >>> from rankwork.decision.replay import pack
    >>> from rankwork.trace import Trace
    >>> package = pack(Trace(case="q", query="Who may sign?"), privacy=Privacy(texts="plain"))
    >>> case = case_of(package, Review("Kim", "it was not found", evidence=("handbook#2",)))
    >>> case.query, list(case.gold), case.origin
    ('Who may sign?', ['handbook#2'], 'replay')
    """
    trace = package.trace
    found = package.case or Case(id=trace.case, query=trace.query, time=trace.time, identity=trace.identity)
    changes: dict[str, Any] = {
        "query": _query(found.query or trace.query, review.query, tokens),
        "variants": tuple(text for text in found.variants if not is_token(text)),
        "points": tuple(text for text in found.points if not is_token(text)),
        "origin": "replay",
        "split": "dev",
    }
    if review.tenant is not None:
        changes["identity"] = found.identity.model_copy(update={"tenant": review.tenant})
    if review.expected:
        changes["expected"] = review.expected
    if review.evidence:
        changes["requires"] = tuple(Requirement(any_of=(_evidence(name, found),)) for name in review.evidence)
    case = Case.model_validate({**dict(found), **changes})
    case = case.model_copy(update={"id": f"replay-{_what_is_asked(case)[:_DIGITS]}"})
    if case.expected == "answer" and not any(need.any_of for need in case.requires):
        raise InputError("nothing to check: name the evidence that the answer needs, or say that a refusal is expected")
    return case


def _what_is_asked(case: Case) -> str:
    """The digest of the question, of who asks, and of what is right: the same failure has one name in every package."""
    needs = [sorted(evidence.id for evidence in need.any_of) for need in case.requires]
    return digest([case.query, case.identity.model_dump(), case.expected, sorted(needs)])


def _outcome(case: Case, package: Package) -> Outcome:
    """What the packaged trace makes of the case, under the names that the package gives to question and identity."""
    trace = package.trace
    return check(
        case.model_copy(update={"identity": trace.identity}), trace.model_copy(update={"case": case.id, "query": ""})
    )


def _evidence(name: str, case: Case) -> Evidence:
    return case.gold.get(name) or Evidence(id=name)


def _query(held: str, given: str | None, tokens: Tokens | None) -> str:
    """The question in words: as the package holds it or, where that is a digest, as given and shown to be the same."""
    if not is_token(held):
        if not (given or held):
            raise InputError("the package holds no query: give the question")
        return given or held
    if given is None:
        raise InputError("the package holds a digest of the query: give the question itself, and the key to check it")
    if tokens is None:
        raise InputError("whether this is the question of the package cannot be checked without the key")
    if tokens.of(given) != held:
        raise InputError("this is not the question of the package, or the key is another one")
    return given


def _check_reviewed(review: Review) -> None:
    if not review.by.strip() or not review.why.strip():
        raise InputError("a failure becomes a case when a person has reviewed it: say who, and why it is a failure")


def _check_failed(outcome: Outcome) -> None:
    if outcome.verdict == "not scored":
        raise InputError(f"it cannot be scored: {'; '.join(outcome.reasons)}")
    if outcome.verdict == "pass":
        raise InputError(
            "nothing failed here: by its case, this trace passes; if the case is wrong, correct it in the review"
        )


def _check_not_held_out(case: Case, package: Package, others: Sequence[Case], threshold: float) -> None:
    split = package.case.split if package.case else "dev"
    if split in GUARDED:
        raise InputError(f"the case is of the {split} split: what is held out does not become a test to work with")
    hidden = [other for other in others if other.split in GUARDED]
    shared = next((other for other in hidden if case.cluster and other.cluster == case.cluster), None)
    if shared:
        raise InputError(f"case {shared.id!r} of the {shared.split} split is of the same cluster, {case.cluster!r}")
    found = near_duplicate(case, hidden, threshold=threshold, numbers_count=False)
    if found:
        raise InputError(f"it would give away a held-out question: {found}")


def _check_new(case: Case, known: Sequence[Case], threshold: float) -> None:
    """The same question by another kind of user, or with another behaviour expected, is another test."""
    alike = [other for other in known if (other.identity, other.expected) == (case.identity, case.expected)]
    if case.id in {other.id for other in known}:
        raise InputError(f"the set holds this failure already, as case {case.id!r}")
    found = near_duplicate(case, alike, threshold=threshold)
    if found:
        raise InputError(f"the set asks this already: {found}")


def _append(path: Path, entry: Entry) -> None:
    try:
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(entry), ensure_ascii=False) + "\n")
    except OSError as error:
        raise InputError(f"{path.name} cannot be written: {error.strerror}") from None


def reviews(path: Path) -> dict[str, Entry]:
    """The ledger of a regression set by case; empty where there is none. InputError, with the line, for damage."""
    beside = ledger(path)
    found: dict[str, Entry] = {}
    if not beside.exists():
        return found
    for number, line in enumerate(beside.read_text(encoding="utf-8").splitlines(), 1):
        try:
            held = json.loads(line)
            entry = Entry(**{**held, "failed": tuple(held["failed"])})
        except (ValueError, TypeError, KeyError):
            raise InputError(f"{beside.name} line {number} is no review") from None
        found[entry.case] = entry
    return found
