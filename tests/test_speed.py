"""The measurement of speed counts what it says, with one thread, and names what it misses. No test asserts a time."""

import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from rankwork.contract import accelerator
from rankwork.contract.topk import TopK
from rankwork.engines import speed


def test_the_grid_is_the_declared_one_and_each_cell_has_a_limit() -> None:
    shapes = {rows * n for rows, n in speed.SHAPES}
    assert shapes == {10**4, 10**5, 10**6, 10**7, 8 * 2**20, 64 * 2**17, 2**22}
    cells = [(rows, n, k, name) for rows, n in speed.SHAPES for k in speed.KS if 4 * k <= n for name in speed.INPUTS]
    assert len(cells) == 161
    assert max(speed.limit(*cell) for cell in cells) == 1.25


@pytest.mark.parametrize(
    ("cell", "limit"),
    [
        ((1, 10**6, 1000, "all equal"), 0.15),
        ((1, 10**6, 1000, "ascending"), 1.05),
        ((1, 10**7, 1000, "16 levels"), 0.05),
        ((1, 10**7, 10, "descending"), 0.5),
        ((8, 1_048_576, 100, "random"), 1.05),
        ((64, 131_072, 10, "random"), 0.5),
        ((1024, 4096, 10, "random"), 0.85),
        ((1024, 4096, 1000, "random"), 1.25),
        ((4096, 1024, 100, "random"), 1.05),
        ((1, 10**7, 10, "random", "bfloat16"), 1.05),
        ((1, 10**6, 10, "random", "float32", True), 0.1875),
    ],
)
def test_the_limits_are_the_declared_ones(cell: tuple[Any, ...], limit: float) -> None:
    assert speed.limit(*cell) == pytest.approx(limit)


def test_inputs_of_a_kind_are_different_tensors_and_the_same_on_every_run() -> None:
    for name in (*speed.INPUTS, "nearly ascending"):
        tensors = speed.make_inputs(name, 2, 64)
        assert len(tensors) == speed.TENSORS
        assert all(not torch.equal(tensors[0], other) for other in tensors[1:])
        assert all(torch.equal(a, b) for a, b in zip(tensors, speed.make_inputs(name, 2, 64), strict=True))


def test_inputs_are_what_they_are_called() -> None:
    first = {name: speed.make_inputs(name, 1, 5000)[0] for name in (*speed.INPUTS, "nearly ascending")}
    assert len(first["16 levels"].unique()) == 16
    assert len(first["1,000 levels"].unique()) > 900
    assert len(first["all equal"].unique()) == 1
    assert torch.equal(first["ascending"], first["ascending"].sort().values)
    assert torch.equal(first["descending"], first["descending"].sort(descending=True).values)
    assert torch.equal(first["bfloat16-rounded"], first["bfloat16-rounded"].bfloat16().float())
    assert (first["nearly ascending"].diff() < 0).sum() == 1


def test_inputs_take_no_more_memory_than_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(speed, "MEMORY", 3 * 4 * 64)
    assert len(speed.make_inputs("random", 1, 64)) == 3


def test_the_functions_take_turns_in_rounds_over_all_tensors() -> None:
    seen: list[tuple[str, Any]] = []
    times = speed.take_turns([lambda x: seen.append(("a", x)), lambda x: seen.append(("b", x))], [0, 1, 2], 0.0)
    assert len(times) == 2
    warm = [("a", 0), ("a", 2), ("b", 0), ("b", 2)]
    turn = [(name, x) for name in "ab" for _ in ("not timed", "timed") for x in range(3)]
    assert seen == warm + turn


def test_the_threads_are_as_many_as_before() -> None:
    before = torch.get_num_threads()
    with speed.one_thread():
        assert torch.get_num_threads() == 1
    assert torch.get_num_threads() == before


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize("shuffled", [False, True])
def test_a_record_holds_its_cell_its_times_and_whether_it_missed(dtype: str, shuffled: bool) -> None:
    shown: list[Any] = []
    records = speed.grid(
        shapes=[(1, 400), (3, 64)], ks=[10, 100], dtype=dtype, shuffled_ids=shuffled, seconds=0, on_record=shown.append
    )
    assert records == shown
    assert [(r["shape"], r["k"], r["input"]) for r in records] == [
        *(("1 x 400", k, name) for name in speed.INPUTS for k in (10, 100)),
        *(("3 x 64", 10, name) for name in speed.INPUTS),
    ]
    for record in records:
        assert record["ratio"] == record["rankwork.topk"] / record["torch.topk"]
        assert record["missed"] == (record["ratio"] > record["limit"])
        assert (record["dtype"], record["ids"]) == (dtype, "shuffled" if shuffled else "by position")
    assert len(speed.missed(records)) == sum(r["missed"] for r in records)


def test_a_way_that_is_wrong_is_reported_as_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(
        accelerator.WAYS, "highest positions", lambda x, k: x.shape[1] - 1 - accelerator.by_repair(x, k)
    )
    (record,) = speed.compare_ways("cpu", shapes=[(2, 64)], ks=[3], inputs=["all equal"], seconds=0)
    assert [way for way, right in record["right"].items() if not right] == ["highest positions"]


@pytest.mark.skipif(sys.platform != "linux", reason="the peak of a process is reset through /proc")
def test_extra_memory_is_measured_in_processes_of_their_own() -> None:
    used = speed.extra_memory(1_000_000, 10)
    assert used["torch.topk"] > used["input"]
    assert used["rankwork.topk"] < used["input"] / 4


def test_the_order_of_a_corpus_is_timed_apart() -> None:
    cost = speed.order_cost(1000)
    assert set(cost) == {"n", "integer IDs", "text IDs"}


def test_every_cell_is_certified_equals_rank_and_an_exchanged_position_is_noticed() -> None:
    found = speed.verified(shapes=[(1, 400), (3, 64)], ks=[10, 100])
    assert [(cell["shape"], cell["k"]) for cell in found[:3]] == [((400,), 10), ((400,), 100), ((400,), 10)]
    for cell in [*found, *speed.verified(shapes=[(1, 400), (3, 64)], ks=[10], dtype="bfloat16", shuffled_ids=True)]:
        assert (cell["certified"], cell["equals rank"], cell["wrong noticed"]) == (True, True, True)


def test_a_long_row_is_not_given_to_the_reference() -> None:
    """It would take seconds; the certificate is asked all the same."""
    (cell,) = speed.verified(shapes=[(1, 400)], ks=[10], inputs=["random"], ranked=399)
    assert (cell["equals rank"], cell["certified"]) == (None, True)


def test_a_selection_that_breaks_ties_its_own_way_is_not_verified(monkeypatch: pytest.MonkeyPatch) -> None:
    def highest_positions(scores: Any, k: int, ids: Any = None) -> TopK:
        n = scores.shape[-1]
        return TopK(scores[..., :k], torch.arange(n - 1, n - 1 - k, -1).expand(*scores.shape[:-1], k))

    monkeypatch.setattr("rankwork.contract.topk.topk", highest_positions)
    (cell,) = speed.verified(shapes=[(1, 64)], ks=[3], inputs=["all equal"])
    assert (cell["certified"], cell["equals rank"]) == (False, False)


def test_the_first_call_can_be_timed_with_an_empty_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder of the compiled kernels is another one, and is given up afterwards."""
    folders: list[str] = []

    def run(code: str, *arguments: str, **variables: str) -> str:
        folders.append(variables.get("NUMBA_CACHE_DIR", ""))
        return "1.5"

    monkeypatch.setattr(speed, "_run", run)
    assert (speed.first_call(), speed.first_call(compiling=True)) == (1.5, 1.5)
    assert folders[0] == ""
    assert not Path(folders[1]).exists()


def test_every_format_is_measured_and_the_first_one_with_shuffled_ids_where_asked() -> None:
    cells: dict[str, Any] = {"shapes": speed.parse_shapes(["1 x 400", "3 x 64"]), "ks": [10], "inputs": ["random"]}
    found = speed.in_variants(speed.grid, ["float16", "float32"], shuffled=True, seconds=0, **cells)
    assert [(r["shape"], r["dtype"], r["ids"]) for r in found] == [
        (shape, dtype, ids)
        for dtype, ids in (("float16", "by position"), ("float32", "by position"), ("float16", "shuffled"))
        for shape in ("1 x 400", "3 x 64")
    ]
    assert {(r["dtype"], r["ids"]) for r in speed.plain(found, "float16")} == {("float16", "by position")}


def test_a_time_is_set_beside_that_of_random_scores_in_the_same_cell_only() -> None:
    cells: dict[str, Any] = {"shapes": [(1, 400)], "ks": [10, 100]}
    found = speed.grid(inputs=["16 levels", "random", "ascending"], seconds=0, **cells)
    by_cell = {(r["k"], r["input"]): r["rankwork.topk"] for r in found}
    assert speed.beside_random(found) == [
        by_cell[k, name] / by_cell[k, "random"] for name in ("16 levels", "ascending") for k in (10, 100)
    ]
    assert speed.beside_random(speed.grid(inputs=["ascending"], seconds=0, **cells)) == []


def test_the_other_costs_stand_in_one_table_and_a_small_row_has_no_goal_for_memory() -> None:
    costs = speed.other_costs(200_000, 10)
    told = [row["cost"] for row in speed.cost_rows(costs)]
    assert "first call" in told
    assert "IdOrder of 200,000 text IDs" in told
    assert ("extra memory of torch.topk for 200,000 scores" in told) == (sys.platform == "linux")
    assert speed.missed_memory(costs) == []


def test_a_missed_goal_for_memory_is_named_from_ten_million_scores_on() -> None:
    costs = {"memory": {"n": 10**7, "input": 4 * 10**7, "rankwork.topk": 4 * 10**6 + 1}}
    assert speed.missed_memory(costs) == ["extra memory: 0.100 of the scores (goal 0.1)"]
    costs["memory"]["rankwork.topk"] -= 1
    assert speed.missed_memory(costs) == []
    assert speed.missed_memory({"memory": {}}) == []


@pytest.mark.skipif(torch.cuda.is_available(), reason="with a GPU there are records")
def test_without_a_gpu_nothing_is_measured_on_one_and_that_is_said() -> None:
    found = speed.on_cuda(shapes=[(2, 64)], ks=[3], seconds=0)
    assert found == []
    assert speed.told_ways(found) == ["The selection on CUDA: not run here, torch sees no CUDA device."]


def test_of_several_ways_each_is_told_with_the_cells_in_which_it_won() -> None:
    found = speed.compare_ways("cpu", shapes=[(2, 64)], ks=[3, 10], inputs=["16 levels"], seconds=0)
    told = speed.told_ways(found)
    assert {line.split(" on cpu: ")[0] for line in told} == {record["fastest"] for record in found}
    assert all(" of 2 cells; " in line for line in told)
