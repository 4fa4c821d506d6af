"""JSON lines of one kind of object: each line is checked, and an error names the file, the line and the field."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from rankwork.errors import InputError
from rankwork.inputs.json_lines import lines
from rankwork.inputs.refusals import refusal

Model = TypeVar("Model", bound=BaseModel)


def read_models(path: str | os.PathLike[str], model: type[Model]) -> list[Model]:
    """The objects that a file holds, one a line; InputError for a line that is none, and for a file without one."""
    name = Path(path).name
    found = [_read(line, model, f"{name} line {number}") for number, line in lines(path)]
    if not found:
        raise InputError(f"{name} is empty")
    return found


def write_models(path: str | os.PathLike[str], models: Iterable[BaseModel]) -> None:
    """Write one line for each object; fields that have their default are left out. An existing file is replaced.

    InputError for a file that cannot be written.
    """
    text = "".join(f"{model.model_dump_json(exclude_defaults=True)}\n" for model in models)
    try:
        Path(path).write_text(text, encoding="utf-8", newline="")
    except OSError as error:
        raise InputError(f"{Path(path).name} cannot be written: {error.strerror}") from error


def _read(line: bytes, model: type[Model], place: str) -> Model:
    try:
        return model.model_validate_json(line)
    except ValidationError as error:
        raise InputError(f"{place}: {refusal(error)}") from error
