"""Verdicts of judges, people among them: a grade for an item, or a winner of a pair.

Model, prompt, rubric, version and the order of the prompt's fields are a judge's key: change one of them, and it is
another instrument. A verdict that failed is there, with its reason, and without a value.
"""

import csv
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, PositiveInt, ValidationError, model_validator

from rankwork.errors import ContractError, InputError
from rankwork.inputs import trec
from rankwork.inputs.models import read_models
from rankwork.inputs.refusals import refusal
from rankwork.inputs.text_blocks import whole_text

Value = int | str
Level = Literal["nominal", "ordinal", "interval"]
KEY = ("model", "prompt", "rubric", "version", "field_order")
Text = Annotated[str, Field(min_length=1)]


@dataclass(frozen=True, order=True)
class JudgeKey:
    """What makes a judge the instrument that it is.

    >>> print(JudgeKey("m1", prompt="p2", version="2026-05"))
    m1 (prompt p2, version 2026-05)
    """

    model: str
    prompt: str = ""
    rubric: str = ""
    version: str = ""
    field_order: str = ""

    def differences(self, other: "JudgeKey") -> tuple[str, ...]:
        """The parts of the key in which two judges differ."""
        return tuple(name for name in KEY if getattr(self, name) != getattr(other, name))

    def __str__(self) -> str:
        parts = [f"{name.replace('_', ' ')} {getattr(self, name)}" for name in KEY[1:] if getattr(self, name)]
        return f"{self.model} ({', '.join(parts)})" if parts else self.model


@dataclass(frozen=True)
class Scale:
    """The values that a judge may give, from lowest to highest, and what may be concluded from their order.

    ContractError for fewer than two values, a value twice, an unknown level, numbers out of order, an interval scale of
    texts.
    """

    values: tuple[Value, ...]
    level: Level = "ordinal"

    def __post_init__(self) -> None:
        if len(self.values) < 2 or len(set(self.values)) < len(self.values):
            raise ContractError(f"a scale needs at least two values, each of them once, got {list(self.values)}")
        if self.level not in ("nominal", "ordinal", "interval"):
            raise ContractError(f"level must be nominal, ordinal or interval, got {self.level!r}")
        numbers = [value for value in self.values if isinstance(value, int)]
        if numbers != sorted(numbers):
            raise ContractError(f"a scale stands from lowest to highest, got {list(self.values)}")
        if self.level == "interval" and len(numbers) < len(self.values):
            raise ContractError(f"an interval scale needs numbers, got {list(self.values)}")

    @classmethod
    def parse(cls, text: str, level: Level = "ordinal") -> Self:
        """The scale that a text names, values parted by commas; if all are whole numbers, they are numbers.

        >>> Scale.parse("0, 1, 2").values, Scale.parse("bad,good").values
        ((0, 1, 2), ('bad', 'good'))
        """
        parts = [part.strip() for part in text.split(",") if part.strip()]
        whole = all(part.removeprefix("-").isdecimal() for part in parts)
        return cls(tuple(int(part) if whole else part for part in parts), level)

    def place(self, verdict: "Verdict") -> int | None:
        """The place of a verdict's value on the scale, from 0; None where it failed. InputError for any other value."""
        if verdict.value is None:
            return None
        if verdict.value not in self.values:
            raise InputError(
                f"item {verdict.item!r}: {verdict.value!r} of {verdict.key} is off the scale {list(self.values)}"
            )
        return self.values.index(verdict.value)


class _Judged(BaseModel):
    """What the verdicts on items and on pairs have in common: the judge's key, and how often it was asked."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: Text
    prompt: str = ""
    rubric: str = ""
    version: str = ""
    field_order: str = ""
    repetition: PositiveInt = 1
    failure: str | None = None
    rationale: str = ""

    @property
    def key(self) -> JudgeKey:
        """The judge."""
        return JudgeKey(self.model, self.prompt, self.rubric, self.version, self.field_order)


class Verdict(_Judged):
    """A grade or label for one item; without a value it failed, and `failure` says why.

    `margin` is how far the judge was from its next choice, in its own units; `risk` what a wrong verdict would cost.
    Items of one `cluster` (a question, say) are no independent observations.
    """

    item: Text
    value: Value | None = None
    cluster: str = ""
    slices: tuple[str, ...] = ()
    margin: FiniteFloat | None = None
    risk: Literal["normal", "high"] = "normal"

    @model_validator(mode="after")
    def _is_one_of_two(self) -> Self:
        if (self.value is None) == (self.failure is None):
            raise ValueError(f"the verdict on {self.item!r} needs either a value or a failure with its reason")
        return self


class PairVerdict(_Judged):
    """Which of two candidates won, by the place at which it was shown; without a winner it failed."""

    pair: Text
    winner: Literal["first", "second", "tie"] | None = None

    @model_validator(mode="after")
    def _is_one_of_two(self) -> Self:
        if (self.winner is None) == (self.failure is None):
            raise ValueError(f"the verdict on pair {self.pair!r} needs either a winner or a failure with its reason")
        return self


def read_verdicts(path: str | os.PathLike[str]) -> list[Verdict]:
    """The verdicts of a file, plain or gzip, told by its content: JSON lines, CSV with a header, or TREC judgements.

    CSV has the columns `item` and `value` and any other field of `Verdict`; whole numbers become numbers, an empty cell
    is the field's default, slices are parted by spaces. InputError with the file and line for what cannot be read.
    """
    name, text = whole_text(path)
    start = text.lstrip()[:1]
    if start == b"{":
        return read_models(path, Verdict)
    return _of_csv(name, text) if b"," in text.split(b"\n", 1)[0] else trec_verdicts(path, model=name)


def read_pair_verdicts(path: str | os.PathLike[str]) -> list[PairVerdict]:
    """The verdicts on pairs of a JSON lines file. InputError with the file and line for what cannot be read."""
    return read_models(path, PairVerdict)


def trec_verdicts(path: str | os.PathLike[str], **key: str) -> list[Verdict]:
    """A TREC judgements file as verdicts of one judge: the item is query and document, the cluster the query.

    `key` names the judge: `model=`, and what else of the key is known. Errors as `trec.read_judgements`; InputError
    for a grade that is no whole number.
    """
    judged, judge = trec.read_judgements(path, negative="refuse"), _key(key)
    grades = [(query, document, g) for query in judged.queries for document, g in judged.grades_of(query).items()]
    for query, document, grade in grades:
        if grade != int(grade):
            raise InputError(f"{Path(path).name}: grade {grade} of {query} {document} is no whole number")
    return [Verdict(item=f"{q} {d}", value=int(grade), cluster=q, **judge) for q, d, grade in grades]


def _key(key: Mapping[str, str]) -> dict[str, Any]:
    unknown = [name for name in key if name not in KEY]
    if unknown or not key.get("model"):
        raise ContractError(f"a judge has {', '.join(KEY)}, the model at least; got {', '.join(key) or 'nothing'}")
    return dict(key)


def _of_csv(name: str, text: bytes) -> list[Verdict]:
    try:
        rows = csv.DictReader(StringIO(text.decode()), strict=True)
        return [_row(row, f"{name} line {rows.line_num}") for row in rows]
    except (UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{name} is no CSV in UTF-8: {error}") from error


def _row(row: Mapping[str | None, Any], place: str) -> Verdict:
    if None in row or None in row.values():
        raise InputError(f"{place}: expected {len([name for name in row if name])} cells")
    given: dict[str, Any] = {str(name): cell.strip() for name, cell in row.items() if cell.strip()}
    if "slices" in given:
        given["slices"] = tuple(given["slices"].split())
    if str(given.get("value", "")).removeprefix("-").isdecimal():
        given["value"] = int(given["value"])
    try:
        return Verdict.model_validate(given)
    except ValidationError as error:
        raise InputError(f"{place}: {refusal(error)}") from None


def of_key(verdicts: Iterable[Verdict], **key: str) -> list[Verdict]:
    """The verdicts of the judges whose key has these parts. ContractError for an unknown part, InputError for none."""
    unknown = [name for name in key if name not in KEY]
    if unknown:
        raise ContractError(f"a judge's key has {', '.join(KEY)}; there is no {unknown[0]!r}")
    everyone = list(verdicts)
    found = [each for each in everyone if all(getattr(each, name) == value for name, value in key.items())]
    if not found:
        judges = ", ".join(sorted({str(each.key) for each in everyone})) or "none"
        raise InputError(f"no verdict is of {', '.join(f'{n} {v}' for n, v in key.items())}; the judges are {judges}")
    return found
