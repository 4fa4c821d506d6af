"""The notebooks' exercises: `check` says whether an answer is right, and does not say what would be.

The right answers are computed here by the library, so that they cannot drift from it. Solutions stand in
`tests/test_exercises.py`, where the tests run them.
"""

import operator
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from math import factorial, isclose, perm
from typing import Any

import numpy as np

from rankwork.contract.certificate import certify
from rankwork.contract.checks import SIX, Ranker, Rows, run_checks
from rankwork.contract.reference import rank
from rankwork.contract.ties import boundary, recall_range
from rankwork.decision.near_duplicates import near_duplicate
from rankwork.decision.quantiles import minimum, quantile
from rankwork.decision.verdicts import verdict
from rankwork.diagnosis.alce import alce_scores
from rankwork.diagnosis.citations import CitationRules, citation_scores
from rankwork.diagnosis.funnel import funnel
from rankwork.diagnosis.generation import Rules, answer_scores
from rankwork.diagnosis.judges import kappa
from rankwork.diagnosis.leaks import upper_bound
from rankwork.engines import engine
from rankwork.engines.layers import agreement, contract, layers
from rankwork.engines.saved_scores import make
from rankwork.engines.settings import cast
from rankwork.engines.shrink import Case, small_cases
from rankwork.errors import InputError
from rankwork.inputs import toy
from rankwork.inputs.verdicts import Scale
from rankwork.measures.auditing import audit
from rankwork.measures.means import Mean
from rankwork.measures.names import parse
from rankwork.measures.origins import as_type, rounded
from rankwork.rankings import Rankings
from rankwork.retrieval.fusion import rrf
from rankwork.retrieval.fusion_intervals import fused_intervals
from rankwork.retrieval.routes import Several
from rankwork.statistics import minimum_values
from rankwork.trace import Case as Question
from rankwork.trace import Citation, Claim, Evidence, Label, Requirement, Trace

NOT_ANSWERED, RIGHT, WRONG = "not answered yet", "right", "not right yet"


@dataclass(frozen=True, repr=False)
class Mark:
    """What an answer is worth; true where it is right."""

    exercise: str
    verdict: str

    def __bool__(self) -> bool:
        return self.verdict == RIGHT

    def __repr__(self) -> str:
        return f"exercise {self.exercise}: {self.verdict}"


@dataclass(frozen=True)
class Exercise:
    """How an answer must look, and the question whether it is right; that raises where it does not look so."""

    form: str
    is_right: Callable[[Any], bool]


def check(name: str, answer: Any) -> Mark:
    """The mark of an answer to the exercise of that name, such as "00.1"; None is no answer yet.

    InputError for an exercise that does not exist.

    >>> check("00.1", None)
    exercise 00.1: not answered yet
    >>> check("00.1", "a half")
    exercise 00.1: the answer should be a number, such as 0.25 or Fraction(1, 4)
    """
    if name not in EXERCISES:
        raise InputError(f"no exercise {name!r}; there are {', '.join(EXERCISES)}")
    exercise = EXERCISES[name]
    if answer is None:
        return Mark(name, NOT_ANSWERED)
    try:
        return Mark(name, RIGHT if exercise.is_right(answer) else WRONG)
    except Exception:  # an answer can be anything, a ranker that raises among it
        return Mark(name, f"the answer should be {exercise.form}")


_THREE_TIED = {"A": 9.0, "B": 8.0, "C": 8.0, "D": 8.0}


def _lowest_recall_of_three_tied(answer: Any) -> bool:
    return _same_number(answer, recall_range(_THREE_TIED, toy.FOUR_RELEVANT, 3).min)


def _expected_recall_of_three_tied(answer: Any) -> bool:
    return _same_number(answer, recall_range(_THREE_TIED, toy.FOUR_RELEVANT, 3).expected)


def _arrival_that_selects_a_and_c(answer: Iterable[str]) -> bool:
    scores = dict(toy.FOUR)
    arrival = [(document, scores[document]) for document in answer]
    return len(arrival) == len(scores) and set(rank(arrival, 2, policy="input")) == {"A", "C"}


def _open_cuts(answer: Iterable[int]) -> bool:
    return set(answer) == {k for k in range(1, len(SIX) + 1) if boundary(SIX, k).crosses}


def _arrivals_with_the_right_members(answer: Any) -> bool:
    """Every ordered choice of tied documents comes from equally many arrivals, and `slots!` of them hold one set."""
    cut = boundary(SIX, 3)
    return _same_number(answer, factorial(len(SIX)) * factorial(cut.slots) // perm(cut.tied, cut.slots))


def _passes_all_and_is_wrong(answer: tuple[Ranker, Rows, int]) -> bool:
    ranker, rows, k = answer
    return all(result.holds for result in run_checks(ranker)) and _outcome(ranker, rows, k) != _outcome(rank, rows, k)


def _outcome(ranker: Ranker, rows: Rows, k: int) -> tuple[Any, ...] | None:
    try:
        return tuple(ranker(rows, k))
    except ValueError:
        return None


def _first_tie_in_bfloat16(answer: Any) -> bool:
    pairs = ((n, cast(np.array([n, n + 1], dtype=np.float32), "bfloat16")) for n in range(1, 10_000))
    return _same_number(answer, next(n for n, pair in pairs if pair[0] == pair[1]))


def _right_members_read_backwards(answer: tuple[Any, int]) -> bool:
    row, k = np.array(answer[0], dtype=np.float64), answer[1]
    found = layers(row, engine("numpy.argsort stable reversed").select(row, k))
    same = agreement(found, layers(row, contract(row, k)))
    return same["member set"] and not same["full order"]


def _selects_by_position(answer: Callable[[Any, int], Iterable[int]]) -> bool:
    """On all small arrangements of ties, on zeros of both signs, and on rows so long that sorts become unstable."""
    large = [Case(saved.scores, saved.k) for saved in make(seed=0).values()]
    return all(
        [int(position) for position in answer(case.scores.copy(), case.k)] == contract(case.scores, case.k).tolist()
        for case in (*small_cases(), *large)
    )


def _ends_with_one_not_retrieved(answer: tuple[Any, Any]) -> bool:
    rows = [("above", 2), *((f"tied {number}", 1) for number in range(10))]
    limits = recall_range(rows, ["above", "tied 0", "tied 1", "tied 2", "not retrieved"], 5)
    least, most = answer
    return _same_number(least, limits.min) and _same_number(most, limits.max)


def _tie_without_a_range(answer: tuple[Rows, Iterable[str]]) -> bool:
    rows, relevant = answer[0], set(answer[1])
    cut, limits = boundary(rows, 3, relevant), recall_range(rows, relevant, 3)
    return cut.crosses and bool(cut.relevant_tied) and limits.min == limits.max


def _tied_by_float16_alone(answer: tuple[Any, Any]) -> bool:
    pair = Rankings.from_dicts({"q": {"a": float(answer[0]), "b": float(answer[1])}})
    forms = (as_type(pair, "float32"), as_type(pair, "float16"), rounded(pair, 3))
    return [len(set(form.scores.tolist())) for form in forms] == [2, 1, 2]


def _mean_with_two_counted_as_one(answer: Any) -> bool:
    judged = {str(query): {"a": 1, "b": 1} if query < 8 else {} for query in range(10)}
    found = audit({query: {"a": 1.0} for query in judged}, judged, "R@10").result("R@10").mean
    return _same_number(answer, found.if_all_1)


def _means_under_java_what_mrr_means(answer: str) -> bool:
    right = audit(*toy.six(), "MRR@3").result("MRR@3").resolved
    return audit(*toy.six(), parse(answer), protocol="java").result(str(parse(answer))).resolved == right


def _half_that_trec_leaves_out(answer: tuple[Any, Any]) -> bool:
    run, judgements = answer
    found = {name: audit(run, judgements, "R@1", protocol=name) for name in ("rankwork", "trec")}
    untied = all(len(set(scores.values())) == len(scores) for scores in run.values())
    return untied and [each.mean("R@1").contract for each in found.values()] == [0.5, 1]


def _mean_of_one_pair_among_four() -> Mean:
    """Four queries with one relevant document each, which ties with one other in the first of them."""
    run = {query: {"a": 2.0, "b": 2.0 if query == "1" else 1.0} for query in "1234"}
    return audit(run, {query: {"a": 1} for query in run}, "R@1").result("R@1").mean


def _ends_of_one_pair_among_four(answer: tuple[Any, Any]) -> bool:
    least, most = answer
    mean = _mean_of_one_pair_among_four()
    return _same_number(least, mean.min) and _same_number(most, mean.max)


def _deviation_of_one_pair_among_four(answer: Any) -> bool:
    return _same_number(answer, _mean_of_one_pair_among_four().std)


def _opposite_by_descending_ids(answer: tuple[Any, Any]) -> bool:
    run, judgements = answer
    found = {order: audit(run, judgements, "R@1", order=order).result("R@1").mean for order in ("id_asc", "id_desc")}
    return len(run) == 1 and found["id_asc"].contract == 1 and found["id_desc"].contract == 0


def _expected_of_four_tied(answer: Any) -> bool:
    route = {"A": 3.0, "B": 2.0, **dict.fromkeys("CDEF", 1.0)}
    return _same_number(answer, fused_intervals([route], 3, depth=5)["C"].expected)


def _tie_that_the_fused_list_hides(answer: Several) -> bool:
    """Of at least two routes; the fused list has no tie at all, and no document is first in every order."""
    return rrf(answer).ties == () and fused_intervals(answer, 1).certain == () and len(answer) > 1


def _ranks_that_float_sums_tell_apart(answer: tuple[Any, Any]) -> bool:
    first, second = answer
    possible = len(first) == len(second) == 3 and all(a != b for a, b in zip(first, second, strict=True))
    sums = [sum(1 / (60 + rank) for rank in ranks) for ranks in answer]
    return possible and sorted(first) == sorted(second) and sums[0] != sums[1]


def _traces_for_one_in_two_hundred(answer: Any) -> bool:
    """The first number of traces at which the bound is low enough; one trace less is not."""
    n = next(n for n in range(1, 10_000) if upper_bound(n) <= 0.005)
    return _same_number(answer, n)


def _lost_in_fusion_without_reasons(answer: tuple[Any, Any]) -> bool:
    case, trace = answer
    reasons = [item.drop_reason for stage in trace.stages for item in stage.items]
    return not any(reasons) and "lost_in_fusion" in {found.row for found in funnel([case], [trace]).diagnoses()}


def _could_have_kept_the_gold(answer: Any) -> bool:
    gold = Requirement(any_of=(Evidence(id="g"),))
    found = funnel([Question(id="q", query="?", requires=(gold,))], [Trace(case="q", stages=(answer,))])
    recall = found.table.mean(answer.name, "R")
    return (recall.observed, recall.own_max, recall.own_unknown) == (0, 1, 0)


def _ends_with_one_verdict_failed(answer: tuple[Any, Any]) -> bool:
    labels: tuple[Label | None, ...] = ("supported", "supported", "contradicted", None)
    claims = tuple(Claim(id=str(place), label=label) for place, label in enumerate(labels))
    rules = Rules(unlabelled="bound")
    share = answer_scores(Question(id="q", query=""), Trace(case="q", claims=claims), rules=rules).faithfulness
    least, most = answer
    return _same_number(least, share.min) and _same_number(most, share.max)


def _agreeing_by_chance(answer: tuple[Iterable[int], Iterable[int]]) -> bool:
    first, second = (np.array([int(value) for value in row], np.int64) for row in answer)
    if len(first) != 10 or len(second) != 10 or not {*first.tolist(), *second.tolist()} <= {0, 1}:
        raise TypeError("no two lists of ten")
    found = kappa(first, second, Scale((0, 1))).value
    return int((first == second).sum()) >= 9 and found is not None and found <= 0


def _perfect_by_alce_alone(answer: tuple[Iterable[tuple[str, str, Any]], Iterable[str]]) -> bool:
    rows, known = answer
    citations = tuple(Citation(id=source, claim=claim, supports=supports) for source, claim, supports in rows)
    case, claims = Question(id="q", query=""), (Claim(id="1"), Claim(id="2"))
    trace, rules = Trace(case="q", claims=claims, citations=citations), CitationRules(known=set(known))
    ours, theirs = citation_scores(case, trace, rules=rules), alce_scores(case, trace, rules=rules)
    return theirs.precision.value == 1 and ours.precision.value is not None and ours.precision.value < 1


def _fewest_unchanged(answer: Any) -> bool:
    """Whether so many queries without a change are equivalent within .02, and one fewer are not."""
    if isinstance(answer, bool) or answer != int(answer):
        raise TypeError("no number of queries")
    words = [verdict([0.0] * n, alpha=0.05, margin=0.02).word for n in (int(answer) - 1, int(answer))]
    return words == ["inconclusive", "equivalent"]


def _better_by_query_alone(answer: tuple[Any, Any]) -> bool:
    differences, clusters = answer
    by_query = verdict(differences, alpha=0.05)
    return by_query.word == "better" and verdict(differences, clusters=clusters, alpha=0.05).word != "better"


def _better_by_ties_alone(answer: tuple[Any, Any, Any]) -> bool:
    differences, lowest, highest = (np.asarray(part, float) for part in answer)
    if not ((lowest <= differences) & (differences <= highest)).all():
        raise ValueError("a difference lies outside of its minimum and maximum")
    found = verdict(differences, alpha=0.05, lowest=lowest, highest=highest)
    return found.word == "better" and found.tie_proof is False


def _values_for_p999(answer: Any) -> bool:
    return _same_number(answer, minimum_values(0.999))


def _told_only_without_the_stopped(answer: tuple[Iterable[float], int]) -> bool:
    """Whether P95 of those that ended can be told, and P95 of all lies among the stopped."""
    values, stopped = list(answer[0]), operator.index(answer[1])
    ended, every = quantile(values, 0.95), quantile(values, 0.95, stopped=stopped)
    return ended.value is not None and every.n >= minimum(0.95) and every.value is None


def _two_questions_apart(answer: tuple[str, str]) -> bool:
    """Whether one set takes both, and neither is taken where the other is held out."""
    one, other = (Question(id=name, query=text) for name, text in zip("ab", answer, strict=True))
    return near_duplicate(one, [other]) is None and near_duplicate(one, [other], numbers_count=False) is not None


def _lost_by_the_highest_index(answer: tuple[Any, int, int]) -> bool:
    """Whether blocks in the order (maximum descending, index descending) lose one of the top k."""
    scores, k, size = answer
    row = list(scores)
    selected = np.array(rank(list(enumerate(row)), k), int)
    maxima = [max(row[start : start + size]) for start in range(0, len(row), size)]
    chosen = sorted(range(len(maxima)), key=lambda block: (-maxima[block], -block))[:k]
    return not set((selected // size).tolist()) <= set(chosen)


def _breaks_only_tied(answer: tuple[Any, Any]) -> bool:
    scores, indices = answer
    return certify(np.asarray(scores), np.asarray(indices)).failed == "tied"


def _block_of_a_million(answer: Any) -> bool:
    """Whether no other block size leaves fewer numbers to look at: n/B maxima and k B items."""
    n, k = 1_000_000, 100
    return _same_number(answer, min(range(1, n + 1), key=lambda size: n / size + k * size))


def _same_number(answer: Any, right: float | None) -> bool:
    if isinstance(answer, bool) or right is None:
        raise TypeError("no number")
    return isclose(float(answer), right)


_A_NUMBER = "a number, such as 0.25 or Fraction(1, 4)"
EXERCISES: Mapping[str, Exercise] = {
    "00.1": Exercise(_A_NUMBER, _lowest_recall_of_three_tied),
    "00.2": Exercise(_A_NUMBER, _expected_recall_of_three_tied),
    "00.3": Exercise("all four documents in a text, such as 'DABC'", _arrival_that_selects_a_and_c),
    "01.1": Exercise("a set of numbers, such as {1, 6}", _open_cuts),
    "01.2": Exercise("a number of arrivals", _arrivals_with_the_right_members),
    "01.3": Exercise("(ranker, rows, k): a function called as rank is, and its input", _passes_all_and_is_wrong),
    "02.1": Exercise("a number of the scores, such as 10", _first_tie_in_bfloat16),
    "02.2": Exercise("(scores, k), such as ([2.0, 1.0], 1)", _right_members_read_backwards),
    "02.3": Exercise("a function, such as lambda scores, k: range(k)", _selects_by_position),
    "03.1": Exercise("a pair, such as (0.25, 0.5)", _ends_with_one_not_retrieved),
    "03.2": Exercise("(rows, relevant): rows of (ID, score), and IDs", _tie_without_a_range),
    "03.3": Exercise("a pair of scores, such as (0.25, 0.5)", _tied_by_float16_alone),
    "04.1": Exercise(_A_NUMBER, _mean_with_two_counted_as_one),
    "04.2": Exercise("a name of a measure, such as 'R@10'", _means_under_java_what_mrr_means),
    "04.3": Exercise("(run, judgements), such as ({'q': {'a': 1.0}}, {'q': {'a': 1}})", _half_that_trec_leaves_out),
    "05.1": Exercise("a pair, such as (0.25, 0.5)", _ends_of_one_pair_among_four),
    "05.2": Exercise(_A_NUMBER, _deviation_of_one_pair_among_four),
    "05.3": Exercise("(run, judgements), such as ({'q': {'a': 1.0}}, {'q': {'a': 1}})", _opposite_by_descending_ids),
    "06.1": Exercise(_A_NUMBER, _expected_of_four_tied),
    "06.2": Exercise("routes, such as {'bm25': {'a': 2.0}, 'dense': ['a']}", _tie_that_the_fused_list_hides),
    "06.3": Exercise("two triples of ranks, such as ((1, 2, 3), (3, 1, 2))", _ranks_that_float_sums_tell_apart),
    "07.1": Exercise("a number of traces", _traces_for_one_in_two_hundred),
    "07.2": Exercise("(case, trace)", _lost_in_fusion_without_reasons),
    "07.3": Exercise("a Stage of rankwork.trace", _could_have_kept_the_gold),
    "08.1": Exercise("a pair, such as (0.25, 0.5)", _ends_with_one_verdict_failed),
    "08.2": Exercise("two lists of ten, each 0 or 1", _agreeing_by_chance),
    "08.3": Exercise("(citations, IDs), such as ([('a', '1', 'full')], ['a'])", _perfect_by_alce_alone),
    "09.1": Exercise("a number of queries, such as 100", _fewest_unchanged),
    "09.2": Exercise("(differences, clusters), such as ([0.5, -0.5], ['a', 'b'])", _better_by_query_alone),
    "09.3": Exercise("(differences, lowest, highest), such as ([0.5], [0.0], [1.0])", _better_by_ties_alone),
    "10.1": Exercise("a number of values", _values_for_p999),
    "10.2": Exercise("(values, stopped), such as ([12.0, 30.0], 1)", _told_only_without_the_stopped),
    "10.3": Exercise("a pair of texts, such as ('Who may sign?', 'How do I sign?')", _two_questions_apart),
    "11.1": Exercise("(scores, k, size), such as ([3, 1, 2], 1, 2)", _lost_by_the_highest_index),
    "11.2": Exercise("(scores, indices), such as ([3, 1, 2], [0, 2])", _breaks_only_tied),
    "11.3": Exercise("a number of scores", _block_of_a_million),
}
