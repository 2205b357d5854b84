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


def _stream(data: bytes = b"", encoding: str = "utf-8") -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(data), encoding, errors="strict", newline="", write_through=True)


def run(*arguments: str, stdin: bytes | str | io.TextIOBase = b"", encoding: str = "utf-8") -> Printed:
    """Run one command; standard input may be bytes, text, or a stream."""
    data = stdin.encode() if isinstance(stdin, str) else stdin
    out, err = _stream(encoding=encoding), _stream(encoding=encoding)
    before = sys.stdin, sys.stdout, sys.stderr
    sys.stdin, sys.stdout, sys.stderr = _stream(data) if isinstance(data, bytes) else data, out, err
    try:
        status = cli.main(arguments)
    except SystemExit as error:
        status = error.code
    finally:
        sys.stdin, sys.stdout, sys.stderr = before
    return Printed(status, out.buffer.getvalue(), err.buffer.getvalue().decode(encoding))


def assert_harmless(text: str) -> None:
    """Nothing in it is a control character, or a command to a CI log."""
    assert all(line.isprintable() for line in text.splitlines())
    assert not any(word.startswith("::") for word in text.split())
    assert "##vso[" not in text
