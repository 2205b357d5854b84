"""Read and write files that the command line names, of which ``-`` is standard input or output."""

from __future__ import annotations

import sys
import tempfile
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_irmetrics.base.atomic_write import write_whole
from pytest_irmetrics.base.gzipped import gunzip_start
from pytest_irmetrics.base.read_file import MAX_RUN_BYTES
from pytest_irmetrics.cli.command_line import CommandError, print_escaped

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import TextIO

STANDARD = "-"
"""As a file's name on the command line: standard input where it is read, standard output where it is written."""


@contextmanager
def readable_file(name: str, suffix: str | None = None) -> Iterator[Path]:
    """Yield the path of a file to read: of ``-`` a copy of standard input, which is gone after the ``with``.

    The copy's name ends in `suffix`, by default in ``.json`` where it begins as JSON does. Raises CommandError.
    """
    if name != STANDARD:
        yield Path(name)
        return
    data = _read_standard_input(sys.stdin)
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / f"{STANDARD}{_json_suffix(data) if suffix is None else suffix}"
        copy.write_bytes(data)
        yield copy


def _json_suffix(data: bytes) -> str:
    """Return the suffix that says that data is JSON; empty where it is something else."""
    start = gunzip_start(data[:4096], 4096).removeprefix(b"\xef\xbb\xbf").lstrip()
    return ".json" if start.startswith((b"{", b"[")) else ""


@lru_cache(maxsize=1)
def _read_standard_input(stream: TextIO | None) -> bytes:
    """Read standard input whole; once, though a command may name it twice."""
    try:
        data = b"" if stream is None else stream.buffer.read(MAX_RUN_BYTES + 1)
    except (OSError, ValueError) as error:  # closed
        raise CommandError(f"{STANDARD}: Standard input cannot be read: {error}. Name a file.") from None
    if len(data) > MAX_RUN_BYTES:
        raise CommandError(
            f"{STANDARD}: Standard input is larger than {MAX_RUN_BYTES // 1_000_000_000} GB. Split it."
        )
    return data


def write_file(name: str, data: bytes, *, again: str = "write it again") -> None:
    """Write a file whole or not at all, or ``-``: to standard output. `again` is how to retry, for messages."""
    if name != STANDARD:
        write_whole(Path(name), data, again=again)
        return
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def print_about(written: str, line: str) -> None:
    """Print a line about a file that was written; on standard error where that is standard output."""
    print_escaped(line, sys.stderr if written == STANDARD else sys.stdout)
