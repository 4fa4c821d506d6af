"""What several test files share: one complete record, made once by the real runner."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from rankwork.evidence import runner
from rankwork.evidence.store import Store
from tests.workbooks import workbook

RECORDING = """\
from rankwork import record
from rankwork.evidence.recording import ranked_list
print("k is", k)
record("k", k)
record("selected", ranked_list({"A": 9.0, "B": 8.0, "C": 8.0, "D": 8.0}, k))
record("seconds", 0.25, measured=True)"""


@pytest.fixture(scope="session")
def complete_record(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A complete record; do not change it, take a copy."""
    folder = tmp_path_factory.mktemp("workbook")
    request = runner.prepare(workbook(folder, RECORDING))
    return runner.run([request], Store(folder / "evidence"))[0].path


@pytest.fixture
def record_copy(complete_record: Path, tmp_path: Path) -> Callable[[], Path]:
    """Makes copies of the complete record that a test may damage."""

    def copy() -> Path:
        target = tmp_path / "copies" / str(len(list(tmp_path.glob("copies/*")))) / complete_record.name
        shutil.copytree(complete_record, target)
        return target

    return copy
