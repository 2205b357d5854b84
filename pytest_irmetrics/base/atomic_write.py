"""Write a file so that it is at any moment the old one or the new one, never a part, whatever happens to the writer.

The data goes to a temporary file in the same folder, is flushed to the disk and moved into place. What a killed writer
left is removed by the next one, a day later. Who reads a file, changes that and writes it holds `lock_file` meanwhile, and
tells `write_whole` what was read.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import stat
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from pytest_irmetrics.base import IRMetricsError
from pytest_irmetrics.base.wording import printable

_TEMPORARY = ".ir-writing-{}.tmp"
_ABANDONED_SECONDS = 24 * 60 * 60.0
"""The age from which a temporary file is a killed writer's: a day."""


class WriteError(IRMetricsError, ValueError):
    """A file that cannot be written; says what is wrong with which file and what to do."""


def content_digest(data: bytes) -> str:
    """Return what tells one content of a file from another."""
    return hashlib.sha256(data).hexdigest()


@contextmanager
def lock_file(path: Path) -> Iterator[None]:
    """Let no other process into its own ``with lock_file`` for a file of this folder, where the system has `flock`.

    The lock is the folder's, which must exist: the file itself is another one after each `write_whole`.
    """
    with ExitStack() as held:
        with suppress(ImportError, OSError):
            import fcntl  # noqa: PLC0415 - Windows has none

            descriptor = os.open(Path(os.path.realpath(path)).parent, os.O_RDONLY)
            held.callback(os.close, descriptor)
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield


def write_whole(
    path: Path,
    data: bytes,
    *,
    again: str = "write it again",
    shown: str | None = None,
    digest_when_read: str | None = None,
) -> bool:
    """Write a user's file, whole or not at all, unless it has this content; return whether it was written.

    Makes the folders that it takes, follows links and keeps the file's mode. Raises WriteError, and then the file is
    as it was; `again` says what to do once the cause is mended, and `shown` is how the error calls the file. `digest_when_read` is the
    `content_digest` of what `data` was made from: where the file has another content by now, that is an error, too.
    """
    real = Path(os.path.realpath(path))
    where = printable(str(path) if shown is None else shown)
    try:
        mode = _mode(real)
        if mode is not None:
            if not stat.S_ISREG(mode):
                raise WriteError(f"{where}: is not a file. Move it out of the way, and {again}.")
            content = real.read_bytes()
            if content == data:
                return False
            if digest_when_read not in (None, content_digest(content)):
                raise WriteError(f"{where}: was changed meanwhile, and nothing was written. Run it again.")
            if not mode & 0o222 or not os.access(real, os.W_OK):
                raise WriteError(f"{where}: is read-only. Make it writable (`chmod u+w`), and {again}.")
        _replace(real, data, mode)
    except OSError as error:
        text = f"{where}: cannot be written: {error.strerror}. What was there is as it was. Mend that, and {again}."
        raise WriteError(text) from None
    return True


def write_output(path: Path, data: bytes) -> None:
    """Write a file that a program makes anew each time, whole or not at all; a device or a pipe is written to.

    Makes the folders that it takes, follows links and keeps the file's mode. Raises OSError, and then the file is as it
    was.
    """
    mode = _mode(path)
    if mode is not None and not stat.S_ISREG(mode):  # such as /dev/stdout
        path.write_bytes(data)
    else:
        _replace(Path(os.path.realpath(path)), data, mode)


def _mode(path: Path) -> int | None:
    """Return the mode of a file; None where there is none."""
    with suppress(FileNotFoundError):
        return path.stat().st_mode
    return None


def _replace(real: Path, data: bytes, mode: int | None) -> None:
    real.parent.mkdir(parents=True, exist_ok=True)
    _sweep(real.parent)
    temporary = real.with_name(_TEMPORARY.format(secrets.token_hex()))
    try:
        with temporary.open("xb") as file:
            file.write(data)
            file.flush()
            if mode is not None:
                temporary.chmod(stat.S_IMODE(mode))
            os.fsync(file.fileno())
        temporary.replace(real)
    finally:
        with suppress(OSError):  # it is gone where all went well
            temporary.unlink()


def _sweep(folder: Path) -> None:
    """Remove the temporary files of writers that were killed more than a day ago."""
    for path in folder.glob(_TEMPORARY.format("*")):
        with suppress(OSError):
            if time.time() - path.lstat().st_mtime > _ABANDONED_SECONDS:
                path.unlink()
