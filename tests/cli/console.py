"""Run commands of the console script in this process, with standard streams of their own."""

from __future__ import annotations

import io
import sys
from typing import NamedTuple

from pytest_irmetrics import cli

HOSTILE = "caf\xe9 \u65e5 \x1b[31m\r\n::error::x ##vso[task] \u202e\x9b\x7f"
"""A text that moves the cursor of a terminal, and gives commands to CI logs."""


class Printed(NamedTuple):
    """What a command printed, and its exit status."""

    status: int | str | None
    data: bytes
    """Of standard output."""
    err: str

    @property
    def out(self) -> str:
        return self.data.decode()


class Stream(io.TextIOWrapper):
    """A standard stream that holds its bytes, and may pretend to be a terminal."""

    def __init__(self, data: bytes = b"", encoding: str = "utf-8", *, terminal: bool = False) -> None:
        super().__init__(io.BytesIO(data), encoding, errors="strict", newline="", write_through=True)
        self._terminal = terminal

    def isatty(self) -> bool:
        return self._terminal


def run(
    *arguments: str, stdin: bytes | str = b"", encoding: str = "utf-8", terminal: bool = False
) -> Printed:
    """Run one command."""
    data = stdin.encode() if isinstance(stdin, str) else stdin
    before = sys.stdin, sys.stdout, sys.stderr
    streams = (
        Stream(data, terminal=terminal),
        Stream(encoding=encoding, terminal=terminal),
        Stream(encoding=encoding),
    )
    sys.stdin, sys.stdout, sys.stderr = streams
    try:
        status = cli.main(arguments)
    except SystemExit as error:
        status = error.code
    finally:
        sys.stdin, sys.stdout, sys.stderr = before
    out, err = (stream.buffer.getvalue() for stream in streams[1:])
    return Printed(status, out, err.decode(encoding))


def assert_harmless(text: str) -> None:
    """Nothing in it is a control character, or a command to a CI log."""
    assert all(line.isprintable() for line in text.splitlines())
    assert not any(word.startswith("::") for word in text.split())
    assert "##vso[" not in text
