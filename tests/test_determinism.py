"""The same notebook in another folder, hash seed, time zone and number of threads asks the same and gives the same."""

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from rankwork.evidence.store import read_manifest
from tests.workbooks import rankwork, workbook

ROOT = Path(__file__).parents[1]
NAMES = sorted(path.stem for path in (ROOT / "notebooks").glob("*.ipynb"))
DIGESTS = ("recipe_digest", "result_digest", "canonical_notebook")
CIRCUMSTANCES = (
    ("one", {"PYTHONHASHSEED": "1", "TZ": "Asia/Tokyo", "LC_ALL": "C", "OMP_NUM_THREADS": "1"}),
    ("two/deeper", {"PYTHONHASHSEED": "2", "TZ": "America/Lima", "LC_ALL": "C.UTF-8", "OMP_NUM_THREADS": "2"}),
)


def executed(name: str, folder: Path, variables: dict[str, str]) -> dict[str, Any]:
    """The manifest of one execution of a notebook of a workbook in these circumstances."""
    environment = os.environ | variables | {"NUMBA_NUM_THREADS": variables["OMP_NUM_THREADS"]}
    done = rankwork("run", name, "--json", *_smoke(folder, name), folder=folder, environment=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return read_manifest(Path(json.loads(done.stdout)[0]["path"]))


def _smoke(folder: Path, name: str) -> tuple[str, ...]:
    return ("--params", "smoke") if (folder / "params" / f"{name}.smoke.yaml").exists() else ()


def differing(name: str, folders: list[Path]) -> list[str]:
    """The digests that two executions do not share."""
    one, two = (
        executed(name, folder, variables) for folder, (_, variables) in zip(folders, CIRCUMSTANCES, strict=True)
    )
    return [digest for digest in DIGESTS if one[digest] != two[digest]]


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_gives_equal_digests_in_other_circumstances(name: str, tmp_path: Path) -> None:
    folders = [tmp_path / place for place, _ in CIRCUMSTANCES]
    for folder in folders:
        for part in ("notebooks", "params"):
            shutil.copytree(ROOT / part, folder / part)
    assert differing(name, folders) == []


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("import os; print(os.environ['OMP_NUM_THREADS'])", ["canonical_notebook"]),
        ("import os\nfrom rankwork import record\nrecord('n', os.environ['OMP_NUM_THREADS'])", list(DIGESTS[1:])),
        (
            "import os, time, datetime; print(hash('a'), time.tzname, os.getcwd(), datetime.datetime.fromtimestamp(0))",
            [],
        ),
    ],
)
def test_what_depends_on_circumstances_would_be_noticed(source: str, found: list[str], tmp_path: Path) -> None:
    """Threads are the notebook's own affair; hash seed, time zone and folder the runner sees to."""
    folders = [tmp_path / place for place, _ in CIRCUMSTANCES]
    for folder in folders:
        workbook(folder, source)
    assert differing("00_small", folders) == found
