"""Two records against each other, from their own bytes: what was asked, what came out, and where.

Neither kernel nor GPU is needed: a machine with a GPU and one without compare through what they left. What came out is
compared value by value under the rules of `rankwork.evidence.agreement`; the diagnosis says it in one sentence.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from rankwork.digest import digest_bytes
from rankwork.errors import EvidenceError
from rankwork.evidence import manifest
from rankwork.evidence.agreement import FIGURE
from rankwork.evidence.diagnosis import Comparison, Side
from rankwork.evidence.findings import Difference, compare_results, shown
from rankwork.evidence.manifest import MEASURED_TAG
from rankwork.evidence.pictures import Picture, pictures
from rankwork.evidence.store import read_manifest
from rankwork.evidence.verifying import verify

_REPORT = "report.html"


def compare(a: Path, b: Path) -> Comparison:
    """Compare two record folders; EvidenceError where one cannot be read as a record."""
    one, two = read(a), read(b)
    try:
        return _compare(one, two)
    except (KeyError, TypeError, AttributeError, ValueError, RecursionError) as error:
        raise EvidenceError(f"{a.name[:12]} and {b.name[:12]} cannot be compared: {error!r}") from None


def _compare(a: Side, b: Side) -> Comparison:
    environment = tuple(_environment(a.manifest, b.manifest))
    elsewhere = any(_decides(difference.where) for difference in environment)
    figures = _figures(a, b, elsewhere)
    question = tuple(_question(a.manifest, b.manifest))
    return Comparison(
        a,
        b,
        asked=tuple(each for each in question if each.agree),
        deciding=tuple(each for each in question if not each.agree),
        environment=environment,
        found=compare_results(a.results, b.results, elsewhere),
        figures=figures,
        figure_count=max(len(_comparable_pictures(side)) for side in (a, b)),
        shown=tuple(_shown(a.notebook, b.notebook)),
        informative=tuple(_fields(a.manifest, b.manifest, "informative")),
    )


def read(folder: Path) -> Side:
    """A record read and verified; its folder may bear any name, and an exported one may lack the report."""
    kept = read_manifest(folder)
    try:
        verdict = verify(folder, without=(_REPORT,))
        results, notebook = (_json(folder / name) for name in ("results.json", "notebook.ipynb"))
    except (OSError, KeyError, TypeError, AttributeError, ValueError, RecursionError) as error:
        raise EvidenceError(f"{folder.name[:12]} has not the form of a record: {error!r}") from None
    wrong = [f"{check.name}: {check.found}" for check in verdict.checks if not check.holds and check.name != "name"]
    record_id = digest_bytes((folder / "manifest.json").read_bytes())
    return Side(record_id, kept, results, notebook, "; ".join(wrong) or None)


def _json(path: Path) -> dict[str, Any]:
    return dict(json.loads(path.read_bytes()))


def _question(a: Mapping[str, Any], b: Mapping[str, Any]) -> Iterator[Difference]:
    """The parts of the recipe that are not the environment, and the fields that must be equal.

    Another source or other library code is told: what came out decides. Another notebook, parameter or input is
    another question, whatever came out.
    """
    yield from _fields(a, b, "exact")
    for part, decides in (("parameters", True), ("inputs", True), ("source", False), ("library", False)):
        one, two = a["recipe"][part], b["recipe"][part]
        pairs = _flat({part: one}, {part: two}) if isinstance(one, dict) else [(part, one[:12], two[:12])]
        yield from (_difference(name, x, y, agree=not decides) for name, x, y in pairs if x != y)


def _fields(a: Mapping[str, Any], b: Mapping[str, Any], comparison: str) -> Iterator[Difference]:
    for field in manifest.FIELDS:
        one, two = a.get(field.name), b.get(field.name)
        if field.comparison == comparison and one != two:
            yield _difference(field.name, one, two, agree=comparison == "informative")


def _difference(where: str, a: Any, b: Any, *, agree: bool) -> Difference:
    return Difference(where, shown(a), shown(b), agree=agree)


def _environment(a: Mapping[str, Any], b: Mapping[str, Any]) -> Iterator[Difference]:
    """Versions, device, machine, threads and settings that differ; of the kernel, or of the recipe where it died."""
    one, two = (_surroundings(side) for side in (a, b))
    for name, x, y in _flat(one, two):
        if x != y:
            yield _difference(name, x, y, agree=True)


def _surroundings(kept: Mapping[str, Any]) -> dict[str, Any]:
    asked, found = kept["recipe"], kept.get("environment") or {}
    versions = {**found.get("versions", {}), **asked["versions"]}
    rest = {name: value for name, value in found.items() if name not in ("versions", "device")}
    return {"versions": versions, "device": asked["device"], **rest}


_TOOLS_AND_SETTINGS = ("threads.", "determinism.", "machine.cores")


def _decides(name: str) -> bool:
    """Whether a difference makes it another environment: what numbers may depend on, threads and tools excepted."""
    from rankwork.environment import TOOLS

    return not name.startswith(_TOOLS_AND_SETTINGS) and name.removeprefix("versions.") not in TOOLS


def _flat(a: Mapping[str, Any], b: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any, Any]]:
    """The leaves of two mappings under their dotted names; what one lacks is None."""
    for key in dict.fromkeys([*a, *b]):
        one, two = a.get(key), b.get(key)
        if isinstance(one, dict) or isinstance(two, dict):
            yield from _flat(one or {}, two or {}, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", one, two


def _comparable_pictures(side: Side) -> list[Picture]:
    """The figures of a side, without those of cells that show what was measured: times never repeat."""
    cells = side.notebook["cells"]
    return [
        each
        for each in pictures(side.notebook)
        if MEASURED_TAG not in cells[each.cell].get("metadata", {}).get("tags", ())
    ]


def _figures(a: Side, b: Side, elsewhere: bool) -> tuple[Difference, ...]:
    """Figures one by one, in the order in which they were shown, by their bytes."""
    one, two = _comparable_pictures(a), _comparable_pictures(b)
    agree = FIGURE.demand(elsewhere) == "reported"
    differences = []
    for number in range(max(len(one), len(two))):
        shown_in = [side[number] if number < len(side) else None for side in (one, two)]
        digests = [picture.digest[:12] if picture else "nothing" for picture in shown_in]
        if digests[0] != digests[1]:
            cell = next(picture.cell for picture in shown_in if picture)
            both = None not in shown_in
            where = f"figure {number + 1} in cell {cell}"
            differences.append(Difference(where, digests[0], digests[1], rule=FIGURE, agree=agree and both))
    return tuple(differences)


def _shown(a: Mapping[str, Any], b: Mapping[str, Any]) -> Iterator[int]:
    """The cells whose displayed text or tables differ; recorded values and figures are compared elsewhere."""
    one, two = (manifest.canonical_notebook(side)["cells"] for side in (a, b))
    for number in range(max(len(one), len(two))):
        cells = [_displayed(side[number][2]) if number < len(side) else None for side in (one, two)]
        if cells[0] != cells[1]:
            yield number


def _displayed(outputs: Sequence[Any]) -> list[Any]:
    kept = []
    for output in outputs:
        if output[0] != "data":
            kept.append(output)
        elif manifest.RESULT_MIME not in output[1]:
            kept.append(["data", {mime: text for mime, text in output[1].items() if not mime.startswith("image/")}])
    return kept
