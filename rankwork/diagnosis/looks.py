"""Looks at a holdout, counted: whoever decides by it once more has tuned on it a little.

The ledger lies beside the cases, `NAME.looks.jsonl`: one line a look, only ever added to. It goes into version control
with the cases.
"""

import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from rankwork.digest import digest
from rankwork.errors import ContractError, InputError
from rankwork.inputs.json_lines import objects
from rankwork.trace import Case, Split

GUARDED: tuple[Split, ...] = ("holdout", "blind")
_FIELDS = ("date", "what", "by", "split", "cases")


@dataclass(frozen=True)
class Look:
    """When somebody looked at results on a guarded split, for what, by which record, and at which cases (a digest)."""

    date: str
    what: str
    by: str
    split: Split
    cases: str


def ledger(cases_file: str | os.PathLike[str]) -> Path:
    """The ledger of a file of cases.

    >>> ledger("sets/kb.cases.jsonl.gz").name
    'kb.cases.looks.jsonl'
    """
    path = Path(cases_file)
    name = path.name.removesuffix(".gz")
    return path.with_name(f"{Path(name).stem}.looks.jsonl")


def read_looks(cases_file: str | os.PathLike[str]) -> tuple[Look, ...]:
    """Every look so far, in order; none where there is no ledger. InputError, with the line, for what is no look."""
    path = ledger(cases_file)
    return tuple(_look(*found) for found in objects(path)) if path.exists() else ()


def count_look(
    cases_file: str | os.PathLike[str],
    cases: Iterable[Case],
    *,
    what: str,
    by: str = "",
    now: datetime | None = None,
) -> tuple[Look, ...]:
    """Write down that results on these cases are looked at, one look for each guarded split among them; return those.

    `what` says for which decision, `by` names the record. Development cases may be looked at as often as one likes.
    ContractError for an empty `what`; InputError for a ledger that cannot be written.
    """
    if not what.strip():
        raise ContractError("a look at a holdout must say what for")
    day = (now or datetime.now(UTC)).astimezone(UTC).isoformat(timespec="seconds")
    held = list(cases)
    made = [Look(day, what, by, split, seen) for split in GUARDED if (seen := _digest(held, split))]
    if made:
        _append(ledger(cases_file), made)
    return tuple(made)


def sentence(looks: Sequence[Look], cases: Sequence[Case], split: Split = "holdout") -> str:
    """How often a split was looked at, and how often as it is now.

    >>> sentence((), [])
    'the holdout was never looked at'
    """
    of_split = [look for look in looks if look.split == split]
    if not of_split:
        return f"the {split} was never looked at"
    same = sum(look.cases == _digest(cases, split) for look in of_split)
    times = "once" if len(of_split) == 1 else f"{len(of_split)} times"
    return f"the {split} was looked at {times}, last on {of_split[-1].date[:10]}; {same} of them with these very cases"


def _digest(cases: Sequence[Case], split: Split) -> str:
    """What identifies the cases of a split, in any order; empty if there is none."""
    held = sorted(case.model_dump_json(exclude_defaults=True) for case in cases if case.split == split)
    return digest(held) if held else ""


def _append(path: Path, looks: Sequence[Look]) -> None:
    text = "".join(json.dumps(asdict(look), ensure_ascii=False) + "\n" for look in looks)
    try:
        with path.open("ab", buffering=0) as file:  # one write at the end of the file: two at once do not mix
            file.write(text.encode())
    except OSError as error:
        raise InputError(f"{path.name} cannot be written: {error.strerror}") from error


def _look(place: str, found: dict[str, object]) -> Look:
    wrong = next((name for name in _FIELDS if not isinstance(found.get(name), str)), None)
    if wrong or set(found) != set(_FIELDS) or found["split"] not in GUARDED:
        raise InputError(f"{place}: expected a look with the texts {', '.join(_FIELDS)}, and split holdout or blind")
    return Look(**found)  # type: ignore[arg-type]
