"""What users did afterwards: proxies of quality, named as such, and never a verdict.

They are biased by selection: few users click or vote, a fluent wrong answer is liked, and who gave up says nothing
more. A proxy can tell that something changed. Whether answers are right, only judged cases tell.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, get_args

from rankwork.decision.shares import CONFIDENCE, Share, ShareDifference, share, share_difference
from rankwork.trace import Signal, Trace

if TYPE_CHECKING:
    import pandas as pd

KINDS: tuple[str, ...] = get_args(Signal.model_fields["kind"].annotation)


@dataclass(frozen=True)
class Proxy:
    """The share of traces with at least one signal of a kind, among those whose signals were recorded."""

    kind: str
    traces: Share

    def __str__(self) -> str:
        return f"proxy {self.kind}: {self.traces}"


def proxies(traces: Iterable[Trace], *, confidence: float = CONFIDENCE) -> tuple[Proxy, ...]:
    """The proxies of some traces, one a kind; a trace whose signals were not recorded is unknown, not silent.

    >>> from rankwork.trace import Events
    >>> clicked = Events(signals=(Signal(kind="source_click", id="doc 1"),))
    >>> found = proxies([Trace(case="a", events=clicked), Trace(case="b")])
    >>> print(found[0])
    proxy source_click: 100.00% [2.50%, 100.00%], 1 of 1, 1 unknown
    """
    counts, told, unknown = dict.fromkeys(KINDS, 0), 0, 0
    for trace in traces:
        signals = trace.events.signals
        told += signals is not None
        unknown += signals is None
        for kind in {signal.kind for signal in signals or ()}:
            counts[kind] += 1
    return tuple(Proxy(kind, share(counts[kind], told, unknown=unknown, confidence=confidence)) for kind in KINDS)


def approval(traces: Iterable[Trace], *, confidence: float = CONFIDENCE) -> Share:
    """A proxy: the share of thumbs up among votes; `unknown` counts the traces that nobody voted on.

    >>> from rankwork.trace import Events
    >>> liked = Events(signals=(Signal(kind="thumbs_up"),))
    >>> found = approval([Trace(case="a", events=liked), Trace(case="b")])
    >>> found.value, found.unknown
    (1.0, 1)
    """
    up = down = silent = 0
    for trace in traces:
        kinds = {signal.kind for signal in trace.events.signals or ()} & {"thumbs_up", "thumbs_down"}
        up, down, silent = up + ("thumbs_up" in kinds), down + ("thumbs_down" in kinds), silent + (not kinds)
    return share(up, up + down, unknown=silent, confidence=confidence)


def judged_right(traces: Iterable[Trace], *, confidence: float = CONFIDENCE) -> Share:
    """No proxy: the share of answers of which every claim was judged to be correct; `unknown` counts the unjudged.

    >>> from rankwork.trace import Claim
    >>> answers = [Trace(case=str(right), claims=(Claim(id="1", correct=right),)) for right in (True, True, False)]
    >>> print(judged_right([*answers, Trace(case="unjudged")]))
    66.67% [9.43%, 99.16%], 2 of 3, 1 unknown
    """
    right = judged = unknown = 0
    for trace in traces:
        labels = [claim.correct for claim in trace.claims or ()]
        known = bool(labels) and (None not in labels or False in labels)
        right, judged, unknown = right + (known and all(labels)), judged + known, unknown + (not known)
    return share(right, judged, unknown=unknown, confidence=confidence)


@dataclass(frozen=True)
class Divergence:
    """Two windows of traces: their shares of right answers, and of thumbs up among votes, which is a proxy."""

    right: tuple[Share, Share]
    liked: tuple[Share, Share]
    confidence: float

    @property
    def less_right(self) -> ShareDifference:
        """Second window minus first, of right answers."""
        return share_difference(*self.right, confidence=self.confidence)

    @property
    def less_liked(self) -> ShareDifference:
        """Second window minus first, of thumbs up."""
        return share_difference(*self.liked, confidence=self.confidence)

    def to_pandas(self) -> "pd.DataFrame":
        """One row a figure: both windows and the difference, in words."""
        import pandas as pd

        rows = {"right answers": (*self.right, self.less_right), "proxy, thumbs up": (*self.liked, self.less_liked)}
        told = {name: [str(first), str(second), _told(found)] for name, (first, second, found) in rows.items()}
        return pd.DataFrame.from_dict(told, orient="index", columns=["first", "second", "difference"])


def _told(found: ShareDifference) -> str:
    if found.value is None:
        return f"unknown: {found.reason}"
    return f"{found.value:+.2%} [{found.low:+.2%}, {found.high:+.2%}]"


def divergence(first: Iterable[Trace], second: Iterable[Trace], *, confidence: float = CONFIDENCE) -> Divergence:
    """What judged answers and the votes of users say of two windows: a proxy can move against what it stands for.

    >>> from rankwork.trace import Claim, Events
    >>> def window(right, up, of=100):
    ...     votes = ["thumbs_up"] * up + ["thumbs_down"] * (of - up)
    ...     events = [Events(signals=(Signal(kind=vote),)) for vote in votes]
    ...     claims = [(Claim(id="1", correct=number < right),) for number in range(of)]
    ...     return [Trace(case=str(n), events=events[n], claims=claims[n]) for n in range(of)]
    >>> found = divergence(window(right=90, up=80), window(right=70, up=95))
    >>> round(found.less_right.value, 2), round(found.less_liked.value, 2)
    (-0.2, 0.15)
    """
    windows = [list(each) for each in (first, second)]
    right = [judged_right(each, confidence=confidence) for each in windows]
    liked = [approval(each, confidence=confidence) for each in windows]
    return Divergence((right[0], right[1]), (liked[0], liked[1]), confidence)
