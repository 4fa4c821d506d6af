"""Tags stand beside the records, and none is lost when several people put them at once."""

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from rankwork.errors import EvidenceError
from rankwork.evidence.store import Store
from rankwork.evidence.tags import FILE, Tags
from tests.stores import put


def test_a_record_has_the_tags_that_were_put_and_not_taken_off(tmp_path: Path) -> None:
    record = put(tmp_path)
    before = (tmp_path / record / "manifest.json").read_bytes()
    tags = Tags(tmp_path)
    assert tags.add(record, ("paper", "best")) == ("best", "paper")
    assert tags.add(record, ("best",)) == ("best", "paper")
    assert Store(tmp_path).entries()[0].tags == ("best", "paper")
    assert tags.remove(record, ("best",)) == ("paper",)
    assert tags.remove(record, ("paper",)) == ()
    assert tags.read() == {}
    assert (tmp_path / record / "manifest.json").read_bytes() == before


@pytest.mark.parametrize("tag", ["", "two words", "-x", "a" * 41, "é", "a/b", "a\n"])
def test_a_tag_that_is_no_short_plain_word_is_refused(tmp_path: Path, tag: str) -> None:
    with pytest.raises(EvidenceError, match="a tag has up to 40 letters"):
        Tags(tmp_path).add("a" * 64, (tag,))


def test_a_tag_that_is_not_there_cannot_be_taken_off(tmp_path: Path) -> None:
    Tags(tmp_path).add("a" * 64, ("x",))
    with pytest.raises(EvidenceError, match="record aaaaaaaaaaaa has no tag 'y'"):
        Tags(tmp_path).remove("a" * 64, ("x", "y"))
    assert Tags(tmp_path).read() == {"a" * 64: ("x",)}


@pytest.mark.parametrize("content", ["{", "[]", '{"a": "x"}', '{"a": []}', '{"a": [1]}'])
def test_tags_that_cannot_be_read_are_refused_and_left_as_they_are(tmp_path: Path, content: str) -> None:
    put(tmp_path)
    (tmp_path / FILE).write_text(content)
    for act in (lambda: Store(tmp_path).entries(), lambda: Tags(tmp_path).add("a" * 64, ("x",))):
        with pytest.raises(EvidenceError, match=r"tags\.json cannot be read as tags"):
            act()
    assert (tmp_path / FILE).read_text() == content


def test_an_evidence_folder_that_cannot_be_written_takes_no_tags(tmp_path: Path) -> None:
    (tmp_path / "evidence").write_text("a file in its place")
    with pytest.raises(EvidenceError, match="the tags cannot be written"):
        Tags(tmp_path / "evidence").add("a" * 64, ("x",))


def test_tags_that_threads_and_processes_put_at_once_are_all_kept(tmp_path: Path) -> None:
    code = "import sys; from pathlib import Path; from rankwork.evidence.tags import Tags\n"
    code += "for n in range(20): Tags(Path(sys.argv[1])).add('a' * 64, (sys.argv[2] + str(n),))"
    others = [subprocess.Popen([sys.executable, "-c", code, str(tmp_path), name]) for name in ("p", "q")]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda n: Tags(tmp_path).add("a" * 64, (f"t{n}",)), range(20)))
    assert [other.wait(60) for other in others] == [0, 0]
    expected = {f"{name}{n}" for name in "pqt" for n in range(20)}
    assert set(json.loads((tmp_path / FILE).read_text())["a" * 64]) == expected
    assert [path.name for path in tmp_path.glob("*.new")] == []
