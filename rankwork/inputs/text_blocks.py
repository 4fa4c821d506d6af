"""The text of a file in blocks of whole lines, so that no more than a block need be held at a time."""

import gzip
import os
import zlib
from collections.abc import Generator, Iterator
from contextlib import closing
from pathlib import Path
from typing import IO

from rankwork.errors import InputError

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
BLOCK = 2**20  # bytes read at a time: what a processor's cache holds


def blocks(path: str | os.PathLike[str]) -> Iterator[bytes]:
    r"""The blocks of a text file, plain or gzip, told by content: no byte order mark, every line end a "\n".

    InputError for a file that cannot be read, is truncated, or is UTF-16.
    """
    for block in _blocks(path, BLOCK):
        yield block.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in block else block


def opening(path: str | os.PathLike[str], size: int = 256) -> bytes:
    """How a file begins, unpacked and without byte order mark; nothing for what is no regular file. Errors as above."""
    if Path(path).exists() and not Path(path).is_file():
        return b""  # a pipe can be read once only
    with closing(_blocks(path, size)) as found:
        return next(found, b"")


def whole_text(path: str | os.PathLike[str]) -> tuple[str, bytes]:
    """The name of a file, for messages, and its text as `blocks` gives it. InputError if there is none."""
    name, text = Path(path).name, b"".join(blocks(path))
    if not text or text.isspace():
        raise InputError(f"{name} is empty")
    return name, text


def _blocks(path: str | os.PathLike[str], size: int) -> Generator[bytes]:
    name = Path(path).name
    try:
        with open(path, "rb") as file:
            packed = file.peek(2)[:2] == b"\x1f\x8b"
            yield from _whole_lines(name, gzip.GzipFile(fileobj=file) if packed else file, size)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise InputError(f"{name} is a gzip file that is truncated or damaged: {error}") from error
    except OSError as error:
        raise InputError(f"{name} cannot be read: {error.strerror}") from error


def _whole_lines(name: str, file: IO[bytes] | gzip.GzipFile, size: int) -> Iterator[bytes]:
    block = file.read(size).removeprefix(BYTE_ORDER_MARK)
    if block.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise InputError(f"{name} is UTF-16 text: it must be UTF-8")
    while block:
        yield block + file.readline()
        block = file.read(size)
