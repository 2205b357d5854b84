"""Open and read regular files up to a size: a pipe would be waited for, a device read until memory ends."""

from __future__ import annotations

import errno
import os
import stat
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from pathlib import Path


__tracebackhide__ = True  # pytest leaves these frames out: a traceback shows the user's own lines

MAX_RUN_BYTES = 1_000_000_000
"""Of a baseline, a run or a report: some two million queries."""


class ImpossiblePathError(OSError):
    """A path with a character that no file's has: a NUL or half of a surrogate pair."""

    def __init__(self) -> None:
        super().__init__(errno.EINVAL, "no file can have this path")


class NotRegularError(OSError):
    """A path that leads to a folder, a pipe, a socket or a device."""

    def __init__(self, *, is_folder: bool) -> None:
        what = "it is a folder" if is_folder else "it is no regular file, but a pipe or a device"
        super().__init__(errno.EISDIR if is_folder else errno.EINVAL, what)
        self.is_folder = is_folder


class TooLargeError(OSError):
    """A file of more bytes than were allowed."""

    def __init__(self, limit: int) -> None:
        shown = f"{limit // 1_000_000_000} GB" if limit >= 1_000_000_000 else f"{limit // 1_000_000} MB"
        super().__init__(errno.EFBIG, f"it is larger than {shown}")
        self.shown_limit = shown
        """As `100 MB`."""


def open_regular(path: Path, limit: int) -> BinaryIO:
    """Open a regular file for reading bytes. Raises OSError, one of those above among them.

    A file may grow while it is read: the caller reads no more than `limit` bytes.
    """
    try:
        # Opening a pipe would wait for its writer, and opening some devices does something: look first.
        _require_regular(path.stat(), limit)
        file = path.open("rb")
    except ValueError:
        raise ImpossiblePathError from None
    try:
        _require_regular(os.fstat(file.fileno()), limit)
    except OSError:
        file.close()
        raise
    return file


def read_regular(path: Path, limit: int) -> bytes:
    """Return the bytes of a regular file. Raises OSError, one of those above among them."""
    with open_regular(path, limit) as file:
        data = file.read(limit + 1)
    if len(data) > limit:
        raise TooLargeError(limit)
    return data


def _require_regular(status: os.stat_result, limit: int) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise NotRegularError(is_folder=stat.S_ISDIR(status.st_mode))
    if status.st_size > limit:
        raise TooLargeError(limit)
