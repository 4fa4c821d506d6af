"""What an audit says, in sentences: which numbers depend on ties, how far, by how many queries, and who wins anyway.

Each sentence is computed from the numbers; the few words that judge have their limits here.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from rankwork.measures.auditing import Audit, Result
from rankwork.measures.systems import Difference, Standing, Systems

if TYPE_CHECKING:
    import pandas as pd

UNSEEN = 0.00005  # in a mean of four decimals
RARELY = 0.25  # of the averaged queries have a range, or fewer
MANY = 10  # tied documents
BADLY = 0.25  # of the expected mean is what these ranges measure on average, or more


def reading(audit: Audit) -> list[str]:
    r"""A sentence for each measure of the audit, computed from its means.

    A measure depends on ties if at least one averaged query has a range. An order of ties is a rule and not a draw, so
    the distance between its value and the expected one is given in standard deviations, without a probability.

    >>> from rankwork.inputs.toy import six
    >>> from rankwork.measures.auditing import audit
    >>> print(*reading(audit(*six(), ["R@1", "R@3"])), sep="\n")
    R@1 does not depend on ties: it is 0.3333 by every order.
    R@3 depends on ties: it is 0.6667 by id_asc, and the scores allow 0.6667 to 1.0000, a width of 43 % of the expected
    value. Over all orders it is 0.7778 with a standard deviation of 0.1571; id_asc lies 0.7 of those below.
    """
    return [_sentence(name, result, audit.order) for name, result in audit.results.items()]


def _sentence(name: str, result: Result, order: str) -> str:
    mean = result.mean
    if not mean.queries:
        return f"{name} is undefined: {mean.reason}."
    if mean.censored:
        hidden = f"the cut of the list hides what decides {mean.censored} of {mean.queries} queries"
        return f"{name} is not known: {hidden}. It lies between {mean.outer_min:.4f} and {mean.outer_max:.4f}."
    if not result.widths.any():
        return f"{name} does not depend on ties: it is {mean.contract:.4f} by every order."
    if result.widths.mean() < UNSEEN:
        return f"{name} depends on ties beyond the fourth decimal only: it is {mean.contract:.4f} by {order}."
    return (
        f"{name} depends on ties: it is {mean.contract:.4f} by {order}, and {_range(result)}. {_place(result, order)}"
    )


def _range(result: Result) -> str:
    low, high, expected = (float(getattr(result.mean, name)) for name in ("min", "max", "expected"))
    percent = f"{100 * (high - low) / expected:.0f}"
    share = f"a width of {'less than 1' if percent == '0' else percent} % of the expected value"
    return f"the scores allow {low:.4f} to {high:.4f}, {share}"


def _place(result: Result, order: str) -> str:
    contract, expected = (float(getattr(result.mean, name)) for name in ("contract", "expected"))
    std = result.mean.std
    if std is None:
        return f"Over all orders it is {expected:.4f}; {result.mean.reason}."
    distance = f"{abs(contract - expected) / std:.1f}"
    side = "at it" if distance == "0.0" else f"{distance} of those {'above' if contract > expected else 'below'}"
    return f"Over all orders it is {expected:.4f} with a standard deviation of {std:.4f}; {order} lies {side}."


def by_query(audit: Audit, measure: str) -> list[str]:
    r"""How a measure's range spreads over the queries, and whether the tie groups at the cut explain it.

    "Rarely" is at most a quarter of the queries; "badly" and "widely" are ranges that measure at least a quarter of the
    expected mean on average. ContractError for a measure that the audit does not have.

    >>> from rankwork.inputs.toy import six
    >>> from rankwork.measures.auditing import audit
    >>> print(*by_query(audit(*six(), ["R@3"]), "R@3"), sep="\n")
    R@3: 1 of 1 queries has a range, 0.3333 wide on average, 0.3333 at most (query q); in the mean that is 0.3333.
    Often, and widely.
    R@3: 1 of 1 queries ties across the cut, and 0 of those have no range. The largest group there, 3 documents
    (query q), leaves a range of 0.3333.
    """
    result = audit.result(measure)
    if not result.mean.queries:
        return [f"{measure} is undefined: {result.mean.reason}."]
    return [_spread_sentence(audit, result), _groups_sentence(audit, result)]


def _spread_sentence(audit: Audit, result: Result) -> str:
    widths, queries = result.widths, result.mean.queries
    ranged = widths > 0
    if not ranged.any():
        return f"{result.name}: none of {queries} queries has a range."
    average, widest = float(widths[ranged].mean()), int(np.argmax(widths))
    has = f"{ranged.sum()} of {queries} queries {'has' if ranged.sum() == 1 else 'have'} a range"
    sizes = f"{average:.4f} wide on average, {widths[widest]:.4f} at most (query {audit.queries[widest]})"
    in_mean = f"in the mean that is {widths.sum() / queries:.4f}"
    return f"{result.name}: {has}, {sizes}; {in_mean}. {_judged(ranged.sum() / queries, average, result)}"


def _judged(share: float, average: float, result: Result) -> str:
    expected = result.mean.expected
    if expected is None:
        return f"How much that is cannot be said: {result.mean.reason}."
    wide = average >= BADLY * expected
    if share <= RARELY:
        return "Rarely, but then badly." if wide else "Rarely, and not by much."
    return "Often, and widely." if wide else "Often, but not by much."


def _groups_sentence(audit: Audit, result: Result) -> str:
    split, widths = np.flatnonzero(result.splits), result.widths
    if not len(split):
        above = ": its ranges come from ties above the cut, or in whole lists" if widths.any() else ""
        return f"{result.name}: no query ties across the cut{above}."
    tied = result.values.details["tied"]
    harmless = int((widths[split] == 0).sum())
    widest = int(split[np.argmax(widths[split])])
    largest = int(split[np.lexsort((-widths[split], -tied[split]))[0]])
    ties = f"{len(split)} of {result.mean.queries} queries {'ties' if len(split) == 1 else 'tie'} across the cut"
    group = f"The largest group there, {tied[largest]} documents (query {audit.queries[largest]})"
    text = f"{result.name}: {ties}, and {harmless} of those have no range. {group}, leaves a range of"
    text += f" {widths[largest]:.4f}"
    if widths[largest] == widths[widest]:
        return f"{text}."
    text = f"{text}; the widest, {widths[widest]:.4f}, comes of {tied[widest]}."
    return f"{text} Many ties need not mean a wide range." if tied[largest] >= MANY else text


def kinds(audit: Audit) -> "pd.DataFrame":
    """How many averaged queries of each measure are tied across the cut, or are not, and have a range, or have none.

    >>> from rankwork.inputs.toy import six
    >>> from rankwork.measures.auditing import audit
    >>> print(kinds(audit(*six(), ["R@1", "R@3"])).to_string())
                          R@1  R@3
    tied, a range           0    1
    tied, no range          0    0
    not tied, a range       0    0
    not tied, no range      1    0
    """
    import pandas as pd

    return pd.DataFrame({name: _kinds_of(result) for name, result in audit.results.items()})


def _kinds_of(result: Result) -> dict[str, int]:
    tied, ranged, averaged = result.splits, result.widths > 0, result.values.averaged
    return {
        f"{tie}, {found}": int((averaged & (tied == is_tied) & (ranged == is_ranged)).sum())
        for tie, is_tied in (("tied", True), ("not tied", False))
        for found, is_ranged in (("a range", True), ("no range", False))
    }


def outside(audit: Audit) -> list[tuple[str, str]]:
    """The query and the measure of every value that lies outside its range: none, or something is wrong.

    >>> from rankwork.inputs.toy import six
    >>> from rankwork.measures.auditing import audit
    >>> outside(audit(*six(), ["R@1", "R@3"]))
    []
    """
    return [
        (audit.queries[int(query)], name)
        for name, result in audit.results.items()
        for query in np.flatnonzero(
            (result.values.contract < result.values.outer_min) | (result.values.contract > result.values.outer_max)
        )
    ]


def of_evaluators(habits: Mapping[str, Mapping[str, float | None]]) -> list[str]:
    """Of each measure that the orders of evaluators move: from which value to which; `habits` is of `by_evaluator`.

    >>> of_evaluators({"the contract": {"RR": 1.0, "AP": 1.0}, "trec_eval": {"RR": 0.5, "AP": 1.0}})
    ['RR by the orders of evaluators: from 0.5000 (trec_eval) to 1.0000 (the contract).']
    """
    measures = list(next(iter(habits.values()), {}))
    columns = {name: {who: means[name] for who, means in habits.items()} for name in measures}
    return [sentence for name, column in columns.items() if (sentence := _of_evaluators(name, column))]


def _of_evaluators(name: str, column: Mapping[str, float | None]) -> str:
    known = {who: value for who, value in column.items() if value is not None}
    if len(known) < len(column) or max(known.values()) - min(known.values()) < 2 * UNSEEN:
        return ""
    least, most = min(known, key=known.__getitem__), max(known, key=known.__getitem__)
    return f"{name} by the orders of evaluators: from {known[least]:.4f} ({least}) to {known[most]:.4f} ({most})."


def of_difference(difference: Difference) -> list[str]:
    """Who wins whatever ties do, whether the sign of the mean difference is the ties' to decide, and what queries add.

    >>> from rankwork.measures.systems import systems
    >>> run = {"q": {"a": 1.0, "b": 1.0}}
    >>> found = systems({"A": run, "B": {"q": {"a": 2.0, "b": 1.0}}}, {"q": {"a": 1}}, ["RR"])
    >>> print(of_difference(found.difference("RR", "A", "B"))[0])
    RR, B against A: whatever ties do, it wins 0 of 1 queries and loses 0; 0 are equal.
    Of the 1 undecided, 0 are decided by the contract and taken back by another order.
    """
    if not difference.queries:
        return [f"{difference.measure}: {difference.first} and {difference.second} have no query in common."]
    named = f"{difference.measure}, {difference.second} against {difference.first}"
    robust = f"it wins {difference.wins} of {len(difference.queries)} queries and loses {difference.losses}"
    reversible = f"{difference.reversible} are decided by the contract and taken back by another order"
    first = f"{named}: whatever ties do, {robust}; {difference.equal} are equal."
    return [f"{first} Of the {difference.undecided} undecided, {reversible}.", *_mean_difference(difference)]


def _mean_difference(difference: Difference) -> list[str]:
    mean = difference.mean()
    value = "not known" if mean.contract is None else f"{mean.contract:+.4f} by the contract"
    ties = f"ties alone allow {mean.min:+.4f} to {mean.max:+.4f}"
    sign = "they can turn it round, or undo it" if mean.min <= 0 <= mean.max else "whoever is better stays so"
    if mean.min == mean.max == 0:
        sign = "no order makes a difference"
    common = f"one order of IDs for both allows {mean.common_min:+.4f} to {mean.common_max:+.4f}"
    found = [f"The mean difference is {value}; {ties}: {sign}. The same way in both, {common}."]
    if mean.interval is not None:
        limits = f"{mean.interval.low:+.4f} to {mean.interval.high:+.4f}"
        found.append(
            f"Other queries are another question: a paired bootstrap gives {limits} (95 %), ties left as here."
        )
    return found


def of_leaderboard(systems: Systems, measure: str) -> str:
    """Which ranks the ties leave open, in a sentence. ContractError for a measure that the audits do not have."""
    standings = systems.leaderboard(measure)
    moving = [standing for standing in standings if standing.best_rank != standing.worst_rank]
    if not moving:
        return f"By {measure} no order of ties changes a rank."
    return f"By {measure} ties leave ranks open: {', '.join(map(_rank_text, moving))}."


def _rank_text(standing: Standing) -> str:
    return f"{standing.system} {standing.best_rank} to {standing.worst_rank}"
