"""Sessions at a shell: what commands print and their exit status.

A file below tests/expected/cli is a session in the folder beside this file. A line that begins with `$ ` is a command, and after it
stands what it prints: standard output, then standard error after `2> `, then an exit status other than 0 in brackets. To add a
command, write its line and run `make expected`. Commands are `pytest-irmetrics`, with `printf TEXT |` or `cat FILE |` before it,
and `cat`, `rm` and `ls` of files.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from tests.cli.console import run
from tests.expected import FOLDER, assert_as_expected

SESSIONS = sorted(path.stem for path in (FOLDER / "cli").glob("*.txt"))


def output_of(line: str) -> str:
    """What a line of a session prints."""
    producer, pipe, consumer = line.rpartition(" | ")
    stdin = b""
    if pipe:
        program, operand = shlex.split(producer)
        stdin = Path(operand).read_bytes() if program == "cat" else operand.replace("\\n", "\n").encode()
    program, *words = shlex.split(consumer)
    if program == "cat":
        return "".join(Path(name).read_text(encoding="utf-8") for name in words)
    if program == "ls":
        return "".join(f"{path.as_posix()}\n" for path in sorted(Path(words[0]).rglob("*")) if path.is_file())
    if program == "rm":
        Path(words[0]).unlink()
        return ""
    assert program == "pytest-irmetrics", line
    done = run(*words, stdin=stdin)
    told = re.sub(
        r"^usage: (.*\n)+?(?=.*error: )| \(choose from .*", "", done.err
    )  # which differ by versions of Python
    err = "".join(f"2> {line}\n" for line in told.splitlines())
    return ended(done.data.decode()) + err + (f"[{done.status}]\n" if done.status else "")


def ended(text: str) -> str:
    """A text with an end of line, and with what an editor would not show written out."""
    text = text.replace("\ufeff", "\\ufeff").replace("\r", "\\r")
    return text if not text or text.endswith("\n") else f"{text}\n"


@pytest.mark.parametrize("name", SESSIONS)
@pytest.mark.usefixtures("folder")
def test_a_session_prints_what_is_expected(name):
    text = (FOLDER / "cli" / f"{name}.txt").read_text(encoding="utf-8")
    commands = re.findall(r"^\$ (.*)$", text, re.MULTILINE)
    assert commands
    assert_as_expected(f"cli/{name}.txt", "".join(f"$ {line}\n{output_of(line)}" for line in commands))
