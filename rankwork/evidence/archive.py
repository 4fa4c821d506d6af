"""One zip for one record: written with the same bytes for the same files, read with suspicion.

Whatever comes from elsewhere is checked before a byte is written: only plain files of plain names, each once, none
larger than it says, and together no more than a record can be.
"""

import os
import re
import stat
import zipfile
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path

from rankwork.errors import InputError

MOST_FILES = 32
MOST_BYTES = 1 << 30
_UNREMARKABLE = 1 << 26
_MOST_RATIO = 200
_CHUNK = 1 << 20
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_RESERVED = re.compile(r"(con|prn|aux|nul|com[0-9]|lpt[0-9])(\.|$)", re.I)
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_ENCRYPTED = 0x1
_EPOCH = (1980, 1, 1, 0, 0, 0)
_PLAIN_FILE = stat.S_IFREG | 0o644


def write(path: Path, files: Mapping[str, bytes]) -> None:
    """Write files in the order of the mapping, in one step: either the whole archive appears or nothing.

    Equal files give equal bytes with the same version of zlib: names, order, dates and permissions are fixed.
    """
    partial = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with zipfile.ZipFile(partial, "w") as archive:
            for name, data in files.items():
                archive.writestr(_entry(name), data, zipfile.ZIP_DEFLATED, 9)
        partial.replace(path)
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror}") from None
    finally:
        partial.unlink(missing_ok=True)


def _entry(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, _EPOCH)
    entry.create_system = 3  # the permissions are those of Unix, wherever it is written
    entry.external_attr = _PLAIN_FILE << 16
    return entry


def extract(path: Path, folder: Path) -> None:
    """Unpack an archive into an empty folder. InputError, before anything is written, for what a record never holds."""
    try:
        with zipfile.ZipFile(path) as archive:
            check(archive.infolist(), path)
            for entry in archive.infolist():
                _unpack(archive, entry, folder / entry.filename)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, UnicodeError) as error:
        raise InputError(f"{path.name}: not a zip that can be read: {error}") from None
    except OSError as error:
        raise InputError(f"{path.name}: {error.strerror or error}") from None


def check(entries: Iterable[zipfile.ZipInfo], path: Path) -> None:
    """InputError for the first entry that a record's archive cannot have."""
    listed = list(entries)
    if len(listed) > MOST_FILES:
        raise InputError(f"{path.name}: {len(listed)} files; a record has {MOST_FILES} at most")
    seen: set[str] = set()
    for entry in listed:
        _check_entry(entry, path.name)
        if entry.filename.lower() in seen:
            raise InputError(f"{path.name}: {entry.filename!r} is there twice")
        seen.add(entry.filename.lower())
    _check_size(sum(entry.file_size for entry in listed), sum(entry.compress_size for entry in listed), path)


def _check_entry(entry: zipfile.ZipInfo, archive: str) -> None:
    name = getattr(entry, "orig_filename", entry.filename)  # zipfile cuts a name at a zero byte
    if not _NAME.fullmatch(name) or _RESERVED.match(name) or name != entry.filename:
        raise InputError(f"{archive}: {name!r} is not the plain name of a file, without a folder")
    mode = entry.external_attr >> 16
    if stat.S_IFMT(mode) not in (0, stat.S_IFREG):  # many programs write permissions and no kind
        raise InputError(f"{archive}: {name!r} is a {_kind(mode)}; only plain files are taken")
    if entry.flag_bits & _ENCRYPTED or entry.compress_type not in _METHODS:
        raise InputError(f"{archive}: {name!r} is encrypted or packed in another way than by deflate")


def _kind(mode: int) -> str:
    return "link" if stat.S_ISLNK(mode) else "folder" if stat.S_ISDIR(mode) else "special file"


def _check_size(unpacked: int, packed: int, path: Path) -> None:
    """A bomb announces itself by its size, by its ratio, or by files that share their bytes."""
    if unpacked > MOST_BYTES:
        raise InputError(f"{path.name}: {unpacked:,} bytes unpacked; {MOST_BYTES:,} are allowed")
    if unpacked > _UNREMARKABLE and unpacked > _MOST_RATIO * packed:
        raise InputError(f"{path.name}: {packed:,} bytes unpack to {unpacked:,}, more than {_MOST_RATIO} times as many")
    if packed > path.stat().st_size:
        raise InputError(f"{path.name}: its files overlap")


def _unpack(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, target: Path) -> None:
    """Write one file, and no more than it announced."""
    left = entry.file_size
    with archive.open(entry) as source, target.open("xb") as file:
        while chunk := source.read(min(_CHUNK, left + 1)):
            left -= len(chunk)
            if left < 0:
                raise InputError(f"{archive.filename}: {entry.filename!r} is larger than it says")
            file.write(chunk)
    if left:
        raise InputError(f"{Path(str(archive.filename)).name}: {entry.filename!r} is smaller than it says")
