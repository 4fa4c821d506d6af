"""Every order of equal scores, tried: what the closed forms are held against, and the two orders that attain the ends.

Each order becomes a list of its own, without any tie, and is measured as such. That is for short lists: the number of
orders is the product of the factorials of the tie groups' sizes.
"""

from collections.abc import Iterable, Mapping
from itertools import chain, permutations, product
from math import factorial, prod
from typing import TYPE_CHECKING

from rankwork.contract.ties import tie_groups
from rankwork.errors import ContractError
from rankwork.measures.auditing import audit
from rankwork.protocol import Protocol

if TYPE_CHECKING:
    import pandas as pd

MOST_ORDERS = 10_000
UNJUDGED = -1  # stands below every grade: judgements hold none that is negative

Scores = Mapping[str, float]
Grades = Mapping[str, float]
Order = tuple[str, ...]


def allowed(scores: Scores) -> list[Order]:
    """Every order that the scores allow, the contract's first.

    ContractError for more than 10,000 orders, and for scores that `rankwork.rank` refuses.

    >>> ["".join(order) for order in allowed({"A": 9, "C": 8, "B": 8})]
    ['ABC', 'ACB']
    """
    groups = [[str(document) for document in group.ids] for group in tie_groups(scores)]
    orders = prod(factorial(len(group)) for group in groups)
    if orders > MOST_ORDERS:
        raise ContractError(f"these scores allow {orders} orders, more than the {MOST_ORDERS} that can be tried")
    return [tuple(chain.from_iterable(parts)) for parts in product(*map(permutations, groups))]


def by_grade(scores: Scores, grades: Grades, *, best: bool) -> Order:
    """The order that puts each tie group into descending order of grade where `best`, else into ascending order.

    A document without a grade stands below those that have one. Nearly every measure is greatest, or least, in this
    order.

    >>> "".join(by_grade({"A": 9, "B": 8, "C": 8}, {"C": 2}, best=True))
    'ACB'
    """
    way = -1 if best else 1
    return tuple(sorted(scores, key=lambda document: (-scores[document], way * grades.get(document, UNJUDGED))))


def without_ties(order: Order) -> dict[str, float]:
    """Scores that no other order has.

    >>> without_ties(("A", "C", "B"))
    {'A': -0.0, 'C': -1.0, 'B': -2.0}
    """
    return {document: -float(place) for place, document in enumerate(order)}


def tried(
    scores: Scores, grades: Grades, measures: Iterable[str], *, protocol: str | Protocol = "rankwork"
) -> "pd.DataFrame":
    """Each measure of each order that the scores allow, float64: a row a measure, a column an order, such as "A B C".

    NaN where a measure is undefined. ContractError as `allowed` and `audit` raise it.

    >>> tried({"A": 1, "B": 1}, {"A": 1}, ["RR", "R@1"])
         A B  B A
    RR   1.0  0.5
    R@1  1.0  0.0
    """
    import pandas as pd

    lists = {" ".join(order): without_ties(order) for order in allowed(scores)}
    found = audit(lists, {name: dict(grades) for name in lists}, list(measures), protocol=protocol)
    columns = {name: result.values.contract for name, result in found.results.items()}
    return pd.DataFrame(columns, index=list(found.queries)).T[list(lists)]


def over_all(values: "pd.DataFrame") -> "pd.DataFrame":
    """The five numbers of each row of `tried`, each order counted alike; the contract's is that of the first order.

    >>> over_all(tried({"A": 1, "B": 1}, {"A": 1}, ["RR", "R@1"]))
         contract  min  expected  max   std
    RR        1.0  0.5      0.75  1.0  0.25
    R@1       1.0  0.0      0.50  1.0  0.50
    """
    import pandas as pd

    across, first = values.T, values.iloc[:, 0]
    numbers = {"contract": first, "min": across.min(), "expected": across.mean(), "max": across.max()}
    return pd.DataFrame({**numbers, "std": across.std(ddof=0)})
