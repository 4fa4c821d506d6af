"""The reference is what another machine is held against: small, whole but for the report, and checked like a record."""

import json
import os
import re
from pathlib import Path

import pytest

from rankwork.errors import EvidenceError
from rankwork.evidence import crate, reproducing, runner
from rankwork.evidence.comparing import compare
from rankwork.evidence.store import Store
from tests.workbooks import rankwork, workbook

ROOT = Path(__file__).parents[1]
REFERENCE = ROOT / "evidence" / "reference"
SOURCE = """\
import os
from rankwork import record
from rankwork.evidence.recording import ranked_list
last = os.environ.get("RANKWORK_TEST_LAST", "C")
record("selected", ranked_list({"A": 9.0, "B": 8.0, last: 8.0}, k))
if last == "fail":
    raise ValueError(last)"""
REFERENCES = sorted(REFERENCE.glob("*/*.zip"))


def book(folder: Path) -> Path:
    path = workbook(folder, SOURCE)
    (folder / "params" / "00_small.smoke.yaml").write_text("k: 3  # all of them\n")
    return path


def with_last(document: str) -> dict[str, str]:
    return os.environ | {"RANKWORK_TEST_LAST": document}


def test_a_reference_is_made_verified_and_logged(tmp_path: Path) -> None:
    book(tmp_path)
    folder = tmp_path / "evidence" / "reference"
    made = rankwork("reference", "--renew", folder=tmp_path)
    assert (made.returncode, made.stdout) == (0, "cpu/00_small.zip: renewed\n")
    before = (folder / "cpu" / "00_small.zip").read_bytes()
    again = rankwork("reference", "--renew", folder=tmp_path)
    assert (again.stdout, (folder / "cpu" / "00_small.zip").read_bytes()) == ("cpu/00_small.zip: as it was\n", before)
    verified = rankwork("reference", folder=tmp_path)
    assert verified.returncode == 0, verified.stdout
    assert "00_small: the same, bit for bit: same scores bit for bit in 1 list" in verified.stdout
    other = rankwork("reference", "--json", folder=tmp_path, environment=with_last("D"))
    assert other.returncode == 1
    assert json.loads(other.stdout)[0]["same"] is False
    assert "members differ in 1 of 1 list, inside the tie group at the cut" in json.loads(other.stdout)[0]["sentence"]
    lines = (folder / "LOG.md").read_text().splitlines()
    assert len([line for line in lines if re.match(r"\| \d{4}-\d\d-\d\d \d\d:\d\d \| no commit \| Linux", line)]) == 2
    assert lines[-2].endswith("| 1 of 1 the same, 1 bit for bit |")
    assert lines[-1].endswith("| 0 of 1 the same, 0 bit for bit; not: 00_small |")
    renewed = rankwork("reference", "--renew", folder=tmp_path, environment=with_last("D"))
    assert renewed.stdout == "cpu/00_small.zip: renewed\n"
    assert (folder / "cpu" / "00_small.zip").read_bytes() != before


def test_no_reference_is_made_of_a_failed_execution_and_none_is_lost(tmp_path: Path) -> None:
    book(tmp_path)
    rankwork("reference", "--renew", folder=tmp_path)
    file = tmp_path / "evidence" / "reference" / "cpu" / "00_small.zip"
    before = file.read_bytes()
    failed = rankwork("reference", "--renew", folder=tmp_path, environment=with_last("fail"))
    assert (failed.returncode, file.read_bytes()) == (2, before)
    assert "no reference can be made of it" in failed.stderr
    held = rankwork("reference", folder=tmp_path, environment=with_last("fail"))
    assert held.returncode == 1
    assert "the execution is not complete: failed" in held.stdout


def test_a_notebook_without_a_reference_is_found_wanting(tmp_path: Path) -> None:
    book(tmp_path)
    done = rankwork("reference", folder=tmp_path)
    assert done.returncode == 1
    assert "00_small: there is no reference for it: make reference" in done.stdout


def test_a_damaged_reference_is_refused_and_can_be_renewed(tmp_path: Path) -> None:
    store = Store(tmp_path / "evidence")
    finished = runner.run([runner.prepare(book(tmp_path))], store)
    folder = tmp_path / "reference"
    reproducing.renew(finished, folder)
    file = folder / "cpu" / "00_small.zip"
    file.write_bytes(file.read_bytes()[:-30])
    with pytest.raises(ValueError, match="not a zip that can be read"):
        reproducing.reproduce(finished, folder)
    assert reproducing.renew(finished, folder) == ["cpu/00_small.zip: renewed"]
    assert reproducing.reproduce(finished, folder)[0]


def test_a_renewal_that_meets_an_incomplete_record_replaces_nothing(tmp_path: Path, complete_record: Path) -> None:
    complete = runner.Finished("00_small", complete_record.name, complete_record, "complete", None)
    failed = runner.run([runner.prepare(workbook(tmp_path, "raise ValueError"))], Store(tmp_path / "evidence"))
    with pytest.raises(EvidenceError, match="no reference can be made of it"):
        reproducing.renew([complete, *failed], tmp_path / "reference")
    assert not (tmp_path / "reference").exists()


def test_the_committed_references_are_small_and_one_for_each_notebook() -> None:
    assert sum(path.stat().st_size for path in REFERENCE.rglob("*") if path.is_file()) < 4_000_000
    notebooks = {path.stem for path in (ROOT / "notebooks").glob("*.ipynb")}
    assert {path.stem for path in REFERENCE.glob("cpu/*.zip")} == notebooks
    assert (REFERENCE / "LOG.md").is_file()


@pytest.mark.parametrize("file", REFERENCES, ids=[f"{path.parent.name}/{path.stem}" for path in REFERENCES])
def test_a_committed_reference_is_what_its_execution_left(file: Path, tmp_path: Path) -> None:
    record = crate.unpack(file, tmp_path)
    found = compare(record, record)
    assert found, found.diagnosis
    assert found.a.manifest["status"] == "complete"
    assert (found.a.manifest["notebook"], found.a.manifest["recipe"]["device"]) == (file.stem, file.parent.name)
    assert found.a.manifest["recipe"]["inputs"] == {}, "made from shipped inputs only"
