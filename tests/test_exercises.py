"""The exercises have solutions, which are run here; a mark tells right from wrong and gives nothing away."""

import json
import math
import re
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rankwork.contract.reference import rank
from rankwork.errors import ContractError, InputError
from rankwork.exercises import NOT_ANSWERED, WRONG, check, every, hint
from rankwork.trace import Case, Evidence, Item, Requirement, Stage, Trace

NOTEBOOKS = Path(__file__).parents[1] / "notebooks"
SOLUTIONS = sorted((NOTEBOOKS / "solutions").glob("*.ipynb"))
EXERCISES = every()


def lets_infinity_in(rows: Any, k: int, *, policy: str = "by_id") -> tuple[Any, ...]:
    """Passes the eleven checks, of which none has an infinite score."""
    finite = [(document, min(score, 1e300) if score == score else score) for document, score in rows]
    return rank(finite, k, policy=policy)


def orders_ids_by_length(rows: Any, k: int, *, policy: str = "by_id") -> tuple[Any, ...]:
    """Passes the eleven checks, whose IDs all have one character; "d10" and "d9" have not."""
    order = rank(rows, len(list(rows)), policy=policy)
    if policy != "by_id" or k > len(order):
        return rank(rows, k, policy=policy)
    scores = dict(rows)
    return tuple(sorted(order, key=lambda document: (-scores[document], len(str(document)), document))[:k])


FOLLOWED = Case(id="q", query="?", requires=(Requirement(any_of=(Evidence(id="g"),)),))


def fused_away(**dropped: Any) -> Trace:
    """One route finds g second; the fusion keeps one, and lists g below it."""
    both = (Item(id="a", rank=1, score=2.0), Item(id="g", rank=2, score=1.0))
    route = Stage(kind="retrieve", route="bm25", requested=2, returned=2, items=both)
    below = Item(id="g", score=0.1, kept=False, **dropped)
    fused = Stage(kind="fuse", requested=1, returned=1, items=(Item(id="a", rank=1, score=0.2), below))
    return Trace(case="q", stages=(route, fused))


def tied_at_the_cut(score: float, **dropped: Any) -> Stage:
    """A stage that keeps a with score 1, and lists g with another score, or the same, among what it dropped."""
    items = (Item(id="a", rank=1, score=1.0), Item(id="g", score=score, kept=False, **dropped), LAST)
    return Stage(kind="retrieve", requested=1, returned=1, items=items)


LAST = Item(id="z", score=0.0, kept=False)
ODD = {
    "k of 0": "refused",
    "a grade of -1": "refused",
    "a tie at the cut": "a number",
    "candidates without a relevant one": "a number",
    "nothing relevant at all": "nothing",
}
MISTAKES: dict[str, list[Any]] = {
    "00.1": [0, 1, Fraction(2, 3)],
    "00.2": [0.75, 0.8333],
    "00.3": ["ABCD", "BACD"],
    "01.1": [{3}, {2, 3, 4}, set()],
    "01.2": [120, 720],
    "01.3": [
        (rank, [("A", math.inf), ("B", 1.0)], 1),
        (orders_ids_by_length, [("a", 1.0), ("b", 1.0)], 1),
        (lambda rows, k, policy="by_id": (), [("A", 1.0)], 1),
    ],
    "02.1": [257, 2048, 128],
    "02.2": [([0, 0], 1), ([2.0, 1.0], 1)],
    "02.3": [
        lambda scores, k: np.argsort(scores, kind="stable")[::-1][:k],
        lambda scores, k: np.argsort(-scores)[:k],
        lambda scores, k: np.argsort(-scores, kind="stable")[: k + 1],
    ],
    "03.1": [(0.25, 1), (0.2, 1)],
    "03.2": [([("A", 9), ("B", 8), ("C", 8), ("D", 8)], {"B"}), ([("A", 9), ("B", 8), ("C", 7), ("D", 6)], {"B"})],
    "03.3": [(2047, 2048), (1.0, 1.0001), (1.0, 1.00000001), (2.0, 2.0)],
    "04.1": [ODD | {"k of 0": "nothing"}, ODD | {"candidates without a relevant one": "nothing"}],
    "04.2": ["MRR@3", "RR@3", "MRR(rel=1)@3", "RR(rel=1)"],
    "04.3": [
        ({"q": {"a": 1.0}}, {"q": {"a": 1}}),
        ({"q": {"a": 1.0, "b": 1.0}}, {"q": {"a": 1}, "r": {"a": 1}}),
        ({"q": {"a": 1.0}, "r": {"b": 1.0}}, {"q": {"a": 1}, "r": {"a": 1}}),
    ],
    "05.1": [(0, 1), (0.875, 1)],
    "05.2": [0.5, 0.25],
    "05.3": [({"q": {"a": 1.0, "b": 1.0}}, {"q": {"b": 1}}), ({"q": {"a": 2.0, "b": 1.0}}, {"q": {"a": 1}})],
    "06.1": [1 / 63, 1 / 64, (1 / 63 + 1 / 64 + 1 / 65) / 3],
    "06.2": [{"bm25": {"a": 1.0, "b": 1.0}}, {"bm25": {"a": 2.0, "b": 1.0}, "dense": ["a"]}, [["a", "b"], ["b", "a"]]],
    "06.3": [((1, 2, 3), (3, 1, 2)), ((1, 2, 7), (1, 7, 2)), ((1, 2, 7), (2, 1, 8)), ((1, 2), (2, 1))],
    "07.1": [200, 597, 600],
    "07.2": [
        (FOLLOWED, fused_away(drop_reason="fusion_cut")),
        (FOLLOWED, Trace(case="q", stages=fused_away().stages[:1])),
    ],
    "07.3": [tied_at_the_cut(0.5), tied_at_the_cut(1.0, drop_reason="quota")],
    "08.1": [(0.5, 1), (2 / 3, 2 / 3)],
    "08.2": [([0] * 10, [0] * 10), ([0] * 9 + [1], [0] * 9 + [1]), ([0] * 10, [0] * 8 + [1, 1])],
    "08.3": [
        ([("a", "1", "full"), ("b", "2", "full")], ["a", "b"]),
        ([("a", "1", "full"), ("b", "2", "no")], ["a", "b"]),
        ([], ["a"]),
    ],
    "09.1": [50, 148, 150, 299],
    "09.2": [([0.5] * 20, list(range(20))), ([0.5, -0.5] * 10, ["a", "b"] * 10)],
    "09.3": [([0.5] * 20, [0.4] * 20, [0.5] * 20), ([0.0] * 20, [-0.5] * 20, [0.5] * 20)],
    "10.1": [2994, 299, 1000],
    "10.2": [([1.0] * 20, 1), ([1.0] * 10, 10), ([1.0] * 20, 0)],
    "10.3": [
        ("What does error 500 mean?", "what does error 500 mean"),
        ("What does error 500 mean?", "Who may sign in 502?"),
    ],
    "11.1": [([1, 2], 1, 1), ([1, 1], 2, 1)],
    "11.2": [([1, 1], [0]), ([1, 2], [0]), ([1, 1], [1, 0])],
    "11.3": [200, 1000],
}
MISSHAPEN: dict[str, list[Any]] = {
    "00.1": ["a half", True, [0.5]],
    "00.2": [{}],
    "00.3": ["ABCX", "AABC", 7],
    "01.1": [3, [[2]]],
    "01.2": ["many"],
    "01.3": [rank, (rank, 3), (orders_ids_by_length, 5, 1)],
    "02.1": ["few"],
    "02.2": [3, ([0, 0], 3), ([3.0, 3.0], 1.5)],
    "02.3": [7, lambda scores: scores, lambda scores, k: "abc"],
    "03.1": [0.2],
    "03.2": [([("A", 9)], {"A"})],
    "03.3": [0.5, ("a", "b")],
    "04.1": ["refused", {"k of 0": "refused"}],
    "04.2": ["reciprocal", 3],
    "04.3": ["run", {"q": {"a": 1.0}}],
    "05.1": [0.75],
    "05.2": ["small"],
    "05.3": [{"q": {"a": 1.0}}],
    "06.1": ["little"],
    "06.2": ["routes", {"bm25": 3}, {"bm25": ["a#1"], "dense": ["a"]}],
    "06.3": [(1, 2, 3), ("abc", "bca")],
    "07.1": ["many"],
    "07.2": [FOLLOWED, (1, 2)],
    "07.3": ["a stage"],
    "08.1": [0.5],
    "08.2": [([0] * 9, [0] * 9), ([0] * 10, [2] * 10), 9],
    "08.3": [[("a", "1", "full")], ([("a", "3", "full")], ["a"]), ([("a", "1", "yes")], ["a"])],
    "09.1": ["many", 0.5],
    "09.2": [[0.5] * 20, ([0.5] * 20, ["a"])],
    "09.3": [([0.5], [0.6], [0.7]), 3],
    "10.1": ["many"],
    "10.2": [[1.0], ([1.0] * 20, 1.5), (["a"], 1)],
    "10.3": ["a pair", ("one", 2)],
    "11.1": [[1, 1]],
    "11.2": [[1, 1, 1]],
    "11.3": ["many"],
    "11.4": [7, "no such record"],
}


def cases(answers: dict[str, list[Any]]) -> list[Any]:
    return [
        pytest.param(name, answer, id=f"{name}-{place}")
        for name in answers
        for place, answer in enumerate(answers[name])
    ]


def code_of(path: Path) -> list[str]:
    cells = json.loads(path.read_text())["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]


def test_every_exercise_has_a_solution_a_mistake_a_misshapen_answer_and_hints() -> None:
    solved = re.findall(r'exercises\.check\(\s*"([^"]+)"', "\n".join(map("\n".join, map(code_of, SOLUTIONS))))
    assert set(solved) == set(MISSHAPEN) == set(EXERCISES)
    assert {*MISTAKES, "11.4"} == set(EXERCISES)
    assert [name for name, exercise in EXERCISES.items() if not 2 <= len(exercise.hints) <= 3] == []


@pytest.mark.parametrize("path", SOLUTIONS, ids=lambda path: path.stem)
def test_the_solutions_are_right(path: Path) -> None:
    """Every cell of the notebook runs, and each answer in it is asserted to be right."""
    names: dict[str, Any] = {}
    for source in code_of(path):
        exec(compile(source, path.name, "exec"), names)
    text = "\n".join(code_of(path))
    assert text.count("assert exercises.check(") == text.count("exercises.check(") > 0


def test_every_notebook_has_its_solutions() -> None:
    assert [path.name for path in SOLUTIONS] == sorted(path.name for path in NOTEBOOKS.glob("[0-9]*.ipynb"))


@pytest.mark.parametrize(("name", "hints"), [(name, each.hints) for name, each in EXERCISES.items()])
def test_hints_go_on_step_by_step_and_end(name: str, hints: tuple[str, ...]) -> None:
    assert [hint(name, step) for step in range(1, len(hints) + 1)] == [
        f"Hint {step} of {len(hints)}: {text}" for step, text in enumerate(hints, 1)
    ]
    with pytest.raises(InputError, match=f"exercise {name} has the hints 1 to {len(hints)}, got {len(hints) + 1}"):
        hint(name, len(hints) + 1)


def test_the_first_notebooks_exercises_load_nothing_of_the_last() -> None:
    code = "import sys; from rankwork import exercises; exercises.check('00.1', 0.5); "
    code += "print([name for name in sys.modules if name.startswith(('rankwork.retrieval', 'rankwork.decision'))])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_a_record_without_a_contract_is_not_the_last_answer(complete_record: Path) -> None:
    assert check("11.4", str(complete_record)).verdict == WRONG


@pytest.mark.parametrize(("name", "answer"), cases(MISTAKES))
def test_a_mistake_is_not_right_and_the_mark_says_no_more(name: str, answer: Any) -> None:
    mark = check(name, answer)
    assert (repr(mark), bool(mark)) == (f"exercise {name}: {WRONG}", False)


@pytest.mark.parametrize(("name", "answer"), cases(MISSHAPEN))
def test_an_answer_of_another_kind_is_told_the_kind(name: str, answer: Any) -> None:
    assert check(name, answer).verdict == f"the answer should be {EXERCISES[name].form}"


@pytest.mark.parametrize("name", EXERCISES)
def test_no_answer_is_no_mistake(name: str) -> None:
    assert check(name, None).verdict == NOT_ANSWERED


@pytest.mark.parametrize("name", EXERCISES)
def test_the_example_of_a_form_is_not_the_solution(name: str) -> None:
    example = re.search(r"such as (.+?)(?: or|$)", EXERCISES[name].form)
    if example:
        assert not check(name, eval(example[1]))


def test_an_unknown_exercise_is_refused_with_the_names_there_are() -> None:
    with pytest.raises(InputError, match=r"no exercise '99.1'; there are 00.1, "):
        check("99.1", 1)


def test_the_third_exercise_of_the_contract_is_about_the_contract() -> None:
    """The reference refuses what its first solution lets in."""
    with pytest.raises(ContractError):
        rank([("A", math.inf), ("B", 1.0)], 1)


def test_notebooks_ask_every_exercise_and_no_other_and_do_not_answer() -> None:
    code = "\n".join(
        "".join(cell["source"])
        for path in sorted(NOTEBOOKS.glob("*.ipynb"))
        for cell in json.loads(path.read_text())["cells"]
        if cell["cell_type"] == "code"
    )
    asked = re.findall(r'exercises\.check\("([^"]+)", (\w+)\)', code)
    assert sorted(name for name, _ in asked) == sorted(EXERCISES)
    assert [answer for _, answer in asked if f"{answer} = None" not in code] == []
