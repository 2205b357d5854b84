"""Read a text file, or say in plain words why that is impossible."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING

from pytest_irmetrics.base.files import MAX_RUN_BYTES, FileError, read_bytes
from pytest_irmetrics.golden.errors import GoldenSetError, Problem, Wrong

if TYPE_CHECKING:
    from pathlib import Path


_CONFLICT = re.compile(r"^(?:<{7}|>{7})(?![^ \n])", re.MULTILINE)


def read_text(path: Path, shown: str, limit: int = MAX_RUN_BYTES) -> str:
    r"""Read a text file, which may be packed with gzip; line ends of Windows become ``\n``. Raises GoldenSetError.

    Refused are a file that is missing, no regular file (reading a pipe would wait), of more than `limit` bytes, in another
    encoding than UTF-8, or with markers of a merge conflict.
    """
    try:
        return decode(read_bytes(path, limit))
    except FileError as error:
        raise GoldenSetError([Problem(shown, 1, 1, str(error))]) from None
    except Wrong as wrong:
        raise GoldenSetError([Problem(shown, wrong.line, wrong.column, wrong.message)]) from None


def lines_of(path: Path) -> list[str]:
    """Return a file's lines, without their ends; none if it can no longer be read."""
    with suppress(GoldenSetError):
        return lines_in(read_text(path, ""))
    return []


def lines_in(text: str) -> list[str]:
    """Return the lines of a text, without their ends."""
    return text.replace("\r", "\n").split("\n")


def decode(data: bytes) -> str:
    r"""Return the text of a file, without a byte order mark, Windows line ends as ``\n``. Raises Wrong."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\x00" in data[:2]:
        raise Wrong((1, 1), "The file is in UTF-16 or UTF-32. Save it as UTF-8.")
    try:
        text = data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8-sig", "replace").replace("\r\n", "\n")
        sign = chr(data[error.start])
        guess = f" In Latin-1 it would be {sign!r}." if sign.isprintable() else ""
        message = f"The byte 0x{ord(sign):02X} is not UTF-8.{guess} Save the file as UTF-8."
        raise Wrong(place_of(before, len(before)), message) from None
    if (conflict := _CONFLICT.search(text)) is not None:
        message = "A marker of an unresolved merge. Keep one side and remove the markers."
        raise Wrong(place_of(text, conflict.start()), message)
    if (nul := text.find("\0")) >= 0:
        message = "Here is a NUL, which no text has. Save the file as UTF-8, or name another."
        raise Wrong(place_of(text, nul), message)
    return text


def place_of(text: str, offset: int) -> tuple[int, int]:
    """Return the line and column, from 1, of an offset."""
    return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)
