"""What differs between the recorded values of two executions, value by value, each under its rule.

Rankings are compared list by list in the three layers, tables cell by cell, arrays element by element, everything else
leaf by leaf. Nothing is skipped but what is declared as measured.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankwork.digest import canonical_json
from rankwork.errors import EvidenceError
from rankwork.evidence import recorded
from rankwork.evidence.agreement import ARRAY, EXACT, FINGERPRINT, NUMBER, RANKING, Rule, array_tolerance, close
from rankwork.evidence.layers import Layers, compare_lists

_MISSING: Any = object()
_ROWS = ("ids", "scores", "queries", "lengths")
_FINGERPRINTS = ("candidates_digest", "scores_digest")
_LONGEST = 60


@dataclass(frozen=True)
class Difference:
    """One place where two records differ: what stands there in each, the rule for it, and whether they agree by it.

    `layers` is there where the place is a list that both have, `table` where it is a cell, `moved` where both are
    numbers.
    """

    where: str
    a: str
    b: str
    rule: Rule = EXACT
    agree: bool = False
    layers: Layers | None = None
    list_missing: bool = False
    table: str | None = None
    moved: float | None = None

    @property
    def of_list(self) -> bool:
        """Whether the place is a list of documents."""
        return self.layers is not None or self.list_missing

    def __str__(self) -> str:
        note = f" ({self.layers})" if self.layers is not None else " (within the rule)" if self.agree else ""
        return f"{self.plain}{note}"

    @property
    def plain(self) -> str:
        """Place and values alone, for a question or an environment, where no rule says how far they may differ."""
        return f"{self.where}: {self.a} against {self.b}"


@dataclass
class Findings:
    """All differences in the order of the results, and how many lists, cells, single values were compared.

    `elsewhere` says that the two executions had different environments; `measured` names what was not compared.
    """

    elsewhere: bool
    differences: list[Difference] = field(default_factory=list)
    lists: int = 0
    cells: int = 0
    values: int = 0
    measured: list[str] = field(default_factory=list)

    def add(self, where: str, a: Any, b: Any, **facts: Any) -> None:
        """Note a difference; `a` and `b` are shown shortly."""
        self.differences.append(Difference(where, shown(a), shown(b), **facts))

    @property
    def agree(self) -> bool:
        """Whether every difference is one that its rule allows."""
        return all(difference.agree for difference in self.differences)


def shown(value: Any) -> str:
    """An encoded value in a few words.

    >>> shown({"kind": "fraction", "value": "1/2"}), shown([1, 2, 3]), shown(0.1)
    ('1/2', '3 items', '0.1')
    """
    if value is _MISSING:
        return "nothing"
    if recorded.kind(value) in ("fraction", "float"):
        return str(value["value"])
    if isinstance(value, (dict, list)):
        return f"a {recorded.kind(value)}" if recorded.kind(value) else f"{len(value)} items"
    text = value if isinstance(value, str) else repr(value) if isinstance(value, float) else canonical_json(value)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


def compare_results(
    a: Mapping[str, Mapping[str, Any]], b: Mapping[str, Mapping[str, Any]], elsewhere: bool
) -> Findings:
    """Compare two `results.json`; EvidenceError where one of them cannot be read.

    >>> def results(recall): return {"recall": {"name": "recall", "measured": False, "value": recall}}
    >>> [str(d) for d in compare_results(results(0.5), results(0.25), elsewhere=False).differences]
    ['recall: 0.5 against 0.25']
    >>> found = compare_results(results(0.5), results(0.5 + 1e-15), elsewhere=True)
    >>> found.agree, len(found.differences)
    (True, 1)
    """
    found = Findings(elsewhere)
    for name in dict.fromkeys([*a, *b]):
        if name not in a or name not in b:
            found.values += 1
            found.add(name, *(shown(side[name]["value"]) if name in side else "nothing" for side in (a, b)))
        else:
            _compare_entries(a[name], b[name], name, found)
    return found


def _compare_entries(a: Mapping[str, Any], b: Mapping[str, Any], name: str, found: Findings) -> None:
    try:
        measured = a["measured"], b["measured"]
        if all(measured):
            found.measured.append(name)
        elif any(measured):
            found.add(name, *("measured" if one else "not measured" for one in measured))
        else:
            compare_values(a["value"], b["value"], name, found)
    except (KeyError, TypeError, AttributeError, OverflowError) as error:
        raise EvidenceError(f"result {name!r} cannot be read: {error!r}") from None


def compare_values(a: Any, b: Any, where: str, found: Findings) -> None:
    """Compare two encoded values and everything in them."""
    kind = recorded.kind(a) if recorded.kind(a) == recorded.kind(b) else None
    if kind in recorded.RANKINGS:
        _compare_rankings(a, b, where, found)
    elif kind == "table":
        _compare_tables(a, b, where, found)
    elif recorded.form_of_numbers(a) and recorded.form_of_numbers(b):
        _compare_arrays(a, b, where, found)
    elif _is_mapping(a) and _is_mapping(b):
        _compare_mappings(a, b, where, found)
    elif isinstance(a, list) and isinstance(b, list):
        _compare_sequences(a, b, where, found)
    else:
        found.values += 1
        _compare_leaves(a, b, where, found)


def _is_mapping(value: Any) -> bool:
    """Whether a value is compared key by key; fractions and special floats are leaves."""
    return isinstance(value, dict) and recorded.kind(value) not in ("fraction", "float")


def _compare_mappings(a: Mapping[str, Any], b: Mapping[str, Any], where: str, found: Findings) -> None:
    for key in dict.fromkeys([*a, *b]):
        compare_values(a.get(key, _MISSING), b.get(key, _MISSING), f"{where}.{key}", found)


def _compare_sequences(a: list[Any], b: list[Any], where: str, found: Findings) -> None:
    if len(a) != len(b):
        found.values += 1
        found.add(where, a, b)
    for place, (one, two) in enumerate(zip(a, b, strict=False)):
        compare_values(one, two, f"{where}[{place}]", found)


def _compare_leaves(a: Any, b: Any, where: str, found: Findings, *, table: str | None = None) -> None:
    if a is not _MISSING and b is not _MISSING and canonical_json(a) == canonical_json(b):
        return
    if _is_number(a) and _is_number(b) and float in (type(a), type(b)):
        agree = NUMBER.demand(found.elsewhere) == "tolerance" and close(a, b)
        found.add(where, a, b, rule=NUMBER, agree=agree, table=table, moved=abs(a - b))
    else:
        found.add(where, a, b, table=table)


def _is_number(value: Any) -> bool:
    return type(value) in (int, float)


def _compare_rankings(a: Mapping[str, Any], b: Mapping[str, Any], where: str, found: Findings) -> None:
    """What was asked of a ranking, what identifies its candidates, then list by list."""
    _compare_mappings(_about(a), _about(b), where, found)
    _compare_leaves(_dtype(a), _dtype(b), f"{where}.scores.dtype", found)
    for key in _FINGERPRINTS:
        if a.get(key) != b.get(key):
            agree = FINGERPRINT.demand(found.elsewhere) == "reported"
            found.add(f"{where}.{key}", _beginning(a.get(key)), _beginning(b.get(key)), rule=FINGERPRINT, agree=agree)
    one, two = recorded.lists(a, where), recorded.lists(b, where)
    for query in dict.fromkeys([*one, *two]):
        _compare_lists(one.get(query), two.get(query), where if query is None else f"{where}[{query}]", found)


def _about(ranking: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in ranking.items() if key not in (*_ROWS, *_FINGERPRINTS)}


def _dtype(ranking: Mapping[str, Any]) -> Any:
    return ranking["scores"].get("dtype")


def _beginning(digest: Any) -> str:
    return str(digest)[:12]


def _compare_lists(
    a: recorded.RecordedList | None, b: recorded.RecordedList | None, where: str, found: Findings
) -> None:
    found.lists += 1
    if a is None or b is None:
        found.add(
            where, *("nothing" if side is None else f"{len(side.ids)} documents" for side in (a, b)), list_missing=True
        )
    elif not (layers := compare_lists(a, b)):
        agree = layers.agree(RANKING.demand(found.elsewhere))
        moved = layers.moved if layers.scores != "bits" else None
        rows = (_row(a, layers.first), _row(b, layers.first))
        found.add(where, *rows, rule=RANKING, agree=agree, layers=layers, moved=moved)


def _row(ranking: recorded.RecordedList, position: int | None) -> str:
    if position is None or position >= len(ranking.ids):
        return f"{len(ranking.ids)} documents"
    return f"{ranking.ids[position]} with {ranking.scores[position].item()!r} at position {position}"


def _compare_tables(a: Mapping[str, Any], b: Mapping[str, Any], where: str, found: Findings) -> None:
    """Columns by name, cells by row; a cell is any value that can be recorded."""
    if a["columns"] != b["columns"]:
        found.add(f"{where}.columns", *(", ".join(map(str, side["columns"])) for side in (a, b)), table=where)
    for column in dict.fromkeys([*a["columns"], *b["columns"]]):
        one, two = (side["data"].get(column, []) for side in (a, b))
        for row in range(max(len(one), len(two))):
            found.cells += 1
            cells = [side[row] if row < len(side) else _MISSING for side in (one, two)]
            _compare_leaves(cells[0], cells[1], f"{where}[{column}, row {row}]", found, table=where)


def _compare_arrays(a: Mapping[str, Any], b: Mapping[str, Any], where: str, found: Findings) -> None:
    found.values += 1
    if (a["dtype"], a["shape"]) != (b["dtype"], b["shape"]):
        found.add(where, *(f"{side['dtype']} of shape {side['shape']}" for side in (a, b)))
    elif a["bits"] != b["bits"]:
        one, two = recorded.array(a, where), recorded.array(b, where)
        first, moved, largest = _elements(one, two)
        agree = ARRAY.demand(found.elsewhere) == "tolerance" and moved <= array_tolerance(a["dtype"], largest)
        place = ", ".join(map(str, first))
        found.add(f"{where}[{place}]", one[first].item(), two[first].item(), rule=ARRAY, agree=agree, moved=moved)


def _elements(a: NDArray[Any], b: NDArray[Any]) -> tuple[tuple[int, ...], float, float]:
    """The first element that differs in its bits, the largest difference, the largest finite magnitude."""
    rows = [np.frombuffer(side.tobytes(), np.uint8).reshape(-1, side.dtype.itemsize) for side in (a, b)]
    first = np.unravel_index(int((rows[0] != rows[1]).any(axis=1).argmax()), a.shape)
    wide = [side.astype(np.float64) for side in (a, b)]
    with np.errstate(invalid="ignore"):
        same = (wide[0] == wide[1]) | (np.isnan(wide[0]) & np.isnan(wide[1]))
        moved = np.where(same, 0.0, np.abs(wide[0] - wide[1]))
    finite = [np.abs(side[np.isfinite(side)]) for side in wide]
    return tuple(map(int, first)), float(moved.max()), float(np.concatenate([*finite, [0.0]]).max())
