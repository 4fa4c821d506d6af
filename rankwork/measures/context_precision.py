"""Context precision: the different numbers that go by this name for one list of passages.

Some are precisions, of all passages that were returned or of those asked for; others are average precisions, and differ
in what they divide by. This library calls two of them P@k and AP@k.
"""

from collections.abc import Sequence
from fractions import Fraction

from rankwork.errors import ContractError


def forms(found: Sequence[bool], relevant: int, asked: int) -> dict[str, Fraction | None]:
    r"""Five numbers, exactly: two precisions, and the average precision over three denominators.

    `found` says of each returned passage, best first, whether it is relevant; `relevant` counts all relevant passages,
    returned or not; `asked` is how many were asked for. None where nothing was returned, or nothing relevant.
    ContractError for fewer relevant passages than were found, and for an `asked` below 1.

    >>> print(*forms([True, False, True], relevant=8, asked=5).items(), sep="\n")
    ('relevant of all that were returned', Fraction(2, 3))
    ('relevant of the first 5, P@5', Fraction(2, 5))
    ('AP over the relevant returned in 5', Fraction(5, 6))
    ('AP over min(relevant, 5)', Fraction(1, 3))
    ('AP over all relevant, AP@5', Fraction(5, 24))
    """
    if asked < 1:
        raise ContractError(f"asked must be at least 1, got {asked}")
    if relevant < sum(found):
        raise ContractError(f"{sum(found)} relevant passages were returned, but there are said to be {relevant}")
    ranks = [place for place, hit in enumerate(found, start=1) if hit and place <= asked]
    precisions = sum((Fraction(count, rank) for count, rank in enumerate(ranks, start=1)), Fraction(0))
    return {
        "relevant of all that were returned": _over(sum(found), len(found)),
        f"relevant of the first {asked}, P@{asked}": Fraction(len(ranks), asked),
        f"AP over the relevant returned in {asked}": _over(precisions, len(ranks)),
        f"AP over min(relevant, {asked})": _over(precisions, min(relevant, asked)),
        f"AP over all relevant, AP@{asked}": _over(precisions, relevant),
    }


def _over(total: Fraction | int, count: int) -> Fraction | None:
    return Fraction(total) / count if count else None
