"""What a reader meets in a real browser: notebooks that run and move, nothing asked of other machines, no barrier.

Skipped, with the reason, where there is no Chromium or its driver is not installed.
"""

import importlib.util
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest

from rankwork.evidence import recording
from rankwork.evidence.store import Store

ROOT = Path(__file__).parents[1]
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
DRIVER = importlib.util.find_spec("playwright") and importlib.util.find_spec("axe_playwright_python")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not CHROMIUM, reason="no Chromium on this machine"),
    pytest.mark.skipif(not DRIVER, reason="the extra `browser` is not installed"),
]
PATIENCE = 120
"""Seconds after which something will not come any more: many times what it takes on a machine with nothing else."""

FIRST = "00_start_here"
SLIDERS = "from rankwork import explore\nexplore.selection()"
SERIOUS = ("serious", "critical")


@dataclass(frozen=True)
class Lab:
    """A JupyterLab that is running: its address and the workbook that it shows."""

    address: str
    folder: Path

    def notebook(self, name: str) -> Path:
        return self.folder / "notebooks" / f"{name}.ipynb"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    """A page that notes every address that is asked for."""
    opened = browser.new_page(viewport={"width": 1300, "height": 1200})
    opened.set_default_timeout(PATIENCE * 1000)
    opened.asked = []
    opened.on("request", lambda request: opened.asked.append(request.url))
    yield opened
    opened.close()


def elsewhere(page: Any) -> list[str]:
    """The addresses off this machine that were asked for."""
    here = re.compile(r"(?:https?|wss?)://(?:127\.0\.0\.1|localhost)[:/]|data:|blob:|file:|about:|chrome")
    return [address for address in page.asked if not here.match(address)]


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """`rankwork lab` over a copy of the workbook, for a reader who has no settings yet."""
    folder, home = tmp_path_factory.mktemp("workbook"), tmp_path_factory.mktemp("home")
    for name in ("notebooks", "params"):
        shutil.copytree(ROOT / name, folder / name)
    _write_sliders(folder / "notebooks" / "sliders.ipynb")
    port = _free_port()
    command = [sys.executable, "-m", "rankwork.cli", "lab", "--no-browser", "--allow-root", f"--port={port}"]
    new_reader = {f"JUPYTER_{kind}_DIR": str(home / kind) for kind in ("CONFIG", "DATA", "RUNTIME")}
    with (home / "lab.log").open("wb") as log:
        server = subprocess.Popen(
            [*command, "--IdentityProvider.token="], cwd=folder, env=os.environ | new_reader, stdout=log, stderr=log
        )
    try:
        until(lambda: _answers(f"http://127.0.0.1:{port}/api"), "JupyterLab does not answer")
        yield Lab(f"http://127.0.0.1:{port}", folder)
    finally:
        server.terminate()
        server.wait(30)


def _write_sliders(path: Path) -> None:
    import nbformat

    cell = nbformat.v4.new_code_cell(SLIDERS)  # type: ignore[no-untyped-call]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    book = nbformat.v4.new_notebook(cells=[cell], metadata={"kernelspec": kernel})  # type: ignore[no-untyped-call]
    nbformat.write(book, path)  # type: ignore[no-untyped-call]


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def _answers(address: str) -> bool:
    try:
        with urlopen(address, timeout=5):
            return True
    except OSError:
        return False


def until(holds: Callable[[], bool], otherwise: str) -> None:
    limit = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < limit, otherwise
        time.sleep(0.2)


def run_all_from_the_menu(page: Any) -> None:
    """Run > Run All Cells, once the kernel is there: before, JupyterLab would ask for one."""
    page.get_by_text(re.compile(r"\| Idle")).wait_for()
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.get_by_text("Run All Cells", exact=True).click()


def saved_when_done(page: Any, path: Path) -> dict[str, Any]:
    """The notebook as JupyterLab saves it once all of its cells have run."""
    notebook: dict[str, Any] = {}

    def done() -> bool:
        page.keyboard.press("Control+s")
        page.wait_for_timeout(500)
        with suppress(ValueError):  # it is being written
            notebook.update(json.loads(path.read_bytes()))
        return bool(notebook) and all(cell["execution_count"] for cell in _code_cells(notebook))

    until(done, f"{path.name} does not come to its end")
    return notebook


def _code_cells(notebook: dict[str, Any]) -> list[dict[str, Any]]:
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code" and cell["source"]]


def recorded(notebook: dict[str, Any]) -> dict[str, Any]:
    """The recorded values by name, those declared as measured left out; a browser saves 1.0 as 1, which is equal."""
    kept = recording.collect(notebook)
    return {name: entry["value"] for name, entry in kept.items() if not entry["measured"]}


def by_papermill(notebook: Path, folder: Path) -> dict[str, Any]:
    """The notebook as the papermill command executes it, started in a folder of its own."""
    folder.mkdir()
    command = [sys.executable, "-m", "papermill", str(notebook), "out.ipynb", "--no-progress-bar"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    return dict(json.loads((folder / "out.ipynb").read_bytes()))


def by_runner(notebook: Path, folder: Path) -> dict[str, Any]:
    from rankwork.evidence import runner

    finished = runner.run([runner.prepare(notebook)], Store(folder))[0]
    return dict(json.loads((finished.path / "notebook.ipynb").read_bytes()))


def test_lab_opens_the_first_notebook_without_a_prompt_and_its_results_are_those_of_every_other_way(
    lab: Lab, page: Any, tmp_path: Path
) -> None:
    source = ROOT / "notebooks" / f"{FIRST}.ipynb"
    with ThreadPoolExecutor() as others:
        by = [others.submit(by_runner, source, tmp_path / "evidence")]
        by += [others.submit(by_papermill, source, tmp_path / "elsewhere")]
        page.goto(lab.address)
        page.get_by_role("heading", name="Four documents").first.wait_for()
        run_all_from_the_menu(page)
        from_the_menu = saved_when_done(page, lab.notebook(FIRST))
    assert page.locator(".jp-Dialog, .Toastify__toast").all_inner_texts() == []
    assert elsewhere(page) == []
    ended = [output["output_type"] for cell in _code_cells(from_the_menu) for output in cell["outputs"]]
    assert "error" not in ended
    assert recorded(from_the_menu)
    assert [recorded(each.result()) for each in by] == [recorded(from_the_menu)] * 2


def test_a_slider_moves_the_figure(lab: Lab, page: Any) -> None:
    page.goto(f"{lab.address}/lab/workspaces/sliders/tree/notebooks/sliders.ipynb")
    page.locator(".jp-CodeCell").first.wait_for()
    run_all_from_the_menu(page)
    figure = page.locator(".jp-OutputArea img")
    figure.wait_for()
    before = figure.get_attribute("src")
    handle = page.get_by_role("slider").first
    handle.focus()
    handle.press("ArrowRight")
    until(lambda: figure.get_attribute("src") != before, "the figure stays as it was")
    assert elsewhere(page) == []


@pytest.fixture(scope="module")
def shown_records(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """A record with all that a report can show, and one of an execution that failed."""
    from rankwork.evidence import runner
    from tests.workbooks import workbook

    folder = tmp_path_factory.mktemp("shown")
    store = Store(folder / "evidence")
    books = [workbook(folder, SHOWN), workbook(folder, FAILING, name="01_failing")]
    runner.run([runner.prepare(book) for book in books], store)
    return store


SHOWN = """\
# every kind of output
import pandas as pd
from IPython.display import Markdown, display
from rankwork import plots, record, recall_range
record("recall", recall_range([("A", 2.0), ("B", 1.0), ("C", 1.0)], {"B"}, 2))
record("a_text", "of several words, " * 9)
record("half", 0.5)
display(Markdown("A [link](https://example.invalid/), `code` and $k$."))
display(pd.DataFrame({f"a long column name {n}": ["value " * 5] for n in range(20)}))
display(plots.boundary([("A", 2.0), ("B", 1.0), ("C", 1.0)], 2))
print("a line without an end " * 30)
print("the selection on CUDA: not run here, torch sees no CUDA device.")"""
FAILING = """\
import warnings
warnings.warn("this comes out " * 20)
1 / 0"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1300, 390])
def test_the_reports_and_the_index_ask_nobody_and_have_no_serious_barrier(
    shown_records: Store, page: Any, scheme: str, width: int
) -> None:
    from rankwork.evidence import index

    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 1000})
    reports = [folder / "report.html" for folder in shown_records.records()]
    for shown in (*reports, index.write(shown_records)):
        page.goto(shown.as_uri())
        assert barriers(page) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width, "nothing stands out of the page"
    assert elsewhere(page) == []


def test_on_paper_all_of_a_report_is_there_and_no_figure_is_cut(shown_records: Store, page: Any) -> None:
    page.emulate_media(media="print", color_scheme="dark")
    page.set_viewport_size({"width": 700, "height": 1000})
    for folder in shown_records.records():
        page.goto((folder / "report.html").as_uri())
        cut = page.evaluate(CUT_OFF)
        assert cut == []
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        assert page.evaluate(
            "[...document.querySelectorAll('figure')].every(x => getComputedStyle(x).breakInside === 'avoid')"
        )


CUT_OFF = """() => [...document.querySelectorAll('pre, p, img')]
  .filter(x => x.getBoundingClientRect().right > window.innerWidth + 1).map(x => x.outerHTML.slice(0, 200))"""


def test_a_barrier_and_a_foreign_address_are_noticed(page: Any, tmp_path: Path) -> None:
    bad = tmp_path / "bad.html"
    bad.write_text("<html><body><img src='http://example.invalid/x.png'><p style='color:#eee'>faint</p></body></html>")
    page.goto(bad.as_uri())
    assert {"image-alt", "color-contrast"} <= {name for name, _ in barriers(page)}
    assert elsewhere(page) == ["http://example.invalid/x.png"]


def barriers(page: Any) -> list[tuple[str, str]]:
    """The serious faults that axe finds: their names and where they stand."""
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page).response["violations"]
    return [(each["id"], node["html"][:200]) for each in found if each["impact"] in SERIOUS for node in each["nodes"]]
