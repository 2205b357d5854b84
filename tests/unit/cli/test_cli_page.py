"""docs/reference/cli.md shows every command's `--help`. After a change, `make expected` writes it anew."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pytest_irmetrics import cli
from pytest_irmetrics.cli.main import _COMMANDS
from tests.expected import RENEWING

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "cli.md"
ACTIONS = ["list", "prune", "move"]
COMMANDS = [
    *(module.__name__.rpartition(".")[2] for module in _COMMANDS),
    *(f"baselines {action}" for action in ACTIONS),
]


def words(text):
    """The text whatever its line breaks, and whichever Python wrote it: since 3.13 `-o PATH, --output PATH` is shorter."""
    return re.sub(r"(-\w) (\S+), (--\w+ \2)", r"\1, \3", " ".join(text.split()))


@pytest.mark.parametrize("command", COMMANDS)
def test_the_page_shows_the_help_of_every_command(command, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "82")
    with pytest.raises(SystemExit):
        cli.main([*command.split(), "--help"])
    printed = capsys.readouterr().out
    page = PAGE.read_text(encoding="utf-8")
    shown = re.search(rf"^##+ `{command}`\n.*?^```text\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert shown, f"{PAGE.name} has no section with a block for {command}"
    if RENEWING and words(shown[1]) != words(printed):
        page = page[: shown.start(1)] + printed + page[shown.end(1) :]
        PAGE.write_text(page, encoding="utf-8")
        return
    assert words(shown[1]) == words(printed)


def test_the_page_shows_nothing_else():
    assert sorted(re.findall(r"^##+ `(.+)`$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)) == sorted(
        COMMANDS
    )
