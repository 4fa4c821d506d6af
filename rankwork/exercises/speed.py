"""The exercises about speed."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from rankwork.contract.certificate import certify
from rankwork.contract.reference import rank
from rankwork.evidence.runner import workbook
from rankwork.evidence.store import Store
from rankwork.evidence.verifying import verify
from rankwork.exercises.base import Exercise, same_number


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
    return same_number(answer, min(range(1, n + 1), key=lambda size: n / size + k * size))


def _record_of_an_own_contract(answer: Any) -> bool:
    """Whether a record, named by its ID or its folder, is complete and intact, and keeps a contract and a ranking."""
    folder = Path(answer) if Path(answer).is_dir() else Store(workbook(Path.cwd()) / "evidence").find(str(answer))
    results = {name: each["value"] for name, each in json.loads((folder / "results.json").read_bytes()).items()}
    declared = results.get("contract")
    ranked = any(isinstance(value, dict) and value.get("kind") == "ranking" for value in results.values())
    return bool(verify(folder)) and isinstance(declared, dict) and {"policy", "last"} <= set(declared) and ranked


EXERCISES: Mapping[str, Exercise] = {
    "11.1": Exercise(
        "(scores, k, size), such as ([3, 1, 2], 1, 2)",
        _lost_by_the_highest_index,
        hints=(
            "Two blocks with equal maxima are enough, and k = 1.",
            "The contract takes the lowest position. Which block holds it, and which goes first now?",
        ),
    ),
    "11.2": Exercise(
        "(scores, indices), such as ([3, 1, 2], [0, 2])",
        _breaks_only_tied,
        hints=(
            "*Tied* fails when an equal score at a lower position was passed over.",
            "Two equal scores and k = 1 are enough.",
        ),
    ),
    "11.3": Exercise(
        "a number of scores",
        _block_of_a_million,
        hints=(
            "The sum has one part that falls with B and one that grows with it.",
            "It is smallest where both parts are equal: n/B = kB.",
        ),
    ),
    "11.4": Exercise(
        "a beginning of a record's ID, or its folder",
        _record_of_an_own_contract,
        hints=(
            (
                "`rankwork new NAME` makes the notebook, its schema and its two sets of parameters. Put your "
                "own rows in place of the six."
            ),
            "`rankwork run NAME` keeps the record and prints the beginning of its ID.",
            (
                "The record must hold a `contract` with its `policy` and its `last` key, and a ranking made "
                "with `ranked_list`."
            ),
        ),
    ),
}
