"""Drop reasons taken out of traces: what a diagnosis is worth without them."""

from rankwork.trace import Trace


def without_reasons(trace: Trace) -> Trace:
    """The same trace with no drop reason written down.

    >>> from rankwork.trace import Item, Stage
    >>> cut = Item(id="d", score=1.0, kept=False, drop_reason="below_route_k")
    >>> trace = Trace(case="q", stages=(Stage(kind="retrieve", returned=0, items=(cut,)),))
    >>> without_reasons(trace).stages[0].items[0].drop_reason is None
    True
    """
    stages = tuple(
        stage.model_copy(update={"items": tuple(item.model_copy(update={"drop_reason": None}) for item in stage.items)})
        for stage in trace.stages
    )
    return trace.model_copy(update={"stages": stages})
