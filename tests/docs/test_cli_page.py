"""docs/reference/cli.md shows every command's `--help`. After a change, `make expected` writes it anew."""

from __future__ import annotations

import re

import pytest

from tests.cli.console import run
from tests.expected import RENEWING
from tests.pages import DOCS

PAGE = DOCS / "reference" / "cli.md"


def commands_of(*command):
    """The commands that `--help` lists, as it lists them, with their actions."""
    for name in re.findall(r"^    (\w+)(?:  |$)", run(*command, "--help").out, re.MULTILINE):
        yield " ".join((*command, name))
        yield from commands_of(*command, name)


COMMANDS = list(commands_of())


def words(text):
    """The text whatever its line breaks, and whichever Python wrote it: since 3.13 `-o PATH, --output PATH` is shorter."""
    return re.sub(r"(-\w) (\S+), (--\w+ \2)", r"\1, \3", " ".join(text.split()))


@pytest.mark.parametrize("command", COMMANDS)
def test_the_page_shows_the_help_of_every_command_with_examples(command, monkeypatch):
    monkeypatch.setenv("COLUMNS", "82")
    printed = run(*command.split(), "--help").out
    assert f"pytest-irmetrics {command} " in printed.partition("examples:")[2] + " "
    page = PAGE.read_text(encoding="utf-8")
    shown = re.search(rf"^##+ `{command}`\n.*?^```text\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert shown, f"{PAGE.name} has no section with a block for {command}"
    if RENEWING and words(shown[1]) != words(printed):
        page = page[: shown.start(1)] + printed + page[shown.end(1) :]
        PAGE.write_text(page, encoding="utf-8")
        return
    assert words(shown[1]) == words(printed)


def test_the_page_shows_nothing_else():
    shown = re.findall(r"^##+ `(.+)`$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert len(COMMANDS) >= 8
    assert sorted(shown) == sorted(COMMANDS)
