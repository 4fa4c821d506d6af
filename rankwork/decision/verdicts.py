"""The table of verdicts: what paired differences say about a change, the first row that matches.

| verdict | condition |
|---|---|
| inconclusive | too few data: fewer than 10 clusters differ, and rare drops could still cost more than the margin |
| equivalent | margin d declared, L90 > -d and U90 < d |
| worse | U95 < 0 |
| better | L95 > 0 and Holm-adjusted p <= alpha |
| inconclusive | otherwise |

L and U are the limits of the mean difference, candidate minus baseline, signed so that more is better.
"""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from rankwork.errors import ContractError
from rankwork.statistics import Estimate, paired_columns, share

Word = Literal["better", "equivalent", "worse", "inconclusive"]
FEWEST_THAT_DIFFER = 10


@dataclass(frozen=True)
class Verdict:
    """What the table says, and why.

    `non_inferior` is L90 > -d where the data suffice for a verdict; None without a declared margin d. `tie_proof` says
    whether the word also holds with the minimum and the maximum of every difference that ties allow; None where those
    are not known. `p` is adjusted for all claims made together.
    """

    word: Word
    reason: str
    estimate: Estimate
    margin: float | None
    p: float | None
    non_inferior: bool | None
    tie_proof: bool | None = None
    under_ties: tuple[Word, Word] | None = None

    @property
    def passes(self) -> bool:
        """Whether a gate may pass on it: not inferior by the margin or, where none was declared, better."""
        return self.word == "better" if self.non_inferior is None else self.non_inferior

    def __str__(self) -> str:
        return f"{self.word}: {self.reason}"


def verdict(
    differences: ArrayLike,
    *,
    alpha: float,
    clusters: ArrayLike | None = None,
    margin: float | None = None,
    largest_drop: float | None = 1.0,
    lowest: ArrayLike | None = None,
    highest: ArrayLike | None = None,
    resamples: int = 10_000,
    seed: int = 0,
) -> Verdict:
    """The verdict on differences, candidate minus baseline, float64[n], one a query, signed so that more is better.

    `clusters` [n] names what is resampled as a whole. `margin` is the largest mean loss that would not matter, in units
    of the measure; without one nothing is ever equivalent. `largest_drop` is the most that a query can lose, 1 for a
    measure from 0 to 1, None where it has no bound. `lowest` and `highest` are the differences' minimum and maximum
    over all orders of ties; the verdict is tie-proof if it holds with both. ContractError as for `paired`, for a margin
    or largest drop that is not positive, for an alpha outside 0..1, and for a drop larger than the largest.

    Of 40 queries, 30 gain and none loses:

    >>> found = verdict([0.5] * 30 + [0.0] * 10, margin=0.01, alpha=0.05)
    >>> found.word, found.non_inferior, found.estimate.low95 > 0
    ('better', True, True)

    Nothing changed, in 40 queries and in 400:

    >>> print(verdict([0.0] * 40, margin=0.01, alpha=0.05))
    inconclusive: 0 of 40 clusters differ, fewer than 10, and drops in up to 7.22% of them could cost 0.07216,
    margin 0.01
    >>> verdict([0.0] * 400, margin=0.01, alpha=0.05).word
    'equivalent'
    """
    options: dict[str, Any] = {"clusters": clusters, "resamples": resamples, "seed": seed}
    table: dict[str, Any] = {"margin": margin, "alpha": alpha, "largest_drop": largest_drop}
    columns = [differences] if lowest is None or highest is None else [differences, lowest, highest]
    found, *ends = (judge(estimate, **table) for estimate in paired_columns(columns, **options))
    return under_ties(found, *ends) if ends else found


def judge(
    estimate: Estimate, *, margin: float | None, alpha: float, largest_drop: float | None = 1.0, p: float | None = None
) -> Verdict:
    """The verdict on an estimate; `p` is its adjusted p, None if this is the only claim.

    ContractError as for `verdict`, but for what the estimate was made of.

    Ten of 40 queries lost a fifth each, which is .05 on average:

    >>> from rankwork.statistics import paired
    >>> found = judge(paired([-0.2] * 10 + [0.0] * 30), margin=0.2, alpha=0.05)
    >>> found.word, found.non_inferior
    ('equivalent', True)
    """
    _check(estimate, margin, alpha, largest_drop)
    p = estimate.p if p is None else p
    too_few = _too_few(estimate, margin, largest_drop)
    word: Word = "inconclusive"
    reason = too_few
    if not too_few:
        word, reason = _by_limits(estimate, margin, alpha, p)
    non_inferior = None if margin is None else not too_few and estimate.low90 > -margin
    return Verdict(word, reason, estimate, margin, p, non_inferior)


def under_ties(found: Verdict, low: Verdict, high: Verdict) -> Verdict:
    """The verdict with what the two ends of the tie range would have made of it.

    >>> won, nothing = (verdict([gain] * 12, alpha=0.05) for gain in (0.2, 0.0))
    >>> found = under_ties(won, nothing, won)
    >>> found.word, found.tie_proof, found.under_ties
    ('better', False, ('inconclusive', 'better'))
    """
    words: tuple[Word, Word] = (low.word, high.word)
    holds = set(words) == {found.word}
    flips = "" if holds else f"; ties alone could make it {' or '.join(sorted({*words} - {found.word}))}"
    return Verdict(
        found.word,
        found.reason + flips,
        found.estimate,
        found.margin,
        found.p,
        found.non_inferior,
        tie_proof=holds and low.passes == found.passes == high.passes,
        under_ties=words,
    )


def _by_limits(estimate: Estimate, margin: float | None, alpha: float, p: float | None) -> tuple[Word, str]:
    """The rows of the table below the first."""
    inside95 = f"95% limits {_signed(estimate.low95)} to {_signed(estimate.high95)}"
    if margin is not None and estimate.low90 > -margin and estimate.high90 < margin:
        inside90 = f"90% limits {_signed(estimate.low90)} to {_signed(estimate.high90)} lie inside the margin {margin}"
        differs = estimate.low95 > 0 or estimate.high95 < 0
        return "equivalent", inside90 + (f", though not 0: {inside95}" if differs else "")
    if estimate.high95 < 0:
        return "worse", inside95
    if estimate.low95 > 0 and p is not None and p <= alpha:
        return "better", f"{inside95}, p {_p(p)}"
    if estimate.low95 > 0:
        return "inconclusive", f"{inside95}, but p {_p(p)} is not at most {alpha}"
    return "inconclusive", inside95 + (" and no margin is declared" if margin is None else f", margin {margin}")


def _too_few(estimate: Estimate, margin: float | None, largest_drop: float | None) -> str:
    """Why the data are too few for any verdict; empty if they are not."""
    if estimate.differ >= FEWEST_THAT_DIFFER:
        return ""
    few = f"{estimate.differ} of {estimate.clusters} clusters differ, fewer than {FEWEST_THAT_DIFFER}"
    if margin is None:
        return f"{few}, and no margin is declared"
    if largest_drop is None:
        return f"{few}, and what a drop can cost has no bound"
    degraded = share(estimate.degraded, estimate.clusters).high
    if degraded * largest_drop <= margin:
        return ""
    cost = _number(degraded * largest_drop)
    return f"{few}, and drops in up to {degraded:.2%} of them could cost {cost}, margin {_number(margin)}"


def _check(estimate: Estimate, margin: float | None, alpha: float, largest_drop: float | None) -> None:
    for name, value in (("margin", margin), ("largest drop", largest_drop)):
        if value is not None and not (np.isfinite(value) and value > 0):
            raise ContractError(f"a {name} is greater than 0, got {value!r}")
    if not 0 < alpha < 1:
        raise ContractError(f"alpha must be between 0 and 1, got {alpha!r}")
    if largest_drop is not None and -estimate.lowest > largest_drop * (1 + 1e-9):
        raise ContractError(f"a query lost {-estimate.lowest!r}, more than the largest drop of {largest_drop!r}")


def _p(p: float | None) -> str:
    return "unknown (too few clusters differ)" if p is None else f"{p:.4f}"


def _number(value: float) -> str:
    return f"{value:.4g}"


def _signed(value: float) -> str:
    return f"{value:+.4f}"
