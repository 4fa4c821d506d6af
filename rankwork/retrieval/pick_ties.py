"""MMR over many fused lists: at which pick an ID had to decide."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from rankwork.retrieval.fusion import Fused
from rankwork.retrieval.mmr import diversify

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class PickTies:
    """`by_pick` counts, for each pick from 1 on, the queries at which it was tied; `queries` is the number of lists.

    A list that has fewer documents has fewer picks; `queries` leaves out those that have none.
    """

    queries: int
    by_pick: Mapping[int, int]

    @property
    def first(self) -> int:
        """How many queries have a tie at their first pick."""
        return self.by_pick.get(1, 0)

    @property
    def later(self) -> int:
        """How many ties there are at later picks, over all queries."""
        return sum(self.by_pick.values()) - self.first

    def to_pandas(self) -> "pd.DataFrame":
        """One row for each pick."""
        import pandas as pd

        return pd.DataFrame({"pick": list(self.by_pick), "tied queries": list(self.by_pick.values())})


def pick_ties(
    lists: Mapping[str, Fused],
    vectors: Mapping[Any, ArrayLike],
    k: int,
    *,
    window: int | None = None,
    balance: Any = 0.5,
) -> PickTies:
    """At which of the k picks MMR found ties, over the fused lists of many queries; options and errors: `diversify`.

    >>> from rankwork.retrieval.fusion import rrf
    >>> lists = {"q": rrf([["a", "b"], ["b", "a"]]), "none": rrf([[], []])}
    >>> found = pick_ties(lists, {"a": [1, 0], "b": [0, 1]}, 2)
    >>> found.queries, dict(found.by_pick)
    (1, {1: 1, 2: 0})
    """
    picked = [diversify(fused, vectors, k, window=window, balance=balance) for fused in lists.values() if len(fused)]
    counts = Counter(place for found in picked for place in found.tied_picks)
    most = max(map(len, picked), default=0)
    return PickTies(len(picked), {place: counts[place] for place in range(1, most + 1)})
