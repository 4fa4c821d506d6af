"""The reference: what the workbook gave, committed, so that any other machine can say whether it gets the same.

A reference is an exported record without its report, one for each notebook and device. It is made from shipped inputs
only, with the `smoke` parameters. Every reproduction adds a line to the log beside it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from rankwork import environment
from rankwork.errors import EvidenceError
from rankwork.evidence import crate
from rankwork.evidence.comparing import compare
from rankwork.evidence.diagnosis import Comparison
from rankwork.evidence.runner import Finished
from rankwork.evidence.store import read_manifest
from rankwork.evidence.verifying import verify

_LOG_HEAD = """\
# Reproductions
What each run of the workbook with smoke parameters gave, held against the reference in this folder.

| date (UTC) | commit | machine | verdict |
|---|---|---|---|
"""


@dataclass(frozen=True)
class Reproduction:
    """One notebook, run again and held against its reference. Truthy where they say the same."""

    notebook: str
    comparison: Comparison | None
    problem: str | None = None

    def __bool__(self) -> bool:
        return self.comparison is not None and bool(self.comparison)

    @property
    def identical(self) -> bool:
        """Whether not a bit of what was compared differs."""
        found = self.comparison
        return bool(self) and found is not None and not found.found.differences and not found.figures

    @property
    def sentence(self) -> str:
        """The outcome in one line."""
        if self.comparison is None:
            return f"{self.notebook}: {self.problem}"
        verdict = "the same, bit for bit" if self.identical else "the same by the rules" if self else "DIFFERENT"
        return f"{self.notebook}: {verdict}: {self.comparison.diagnosis}"


def renew(finished: Sequence[Finished], folder: Path) -> list[str]:
    """Replace the references of this device by what was just run; a sentence for each.

    A reference whose recipe and results are those of the new record is left as it is, byte for byte. EvidenceError,
    before anything is replaced, when one of the records is not complete.
    """
    for item in finished:
        if not (verdict := verify(item.path)):
            raise EvidenceError(f"{item.notebook}: no reference can be made of it: {verdict.sentence}")
    return [_renew(item, folder) for item in finished]


def _renew(item: Finished, folder: Path) -> str:
    device = read_manifest(item.path)["recipe"]["device"]
    file = folder / device / f"{item.notebook}.zip"
    if file.is_file() and _unchanged(file, item.path):
        return f"{device}/{file.name}: as it was"
    file.parent.mkdir(parents=True, exist_ok=True)
    crate.export(item.path, file, report=False, overwrite=True)
    return f"{device}/{file.name}: renewed"


def _unchanged(file: Path, record: Path) -> bool:
    try:
        comparison = _against(file, record)
    except (EvidenceError, ValueError):
        return False
    asked = (side.manifest["recipe_digest"] for side in (comparison.a, comparison.b))
    nothing_new = not (comparison.found.differences or comparison.figures or comparison.shown)
    return bool(comparison) and len(set(asked)) == 1 and nothing_new


def _against(file: Path, record: Path) -> Comparison:
    with TemporaryDirectory(prefix="rankwork-") as scratch:
        return compare(crate.unpack(file, Path(scratch)), record)


def reproduce(finished: Sequence[Finished], folder: Path) -> list[Reproduction]:
    """Hold what was just run against the references: those of the same device, else those of a CPU."""
    return [_reproduce(item, folder) for item in finished]


def _reproduce(item: Finished, folder: Path) -> Reproduction:
    if item.status != "complete":
        return Reproduction(item.notebook, None, f"the execution is not complete: {item.status}")
    device = read_manifest(item.path)["recipe"]["device"]
    candidates = [folder / kind / f"{item.notebook}.zip" for kind in (device, "cpu")]
    file = next((path for path in candidates if path.is_file()), None)
    if file is None:
        return Reproduction(item.notebook, None, "there is no reference for it: make reference")
    return Reproduction(item.notebook, _against(file, item.path))


def log(reproductions: Sequence[Reproduction], folder: Path, workbook: Path) -> str:
    """Add a line to the log: date, commit, class of machine, verdict. Returns the line."""
    path = folder / "LOG.md"
    line = f"| {datetime.now(UTC):%Y-%m-%d %H:%M} | {_commit(workbook)} | {_machine()} | {_verdict(reproductions)} |"
    folder.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        path.write_text(_LOG_HEAD, encoding="utf-8")
    with path.open("a", encoding="utf-8") as file:
        file.write(f"{line}\n")
    return line


def _commit(workbook: Path) -> str:
    found = environment.commit(workbook)
    return f"{(found['id'] or 'no commit')[:12]}{', changed' if found['dirty'] else ''}"


def _machine() -> str:
    """The class of the machine, never its name."""
    about, versions = environment.machine(), environment.versions()
    kept = [f"{name} {versions[name]}" for name in ("python", "numpy", "torch") if name in versions]
    kind = f"{about['system']} {about['architecture']}, {about['processor']}, {about['cores']} cores"
    return ", ".join([kind, environment.device_kind(), *kept]).replace("|", "/")


def _verdict(reproductions: Sequence[Reproduction]) -> str:
    same = [each for each in reproductions if each]
    identical = sum(each.identical for each in same)
    others = [each.notebook for each in reproductions if not each]
    told = f"{len(same)} of {len(reproductions)} the same, {identical} bit for bit"
    return f"{told}; not: {', '.join(others)}" if others else told
