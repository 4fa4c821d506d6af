"""What no order of ties changes: the documents that a list holds, and whether it ends among equal scores."""

import numpy as np

from rankwork.measures.auditing import Audit, Result, audit


def whole_lists(audited: Audit) -> Audit:
    """The audit of recall over the whole lists, which is as far as any order of their documents can get.

    >>> found = whole_lists(audit({"q": {"a": 1.0, "b": 1.0}}, {"q": {"a": 1, "x": 1}}, "R@1"))
    >>> [(name, result.mean.max) for name, result in found.results.items()]
    [('R@2', 0.5)]
    """
    joined, setting = audited.setting.joined, audited.setting
    longest = max(int(joined.run.lengths.max(initial=0)), 1)
    clipping = setting.protocol.replace(beyond_list="clip")
    return audit(joined.run, joined.judgements, f"R@{longest}", protocol=clipping)


def tied_ends(audited: Audit) -> int:
    """How many lists of the longest length end among documents of equal score: a cut would hide others with it.

    >>> tied_ends(audit({"q": {"a": 1.0, "b": 1.0}, "r": {"a": 2.0}}, {"q": {"a": 1}, "r": {"a": 1}}, "R@1"))
    1
    """
    whole = _only(whole_lists(audited))
    details, length = whole.values.details, whole.resolved.cutoff or 1
    reaches = details["above"] + details["tied"] == details["retrieved"]
    return int(np.sum(reaches & (details["retrieved"] >= length) & (details["tied"] > 1)))


def ceiling(audited: Audit) -> str:
    """The recall that no order of ties can exceed, in a sentence.

    >>> ceiling(audit({"q": {"a": 1.0, "b": 1.0}}, {"q": {"a": 1, "x": 1}}, "R@1"))
    'No order of the documents in these lists gives a recall above 0.5000.'
    """
    mean = _only(whole_lists(audited)).mean
    if mean.max is None:
        return f"Recall of the whole lists is undefined: {mean.reason}."
    return f"No order of the documents in these lists gives a recall above {mean.max:.4f}."


def _only(audited: Audit) -> Result:
    return next(iter(audited.results.values()))
