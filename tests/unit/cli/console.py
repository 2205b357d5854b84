"""Run commands as a user does, and check what they print."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from pytest_irmetrics import cli

HOSTILE = "caf\xe9 \u65e5 \x1b[31m\r\n::error::x ##vso[task] \u202e\x9b\x7f"
"""A text that moves the cursor of a terminal, and gives commands to CI logs."""


def usage_error(capsys, *arguments: str) -> str:
    """What a wrong command line prints on standard error."""
    with pytest.raises(SystemExit) as caught:
        cli.main(arguments)
    assert caught.value.code == 2
    return capsys.readouterr().err


def run_script(*arguments: str, encoding: str) -> subprocess.CompletedProcess[bytes]:
    """A command in a process of its own, whose standard streams have this encoding."""
    return subprocess.run(
        [sys.executable, "-m", "pytest_irmetrics.cli", *arguments],
        env={**os.environ, "PYTHONIOENCODING": encoding},
        capture_output=True,
        timeout=120,
        check=False,
    )


def assert_escaped(text: str) -> None:
    """Nothing in it is a control character, or a command to a CI log."""
    assert all(line.isprintable() for line in text.splitlines())
    assert not any(word.startswith("::") for word in text.split())
    assert "##vso[" not in text


def convert(capsys, *arguments: str, status: int = 0) -> tuple[str, list[str]]:
    """What `convert` prints on standard output, and the lines on standard error."""
    assert cli.main(["convert", *arguments]) == status
    out, err = capsys.readouterr()
    return out, err.splitlines()
