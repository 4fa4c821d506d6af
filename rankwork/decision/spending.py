"""Calls, tokens and money by model: what is known, of how many, and no sum of two currencies.

What was not measured is unknown and never 0: a sum over traces of which some are unknown is a lower limit, and says so.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from rankwork.errors import InputError
from rankwork.trace import Trace, Usage

_COUNTS = ("calls", "input_tokens", "output_tokens")


@dataclass(frozen=True)
class Sum:
    """`known` is the sum of what `of` entries say; `unknown` more do not say. `total` is None while any is unknown."""

    known: float
    of: int
    unknown: int

    @property
    def total(self) -> float | None:
        """The sum of all, where all are known."""
        return None if self.unknown or not self.of else self.known

    @property
    def mean(self) -> float | None:
        """The mean of what is known; None where nothing is."""
        return self.known / self.of if self.of else None

    def __str__(self) -> str:
        if not self.of:
            return f"unknown ({self.unknown})" if self.unknown else "not recorded"
        known = f"{self.known:,.0f}" if self.known.is_integer() else f"{self.known:,.6g}"
        return f"at least {known} ({self.unknown} unknown)" if self.unknown else known


def summed(values: Iterable[float | None]) -> Sum:
    """The sum of what is known.

    >>> found = summed([1.0, None, 2.0])
    >>> found.total, found.mean, str(found)
    (None, 1.5, 'at least 3 (1 unknown)')
    """
    listed = list(values)
    known = [value for value in listed if value is not None]
    return Sum(float(sum(known)), len(known), len(listed) - len(known))


@dataclass(frozen=True)
class Spending:
    """What one model was used for, over all traces that name it."""

    model: str
    calls: Sum
    input_tokens: Sum
    output_tokens: Sum
    cost: Sum
    currency: str | None


def spending(traces: Iterable[Trace]) -> tuple[Spending, ...]:
    """The use of each model, by name. InputError for costs in two currencies, or for one that has none.

    >>> used = Usage(model="reranker", calls=1, cost=0.002, currency="EUR")
    >>> found = spending([Trace(case="a", usage=(used,)), Trace(case="b", usage=(Usage(model="reranker"),))])
    >>> str(found[0].cost), found[0].currency
    ('at least 0.002 (1 unknown)', 'EUR')
    """
    entries: dict[str, list[Usage]] = {}
    priced: dict[str, str] = {}
    for trace in traces:
        for usage in trace.usage or ():
            _check_currency(usage, trace.case, priced)
            entries.setdefault(usage.model, []).append(usage)
    return tuple(_of_model(model, entries[model]) for model in sorted(entries))


def _check_currency(usage: Usage, case: str, priced: dict[str, str]) -> None:
    """Every cost of a set of traces is in the currency of the first one."""
    if usage.cost is None:
        return
    where = f"case {case!r}, model {usage.model!r}"
    if not usage.currency:
        raise InputError(f"{where}: a cost of {usage.cost:g} without a currency")
    other = next((currency for currency in priced if currency != usage.currency), None)
    if other:
        raise InputError(
            f"costs in two currencies: {other} ({priced[other]}) and {usage.currency} ({where}); convert them first, "
            f"at a rate that is written down"
        )
    priced.setdefault(usage.currency, where)


def _of_model(model: str, used: list[Usage]) -> Spending:
    counts = {name: summed(getattr(usage, name) for usage in used) for name in _COUNTS}
    currency = next((usage.currency for usage in used if usage.cost is not None), None)
    return Spending(model=model, **counts, cost=summed(usage.cost for usage in used), currency=currency)


def total_cost(found: Iterable[Spending]) -> tuple[Sum, str | None]:
    """The cost over all models, and its currency; None where no cost is known.

    >>> used = (Usage(model="a", cost=0.5, currency="EUR"), Usage(model="b", cost=0.25, currency="EUR"))
    >>> cost, currency = total_cost(spending([Trace(case="q", usage=used)]))
    >>> cost.total, currency
    (0.75, 'EUR')
    """
    listed = list(found)
    costs = [spent.cost for spent in listed]
    whole = Sum(sum(cost.known for cost in costs), sum(cost.of for cost in costs), sum(cost.unknown for cost in costs))
    return whole, next((spent.currency for spent in listed if spent.currency), None)
