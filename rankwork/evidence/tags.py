"""Tags: words that people put on records. Records never change, so the tags stand beside them, in `tags.json`."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock

from rankwork.errors import EvidenceError
from rankwork.evidence import files

FILE = "tags.json"
_LOCK = ".tags.lock"
_TAG = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}")


class Tags:
    """The tags of the records of one evidence folder."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def read(self) -> dict[str, tuple[str, ...]]:
        """Record ID -> its tags in order; EvidenceError when the file is there and cannot be read."""
        try:
            kept = json.loads((self.root / FILE).read_bytes())
        except (FileNotFoundError, NotADirectoryError):
            return {}
        except (OSError, ValueError):
            kept = None
        if not isinstance(kept, dict) or not all(_is_tags(value) for value in kept.values()):
            raise EvidenceError(f"{self.root.name}/{FILE} cannot be read as tags; mend it or remove it")
        return {record: tuple(value) for record, value in kept.items()}

    def add(self, record_id: str, tags: tuple[str, ...]) -> tuple[str, ...]:
        """Put tags on a record; those it has then. EvidenceError for a tag that is no short plain word."""
        for tag in tags:
            if not _TAG.fullmatch(tag):
                raise EvidenceError(f"a tag has up to 40 letters, digits, '.', '_' and '-', got {tag!r}")
        with self.held() as kept:
            kept[record_id] = tuple(sorted({*kept.get(record_id, ()), *tags}))
            self._write(kept)
            return kept[record_id]

    def remove(self, record_id: str, tags: tuple[str, ...]) -> tuple[str, ...]:
        """Take tags off a record; those it has then. EvidenceError for a tag that it does not bear."""
        with self.held() as kept:
            old = kept.pop(record_id, ())
            if missing := sorted(set(tags) - set(old)):
                raise EvidenceError(f"record {record_id[:12]} has no tag {missing[0]!r}")
            if left := tuple(tag for tag in old if tag not in tags):
                kept[record_id] = left
            self._write(kept)
            return left

    @contextmanager
    def held(self) -> Iterator[dict[str, tuple[str, ...]]]:
        """The tags, while nobody else can change them."""
        lock = FileLock(self.root / _LOCK)
        try:
            lock.acquire()
        except OSError as error:
            raise EvidenceError(f"{self.root}: the tags cannot be written: {error.strerror}") from None
        try:
            yield self.read()
        finally:
            lock.release()

    def _write(self, tags: dict[str, tuple[str, ...]]) -> None:
        try:
            files.replace(self.root / FILE, json.dumps(tags, indent=1, sort_keys=True) + "\n")
        except OSError as error:
            raise EvidenceError(f"{self.root}: the tags cannot be written: {error.strerror}") from None


def _is_tags(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(tag, str) for tag in value)
