"""The exercises about the funnel."""

from collections.abc import Mapping
from typing import Any

from rankwork.diagnosis.funnel import funnel
from rankwork.diagnosis.leaks import upper_bound
from rankwork.exercises.base import Exercise, same_number
from rankwork.trace import Case as Question
from rankwork.trace import Evidence, Requirement, Trace


def _traces_for_one_in_two_hundred(answer: Any) -> bool:
    """The first number of traces at which the bound is low enough; one trace less is not."""
    n = next(n for n in range(1, 10_000) if upper_bound(n) <= 0.005)
    return same_number(answer, n)


def _lost_in_fusion_without_reasons(answer: tuple[Any, Any]) -> bool:
    case, trace = answer
    reasons = [item.drop_reason for stage in trace.stages for item in stage.items]
    return not any(reasons) and "lost_in_fusion" in {found.row for found in funnel([case], [trace]).diagnoses()}


def _could_have_kept_the_gold(answer: Any) -> bool:
    gold = Requirement(any_of=(Evidence(id="g"),))
    found = funnel([Question(id="q", query="?", requires=(gold,))], [Trace(case="q", stages=(answer,))])
    recall = found.table.mean(answer.name, "R")
    return (recall.observed, recall.own_max, recall.own_unknown) == (0, 1, 0)


EXERCISES: Mapping[str, Exercise] = {
    "07.1": Exercise(
        "a number of traces",
        _traces_for_one_in_two_hundred,
        hints=(
            "The bound is the largest share at which seeing no event in n traces still has a chance of 5 %.",
            (
                "If the share is p, what is the chance that none of n traces leaks? Set it to .05, and p "
                "to one in two hundred."
            ),
            "Solve for n with two logarithms, and round up.",
        ),
    ),
    "07.2": Exercise(
        "(case, trace)",
        _lost_in_fusion_without_reasons,
        hints=(
            (
                "The first row of the matrix that holds is the diagnosis, and `in_one_route_only` comes "
                "before `lost_in_fusion`. So every route that ran has to return the gold."
            ),
            (
                "A trace may have one `retrieve` stage only. The `fuse` stage then keeps fewer items than"
                " the route returned."
            ),
            (
                "Write the gold into the `fuse` stage with `kept=False` and a score below the one that "
                "was kept, and no `drop_reason`."
            ),
        ),
    ),
    "07.3": Exercise(
        "a Stage of rankwork.trace",
        _could_have_kept_the_gold,
        hints=(
            (
                "An item with `kept=False` stands in a stage with its score, so it can take part in the "
                "stage's own ties."
            ),
            "Which score must g have, so that another order of equal scores keeps it?",
            (
                "The range is known only if nothing else may tie with the cut: let the last item of the "
                "stage lie below it."
            ),
        ),
    ),
}
