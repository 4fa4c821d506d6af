"""The exercises about conventions."""

from collections.abc import Mapping
from typing import Any

from rankwork.exercises.base import Exercise
from rankwork.inputs import toy
from rankwork.measures.auditing import audit
from rankwork.measures.names import parse

_HANDBOOK_RUN = {"q": {"a": 2.0, "b": 2.0, "c": 1.0}}
_ODD_INPUTS: Mapping[str, tuple[Mapping[str, Mapping[str, float]], str]] = {
    "k of 0": ({"q": {"a": 1}}, "R@0"),
    "a grade of -1": ({"q": {"a": 1, "b": -1}}, "R@2"),
    "a tie at the cut": ({"q": {"a": 1}}, "R@1"),
    "candidates without a relevant one": ({"q": {"z": 1}}, "R@2"),
    "nothing relevant at all": ({"q": {"a": 0}}, "R@2"),
}


def _as_the_handbook_answers(answer: Mapping[str, str]) -> bool:
    if set(answer) != set(_ODD_INPUTS):
        raise ValueError("other inputs")
    return all(answer[name] == _handbook_outcome(*odd) for name, odd in _ODD_INPUTS.items())


def _handbook_outcome(judgements: Mapping[str, Mapping[str, float]], measure: str) -> str:
    try:
        value = audit(_HANDBOOK_RUN, judgements, measure, protocol="handbook").mean(measure).contract
    except ValueError:
        return "refused"
    return "nothing" if value is None else "a number"


def _means_under_java_what_mrr_means(answer: str) -> bool:
    right = audit(*toy.six(), "MRR@3").result("MRR@3").resolved
    return audit(*toy.six(), parse(answer), protocol="java").result(str(parse(answer))).resolved == right


def _half_that_trec_leaves_out(answer: tuple[Any, Any]) -> bool:
    run, judgements = answer
    found = {name: audit(run, judgements, "R@1", protocol=name) for name in ("rankwork", "trec")}
    untied = all(len(set(scores.values())) == len(scores) for scores in run.values())
    return untied and [each.mean("R@1").contract for each in found.values()] == [0.5, 1]


EXERCISES: Mapping[str, Exercise] = {
    "04.1": Exercise(
        "a dict with 'refused', 'nothing' or 'a number' for each input, as in {'k of 0': 'nothing'}",
        _as_the_handbook_answers,
        hints=(
            (
                "Three answers are possible for each: `refused`, `nothing`, `a number`. Which inputs are a "
                "caller's mistake, and which are merely a bad result?"
            ),
            "The handbook refuses what has no meaning. It gives nothing where a share has no denominator.",
            "Relevant documents exist, and none was retrieved: what is the share of them that was found?",
        ),
    ),
    "04.2": Exercise(
        "a name of a measure, such as 'R@10'",
        _means_under_java_what_mrr_means,
        hints=(
            "Look at the row for MRR@k in the table of protocols: what does `java` leave uncut?",
            "A name without the alias is cut as it says. Then there is the threshold of relevance.",
        ),
    ),
    "04.3": Exercise(
        "(run, judgements), such as ({'q': {'a': 1.0}}, {'q': {'a': 1}})",
        _half_that_trec_leaves_out,
        hints=(
            "What do the two protocols do with a judged query that has no result?",
            "One query with R@1 = 1, and one that the run lacks.",
        ),
    ),
}
