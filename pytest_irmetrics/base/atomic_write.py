"""Write a file so that it is at any moment the old one or the new one, never a part, whatever happens to the writer.

The data goes to a temporary file in the same folder, is flushed to the disk and moved into place. The writer holds a
lock on its temporary file, which ends with its process, however that ends: a temporary file without a lock is one that
a dead writer left, and the next writer removes it.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
import stat
import time
from pathlib import Path

from pytest_irmetrics.base.errors import IRMetricsError
from pytest_irmetrics.base.wording import printable

try:
    import fcntl
except ImportError:  # Windows, where nobody can delete a file that a writer has open: no lock is needed
    fcntl = None  # type: ignore[assignment]

_TEMPORARY = re.compile(r"\.ir-writing-[0-9a-f]{16}\.tmp")
_SECONDS_PER_DAY = 24 * 60 * 60.0
_ATTEMPTS = 5


class WriteError(IRMetricsError, ValueError):
    """A file that cannot be written; says what is wrong with which file and what to do."""


def write_whole(path: Path, data: bytes, *, again: str = "write it again", shown: str | None = None) -> bool:
    """Write a user's file, whole or not at all, unless it has this content; return whether it was written.

    Makes the folders that it takes, follows links and keeps the file's mode. Raises WriteError, and then the file is
    as it was; `again` says what to do once the cause is mended, and `shown` is how the error calls the file.
    """
    real = Path(os.path.realpath(path))
    where = printable(str(path) if shown is None else shown)
    try:
        mode = _mode(real)
        if mode is not None:
            if not stat.S_ISREG(mode):
                raise WriteError(f"{where}: is not a file. Move it out of the way, and {again}.")
            if real.read_bytes() == data:
                return False
            if not mode & 0o222 or not os.access(real, os.W_OK):
                raise WriteError(f"{where}: is read-only. Make it writable (`chmod u+w`), and {again}.")
        _replace(real, data, mode)
    except OSError as error:
        raise WriteError(
            f"{where}: cannot be written: {error.strerror or error}. What was there is as it was. Mend that, and {again}."
        ) from None
    return True


def write_output(path: Path, data: bytes) -> None:
    """Write a file that a program makes anew each time, whole or not at all; a device or a pipe is written to.

    Makes the folders that it takes, follows links and keeps the file's mode. Raises OSError, and then the file is as it
    was.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    mode = _mode(path)
    if mode is not None and not stat.S_ISREG(mode):  # such as /dev/stdout
        path.write_bytes(data)
    else:
        _replace(Path(os.path.realpath(path)), data, mode)


def _mode(path: Path) -> int | None:
    try:
        return path.stat().st_mode
    except FileNotFoundError:
        return None


def _replace(real: Path, data: bytes, mode: int | None) -> None:
    real.parent.mkdir(parents=True, exist_ok=True)
    _remove_abandoned_in(real.parent)
    for _ in range(_ATTEMPTS):
        temporary = real.with_name(f".ir-writing-{secrets.token_hex(8)}.tmp")
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        descriptor = os.open(temporary, flags, 0o666)
        moved = False
        try:
            with open(descriptor, "wb") as file:  # noqa: PTH123 - a descriptor, not a path
                if not _lock(file.fileno(), temporary):
                    continue
                file.write(data)
                file.flush()
                if mode is not None:
                    temporary.chmod(stat.S_IMODE(mode))
                os.fsync(file.fileno())
                if fcntl is not None:  # as long as the lock is held; Windows moves closed files only
                    temporary.replace(real)
                    moved = True
            if not moved:
                temporary.replace(real)
                moved = True
        finally:
            if not moved:
                with contextlib.suppress(OSError):
                    temporary.unlink()
        _flush_folder(real.parent)
        return
    raise OSError(errno.EBUSY, "another process keeps removing the temporary file")


def _lock(descriptor: int, temporary: Path) -> bool:
    """Lock a temporary file, as the sign that its writer lives; return whether it is still there to be written."""
    if fcntl is None:
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:  # another writer took it for abandoned before the lock was ours
        return False
    except OSError:  # a file system without locks, where its age tells whether it is abandoned
        return True
    try:
        return os.path.samestat(os.stat(temporary), os.fstat(descriptor))  # noqa: PTH116 - beside fstat
    except FileNotFoundError:
        return False


def _flush_folder(folder: Path) -> None:
    """Bring a folder's entries to the disk, where the system can."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def remove_abandoned(directory: Path) -> list[Path]:
    """Remove the temporary files that dead writers left in a folder and below it; return what was removed."""
    return [path for folder, _, _ in os.walk(directory) for path in _remove_abandoned_in(Path(folder))]


def _remove_abandoned_in(folder: Path) -> list[Path]:
    try:
        found = sorted(path for path in folder.iterdir() if _TEMPORARY.fullmatch(path.name))
    except OSError:
        return []
    return [path for path in found if _remove_if_abandoned(path)]


def _remove_if_abandoned(path: Path) -> bool:
    """Remove a temporary file unless a living writer holds its lock.

    A writer that has made its file, and not locked it yet, notices afterwards that it is gone, and makes another.
    """
    try:
        if not stat.S_ISREG(path.lstat().st_mode):
            return False
        if fcntl is None:
            path.unlink()  # fails if it is open
            return True
        descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW)
        try:
            if not _lock_abandoned(descriptor):
                return False
            path.unlink()
            return True
        finally:
            os.close(descriptor)
    except OSError:
        return False


def _lock_abandoned(descriptor: int) -> bool:
    """Take the lock if nobody has it. Where the file system knows no locks, a file of a day's age counts as abandoned."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return time.time() - os.fstat(descriptor).st_mtime > _SECONDS_PER_DAY
    return True
