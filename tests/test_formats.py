"""A format is judged before the selection: what it did to the scores, and then what the engine made of them."""

import numpy as np
import pytest

from rankwork.engines.formats import FORMATS, in_formats
from rankwork.engines.saved_scores import NORMAL, SavedScores, make
from rankwork.errors import ContractError


def test_a_wider_format_changes_nothing_and_a_narrower_one_makes_ties() -> None:
    rows = {row["format"]: row for row in in_formats("torch.topk", make(seed=0)[NORMAL])}
    assert list(rows) == list(FORMATS)
    distinct = [rows[name]["distinct scores"] for name in FORMATS]
    assert distinct[0] == distinct[1] > distinct[2] > distinct[3]
    assert all(rows[name]["beside the saved"] == "same order" for name in ("float64", "float32"))


def test_a_stable_engine_is_right_for_what_it_saw_even_where_the_format_changed_the_answer() -> None:
    close = SavedScores(np.array([2.0, 1.0, 1.0009766], dtype=np.float32), k=2)
    wide, narrow = in_formats("numpy.argsort stable", close, ["float32", "float16"])
    assert (wide["distinct scores"], narrow["distinct scores"]) == (3, 3)
    bfloat16 = in_formats("torch.sort stable", close, ["bfloat16"])[0]
    assert (bfloat16["distinct scores"], bfloat16["tied at the cut"]) == (2, 2)
    answers = (bfloat16["beside the saved"], bfloat16["beside the contract"])
    assert answers == ("same scores, other members", "same order")


def test_a_format_that_the_engine_does_not_take_is_refused() -> None:
    with pytest.raises(ContractError, match=r"numpy\.argpartition takes .+, got bfloat16"):
        in_formats("numpy.argpartition", make(seed=0)[NORMAL], ["bfloat16"])
