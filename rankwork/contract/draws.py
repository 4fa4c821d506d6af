"""Orders of ties drawn at random: what a shuffle before the sort gives, and a seed repeats."""

import random
from collections.abc import Collection, Sequence
from fractions import Fraction

from rankwork.contract.checks import recall
from rankwork.contract.reference import Id, Number
from rankwork.errors import ContractError


def shuffled_recall(rows: Sequence[tuple[Id, Number]], relevant: Collection[Id], k: int, *, seed: int) -> Fraction:
    """Recall@k after the rows were shuffled and then sorted by score: one of the orders that the scores allow.

    All of these orders are equally likely over the seeds. The same seed gives the same order only while the rows
    arrive in the same one. ContractError without a relevant document.

    >>> six = [("A", 9), ("B", 8), ("C", 8), ("D", 8), ("E", 7), ("F", 6)]
    >>> sorted({str(shuffled_recall(six, "ABD", 3, seed=seed)) for seed in range(20)})
    ['1', '2/3']
    """
    if not relevant:
        raise ContractError("recall is undefined: there is no relevant document")
    shuffled = random.Random(seed).sample(rows, len(rows))
    selected = sorted(shuffled, key=lambda row: -row[1])[:k]
    return recall([document for document, _ in selected], relevant)
