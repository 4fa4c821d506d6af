import subprocess
import sys
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

from rankwork.engines import EngineError, all_engines, engine, matching
from rankwork.engines.base import Engine, without_paths
from rankwork.engines.distances import points
from rankwork.engines.layers import contract
from rankwork.errors import ContractError, InputError
from tests.engines_that_fail import BY_NAME, PROMISE, make, right

HERE = [known for known in all_engines() if known.available()]
SIX = np.array([9, 8, 8, 8, 7, 6], dtype=np.float32)
LEVELS = np.random.default_rng(3).integers(0, 4, 300).astype(np.float32)

# The reported faults that are about an engine's selection, each with the contract's answer.
REPORTED = {
    "pytorch#27542, k = 1": ([1, 2, 5, 4, 5], 1, [2]),
    "pytorch#27542, k = 2": ([1, 2, 5, 4, 5], 2, [2, 4]),
    "pytorch#27542, k = 3": ([1, 2, 5, 4, 5], 3, [2, 4, 3]),
    "pytorch#27542, k = 4": ([1, 2, 5, 4, 5], 4, [2, 4, 3, 1]),
    "pytorch#27542, k = 5": ([1, 2, 5, 4, 5], 5, [2, 4, 3, 1, 0]),
    "pytorch#127196": ([3, 2, 3, 2, 1, 1], 2, [0, 2]),
    "pytorch#88184": ([-1, -1, -1, -1], 1, [0]),
    "tensorflow#12003": ([0, 0, 0, 0], 3, [0, 1, 2]),
    "numpy#24064": ([1000, 1000, 1000, 1000, 1000, 1000, 0, 1000], 7, [0, 1, 2, 3, 4, 5, 7]),
    "lucene#11433": ([1, 1, 1, 1, 1], 3, [0, 1, 2]),
}


EXTRA = {"bm25s", "duckdb", "faiss", "hnswlib", "jax", "onnx", "onnxruntime", "polars", "rank_bm25"}


def importable(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ImportError:
        return False


def by_name(known: Engine) -> str:
    return known.name


def test_at_least_eighteen_engines_are_known_and_no_two_share_a_name() -> None:
    names = [known.name for known in all_engines()]
    assert len(names) >= 18
    assert len(set(names)) == len(names)


def test_where_the_extra_is_installed_at_least_eighteen_engines_run() -> None:
    absent = sorted({name for known in all_engines() for name in known.modules if not importable(name)})
    if set(absent) & EXTRA:
        pytest.skip(f"not installed: {', '.join(absent)}")
    assert len(HERE) >= 18


@pytest.mark.parametrize("known", all_engines(), ids=by_name)
def test_an_engine_is_here_with_a_version_or_says_what_is_missing(known: Engine) -> None:
    available = known.available()
    assert available.version if available else available.note


@pytest.mark.parametrize("known", all_engines(), ids=by_name)
def test_a_promise_names_its_source_and_the_version_it_was_read_in(known: Engine) -> None:
    assert all(known.promise.to_dict().values())


def test_a_condition_of_one_name_has_the_same_variables_in_every_adapter() -> None:
    named = {(name, tuple(variables.items())) for known in all_engines() for name, variables in known.restarts.items()}
    assert len({name for name, _ in named}) == len(named)


@pytest.mark.parametrize("known", HERE, ids=by_name)
@pytest.mark.parametrize("k", [1, 2, 3, 6])
def test_every_engine_selects_k_different_positions_with_the_highest_scores(known: Engine, k: int) -> None:
    positions = known.select(SIX, k)
    assert len(set(positions.tolist())) == k
    assert sorted(SIX[positions]) == sorted(SIX[contract(SIX, k)])


@pytest.mark.parametrize("known", HERE, ids=by_name)
def test_every_engine_takes_each_dtype_that_it_lists(known: Engine) -> None:
    for dtype in known.dtypes:
        row = SIX if dtype == "bfloat16" else SIX.astype(dtype)
        assert row[known.select(row, 1, dtype=dtype)].tolist() == [9]


@pytest.mark.parametrize("known", [known for known in HERE if known.batches], ids=by_name)
def test_a_batch_gives_each_row_its_own_answer(known: Engine) -> None:
    rows = np.stack([SIX, SIX[::-1]])
    assert known.select(rows, 1).tolist() == [[0], [5]]


@pytest.mark.parametrize("known", [known for known in HERE if known.threaded], ids=by_name)
def test_a_thread_count_is_accepted_for_one_call(known: Engine) -> None:
    assert known.select(SIX, 1, threads=1).tolist() == [0]


@pytest.mark.parametrize("known", [known for known in HERE if known.by_id], ids=by_name)
@pytest.mark.parametrize("k", [1, 7, 300])
def test_an_engine_with_the_id_as_key_keeps_the_contract_in_any_arrival(known: Engine, k: int) -> None:
    ids = np.random.default_rng(k).permutation(len(LEVELS))
    assert known.select(LEVELS, k, ids=ids).tolist() == contract(LEVELS, k, ids).tolist()


LOWEST = ("lowest position", "lowest ID")


@pytest.mark.parametrize("known", [known for known in HERE if known.promise.tie_break in LOWEST], ids=by_name)
@pytest.mark.parametrize("k", [1, 3, 299])
def test_an_engine_that_promises_the_lowest_keeps_it_here(known: Engine, k: int) -> None:
    assert known.select(LEVELS, k).tolist() == contract(LEVELS, k).tolist()


@pytest.mark.parametrize(("scores", "k", "expected"), REPORTED.values(), ids=REPORTED)
def test_the_contract_is_right_where_a_fault_was_reported(scores: list[float], k: int, expected: list[int]) -> None:
    assert contract(np.array(scores, dtype=np.float32), k).tolist() == expected


@pytest.mark.parametrize("known", [known for known in HERE if known.promise.tie_break in LOWEST], ids=by_name)
@pytest.mark.parametrize(("scores", "k", "expected"), REPORTED.values(), ids=REPORTED)
def test_engines_that_promise_the_lowest_are_right_where_a_fault_was_reported(
    known: Engine, scores: list[float], k: int, expected: list[int]
) -> None:
    assert known.select(np.array(scores, dtype=np.float32), k).tolist() == expected


CHECKED = make(right)


@pytest.mark.parametrize(
    ("question", "message"),
    [
        ({"scores": SIX, "k": 7}, "k must be between 0 and 6, got 7"),
        ({"scores": SIX, "k": -1}, "k must be between 0 and 6, got -1"),
        ({"scores": SIX, "k": True}, "k must be an integer, got True"),
        ({"scores": SIX, "k": 1.0}, "k must be an integer, got 1.0"),
        ({"scores": [1.0], "k": 1}, "scores must be a numpy array of numbers, got list"),
        ({"scores": np.array(["a"]), "k": 1}, "scores must be a numpy array of numbers, got ndarray"),
        ({"scores": SIX.reshape(2, 3), "k": 1}, "right takes scores with 1 axis, got 2"),
        ({"scores": SIX.astype(np.int8), "k": 1}, "right takes float32, got int8"),
        ({"scores": SIX, "k": 1, "device": "cuda"}, "right runs on cpu, got cuda"),
        ({"scores": SIX, "k": 1, "threads": 2}, "the thread count of right cannot be set for one call, got 2"),
        ({"scores": SIX, "k": 1, "ids": [1]}, "ids must be one for each of the 6 scores"),
    ],
)
def test_a_question_that_cannot_be_asked_is_refused_with_its_value(question: dict[str, Any], message: str) -> None:
    with pytest.raises(ContractError, match=message):
        CHECKED.select(**question)


def test_k_of_zero_selects_nothing_and_asks_nobody() -> None:
    assert BY_NAME["raises"].select(SIX, 0).tolist() == []


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("too_short", r"answered with int64 of shape \(2,\), expected positions of shape \(3,\)"),
        ("fractions", "answered with float64"),
        ("out_of_range", "answered with position 6, expected 0 to 5"),
        ("twice", "answered with a position twice"),
    ],
)
def test_an_answer_that_is_no_selection_is_an_error_of_the_engine(name: str, message: str) -> None:
    with pytest.raises(EngineError, match=message):
        BY_NAME[name].select(SIX, 3)


def test_an_unknown_engine_is_refused_with_the_names_there_are() -> None:
    with pytest.raises(InputError, match=r"torch\.topk.*got 'torch\.top'"):
        engine("torch.top")


def test_engines_are_chosen_by_the_beginnings_of_their_names() -> None:
    assert [known.name for known in matching(["torch.sort", "heapq.nlargest of"])] == [
        "heapq.nlargest of pairs", "torch.sort", "torch.sort stable",
    ]  # fmt: skip
    assert matching([]) == all_engines()
    with pytest.raises(InputError, match=r"no engine's name begins with 'lucene'; there are .*torch\.topk"):
        matching(["torch", "lucene"])


def test_an_engine_whose_module_is_missing_says_how_to_install_it() -> None:
    absent = Engine("x", "x", PROMISE, right, modules=("no_such_module_here",), install="pip install x")
    assert absent.available().note == "no_such_module_here not installed: pip install x"


def test_an_engine_on_cuda_answers_or_says_that_it_was_not_run_here() -> None:
    pytest.importorskip("torch")
    on_cuda = engine("torch.topk on CUDA")
    if on_cuda.available():
        assert sorted(SIX[on_cuda.select(SIX, 3)]) == [8, 8, 9]
    else:
        assert on_cuda.available().note == "not run here: torch sees no CUDA device"


def test_scores_become_distances_only_where_those_are_exact() -> None:
    assert points(np.array([0.1, 0.3, 0.1])).ravel().tolist() == [1, 0, 1]
    with pytest.raises(EngineError, match="at most 4096 distinct scores, got 4097"):
        points(np.arange(4097.0))


def test_the_paths_of_this_machine_are_kept_out_of_notes() -> None:
    assert without_paths("no /usr/lib/x.so and C:\\Users\\me\\x.dll\n here") == "no PATH and PATH here"
    assert without_paths("3/4 of 10 / 20") == "3/4 of 10 / 20"


def test_the_engines_package_needs_numpy_alone() -> None:
    code = (
        "import sys, rankwork.engines as e; e.all_engines();print(*sorted({m.partition('.')[0] for m in sys.modules}))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    third_party = {"torch", "pandas", "polars", "duckdb", "jax", "onnx", "onnxruntime", "faiss", "sklearn", "scipy"}
    assert set(ran.stdout.split()) & (third_party | {"hnswlib", "bm25s", "rank_bm25", "numba", "yaml"}) == set()
