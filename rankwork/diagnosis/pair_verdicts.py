"""What a judge of pairs prefers besides the better answer: a place, a length, its own family.

Every pair is judged in both orders. A judge that is moved by the place alone picks the same place twice, which is two
different winners.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rankwork.diagnosis.bounded_shares import BoundedShare
from rankwork.diagnosis.rates import Rate, p_value
from rankwork.errors import InputError
from rankwork.inputs.pairs import PairKey, Side
from rankwork.inputs.verdicts import JudgeKey, PairVerdict
from rankwork.statistics import Interval, bootstrap_mean

TIE = "tie"


@dataclass(frozen=True)
class Swapped:
    """One pair of answers, judged in both orders.

    `one` stood first in the first of the two orders and second in the other. `picks` are the places that won, in those
    orders: "first", "second", "tie", or None where the verdict failed.
    """

    question: str
    one: Side
    other: Side
    picks: tuple[str | None, str | None]

    @property
    def winners(self) -> tuple[str | None, str | None]:
        """The system that won in each order, "tie", or None where the verdict failed."""
        return self._winner(self.picks[0], self.one, self.other), self._winner(self.picks[1], self.other, self.one)

    @staticmethod
    def _winner(pick: str | None, first: Side, second: Side) -> str | None:
        return first.system if pick == "first" else second.system if pick == "second" else pick

    @property
    def consistent(self) -> bool | None:
        """Whether both orders have one winner; None where a verdict failed."""
        return None if None in self.winners else self.winners[0] == self.winners[1]

    @property
    def winner(self) -> str | None:
        """The system that won in both orders; None for a tie, for two winners and where a verdict failed."""
        return self.winners[0] if self.consistent and self.winners[0] != TIE else None

    @property
    def name(self) -> tuple[str, str, str]:
        """The question and the two systems, in the order of their names."""
        first, second = sorted((self.one.system, self.other.system))
        return self.question, first, second


@dataclass(frozen=True)
class JudgedPairs:
    """All pairs that one judge was asked about, each in both orders."""

    judge: JudgeKey
    pairs: tuple[Swapped, ...]


def judged_pairs(keys: Iterable[PairKey], verdicts: Iterable[PairVerdict], *, repetition: int = 1) -> JudgedPairs:
    """The verdicts of one judge on prepared pairs, joined with their keys.

    InputError for a pair that was judged in one order only, for one that has no key, for two verdicts on one, for
    verdicts of two judges, and where there is none of that repetition. Pairs of which neither order was judged are
    left out.
    """
    by_pair = {key.pair: key for key in keys}
    given: dict[str, PairVerdict] = {}
    for verdict in (each for each in verdicts if each.repetition == repetition):
        _check(verdict, by_pair, given)
        given[verdict.pair] = verdict
    if not given:
        raise InputError(f"there is no verdict of repetition {repetition}")
    for pair in given:
        if by_pair[pair].swap not in given:
            raise InputError(
                f"pair {pair!r} was judged in one order only: {by_pair[pair].swap!r} holds the same answers, swapped"
            )
    firsts = [by_pair[pair] for pair in by_pair if pair in given and _leads(by_pair[pair], by_pair)]
    swapped = (
        Swapped(key.question, key.first, key.second, (given[key.pair].winner, given[key.swap].winner)) for key in firsts
    )
    return JudgedPairs(next(iter(given.values())).key, tuple(swapped))


def _check(verdict: PairVerdict, keys: Mapping[str, PairKey], given: Mapping[str, PairVerdict]) -> None:
    if verdict.pair not in keys:
        raise InputError(f"there is a verdict on pair {verdict.pair!r}, which has no key")
    if verdict.pair in given:
        raise InputError(f"{verdict.key} has two verdicts on pair {verdict.pair!r} (repetition {verdict.repetition})")
    first = next(iter(given.values()), verdict)
    if first.key != verdict.key:
        raise InputError(f"verdicts of two judges stand together, {first.key} and {verdict.key}: take those of one")


def _leads(key: PairKey, keys: Mapping[str, PairKey]) -> bool:
    """Of the two orders of a pair, the one with the lower name leads."""
    if key.swap not in keys or keys[key.swap].swap != key.pair:
        raise InputError(f"pair {key.pair!r} names {key.swap!r} as its swap, which does not name it back")
    return key.pair < key.swap


@dataclass(frozen=True)
class Position:
    """What the place of an answer does to its verdict.

    `consistent`: pairs with one winner in both orders. Of the others, `first_twice` went to the first place in both
    orders, `second_twice` to the second, `with_tie` have a tie in one order. `p` is the exact two-sided test of
    `first_twice` against `second_twice`, None where there is neither. `first` is how often the first place won, of
    all verdicts that decided.
    """

    judge: JudgeKey
    pairs: int
    consistent: BoundedShare
    first_twice: int
    second_twice: int
    with_tie: int
    p: float | None
    first: Rate

    def to_json(self) -> dict[str, Any]:
        """What JSON holds of it."""
        plain = {name: getattr(self, name) for name in ("pairs", "first_twice", "second_twice", "with_tie", "p")}
        shares = {"consistent": self.consistent.to_json(), "first": self.first.to_json()}
        return {"judge": vars(self.judge), **plain, **shares}

    def __str__(self) -> str:
        twice = f"the first place won twice {self.first_twice} times, the second {self.second_twice}"
        tested = "" if self.p is None else f" ({p_value(self.p)})"
        return f"one winner in both orders: {self.consistent} of {self.pairs} pairs; of the others, {twice}{tested}"


def position(judged: JudgedPairs) -> Position:
    """How consistent a judge is when the answers change places, and which place it prefers where it is not."""
    picks = [pair.picks for pair in judged.pairs]
    first, second = picks.count(("first", "first")), picks.count(("second", "second"))
    decided = [pick for both in picks for pick in both if pick in ("first", "second")]
    failed = sum(pick is None for both in picks for pick in both)
    consistency = [pair.consistent for pair in judged.pairs]
    return Position(
        judge=judged.judge,
        pairs=len(picks),
        consistent=BoundedShare.of((holds, 1.0) for holds in consistency),
        first_twice=first,
        second_twice=second,
        with_tie=consistency.count(False) - first - second,
        p=_sign_test(first, second),
        first=Rate(decided.count("first"), len(decided), failed),
    )


def _sign_test(one: int, other: int) -> float | None:
    from scipy.stats import binomtest

    return float(binomtest(one, one + other).pvalue) if one + other else None


def wins(judged: JudgedPairs) -> dict[str, dict[str, int]]:
    """For each system how many pairs it won in both orders, lost in both, and how many decided nothing."""
    found: dict[str, dict[str, int]] = {}
    for pair in judged.pairs:
        for side in (pair.one, pair.other):
            counts = found.setdefault(side.system, {"won": 0, "lost": 0, "undecided": 0})
            counts["undecided" if pair.winner is None else "won" if pair.winner == side.system else "lost"] += 1
    return dict(sorted(found.items()))


@dataclass(frozen=True)
class Preference:
    """How often a judge decides for the answers of one kind, and how often a reference does, on the same pairs.

    `rate` is over the pairs that the judge decides in both orders and in which one answer alone is of the kind. Better
    answers may well be longer: what tells a preference is the `excess`, the judge's mean score for that answer minus
    the reference's, over the pairs on which no verdict of either failed. An order gives 1, a tie 1/2; both orders count
    half, so that a preference for a place cancels out. Its interval is over questions; None without a reference or such
    a pair, with the reason.
    """

    kind: str
    judge: JudgeKey
    rate: Rate
    both: int
    score: float | None
    reference_score: float | None
    excess: float | None
    interval: Interval | None
    reason: str | None

    def to_json(self) -> dict[str, Any]:
        """What JSON holds of it."""
        plain = {name: getattr(self, name) for name in ("kind", "both", "score", "reference_score", "excess", "reason")}
        interval = None if self.interval is None else vars(self.interval)
        return {"judge": vars(self.judge), **plain, "rate": self.rate.to_json(), "interval": interval}

    def __str__(self) -> str:
        if self.interval is None:
            return f"{self.kind}: the judge decides for it {self.rate}; no excess, {self.reason}"
        limits = f"{self.interval.level:.0%} interval {self.interval.low:+.4f} to {self.interval.high:+.4f}"
        given = f"the judge gives it {self.score:.4f}, the reference {self.reference_score:.4f}"
        return f"{self.kind}: {given}, an excess of {self.excess:+.4f} ({limits})"


Chooser = Callable[[Swapped], str | None]


def length_preference(judged: JudgedPairs, reference: JudgedPairs | None = None, *, seed: int = 0) -> Preference:
    """The preference for the longer answer, in characters; pairs of equal length are left out."""
    return _preference("the longer answer", judged, reference, _longer, seed)


def family_preference(
    judged: JudgedPairs, family: str, reference: JudgedPairs | None = None, *, seed: int = 0
) -> Preference:
    """The preference for answers of the judge's own family, in pairs with one answer of it. InputError for none."""
    families = {side.family for pair in judged.pairs for side in (pair.one, pair.other)}
    if family not in families:
        raise InputError(f"no answer is of family {family!r}; the families are {', '.join(sorted(families)) or 'none'}")

    def own(pair: Swapped) -> str | None:
        mine = [side.system for side in (pair.one, pair.other) if side.family == family]
        return mine[0] if len(mine) == 1 else None

    return _preference(f"answers of family {family}", judged, reference, own, seed)


def _longer(pair: Swapped) -> str | None:
    if pair.one.characters == pair.other.characters:
        return None
    return max((pair.one, pair.other), key=lambda side: side.characters).system


def _preference(
    kind: str, judged: JudgedPairs, reference: JudgedPairs | None, chosen: Chooser, seed: int
) -> Preference:
    eligible = [pair for pair in judged.pairs if chosen(pair) is not None]
    decided = [pair for pair in eligible if pair.winner is not None]
    rate = Rate(sum(pair.winner == chosen(pair) for pair in decided), len(decided), _failed(eligible))
    by_name = {pair.name: pair for pair in reference.pairs} if reference else {}
    couples = [(pair, by_name[pair.name]) for pair in eligible if pair.name in by_name]
    both = [couple for couple in couples if all(pair.consistent is not None for pair in couple)]
    if not both:
        reason = "there is no reference" if reference is None else "no pair has the verdicts of both"
        return Preference(kind, judged.judge, rate, 0, None, None, None, None, reason)
    ours, theirs = ([_score(couple[who], chosen) for couple in both] for who in (0, 1))
    differences = [a - b for a, b in zip(ours, theirs, strict=True)]
    return Preference(
        kind=kind,
        judge=judged.judge,
        rate=rate,
        both=len(both),
        score=sum(ours) / len(ours),
        reference_score=sum(theirs) / len(theirs),
        excess=sum(differences) / len(differences),
        interval=bootstrap_mean(differences, clusters=[pair.question for pair, _ in both], seed=seed),
        reason=None,
    )


def _score(pair: Swapped, chosen: Chooser) -> float:
    """What the two orders give to the chosen answer, 0 to 1."""
    return sum({chosen(pair): 0.5, TIE: 0.25}.get(winner, 0.0) for winner in pair.winners)


def _failed(pairs: Sequence[Swapped]) -> int:
    return sum(pair.consistent is None for pair in pairs)
