"""Small files beside the records that are replaced whole: a reader, or a crash, finds the old text or the new one."""

import os
import secrets
from pathlib import Path


def replace(path: Path, text: str) -> None:
    """Put `text` in the place of a file, after its bytes have reached the disk. OSError where that is not possible."""
    begun = path.with_name(f".{path.name.lstrip('.')}.{secrets.token_hex(4)}.new")
    try:
        with begun.open("x", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        begun.replace(path)
    except BaseException:
        begun.unlink(missing_ok=True)
        raise
