"""The index is one page over all records that needs nothing and runs nothing."""

import base64
import json
import re
import shutil
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from rankwork.errors import InputError
from rankwork.evidence import index
from rankwork.evidence.store import Entry, Store
from tests.rewriting import sealed, shown
from tests.workbooks import rankwork, workbook

Copy = Callable[[], Path]


def png(width: int, height: int) -> bytes:
    held = BytesIO()
    Image.new("RGB", (width, height), "orange").save(held, "PNG")
    return held.getvalue()


def figure(data: bytes) -> dict[str, Any]:
    content = {"image/png": base64.b64encode(data).decode()}
    return {"output_type": "display_data", "metadata": {}, "data": content}


def stored(store: Store, *folders: Path) -> Store:
    for folder in folders:
        shutil.copytree(folder, store.root / folder.name)
    return store


def test_every_record_has_its_line_with_a_link_to_its_report(record_copy: Copy, tmp_path: Path) -> None:
    failed = sealed(record_copy(), status="failed", reason={"type": "E", "message": "m", "cell": 1})
    store = stored(Store(tmp_path / "evidence"), record_copy(), failed)
    page = index.write(store).read_text()
    links = re.findall(r"href='([^']+)'", page)
    assert sorted(links) == sorted(f"{folder.name}/report.html" for folder in store.records())
    assert all((store.root / link).is_file() for link in links)
    assert ("<td class='complete'>complete</td>" in page, "<td class='other'>failed</td>" in page) == (True, True)
    assert "k=3" in page
    assert "<p>1 complete, 1 failed</p>" in page
    assert "rankwork verify --all" in page


def test_a_page_elsewhere_links_back_to_the_records(record_copy: Copy, tmp_path: Path) -> None:
    store = stored(Store(tmp_path / "evidence"), record_copy())
    (tmp_path / "a b'c").mkdir()
    target = index.write(store, tmp_path / "a b'c" / "records.html")
    link = re.findall(r"href='([^']+)'", target.read_text())[0]
    assert (target.parent / link).resolve() == store.records()[0] / "report.html"


def test_the_first_figure_is_shown_small(record_copy: Copy, tmp_path: Path) -> None:
    store = stored(Store(tmp_path / "evidence"), shown(record_copy(), figure(png(800, 600))))
    page = index.write(store).read_text()
    picture = re.findall(r"src='data:image/png;base64,([^']+)'", page)[0]
    with Image.open(BytesIO(base64.b64decode(picture))) as image:
        assert image.size == (160, 120)
    assert index.write(store).read_text() == page, "the same records give the same page"


def test_the_notebooks_question_is_the_link_and_its_picture_has_words(record_copy: Copy, tmp_path: Path) -> None:
    heading = {"cell_type": "markdown", "metadata": {}, "source": "# Which of *them* & why?"}
    folder = shown(record_copy(), figure(png(8, 6)))
    notebook = json.loads((folder / "notebook.ipynb").read_text())
    (folder / "notebook.ipynb").write_text(json.dumps(notebook | {"cells": [heading, *notebook["cells"]]}))
    page = index.write(stored(Store(tmp_path / "evidence"), folder)).read_text()
    assert ">Which of them &amp; why?</a>" in page
    assert 'alt="the first figure of 00_small"' in page


@pytest.mark.parametrize("content", [b"", b"no picture", png(5, 5)[:40], b"<svg onload='x()'/>"])
def test_a_figure_that_is_none_leaves_its_place_empty(record_copy: Copy, tmp_path: Path, content: bytes) -> None:
    store = stored(Store(tmp_path / "evidence"), shown(record_copy(), figure(content)))
    page = index.write(store).read_text()
    assert "<img" not in page
    assert "onload" not in page


def test_damaged_records_and_running_executions_are_listed_too(tmp_path: Path) -> None:
    store = Store(tmp_path / "evidence")
    (store.root / ("0" * 64)).mkdir(parents=True)
    with store.scratch("00_x"):
        page = index.write(store).read_text()
    assert ">damaged<" in page
    assert ">running<" in page


def test_nothing_of_a_record_can_act_in_the_page() -> None:
    hostile = Entry("<b>" * 3, "<script>1</script>", "<i>", "<u>", "'><s>", "<em>", "/nowhere/'><script>")
    page = index.page([hostile], Path("/nowhere"))
    body = page[page.index("<tbody>") :]
    assert re.findall(r"<(?!/|tbody|tr|td|div)\w+", body) == []
    assert page.index("Content-Security-Policy") < page.index("<style>")
    assert "default-src 'none'" in page
    assert re.findall(r"https?:", page) == []


def test_only_the_newest_records_have_pictures(record_copy: Copy, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index, "_WITH_PICTURES", 1)
    folder = shown(record_copy(), figure(png(10, 10)))
    entries = [Entry(folder.name, "00_x", "complete", "", "", f"2026-01-0{day}", str(folder)) for day in (1, 2)]
    page = index.page(entries, folder.parent)
    assert page.count("<img") == 1
    assert page.index("<img") < page.index("2026-01-02") < page.index("2026-01-01")


def test_a_page_that_cannot_be_written_is_one_sentence(complete_record: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="the index cannot be written"):
        index.write(Store(complete_record.parent), tmp_path / "nowhere" / "index.html")
    assert not (tmp_path / "nowhere").exists()


def test_the_command_prints_where_the_page_is(record_copy: Copy, tmp_path: Path) -> None:
    workbook(tmp_path, "print(1)")
    stored(Store(tmp_path / "evidence"), record_copy())
    done = rankwork("index", folder=tmp_path)
    assert (done.returncode, done.stdout) == (0, f"index: {tmp_path / 'evidence' / 'index.html'}\n")
    listed = json.loads(rankwork("list", "--json", folder=tmp_path).stdout)
    assert len(listed) == 1, "the page is no record"
