"""JSON lines, plain or gzip, one model a line: each line is checked, and an error names the file, line and field."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from rankwork.errors import InputError
from rankwork.inputs.text_blocks import whole_text

Model = TypeVar("Model", bound=BaseModel)


def read_models(path: str | os.PathLike[str], model: type[Model]) -> list[Model]:
    """The models that a file holds, one a line; blank lines are passed over. InputError for a line that is none."""
    name, text = whole_text(path)
    lines = ((number, line) for number, line in enumerate(text.split(b"\n"), 1) if line.strip())
    return [model_of(line, model, f"{name} line {number}") for number, line in lines]


def model_of(line: bytes | str, model: type[Model], place: str) -> Model:
    """One line's model. InputError that begins with the place, and names the field and what is wrong with it."""
    try:
        return model.model_validate_json(line)
    except ValidationError as error:
        raise InputError(f"{place}: {first_fault(error)}") from None


def first_fault(error: ValidationError) -> str:
    """The first thing that a model refused: the field, the sentence, the value."""
    fault = error.errors(include_url=False)[0]
    field = ".".join(map(str, fault["loc"]))
    value = fault["input"]
    shown = f", got {value!r:.60}" if isinstance(value, str | int | float | bool | None) else ""
    return f"{field + ': ' if field else ''}{fault['msg'].removeprefix('Value error, ')}{shown}"


def write_models(path: str | os.PathLike[str], models: Iterable[BaseModel]) -> None:
    """Write one line for each model; fields that have their default are left out. An existing file is replaced."""
    lines = (f"{model.model_dump_json(exclude_defaults=True)}\n" for model in models)
    Path(path).write_text("".join(lines), encoding="utf-8", newline="")
