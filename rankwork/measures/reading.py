"""What an audit says, in sentences: which numbers depend on ties, how far, and where the order in force puts them."""

from rankwork.measures.auditing import Audit, Result


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
    return (
        f"{name} depends on ties: it is {mean.contract:.4f} by {order}, and {_range(result)}. {_place(result, order)}"
    )


def _range(result: Result) -> str:
    low, high, expected = (float(getattr(result.mean, name)) for name in ("min", "max", "expected"))
    share = f"a width of {100 * (high - low) / expected:.0f} % of the expected value"
    return f"the scores allow {low:.4f} to {high:.4f}, {share}"


def _place(result: Result, order: str) -> str:
    contract, expected = (float(getattr(result.mean, name)) for name in ("contract", "expected"))
    std = result.mean.std
    if std is None:
        return f"Over all orders it is {expected:.4f}; {result.mean.reason}."
    distance = f"{abs(contract - expected) / std:.1f}"
    side = "at it" if distance == "0.0" else f"{distance} of those {'above' if contract > expected else 'below'}"
    return f"Over all orders it is {expected:.4f} with a standard deviation of {std:.4f}; {order} lies {side}."
