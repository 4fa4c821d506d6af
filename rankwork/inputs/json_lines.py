"""JSON lines, plain or gzip: each line with its place, empty lines passed over but counted."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rankwork.errors import InputError
from rankwork.inputs.text_blocks import blocks


def lines(path: str | os.PathLike[str]) -> Iterator[tuple[int, bytes]]:
    """The lines of a file with their numbers, from 1. InputError for a file that cannot be read."""
    number = 0
    for block in blocks(path):
        for line in block.removesuffix(b"\n").split(b"\n"):
            number += 1
            if line.strip():
                yield number, line


def objects(path: str | os.PathLike[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The objects of a file, each with its place for messages. InputError, with the line, for what is no object."""
    for number, line in lines(path):
        place = f"{Path(path).name} line {number}"
        try:
            found = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise InputError(f"{place} is not JSON: {error}") from error
        if not isinstance(found, dict):
            raise InputError(f"{place}: expected a JSON object, got {type(found).__name__}")
        yield place, found
