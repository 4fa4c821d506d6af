"""A run and a second one: from files, or in bfloat16 where only one is given, or the digits where none is."""

from pathlib import Path

import pytest

from rankwork.errors import RankworkError
from rankwork.inputs.digits import digits
from rankwork.measures.compared_runs import compared_runs
from rankwork.measures.origins import as_type

QRELS = "q 0 a 1\nq 0 b 0\n"
RUN = "q Q0 b 1 1.001 s\nq Q0 a 2 1.0 s\n"


def written(folder: Path, **contents: str) -> dict[str, str]:
    paths = {name: folder / name for name in contents}
    for name, text in contents.items():
        paths[name].write_text(text)
    return {name: str(path) for name, path in paths.items()}


def test_without_files_the_digits_stand_in_by_two_scores() -> None:
    found = compared_runs(queries=3)
    assert found.first.rows("q0002") == digits(queries=3)[0].rows("q0002")
    assert found.second.rows("q0002") == digits(queries=3, likeness="cosine")[0].rows("q0002")
    assert list(found.given) == list(found.by_name) == ["agreement", "cosine"]


def test_a_run_alone_is_compared_with_itself_in_bfloat16(tmp_path: Path) -> None:
    found = compared_runs(*written(tmp_path, run=RUN, judgements=QRELS).values())
    assert found.second.scores.tolist() == as_type(found.first, "bfloat16").scores.tolist() == [1, 1]
    assert list(found.by_name) == ["run", "run (bfloat16)"]
    assert list(found.given) == ["run"]


def test_two_runs_are_both_given_and_the_first_has_its_ranks(tmp_path: Path) -> None:
    found = compared_runs(*written(tmp_path, run=RUN, judgements=QRELS, other=RUN.replace("1.001", "2")).values())
    assert found.second.rows("q")[0] == ("b", 2.0)
    assert list(found.given) == ["run", "other"]
    assert found.first.ranks is not None
    assert found.note is None


def test_a_rank_column_that_cannot_be_used_is_left_out_with_the_reason_unless_it_is_asked_for(tmp_path: Path) -> None:
    files = written(tmp_path, run=RUN.replace(" 2 1.0", " second 1.0"), judgements=QRELS)
    found = compared_runs(*files.values())
    assert found.first.ranks is None
    assert str(found.note).startswith("the rank column is left out: ")
    assert str(found.note) in str(found)
    with pytest.raises(RankworkError, match="rank"):
        compared_runs(*files.values(), order="rank")


def test_a_file_that_is_not_there_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(RankworkError, match="nowhere"):
        compared_runs(str(tmp_path / "nowhere"), {"q": {"a": 1}})
