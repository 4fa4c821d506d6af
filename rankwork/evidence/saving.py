"""How an executed notebook reaches the disk while papermill runs it: whole, and no more often than it is worth.

papermill truncates its output file and writes it anew before and after each cell. A reader, or a crash, would find half
a notebook; and one with large results would spend more time on saving than on its cells.
"""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rankwork.evidence.moments import moment

ENGINE = "rankwork"
SCHEME = "scratch:"
"""The beginning of an output path that `WholeFiles` writes."""

_SHARE, _FREE = 0.05, 0.25


def install() -> None:
    """Tell papermill of `SCHEME` and `ENGINE`; paths are taken from the current folder as it is now."""
    from papermill.engines import NBClientEngine, papermill_engines
    from papermill.iorw import papermill_io

    class Engine(NBClientEngine):  # type: ignore[misc]
        """papermill's own engine with sparing saves; the last one, after the cells, always happens."""

        @classmethod
        def execute_managed_notebook(cls, manager: Any, kernel_name: str, **options: Any) -> Any:
            manager.save = Sparing(manager.save)
            try:
                return super().execute_managed_notebook(manager, kernel_name, **options)
            finally:
                del manager.save

    papermill_io.register(SCHEME, WholeFiles(Path.cwd()))
    papermill_engines.register(ENGINE, Engine)


class Sparing:
    """Calls `save`, unless saving has taken more than a quarter of a second and a twentieth of the time that passed.

    So small notebooks are saved around every cell, and large ones as often as it is worth.
    """

    def __init__(self, save: Callable[..., None]) -> None:
        self.save = save
        self.begun = time.monotonic()
        self.spent = 0.0

    def __call__(self, **changed: Any) -> None:
        """Save now, or leave it to a later call."""
        started = time.monotonic()
        if self.spent <= _FREE + _SHARE * (started - self.begun):
            self.save(**changed)
            self.spent += time.monotonic() - started


class WholeFiles:
    """Writes for papermill what a reader sees all of or none: into a file beside it, then in its place."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder  # papermill writes while it stands in the notebook's folder

    def write(self, text: str, path: str) -> None:
        """Write the text of a notebook to a path that begins with `SCHEME`."""
        target = self.folder / path.removeprefix(SCHEME)
        begun = target.with_suffix(".new")
        with begun.open("w", encoding="utf-8") as file:
            file.write(text[: len(text) // 2])
            file.flush()
            moment("while_writing")
            file.write(text[len(text) // 2 :])
        begun.replace(target)

    def pretty_path(self, path: str) -> str:
        """The path as papermill's log names it."""
        return path
