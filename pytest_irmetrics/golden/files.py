"""Read the bytes of a text file, or say in plain words why that is impossible; find lines and columns in it."""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from contextlib import suppress
from typing import TYPE_CHECKING

from pytest_irmetrics.base.gzipped import GZIP_MAGIC, GzipError, gunzip
from pytest_irmetrics.base.read_file import ImpossiblePathError, NotRegularError, TooLargeError, read_regular
from pytest_irmetrics.golden.errors import GoldenSetError, Problem

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path


__tracebackhide__ = True  # pytest leaves these frames out: a traceback shows the user's own lines

MAX_BYTES = 100_000_000
"""Nine times the size of a YAML file of 100,000 queries."""

_MAX_ANY_BYTES = 1_000_000_000  # no format allows more

_BREAK = re.compile(rb"\r\n?|\n")
_CONFLICT = re.compile(rb"^(?:<{7}|>{7})(?![^ \r\n])", re.MULTILINE)


def read_text_bytes(path: Path, shown: str, limit: int | None = None) -> bytes:
    """Read a text file, which may be packed with gzip, and check that it is UTF-8; return it without its byte order mark.

    `limit` is in bytes, MAX_BYTES unless given. Raises GoldenSetError for a file that is missing, no regular file
    (reading a pipe would wait), too large, in another encoding, or has markers of a merge conflict.
    """
    limit = MAX_BYTES if limit is None else limit
    try:
        data = read_regular(path, limit)
    except NotRegularError as error:
        if error.is_folder:
            raise _error(shown, "This is a folder. Name the files in it.") from None
        raise _error(shown, "This is no regular file. Write the golden set to one.") from None
    except TooLargeError as error:
        message = f"The file is larger than {error.shown_limit}. Split it into several golden sets."
        raise _error(shown, message) from None
    except ImpossiblePathError:
        raise _error(shown, "No file can have this path. Check its characters.") from None
    except (FileNotFoundError, NotADirectoryError):
        raise _error(shown, "There is no such file. Check the path.") from None
    except PermissionError:
        raise _error(shown, "The file may not be read. Check its permissions.") from None
    except OSError as error:
        raise _error(shown, f"The file cannot be read: {error.strerror or error}. Check the path.") from None
    if data.startswith(GZIP_MAGIC):
        data = _unpacked(data, shown, limit)
    if data.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\x00" in data[:2]:
        raise _error(shown, "The file is in UTF-16 or UTF-32. Save it as UTF-8.")
    data = data.removeprefix(BOM_UTF8)
    if not data.isascii():
        _check_utf8(data, shown)
    if b"<<<<<<<" in data or b">>>>>>>" in data:
        _check_conflicts(data, shown)
    return data


def read_plain_bytes(path: Path, shown: str, limit: int) -> bytes:
    """Read a text file as `read_text_bytes` does, and refuse NUL characters, which YAML's reader reports itself."""
    data = read_text_bytes(path, shown, limit)
    if b"\x00" in data:
        line, column = next(iter_places(data, [data.index(b"\x00")]))
        raise _error(
            shown, "Here is a NUL, which no text has. Save the file as UTF-8, or name another.", line, column
        )
    return data


def lines_of(path: Path) -> list[str]:
    """Return a file's lines, without their ends; none if it can no longer be read."""
    try:
        data = read_regular(path, _MAX_ANY_BYTES)
    except OSError:
        return []
    if data.startswith(GZIP_MAGIC):
        with suppress(GzipError):
            data = gunzip(data, _MAX_ANY_BYTES)
    return [line.decode("utf-8", "replace") for line in _BREAK.split(data.removeprefix(BOM_UTF8))]


def iter_places(data: bytes, offsets: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Yield the line and column (from 1, in characters) of each of some ascending offsets in UTF-8 text."""
    line, column, seen = 1, 1, 0
    for offset in offsets:
        for end in _BREAK.finditer(data, seen, offset):
            line, column, seen = line + 1, 1, end.end()
        column += len(data[seen:offset].decode("utf-8", "replace"))
        seen = offset
        yield line, column


def _error(shown: str, message: str, line: int = 1, column: int = 1) -> GoldenSetError:
    return GoldenSetError([Problem(shown, line, column, message)])


def _unpacked(data: bytes, shown: str, limit: int) -> bytes:
    try:
        return gunzip(data, limit)
    except GzipError as error:
        raise _error(
            shown, f"The file cannot be read: {error}. Pack it again, or name the unpacked file."
        ) from None


def _check_utf8(data: bytes, shown: str) -> None:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        byte = data[error.start]
        sign = chr(byte)
        guess = f" In Latin-1 it would be {sign!r}." if sign.isprintable() else ""
        line, column = next(iter_places(data, [error.start]))
        message = f"The byte 0x{byte:02X} is not UTF-8.{guess} Save the file as UTF-8."
        raise _error(shown, message, line, column) from None


def _check_conflicts(data: bytes, shown: str) -> None:
    found = iter_places(data, (match.start() for match in _CONFLICT.finditer(data)))
    message = "A marker of an unresolved merge. Keep one side and remove the markers."
    problems = [
        Problem(shown, line, column, message) for (line, column), _ in zip(found, range(100), strict=False)
    ]
    if problems:
        raise GoldenSetError(problems)
