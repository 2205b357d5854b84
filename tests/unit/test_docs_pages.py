"""The commands of a page, run from top to bottom in one folder: they print what the page shows."""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
PAGES = {"formats.md": 9, "labelling.md": 10, "passages.md": 4}  # and how many commands it has at least
BLOCK = re.compile(r"^```(console|\w+ \S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def commands(text):
    """Command → what it prints, of a block in which each command follows a `$ `."""
    for part in text.split("$ ")[1:]:
        command, _, shown = part.partition("\n")
        yield command, shown


@pytest.fixture
def shell(tmp_path):
    """Run a command as a shell does in which both scripts are those of this package."""
    scripts = tmp_path / "bin"
    scripts.mkdir()
    plugins = "-p no:cacheprovider -p pytest_irmetrics.plugin"
    for name, module in (("pytest-irmetrics", "pytest_irmetrics.cli"), ("pytest", f"pytest {plugins}")):
        script = scripts / name
        script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m {module} "$@"\n')
        script.chmod(0o755)
    (tmp_path / "project").mkdir()
    environment = {
        **os.environ,
        "PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}",
        "COLUMNS": "100",
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "PYTHONUTF8": "1",
    }

    def run(command):
        done = subprocess.run(
            command,
            shell=True,
            cwd=tmp_path / "project",
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            timeout=60,
            check=False,
        )
        return done.stdout

    run.folder = tmp_path / "project"
    return run


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.skipif(sys.platform == "win32", reason="the page's commands are for a POSIX shell")
def test_every_command_prints_what_the_page_shows(shell, page):
    checker = doctest.OutputChecker()
    ran = 0
    for kind, text in BLOCK.findall((DOCS / page).read_text(encoding="utf-8")):
        if kind != "console":
            path = shell.folder / kind.split()[1]
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
            continue
        for command, shown in commands(text):
            printed = shell(command)
            assert checker.check_output(shown, printed, doctest.ELLIPSIS), f"$ {command}\n{printed}"
            ran += 1
    assert ran >= PAGES[page]
